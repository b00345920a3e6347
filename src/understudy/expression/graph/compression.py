"""The threshold that reaches a wanted compression, searched for each take [Serra 2018, section 4.3].

Too little compression raises the threshold by the step, too much lowers it. Once the direction has turned, the step is
halved each time, and the search ends when the tolerance is met or the step is down to one unit. The paper's unit is the
pixel; ours is a part of the data's own spread, so that metres, pixels and weights are searched alike. Greedy merging
is not monotone in the threshold: the number of tries is capped, and the nearest that was seen is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from understudy.errors import InvalidInput

START = 0.125  # of the spread, threshold and step alike: three to ten tries reach what Table 1 asks
UNIT = 1 / 512  # of the spread: a fortieth of what neighbouring frames are apart
TRIES = 48
HIGHEST = 16.0  # of the spread: beyond it everything that may be merged has been


@dataclass(frozen=True)
class Goal:
    """A share of nodes to be merged away, and how far off is near enough; 0.5 and 0.5 takes the first threshold."""

    compression: float
    tolerance: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 <= float(value) <= 1.0:
                raise InvalidInput(f"{name} should lie between 0 and 1, but is {value}")

    def off(self, reached: float) -> float:
        """How far a compression is from the nearest that is wanted."""
        return max(abs(reached - self.compression) - self.tolerance, 0.0)


def searched(reached_at: Callable[[float], float], goal: Goal, spread: float) -> float:
    """The threshold found for `reached_at(threshold) -> compression`; among equally near ones the first."""
    threshold = step = START * spread
    direction, turned = 0, False
    best, nearest = threshold, float("inf")
    for _ in range(TRIES):
        reached = reached_at(threshold)
        # judged by the middle of what is wanted, though anything within the tolerance ends the search
        if abs(reached - goal.compression) < nearest:
            best, nearest = threshold, abs(reached - goal.compression)
        if goal.off(reached) <= 1e-12:
            return threshold
        way = 1 if reached < goal.compression else -1
        turned = turned or way == -direction
        direction = way
        if turned:
            step /= 2
        while threshold + way * step <= 0.0:  # no threshold lies below zero: nearer to it, then
            step, turned = step / 2, True
        if step < UNIT * spread or threshold + way * step > HIGHEST * spread:
            break
        threshold += way * step
    return best
