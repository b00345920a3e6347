"""Wishes: what is asked of the path of a point and not of its place at one time, as further rows of the program.

A wish looks at some points at some times. Of their path it gives residuals r (Q,), how far the path is from what it
should be, and how they fall with the path, so that with the states' own derivatives J

    r(v + dv) = r - S J dv,      S = -dr / d path.

A wish that is not `soft` is a goal like a move: it has to be reached, and its gap counts. A soft one is weighed against
the change of the tangents, off unless it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.character import Curves
from understudy.checks import Array
from understudy.keyframes.goals import Answer, Point, Term, Wish
from understudy.keyframes.requests import Measured, Requests, measure, requests
from understudy.keyframes.states import States, states_of
from understudy.keyframes.tangents import Tangents
from understudy.rig import PosedRig

SOFT = 1e4
"""What a soft wish of weight one weighs, for a mean square of one size. A hundredth of the character's size, which is
seen at once, then costs as much as turning a tangent by a radian."""


class Wished(NamedTuple):
    """A wish of a problem."""

    wish: Wish
    asked: Requests  # its points at its times, by time
    times: Array  # (T,)
    before: Array  # (T, P, 3) the path before the gesture, sizes
    term: Term

    def instead(self, wish: Wish, rig: PosedRig, size: float) -> Wished:
        """Another wish of the same points at the same times in its place."""
        return self._replace(wish=wish, term=wish.term(rig, self.before, self.times, size))


class Soft(NamedTuple):
    """The rows of all soft wishes."""

    residual: Array  # (Q,)
    matrix: Array  # (Q, N)
    weight: Array  # (Q,)

    @property
    def energy(self) -> float:
        """The weighted sum of squares."""
        return float(self.weight @ self.residual**2)


def wished(
    rig: PosedRig,
    states: States,
    tangents: Tangents,
    number: Mapping[Point, int],
    wishes: Sequence[Wish],
    rate: float,
    size: float,
) -> tuple[Wished, ...]:
    """The wishes as rows over the tangents; `number` tells the points apart."""
    result = []
    for wish in wishes:
        times = wish.times(rate)
        own = np.array([number[point] for point in wish.points(rig)], np.int64)
        shape = (len(times), len(own))
        parts = np.tile([True, False], (len(times) * len(own), 1))
        point, time = np.tile(own, len(times)), np.repeat(times, len(own))
        asked = requests(tangents, point, time, np.zeros(len(point), np.int64), parts)
        before = _path(measure(states, tangents, asked, np.zeros(tangents.count), size, slopes=False), shape)
        result.append(Wished(wish, asked, times, before, wish.term(rig, before, times, size)))
    return tuple(result)


def path_of(rig: PosedRig, curves: Curves, points: Sequence[Point], times: Array) -> Array:
    """(T, P, 3) metres: where points are at times (T,)."""
    states = states_of(rig, curves.channels, points)
    sample, point = np.repeat(np.arange(len(times)), len(points)), np.tile(np.arange(len(points)), len(times))
    places, _, _ = states.evaluate(curves.sample(times)[:, states.columns], sample, point, slopes=False)
    return places.reshape(len(times), len(points), 3)


def with_goals(
    now: Measured, wishes: Sequence[Wished], states: States, tangents: Tangents, v: Array, size: float, slopes: bool
) -> Measured:
    """What is measured of the moves, and of the wishes that are goals."""
    for each in wishes:
        if each.wish.soft:
            continue
        answer, matrix = _answer(each, states, tangents, v, size, slopes)
        gap = np.zeros((len(answer.gap), 6))
        gap[:, :3] = answer.gap
        now = Measured(
            np.concatenate([now.gap, gap]),
            np.concatenate([now.residual, answer.residual]),
            np.concatenate([now.matrix, matrix]),
        )
    return now


def gap_of(each: Wished, states: States, tangents: Tangents, v: Array, size: float) -> Measured:
    """The way that one wish has to go at v (N,), as that of a goal."""
    answer, matrix = _answer(each, states, tangents, v, size, slopes=True)
    gap = np.zeros((len(answer.gap), 6))
    gap[:, :3] = answer.gap
    return Measured(gap, answer.residual, matrix)


def softly(
    wishes: Sequence[Wished], states: States, tangents: Tangents, v: Array, size: float, slopes: bool = True
) -> Soft:
    """What is measured of the soft wishes. Each weighs the same however many rows it has."""
    residual, matrix, weight = [np.zeros(0)], [np.zeros((0, tangents.count))], [np.zeros(0)]
    for each in wishes:
        if each.wish.soft:
            answer, rows = _answer(each, states, tangents, v, size, slopes)
            count = len(answer.residual)
            residual.append(answer.residual)
            matrix.append(rows)
            weight.append(np.full(count, SOFT * each.wish.weight / max(count, 1)))
    return Soft(np.concatenate(residual), np.concatenate(matrix), np.concatenate(weight))


def _answer(
    each: Wished, states: States, tangents: Tangents, v: Array, size: float, slopes: bool
) -> tuple[Answer, Array]:
    seen = measure(states, tangents, each.asked, v, size, slopes)
    answer = each.term(_path(seen, each.before.shape[:2]))
    if not slopes:
        return answer, np.zeros((0, tangents.count))
    flat = answer.slopes.reshape(len(answer.residual), -1)
    return answer, flat @ seen.matrix


def _path(seen: Measured, shape: tuple[int, ...]) -> Array:
    """(T, P, 3) in sizes: requests without a goal are measured from the origin of the world."""
    path: Array = -seen.gap[:, :3].reshape(*shape, 3)
    return path
