"""A stroke that the path of a point should follow, as a wish: drawn in the world, or on a screen.

A stroke has a shape and no clock. Each time that is looked at is matched with the nearest place of the stroke, again in
every step, and the way across the stroke counts: r = c - p, which falls by (I - t t') dp, t along the stroke. That
alone would let the path turn back half way. So the way along the stroke counts as well, though less, towards the place
that has as much of the stroke behind it as the path has of its own length: once both have one shape, these are the
nearest places, whatever the timing. A stroke with times of its own is followed point by point.

On a screen the same happens with the projection of the path: (u, v, w) = M (x, y, z, 1), at (u / w, v / w), or (u, v)
where M has two rows. Depth is left to the tangents. One unit of the screen counts as the sizes that it spans where
the point is.

Sketch: the path of a point between two times follows a drawn stroke, by the same optimisation as all edits.

    outcome = sketch(rig, curves, Point("hand.R"), stroke, start=0.5, stop=1.5, pins=[Pin(Point("hips"))])

Keys are not touched. Where a key holds the point in place, the stroke cannot be followed as drawn: it is pulled to the
key there, less and less away from it, and the outcome's notes say by how much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.character import Curves
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, Hold, Limit, ObjectiveTerm, Pin, Point, TermFunction, TermResponse
from understudy.edit.outcome import EditResult, unit_for
from understudy.edit.selection import finite_time
from understudy.edit.solver.objective_terms import gap_of
from understudy.edit.solver.problem import EditProblem, prepare_problem, with_constraint_penalty
from understudy.edit.solver.sqp import SearchResult, SolverSettings, edit_result, search
from understudy.edit.solver.targets import measure_targets, point_targets
from understudy.errors import InvalidInput

STROKE_POINTS = 256  # of the stroke, evenly along it: a 256th of it is finer than a hand draws
MIN_PATH_SAMPLES, MAX_PATH_SAMPLES = (
    9,
    65,
)  # times that are looked at: one segment has four numbers a column, and twenty columns or so
COVERAGE_POINTS = 32  # places of the stroke that the path should come by
SMOOTHING_WIDTH_RATIOS = (0.01, 0.02, 0.04)  # of a stroke's length, one after the other while it trembles
TREMOR_LENGTH_RATIO = 1.03  # how much longer a stroke is than its shape where it does
MATCH_WINDOW_RATIO = 0.2  # of the stroke's length, about where the point is due: a loop's other side is no match


@dataclass(frozen=True)
class Stroke(ObjectiveTerm):
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
        return np.linspace(self.start, self.stop, int(np.clip(halves, MIN_PATH_SAMPLES, MAX_PATH_SAMPLES)))

    def term_function(self, rig: PosedRig, path: Array, times: Array, size: float) -> TermFunction:
        """Follow the stroke, matched anew each time it is asked."""
        screen = Screen(None if self.project is None else np.array(self.project), size)
        unit = screen.project_points(path[:, 0]).unit[:, None]  # as it was, so that going away is no way to be nearer
        if self.clock:
            return _timed_term(np.array(self.path), screen, unit)
        line = StrokeLine(resample_evenly(np.array(self.path), STROKE_POINTS))
        spent = (times - times[0]) / (times[-1] - times[0])
        return _path_term(line, spent, screen, unit, self)


class ProjectedPoint(NamedTuple):
    """Places on a screen, or in the world, in its own units."""

    place: Array  # (T, D)
    slopes: Array  # (T, D, 3) by places of the world in sizes
    unit: Array  # (T,) how many units one size of the character is there


class Screen:
    """What a matrix (2 or 3, 4) makes of places given in sizes of `size` metres; None is the world itself."""

    def __init__(self, matrix: Array | None, size: float) -> None:
        self.matrix, self.size = matrix, size

    def project_points(self, path: Array) -> ProjectedPoint:
        """Of T places (T, 3) in sizes."""
        count, size = len(path), self.size
        if self.matrix is None:
            slopes = np.tile(size * np.eye(3), (count, 1, 1))
            return ProjectedPoint(size * path, slopes, np.full(count, size))
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
        return ProjectedPoint(drawn, slopes, np.maximum(unit, 1e-12))


class StrokeLine:
    """A stroke of M points, evenly spaced; places along it are 0 to 1."""

    def __init__(self, points: Array) -> None:
        self.points = points  # (M, D)
        self.steps = np.diff(points, axis=0)
        self.shares = np.linspace(0.0, 1.0, len(points))

    def points_at(self, share: Array) -> Array:
        """(T, D) the places at shares (T,) of its length."""
        return np.stack([np.interp(share, self.shares, column) for column in self.points.T], axis=-1)

    def tangents_at(self, share: Array) -> Array:
        """(T, D) the direction there, of length one, even over the points beside."""
        span = 1.5 / (len(self.points) - 1)
        way = self.points_at(np.minimum(share + span, 1.0)) - self.points_at(np.maximum(share - span, 0.0))
        return way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)

    def nearest(self, places: Array, due: Array | None = None) -> Array:
        """(T,) the share of the nearest point of each place (T, D), not far from where it is due (T,)."""
        off = places[:, None] - self.points[:-1]  # (T, M - 1, D)
        length2 = np.maximum((self.steps**2).sum(axis=1), 1e-30)
        inside = np.clip(np.einsum("tmd,md->tm", off, self.steps) / length2, 0.0, 1.0)
        distance = np.linalg.norm(off - inside[..., None] * self.steps, axis=2)
        shares = (np.arange(len(self.steps)) + inside) / len(self.steps)
        if due is not None:
            distance = np.where(np.abs(shares - due[:, None]) > MATCH_WINDOW_RATIO, np.inf, distance)
        best = np.argmin(distance, axis=1)
        found: Array = shares[np.arange(len(places)), best]
        return found


def resample_evenly(points: Array, count: int) -> Array:
    """(count, D) points evenly along a stroke (n, D), however unevenly it was drawn.

    Few points are joined by a smooth curve through each.
    """
    from scipy.interpolate import CubicSpline

    gone = _arc_lengths(points)
    points = points[np.concatenate([[True], np.diff(gone) > 0])]
    gone = np.unique(gone)
    if 2 < len(points) < count:
        points = CubicSpline(gone, points, bc_type="natural")(np.linspace(0.0, gone[-1], 4 * count))
        gone = _arc_lengths(points)
    at = np.linspace(0.0, gone[-1], count)
    return np.stack([np.interp(at, gone, column) for column in points.T], axis=-1)


def remove_tremor(points: Array) -> Array:
    """The stroke without the trembling of the hand that drew it; one that does not tremble stays as it is.

    Trembling makes a stroke longer than its shape is. It is averaged over more and more of its length, its ends kept,
    until that makes no difference to the length.
    """
    from scipy.ndimage import gaussian_filter1d

    if len(points) < 8:
        return points
    raw, length = points, _arc_lengths(points)[-1]
    for width in SMOOTHING_WIDTH_RATIOS:
        spread = width * STROKE_POINTS
        line = resample_evenly(points, STROKE_POINTS) if length > 0 else points
        padded = np.pad(line, ((STROKE_POINTS // 2, STROKE_POINTS // 2), (0, 0)), mode="reflect", reflect_type="odd")
        smooth = gaussian_filter1d(padded, spread, axis=0)[STROKE_POINTS // 2 : -(STROKE_POINTS // 2)]
        shorter = _arc_lengths(smooth)[-1]
        if length <= TREMOR_LENGTH_RATIO * shorter:
            return raw
        raw, length = smooth, shorter
    return raw


def _arc_lengths(points: Array) -> Array:
    """(n,) the length of a polyline up to each of its points."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])


def pull_stroke(drawn: Array, shares: Sequence[float], places: Any) -> Array:
    """The stroke (n, D), even, so that it passes through places (K, D) at shares (K,) of its length.

    The pull fades in proportion to the way to the next such place, and to an end that is free.
    """
    line = StrokeLine(resample_evenly(drawn, STROKE_POINTS))
    pull = np.asarray(places, float) - line.points_at(np.asarray(shares, float))
    known = dict(zip(shares, pull))
    for end in (0.0, 1.0):
        known.setdefault(end, np.zeros(drawn.shape[1]))
    order = sorted(known)
    offset = [np.interp(line.shares, order, [known[s][d] for s in order]) for d in range(drawn.shape[1])]
    moved: Array = line.points + np.stack(offset, axis=-1)
    return moved


def _timed_term(target: Array, screen: Screen, unit: Array) -> TermFunction:
    def answer(path: Array) -> TermResponse:
        seen = screen.project_points(path[:, 0])
        way = (target - seen.place) / unit
        return _response_rows(way, seen.slopes / unit[:, :, None], _pad_to_3d(way))

    return answer


def _path_term(line: StrokeLine, spent: Array, screen: Screen, unit: Array, stroke: Stroke) -> TermFunction:
    last, weight = [0, len(spent) - 1] if stroke.ends else [], stroke.along
    counted = stroke.ends and not stroke.soft  # what is missed of the stroke counts for goals only

    def answer(path: Array) -> TermResponse:
        seen = screen.project_points(path[:, 0])
        gone = _arc_lengths(seen.place)
        due = gone / gone[-1] if gone[-1] > 1e-6 * float(unit.min()) else spent  # one that stands still goes evenly
        share = line.nearest(seen.place, due)
        share[last] = due[last]
        slopes = seen.slopes / unit[:, :, None]
        way = (line.points_at(share) - seen.place) / unit
        along = line.tangents_at(share)
        side = _perpendicular(along, way)  # at a corner of the stroke, the nearest way is not square to its direction
        across = np.eye(along.shape[1]) - side[:, :, None] * side[:, None, :]
        across[last] = np.eye(along.shape[1])
        late = np.einsum("ta,ta->t", along, line.points_at(due) - seen.place)[:, None] / unit
        first = _response_rows(way, across @ slopes, _pad_to_3d(way))
        second = _response_rows(weight * late, weight * (along[:, None] @ slopes), first.gap)
        missed = _coverage_gaps(line, seen.place) / unit.mean() if counted else way[:0]
        return TermResponse(
            np.concatenate([first.residual, second.residual]),
            np.concatenate([first.slopes, second.slopes]),
            np.concatenate([first.gap, _pad_to_3d(missed)]),
        )

    return answer


def _coverage_gaps(line: StrokeLine, places: Array) -> Array:
    """(K, D) the ways from some places of the stroke to the nearest of the path (T, D)."""
    some = line.points[:: len(line.points) // COVERAGE_POINTS]
    if not _arc_lengths(places)[-1] > 0:
        return places[0] - some
    path = StrokeLine(resample_evenly(places, STROKE_POINTS))
    return path.points_at(path.nearest(some)) - some


def _perpendicular(along: Array, way: Array) -> Array:
    """(T, D) the directions `along` made square to the ways (T, D)."""
    share = np.einsum("ta,ta->t", along, way) / np.maximum((way**2).sum(axis=1), 1e-20)
    square = along - share[:, None] * way
    return square / np.maximum(np.linalg.norm(square, axis=1, keepdims=True), 1e-9)


def _response_rows(way: Array, slopes: Array, gap: Array) -> TermResponse:
    """Residuals (T, D) of T times, each with its own slopes (T, D, 3)."""
    count, rows = way.shape
    out = np.zeros((count, rows, count, 1, 3))
    at = np.arange(count)
    out[at, :, at, 0] = slopes
    return TermResponse(way.reshape(-1), out.reshape(count * rows, count, 1, 3), gap)


def _pad_to_3d(way: Array) -> Array:
    """(T, 3) a way on a screen as one in the world, for its length."""
    return np.concatenate([way, np.zeros((len(way), 3 - way.shape[1]))], axis=1)


SKETCH_SETTINGS = SolverSettings(tolerance=1e-3, iterations=30, programs=120)
ALONG_AND_WEIGHT_PHASES = ((1.0, 100.0), (0.1, 300.0), (0.02, 1000.0), (0.01, 3000.0))
"""How much the way along the stroke counts, and how much all of it, one after the other. A stroke has more points than
a path has freedom, so it is a soft wish: with these weights a path that tangents can draw is followed to less than a
thousandth of the character's size, and tangents are not twisted for what a hand trembles."""

MIN_REPORTED_PULL_RATIO = 2e-3  # of the character's size: a pull to a key below that is not seen, and not said


def sketch_path(
    rig: PosedRig,
    curves: Curves,
    point: Point,
    stroke: Any,
    start: float | None = None,
    stop: float | None = None,
    *,
    times: Any = None,
    project: Any = None,
    pins: Sequence[Pin] = (),
    contacts: Sequence[Contact] = (),
    holds: Sequence[Hold] = (),
    limits: Sequence[Limit] = (),
    stiffness: Mapping[str, float] | None = None,
    edges: str = "smooth",
    settings: SolverSettings | None = None,
) -> EditResult:
    """The animation in which `point` goes along the stroke (n, 3) from `start` to `stop`.

    The stroke has metres of the world, as many points as were drawn, and no times: the point goes along it as it went
    along its path. With `times` (n,) it is where it was drawn at each. With `project` (2 or 3, 4), a matrix from the
    world to a screen, the stroke is (n, 2), and only what is seen from there is asked for.
    """
    drawn = checks.array(stroke, f"stroke of {point.name}", ("N", 3 if project is None else 2))
    clock = () if times is None else tuple(checks.array(times, "times of the stroke", (len(drawn),)).tolist())
    if clock:
        start, stop = clock[0], clock[-1]
    if start is None or stop is None:
        raise InvalidInput("a stroke without times of its own needs a start and a stop")
    matrix = None if project is None else tuple(map(tuple, checks.array(project, "projection", ("M", 4)).tolist()))
    path = tuple(map(tuple, (drawn if clock else remove_tremor(drawn)).tolist()))
    wish = Stroke(point, path, start, stop, clock, matrix, soft=True)
    edit = Edit(
        (), tuple(pins), tuple(contacts), tuple(holds), tuple(limits), stiffness or {}, edges=edges, terms=(wish,)
    )
    problem = prepare_problem(rig, curves, edit)
    drawn_on, notes = (wish, ()) if clock else _pull_to_keys(problem, wish)
    if drawn_on is not wish:
        problem = prepare_problem(rig, curves, replace(edit, terms=(drawn_on,)))
    problem = with_constraint_penalty(problem, point)
    zero = np.zeros(problem.tangents.count)
    found = _search_stroke(rig, problem, drawn_on, settings or SKETCH_SETTINGS)
    goal = problem.terms[0].with_objective(replace(drawn_on, soft=False), rig, problem.size)
    before, after = (gap_of(goal, problem.states, problem.tangents, v, problem.size) for v in (zero, found.v))
    result = edit_result(replace(problem, terms=(goal,)), replace(found, start=before, moves=after))
    return replace(result, notes=(*result.notes, *notes))


def _search_stroke(rig: PosedRig, problem: EditProblem, wish: Stroke, settings: SolverSettings) -> SearchResult:
    """The search, first for the whole length of the stroke and then for its shape, as near as it takes."""
    v, held, iterations = np.zeros(problem.tangents.count), problem.held, 0
    for phase, (along, weight) in enumerate(ALONG_AND_WEIGHT_PHASES):
        now = problem.terms[0].with_objective(replace(wish, along=along, weight=weight), rig, problem.size)
        found = search(replace(problem, terms=(now,)), problem.moves, v, settings, held)
        v, held, iterations = found.v, found.held, iterations + found.iterations
        if phase and gap_of(now, problem.states, problem.tangents, v, problem.size).distance < settings.tolerance / 2:
            break
    return replace(found, iterations=iterations)


def _format_length(metres: float) -> str:
    unit, scale = unit_for(metres)
    return f"{scale * metres:.3g} {unit}"


def _pull_to_keys(problem: EditProblem, wish: Stroke) -> tuple[Stroke, tuple[str, ...]]:
    """The stroke pulled to where keys hold the point, and what to say about it."""
    times, places = _find_fixed_times(problem, wish)
    if not len(times):
        return wish, ()
    screen = Screen(None if wish.project is None else np.array(wish.project), problem.size)
    seen = screen.project_points(places)
    drawn = np.array(wish.path)
    line = StrokeLine(resample_evenly(drawn, STROKE_POINTS))
    shares: list[float] = []
    for time, place in zip(times, seen.place):
        free = float(line.nearest(place[None])[0])
        shares.append(0.0 if time <= wish.start else 1.0 if time >= wish.stop else float(np.clip(free, 0.02, 0.98)))
    order = np.maximum.accumulate(shares)
    keep = np.concatenate([[True], np.diff(order) > 0.01])
    off = np.linalg.norm(seen.place - line.points_at(np.array(shares)), axis=1) / seen.unit
    notes = tuple(
        f"the stroke is pulled {_format_length(problem.size * away)} to the key at {time:.4g} s"
        for time, away in zip(times[keep], off[keep])
        if away > MIN_REPORTED_PULL_RATIO
    )
    path = pull_stroke(drawn, order[keep].tolist(), seen.place[keep])
    return replace(wish, path=tuple(map(tuple, path.tolist()))), notes


def _find_fixed_times(problem: EditProblem, wish: Stroke) -> tuple[Array, Array]:
    """The times (K,) at which no tangent moves the point, as all its keys are there, and its places (K, 3), sizes."""
    t = problem.tangents
    keys = np.concatenate([t.pieces.t0, t.pieces.t0 + t.pieces.d])
    inner = keys[(keys > wish.start + KEY_TIME_TOLERANCE_SECONDS) & (keys < wish.stop - KEY_TIME_TOLERANCE_SECONDS)]
    near = np.concatenate([[wish.start], np.unique(np.round(inner, 5)), [wish.stop]])
    own = problem.terms[0].asked.point[0]
    parts = np.tile([True, False], (len(near), 1))
    asked = point_targets(t, np.full(len(near), own), near, np.zeros(len(near), np.int64), parts)
    seen = measure_targets(problem.states, t, asked, np.zeros(t.count), problem.size)
    still = np.abs(seen.matrix).reshape(len(near), -1).max(axis=1, initial=0.0) < 1e-6
    return near[still], -seen.gap[still, :3]
