"""A stroke that the path of a point should follow, as a wish: drawn in the world, or on a screen.

A stroke has a shape and no clock. Each time that is looked at is matched with the nearest place of the stroke, again in
every step, and the way across the stroke counts: r = c - p, which falls by (I - t t') dp, t along the stroke. That
alone would let the path turn back half way. So the way along the stroke counts as well, though less, towards the place
that has as much of the stroke behind it as the path has of its own length: once both have one shape, these are the
nearest places, whatever the timing. A stroke with times of its own is followed point by point.

On a screen the same happens with the projection of the path: (u, v, w) = M (x, y, z, 1), at (u / w, v / w), or (u, v)
where M has two rows. Depth is left to the tangents. One unit of the screen counts as the sizes that it spans where
the point is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.goals import Point
from understudy.keyframes.selection import finite_time
from understudy.keyframes.wishes import Answer, Term, Wish
from understudy.rig import PosedRig

POINTS = 256  # of the stroke, evenly along it: a 256th of it is finer than a hand draws
FEWEST, MOST = 9, 65  # times that are looked at: one segment has four numbers a column, and twenty columns or so
LOOKED_FOR = 32  # places of the stroke that the path should come by
SMOOTHING = (0.01, 0.02, 0.04)  # of a stroke's length, one after the other while it trembles
TREMBLING = 1.03  # how much longer a stroke is than its shape where it does
WINDOW = 0.2  # of the stroke's length, about where the point is due: a loop's other side is no match


@dataclass(frozen=True)
class Stroke(Wish):
    """From `start` to `stop` the point goes along `path`, (n, 3) metres in the world, or (n, 2) with `project`.

    `project` is the matrix of a screen, (2, 4) or (3, 4) as nested tuples. `clock` (n,) seconds gives the path times of
    its own. `along` is how much the way along the stroke counts, 0 to 1. With `ends` the path begins and ends where
    the stroke does, else anywhere on it.
    """

    point: Point
    path: tuple[tuple[float, ...], ...]
    start: float
    stop: float
    clock: tuple[float, ...] = ()
    project: tuple[tuple[float, ...], ...] | None = None
    along: float = 0.02
    ends: bool = True
    soft: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        what = f"stroke of {self.point.name}"
        drawn = checks.array(self.path, what, ("N", 3 if self.project is None else 2))
        if len(drawn) < 2:
            raise InvalidInput(f"{what} should have at least two points, but has {len(drawn)}")
        if not np.ptp(drawn, axis=0).max() > 0:
            raise InvalidInput(f"{what} should go somewhere, but all its points are one")
        object.__setattr__(self, "path", tuple(map(tuple, drawn.tolist())))
        finite_time(self.start, f"start of the {what}")
        finite_time(self.stop, f"stop of the {what}")
        if not self.start < self.stop:
            raise InvalidInput(f"{what} should last some time, but goes from {self.start} s to {self.stop} s")
        if self.clock:
            clock = checks.array(self.clock, f"times of the {what}", (len(drawn),))
            if np.any(np.diff(clock) <= 0):
                raise InvalidInput(f"times of the {what} should increase")
            object.__setattr__(self, "clock", tuple(clock.tolist()))
        if self.project is not None:
            matrix = checks.array(self.project, f"projection of the {what}", ("M", 4))
            if len(matrix) not in (2, 3):
                raise InvalidInput(f"projection of the {what} should have two or three rows, but has {len(matrix)}")
            object.__setattr__(self, "project", tuple(map(tuple, matrix.tolist())))

    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        return (self.point,)

    def times(self, rate: float) -> Array:
        if self.clock:
            return np.array(self.clock)
        halves = 2 * int(np.ceil((self.stop - self.start) * rate)) + 1  # of frames: a kink shows within one
        return np.linspace(self.start, self.stop, int(np.clip(halves, FEWEST, MOST)))

    def term(self, rig: PosedRig, path: Array, times: Array, size: float) -> Term:
        """Follow the stroke, matched anew each time it is asked."""
        screen = Screen(None if self.project is None else np.array(self.project), size)
        unit = screen.see(path[:, 0]).unit[:, None]  # as it was, so that going away is no way to be nearer
        if self.clock:
            return _timed(np.array(self.path), screen, unit)
        line = Line(even(np.array(self.path), POINTS))
        spent = (times - times[0]) / (times[-1] - times[0])
        return _followed(line, spent, screen, unit, self)


class Seen(NamedTuple):
    """Places on a screen, or in the world, in its own units."""

    place: Array  # (T, D)
    slopes: Array  # (T, D, 3) by places of the world in sizes
    unit: Array  # (T,) how many units one size of the character is there


class Screen:
    """What a matrix (2 or 3, 4) makes of places given in sizes of `size` metres; None is the world itself."""

    def __init__(self, matrix: Array | None, size: float) -> None:
        self.matrix, self.size = matrix, size

    def see(self, path: Array) -> Seen:
        """Of T places (T, 3) in sizes."""
        count, size = len(path), self.size
        if self.matrix is None:
            slopes = np.tile(size * np.eye(3), (count, 1, 1))
            return Seen(size * path, slopes, np.full(count, size))
        drawn = size * path @ self.matrix[:, :3].T + self.matrix[:, 3]
        slopes = np.tile(size * self.matrix[:, :3], (count, 1, 1))
        if len(self.matrix) == 3:
            w = drawn[:, 2:]
            if (w <= 0).any():
                raise InvalidInput("the point is behind the screen that the stroke was drawn on")
            place = drawn[:, :2] / w
            slopes = (slopes[:, :2] - place[:, :, None] * slopes[:, 2:]) / w[:, :, None]
            drawn = place
        unit = np.sqrt((slopes**2).sum(axis=(1, 2)) / 2)
        return Seen(drawn, slopes, np.maximum(unit, 1e-12))


class Line:
    """A stroke of M points, evenly spaced; places along it are 0 to 1."""

    def __init__(self, points: Array) -> None:
        self.points = points  # (M, D)
        self.steps = np.diff(points, axis=0)
        self.shares = np.linspace(0.0, 1.0, len(points))

    def at(self, share: Array) -> Array:
        """(T, D) the places at shares (T,) of its length."""
        return np.stack([np.interp(share, self.shares, column) for column in self.points.T], axis=-1)

    def along(self, share: Array) -> Array:
        """(T, D) the direction there, of length one, even over the points beside."""
        span = 1.5 / (len(self.points) - 1)
        way = self.at(np.minimum(share + span, 1.0)) - self.at(np.maximum(share - span, 0.0))
        return way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)

    def nearest(self, places: Array, due: Array | None = None) -> Array:
        """(T,) the share of the nearest point of each place (T, D), not far from where it is due (T,)."""
        off = places[:, None] - self.points[:-1]  # (T, M - 1, D)
        length2 = np.maximum((self.steps**2).sum(axis=1), 1e-30)
        inside = np.clip(np.einsum("tmd,md->tm", off, self.steps) / length2, 0.0, 1.0)
        distance = np.linalg.norm(off - inside[..., None] * self.steps, axis=2)
        shares = (np.arange(len(self.steps)) + inside) / len(self.steps)
        if due is not None:
            distance = np.where(np.abs(shares - due[:, None]) > WINDOW, np.inf, distance)
        best = np.argmin(distance, axis=1)
        found: Array = shares[np.arange(len(places)), best]
        return found


def even(points: Array, count: int) -> Array:
    """(count, D) points evenly along a stroke (n, D), however unevenly it was drawn.

    Few points are joined by a smooth curve through each.
    """
    from scipy.interpolate import CubicSpline

    gone = _gone(points)
    points = points[np.concatenate([[True], np.diff(gone) > 0])]
    gone = np.unique(gone)
    if 2 < len(points) < count:
        points = CubicSpline(gone, points, bc_type="natural")(np.linspace(0.0, gone[-1], 4 * count))
        gone = _gone(points)
    at = np.linspace(0.0, gone[-1], count)
    return np.stack([np.interp(at, gone, column) for column in points.T], axis=-1)


def steady(points: Array) -> Array:
    """The stroke without the trembling of the hand that drew it; one that does not tremble stays as it is.

    Trembling makes a stroke longer than its shape is. It is averaged over more and more of its length, its ends kept,
    until that makes no difference to the length.
    """
    from scipy.ndimage import gaussian_filter1d

    if len(points) < 8:
        return points
    raw, length = points, _gone(points)[-1]
    for width in SMOOTHING:
        spread = width * POINTS
        line = even(points, POINTS) if length > 0 else points
        padded = np.pad(line, ((POINTS // 2, POINTS // 2), (0, 0)), mode="reflect", reflect_type="odd")
        smooth = gaussian_filter1d(padded, spread, axis=0)[POINTS // 2 : -(POINTS // 2)]
        shorter = _gone(smooth)[-1]
        if length <= TREMBLING * shorter:
            return raw
        raw, length = smooth, shorter
    return raw


def _gone(points: Array) -> Array:
    """(n,) the length of a polyline up to each of its points."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])


def pulled(drawn: Array, shares: Sequence[float], places: Any) -> Array:
    """The stroke (n, D), even, so that it passes through places (K, D) at shares (K,) of its length.

    The pull fades in proportion to the way to the next such place, and to an end that is free.
    """
    line = Line(even(drawn, POINTS))
    pull = np.asarray(places, float) - line.at(np.asarray(shares, float))
    known = dict(zip(shares, pull))
    for end in (0.0, 1.0):
        known.setdefault(end, np.zeros(drawn.shape[1]))
    order = sorted(known)
    offset = [np.interp(line.shares, order, [known[s][d] for s in order]) for d in range(drawn.shape[1])]
    moved: Array = line.points + np.stack(offset, axis=-1)
    return moved


def _timed(target: Array, screen: Screen, unit: Array) -> Term:
    def answer(path: Array) -> Answer:
        seen = screen.see(path[:, 0])
        way = (target - seen.place) / unit
        return _rows(way, seen.slopes / unit[:, :, None], _filled(way))

    return answer


def _followed(line: Line, spent: Array, screen: Screen, unit: Array, stroke: Stroke) -> Term:
    last, weight = [0, len(spent) - 1] if stroke.ends else [], stroke.along
    counted = stroke.ends and not stroke.soft  # what is missed of the stroke counts for goals only

    def answer(path: Array) -> Answer:
        seen = screen.see(path[:, 0])
        gone = _gone(seen.place)
        due = gone / gone[-1] if gone[-1] > 1e-6 * float(unit.min()) else spent  # one that stands still goes evenly
        share = line.nearest(seen.place, due)
        share[last] = due[last]
        slopes = seen.slopes / unit[:, :, None]
        way = (line.at(share) - seen.place) / unit
        along = line.along(share)
        side = _beside(along, way)  # at a corner of the stroke, the nearest way is not square to its direction
        across = np.eye(along.shape[1]) - side[:, :, None] * side[:, None, :]
        across[last] = np.eye(along.shape[1])
        late = np.einsum("ta,ta->t", along, line.at(due) - seen.place)[:, None] / unit
        first = _rows(way, across @ slopes, _filled(way))
        second = _rows(weight * late, weight * (along[:, None] @ slopes), first.gap)
        missed = _missed(line, seen.place) / unit.mean() if counted else way[:0]
        return Answer(
            np.concatenate([first.residual, second.residual]),
            np.concatenate([first.slopes, second.slopes]),
            np.concatenate([first.gap, _filled(missed)]),
        )

    return answer


def _missed(line: Line, places: Array) -> Array:
    """(K, D) the ways from some places of the stroke to the nearest of the path (T, D)."""
    some = line.points[:: len(line.points) // LOOKED_FOR]
    if not _gone(places)[-1] > 0:
        return places[0] - some
    path = Line(even(places, POINTS))
    return path.at(path.nearest(some)) - some


def _beside(along: Array, way: Array) -> Array:
    """(T, D) the directions `along` made square to the ways (T, D)."""
    share = np.einsum("ta,ta->t", along, way) / np.maximum((way**2).sum(axis=1), 1e-20)
    square = along - share[:, None] * way
    return square / np.maximum(np.linalg.norm(square, axis=1, keepdims=True), 1e-9)


def _rows(way: Array, slopes: Array, gap: Array) -> Answer:
    """Residuals (T, D) of T times, each with its own slopes (T, D, 3)."""
    count, rows = way.shape
    out = np.zeros((count, rows, count, 1, 3))
    at = np.arange(count)
    out[at, :, at, 0] = slopes
    return Answer(way.reshape(-1), out.reshape(count * rows, count, 1, 3), gap)


def _filled(way: Array) -> Array:
    """(T, 3) a way on a screen as one in the world, for its length."""
    return np.concatenate([way, np.zeros((len(way), 3 - way.shape[1]))], axis=1)
