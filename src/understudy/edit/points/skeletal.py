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
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.maths import jit

KERNELS = "understudy.edit.points.skeletal_kernels"
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
    """Position (R, 3), orientation (R, 3, 3) and derivatives (R, 6, n) of R requests, a point at a sample of (S, n).

    The first three rows of the derivatives are of the position, the last three of the rotation; they are (0, 6, n)
    without `slopes`.
    """
    requests, at = len(sample), joint_frames(bones, values)
    position, orientation = np.zeros((requests, 3)), np.empty((requests, 3, 3))
    jacobian = np.zeros((requests if slopes else 0, 6, values.shape[1]))
    jit.kernels(KERNELS).fill_states(bones, anchors, at, values, sample, point, position, orientation, jacobian)
    return position, orientation, jacobian


def joint_frames(bones: JointChain, values: Array) -> JointFrames:
    """The transforms for values (S, n) of the columns."""
    samples, count = len(values), len(bones.parents)
    three, nine = np.empty((3, samples, count, 3)), np.empty((3, samples, count, 3, 3))
    at = JointFrames(three[0], nine[0], three[1], np.empty((samples, count, 4, 3)), nine[1], three[2], nine[2])
    jit.kernels(KERNELS).fill_frames(bones, values, at)
    return at


def group_by_sample(sample: Array, count: int) -> tuple[Array, Array]:
    """The requests (R,) in the order of their samples, and where those of each of `count` samples begin (S + 1,)."""
    order = np.argsort(sample, kind="stable")
    return order, np.searchsorted(sample[order], np.arange(count + 1))
