"""`solve_ik_problem` in NumPy, with a dense Jacobian: the oracle of the kernels, and what runs without them.

The steps are the same, damping included; a step takes milliseconds.
"""

from __future__ import annotations

import numpy as np

from understudy.character import kinematics
from understudy.character.body import ik
from understudy.character.body.joint_limits import ROTATION, TRANSLATION
from understudy.character.kinematics import ancestors
from understudy.checks import Array
from understudy.maths import quaternion, rotation_spline

# As in `ik_kernels`, which explains them.
FIRST_DAMPING, WARM_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-2, 1e-3, 1e-7, 1e6
MOVE_STIFFNESS_RATIO = 1e-3
MIN_RESIDUAL_GAIN_RATIO = 1e-7


def solve_numpy(problem: ik.IkProblem) -> tuple[Array, Array]:
    """Turns and moves (F, J, 3) of the solution."""
    frames = len(problem.points)
    turns = np.array(np.broadcast_to(problem.turns, (frames, *problem.turns.shape[1:])))
    moves = np.array(np.broadcast_to(problem.moves, (frames, *problem.moves.shape[1:])))
    wanted = np.array([_gather_dofs(problem, turns[f], moves[f]) for f in range(frames)])
    hold = np.zeros(0)
    for f in range(frames):
        if f == 0:
            jacobian, _ = jacobian_and_misses(problem, turns[0], moves[0], problem.points[0])
            diagonal = np.maximum((jacobian**2).sum(axis=0), 1e-12)
            hold = (
                problem.stiffness * np.where(problem.degrees.kind == TRANSLATION, MOVE_STIFFNESS_RATIO, 1.0) * diagonal
            )
        else:
            _scatter_dofs(problem, _gather_dofs(problem, turns[f - 1], moves[f - 1]), turns[f], moves[f])
            turns[f] = _choose_nearer_turns(turns[f], np.broadcast_to(problem.turns, turns.shape)[f])
        _solve_frame(problem, turns[f], moves[f], problem.points[f], hold, wanted[f], f == 0)
    return turns, moves


def jacobian_and_misses(problem: ik.IkProblem, turns: Array, moves: Array, points: Array) -> tuple[Array, Array]:
    """d marker / d freedom (3 Q, D) and vectors from markers to points (3 Q,), both times the root of the weights."""
    d, parents = problem.degrees, problem.parents
    rotations = quaternion.multiply(quaternion.from_matrix(problem.base), quaternion.from_rotation_vector(turns))
    world = kinematics.world_transforms_numpy(parents, moves, rotations, problem.scales)
    pure = kinematics.world_transforms_numpy(parents, moves, rotations)[:, :3, :3]
    places = np.einsum("qij,qj->qi", world[problem.joints, :3, :3], problem.offsets) + world[problem.joints, :3, 3]
    above = parents[d.joint]
    has_parent = (above >= 0)[:, None, None]
    axes = np.where(has_parent, pure[above], np.eye(3)) @ problem.base[d.joint]
    axes = axes @ rotation_spline.left_jacobian(turns[d.joint])
    turning = np.cross(axes[np.arange(len(above)), :, d.axis], places[:, None] - world[d.joint, :3, 3])  # (Q, D, 3)
    moving = np.where(has_parent, world[above, :3, :3], np.eye(3))[np.arange(len(above)), :, d.axis]
    both = np.where((d.kind == ROTATION)[:, None], turning, moving)
    both = np.where(ancestors(parents)[problem.joints][:, d.joint][..., None], both, 0.0)
    root = np.sqrt(problem.weights)[:, None]
    jacobian = np.swapaxes(both * root[..., None], 1, 2).reshape(-1, len(above))
    return jacobian, ((points - places) * root).ravel()


def _solve_frame(
    problem: ik.IkProblem, turns: Array, moves: Array, points: Array, hold: Array, wanted: Array, first: bool
) -> None:
    d = problem.degrees
    x = _gather_dofs(problem, turns, moves)
    jacobian, misses = jacobian_and_misses(problem, turns, moves, points)
    best = float(misses @ misses + hold @ (x - wanted) ** 2)
    damping = FIRST_DAMPING if first else WARM_DAMPING
    for _ in range(problem.iterations):
        matrix = jacobian.T @ jacobian
        diagonal = np.diag(matrix)
        mean = np.zeros(len(x))
        for kind in (TRANSLATION, ROTATION):
            if (d.kind == kind).any():
                mean[d.kind == kind] = diagonal[d.kind == kind].mean()
        push = jacobian.T @ misses - hold * (x - wanted)
        free = ~(((x <= d.low) & (push <= 0)) | ((x >= d.high) & (push >= 0)))
        step = np.zeros(len(x))
        step[free] = np.linalg.solve((matrix + np.diag(hold + damping * mean))[np.ix_(free, free)], push[free])
        trial = np.clip(x + step, d.low, d.high)
        largest = np.abs(trial - x).max(initial=0.0)
        _scatter_dofs(problem, trial, turns, moves)
        tried, missed = jacobian_and_misses(problem, turns, moves, points)
        cost = float(missed @ missed + hold @ (trial - wanted) ** 2)
        done = False
        if cost <= best:
            done = best - cost <= MIN_RESIDUAL_GAIN_RATIO * best
            x, jacobian, misses, best = trial, tried, missed, cost
            damping = max(0.1 * damping, MIN_DAMPING)
        else:
            damping = max(10.0 * damping, 1e-4)
        if done or largest < ik.MIN_STEP_RAD_OR_M or damping > MAX_DAMPING:
            break
    _scatter_dofs(problem, x, turns, moves)


def _gather_dofs(problem: ik.IkProblem, turns: Array, moves: Array) -> Array:
    d = problem.degrees
    return np.where(d.kind == TRANSLATION, moves[d.joint, d.axis], turns[d.joint, d.axis])


def _scatter_dofs(problem: ik.IkProblem, x: Array, turns: Array, moves: Array) -> None:
    d = problem.degrees
    for kind, rows in ((TRANSLATION, moves), (ROTATION, turns)):
        chosen = d.kind == kind
        rows[d.joint[chosen], d.axis[chosen]] = x[chosen]


def _choose_nearer_turns(turns: Array, wanted: Array) -> Array:
    """Of the two rotation vectors of each turn the one nearer to the wanted."""
    angle = np.linalg.norm(turns, axis=1, keepdims=True)
    other = turns * (1 - 2 * np.pi / np.maximum(angle, 0.5 * np.pi))
    closer = np.linalg.norm(other - wanted, axis=1) < np.linalg.norm(turns - wanted, axis=1)
    return np.where((angle > 0.5 * np.pi) & closer[:, None], other, turns)
