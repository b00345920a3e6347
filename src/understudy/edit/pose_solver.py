"""Solve one pose: quadratic programs in the columns of the pose [Ciccone 2019, eq. 13, corrected].

Variables x count from the pose at the start of the drag. Plain columns (angles, translations, weights, controls) are
start + unit * x. A quaternion is turned by the rotation vector of its three variables, q = exp(x) q_start in the frame
of the joint's parent, so that

    dq = 1/2 (J dx, 0) q,   J = I + (1 - cos a) / a^2 [x] + (a - sin a) / a^3 [x]^2,   a = |x|

(J is the left Jacobian of the exponential.) The cost |D x|^2 is then the rotation itself, for every kind of channel.

Each step linearises the states about the current pose and minimises

    w_m |gap - J_s dx|^2 + w_d |D x|^2     subject to  |gap_p - J_p dx| <= epsilon,   u <= c <= v

over x = x_now + dx. (The paper prints the constraint of pins in terms of tangents; for poses J_p(c) dc = 0 is meant. As
with tangents, the gap of the pins is measured anew in every step, so that drift does not add up.) Since x counts from
the start of the drag, the result depends on the goal and not on the path of the pointer.

Where a goal is not reached, `find_pose_obstacles` names the pins and limits that push back, by their share of the
resistance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.edit.goals import MovePoint, Pin
from understudy.edit.outcome import Obstacle, unit_for
from understudy.edit.points.states import PointStates
from understudy.edit.solver import qp
from understudy.edit.solver.targets import PointTargets, TargetResiduals, gaps
from understudy.maths import quaternion

MAX_TURN_RAD = np.pi  # of a rotation about each axis: beyond that the same pose is nearer from the other side

CHANGE_COST_PER_DISTANCE = 0.03
"""Cost of a change per unit of goal weight and per character size of remaining distance. Far from a goal the states
deviate from their linearisation by about the length of a limb; near it this term vanishes, and steps are whole."""

MAX_MOVE_WEIGHT = 1e8  # largest w_m: the remaining distance is then far below the tolerance
MIN_PROGRESS_RATIO = 0.3  # of the tolerance, or of a thousandth of the merit: a step that gains less is the last
MAX_COST_STEPS = 6  # steps that lower the cost of a pose after it has reached its goals
MAX_GOAL_SLIP = 0.02  # sizes or radians that these steps may leave the goals by: the next step brings them back
PIN_CORRECTION_STEPS = 2  # steps for the pins alone after each step, which can be longer then
FINAL_PIN_STEPS = 8  # steps for the pins alone at the end; they converge quadratically, two or three are usual
MIN_TRUST_RAD = 1e-3  # radians; a smaller trust region makes no visible step
MIN_RESISTANCE_SHARE = 0.05  # of the whole resistance; obstacles with less are not reported


@dataclass(frozen=True)
class PoseSettings:
    """The weights of eq. 13 and the stopping rules; distances in sizes of the character, rotations in radians."""

    move: float = 1e4  # w_m of the first step, ten times more in each that follows
    change: float = 1.0  # w_d
    epsilon: float = 3e-5  # error of the pins allowed within one step
    tolerance: float = 3e-4  # of the goals
    drift: float = 1e-4  # error of the pins allowed in the result
    iterations: int = 40
    trust: float = 0.6  # largest change of a variable in one step
    regular: float = 1e-6  # regularisation, added to the cost of every variable


@dataclass(frozen=True)
class PoseVariables:
    """N variables: P plain columns first, then three for each of Q quaternions."""

    start: Array  # (n,) the columns where x = 0
    plain: Array  # (P,) int, into the columns
    unit: Array  # (P,)
    turning: Array  # (Q, 4) int
    low: Array  # (N,)
    high: Array  # (N,)
    cost: Array  # (N,) stiffness

    @property
    def count(self) -> int:
        """N."""
        return len(self.low)

    def values(self, x: Array) -> Array:
        """(n,) the columns for variables (N,)."""
        result = self.start.copy()
        result[self.plain] += self.unit * x[: len(self.plain)]
        turns = quaternion.from_rotation_vector(x[len(self.plain) :].reshape(-1, 3))
        result[self.turning] = quaternion.multiply(turns, self.start[self.turning])
        return result

    def chain_rule(self, jacobian: Array, x: Array) -> Array:
        """(M, N) derivatives by the variables, of M rows whose derivatives by the columns are (M, n)."""
        turns = x[len(self.plain) :].reshape(-1, 3)
        q = quaternion.multiply(quaternion.from_rotation_vector(turns), self.start[self.turning])
        axes = np.zeros((len(turns), 3, 4))
        axes[..., :3] = np.swapaxes(quaternion.left_jacobian(turns), 1, 2)  # a row for each variable
        slopes = 0.5 * quaternion.multiply(axes, q[:, None])  # (Q, 3, 4)
        turned = np.einsum("mqc,qkc->mqk", jacobian[:, self.turning], slopes)
        return np.concatenate([self.unit * jacobian[:, self.plain], turned.reshape(len(jacobian), -1)], axis=1)

    def column(self, variable: int) -> int:
        """The column that a variable moves, or the first column of its quaternion."""
        plain = len(self.plain)
        return int(self.plain[variable] if variable < plain else self.turning[(variable - plain) // 3, 0])


@dataclass(frozen=True)
class PoseProblem:
    """The goals and constraints of one pose."""

    states: PointStates
    variables: PoseVariables
    moves: PointTargets
    pins: PointTargets
    size: float  # metres


@dataclass(frozen=True)
class PoseSearchResult:
    """The end of a search."""

    x: Array  # (N,)
    iterations: int
    moves: TargetResiduals
    pins: TargetResiduals
    start: TargetResiduals  # of the moves at the start of the drag
    solution: qp.QpSolution | None
    reached: bool


def pose_variables(
    channels: Channels,
    columns: Array,
    start: Array,
    free: Array,
    *,
    unit: Array,
    ranges: Mapping[int, tuple[float, float]],
    limits: Mapping[int, tuple[float, float]],
    stiffness: Array,
) -> PoseVariables:
    """Variables for columns (n,) of the channels with values `start` (n,), of which those `free` (n,) may change.

    `unit` and `stiffness` are (n,), `ranges` and `limits` are given by column number.
    """
    place = {int(column): i for i, column in enumerate(columns)}
    plain, cost, bounds, turning, stiff = [], [], [], [], []
    for c, channel in enumerate(channels):
        span = range(int(channels.offsets[c]), int(channels.offsets[c + 1]))
        if channel.kind == "rotation":
            if all(column in place and free[place[column]] for column in span):
                turning.append([place[column] for column in span])
                stiff += 3 * [stiffness[place[span[0]]]]
            continue
        for column in span:
            if column not in place or not free[place[column]]:
                continue
            i = place[column]
            both = [bounds_of[column] for bounds_of in (limits, ranges) if column in bounds_of]
            low = max((low for low, _ in both), default=-np.inf)
            high = min((high for _, high in both), default=np.inf)
            plain.append(i)
            cost.append(stiffness[i])
            bounds.append(((low - start[i]) / unit[i], (high - start[i]) / unit[i]))
    ends = np.array(bounds).reshape(-1, 2)
    furthest = np.full(len(stiff), MAX_TURN_RAD)
    return PoseVariables(
        start,
        np.array(plain, np.int64),
        unit[np.array(plain, np.int64)],
        np.array(turning, np.int64).reshape(-1, 4),
        np.concatenate([ends[:, 0], -furthest]),
        np.concatenate([ends[:, 1], furthest]),
        np.concatenate([cost, stiff]),
    )


def search_pose(task: PoseProblem, settings: PoseSettings) -> PoseSearchResult:
    """The pose that meets the goals, searched from the start of the drag, or the nearest pose found."""
    v = task.variables
    zero = np.zeros(v.count)
    x = np.clip(zero, v.low, v.high)  # a column that begins outside of its limits is brought inside
    start, kept = measure_pose(task, zero)
    now, kept = (start, kept) if (x == zero).all() else measure_pose(task, x)
    solution, iterations, trust, weight = None, 0, settings.trust, settings.move
    while (
        not _is_reached(now, kept, settings) and iterations < settings.iterations and trust > MIN_TRUST_RAD and v.count
    ):
        solution = qp.minimise(_program(v, now, kept, x, weight, trust, settings))
        iterations += 1
        if solution is None:
            trust /= 4
            continue
        before = _merit(now, kept, settings)
        trial = np.clip(solution.x, v.low, v.high)
        trial, new_now, new_kept = _restore_pins(
            task, trial, *measure_pose(task, trial), settings, PIN_CORRECTION_STEPS
        )
        after = _merit(new_now, new_kept, settings)
        if after >= before:
            trust /= 4
            continue
        promised = before - np.linalg.norm(now.residual - now.matrix @ (trial - x))
        trust = min(settings.trust, 2 * trust) if before - after > 0.5 * promised else trust
        slow = before - after < MIN_PROGRESS_RATIO * max(settings.tolerance, 1e-3 * before)
        x, now, kept = trial, new_now, new_kept
        if slow and weight >= MAX_MOVE_WEIGHT:
            break
        weight = min(10 * weight, MAX_MOVE_WEIGHT)
    x, now, kept = _restore_pins(task, x, now, kept, settings, FINAL_PIN_STEPS)
    if _is_reached(now, kept, settings):
        x, now, kept, more = _reduce_cost(task, x, now, kept, settings)
        iterations += more
    return PoseSearchResult(x, iterations, now, kept, start, solution, _is_reached(now, kept, settings))


def measure_pose(task: PoseProblem, x: Array) -> tuple[TargetResiduals, TargetResiduals]:
    """Residuals and derivatives of the moves and of the pins for the pose x (N,)."""
    both = (task.moves, task.pins)
    sample, point = (np.concatenate([getattr(targets, name) for targets in both]) for name in ("sample", "point"))
    position, orientation, jacobian = task.states.evaluate(task.variables.values(x)[None], sample, point)
    scale = np.repeat([1 / task.size, 1.0], 3)[:, None]
    slopes = task.variables.chain_rule((scale * jacobian).reshape(-1, len(task.states.columns)), x)
    rows = slopes.reshape(len(point), 2, 3, task.variables.count)
    return _part_residuals(task, 0, position, orientation, rows), _part_residuals(task, 1, position, orientation, rows)


def find_pose_obstacles(
    task: PoseProblem, found: PoseSearchResult, channels: Channels, moves: Sequence[MovePoint], pins: Sequence[Pin]
) -> tuple[Obstacle, ...]:
    """The obstacles, the strongest first, always at least one (`solver.diagnosis` does the same for tangents)."""
    progress = _describe_progress(task, found)
    forces: dict[tuple[str, str], float] = {}
    if found.solution is not None:
        rows = task.pins.row_goal
        for g, pin in enumerate(pins):
            push = found.pins.matrix[rows == g].T @ found.solution.row_forces[rows == g]
            forces["pin", pin.point.name] = forces.get(("pin", pin.point.name), 0.0) + float(np.linalg.norm(push))
        v = task.variables
        at_bound = (found.x <= v.low + 1e-9) | (found.x >= v.high - 1e-9)
        for n in np.flatnonzero(at_bound & (np.abs(found.solution.bound_forces) > 0)):
            name = channels.names[task.states.columns[v.column(int(n))]]
            forces["limit", name] = forces.get(("limit", name), 0.0) + abs(float(found.solution.bound_forces[n]))
    total = sum(forces.values())
    strong = sorted(((push / total, key) for key, push in forces.items() if total > 0), reverse=True)
    sentences = {"pin": "the pin of {} holds it back; {}", "limit": "the limit of {} is reached; {}"}
    blocks = [Obstacle(kind, what, share, sentences[kind].format(what, progress)) for share, (kind, what) in strong]
    blocks = [block for block in blocks if block.share > MIN_RESISTANCE_SHARE]
    if blocks:
        return tuple(blocks)
    names = ", ".join(dict.fromkeys(move.point.name for move in moves))
    why = "is out of reach" if task.variables.count else "is moved by no column that may change"
    return (Obstacle("reach", names, 1.0, f"{names} {why}; {progress}"),)


def _part_residuals(
    task: PoseProblem, number: int, position: Array, orientation: Array, rows: Array
) -> TargetResiduals:
    """The residuals of the moves (0) or of the pins (1) among all rows."""
    targets, first = (task.moves, 0) if number == 0 else (task.pins, len(task.moves))
    span = slice(first, first + len(targets))
    gap = gaps(targets, position[span], orientation[span], task.size)
    residual = gap.reshape(-1, 2, 3)[targets.parts].reshape(-1)
    return TargetResiduals(gap, residual, rows[span][targets.parts].reshape(targets.rows, task.variables.count))


def _reduce_cost(
    task: PoseProblem, x: Array, now: TargetResiduals, kept: TargetResiduals, settings: PoseSettings
) -> tuple[Array, TargetResiduals, TargetResiduals, int]:
    """The pose with the least change among those that reach the goals, after a few steps, and their number.

    The search linearised about the poses on its path; the cheapest pose is found by linearising at the goals.
    """
    v, best, count = task.variables, (x, now, kept), 0
    while count < MAX_COST_STEPS:
        solution = qp.minimise(_program(v, now, kept, x, MAX_MOVE_WEIGHT, settings.trust, settings, bend=0.0))
        count += 1
        if solution is None:
            break
        before = _cost(v, x)
        for share in (1.0, 0.5, 0.25):
            trial = np.clip(x + share * (solution.x - x), v.low, v.high)
            x_new, now_new, kept_new = _restore_pins(
                task, trial, *measure_pose(task, trial), settings, PIN_CORRECTION_STEPS
            )
            if max(now_new.distance, now_new.angle) < MAX_GOAL_SLIP:
                break
        x, now, kept = x_new, now_new, kept_new
        if _is_reached(now, kept, settings) and _cost(v, x) < _cost(v, best[0]):
            best = (x, now, kept)
            if _cost(v, x) > 0.98 * before:
                break
    return *best, count


def _cost(v: PoseVariables, x: Array) -> float:
    return float((v.cost * x) @ (v.cost * x))


def _restore_pins(
    task: PoseProblem, x: Array, now: TargetResiduals, kept: TargetResiduals, settings: PoseSettings, steps: int
) -> tuple[Array, TargetResiduals, TargetResiduals]:
    """The nearest pose whose pins are met, after at most `steps` steps: long steps of the search leave them off."""
    v = task.variables
    for _ in range(steps):
        if max(kept.distance, kept.angle) <= settings.drift:
            break
        aim = kept.matrix @ x + kept.residual
        nothing = np.zeros((0, v.count))
        rows = (kept.matrix, aim - settings.epsilon, aim + settings.epsilon)
        program = qp.Program(np.ones(v.count), -2 * x, v.low, v.high, nothing, np.zeros(0), np.zeros(0), *rows)
        solution = qp.minimise(program)
        if solution is None:
            break
        x = np.clip(solution.x, v.low, v.high)
        now, kept = measure_pose(task, x)
    return x, now, kept


def _is_reached(now: TargetResiduals, kept: TargetResiduals, settings: PoseSettings) -> bool:
    aimed = max(now.distance, now.angle) <= settings.tolerance
    return aimed and max(kept.distance, kept.angle) <= settings.drift


def _merit(now: TargetResiduals, kept: TargetResiduals, settings: PoseSettings) -> float:
    """What a step must lower: the remaining distance, plus ten times the drift of the pins beyond its tolerance."""
    drift = np.abs(kept.residual).max(initial=0.0)
    return float(np.linalg.norm(now.residual) + 10.0 * max(0.0, drift - 1.5 * settings.epsilon))


def _program(
    v: PoseVariables,
    now: TargetResiduals,
    kept: TargetResiduals,
    x: Array,
    weight: float,
    trust: float,
    settings: PoseSettings,
    bend: float = CHANGE_COST_PER_DISTANCE,
) -> qp.Program:
    high = np.minimum(v.high, x + trust)
    aim = kept.matrix @ x + kept.residual
    cost = settings.change * v.cost**2 + settings.regular
    damping = cost * weight * bend * float(np.linalg.norm(now.residual))
    return qp.Program(
        cost + damping,
        -2 * damping * x,
        np.minimum(np.maximum(v.low, x - trust), high),
        high,
        now.matrix,
        now.residual + now.matrix @ x,
        np.full(len(now.residual), weight),
        kept.matrix,
        aim - settings.epsilon,
        aim + settings.epsilon,
    )


def _describe_progress(task: PoseProblem, found: PoseSearchResult) -> str:
    name, length = unit_for(task.size * found.start.distance)
    parts = []
    for now, start, unit, scale in (
        (found.moves.distance, found.start.distance, name, length * task.size),
        (found.moves.angle, found.start.angle, "degrees", 180 / np.pi),
    ):
        if start > 0:
            share = 100 * max(0.0, 1 - now / start)
            parts.append(f"{scale * now:.3g} {unit} remain of {scale * start:.3g} ({share:.0f} % of the way)")
    return " and ".join(parts) or f"pins drift by {1000 * task.size * found.pins.distance:.3g} mm"
