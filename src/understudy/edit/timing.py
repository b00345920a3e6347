"""Timing between keys [Ciccone 2019, section 3.4]: faster or slower around a time, keys untouched.

`scale_timing` is the paper's direct scaling [eq. 12]: of the segment t_k ... t_k+1 that contains t, d long,

    after dt  += sigma d (t - t_k) / d,      before dt += sigma d (t_k+1 - t) / d,      both kept within 0 ... 0.95 d

with sigma in lengths of the segment, so that channels with keys of their own stay in step (the paper counts it in
frames). Longer time handles make the middle of a segment faster and its ends slower.

`retime` asks for a speed instead. Where keys come from a fitter, or lie on every frame, the point goes along its own
path at other times, t -> t + (factor - 1) (t - t0) phi(t), as a stroke with times of its own (`sketches`). Between keys
that a person set the velocity of the point at that time, multiplied by the factor, is a goal of the same
optimisation as all other edits, while the point keeps its position at that time and all constraints hold. There time
handles are cheap and value handles expensive, and the path of the point through space is a soft term, so that the
timing changes and the path does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy import checks
from understudy.character import Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, bezier_segments
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import (
    EDGES,
    Contact,
    Edit,
    Hold,
    Limit,
    ObjectiveTerm,
    Pin,
    Point,
    TermFunction,
    TermResponse,
)
from understudy.edit.keys import Targets, finite_time, is_broken, replace_curves, select_curves
from understudy.edit.outcome import EditResult, Obstacle
from understudy.edit.sketches import Stroke, sketch_path
from understudy.edit.solver.free_tangents import MAX_TIME_HANDLE_RATIO, TIME_HANDLE_COST, TangentVariables
from understudy.edit.solver.objective_terms import path_of
from understudy.edit.solver.problem import EditProblem, prepare_problem, with_constraint_penalty
from understudy.edit.solver.sqp import SearchResult, SolverSettings, edit_result, search
from understudy.errors import InvalidInput

# Of the character's size: the distance over which a wrong speed is measured; the goals' tolerance is 1 % of that.
SPEED_ERROR_DISTANCE_RATIO = 0.03
VELOCITY_STEP_FRAMES = 0.02  # frames, step of the finite difference; its error is below 1e-5 of the speed
VALUE_HANDLE_COST = 3.0  # cost of value handles, as a multiple of their usual cost
MIN_RETIMED_HANDLE_RATIO = 0.12  # of a segment: the shortest time handle; shorter ones make the motion jerk
PATH_WEIGHT = 3  # of the soft term that keeps the path
PATH_SAMPLES = 129  # of that path
RETIME_SETTINGS = SolverSettings(iterations=30, programs=120)
MAX_PATH_SPEED_FACTOR = 4.0  # of a point along its own path: beyond, the times on it would turn back
RETIMED_SAMPLES = 25  # of such a path, over twice the radius of the window
FACTOR_STEP, ITERATIONS_PER_FACTOR_STEP = 0.25, 3  # largest change of the factor at once, and the steps for it


def scale_timing(curves: Curves, time: float, sigma: float, targets: Targets = None, edges: str = "broken") -> Curves:
    """Make all curves, or those of `targets`, faster around a time (seconds) for sigma above 0, slower below [eq. 12].

    Only time handles of the segments that contain the time change. That turns the tangents at their keys: where a key
    was smooth, `edges` "smooth" turns its other side along, "broken" leaves it. Steps stay steps.
    """
    time = finite_time(time)
    if not np.isfinite(sigma):
        raise InvalidInput(f"sigma should be a number, but is {sigma}")
    checks.one_of(edges, "edges", EDGES)
    if not curves.start <= time <= curves.end:
        raise InvalidInput(
            f"the time should lie within animation {curves.name!r}, {curves.start:g} to {curves.end:g} s, "
            f"but is {time:g} s"
        )
    return replace_curves(
        curves, select_curves(curves, targets), lambda curve: _scale_handles(curve, time, sigma, edges == "smooth")
    )


def sigma_of(factor: float) -> float:
    """The sigma that makes the middle of a segment with even handles (a third each) `factor` times as fast.

    There x' falls from 1 to 1 - 3/4 sigma, so that sigma = 4/3 (1 - 1 / factor). Handles end between 0 and 0.95 of the
    segment, which is between 0.67 and 13 times as fast.
    """
    if not (np.isfinite(factor) and factor > 0):
        raise InvalidInput(f"the factor of the speed should be above zero, but is {factor}")
    return 4 / 3 * (1 - 1 / factor)


def _scale_handles(curve: Curve, time: float, sigma: float, smooth: bool) -> Curve:
    if len(curve) < 2 or not curve.times[0] <= time <= curve.times[-1]:
        return curve
    k = min(int(np.searchsorted(curve.times, time, side="right")) - 1, len(curve) - 2)
    curve = bezier_segments(curve, (np.arange(len(curve) - 1) == k) & (curve.segments == LINEAR))
    if curve.segments[k] != BEZIER:
        return curve
    d = curve.times[k + 1] - curve.times[k]
    u = (time - curve.times[k]) / d
    broken = is_broken(curve)
    before, after = np.array(curve.before), np.array(curve.after)
    for handles, key, share in ((after, k, u), (before, k + 1, 1 - u)):
        most = np.maximum(MAX_TIME_HANDLE_RATIO * d, handles[key, :, 0])  # a longer handle stays as it is
        handles[key, :, 0] = np.clip(handles[key, :, 0] + sigma * d * share, 0.0, most)
    if smooth:
        for scaled, other, key in ((after, before, k), (before, after, k + 1)):
            if 0 < key < len(curve) - 1:
                turns = ~broken[key] & (scaled[key, :, 0] > 0)
                slope = scaled[key, :, 1] / np.where(turns, scaled[key, :, 0], 1.0)
                other[key, :, 1] = np.where(turns, slope * other[key, :, 0], other[key, :, 1])
    return replace(curve, before=before, after=after)


def retime(
    rig: PosedRig,
    curves: Curves,
    point: Point,
    time: float,
    factor: float,
    *,
    pins: Sequence[Pin] = (),
    contacts: Sequence[Contact] = (),
    holds: Sequence[Hold] = (),
    limits: Sequence[Limit] = (),
    stiffness: Mapping[str, float] | None = None,
    edges: str = "smooth",
    settings: SolverSettings | None = None,
) -> EditResult:
    """Let `point` pass its position at `time` (seconds) with `factor` times its speed.

    Keys stay. The `distance` of the result is the distance by which the point is off after SPEED_ERROR_DISTANCE_RATIO
    character sizes, and a note states the new speed.
    """
    finite_time(time)
    if not curves.start < time < curves.end:
        raise InvalidInput(
            f"the time should lie within animation {curves.name!r}, {curves.start:g} to {curves.end:g} s, "
            f"but is {time:g} s"
        )
    spans = [(time - 1e-9, time + 1e-9), *((contact.start, contact.stop) for contact in contacts)]
    edit = Edit(
        (),
        tuple(pins),
        tuple(contacts),
        (*holds, Hold(point, time)),
        tuple(limits),
        stiffness or {},
        min(start for start, _ in spans),
        max(stop for _, stop in spans),
        edges,
        (Speed(point, time, factor),),
    )
    problem = prepare_problem(rig, curves, edit)
    if problem.window is not None:
        return _retime_along_path(rig, curves, edit, point, time, factor, problem.window.radius)
    kept = _kept_paths(rig, curves, point, problem)
    problem = prepare_problem(rig, curves, replace(edit, terms=(*edit.terms, *kept)))
    problem = with_constraint_penalty(replace(problem, variables=_prefer_time_handles(problem.tangents)), point)
    result = edit_result(problem, _search_gradually(rig, problem, factor, settings or RETIME_SETTINGS))
    now = speed_of(rig, result.curves, point, time) / speed_of(rig, curves, point, time)
    note = f"{point.name} has {now:.3g} times its speed at {time:g} s, {factor:.3g} times were asked for"
    obstacles = tuple(
        Obstacle(b.kind, b.what, b.share, f"{b.sentence.rpartition(': ')[0] or b.sentence}: {note}")
        for b in result.obstacles
    )
    return replace(result, obstacles=obstacles, notes=(*result.notes, note))


def _retime_along_path(
    rig: PosedRig, curves: Curves, edit: Edit, point: Point, time: float, factor: float, radius: float
) -> EditResult:
    """The point on its own path at other times, within `radius` seconds of `time`."""
    if not (np.isfinite(factor) and 0 <= factor <= MAX_PATH_SPEED_FACTOR):
        raise InvalidInput(
            f"the factor of the speed should be between 0 and {MAX_PATH_SPEED_FACTOR:g}, but is {factor:g}"
        )
    times = np.linspace(max(time - radius, curves.start), min(time + radius, curves.end), RETIMED_SAMPLES)
    fade = 0.5 + 0.5 * np.cos(np.pi * np.minimum(np.abs(times - time) / radius, 1.0))
    source = np.clip(times + (factor - 1) * (times - time) * fade, curves.start, curves.end)
    places = path_of(rig, curves, [point], source)[:, 0]
    if not np.ptp(places, axis=0).max() > 0:
        raise InvalidInput(f"{point.name} stands still at {time:g} s, so its speed cannot be multiplied")
    kept: tuple[Pin | Contact | Hold | Limit, ...]
    kept = (*edit.pins, *edit.contacts, *edit.limits, *(hold for hold in edit.holds if hold.point != point))
    stiffness, edges = edit.stiffness, edit.edges
    result = sketch_path(
        rig,
        curves,
        point,
        places,
        None,
        None,
        *kept,
        times=times,
        stiffness=stiffness,
        edges=edges,
        falloff=radius / 2,
        hold_feet=False,
    )
    now = speed_of(rig, result.curves, point, time) / speed_of(rig, curves, point, time)
    note = f"{point.name} has {now:.3g} times its speed at {time:g} s, {factor:.3g} times were asked for"
    return replace(result, notes=(*result.notes, note))


def speed_of(rig: PosedRig, curves: Curves, point: Point, time: float) -> float:
    """The speed of a point at a time, metres per second."""
    h = VELOCITY_STEP_FRAMES / curves.rate
    places = path_of(rig, curves, [point], np.array([time - h, time + h]))
    return float(np.linalg.norm(places[1] - places[0]) / (2 * h))


@dataclass(frozen=True)
class Speed(ObjectiveTerm):
    """A goal: at `time` the point has `factor` times its velocity before the edit, in the same direction."""

    point: Point
    time: float
    factor: float
    soft = False
    weight = 1.0

    def __post_init__(self) -> None:
        finite_time(self.time, f"time of the speed of {self.point.name}")
        if not (np.isfinite(self.factor) and self.factor >= 0):
            raise InvalidInput(f"the factor of the speed should be zero or more, but is {self.factor}")

    @property
    def start(self) -> float:  # type: ignore[override]
        """The segments that contain the time may change."""
        return self.time - 1e-9

    @property
    def stop(self) -> float:  # type: ignore[override]
        return self.time + 1e-9

    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        return (self.point,)

    def times(self, rate: float) -> Array:
        """(2,) seconds, just before and just after."""
        return np.array([self.time - VELOCITY_STEP_FRAMES / rate, self.time + VELOCITY_STEP_FRAMES / rate])

    def term_function(self, rig: PosedRig, path: Array, times: Array, size: float) -> TermFunction:
        """The velocity is the difference of the two positions over their time.

        Its error counts as the distance by which the point is off after SPEED_ERROR_DISTANCE_RATIO sizes at the wanted
        speed: 1 % of the speed is 1 % of that distance.
        """
        h = times[1] - times[0]
        velocity = (path[1, 0] - path[0, 0]) / h
        speed = float(np.linalg.norm(velocity))
        if speed < 1e-4:
            raise InvalidInput(f"{self.point.name} stands still at {self.time:g} s, so its speed cannot be multiplied")
        wanted = self.factor * velocity
        scale = SPEED_ERROR_DISTANCE_RATIO / max(float(np.linalg.norm(wanted)), 0.1 * speed)
        slopes = np.zeros((3, 2, 1, 3))
        slopes[:, 1, 0], slopes[:, 0, 0] = np.eye(3) * scale / h, -np.eye(3) * scale / h

        def answer(now: Array) -> TermResponse:
            residual = scale * (wanted - (now[1, 0] - now[0, 0]) / h)
            return TermResponse(residual, slopes, residual[None])

        return answer


def _search_gradually(rig: PosedRig, problem: EditProblem, factor: float, settings: SolverSettings) -> SearchResult:
    """Search for a speed in small changes of the factor: large ones are too nonlinear in the time handles."""
    speed, *others = problem.terms
    assert isinstance(speed.objective, Speed)
    count = max(1, int(np.ceil(abs(factor - 1) / FACTOR_STEP)))
    v, held = np.zeros(problem.variables.count), problem.held
    for step in range(1, count + 1):
        part = replace(speed.objective, factor=1 + (factor - 1) * step / count)
        now = replace(problem, terms=(speed.with_objective(part, rig, problem.size), *others))
        last = step == count
        found = search(
            now, problem.moves, v, settings if last else replace(settings, iterations=ITERATIONS_PER_FACTOR_STEP), held
        )
        v, held = found.v, found.held
    return found


def _kept_paths(rig: PosedRig, curves: Curves, point: Point, problem: EditProblem) -> list[Stroke]:
    """The path of the point as strokes, as soft terms, wherever it can change."""
    kept = []
    for start, stop in problem.variables.changeable_spans(np.ones(len(problem.variables.columns), bool)):
        start, stop = max(start, curves.start), min(stop, curves.end)
        places = path_of(rig, curves, [point], np.linspace(start, stop, PATH_SAMPLES))[:, 0]
        if np.ptp(places, axis=0).max() > 1e-6 * problem.size:
            path = tuple(map(tuple, places.tolist()))
            kept.append(Stroke(point, path, start, stop, along=0.0, ends=False, soft=True, weight=PATH_WEIGHT))
    return kept


def _prefer_time_handles(t: TangentVariables) -> TangentVariables:
    """The tangents with cheap time handles of a smallest length, and expensive value handles."""
    values = np.zeros(t.count, bool)
    moved = t.variable[:, 1::2]
    values[moved[moved >= 0]] = True
    low = t.low.copy()
    used = t.variable[:, ::2] >= 0
    floor = np.minimum(MIN_RETIMED_HANDLE_RATIO * t.pieces.d[:, None], t.start[:, ::2])
    least = (floor - t.start[:, ::2])[used] / t.factor[:, ::2][used]
    np.maximum.at(low, t.variable[:, ::2][used], least)
    cost = t.cost * np.where(values, VALUE_HANDLE_COST, 1 / TIME_HANDLE_COST)
    return replace(t, cost=cost, low=low, high=np.maximum(t.high, low))
