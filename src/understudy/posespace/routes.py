"""Routes: the way from one label to another over the bridges, through other labels where that is shorter.

Two labels may share no pose; then "a transition going from happy to grumpy might need to pass through neutral"
[Bailey 2016, section 7]. A hop costs one, and the part of its threshold that its best bridge leaves to be blended; a
wide bridge costs what it is wider than the threshold besides, so that it is taken only where nothing else leads there.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from understudy.errors import InvalidInput
from understudy.posespace.bridges import Bridges

WIDE = 4.0  # hops over good bridges that are still better than a wide one


def cost(bridges: Bridges) -> float:
    """What it costs to cross once."""
    share = float(bridges.gaps.min()) / max(bridges.threshold, 1e-12)
    return 1.0 + share + (WIDE if bridges.wide else 0.0)


def route(bridges: Iterable[Bridges], start: str, goal: str) -> tuple[Bridges, ...]:
    """The bridges to cross, one after the other, from one label to another; none where they are the same."""
    ways: dict[str, list[Bridges]] = {}
    for pair in bridges:
        ways.setdefault(pair.first, []).append(pair)
        ways.setdefault(pair.second, []).append(pair)
    queue: list[tuple[float, int, str, tuple[Bridges, ...]]] = [(0.0, 0, start, ())]
    seen: set[str] = set()
    pushed = 0
    while queue:
        spent, _, label, taken = heapq.heappop(queue)
        if label == goal:
            return taken
        if label in seen:
            continue
        seen.add(label)
        for pair in ways.get(label, []):
            pushed += 1
            heapq.heappush(queue, (spent + cost(pair), pushed, pair.other(label), (*taken, pair)))
    raise InvalidInput(f"no bridges lead from label {start!r} to label {goal!r}")
