"""Why an edit does not reach its goal: which pin, contact, hold, limit or handle blocks it, and how far it got.

`find_obstacles` turns the forces into sentences; the share of an obstacle is its part of all forces. Where nothing
pushes back, the reason is the point itself: keys fix it at that time, nothing moves it, or its chain is fully extended.

Forces (`constraint_forces`). At the closest solution the pull towards the goals, g = J' gap, is in balance with the
constraints and the bounds:

    g = sum_j C_j' lambda_j + mu,     mu_n only at a bound, and only outwards.

lambda is the least-squares solution without the variables at such bounds; the force of constraint j is |C_j' lambda_j|,
in the metric of [Ciccone 2019, eq. 4]. A pin that is met by freezing its columns [section 3.3, case 2] has no rows: its
force is the pull on those columns, as if they had tangents in the middle of their segments.

Reach (`describe_short_chain`). A goal beyond the reach of a chain of bones: the length of the chain, and the distance
of the goal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.edit.goals import Contact, Hold, Pin
from understudy.edit.outcome import Obstacle, unit_for
from understudy.edit.points import skeletal
from understudy.edit.points.skeletal import NO_ROTATION
from understudy.edit.points.states import SkeletalPoints
from understudy.edit.solver.free_tangents import Range, owners
from understudy.edit.solver.objective_terms import append_goal_terms
from understudy.edit.solver.problem import Constraint, EditProblem, changeable_at_moves, limits_of, parts_of
from understudy.edit.solver.targets import measure_targets, point_targets
from understudy.errors import join_names

if TYPE_CHECKING:
    from understudy.edit.solver.sqp import SearchResult

MAX_BOUND_ROUNDS = 4  # rounds to find the active bounds
BOUND_TOLERANCE = 1e-7  # variables this near to a bound are at it
RIDGE_RATIO = 1e-8  # regularisation relative to the mean of the Gram matrix: rows depend on each other
MID_SEGMENT_GAIN = 0.53  # change of a column in the middle of a segment, per unit of both value handles together
MIN_RESISTANCE_SHARE = 0.05  # of the whole resistance; obstacles with less are not reported
MIN_PULL_RATIO = 0.02  # of the strain: a smaller pull counts as none
ZERO_DERIVATIVE = 1e-9  # sizes per unit of a tangent: a point with smaller derivatives cannot move


class BoundForce(NamedTuple):
    """A variable at one of its bounds."""

    piece: int
    handle: int  # 0 to 3, of the piece
    high: bool  # whether it is the upper bound


class ConstraintForces(NamedTuple):
    """The pull towards the goals, and everything that pushes back."""

    pull: float  # |g|
    strain: float  # |J| |gap|: the pull if the goals lay in the direction in which tangents move the points best
    goals: list[tuple[Constraint, float]]
    frozen_pins: list[tuple[Pin, float]]
    bounds: list[tuple[BoundForce, float]]
    rest: float  # the unbalanced part of the pull


def find_obstacles(problem: EditProblem, found: SearchResult) -> tuple[Obstacle, ...]:
    """The obstacles of a search, the strongest first, always at least one."""
    conflicts = _contact_key_conflicts(problem, found)
    far = found.moves.distance > found.tolerance or found.moves.angle > found.tolerance
    if not far:
        return tuple(conflicts or _drift_obstacles(problem, found))
    progress, forces = _describe_progress(problem, found), constraint_forces(problem, found)
    if forces.pull + sum(push for _, push in forces.frozen_pins) <= MIN_PULL_RATIO * forces.strain:
        return (*conflicts, _reach_obstacle(problem, found, progress))
    entries = _entries(problem, forces, progress)
    total = sum(push for push, _, _, _ in entries) or 1.0
    blocks = [
        Obstacle(kind, what, push / total, sentence)
        for push, kind, what, sentence in entries
        if push >= MIN_RESISTANCE_SHARE * total
    ]
    blocks = sorted((block for block in blocks if block.share > 0), key=lambda block: -block.share)
    # Forces below the unbalanced rest did not stop the search: it ran out of steps, or the states are too nonlinear.
    if not blocks or total < forces.rest:
        blocks.append(_reach_obstacle(problem, found, progress))
    return (*conflicts, *blocks)


def name_obstacle(goal: Constraint) -> str:
    """A constraint in a sentence."""
    if isinstance(goal, Hold):
        return f"the held moment of {goal.point.name} at {goal.time:.4g} s"
    if isinstance(goal, Contact):
        return f"the contact of {goal.point.name} from {goal.start:.4g} s to {goal.stop:.4g} s"
    return f"the pin of {goal.point.name}"


def _entries(problem: EditProblem, forces: ConstraintForces, progress: str) -> list[tuple[float, str, str, str]]:
    """Push, kind, what and sentence of each obstacle; the handles of a joint count together."""
    moved, limits = _name_moved_points(problem), limits_of(problem.variables.curves.channels, problem.edit.limits)
    entries: dict[tuple[str, str], tuple[float, str]] = {}

    def add(push: float, kind: str, what: str, sentence: str) -> None:
        before = entries.get((kind, what), (0.0, sentence))
        entries[kind, what] = (before[0] + push, sentence)

    for goal, push in forces.goals:
        add(push, _kind(goal), goal.point.name, f"{name_obstacle(goal)} holds {moved} back: {progress}")
    for pin, push in forces.frozen_pins:
        add(push, "pin", pin.point.name, f"{name_obstacle(pin)} holds {moved} back: {progress}")
    for bound, push in forces.bounds:
        add(push, *_describe_bound(problem, bound, limits, progress))
    return [(push, kind, what, sentence) for (kind, what), (push, sentence) in entries.items()]


def _describe_bound(
    problem: EditProblem, bound: BoundForce, limits: dict[int, Range], progress: str
) -> tuple[str, str, str]:
    """Kind, what and sentence of a handle at its bound."""
    t = problem.tangents
    number = int(t.columns[t.column[bound.piece]])
    channel = t.curves.curves[int(np.searchsorted(t.curves.channels.offsets, number, side="right")) - 1].channel
    joint, name = channel.target, t.curves.channels.names[number]
    t0, d = t.pieces.t0[bound.piece], t.pieces.d[bound.piece]
    span = f"between {t0:.4g} s and {t0 + d:.4g} s"
    if bound.handle % 2 == 0:
        how = "as long as they may be" if bound.high else "as short as they may be"
        return "handle", joint, f"the time handles of {joint!r} are {how} {span}: {progress}"
    if number not in limits:
        return "handle", joint, f"the tangents of {joint!r} are as steep as they may be {span}: {progress}"
    up = bound.high == (bound.handle == 1)  # the handle that arrives points backwards
    value, column = limits[number][1 if up else 0], name.removeprefix(f"{joint}.{channel.kind}.")
    limit = f"{np.degrees(value):.4g} degrees" if channel.kind == "euler" else f"{value:.4g}"
    return "limit", name, f"{joint!r} reaches the limit of its {column}, {limit}, {span}: {progress}"


def _reach_obstacle(problem: EditProblem, found: SearchResult, progress: str) -> Obstacle:
    """The obstacle where nothing pushes back: the point itself cannot move further."""
    moved = _name_moved_points(problem)
    if problem.edit.moves:
        stuck = _immobility_reason(problem, found)
        if stuck is not None:
            return Obstacle("reach", moved, 1.0, f"{stuck}: {progress}")
        if isinstance(problem.states, SkeletalPoints):
            short = describe_short_chain(problem, problem.states, found)
            if short is not None:
                return Obstacle("reach", moved, 1.0, f"{short}: {progress}")
    times = sorted({move.time for move in problem.edit.moves})
    if len(times) > 1:
        listing = " and ".join(f"{time:.4g} s" for time in times[:3])
        return Obstacle("reach", moved, 1.0, f"the moves at {listing} pull the same tangents apart: {progress}")
    return Obstacle("reach", moved, 1.0, f"the tangents between these keys bring {moved} no nearer: {progress}")


def _immobility_reason(problem: EditProblem, found: SearchResult) -> str | None:
    """Why no tangent moves the point with the largest gap; None if some tangent does."""
    t, moves = problem.variables, problem.moves
    largest = np.abs(found.moves.gap[: len(moves)]).max(axis=1)
    r = int(np.argmax(largest))
    rows = moves.first_row[r][moves.first_row[r] >= 0]
    matrix = measure_targets(problem.states, t, moves, found.v, problem.size).matrix
    if any(np.abs(matrix[row : row + 3]).max(initial=0.0) > ZERO_DERIVATIVE for row in rows):
        return None
    name, time = problem.edit.moves[r].point.name, moves.time[r]
    columns = problem.states.influence_mask[moves.point[r]][np.array(parts_of(problem.edit.moves[r]))].any(axis=0)
    owner, _ = owners(t.curves, problem.states.columns)
    curves = [t.curves.curves[number] for number in np.unique(owner[columns])]
    if all(len(curve) == 1 for curve in curves):
        return f"nothing that moves {name} is animated"
    if changeable_at_moves(problem, columns)[r][columns].any():
        spans = [f"{a:.4g} s to {b:.4g} s" for a, b in t.changeable_spans(np.ones(len(owner), bool))]
        return f"the edit's range leaves the tangents around {time:.4g} s alone ({join_names(spans) or 'none is free'})"
    keyed = [curve.channel.target for curve in curves if np.abs(curve.times - time).min() <= 1e-6]
    if keyed:
        return f"everything that moves {name} has a key at {time:.4g} s, and keys stay; move it at another time"
    return f"everything that moves {name} is stepped or still at {time:.4g} s"


def _contact_key_conflicts(problem: EditProblem, found: SearchResult) -> list[Obstacle]:
    """Contacts whose point is moved by a key, which stays, away from its position at the start of the contact."""
    t, blocks = problem.variables, []
    owner, _ = owners(t.curves, problem.states.columns)
    for g, goal in enumerate(problem.kept):
        if not isinstance(goal, Contact) or not (problem.held.goal == g).any():
            continue
        point = problem.points.index(goal.point)
        curves = np.unique(owner[problem.states.influence_mask[point].any(axis=0)])
        keys = np.unique(np.concatenate([t.curves.curves[number].times for number in curves]))
        keys = keys[(keys > goal.start) & (keys <= goal.stop)]
        count, first = len(keys), int(np.flatnonzero(problem.held.goal == g)[0])
        parts = np.tile(parts_of(goal), (count, 1))
        asked = point_targets(t, np.full(count, point), keys, np.full(count, g), parts)
        asked.place[:], asked.turn[:] = problem.held.place[first], problem.held.turn[first]
        seen = measure_targets(problem.states, t, asked, found.v, problem.size)
        for r in range(count):
            rows = [row for row in asked.first_row[r] if row >= 0]
            still = all(np.abs(seen.matrix[row : row + 3]).max(initial=0.0) <= ZERO_DERIVATIVE for row in rows)
            far = np.linalg.norm(seen.gap[r].reshape(2, 3), axis=1)
            if still and far.max() > found.settings.drift:
                off = _amount(problem, *far)
                sentence = f"the key at {keys[r]:.4g} s puts {goal.point.name} {off} away from where its contact begins"
                blocks.append((float(far.max()), Obstacle("contact", goal.point.name, 1.0, sentence)))
    worst: dict[str, Obstacle] = {}
    for _, block in sorted(blocks, key=lambda pair: -pair[0]):
        worst.setdefault(block.what, block)
    return list(worst.values())


def _drift_obstacles(problem: EditProblem, found: SearchResult) -> list[Obstacle]:
    """The constraints that drift although the goals are reached, the worst first."""
    off = np.linalg.norm(found.drift.gap.reshape(-1, 2, 3), axis=2)
    worst = off.max(axis=1)
    blocks = []
    for g, goal in enumerate(problem.kept):
        rows = np.flatnonzero(problem.dense.goal == g)
        if rows.size and worst[rows].max() > found.drift_tolerance:
            r = rows[np.argmax(worst[rows])]
            error = f"{_amount(problem, *off[r])} off at {problem.dense.time[r]:.4g} s"
            sentence = f"{name_obstacle(goal)} cannot be kept: {error}"
            blocks.append((worst[r], Obstacle(_kind(goal), goal.point.name, 0.0, sentence)))
    total = sum(push for push, _ in blocks)
    ordered = sorted(blocks, key=lambda pair: -pair[0])
    return [Obstacle(b.kind, b.what, float(push / total), b.sentence) for push, b in ordered]


def _kind(goal: Constraint) -> str:
    return "contact" if isinstance(goal, Contact) else "hold" if isinstance(goal, Hold) else "pin"


def _name_moved_points(problem: EditProblem) -> str:
    return ", ".join(dict.fromkeys(move.point.name for move in problem.edit.moves)) or "the path"


def _amount(problem: EditProblem, distance: float, angle: float) -> str:
    """A distance in sizes and an angle in radians as text, without those that are zero."""
    metres = problem.size * distance
    unit, scale = unit_for(metres)
    parts = [f"{scale * metres:.3g} {unit}"] if distance > 0 else []
    parts += [f"{np.degrees(angle):.3g} degrees"] if angle > 0 else []
    return " and ".join(parts)


def _describe_progress(problem: EditProblem, found: SearchResult) -> str:
    """What remains of the distance and of the angle, as text."""
    unit, scale = unit_for(problem.size * found.start.distance)
    parts = []
    for now, start, name, factor in (
        (found.moves.distance, found.start.distance, unit, scale * problem.size),
        (found.moves.angle, found.start.angle, "degrees", 180 / np.pi),
    ):
        if start > 0:
            parts.append(f"{factor * now:.3g} of {factor * start:.3g} {name} remain")
    return " and ".join(parts)


def constraint_forces(problem: EditProblem, found: SearchResult) -> ConstraintForces:
    """The forces at the end of a search."""
    t, v = problem.variables, found.v
    j = found.moves.matrix
    if not len(j):
        moves = measure_targets(problem.states, t, problem.moves, v, problem.size)
        j = append_goal_terms(moves, problem.terms, problem.states, t, v, problem.size, True).matrix
    cost = np.maximum(t.cost, 0.1)
    g = j.T @ found.moves.residual / cost
    held = found.kept or measure_targets(problem.states, t, found.held, v, problem.size)
    c = held.matrix / cost
    at_low, at_high = v <= t.low + BOUND_TOLERANCE, v >= t.high - BOUND_TOLERANCE
    push = np.zeros_like(g)  # of the constraints
    bound = np.zeros(len(g), bool)
    lam = np.zeros(len(c))
    square = c.T @ c if len(c) > len(g) else None
    for _ in range(MAX_BOUND_ROUNDS if len(g) else 0):
        lam = _balance(c, g, np.flatnonzero(~bound), square)
        push = c.T @ lam
        now = (at_low & (g - push < 0)) | (at_high & (g - push > 0))
        if (now == bound).all():
            break
        bound = now
    rows = found.held.row_goal
    goals = [(goal, float(np.linalg.norm(c[rows == k].T @ lam[rows == k]))) for k, goal in enumerate(problem.kept)]
    ends = [
        (_nearest_bound(problem, int(n), bool(at_high[n])), float(abs((g - push)[n]))) for n in np.flatnonzero(bound)
    ]
    rest = float(np.linalg.norm((g - push)[~bound]))
    strain = float(np.linalg.norm(j / cost) * np.linalg.norm(found.moves.residual))
    return ConstraintForces(float(np.linalg.norm(g)), strain, goals, _frozen_pin_forces(problem, found), ends, rest)


def _balance(c: Array, g: Array, free: Array, square: Array | None) -> Array:
    """(M,) lambda that makes c' lambda nearest to g in the free variables.

    (c c' + r)^-1 c g, or c (c' c + r)^-1 g, which is the same and smaller where there are more rows than variables;
    `square` is c' c then.
    """
    from scipy.linalg.lapack import dposv

    if not len(c) or not len(free):
        return np.zeros(len(c))
    if square is None:
        part = c[:, free]
        gram, right = part @ part.T, part @ g[free]
    else:
        gram, right = square[np.ix_(free, free)], g[free]
    gram.flat[:: len(gram) + 1] += RIDGE_RATIO * (1.0 + float(np.trace(gram)) / len(c))
    solution: Array = dposv(gram.T, right, overwrite_a=True)[1]
    if square is None:
        return solution
    full = np.zeros(len(g))
    full[free] = solution
    return np.asarray(c @ full)


def _nearest_bound(problem: EditProblem, n: int, high: bool) -> BoundForce:
    """The handle whose bound stops variable n, a value handle if it moves one."""
    t = problem.tangents
    g, c = np.nonzero(t.variable == n)
    limited = [i for i in range(len(g)) if c[i] % 2 == 1] or list(range(len(g)))
    best = limited[0]
    return BoundForce(int(g[best]), int(c[best]), high == bool(t.factor[g[best], c[best]] > 0))


def _frozen_pin_forces(problem: EditProblem, found: SearchResult) -> list[tuple[Pin, float]]:
    pins = problem.frozen_pins
    if not pins:
        return []
    t, moves = problem.variables, problem.moves
    values = t.sample(moves.grid, found.v)
    _, _, jacobian = problem.states.evaluate(values, moves.sample, moves.point)
    gap = found.moves.gap[: len(moves)] * np.repeat([1 / problem.size, 1.0], 3)
    pull = np.einsum("rkn,rk->rn", jacobian, gap) * problem.frozen_changeable  # (R, n)
    # moves between the same keys may pull against each other
    total = pull.sum(axis=0) * problem.unit * MID_SEGMENT_GAIN
    return [(pin, float(np.linalg.norm(total[columns]))) for pin, columns in pins]


def describe_short_chain(problem: EditProblem, states: SkeletalPoints, found: SearchResult) -> str | None:
    """The sentence for a goal of the furthest move beyond the chain that its tangents move; None where it is within.

    The chain begins at the uppermost joint that may turn; a chain in which a joint may translate has no fixed length.
    """
    t, moves, bones = problem.variables, problem.moves, states.bones
    r = int(np.argmax(np.linalg.norm(found.moves.gap[: len(moves), :3], axis=1)))
    if not moves.parts[r, 0]:
        return None
    values = t.sample(moves.grid, found.v)
    sample = int(moves.sample[r])
    at = skeletal.joint_frames(bones, values[[sample]])
    place, _, _ = states.evaluate(values, moves.sample, moves.point, slopes=False)
    goal = place[r] + problem.size * found.moves.gap[r, :3]
    free = t.changeable_columns
    chain, top, length = int(states.anchors.main[moves.point[r]]), -1, 0.0
    last, reach = place[r], 0.0
    while chain >= 0:
        reach += float(np.linalg.norm(at.origin[0, chain] - last))
        last = at.origin[0, chain]
        shift, turn = int(bones.translation_column[chain]), int(bones.rotation_column[chain])
        if (shift >= 0 and free[shift : shift + 3].any()) or _is_scale_column(bones.scale_column[chain], free):
            return None
        if bones.rotation_kind[chain] != NO_ROTATION and free[turn : turn + 3].any():
            top, length = chain, reach
        chain = int(bones.parents[chain])
    if top < 0 or length <= 0:
        return None
    away = float(np.linalg.norm(goal - at.origin[0, top]))
    if away <= length:
        return None
    name, root = problem.edit.moves[r].point.name, states.names[top]
    return f"the chain from {root!r} to {name} is {length:.3g} m long, and the goal is {away:.3g} m away"


def _is_scale_column(column: int, free: np.ndarray) -> bool:
    return column >= 0 and bool(free[column : column + 3].any())
