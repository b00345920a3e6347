"""Slow oracles of the kernels of `understudy.character`: skinning, normals and reaching, in NumPy."""

from __future__ import annotations

from math import acos, atan2, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from understudy.character import kinematics
from understudy.character.body import ik
from understudy.character.body.ik_kernels import (
    FIRST_DAMPING,
    MAX_DAMPING,
    MIN_DAMPING,
    MIN_RESIDUAL_GAIN_RATIO,
    MOVE_STIFFNESS_RATIO,
    WARM_DAMPING,
)
from understudy.character.body.joint_limits import ROTATION, TRANSLATION
from understudy.character.body.limbs import (
    HINGE_ROUNDS,
    MIN_HINGE_EFFECT_RATIO,
    STRAIGHT_REACH_RATIO,
    STRAIGHT_SLACK_RATIO,
    WRONG_BEND_BLEND_RAD,
)
from understudy.character.skinning import blend_shapes, dual_quaternion, layered, linear
from understudy.character.skinning.blend_shapes import FLOATS_PER_SHAPE_BLOCK, ShapeBlocks
from understudy.character.skinning.layered import VERTICES_PER_BLOCK, FrameBlock, LatticeBend, VertexBlocks
from understudy.checks import Array
from understudy.maths import quaternion, vector


def linear_blend(vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike) -> Array:
    """`linear.linear_blend`."""
    given = linear.check(vertices, joints, weights, matrices, None)
    for f in range(len(given.out)):
        blended = _blend_matrices(given.joints, given.weights, given.matrices[f])
        rest = given.vertices[f % len(given.vertices)]
        given.out[f] = np.einsum("vab,vb->va", blended[..., :3], rest) + blended[..., 3]
    return given.result


def _blend_matrices(joints: Array, weights: Array, matrices: Array) -> Array:
    """sum_k w_k M_k (V, 3, 4) float32, of one frame's matrices (B, 3 or 4, 4)."""
    m = matrices[:, :3, :].astype(np.float32)
    total = np.zeros((len(joints), 3, 4), np.float32)
    for k in range(joints.shape[1]):
        used = np.flatnonzero(weights[:, k])
        total[used] += weights[used, k, None, None] * m[joints[used, k]]
    return total


def dual_blend(vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike) -> Array:
    """`dual_quaternion.dual_blend`."""
    given = linear.check(vertices, joints, weights, matrices, None)
    j, w = given.joints, given.weights
    if not j.size or not given.matrices.size:
        given.out[...] = given.vertices
        return given.result
    rigid, scale, _ = dual_quaternion.rigid_and_scale(given.matrices)
    total = w.sum(axis=1, keepdims=True)
    share = w / np.where(total != 0, total, 1)
    pivot = np.take_along_axis(j, np.argmax(np.where(w != 0, w, -np.inf), axis=1)[:, None], axis=1)[:, 0]
    stays = (w == 0).all(axis=1)
    for f in range(len(given.out)):
        rest = given.vertices[f % len(given.vertices)]
        q, p = np.zeros((len(rest), 8), np.float32), np.zeros((len(rest), 3), np.float32)
        d, s = rigid[f].astype(np.float32), scale[f].astype(np.float32)
        for k in range(j.shape[1]):
            used = np.flatnonzero(w[:, k])
            motions = d[j[used, k]]
            side = np.einsum("vc,vc->v", motions[:, :4], d[pivot[used], :4])
            q[used] += (np.where(side < 0, -1, 1) * w[used, k])[:, None].astype(np.float32) * motions
            p[used] += share[used, k, None] * np.einsum("vab,vb->va", s[j[used, k]], rest[used])
        given.out[f] = np.where(stays[:, None], rest, _apply(q, p))
    return given.result


def _apply(q: Array, p: Array) -> Array:
    """Points p (V, 3) moved by dual quaternions q (V, 8) of any length."""
    a, aw, b, bw = q[:, :3], q[:, 3:4], q[:, 4:7], q[:, 7:]
    norm = (q[:, :4] ** 2).sum(axis=1, keepdims=True)
    turned = np.cross(a, np.cross(a, p) + aw * p)
    return p + 2 / np.where(norm != 0, norm, 1) * (turned + aw * b - bw * a + np.cross(a, b))


def add_shapes(vertices: ArrayLike, deltas: ArrayLike | ShapeBlocks, weights: ArrayLike) -> Array:
    """`blend_shapes.add_shapes`."""
    prepared, v, w, single = blend_shapes._check(vertices, deltas, weights)
    result = np.empty((len(w), prepared.vertices, 3), np.float32)
    result[...] = v
    flat = result.reshape(len(w), 3 * prepared.vertices)
    used = (w != 0).any(axis=0)
    for b, (first, last) in enumerate(zip(prepared.starts[:-1], prepared.starts[1:])):
        rows = first + np.flatnonzero(used[prepared.shape_of[first:last]])
        if rows.size:
            part = flat[:, b * FLOATS_PER_SHAPE_BLOCK : (b + 1) * FLOATS_PER_SHAPE_BLOCK]
            part += w[:, prepared.shape_of[rows]] @ prepared.rows[rows, : part.shape[1]]
    return result[0] if single else result


def displacement(points: ArrayLike, low: ArrayLike, high: ArrayLike, offsets: ArrayLike) -> Array:
    """`layered.displacement`."""
    p, o, start, size, single = layered._check(points, low, high, offsets)
    result = np.empty((len(o) if len(p) == 1 else len(p), *p.shape[1:]), np.float32)
    for f in range(len(result)):
        u = (p[f % len(p)] - start) / size
        bx, by, bz = (layered.basis(u[:, a], o.shape[1 + a]) for a in range(3))
        weights = bx[:, :, None, None] * by[:, None, :, None] * bz[:, None, None, :]
        table = o[f % len(o)].reshape(-1, 3)
        result[f] = weights.reshape(len(u), bx.shape[1] * by.shape[1] * bz.shape[1]) @ table
    return result[0] if single else result


def deform(blocks: VertexBlocks, frames: FrameBlock) -> Array:
    """`layered.deform`."""
    out = np.empty((len(frames.weights), len(blocks.place), 3), np.float32)
    weights, motions, moved, bend = frames
    shape_block = np.repeat(np.arange(len(blocks.rest)), np.diff(blocks.shape_first))
    joint_block = np.repeat(np.arange(len(blocks.rest)), np.diff(blocks.joint_first))
    for f in range(len(out)):
        p = blocks.rest.astype(np.float64)
        on = np.flatnonzero(weights[f, blocks.shape_of])
        _add_rows(p, shape_block[on], weights[f, blocks.shape_of[on], None] * blocks.shape_rows[on])
        p = p.reshape(-1, 3, VERTICES_PER_BLOCK)
        on = np.flatnonzero(moved[f, blocks.joint_of])
        e = motions[f, blocks.joint_of[on]]
        pull = e[:, :3, :3] @ p[joint_block[on]] + e[:, :3, 3:]
        x = p.copy()
        _add_rows(x, joint_block[on], blocks.joint_rows[on, None] * pull)
        out[f] = x.reshape(-1)[blocks.place[:, None] + np.arange(3) * VERTICES_PER_BLOCK]
        if bend is not None and bend.offsets[f].any():
            out[f] += _lattice_displacement(out[f], bend, f)
    return out


def _add_rows(total: Array, block: Array, rows: Array) -> None:
    """total[block[n]] += rows[n], of blocks (N,) in rising order."""
    if len(block):
        numbers, first = np.unique(block, return_index=True)
        total[numbers] += np.add.reduceat(rows, first, axis=0)


def _lattice_displacement(points: Array, bend: LatticeBend, frame: int) -> Array:
    """L d(L^-1 x) (V, 3) at points x (V, 3)."""
    motion = bend.motion[frame]
    inverse = np.linalg.inv(motion)
    at_rest = points @ inverse[:3, :3].T + inverse[:3, 3]
    inside = ((at_rest > bend.low) & (at_rest < bend.high)).all(axis=1)
    result = np.zeros(points.shape, np.float32)
    moves = displacement(at_rest[inside], bend.low, bend.high, bend.offsets[frame])
    result[inside] = moves @ motion[:3, :3].T
    return result


def vertex_normals(v: Array, triangles: Array, by_angle: bool) -> Array:
    """(V, 3) `normals.vertex_normals` of one frame (V, 3)."""
    corners = v[triangles]  # (T, 3, 3)
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros_like(v)
    for k in range(3):
        share = face
        if by_angle:
            p, q = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
            angle = np.arctan2(np.linalg.norm(np.cross(p, q), axis=1), np.einsum("tc,tc->t", p, q))
            share = angle[:, None] * vector.normalise(face)
        np.add.at(total, triangles[:, k], share)
    return vector.normalise(total)


def reach_chain(
    parent: Array, chain: Array, tip: Array, goal: Array, hinges: Array, sides: Array, room: Array
) -> tuple[Array, Array]:
    """`chain_reach.reach_chain`."""
    count = len(chain)
    places = np.concatenate([chain[:, :3, 3], tip[None]])
    frames = chain[:, :3, :3] / np.linalg.norm(chain[:, :3, :3], axis=1, keepdims=True)  # (n, 3, 3) rotations
    length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    wanted = _soften_distance(float(np.linalg.norm(tip - places[0])), float(np.linalg.norm(goal - places[0])), length)
    turned = np.zeros(count)
    for number in range(HINGE_ROUNDS if count > 2 else 1):
        for joint in range(1, count):
            now = float(np.linalg.norm(places[-1] - places[0]))
            aim = now + (wanted - now) / (count - joint if number == 0 else 1)
            axis = frames[joint] @ hinges[joint]
            left = room[joint] - turned[joint]
            angle = _hinge_bend(places[0], places[joint], places[-1], axis, aim, sides[joint], left, length)
            turned[joint] += angle
            _turn(frames, places, joint, angle * axis)
    _turn(frames, places, 0, _swing(places[-1] - places[0], goal - places[0]))
    above = parent[:3, :3] / np.linalg.norm(parent[:3, :3], axis=0)
    return quaternion.from_matrix(np.swapaxes(np.concatenate([above[None], frames[:-1]]), 1, 2) @ frames), places[-1]


def _hinge_bend(
    first: Array, joint: Array, tip: Array, axis: Array, aim: float, side: Array, room: Array, length: float
) -> float:
    """The angle about an axis through `joint` that brings `tip` to a distance from `first`, within `room` (2,)."""
    k, w = joint - first, tip - joint
    a = float(k @ axis) * float(axis @ w)
    b, c = float(k @ w) - a, float(k @ np.cross(axis, w))
    size = sqrt(b * b + c * c)
    if size <= MIN_HINGE_EFFECT_RATIO * length**2:
        return 0.0
    ratio = (0.5 * (aim * aim - float(k @ k) - float(w @ w)) - a) / size
    straight, opens = atan2(c, b), acos(min(max(ratio, -1.0), 1.0))
    beyond = side[0] * straight  # the angle by which it is bent to the wrong side
    wrong = 0.0
    if beyond > 0:
        may = _fade(beyond, float(side[1]))
        wrong = _fade(opens, beyond) * (
            2.0 * may + (1.0 - may) * WRONG_BEND_BLEND_RAD / (beyond + WRONG_BEND_BLEND_RAD)
        )
    angle = straight + side[0] * opens * (1.0 - wrong)
    angle -= 2 * pi * round(angle / (2 * pi))
    return min(max(angle, float(room[0])), float(room[1]))


def _soften_distance(now: float, wanted: float, length: float) -> float:
    """The distance asked of a chain instead of `wanted`, where it is nearly straight."""
    little = STRAIGHT_REACH_RATIO * length * max(1.0 - (length - now) / (STRAIGHT_SLACK_RATIO * length), 0.0)
    x = min(abs(wanted - now) / little, 1.0) if little > 0 else 1.0
    return now + (wanted - now) * x * x * (3.0 - 2.0 * x)


def _fade(value: float, limit: float) -> float:
    """1 up to a limit, 0 beyond three times that."""
    x = min(max(0.5 * (3.0 - value / limit), 0.0), 1.0) if limit > 0 else 0.0
    return x * x * (3.0 - 2.0 * x)


def _turn(frames: Array, places: Array, joint: int, vector: Array) -> None:
    """Turn a joint and all below it by a rotation vector (3,), in place."""
    turn = quaternion.to_matrix(quaternion.from_rotation_vector(vector))
    frames[joint:] = turn @ frames[joint:]
    places[joint + 1 :] = (places[joint + 1 :] - places[joint]) @ turn.T + places[joint]


def _swing(start: Array, end: Array) -> Array:
    """(3,) the shortest rotation vector from one direction to another."""
    across = np.cross(start, end)
    sine = float(np.linalg.norm(across))
    return np.asarray(across * (atan2(sine, float(start @ end)) / max(sine, np.finfo(float).tiny)))


def solve_ik_problem(problem: ik.IkProblem) -> tuple[Array, Array]:
    """`ik.solve_ik_problem`, with a dense Jacobian: the steps are the same, damping included."""
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
    world = kinematics.world_transforms(parents, moves, rotations, problem.scales)
    pure = kinematics.world_transforms(parents, moves, rotations)[:, :3, :3]
    places = np.einsum("qij,qj->qi", world[problem.joints, :3, :3], problem.offsets) + world[problem.joints, :3, 3]
    above = parents[d.joint]
    has_parent = (above >= 0)[:, None, None]
    axes = np.where(has_parent, pure[above], np.eye(3)) @ problem.base[d.joint]
    axes = axes @ quaternion.left_jacobian(turns[d.joint])
    turning = np.cross(axes[np.arange(len(above)), :, d.axis], places[:, None] - world[d.joint, :3, 3])  # (Q, D, 3)
    moving = np.where(has_parent, world[above, :3, :3], np.eye(3))[np.arange(len(above)), :, d.axis]
    both = np.where((d.kind == ROTATION)[:, None], turning, moving)
    both = np.where(kinematics.ancestors(parents)[problem.joints][:, d.joint][..., None], both, 0.0)
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
