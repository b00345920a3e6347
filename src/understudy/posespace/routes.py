"""Routes: the way from one label to another over the bridges, through other labels where that is shorter.

Two labels may share no pose; then "a transition going from happy to grumpy might need to pass through neutral"
[Bailey 2016, section 7]. A hop costs one, and the part of its threshold that its best bridge leaves to be blended; a
wide bridge costs what it is wider than the threshold besides, so that it is taken only where nothing else leads there.
To pass through a label costs how unlike it is to the others: nobody begins to die on the way from a nod to a wave.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.posespace.bridges import Bridges

WIDE = 4.0  # hops over good bridges that are still better than a wide one


def cost(bridges: Bridges) -> float:
    """What it costs to cross once."""
    share = float(bridges.gaps.min()) / max(bridges.threshold, 1e-12)
    return 1.0 + share + (WIDE if bridges.wide else 0.0)


def ways(bridges: Iterable[Bridges]) -> dict[str, list[tuple[Bridges, float]]]:
    """Label -> the bridges that lead from it, and what each costs."""
    found: dict[str, list[tuple[Bridges, float]]] = {}
    for pair in bridges:
        way = pair, cost(pair)
        found.setdefault(pair.first, []).append(way)
        found.setdefault(pair.second, []).append(way)
    return found


def passing(looks: Mapping[str, Array]) -> dict[str, float]:
    """Label -> what it costs to pass through it, for what its frames (N, D) look like: 0 at what is usual, at most 1.

    Usual is the middle frame of all, by the median of each number; a label is as unlike as its frames are on average.
    """
    if not looks:
        return {}
    middle = np.median(np.concatenate(list(looks.values())), axis=0)
    away = {label: float(np.linalg.norm(look - middle, axis=1).mean()) for label, look in looks.items()}
    most = max(max(away.values()), 1e-12)
    return {label: each / most for label, each in away.items()}


def routes_from(
    known: Mapping[str, Sequence[tuple[Bridges, float]]], start: str, through: Mapping[str, float] | None = None
) -> dict[str, tuple[Bridges, ...]]:
    """Goal -> the bridges to cross, one after the other, for every label that can be reached (Dijkstra).

    `through` is what it costs to pass through a label.
    """
    queue: list[tuple[float, int, str, tuple[Bridges, ...]]] = [(0.0, 0, start, ())]
    found: dict[str, tuple[Bridges, ...]] = {}
    pushed = 0
    while queue:
        spent, _, label, taken = heapq.heappop(queue)
        if label in found:
            continue
        found[label] = taken
        spent += (through or {}).get(label, 0.0) if label != start else 0.0
        for pair, price in known.get(label, ()):
            if (beyond := pair.other(label)) not in found:
                pushed += 1
                heapq.heappush(queue, (spent + price, pushed, beyond, (*taken, pair)))
    return found


def route(bridges: Iterable[Bridges], start: str, goal: str) -> tuple[Bridges, ...]:
    """The bridges to cross, one after the other, from one label to another; none where they are the same."""
    return chosen(routes_from(ways(bridges), start), start, goal)


def chosen(found: Mapping[str, tuple[Bridges, ...]], start: str, goal: str) -> tuple[Bridges, ...]:
    """One of the routes from a label; raises where there is none."""
    if goal not in found:
        raise InvalidInput(f"no bridges lead from label {start!r} to label {goal!r}")
    return found[goal]
