"""Objective terms: goals about the path of a point and not about its position at one time, as rows of the program.

    Edit(moves, terms=[Flight(None, 0.4, 0.9), Arc(Point("hand.R"), 1.0, 1.6)])

Rows. A term measures some points at some times. From their path it computes residuals r (Q,), and how they fall with
the path, so that with the derivatives J of the states

    r(v + dv) = r - S J dv,      S = -dr / d path.

A term that is not `soft` is a goal like a move: it has to be reached, and its gap counts. A soft term is weighed
against the change of the tangents. No term is active unless an edit has it.

`Flight`: between two times a point, or the centre of mass, falls freely. With positions p_i at even steps h

    (p_(i-1) - 2 p_i + p_(i+1)) / h^2 = g,

each residual counted as the height T^2 / 8 that such an acceleration makes over the whole flight T. Take-off and
landing follow from the rest: through any two places there is a parabola for every duration.

`Arc`: the ends of limbs should draw arcs. The path is compared with the circle, or the line, that fits it best, fitted
anew in every step; the response of the fit itself to the path is projected out of the derivatives [Kaufman 1975].

The circle (`circle_residuals`). For a place p with d = p - c from the centre, the circle with normal n and radius R is
missed by rho - R across, rho the part of d in the plane, and by n.d out of the plane; the fit minimises the sum of
squares of both. Places on a line, or so nearly on one that the radius would be a hundred times their extent, are
compared with the line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.character import Curves
from understudy.character.body.mass import area_masses
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import ObjectiveTerm, Point, TermFunction, TermResponse, Triple
from understudy.edit.keys import finite_time
from understudy.edit.points.states import PointStates, states_of
from understudy.edit.solver.targets import PointTargets, TargetResiduals, Variables, measure_targets, point_targets
from understudy.errors import InvalidInput

GRAVITY_M_S2: Triple = (0.0, -9.81, 0.0)

SOFT_TERM_WEIGHT = 1e4
"""Cost of a soft term of weight one with a mean square of one character size. A hundredth of the size, which is visible
at once, then costs as much as turning both handles of a key by a radian."""

MIN_TERM_SAMPLES, MAX_TERM_SAMPLES = 9, 17  # sample times of a flight or an arc
MAX_GAUSS_NEWTON_STEPS = 12  # of the circle fit, from the algebraic fit; three or four are usual
STRAIGHT_EXTENT_RATIO = 1e-3  # of the extent: a path with a smaller bulge is a line


@dataclass(frozen=True)
class Flight(ObjectiveTerm):
    """From `start` to `stop` (s) the point, or with None the centre of mass, falls with `gravity` (m/s^2)."""

    point: Point | None
    start: float
    stop: float
    weight: float = 1.0
    gravity: Triple = GRAVITY_M_S2
    soft = True

    def __post_init__(self) -> None:
        _check_span(self.start, self.stop, self.weight, "flight")
        x, y, z = checks.array(self.gravity, "gravity", (3,)).tolist()
        object.__setattr__(self, "gravity", (x, y, z))

    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        return mass_points(rig) if self.point is None else (self.point,)

    def times(self, rate: float) -> Array:
        return _sample_times(self.start, self.stop, rate)

    def term_function(self, rig: PosedRig, path: Array, times: Array, size: float) -> TermFunction:
        """Second differences of the path minus gravity."""
        mass = area_masses(rig)[2] if self.point is None else np.ones(1)
        h, count = times[1] - times[0], len(times) - 2
        height = (self.stop - self.start) ** 2 / 8
        second = np.zeros((count, len(times)))
        for offset, factor in ((0, 1.0), (1, -2.0), (2, 1.0)):
            second[np.arange(count), np.arange(count) + offset] = factor * height / h**2
        slopes = np.einsum("it,p,ab->iatpb", second, mass, np.eye(3)).reshape(3 * count, len(times), len(mass), 3)
        wanted = height * np.array(self.gravity) / size

        def answer(now: Array) -> TermResponse:
            centre = np.einsum("p,tpa->ta", mass, now)
            return TermResponse((wanted - second @ centre).reshape(-1), slopes, np.zeros((0, 3)))

        return answer


@dataclass(frozen=True)
class Arc(ObjectiveTerm):
    """From `start` to `stop` (seconds) the point draws part of a circle, or a line."""

    point: Point
    start: float
    stop: float
    weight: float = 1.0
    soft = True

    def __post_init__(self) -> None:
        _check_span(self.start, self.stop, self.weight, f"arc of {self.point.name}")

    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        return (self.point,)

    def times(self, rate: float) -> Array:
        return _sample_times(self.start, self.stop, rate)

    def term_function(self, rig: PosedRig, path: Array, times: Array, size: float) -> TermFunction:
        """The distance from the best-fitting circle."""

        def answer(now: Array) -> TermResponse:
            residual, slopes = circle_residuals(now[:, 0])
            return TermResponse(residual, slopes[:, :, None], np.zeros((0, 3)))

        return answer


def flight_error(rig: PosedRig, curves: Curves, flight: Flight) -> float:
    """Metres per second squared: the difference of the acceleration from gravity, root mean square."""
    times = np.linspace(flight.start, flight.stop, 4 * MAX_TERM_SAMPLES)
    path = path_of(rig, curves, flight.points(rig), times)
    mass = area_masses(rig)[2] if flight.point is None else np.ones(1)
    acceleration = np.diff(np.einsum("p,tpa->ta", mass, path), 2, axis=0) / (times[1] - times[0]) ** 2
    return float(np.sqrt(((acceleration - np.array(flight.gravity)) ** 2).sum(axis=1).mean()))


def arc_error(rig: PosedRig, curves: Curves, arc: Arc) -> float:
    """Metres: the distance of the path from the best-fitting circle, root mean square."""
    path = path_of(rig, curves, [arc.point], np.linspace(arc.start, arc.stop, 4 * MAX_TERM_SAMPLES))[:, 0]
    residual, _ = circle_residuals(path)
    return float(np.sqrt((residual**2).sum() / len(path)))


def mass_points(rig: PosedRig) -> tuple[Point, ...]:
    """The points that carry the mass of the character's joints (see `area_masses`)."""
    names = rig.character.skeleton.names
    joints, centres, _ = area_masses(rig)
    return tuple(Point(names[j], (float(x), float(y), float(z))) for j, (x, y, z) in zip(joints, centres))


def path_of(rig: PosedRig, curves: Curves, points: Sequence[Point], times: Array) -> Array:
    """(T, P, 3) metres: the positions of points at times (T,)."""
    states = states_of(rig, curves.channels, points)
    sample, point = np.repeat(np.arange(len(times)), len(points)), np.tile(np.arange(len(points)), len(times))
    places, _, _ = states.evaluate(curves.sample(times)[:, states.columns], sample, point, slopes=False)
    return places.reshape(len(times), len(points), 3)


class EvaluatedTerm(NamedTuple):
    """An objective term of a problem."""

    objective: ObjectiveTerm
    asked: PointTargets  # its points at its times, by time
    times: Array  # (T,) seconds
    before: Array  # (T, P, 3) the path before the edit, sizes
    term_function: TermFunction

    def with_objective(self, objective: ObjectiveTerm, rig: PosedRig, size: float) -> EvaluatedTerm:
        """The same points and times with another objective."""
        function = objective.term_function(rig, self.before, self.times, size)
        return self._replace(objective=objective, term_function=function)


class TermRows(NamedTuple):
    """The rows of all soft terms."""

    residual: Array  # (Q,)
    matrix: Array  # (Q, N)
    weight: Array  # (Q,)

    @property
    def energy(self) -> float:
        """The weighted sum of squares."""
        return float(self.weight @ self.residual**2)


def evaluate_terms(
    rig: PosedRig,
    states: PointStates,
    tangents: Variables,
    number: Mapping[Point, int],
    terms: Sequence[ObjectiveTerm],
    rate: float,
    size: float,
) -> tuple[EvaluatedTerm, ...]:
    """The terms with their targets over the tangents; `number` is that of each point in the states."""
    result = []
    for term in terms:
        times = term.times(rate)
        points = np.array([number[point] for point in term.points(rig)], np.int64)
        shape = (len(times), len(points))
        parts = np.tile([True, False], (len(times) * len(points), 1))
        point, time = np.tile(points, len(times)), np.repeat(times, len(points))
        asked = point_targets(tangents, point, time, np.zeros(len(point), np.int64), parts)
        before = _path_of_residuals(
            measure_targets(states, tangents, asked, np.zeros(tangents.count), size, slopes=False), shape
        )
        result.append(EvaluatedTerm(term, asked, times, before, term.term_function(rig, before, times, size)))
    return tuple(result)


def append_goal_terms(
    now: TargetResiduals,
    terms: Sequence[EvaluatedTerm],
    states: PointStates,
    tangents: Variables,
    v: Array,
    size: float,
    slopes: bool,
) -> TargetResiduals:
    """The residuals of the moves `now`, followed by those of the terms that are goals."""
    for term in terms:
        if term.objective.soft:
            continue
        answer, matrix = _term_response(term, states, tangents, v, size, slopes)
        gap = np.zeros((len(answer.gap), 6))
        gap[:, :3] = answer.gap
        now = TargetResiduals(
            np.concatenate([now.gap, gap]),
            np.concatenate([now.residual, answer.residual]),
            np.concatenate([now.matrix, matrix]),
        )
    return now


def gap_of(term: EvaluatedTerm, states: PointStates, tangents: Variables, v: Array, size: float) -> TargetResiduals:
    """The residuals of one term at v (N,), as those of a goal."""
    answer, matrix = _term_response(term, states, tangents, v, size, slopes=True)
    gap = np.zeros((len(answer.gap), 6))
    gap[:, :3] = answer.gap
    return TargetResiduals(gap, answer.residual, matrix)


def linearise(
    terms: Sequence[EvaluatedTerm],
    states: PointStates,
    tangents: Variables,
    v: Array,
    size: float,
    slopes: bool = True,
) -> TermRows:
    """The rows of the soft terms. Each term weighs the same however many rows it has."""
    residual, matrix, weight = [np.zeros(0)], [np.zeros((0, tangents.count))], [np.zeros(0)]
    for term in terms:
        if term.objective.soft:
            answer, rows = _term_response(term, states, tangents, v, size, slopes)
            count = len(answer.residual)
            residual.append(answer.residual)
            matrix.append(rows)
            weight.append(np.full(count, SOFT_TERM_WEIGHT * term.objective.weight / max(count, 1)))
    return TermRows(np.concatenate(residual), np.concatenate(matrix), np.concatenate(weight))


def circle_residuals(places: Array) -> tuple[Array, Array]:
    """Residuals (2 T,) of places (T, 3), and how they fall with the places (2 T, T, 3): -dr / dp.

    The fit depends on the places, too: its response is projected out of the derivatives [Kaufman 1975].
    """
    middle = places.mean(axis=0)
    extents, axes = np.linalg.svd(places - middle, full_matrices=False)[1:]
    if extents[1] < STRAIGHT_EXTENT_RATIO * extents[0] or not extents[0] > 0:
        return _line_residuals(places - middle, axes)
    fitted = _fit_circle(places, middle, axes)
    if fitted is None:
        return _line_residuals(places - middle, axes)
    centre, frame, radius = fitted
    d = (places - centre) @ frame.T  # x, y in the plane, z out of it
    rho = np.hypot(d[:, 0], d[:, 1])
    across = (d[:, :2] / rho[:, None]) @ frame[:2]
    residual = np.concatenate([radius - rho, -d[:, 2]])
    directions = np.concatenate([across, np.broadcast_to(frame[2], across.shape)])
    return residual, _project_out_fit(directions, _circle_jacobian(d, rho))


def _term_response(
    term: EvaluatedTerm, states: PointStates, tangents: Variables, v: Array, size: float, slopes: bool
) -> tuple[TermResponse, Array]:
    seen = measure_targets(states, tangents, term.asked, v, size, slopes)
    answer = term.term_function(_path_of_residuals(seen, term.before.shape[:2]))
    if not slopes:
        return answer, np.zeros((0, tangents.count))
    flat = answer.slopes.reshape(len(answer.residual), -1)
    return answer, flat @ seen.matrix


def _path_of_residuals(seen: TargetResiduals, shape: tuple[int, ...]) -> Array:
    """(T, P, 3) in sizes: targets without a goal are measured from the origin of the world."""
    path: Array = -seen.gap[:, :3].reshape(*shape, 3)
    return path


def _sample_times(start: float, stop: float, rate: float) -> Array:
    return np.linspace(
        start, stop, int(np.clip(np.ceil((stop - start) * rate) + 1, MIN_TERM_SAMPLES, MAX_TERM_SAMPLES))
    )


def _check_span(start: float, stop: float, weight: float, what: str) -> None:
    finite_time(start, f"start of the {what}")
    finite_time(stop, f"stop of the {what}")
    if not start < stop:
        raise InvalidInput(f"the {what} should last some time, but goes from {start} s to {stop} s")
    if not (np.isfinite(weight) and weight > 0):
        raise InvalidInput(f"weight of the {what} should be above zero, but is {weight}")


def _fit_circle(places: Array, middle: Array, axes: Array) -> tuple[Array, Array, float] | None:
    """Centre (3,), frame (3, 3) whose last row is the normal, and radius; None where a line fits as well."""
    frame = axes if np.linalg.det(axes) > 0 else axes * np.array([[1.0], [1.0], [-1.0]])
    d = (places - middle) @ frame.T
    # |q|^2 = 2 q.c + (R^2 - |c|^2) is linear in the unknowns
    terms = np.column_stack([2 * d[:, :2], np.ones(len(d))])
    x, y, rest = np.linalg.lstsq(terms, (d[:, :2] ** 2).sum(axis=1), rcond=None)[0]
    centre = middle + x * frame[0] + y * frame[1]
    radius = float(np.sqrt(max(rest + x * x + y * y, 1e-30)))
    extent = float(np.ptp(d[:, 0]))
    for _ in range(MAX_GAUSS_NEWTON_STEPS):
        d = (places - centre) @ frame.T
        rho = np.hypot(d[:, 0], d[:, 1])
        if radius > 100 * extent or rho.min() < 1e-9 * radius:
            return None
        residual = np.concatenate([radius - rho, -d[:, 2]])
        step = np.linalg.lstsq(_circle_jacobian(d, rho), residual, rcond=None)[0]
        centre = centre + step[:3] @ frame
        normal = frame[2] + step[3] * frame[0] + step[4] * frame[1]
        radius += -step[5]
        frame = _circle_frame(normal / np.linalg.norm(normal), frame[0])
        if np.abs(step).max() < 1e-12 * max(radius, 1.0):
            break
    return centre, frame, radius


def _circle_jacobian(d: Array, rho: Array) -> Array:
    """(2 T, 6) derivatives of (rho, z) by a shift of the centre (negated residuals' slopes), a tilt and the radius.

    d (T, 3) are places in the frame of the circle.
    """
    count = len(d)
    across, out = np.zeros((count, 6)), np.zeros((count, 6))
    across[:, :2], across[:, 5] = -d[:, :2] / rho[:, None], 1.0
    across[:, 3:5] = -(d[:, 2] / rho)[:, None] * d[:, :2]
    out[:, 2], out[:, 3:5] = -1.0, d[:, :2]
    return np.concatenate([across, out])


def _circle_frame(normal: Array, near: Array) -> Array:
    first = near - (near @ normal) * normal
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first), normal])


def _line_residuals(d: Array, axes: Array) -> tuple[Array, Array]:
    """Residuals against the line along the first axis through the middle, for offsets d (T, 3) from the middle."""
    residual = -(d @ axes[1:].T).T.reshape(-1)
    directions = np.repeat(axes[1:], len(d), axis=0)
    along = d @ axes[0]
    fit = np.column_stack([np.ones_like(along), along])
    both = np.zeros((2 * len(d), 4))
    both[: len(d), :2] = both[len(d) :, 2:] = fit
    return residual, _project_out_fit(directions, both)


def _project_out_fit(directions: Array, fit: Array) -> Array:
    """(2 T, T, 3) the rows `directions` (2 T, 3), of one place each, with the fit (2 T, k) projected out."""
    count = len(directions) // 2
    rows = np.zeros((2 * count, count, 3))
    at = np.arange(count)
    rows[at, at], rows[count + at, at] = directions[:count], directions[count:]
    basis = np.linalg.svd(fit, full_matrices=False)
    base = basis[0][:, basis[1] > 1e-12 * max(basis[1][0], 1e-300)]
    result: Array = rows - np.tensordot(base, np.tensordot(base.T, rows, axes=1), axes=1)
    return result
