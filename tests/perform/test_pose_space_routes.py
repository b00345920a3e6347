from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.perform.pose_space import Bridges, bridge_cost, bridges_by_label, label_costs, route, routes_from


def pair(first: str, second: str, gap: float = 0.1, wide: bool = False) -> Bridges:
    return Bridges(first, second, np.zeros((1, 3)), np.zeros((1, 3)), np.array([gap]), 1.0, wide)


def labels(start: str, found: tuple[Bridges, ...]) -> list[str]:
    way = [start]
    for bridges in found:
        way.append(bridges.other(way[-1]))
    return way


def test_nowhere_to_go() -> None:
    assert route([pair("a", "b")], "a", "a") == ()


def test_straight_where_a_bridge_joins_two() -> None:
    every = [pair("a", "b"), pair("b", "c"), pair("a", "c", gap=0.9)]
    assert labels("a", route(every, "a", "c")) == ["a", "c"]
    assert labels("c", route(every, "c", "a")) == ["c", "a"]


def test_through_a_third_label_where_none_does() -> None:
    every = [pair("happy", "neutral"), pair("neutral", "grumpy"), pair("happy", "grumpy", gap=3.0, wide=True)]
    assert labels("happy", route(every, "happy", "grumpy")) == ["happy", "neutral", "grumpy"]


def test_a_wide_bridge_where_nothing_else_leads_there() -> None:
    every = [pair("a", "b"), pair("b", "c", gap=5.0, wide=True)]
    assert labels("a", route(every, "a", "c")) == ["a", "b", "c"]


def test_an_island_is_told() -> None:
    with pytest.raises(InvalidInput, match="no bridges lead from label 'a' to label 'c'"):
        route([pair("a", "b")], "a", "c")


def test_what_is_unlike_the_others_is_passed_by() -> None:
    """Both ways are as good, and the one over a death would be a little better."""
    random = np.random.default_rng(0)
    looks = {name: random.normal(size=(20, 3)) for name in ("nod", "wave", "idle")}
    looks["death"] = np.linspace(0, 9, 30)[:, None] * np.ones(3)
    through = label_costs(looks)
    assert through["death"] == 1.0 and all(0 < through[name] < 0.5 for name in ("nod", "wave", "idle"))
    every = [pair(name, to, gap) for name in ("nod", "wave") for to, gap in (("idle", 0.2), ("death", 0.1))]
    assert labels("nod", routes_from(bridges_by_label(every), "nod")["wave"]) == ["nod", "death", "wave"]
    assert labels("nod", routes_from(bridges_by_label(every), "nod", through)["wave"]) == ["nod", "idle", "wave"]
    assert labels("nod", routes_from(bridges_by_label(every[:-1]), "nod", through)["death"]) == ["nod", "death"]
    only = [each for each in every if "idle" not in (each.first, each.second)]
    assert labels("nod", routes_from(bridges_by_label(only), "nod", through)["wave"]) == ["nod", "death", "wave"]


def test_of_labels_that_are_all_alike_any_is_passed() -> None:
    assert label_costs({"a": np.ones((4, 2)), "b": np.ones((3, 2))}) == {"a": 0.0, "b": 0.0}
    assert label_costs({}) == {}


@pytest.mark.parametrize("passes", [False, True])
def test_every_route_is_the_cheapest_of_all(passes: bool) -> None:
    random = np.random.default_rng(3)
    names = "abcde"
    every = [
        pair(a, b, float(random.uniform(0, 3)), bool(random.integers(2)))
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if random.uniform() < 0.8
    ]
    cheapest = {(a, b): 0.0 if a == b else np.inf for a in names for b in names}
    for bridges in every:
        cheapest[bridges.first, bridges.second] = cheapest[bridges.second, bridges.first] = bridge_cost(bridges)
    through = {name: float(random.uniform(0, 1)) if passes else 0.0 for name in names}
    for k in names:  # Floyd and Warshall
        for a in names:
            for b in names:
                if k not in (a, b):
                    cheapest[a, b] = min(cheapest[a, b], cheapest[a, k] + through[k] + cheapest[k, b])
    for a in names:
        found = routes_from(bridges_by_label(every), a, through)
        for b in names:
            way = labels(a, found[b])
            spent = sum(bridge_cost(bridges) for bridges in found[b]) + sum(through[name] for name in way[1:-1])
            assert way[-1] == b and spent == pytest.approx(cheapest[a, b])
