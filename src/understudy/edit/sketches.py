"""Sketch: the path of a point between two times follows a drawn stroke, by the same optimisation as all edits.

    result = sketch_path(rig, curves, "hand.R", stroke, 0.5, 1.5, Pin("hips"))

Keys are not touched. Where a key fixes the point, the stroke cannot be followed as drawn: it is pulled to the key
there, with a pull that fades away from it, and the notes of the result say by how much.

The objective term (`Stroke`). A stroke has a shape and no timing. Each sampled time is matched with the nearest place
of the stroke, again in every step, and the distance across the stroke counts: r = c - p, which falls by (I - t t') dp,
t along the stroke. That alone would let the path turn back half way. So the distance along the stroke counts as well,
though less, towards the place that has as much of the stroke behind it as the path has of its own length: once both
have one shape, these are the nearest places, whatever the timing. A stroke with times of its own is followed point by
point.

On a screen the same happens with the projection of the path: (u, v, w) = M (x, y, z, 1), at (u / w, v / w), or (u, v)
where M has two rows. Depth is left to the tangents. One unit of the screen counts as the character sizes that it spans
at the point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.character import Curves
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import (
    Contact,
    Edit,
    Hold,
    Limit,
    ObjectiveTerm,
    Pin,
    Point,
    TermFunction,
    TermResponse,
    check_point,
    sort_goals,
)
from understudy.edit.keys import finite_time
from understudy.edit.outcome import EditResult, unit_for
from understudy.edit.solver.objective_terms import gap_of
from understudy.edit.solver.problem import EditProblem, prepare_problem, with_constraint_penalty
from understudy.edit.solver.sqp import SearchResult, SolverSettings, edit_result, search
from understudy.edit.solver.targets import measure_targets, point_targets
from understudy.edit.stances import with_standing_feet
from understudy.errors import InvalidInput

STROKE_POINTS = 256  # points of a resampled stroke: a 256th of it is finer than a hand draws
# Sampled times of a path: a segment has four variables a column, and about twenty columns.
MIN_PATH_SAMPLES, MAX_PATH_SAMPLES = 9, 65
COVERAGE_POINTS = 32  # places of the stroke that the path should pass
SMOOTHING_WIDTH_RATIOS = (0.01, 0.02, 0.04)  # of the stroke's length, tried in turn while tremor remains
TREMOR_LENGTH_RATIO = 1.03  # length of a stroke over that of its smoothed shape, above which it has tremor
MATCH_WINDOW_RATIO = 0.2  # of the stroke's length, around the expected place: the other side of a loop is no match
MIN_REPORTED_PULL_RATIO = 2e-3  # of the character's size: a smaller pull to a key is invisible and not reported
SKETCH_SETTINGS = SolverSettings(
    tolerance=1e-3, iterations=30, programs=120, window_iterations=30, window_rounds=3, window_tolerance=5e-3
)

ALONG_AND_WEIGHT_PHASES = ((1.0, 100.0), (0.1, 300.0), (0.02, 1000.0), (0.01, 3000.0))
"""The weight of the distance along the stroke, and that of the whole term, in successive searches. A stroke has more
points than a path has degrees of freedom, so it is a soft term: with these weights a path that tangents can draw is
followed to less than a thousandth of the character's size, and tangents are not twisted to follow tremor."""


def sketch_path(
    rig: PosedRig,
    curves: Curves,
    point: Point | str,
    stroke: ArrayLike,
    start: float | None = None,
    stop: float | None = None,
    *goals: Pin | Contact | Hold | Limit,
    times: ArrayLike | None = None,
    project: ArrayLike | None = None,
    stiffness: Mapping[str, float] | None = None,
    edges: str = "smooth",
    falloff: float | None = None,
    hold_feet: bool | None = None,
    settings: SolverSettings | None = None,
) -> EditResult:
    """Change the curves of an animation so that a point follows a drawn stroke.

    Args:
        rig: Rig of the character that the curves move.
        curves: The animation.
        point: The point that follows the stroke, or its name.
        stroke: Points (N, 3) of the stroke, in metres in the world; (N, 2) on a screen with `project`. Their spacing
            does not matter: without `times` the point keeps its own timing.
        start: Time at which the point is at the begin of the stroke, in seconds; needed without `times`.
        stop: Time at which the point is at the end of the stroke, in seconds; needed without `times`.
        goals: What to keep: `Pin`, `Contact`, `Hold` and `Limit`, in any order.
        times: Times (N,) of the points of the stroke, in seconds, where it was drawn in time.
        project: Matrix (2, 4) or (3, 4) from the world to the screen on which the stroke was drawn. Depth stays free.
        stiffness: Factors by joint or column on the cost of changing its tangents; 0 is free.
        edges: `"smooth"` or `"broken"` tangents at the ends, as in `edit_curves`.
        falloff: Seconds before and after the stroke within which keys of a fitter, and frames of a dense clip, may
            move along; None takes it from the spacing of keys.
        hold_feet: Whether feet that stand meanwhile keep their paths, as in `edit_curves`.
        settings: Weights and limits of the solver.

    Returns:
        The new curves, whether the stroke is `reached`, the largest `distance` from it in metres, and `notes` that
        say where keys pull the stroke to themselves.

    Raises:
        InvalidInput: If the stroke has fewer than two points or no length, if `start` and `stop` are missing or
            outside the animation, or if the point is behind the screen.

    Example:
        >>> lamp = us.load("lamp")
        >>> rig, curves = us.rig_of(lamp.character()), lamp.animation("curious")
        >>> head = rig.character.skeleton.index("Head")
        >>> path = rig.joints(rig.pose(curves, [3.5, 3.6, 3.7, 3.8]))[:, head, :3, 3]
        >>> us.sketch_path(rig, curves, "Head", path + [0, 0.02, 0], 3.5, 3.8).distance < 0.02
        True
    """
    given = sort_goals(rig.character, goals)
    if given["moves"]:
        raise InvalidInput("a sketch moves one point along its stroke; it takes no other move")
    point = check_point(rig.character, Point(point) if isinstance(point, str) else point)
    drawn = checks.array(stroke, f"stroke of {point.name}", ("N", 3 if project is None else 2))
    clock = () if times is None else tuple(checks.array(times, "times of the stroke", (len(drawn),)).tolist())
    if clock:
        start, stop = clock[0], clock[-1]
    if start is None or stop is None:
        raise InvalidInput("a stroke without times of its own needs a start and a stop")
    matrix = None if project is None else tuple(map(tuple, checks.array(project, "projection", ("M", 4)).tolist()))
    path = tuple(map(tuple, (drawn if clock else remove_tremor(drawn)).tolist()))
    drawn_stroke = Stroke(point, path, start, stop, clock, matrix, soft=True)
    edit = Edit(**given, stiffness=stiffness or {}, edges=edges, terms=(drawn_stroke,), falloff=falloff)
    edit = with_standing_feet(rig, curves, edit, hold_feet)
    problem = prepare_problem(rig, curves, edit)
    term, notes = (drawn_stroke, ()) if clock else _pull_to_keys(problem, drawn_stroke)
    if term is not drawn_stroke:
        problem = prepare_problem(rig, curves, replace(edit, terms=(term,)))
    if problem.window is None:
        problem = with_constraint_penalty(problem, point)
    zero = np.zeros(problem.variables.count)
    found = _search_stroke(rig, problem, term, settings or SKETCH_SETTINGS)
    goal = problem.terms[0].with_objective(replace(term, soft=False), rig, problem.size)
    before, after = (gap_of(goal, problem.states, problem.variables, v, problem.size) for v in (zero, found.v))
    result = edit_result(replace(problem, terms=(goal,)), replace(found, start=before, moves=after))
    return replace(result, notes=(*result.notes, *notes))


def _search_stroke(rig: PosedRig, problem: EditProblem, term: Stroke, settings: SolverSettings) -> SearchResult:
    """Search for the whole length of the stroke first, then for its shape, in phases until the tolerance is met."""
    v, held, iterations = np.zeros(problem.variables.count), problem.held, 0
    for phase, (along, weight) in enumerate(ALONG_AND_WEIGHT_PHASES):
        now = problem.terms[0].with_objective(replace(term, along=along, weight=weight), rig, problem.size)
        found = search(replace(problem, terms=(now,)), problem.moves, v, settings, held)
        v, held, iterations = found.v, found.held, iterations + found.iterations
        if phase and gap_of(now, problem.states, problem.variables, v, problem.size).distance < settings.tolerance / 2:
            break
    return replace(found, iterations=iterations)


def _pull_to_keys(problem: EditProblem, term: Stroke) -> tuple[Stroke, tuple[str, ...]]:
    """The stroke pulled to the places where keys fix the point, and notes about it."""
    times, places = _find_fixed_times(problem, term)
    if not len(times):
        return term, ()
    screen = Screen(None if term.project is None else np.array(term.project), problem.size)
    seen = screen.project_points(places)
    drawn = np.array(term.path)
    line = StrokeLine(resample_evenly(drawn, STROKE_POINTS))
    shares: list[float] = []
    for time, place in zip(times, seen.place):
        free = float(line.nearest(place[None])[0])
        shares.append(0.0 if time <= term.start else 1.0 if time >= term.stop else float(np.clip(free, 0.02, 0.98)))
    order = np.maximum.accumulate(shares)
    keep = np.concatenate([[True], np.diff(order) > 0.01])
    off = np.linalg.norm(seen.place - line.points_at(np.array(shares)), axis=1) / seen.unit
    notes = tuple(
        f"the stroke is pulled {_format_length(problem.size * away)} to the key at {time:.4g} s"
        for time, away in zip(times[keep], off[keep])
        if away > MIN_REPORTED_PULL_RATIO
    )
    path = pull_stroke(drawn, order[keep].tolist(), seen.place[keep])
    return replace(term, path=tuple(map(tuple, path.tolist()))), notes


def _find_fixed_times(problem: EditProblem, term: Stroke) -> tuple[Array, Array]:
    """The times (K,) at which keys fix the point, so that no tangent moves it, and its places (K, 3), sizes."""
    t = problem.variables
    keys = np.unique([edge for span in t.spans for edge in span])
    inner = keys[(keys > term.start + KEY_TIME_TOLERANCE_SECONDS) & (keys < term.stop - KEY_TIME_TOLERANCE_SECONDS)]
    times = np.concatenate([[term.start], np.unique(np.round(inner, 5)), [term.stop]])
    point = problem.terms[0].asked.point[0]
    parts = np.tile([True, False], (len(times), 1))
    asked = point_targets(t, np.full(len(times), point), times, np.zeros(len(times), np.int64), parts)
    seen = measure_targets(problem.states, t, asked, np.zeros(t.count), problem.size)
    fixed = np.abs(seen.matrix).reshape(len(times), -1).max(axis=1, initial=0.0) < 1e-6
    return times[fixed], -seen.gap[fixed, :3]


def _format_length(metres: float) -> str:
    unit, scale = unit_for(metres)
    return f"{scale * metres:.3g} {unit}"


@dataclass(frozen=True)
class Stroke(ObjectiveTerm):
    """From `start` to `stop` the point goes along `path`, (n, 3) metres in the world, or (n, 2) with `project`.

    `project` is the matrix of a screen, (2, 4) or (3, 4) as nested tuples. `clock` (n,) seconds are the times of the
    points of the path. `along` is the weight of the distance along the stroke, 0 to 1. With `ends` the path begins and
    ends where the stroke does, else anywhere on it.
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
        halves = 2 * int(np.ceil((self.stop - self.start) * rate)) + 1  # half frames: a kink shows within one frame
        return np.linspace(self.start, self.stop, int(np.clip(halves, MIN_PATH_SAMPLES, MAX_PATH_SAMPLES)))

    def term_function(self, rig: PosedRig, path: Array, times: Array, size: float) -> TermFunction:
        """Follow the stroke, matched anew at each evaluation."""
        screen = Screen(None if self.project is None else np.array(self.project), size)
        unit = screen.project_points(path[:, 0]).unit[
            :, None
        ]  # fixed, so that moving away from the camera does not reduce the error
        if self.clock:
            return _timed_term(np.array(self.path), screen, unit)
        line = StrokeLine(resample_evenly(np.array(self.path), STROKE_POINTS))
        elapsed = (times - times[0]) / (times[-1] - times[0])
        return _path_term(line, elapsed, screen, unit, self)


def _timed_term(target: Array, screen: Screen, unit: Array) -> TermFunction:
    def answer(path: Array) -> TermResponse:
        seen = screen.project_points(path[:, 0])
        way = (target - seen.place) / unit
        return _response_rows(way, seen.slopes / unit[:, :, None], _pad_to_3d(way))

    return answer


def _path_term(line: StrokeLine, elapsed: Array, screen: Screen, unit: Array, stroke: Stroke) -> TermFunction:
    last, weight = [0, len(elapsed) - 1] if stroke.ends else [], stroke.along
    counted = stroke.ends and not stroke.soft  # missed parts of the stroke count for goals only

    def answer(path: Array) -> TermResponse:
        seen = screen.project_points(path[:, 0])
        gone = _arc_lengths(seen.place)
        due = (
            gone / gone[-1] if gone[-1] > 1e-6 * float(unit.min()) else elapsed
        )  # evenly, for a point that does not move
        share = line.nearest(seen.place, due)
        share[last] = due[last]
        slopes = seen.slopes / unit[:, :, None]
        way = (line.points_at(share) - seen.place) / unit
        along = line.tangents_at(share)
        side = _perpendicular(along, way)  # at a corner the offset is not perpendicular to the tangent
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
    """(K, D) the offsets from some points of the stroke to the nearest points of the path (T, D)."""
    points = line.points[:: len(line.points) // COVERAGE_POINTS]
    if not _arc_lengths(places)[-1] > 0:
        return places[0] - points
    path = StrokeLine(resample_evenly(places, STROKE_POINTS))
    return path.points_at(path.nearest(points)) - points


def _perpendicular(along: Array, way: Array) -> Array:
    """(T, D) the directions `along` made perpendicular to the offsets `way` (T, D)."""
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
    """(T, 3) an offset on a screen with a zero third component, for its length."""
    return np.concatenate([way, np.zeros((len(way), 3 - way.shape[1]))], axis=1)


class ProjectedPoint(NamedTuple):
    """Points on a screen, or in the world, in units of that space."""

    place: Array  # (T, D)
    slopes: Array  # (T, D, 3) by positions in the world, in sizes of the character
    unit: Array  # (T,) units per size of the character at each point


class Screen:
    """The projection by a matrix (2 or 3, 4) of points in sizes of `size` metres; None is the world itself."""

    def __init__(self, matrix: Array | None, size: float) -> None:
        self.matrix, self.size = matrix, size

    def project_points(self, path: Array) -> ProjectedPoint:
        """Project T points (T, 3) in sizes."""
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
    """A stroke of M points, evenly spaced; places along it are shares of its length, 0 to 1."""

    def __init__(self, points: Array) -> None:
        self.points = points  # (M, D)
        self.steps = np.diff(points, axis=0)
        self.shares = np.linspace(0.0, 1.0, len(points))

    def points_at(self, share: Array) -> Array:
        """(T, D) the points at shares (T,) of the length."""
        return np.stack([np.interp(share, self.shares, column) for column in self.points.T], axis=-1)

    def tangents_at(self, share: Array) -> Array:
        """(T, D) the unit tangents there, averaged over the neighbouring points."""
        span = 1.5 / (len(self.points) - 1)
        chord = self.points_at(np.minimum(share + span, 1.0)) - self.points_at(np.maximum(share - span, 0.0))
        return chord / np.maximum(np.linalg.norm(chord, axis=1, keepdims=True), 1e-12)

    def nearest(self, places: Array, due: Array | None = None) -> Array:
        """(T,) the share of the stroke's point nearest to each place (T, D), near the expected share `due` (T,)."""
        off = places[:, None] - self.points[:-1]  # (T, M - 1, D)
        length2 = np.maximum((self.steps**2).sum(axis=1), 1e-30)
        inside = np.clip(np.einsum("tmd,md->tm", off, self.steps) / length2, 0.0, 1.0)
        distance = np.linalg.norm(off - inside[..., None] * self.steps, axis=2)
        shares = (np.arange(len(self.steps)) + inside) / len(self.steps)
        if due is not None:
            distance = np.where(np.abs(shares - due[:, None]) > MATCH_WINDOW_RATIO, np.inf, distance)
        best = np.argmin(distance, axis=1)
        nearest: Array = shares[np.arange(len(places)), best]
        return nearest


def resample_evenly(points: Array, count: int) -> Array:
    """(count, D) points evenly along a stroke (n, D), however unevenly it was drawn.

    Few points are joined by a cubic spline through all of them.
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
    """The stroke without the tremor of the hand that drew it; a stroke without tremor stays as it is.

    Tremor makes a stroke longer than its shape. It is smoothed over more and more of its length, its ends kept, until
    that no longer changes the length.
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


def pull_stroke(drawn: Array, shares: Sequence[float], places: Any) -> Array:
    """The stroke (n, D), resampled, pulled so that it passes through places (K, D) at shares (K,) of its length.

    The pull fades linearly towards the next such place, or towards a free end.
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


def _arc_lengths(points: Array) -> Array:
    """(n,) the length of a polyline up to each of its points."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
