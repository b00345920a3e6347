"""Points of a character as functions of animation columns, with their derivatives [Ciccone 2019, eq. 2, first factor].

A point x on joint c has, for each joint j between c and its root, the position y_p = t_j + v_j with v_j = R_j S_j y_j:
y_c is the point in the frame of c, y_p the same point in the frame of j's parent. Going up the chain that way needs no
inverse, and with W_p = (L_p | o_p) the parent in the world, Q_p its rotation alone, the derivatives are

    translation   dx = L_p e_k               dw = 0
    rotation      dx = L_p (a_k x v_j)       dw = Q_p a_k
    scale         dx = L_p R_j (e_k * y_j)   dw = 0
    shape weight  dx = L_c delta_c           dw = 0

where w is a small rotation in the world, exp([w]) Q, and a_k the small rotation in the parent's frame for column k: of
Euler angles the axis of each factor, of a quaternion column that need not have unit length 2 vec(e_k q^-1). A vertex is
the weighted sum of points on its joints (linear skinning), and so are its derivatives.

`skeletal_states` is the NumPy form, and the oracle of `skeletal_kernels`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.character.kinematics import euler_axes
from understudy.checks import Array
from understudy.maths import euler, jit, quaternion, vector

NO_ROTATION, QUATERNION_ROTATION, EULER_ROTATION = 0, 1, 2


class JointChain(NamedTuple):
    """J joints, parents first, and the columns that move them: the first of each kind, or -1."""

    parents: Array  # (J,) int
    translations: Array  # (J, 3) where no column gives them
    rotations: Array  # (J, 4)
    scales: Array  # (J, 3)
    translation_column: Array  # (J,) int, first of three
    rotation_column: Array  # (J,) int, first of four or three
    rotation_kind: Array  # (J,) int: NO_ROTATION, QUATERNION_ROTATION or EULER_ROTATION
    order: Array  # (J, 3) int, the axes of Euler angles in the order of the factors
    scale_column: Array  # (J,) int, first of three


class Anchors(NamedTuple):
    """P points, each carried by some joints, and the shapes that move it in their frames."""

    main: Array  # (P,) int, the joint whose orientation the point has
    first: Array  # (P + 1,) where the carriers of each point begin
    joint: Array  # (B,) int
    weight: Array  # (B,)
    local: Array  # (B, 3) in the frame of the joint
    first_shape: Array  # (B + 1,) where the shapes of each carrier begin
    shape_column: Array  # (E,) int
    shape_delta: Array  # (E, 3) in the frame of the joint, for a weight of one


class JointFrames(NamedTuple):
    """Transforms of all joints at S samples."""

    t: Array  # (S, J, 3) local
    r: Array  # (S, J, 3, 3) local
    s: Array  # (S, J, 3) local
    axes: Array  # (S, J, 4, 3) a_k
    linear: Array  # (S, J, 3, 3) L, with all scales
    origin: Array  # (S, J, 3) o
    turn: Array  # (S, J, 3, 3) Q, without scales


def evaluate(
    bones: JointChain, anchors: Anchors, values: Array, sample: Array, point: Array, slopes: bool
) -> tuple[Array, Array, Array]:
    """`skeletal_states`, compiled where possible; derivatives are (0, 6, n) without `slopes`."""
    kernels = jit.kernels("understudy.edit.points.skeletal_kernels")
    if kernels is None:
        position, orientation, jacobian = skeletal_states(bones, anchors, values, sample, point)
        return position, orientation, jacobian if slopes else jacobian[:0]
    samples, count, requests = len(values), len(bones.parents), len(sample)
    three, nine = np.empty((3, samples, count, 3)), np.empty((3, samples, count, 3, 3))
    at = JointFrames(three[0], nine[0], three[1], np.empty((samples, count, 4, 3)), nine[1], three[2], nine[2])
    position, orientation = np.zeros((requests, 3)), np.empty((requests, 3, 3))
    jacobian = np.zeros((requests if slopes else 0, 6, values.shape[1]))
    kernels.fill_frames(bones, values, at)
    kernels.fill_states(bones, anchors, at, values, sample, point, position, orientation, jacobian)
    return position, orientation, jacobian


def group_by_sample(sample: Array, count: int) -> tuple[Array, Array]:
    """The requests (R,) in the order of their samples, and where those of each of `count` samples begin (S + 1,)."""
    order = np.argsort(sample, kind="stable")
    return order, np.searchsorted(sample[order], np.arange(count + 1))


def skeletal_states(
    bones: JointChain, anchors: Anchors, values: Array, sample: Array, point: Array
) -> tuple[Array, Array, Array]:
    """Position (R, 3), orientation (R, 3, 3) and derivatives (R, 6, n) of R requests, a point at a sample of (S, n).

    The first three rows of the derivatives are of the position, the last three of the rotation.
    """
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
