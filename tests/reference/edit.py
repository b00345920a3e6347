"""Slow oracles of the kernels of `understudy.edit`: whole arrays in NumPy, one formula after the other."""

from __future__ import annotations

import numpy as np

from understudy.character.kinematics import euler_axes
from understudy.checks import Array
from understudy.edit.points.layered import LatticeControls, LayeredPoints, Rules
from understudy.edit.points.skeletal import (
    EULER_ROTATION,
    NO_ROTATION,
    QUATERNION_ROTATION,
    Anchors,
    JointChain,
    JointFrames,
)
from understudy.edit.solver.segments import FreeSegments, SampleGrid
from understudy.edit.solver.targets import PointTargets
from understudy.maths import bezier, euler, quaternion, vector


def sample_segments(pieces: FreeSegments, handles: Array, grid: SampleGrid) -> tuple[Array, Array]:
    """`segments.sample_segments`."""
    values, slopes = grid.fixed.copy(), np.zeros((*grid.fixed.shape, 4))
    s, i = np.nonzero(grid.piece >= 0)
    g = grid.piece[s, i]
    key = np.stack([pieces.t0, pieces.y0], axis=-1)[g]
    end = np.stack([pieces.t0 + pieces.d, pieces.y3], axis=-1)[g]
    x, y = bezier.control_points(key, end, handles[g, :2], handles[g, 2:])
    values[s, i] = bezier.evaluate(x, y, grid.times[s])
    slopes[s, i] = handle_gradient(x, y, grid.times[s])
    return values, slopes


def gaps(asked: PointTargets, position: Array, orientation: Array, size: float) -> Array:
    """`targets.gaps`."""
    gap = np.zeros((len(asked), 6))
    gap[:, :3] = (asked.place - position) / size
    turning = asked.parts[:, 1]
    if turning.any():
        change = asked.turn[turning] @ np.swapaxes(orientation[turning], 1, 2)
        gap[turning, 3:] = quaternion.to_rotation_vector(quaternion.from_matrix(change))
    gap[~asked.parts[:, 0], :3] = 0.0
    return gap


def chain_rule(
    jacobian: Array,
    slopes: Array,
    sample: Array,
    piece: Array,
    variable: Array,
    factor: Array,
    first_row: Array,
    scale: Array,
    out: Array,
) -> None:
    """`target_kernels.chain_rows` [Ciccone 2019, eq. 2]: d state / d column, d column / d handle, d handle / d v."""
    padded = np.append(factor, np.zeros((1, 4)), axis=0)
    columns = np.append(variable, np.full((1, 4), -1), axis=0)[piece[sample]]  # (R, n, 4)
    amount = slopes[sample] * padded[piece[sample]]
    r, i, c = np.nonzero(columns >= 0)
    for part in range(2):
        asked = first_row[r, part] >= 0
        rr, ii, cc = r[asked], i[asked], c[asked]
        for a in range(3):
            terms = scale[part] * amount[rr, ii, cc] * jacobian[rr, 3 * part + a, ii]
            np.add.at(out, (first_row[rr, part] + a, columns[rr, ii, cc]), terms)


def skeletal_states(
    bones: JointChain, anchors: Anchors, values: Array, sample: Array, point: Array
) -> tuple[Array, Array, Array]:
    """`skeletal.evaluate` with slopes."""
    frames = joint_frames(bones, values)
    position, jacobian = np.zeros((len(sample), 3)), np.zeros((len(sample), 6, values.shape[1]))
    orientation = frames.turn[sample, anchors.main[point]]
    for p in np.unique(point):
        rows = np.flatnonzero(point == p)
        at = JointFrames(*(array[sample[rows]] for array in frames))
        for b in range(anchors.first[p], anchors.first[p + 1]):
            place, slopes = _carrier_point(bones, anchors, at, values[sample[rows]], b)
            position[rows] += anchors.weight[b] * place
            jacobian[rows, :3] += anchors.weight[b] * slopes
        _turn_slopes(bones, at, anchors.main[p], jacobian, rows)
    return position, orientation, jacobian


def joint_frames(bones: JointChain, values: Array) -> JointFrames:
    """The transforms for values (S, n) of the columns."""
    samples, count = len(values), len(bones.parents)
    t = np.tile(bones.translations, (samples, 1, 1))
    s = np.tile(bones.scales, (samples, 1, 1))
    r = np.tile(quaternion.to_matrix(bones.rotations), (samples, 1, 1, 1))
    axes = np.zeros((samples, count, 4, 3))
    out_linear, origin, turn = np.empty_like(r), np.empty_like(t), np.empty_like(r)
    for j in range(count):
        if bones.translation_column[j] >= 0:
            t[:, j] = _columns(values, bones.translation_column[j], 3)
        if bones.scale_column[j] >= 0:
            s[:, j] = _columns(values, bones.scale_column[j], 3)
        if bones.rotation_kind[j] == EULER_ROTATION:
            angles = _columns(values, bones.rotation_column[j], 3)
            order = "".join("XYZ"[axis] for axis in bones.order[j])
            r[:, j] = quaternion.to_matrix(euler.from_euler(angles, order))
            axes[:, j, :3] = np.swapaxes(euler_axes(angles, order), -1, -2)
        elif bones.rotation_kind[j] == QUATERNION_ROTATION:
            q = _columns(values, bones.rotation_column[j], 4)
            r[:, j] = quaternion.to_matrix(quaternion.normalise(q))
            axes[:, j] = 2 * quaternion.multiply(np.eye(4), quaternion.inverse(q)[:, None])[..., :3]
        p = bones.parents[j]
        scaled = r[:, j] * s[:, j, None, :]
        if p < 0:
            out_linear[:, j], origin[:, j], turn[:, j] = scaled, t[:, j], r[:, j]
        else:
            out_linear[:, j] = out_linear[:, p] @ scaled
            origin[:, j] = origin[:, p] + np.einsum("sab,sb->sa", out_linear[:, p], t[:, j])
            turn[:, j] = turn[:, p] @ r[:, j]
    return JointFrames(t, r, s, axes, out_linear, origin, turn)


def accumulate_ancestors(bones: JointChain, at: JointFrames, joint: int, y: Array, columns: int) -> Array:
    """(M, 3, n) the derivatives of points y (M, 3) in the frame of a joint, by its columns and its ancestors'."""
    slopes, j = np.zeros((len(y), 3, columns)), joint
    while j >= 0:
        p = bones.parents[j]
        l_p = at.linear[:, p] if p >= 0 else np.broadcast_to(np.eye(3), (len(y), 3, 3))
        v = np.einsum("mab,mb->ma", at.r[:, j], at.s[:, j] * y)
        if bones.translation_column[j] >= 0:
            slopes[:, :, _span(bones.translation_column[j], 3)] += l_p
        if bones.scale_column[j] >= 0:
            slopes[:, :, _span(bones.scale_column[j], 3)] += l_p @ (at.r[:, j] * y[:, None, :])
        if bones.rotation_kind[j] != NO_ROTATION:
            width = 4 if bones.rotation_kind[j] == QUATERNION_ROTATION else 3
            turned = vector.cross(at.axes[:, j, :width], v[:, None])  # (M, width, 3)
            slopes[:, :, _span(bones.rotation_column[j], width)] += l_p @ np.swapaxes(turned, 1, 2)
        y = at.t[:, j] + v
        j = p
    return slopes


def _carrier_point(bones: JointChain, anchors: Anchors, at: JointFrames, values: Array, b: int) -> tuple[Array, Array]:
    """The point of carrier b in the world (M, 3), and its derivatives (M, 3, n)."""
    joint = anchors.joint[b]
    y = np.tile(anchors.local[b], (len(values), 1))
    shapes = np.arange(anchors.first_shape[b], anchors.first_shape[b + 1])
    for e in shapes:
        y += values[:, anchors.shape_column[e], None] * anchors.shape_delta[e]
    position = at.origin[:, joint] + np.einsum("mab,mb->ma", at.linear[:, joint], y)
    slopes = accumulate_ancestors(bones, at, joint, y, values.shape[1])
    for e in shapes:
        slopes[:, :, anchors.shape_column[e]] += at.linear[:, joint] @ anchors.shape_delta[e]
    return position, slopes


def _turn_slopes(bones: JointChain, at: JointFrames, joint: int, jacobian: Array, rows: Array) -> None:
    """Add the derivatives of the orientation of a joint to the last three of the `rows` of a jacobian, in place."""
    j = joint
    while j >= 0:
        p = bones.parents[j]
        if bones.rotation_kind[j] != NO_ROTATION:
            width = 4 if bones.rotation_kind[j] == QUATERNION_ROTATION else 3
            axes = np.swapaxes(at.axes[:, j, :width], 1, 2)
            columns = np.arange(bones.rotation_column[j], bones.rotation_column[j] + width)
            jacobian[np.ix_(rows, np.arange(3, 6), columns)] += axes if p < 0 else at.turn[:, p] @ axes
        j = p


def _span(first: int, width: int) -> slice:
    return slice(int(first), int(first) + width)


def _columns(values: Array, first: int, width: int) -> Array:
    return values[:, _span(first, width)]


def layered_states(points: LayeredPoints, values: Array, sample: Array, point: Array) -> tuple[Array, Array, Array]:
    """`LayeredPoints.evaluate` with slopes."""
    q, dq = evaluate_rules(points.rules, values)
    position, orientation, by_q = skeletal_states(points.bones, points.anchors, q, sample, point)
    jacobian = np.zeros((len(sample), 6, len(points.columns)))
    bent = np.flatnonzero(points.cage.inside[point])
    if len(bent):
        at = JointFrames(*(array[sample[bent]] for array in joint_frames(points.bones, q)))
        position[bent], by_q[bent, :3], jacobian[bent, :3] = bend_points(
            points.cage, points.rules, points.bones, at, values[sample[bent]], position[bent], by_q[bent, :3]
        )
    jacobian += by_q[:, :, points.rules.place] @ dq[sample]
    return position, orientation, jacobian


def bend_points(
    cage: LatticeControls, rules: Rules, bones: JointChain, at: JointFrames, values: Array, x: Array, by_q: Array
) -> tuple[Array, Array, Array]:
    """Of points x (M, 3) with derivatives (M, 3, Q): y, its derivatives, and those by the lattice's columns (M, 3, n).

    `at` and the columns' values (M, n) are of the M points.
    """
    linear, origin = at.linear[:, cage.bone], at.origin[:, cage.bone]
    j = cage.joint_from_rest
    a = linear @ j[:, :3]
    inverse = np.linalg.inv(a)
    u = np.einsum("mab,mb->ma", inverse, x - origin - linear @ j[:, 3])
    weight, slope = _weights((u - cage.low) / cage.cell, cage)
    offset = (np.clip(values, rules.low, rules.high) - rules.rest)[:, cage.column] * cage.gain  # (M, N)
    unit = np.eye(3)[cage.axis]  # (N, 3)
    d = np.einsum("mk,mk,ka->ma", offset, weight, unit)
    grown = np.eye(3) + np.einsum("mk,ka,mkb->mab", offset, unit, slope)
    still, moved = (
        accumulate_ancestors(bones, at, cage.bone, w @ j[:, :3].T + j[:, 3], by_q.shape[2]) for w in (u, u + d)
    )
    by_columns = np.zeros((len(x), 3, values.shape[1]))
    free = (values >= rules.low) & (values <= rules.high)
    for k, column in enumerate(cage.column):
        by_columns[:, :, column] += (weight[:, k] * cage.gain[k] * free[:, column])[:, None] * a[:, :, cage.axis[k]]
    position = x + np.einsum("mab,mb->ma", a, d)
    return position, a @ grown @ inverse @ (by_q - still) + moved, by_columns


def _weights(cells: Array, cage: LatticeControls) -> tuple[Array, Array]:
    """(M, N) the weight of the point of each control at `cells` (M, 3), and the derivatives (M, N, 3) by metres."""
    t = cells[:, None] - cage.point
    value = np.select([(t >= 0) & (t < 1), (t >= 1) & (t < 2), (t >= 2) & (t < 3)], _spline(t), 0.0)
    slope = np.select([(t >= 0) & (t < 1), (t >= 1) & (t < 2), (t >= 2) & (t < 3)], [t, 3 - 2 * t, t - 3], 0.0)
    others = [value[..., 1] * value[..., 2], value[..., 0] * value[..., 2], value[..., 0] * value[..., 1]]
    return value.prod(axis=2), slope * np.stack(others, axis=-1) / cage.cell


def _spline(t: Array) -> list[Array]:
    """The three pieces of the quadratic B-spline."""
    return [t * t / 2, (-2 * t * t + 6 * t - 3) / 2, (3 - t) ** 2 / 2]


def evaluate_rules(rules: Rules, values: Array) -> tuple[Array, Array]:
    """q (S, Q) for values (S, n), and dq/dc (S, P, n) of the P numbers of q that parameters move."""
    count, entry_of = len(values), np.repeat(np.arange(len(rules.place)), np.diff(rules.first))
    c = np.clip(values, rules.low, rules.high)
    offset = c - rules.rest
    drive = np.zeros((len(rules.place), len(rules.low)))
    drive[entry_of, rules.column] = rules.drive
    p, jacobian = offset @ drive.T, np.tile(drive, (count, 1, 1))
    share = offset / rules.reach
    ramp, rises = np.clip(share, 0, 1), ((share >= 0) & (share <= 1)) / rules.reach
    for (i, one, other), gain in zip(rules.corrective.tolist(), rules.corrective_gain):
        a, b = rules.column[one], rules.column[other]
        p[:, i] += gain * ramp[:, a] * ramp[:, b]
        jacobian[:, i, a] += gain * rises[:, a] * ramp[:, b]
        jacobian[:, i, b] += gain * ramp[:, a] * rises[:, b]
    for (i, entry), rest, target in zip(rules.toward.tolist(), rules.toward_rest, rules.toward_target):
        control = c[:, rules.column[entry]] if entry >= 0 else np.full(count, rest)
        w = np.clip(control, 0.0, 1.0)
        jacobian[:, i] *= (1 - w)[:, None]
        if entry >= 0:
            jacobian[:, i, rules.column[entry]] += (target - p[:, i]) * ((control >= 0) & (control <= 1))
        p[:, i] += w * (target - p[:, i])
    jacobian *= ((p >= rules.least) & (p <= rules.most))[:, :, None]
    jacobian *= ((values >= rules.low) & (values <= rules.high))[:, None]
    q = np.tile(rules.start, (count, 1))
    q[:, rules.place] += np.clip(p, rules.least, rules.most) * rules.gain
    return q, jacobian * rules.gain[:, None]


def handle_gradient(x: Array, y: Array, t: Array) -> Array:
    """Derivatives of the value at a fixed time t by the handles: (..., 4), after dt, after dv, before dt, before dv.

    Moving P1 in value moves y by B1. Moving it in time moves the solution s of x(s) = t as well; the implicit function
    theorem gives -B1 y'/x'. P2 = P3 - before turns both signs. This replaces the finite differences of [Ciccone 2019].
    """
    s = bezier.parameter(x, t)
    b = bezier.bernstein(s)
    b1, b2, steepness = b[..., 1], b[..., 2], bezier._slope(x, y, s)
    return np.stack(np.broadcast_arrays(-b1 * steepness, b1, b2 * steepness, -b2), axis=-1)
