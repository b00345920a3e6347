"""Markers back to joints: for every frame the pose whose markers lie nearest to given points.

For each frame, with r_p the way from marker p to its point, w_p its weight and x the freedoms of the joints (turns as
rotation vectors, metres),

    minimise  sum_p w_p |r_p(x)|^2 + stiffness sum_d c_d (x_d - x0_d)^2,      low <= x <= high

by damped Gauss-Newton steps from the solution of the frame before. The second term only decides what the markers leave
open: c_d is how much they say about x_d, and x0 the pose that was given as start. With s_d = (u_d, v_d) how freedom d
turns and moves all below it, and (N_d, F_d) the moment and the sum of how far it moves their markers, the matrix is

    H_de = s_e . (N_d, F_d)   where e is above d or d itself, else 0

[Featherstone 2008, chapters 6 and 8]: no Jacobian is built, and the factor of H, taken from the leaves to the root,
has zeros where H has. A frame costs some tens of microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Skeleton
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import accelerate, quaternion
from understudy.retarget.freedom import Degrees, Freedom, Limits, degrees_of, freedom_below
from understudy.retarget.markers import Markers
from understudy.retarget.poses import Poses

KERNELS = "understudy.retarget.ik_kernels"
STIFFNESS = 1e-5  # of what the markers say: a pose a radian from the start is a tenth of a millimetre off its markers
ITERATIONS = 40  # at most, in a frame; from the frame before two or three suffice
SMALL_STEP = 1e-5  # radians or metres: less, and a frame is done


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything about F frames that the solvers need, as plain arrays."""

    parents: Array  # (J,)
    scales: Array  # (J, 3)
    base: Array  # (J, 3, 3) turns are measured from here
    turns: Array  # (F or 1, J, 3) of the start, rotation vectors
    moves: Array  # (F or 1, J, 3) of the start, parent_from_joint
    joints: Array  # (Q,) of the markers
    offsets: Array  # (Q, 3)
    weights: Array  # (Q,) sum to 1
    points: Array  # (F, Q, 3)
    degrees: Degrees
    stiffness: float
    iterations: int = ITERATIONS


def solve_ik(
    markers: Markers,
    skeleton: Skeleton,
    points: Array,
    *,
    start: Poses | None = None,
    limits: Limits | None = None,
    weights: Array | None = None,
    freedom: Freedom | None = None,
    stiffness: float = STIFFNESS,
    rate: float | None = None,
    degrees: Degrees | None = None,
    iterations: int = ITERATIONS,
) -> Poses:
    """Poses (F) whose markers lie nearest to `points` (F, Q, 3), joints within `limits` (degrees about x, y, z).

    `start` (one pose, or F) is where the search begins and what is kept where the markers leave it open, the rest pose
    without it; `freedom` says which joints may turn and move, without it all that carry markers, and the root.
    `degrees` are those of freedom and limits, where somebody has made them before (live, a frame at a time).
    """
    points = checks.array(points, "points", ("F", len(markers), 3))
    start = Poses.rest(skeleton) if start is None else start
    if len(start) not in (1, len(points)):
        raise InvalidInput(f"start should have one pose or {len(points)}, but has {len(start)}")
    if degrees is None:
        degrees = degrees_of(skeleton, freedom_below(markers, skeleton) if freedom is None else freedom, limits)
    base, turns = _turns(skeleton, start, degrees)
    problem = Problem(
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
    solved, moves = solve(problem)
    rotations = quaternion.multiply(base, quaternion.from_rotation_vector(solved))
    return Poses(skeleton, moves, quaternion.unroll(rotations), rate or start.rate)


def solve(problem: Problem) -> tuple[Array, Array]:
    """Turns and moves (F, J, 3) of the solution."""
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        from understudy.retarget.ik_numpy import solve_numpy

        return solve_numpy(problem)
    shape = (len(problem.points), len(problem.parents), 3)
    turns, moves = np.empty(shape), np.empty(shape)
    d = problem.degrees
    kernels.solve_frames(
        (problem.parents, problem.scales, problem.base, problem.joints, problem.offsets, problem.weights),
        (d.joint, d.kind, d.axis, d.depth, d.chain, d.low, d.high),
        (problem.turns, problem.moves, problem.points),
        (problem.stiffness, SMALL_STEP, problem.iterations),
        turns,
        moves,
    )
    return turns, moves


def _turns(skeleton: Skeleton, start: Poses, degrees: Degrees) -> tuple[Array, Array]:
    """The base (J, 4) of each joint, and the turns (F or 1, J, 3) of the start from it, those with limits within."""
    base = np.where(degrees.limited[:, None], skeleton.rotations, start.rotations[0])
    turns = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(base), start.rotations))
    d = degrees
    turned = d.kind == 1
    joint, axis = d.joint[turned], d.axis[turned]
    turns[:, joint, axis] = np.clip(turns[:, joint, axis], d.low[turned], d.high[turned])
    return base, turns


def _weights(weights: Array | None, count: int) -> Array:
    found = np.ones(count) if weights is None else checks.array(weights, "weights", (count,))
    if found.min() < 0 or not found.sum() > 0:
        raise InvalidInput("weights should be zero or more, and not all zero")
    return found / found.sum()
