"""Inverse kinematics: joints from marker positions, and limbs that reach goals with a moving root.

Markers to joints (`solve_ik`). For each frame, with r_p the vector from marker p to its point, w_p its weight and x the
freedoms of the joints (rotation vectors, metres),

    minimise  sum_p w_p |r_p(x)|^2 + stiffness sum_d c_d (x_d - x0_d)^2,      low <= x <= high

by damped Gauss-Newton steps from the solution of the frame before. The second term only decides what the markers leave
open: c_d is how much they determine x_d, and x0 the pose given as start. With s_d = (u_d, v_d) how freedom d turns and
moves all below it, and (N_d, F_d) the moment and the sum of how far it moves their markers, the matrix is

    H_de = s_e . (N_d, F_d)   where e is above d or d itself, else 0

[Featherstone 2008, chapters 6 and 8]: no Jacobian is built, and the factor of H, taken from the leaves to the root, has
zeros where H has. A frame costs some tens of microseconds.

Limbs to goals (`reach_with_limbs`): the least rotations of a few joints that bring points to their goals, and a smooth
path of the hips. With the rotations t of the legs' joints since the start, in world axes, J how they move the points, d
= (x, y, z, and a rotation vector) the motion of the whole figure, A how that moves the points, and r the distance still
missing,

    minimise  sum_f  sum_k |r_k|^2 / soft_k + |t|^2 + |d|^2 / give + (tau^4 / give) |d''|^2

where soft is almost zero for points that are held and larger for others. Legs bend first. Where they cannot reach, the
hips move, and because their second derivative is part of the sum they do so in good time and not from one frame to the
next. Frame by frame the legs are eliminated,

    min_t  =  (rho - A dd)^T W (rho - A dd),     rho = r + J t,   W = (J J^T + soft)^-1

which leaves one banded system for all frames. Steps of the legs and of the hips alternate; both are damped in the
frames where they do not help, as by Levenberg and Marquardt. Joints turn only about the axes, and as far, as their
limits allow; where a start is beyond a limit, it goes no further.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from understudy import checks
from understudy.character import Skeleton
from understudy.character.body.joint_limits import (
    DegreesOfFreedom,
    FreeJoints,
    Limits,
    degrees_of_freedom,
    free_joints_below,
    limit_boxes,
)
from understudy.character.body.markers import Markers
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit, quaternion
from understudy.maths.cholesky import solve_banded

KERNELS = "understudy.character.body.ik_kernels"
POSE_STIFFNESS = 1e-5  # a pose a radian from the start is a tenth of a millimetre off its markers
MAX_ITERATIONS_PER_FRAME = 40  # from the frame before two or three suffice
MIN_STEP_RAD_OR_M = 1e-5  # a frame with a smaller step is done
# `soft` of each round over the squared length of a leg: large at first, so that the path of the hips is found roughly;
# in the end feet miss by a thousandth of a leg for each tenth that the hips move.
ROUND_SOFTNESS_RATIOS: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-5)
MAX_LIMB_ITERATIONS = 30  # of the legs in a round; joints at their limits need some
# `give` over the squared length of a leg: hips take a twentieth of a correction, and more where legs are straight.
ROOT_COMPLIANCE = 5e-2
ROOT_TURN_COMPLIANCE_RAD2 = (0.05, 0.2, 0.05)  # `give` of rotations of the whole figure about x, y and z
ROOT_SMOOTHING_SECONDS = 0.08  # tau: hips do not move more quickly without need
MAX_ROOT_DAMPING_TRIES = 4  # with more damping of the hips where a step does not help
FIRST_ROOT_DAMPING_RATIO = 0.3  # first damping of a frame over its stiffness; ten times as much each time


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


def reach_with_limbs(
    poses: PoseSequence,
    turning: Array,
    carriers: Array,
    points: Array,
    goals: Array,
    limits: Limits | None = None,
    holds: Array | None = None,
    give: float | None = ROOT_COMPLIANCE,
    softness: tuple[float, ...] = ROUND_SOFTNESS_RATIOS,
) -> PoseSequence:
    """Poses whose `points` (F, K, 3), carried by joints (K,), are at `goals` (F, K, 3).

    `turning` (n,) are the joints of the limbs that turn, unbroken chains down to the carriers; the root is not one.
    `holds` (F, K) is 1 for points that have to be at their goals, less for others. `give` is the compliance of the
    hips in squared lengths of a leg, None keeps them; `softness` is that of each round (ROUND_SOFTNESS_RATIOS).
    """
    task = _Task.from_poses(poses, turning, carriers, points, goals, limits, holds, give)
    state = _State.initial(task)
    for soft in softness:
        state = _solve_round(jit.kernels(KERNELS), task, state, soft)
    return task.apply_to(poses, state)


@dataclass(frozen=True, eq=False)
class _Task:
    """The inputs of the kernels; n joints turn, the first is the root."""

    turning: Array  # (n,) joints
    body: tuple[Array, ...]
    frames: tuple[Array, ...]  # places (F, n, 3), points and goals (F, K, 3), up and local (F, n, 4), limits (F, n, 3)
    yielding: Array  # (F, K) 1 / holds^2
    length: float  # metres, of a leg
    stiff: Array  # (6,) costs of x, y, z and turns; empty where the whole figure stays
    smooth: float  # cost of their second differences, over `stiff`

    @classmethod
    def from_poses(
        cls,
        poses: PoseSequence,
        turning: Array,
        carriers: Array,
        points: Array,
        goals: Array,
        limits: Limits | None,
        holds: Array | None,
        give: float | None,
    ) -> _Task:
        skeleton = poses.skeleton
        root = skeleton.ancestors(int(carriers[0]))[-1]
        turning = np.concatenate([[root], np.sort(turning)])
        number = np.full(len(skeleton) + 1, -1)
        number[turning] = np.arange(len(turning))
        parent = np.maximum(number[skeleton.parents[turning]], 0)  # limbs leave a trunk that turns with the root
        parent[0] = -1
        above = np.array([[j in skeleton.ancestors(int(c)) for j in turning] for c in carriers], bool)
        rotations = world_rotations(skeleton, poses.rotations)
        up = np.zeros((len(poses), len(turning), 4))
        up[..., 3] = 1.0
        has_parent = skeleton.parents[turning] >= 0
        up[:, has_parent] = rotations[:, skeleton.parents[turning[has_parent]]]
        local = np.ascontiguousarray(poses.rotations[:, turning])
        low, high, limited = (box[turning] for box in limit_boxes(skeleton, limits))
        limited[0] = False
        rest = quaternion.normalise(skeleton.rotations[turning])
        low, high = _limits_including_start(rest, local, low, high)
        places = np.ascontiguousarray(poses.world[:, turning][..., :3, 3])
        tops = [_top(parent, int(number[c])) for c in carriers]
        length = float(np.mean(np.linalg.norm(points - places[:, tops], axis=2)))
        held = np.ones(points.shape[:2]) if holds is None else holds
        return cls(
            turning,
            (parent, number[carriers], above, limited, rest),
            (places, np.ascontiguousarray(points), np.ascontiguousarray(goals), up, local, low, high),
            1.0 / np.square(held),
            length,
            np.zeros(0) if give is None else 1.0 / np.array([*[give * length**2] * 3, *ROOT_TURN_COMPLIANCE_RAD2]),
            (ROOT_SMOOTHING_SECONDS * poses.rate) ** 4,
        )

    def smoothness(self, d: Array) -> float:
        """The cost of the second differences of a motion of the whole figure d (F, 6)."""
        return float(self.smooth * (self.stiff * np.diff(d, 2, axis=0) ** 2).sum()) if len(d) > 2 else 0.0

    def apply_to(self, poses: PoseSequence, state: _State) -> PoseSequence:
        """The poses with the legs turned and the figure moved."""
        up, local = self.frames[3], self.frames[4]
        result = np.array(poses.rotations)
        in_parent = quaternion.multiply(quaternion.multiply(quaternion.conjugate(up), state.turned), up)
        result[:, self.turning] = quaternion.multiply(in_parent, local)
        shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
        shift[:, :3, 3] = state.d[:, :3]
        return PoseSequence(poses.skeleton, poses.translations, quaternion.unroll(result), poses.rate).apply_transform(
            shift
        )


@dataclass(frozen=True, eq=False)
class _State:
    """The state of the search."""

    d: Array  # (F, 6) x, y, z and turn of the whole figure
    turned: Array  # (F, n, 4) turns of the joints
    damping: Array  # (F,) of steps of the hips

    @classmethod
    def initial(cls, task: _Task) -> _State:
        turned = np.zeros((len(task.yielding), len(task.turning), 4))
        turned[..., 3] = 1.0
        return cls(np.zeros((len(turned), 6)), turned, np.zeros(len(turned)))

    def move_root(self, change: Array) -> _State:
        """After a change (F, 6) of the path, with the same legs."""
        d, turned = self.d + change, self.turned.copy()
        turned[:, 0] = quaternion.from_rotation_vector(d[:, 3:])
        return _State(d, turned, self.damping)


def _solve_round(kernels: ModuleType, task: _Task, state: _State, soft: float) -> _State:
    """One round: a step of the legs, then a step of the hips."""
    costs, pulls, blocks = _solve_limbs(kernels, task, state, soft)
    if not task.stiff.size:
        return state
    damping, before = state.damping, costs.sum() + task.smoothness(state.d)
    for _ in range(MAX_ROOT_DAMPING_TRIES):
        trial = state.move_root(_solve_root(task, state.d, pulls, blocks, damping))
        trial_costs = _solve_limbs(kernels, task, trial, soft)[0]
        if trial_costs.sum() + task.smoothness(trial.d) <= before:
            return _State(trial.d, trial.turned, 0.1 * damping)
        worse = trial_costs > costs
        worse[1:] |= trial_costs[:-1] > costs[:-1]
        worse[:-1] |= trial_costs[1:] > costs[1:]
        damping = np.where(worse, np.maximum(10 * damping, FIRST_ROOT_DAMPING_RATIO), damping)
    return _State(state.d, state.turned, damping)


def _solve_limbs(kernels: ModuleType, task: _Task, state: _State, soft: float) -> tuple[Array, Array, Array]:
    """(F,) costs after the legs are turned, in place, and pulls (F, 6) and blocks (F, 6, 6) of the feet on the hips."""
    frames = len(state.d)
    costs, pulls, blocks = np.empty(frames), np.empty((frames, 6)), np.empty((frames, 6, 6))
    places, points, goals, *rest = task.frames
    softness = soft * task.length**2 * task.yielding
    shifts = np.ascontiguousarray(state.d[:, :3])
    kernels.solve_limb_frames(
        task.body,
        (places, points, goals, softness, *rest),
        MAX_LIMB_ITERATIONS,
        state.turned,
        shifts,
        pulls,
        blocks,
        costs,
    )
    if task.stiff.size:
        costs += (task.stiff * state.d**2).sum(axis=1)
    return costs, pulls, blocks


def _solve_root(task: _Task, d: Array, pulls: Array, blocks: Array, damping: Array) -> Array:
    """(F, 6) the change of d that minimises the sum over frames, for pulls (F, 6) and blocks (F, 6, 6) of the legs."""
    frames, size = d.shape
    bent = np.zeros((3, frames))  # the diagonals of D^T D, D the second differences
    for i, a in enumerate((1.0, -2.0, 1.0)):
        for j, b in enumerate((1.0, -2.0, 1.0)[i:], i):
            bent[j - i, i : i + max(frames - 2, 0)] += a * b
    bands = np.zeros((2 * size + 1, frames, size))
    for a in range(size):
        for b in range(a, size):
            bands[2 * size + a - b, :, b] = blocks[:, a, b]
        bands[2 * size, :, a] += task.stiff[a] * (1 + task.smooth * bent[0]) + damping * (
            blocks[:, a, a] + task.stiff[a]
        )
        for apart in (1, 2):
            bands[(2 - apart) * size, apart:, a] = task.stiff[a] * task.smooth * bent[apart, : frames - apart]
    whole = d.copy()
    if frames > 2:
        second = task.smooth * np.diff(d, 2, axis=0)
        whole[:-2] += second
        whole[1:-1] -= 2 * second
        whole[2:] += second
    change = solve_banded(bands.reshape(2 * size + 1, -1), (pulls - task.stiff * whole).reshape(-1))
    return np.zeros_like(d) if change is None else change.reshape(-1, size)


def _limits_including_start(rest: Array, local: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """(F, n, 3) limits widened to include the start."""
    start = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(rest), local))
    return np.minimum(low, start), np.maximum(high, start)


def _top(parent: Array, joint: int) -> int:
    """The first joint of the limb, below the root."""
    while parent[joint] > 0:
        joint = int(parent[joint])
    return joint


def world_rotations(skeleton: Skeleton, rotations: Array) -> Array:
    """(F, J, 4) world rotations of joints from local ones (F, J, 4), without scales."""
    result = np.array(rotations)
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            result[:, j] = quaternion.multiply(result[:, p], result[:, j])
    return quaternion.normalise(result)
