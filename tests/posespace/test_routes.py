from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.posespace import Bridges
from understudy.posespace.routes import cost, route, routes_from, ways


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


def test_every_route_is_the_cheapest_of_all() -> None:
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
        cheapest[bridges.first, bridges.second] = cheapest[bridges.second, bridges.first] = cost(bridges)
    for k in names:  # Floyd and Warshall
        for a in names:
            for b in names:
                cheapest[a, b] = min(cheapest[a, b], cheapest[a, k] + cheapest[k, b])
    for a in names:
        found = routes_from(ways(every), a)
        for b in names:
            assert labels(a, found[b])[-1] == b
            assert sum(cost(bridges) for bridges in found[b]) == pytest.approx(cheapest[a, b])
