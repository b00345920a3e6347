"""Arcs and ballistic flight: soft terms about the path of a point, off unless an edit wishes for them.

    Edit(moves, wishes=[Flight(None, 0.4, 0.9), Arc(Point("hand.R"), 1.0, 1.6)])

`Flight`: between two times a point, or the centre of mass, falls freely. With positions p_i at even steps h

    (p_(i-1) - 2 p_i + p_(i+1)) / h^2 = g,

each residual counted as the height T^2 / 8 that such an acceleration makes over the whole flight T. Where it takes off
and lands follow from the rest: through any two places there is a parabola for every duration.

`Arc`: animators want the ends of limbs to draw arcs. The path is compared with the circle, or the line, that fits it
best, fitted anew in every step; how the fit itself answers to the path is taken out of the derivatives [Kaufman 1975].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.balance import area_masses
from understudy.keyframes.circle import circle_residuals
from understudy.keyframes.goals import Point, Triple
from understudy.keyframes.selection import finite_time
from understudy.keyframes.wishes import Answer, Term, Wish, path_of
from understudy.rig import PosedRig

GRAVITY: Triple = (0.0, -9.81, 0.0)
FEWEST, MOST = 9, 17  # times that are looked at


def mass_points(rig: PosedRig) -> tuple[Point, ...]:
    """The points that stand for the mass of the character's joints (see `area_masses`)."""
    names = rig.character.skeleton.names
    joints, centres, _ = area_masses(rig)
    return tuple(Point(names[j], (float(x), float(y), float(z))) for j, (x, y, z) in zip(joints, centres))


@dataclass(frozen=True)
class Flight(Wish):
    """From `start` to `stop` the point, or with None the centre of mass, falls with `gravity` (metres, seconds)."""

    point: Point | None
    start: float
    stop: float
    weight: float = 1.0
    gravity: Triple = GRAVITY
    soft = True

    def __post_init__(self) -> None:
        _check(self.start, self.stop, self.weight, "flight")
        x, y, z = checks.array(self.gravity, "gravity", (3,)).tolist()
        object.__setattr__(self, "gravity", (x, y, z))

    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        return mass_points(rig) if self.point is None else (self.point,)

    def times(self, rate: float) -> Array:
        return _times(self.start, self.stop, rate)

    def term(self, rig: PosedRig, path: Array, times: Array, size: float) -> Term:
        """Second differences against gravity."""
        mass = area_masses(rig)[2] if self.point is None else np.ones(1)
        h, count = times[1] - times[0], len(times) - 2
        height = (self.stop - self.start) ** 2 / 8
        second = np.zeros((count, len(times)))
        for offset, factor in ((0, 1.0), (1, -2.0), (2, 1.0)):
            second[np.arange(count), np.arange(count) + offset] = factor * height / h**2
        slopes = np.einsum("it,p,ab->iatpb", second, mass, np.eye(3)).reshape(3 * count, len(times), len(mass), 3)
        wanted = height * np.array(self.gravity) / size

        def answer(now: Array) -> Answer:
            centre = np.einsum("p,tpa->ta", mass, now)
            return Answer((wanted - second @ centre).reshape(-1), slopes, np.zeros((0, 3)))

        return answer


@dataclass(frozen=True)
class Arc(Wish):
    """From `start` to `stop` the point draws part of a circle, or a line."""

    point: Point
    start: float
    stop: float
    weight: float = 1.0
    soft = True

    def __post_init__(self) -> None:
        _check(self.start, self.stop, self.weight, f"arc of {self.point.name}")

    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        return (self.point,)

    def times(self, rate: float) -> Array:
        return _times(self.start, self.stop, rate)

    def term(self, rig: PosedRig, path: Array, times: Array, size: float) -> Term:
        """The distance from the circle that fits best."""

        def answer(now: Array) -> Answer:
            residual, slopes = circle_residuals(now[:, 0])
            return Answer(residual, slopes[:, :, None], np.zeros((0, 3)))

        return answer


def flight_error(rig: PosedRig, curves: Curves, flight: Flight) -> float:
    """Metres per second squared: how far the acceleration is from gravity, root mean square."""
    times = np.linspace(flight.start, flight.stop, 4 * MOST)
    path = path_of(rig, curves, flight.points(rig), times)
    mass = area_masses(rig)[2] if flight.point is None else np.ones(1)
    acceleration = np.diff(np.einsum("p,tpa->ta", mass, path), 2, axis=0) / (times[1] - times[0]) ** 2
    return float(np.sqrt(((acceleration - np.array(flight.gravity)) ** 2).sum(axis=1).mean()))


def arc_error(rig: PosedRig, curves: Curves, arc: Arc) -> float:
    """Metres: how far the path is from the circle that fits best, root mean square."""
    path = path_of(rig, curves, [arc.point], np.linspace(arc.start, arc.stop, 4 * MOST))[:, 0]
    residual, _ = circle_residuals(path)
    return float(np.sqrt((residual**2).sum() / len(path)))


def _times(start: float, stop: float, rate: float) -> Array:
    return np.linspace(start, stop, int(np.clip(np.ceil((stop - start) * rate) + 1, FEWEST, MOST)))


def _check(start: float, stop: float, weight: float, what: str) -> None:
    finite_time(start, f"start of the {what}")
    finite_time(stop, f"stop of the {what}")
    if not start < stop:
        raise InvalidInput(f"the {what} should last some time, but goes from {start} s to {stop} s")
    if not (np.isfinite(weight) and weight > 0):
        raise InvalidInput(f"weight of the {what} should be above zero, but is {weight}")
