"""Inverse kinematics: joints from marker positions.

For each frame, with r_p the vector from marker p to its point, w_p its weight and x the
freedoms of the joints (rotation vectors, metres),

    minimise  sum_p w_p |r_p(x)|^2 + stiffness sum_d c_d (x_d - x0_d)^2,      low <= x <= high

by damped Gauss-Newton steps from the solution of the frame before. The second term only decides what the markers leave
open: c_d is how much they determine x_d, and x0 the pose given as start. With s_d = (u_d, v_d) how freedom d turns and
moves all below it, and (N_d, F_d) the moment and the sum of how far it moves their markers, the matrix is

    H_de = s_e . (N_d, F_d)   where e is above d or d itself, else 0

[Featherstone 2008, chapters 6 and 8]: no Jacobian is built, and the factor of H, taken from the leaves to the root, has
zeros where H has. A frame costs some tens of microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Skeleton
from understudy.character.body.joint_limits import (
    DegreesOfFreedom,
    FreeJoints,
    Limits,
    degrees_of_freedom,
    free_joints_below,
)
from understudy.character.body.markers import Markers
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit, quaternion

KERNELS = "understudy.character.body.ik_kernels"
POSE_STIFFNESS = 1e-5  # a pose a radian from the start is a tenth of a millimetre off its markers
MAX_ITERATIONS_PER_FRAME = 40  # from the frame before two or three suffice
MIN_STEP_RAD_OR_M = 1e-5  # a frame with a smaller step is done


@dataclass(frozen=True, eq=False)
class IkProblem:
    """Everything about F frames that the solvers need, as plain arrays."""

    parents: Array  # (J,)
    scales: Array  # (J, 3)
    base: Array  # (J, 3, 3) rotations that turns are relative to
    turns: Array  # (F or 1, J, 3) of the start, rotation vectors
    moves: Array  # (F or 1, J, 3) of the start, parent_from_joint
    joints: Array  # (Q,) of the markers
    offsets: Array  # (Q, 3)
    weights: Array  # (Q,) sum to 1
    points: Array  # (F, Q, 3)
    degrees: DegreesOfFreedom
    stiffness: float
    iterations: int = MAX_ITERATIONS_PER_FRAME


def solve_ik(
    markers: Markers,
    skeleton: Skeleton,
    points: Array,
    *,
    start: PoseSequence | None = None,
    limits: Limits | None = None,
    weights: Array | None = None,
    freedom: FreeJoints | None = None,
    stiffness: float = POSE_STIFFNESS,
    rate: float | None = None,
    degrees: DegreesOfFreedom | None = None,
    iterations: int = MAX_ITERATIONS_PER_FRAME,
) -> PoseSequence:
    """Poses (F) whose markers lie nearest to `points` (F, Q, 3), joints within `limits` (degrees about x, y, z).

    `start` (one pose, or F; the rest pose by default) is where the search begins, and is kept where the markers leave
    it open. `freedom` are the joints that may turn and move, by default all that carry markers, and the root. `degrees`
    are those of freedom and limits, if the caller has them already (live, a frame at a time).
    """
    points = checks.array(points, "points", ("F", len(markers), 3))
    start = PoseSequence.rest(skeleton) if start is None else start
    if len(start) not in (1, len(points)):
        raise InvalidInput(f"start should have one pose or {len(points)}, but has {len(start)}")
    if degrees is None:
        degrees = degrees_of_freedom(
            skeleton, free_joints_below(markers, skeleton) if freedom is None else freedom, limits
        )
    base, turns = _turns(skeleton, start, degrees)
    problem = IkProblem(
        skeleton.parents,
        skeleton.scales,
        quaternion.to_matrix(base),
        turns,
        start.translations,
        markers.joints,
        markers.offsets,
        _weights(weights, len(markers)),
        points,
        degrees,
        checks.positive(stiffness, "stiffness"),
        iterations,
    )
    solved, moves = solve_ik_problem(problem)
    rotations = quaternion.multiply(base, quaternion.from_rotation_vector(solved))
    return PoseSequence(skeleton, moves, quaternion.unroll(rotations), rate or start.rate)


def solve_ik_problem(problem: IkProblem) -> tuple[Array, Array]:
    """Turns and moves (F, J, 3) of the solution."""
    shape = (len(problem.points), len(problem.parents), 3)
    turns, moves = np.empty(shape), np.empty(shape)
    d = problem.degrees
    jit.kernels(KERNELS).solve_frames(
        (problem.parents, problem.scales, problem.base, problem.joints, problem.offsets, problem.weights),
        (d.joint, d.kind, d.axis, d.depth, d.chain, d.low, d.high),
        (problem.turns, problem.moves, problem.points),
        (problem.stiffness, MIN_STEP_RAD_OR_M, problem.iterations),
        turns,
        moves,
    )
    return turns, moves


def _turns(skeleton: Skeleton, start: PoseSequence, degrees: DegreesOfFreedom) -> tuple[Array, Array]:
    """The base (J, 4) of each joint, and the turns (F or 1, J, 3) of the start from it, clipped to the limits."""
    base = np.where(degrees.limited[:, None], skeleton.rotations, start.rotations[0])
    turns = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(base), start.rotations))
    d = degrees
    turned = d.kind == 1
    joint, axis = d.joint[turned], d.axis[turned]
    turns[:, joint, axis] = np.clip(turns[:, joint, axis], d.low[turned], d.high[turned])
    return base, turns


def _weights(weights: Array | None, count: int) -> Array:
    checked = np.ones(count) if weights is None else checks.array(weights, "weights", (count,))
    if checked.min() < 0 or not checked.sum() > 0:
        raise InvalidInput("weights should be zero or more, and not all zero")
    return checked / checked.sum()
