"""Slow oracles of the kernels of `understudy.perform`: whole arrays in NumPy, one formula after the other."""

from __future__ import annotations

from math import pi

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion
from understudy.perform.features.root_motion import RootJoint
from understudy.perform.layers.eye_drives import Angles, ControlDrive
from understudy.perform.runtime.forces import (
    MAX_MULTIPLIER_RATIO,
    MIN_SQUARED_DISTANCE,
    SUBSTEPS_PER_FRAME,
    Density,
    MotionConstants,
)
from understudy.perform.runtime.particle import WINDOW_GRID_STEPS, WINDOW_SCALE

PHILOX_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
PHILOX_WEYL = np.array([0x9E3779B9, 0xBB67AE85], np.uint64)
UINT32_MASK = np.uint64(0xFFFFFFFF)
UINT32_BITS = np.uint64(32)


def step(
    density: Density,
    forces: MotionConstants,
    x: Array,
    velocity: Array,
    path: Array,
    path_end: Array,
    radius: Array,
    random: Array,
    dt: float,
    substeps: int = SUBSTEPS_PER_FRAME,
) -> tuple[Array, Array]:
    """`particle.step`, after the corner."""
    h, drift = dt / substeps, (path_end - path) / dt
    stiffest = min(MAX_MULTIPLIER_RATIO * forces.alpha**2, h**-2)

    def force_at(x: Array, v: Array, pushed: Array, now: int) -> Array:
        return total_force(forces, x, v, pushed, path + now * (h / 2) * drift, drift, radius, random[:, now], stiffest)

    v = velocity
    for i in range(0, 2 * substeps, 2):
        f1 = force_at(x, v, likelihood_force(density, forces, x), i)
        middle = x + h / 2 * v + h**2 / 8 * f1
        pushed = likelihood_force(density, forces, middle)
        f2 = force_at(middle, v + h / 2 * f1, pushed, i + 1)
        f3 = force_at(middle, v + h / 2 * f2, pushed, i + 1)
        end = x + h * v + h**2 / 2 * f3
        f4 = force_at(end, v + h * f3, likelihood_force(density, forces, end), i + 2)
        x, v = x + h * v + h**2 / 6 * (f1 + f2 + f3), v + h / 6 * (f1 + 2 * f2 + 2 * f3 + f4)
    return x, v


def likelihood_force(density: Density, forces: MotionConstants, x: Array) -> Array:
    """(M, Q) the force towards likely regions at x (M, Q), eq. 11; most of the time of a step."""
    p, gradient = density.log_density_and_gradient(x)
    s = forces.a / (1 + np.exp(np.minimum((p - forces.v) / forces.l, 700)))
    steepness = np.sqrt(np.einsum("mq,mq->m", gradient, gradient) + forces.flat**2)
    return (s / steepness)[:, None] * gradient


def total_force(
    forces: MotionConstants,
    x: Array,
    v: Array,
    pushed: Array,
    path: Array,
    drift: Array,
    radius: Array,
    random: Array,
    stiffest: float,
) -> Array:
    """x'' (M, Q) of particles at x with velocity v, where the path is at `path` and moves with `drift`, all (M, Q)."""
    g, w = x - path, v - drift
    f = random + pushed - forces.drag * w
    return f + constraint_multiplier(g, w, f, radius, forces.alpha, stiffest)[:, None] * g


def constraint_multiplier(g: Array, w: Array, f: Array, radius: Array, alpha: float, stiffest: float) -> Array:
    """lambda (M,) of eq. 9, never above zero, of g, w and F (M, Q)."""
    gg = np.maximum(np.einsum("mq,mq->m", g, g), MIN_SQUARED_DISTANCE)
    gw = np.einsum("mq,mq->m", g, w)
    g_of_10 = np.einsum("mq,mq->m", w, w) + 2 * alpha * gw + alpha**2 * (gg - radius**2) / 2
    return np.minimum(0, -np.einsum("mq,mq->m", g, f) / gg - np.minimum(g_of_10 / gg, stiffest))


def random_forces(key: Array, streams: Array, places: Array, dimensions: int) -> Array:
    """(M, T, Q) forces of streams (M,) at grid coordinates (M, T), for a key (2,)."""
    nearest = np.floor(places).astype(np.int64)
    total = np.zeros((*places.shape, dimensions))
    for offset in range(-WINDOW_GRID_STEPS + 1, WINDOW_GRID_STEPS + 1):
        i = nearest + offset
        window = np.exp(-0.25 * (places - i) ** 2)
        for block in range(0, dimensions, 4):
            z = normals(key, i, streams[:, None], block // 4)
            total[..., block : block + 4] += window[..., None] * z[..., : dimensions - block]
    return WINDOW_SCALE * total


def normals(key: Array, index: Array, stream: Array, block: int) -> Array:
    """(..., 4) standard normal numbers of counters (index, block, stream): Box and Muller's transform of Philox."""
    words = np.broadcast_arrays(
        index.astype(np.uint64) & UINT32_MASK, np.uint64(block), stream & UINT32_MASK, stream >> UINT32_BITS
    )
    uniform = (philox(np.stack(words, axis=-1), key) + 0.5) * 2.0**-32
    radius = np.sqrt(-2 * np.log(uniform[..., 0::2]))
    angle = 2 * pi * uniform[..., 1::2]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(uniform.shape)


def philox(counter: Array, key: Array) -> Array:
    """(..., 4) 32-bit numbers, as uint64, of counters (..., 4) and a key (2,): ten rounds of Philox 4x32."""
    a, b, c, d = (counter[..., i] for i in range(4))
    for turn in range(10):
        k = (key + np.uint64(turn) * PHILOX_WEYL) & UINT32_MASK
        first, second = PHILOX_MULTIPLIERS[0] * a, PHILOX_MULTIPLIERS[1] * c
        a, b, c, d = (
            (second >> UINT32_BITS) ^ b ^ k[0],
            second & UINT32_MASK,
            (first >> UINT32_BITS) ^ d ^ k[1],
            first & UINT32_MASK,
        )
    return np.stack([a, b, c, d], axis=-1)


def cheapest_path(between: Array, from_start: Array, to_end: Array, direct: float) -> Array:
    """(K,) the training points on the cheapest path, by Dijkstra's algorithm on a dense graph, in N^2 steps.

    `between` (N, N) costs among the points, `from_start` and `to_end` (N,) those of the two ends, `direct` of the edge
    that joins them. A point is settled when no open point is cheaper; the search stops when the end is settled.
    """
    cost, before = from_start.copy(), np.full(len(from_start), -1)
    open_cost = cost.copy()
    best, last = direct, -1
    while len(cost):
        i = int(open_cost.argmin())
        spent = open_cost[i]
        if not spent < best:
            break
        open_cost[i] = np.inf
        if spent + to_end[i] < best:
            best, last = spent + to_end[i], i
        through = spent + between[i]
        better = (through < cost) & (through < best)
        cost[better], open_cost[better], before[better] = through[better], through[better], i
    way = []
    while last >= 0:
        way.append(last)
        last = int(before[last])
    return np.array(way[::-1], dtype=np.int64)


def apply_ground(root: RootJoint, translations: Array, rotations: Array, grounds: Array) -> tuple[Array, Array]:
    """`RootJoint.apply_ground`."""
    turn = quaternion.from_axis_angle([0.0, 1.0, 0.0], grounds[:, 2])
    places = translations @ root.world_from_parent[:3, :3].T + root.world_from_parent[:3, 3]
    floor = np.stack([grounds[:, 0], np.zeros(len(grounds)), grounds[:, 1]], axis=1)
    inverse = np.linalg.inv(root.world_from_parent)
    scale = np.cbrt(np.linalg.det(root.world_from_parent[:3, :3]))
    parent = quaternion.from_matrix(root.world_from_parent[:3, :3] / scale)
    turn_in_parent = quaternion.multiply(quaternion.multiply(quaternion.conjugate(parent), turn), parent)
    moved = (quaternion.rotate(turn, places) + floor) @ inverse[:3, :3].T + inverse[:3, 3]
    return moved, quaternion.multiply(turn_in_parent, rotations)


def read_eye_angles(drive: ControlDrive, row: Array) -> Angles:
    """`ControlDrive.read`."""
    return Angles(*(drive.gains @ (row[drive.columns] - drive.ranges[1])).tolist())


def write_eye_angles(drive: ControlDrive, row: Array, angles: Angles) -> None:
    """`ControlDrive.write`."""
    low, rest, high = drive.ranges
    values = np.clip(rest + drive.both @ angles, low, high)
    left_over = angles - drive.gains @ (values - rest)
    row[drive.columns] = np.clip(values + drive.single @ left_over, low, high)
