"""The compiled loop of `leg_reach`: the legs of each frame for itself, in memory that stays in the cache."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled
from understudy.maths.cholesky_kernels import solve
from understudy.retarget.turn_kernels import exponential, logarithm, multiply, rotate

LONGEST = 0.5  # radians: no joint turns further in one step
SMALL = 1e-7  # radians: a step in which nothing turns further is the last
END = 1e-6  # radians from a limit at which a joint is at its end
ROUNDS = 4  # a step is taken again without the axes that it would turn beyond their ends
GAIN = 1e-9  # of the cost: so is one that gains less
LEAST = 1e-300  # of a pivot: the equations have a ridge, so that none comes near it


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def forward(
    parent: Array, start: tuple, carrier: Array, turned: Array, shift: Array, now: tuple, scratch: Array
) -> None:
    """Turns of the joints since the start in the world, where the joints are, and where the points are."""
    places0, points0 = start
    turns, places, points = now
    for j in range(parent.shape[0]):
        p = parent[j]
        if p < 0:
            turns[j] = turned[j]
            for i in range(3):
                places[j, i] = places0[j, i] + shift[i]
        else:
            multiply(turns[p], turned[j], turns[j])
            for i in range(3):
                scratch[i] = places0[j, i] - places0[p, i]
            rotate(turns[p], scratch[:3], 1.0, scratch[3:6])
            for i in range(3):
                places[j, i] = places[p, i] + scratch[3 + i]
    for k in range(carrier.shape[0]):
        j = carrier[k]
        for i in range(3):
            scratch[i] = points0[k, i] - places0[j, i]
        rotate(turns[j], scratch[:3], 1.0, scratch[3:6])
        for i in range(3):
            points[k, i] = places[j, i] + scratch[3 + i]


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def bounded(limits: tuple, above0: Array, local0: Array, turned: Array, vectors: Array, scratch: Array) -> None:
    """Turns of joints with limits brought within them, in place, and `vectors` (n, 3), their turns from rest.

    turned = A e A*, with A the parent's rotation at the start and the joint's own rotation e q0; its rotation vector
    from rest is log(rest* e q0). An end that the start is beyond is where the start is.
    """
    limited, rest, low, high = limits
    inverse, first, second, vector = scratch[0:4], scratch[4:8], scratch[8:12], scratch[12:15]
    for j in range(limited.shape[0]):
        if not limited[j]:
            continue
        for i in range(3):
            inverse[i] = -above0[j, i]
        inverse[3] = above0[j, 3]
        multiply(inverse, turned[j], first)
        multiply(first, above0[j], second)
        multiply(second, local0[j], first)
        for i in range(3):
            inverse[i] = -rest[j, i]
        inverse[3] = rest[j, 3]
        multiply(inverse, first, second)
        logarithm(second, vector)
        outside = False
        for i in range(3):
            if vector[i] < low[j, i] - 1e-12:
                vector[i], outside = low[j, i], True
            elif vector[i] > high[j, i] + 1e-12:
                vector[i], outside = high[j, i], True
        vectors[j] = vector
        if outside:
            exponential(vector, first)
            multiply(rest[j], first, second)
            for i in range(3):
                inverse[i] = -local0[j, i]
            inverse[3] = local0[j, 3]
            multiply(second, inverse, first)
            multiply(above0[j], first, second)
            for i in range(3):
                inverse[i] = -above0[j, i]
            inverse[3] = above0[j, 3]
            multiply(second, inverse, turned[j])


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def turning_axes(limits: tuple, above0: Array, parent: Array, turns: Array, out: Array, scratch: Array) -> None:
    """out (n, 3, 3): rows are the directions in the world of the axes that limits are about."""
    limited, rest = limits[0], limits[1]
    axis, first, second = scratch[0:3], scratch[3:6], scratch[6:9]
    for j in range(limited.shape[0]):
        for i in range(3):
            axis[:] = 0.0
            axis[i] = 1.0
            rotate(rest[j], axis, 1.0, first)
            rotate(above0[j], first, 1.0, second)
            if parent[j] >= 0:
                rotate(turns[parent[j]], second, 1.0, out[j, i])
            else:
                out[j, i] = second


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def allowed(limited: Array, axes: Array, free: Array, out: Array) -> None:
    """out (n, 3, 3): the directions in the world about which each joint may turn, as a projection."""
    for j in range(limited.shape[0]):
        out[j] = 0.0
        if j == 0:
            continue  # the whole figure is moved by `leg_reach`
        if not limited[j]:
            out[j, 0, 0] = out[j, 1, 1] = out[j, 2, 2] = 1.0
            continue
        for i in range(3):
            if free[j, i]:
                for a in range(3):
                    for b in range(3):
                        out[j, a, b] += axes[j, i, a] * axes[j, i, b]


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def stopped(limits: tuple, axes: Array, vectors: Array, step: Array, free: Array) -> bool:
    """Take out of `free` (n, 3) the axes that are at an end and would go beyond it; whether there are any."""
    limited, low, high = limits[0], limits[2], limits[3]
    found = False
    for j in range(limited.shape[0]):
        if not limited[j]:
            continue
        for i in range(3):
            if free[j, i]:
                turn = step[j, 0] * axes[j, i, 0] + step[j, 1] * axes[j, i, 1] + step[j, 2] * axes[j, i, 2]
                if (turn < 0.0 and vectors[j, i] <= low[j, i] + END) or (
                    turn > 0.0 and vectors[j, i] >= high[j, i] - END
                ):
                    free[j, i] = False
                    found = True
    return found


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def cost(goals: Array, points: Array, turned: Array, soft: Array, scratch: Array) -> float:
    """sum |r_k|^2 / soft_k + |t|^2, without the root's turn."""
    total = 0.0
    for k in range(goals.shape[0]):
        for i in range(3):
            total += (goals[k, i] - points[k, i]) ** 2 / soft[k]
    for j in range(1, turned.shape[0]):
        logarithm(turned[j], scratch)
        total += scratch[0] ** 2 + scratch[1] ** 2 + scratch[2] ** 2
    return total


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def equations(
    parent: Array, above: Array, goals: Array, turned: Array, now: tuple, may: Array, part: float, work: tuple
) -> None:
    """The matrix J J^T and the side r + part J t of a step, and `back` (n, 3): t, seen in the world."""
    turns, places, points = now
    matrix, side, back, arm, lever, scratch = work
    count = goals.shape[0]
    matrix[:, :] = 0.0
    back[0] = 0.0
    for k in range(count):
        for i in range(3):
            side[3 * k + i] = goals[k, i] - points[k, i]
    for j in range(1, parent.shape[0]):
        logarithm(turned[j], scratch[:3])
        rotate(turns[parent[j]], scratch[:3], 1.0, scratch[3:6])
        for i in range(3):
            back[j, i] = may[j, i, 0] * scratch[3] + may[j, i, 1] * scratch[4] + may[j, i, 2] * scratch[5]
        for k in range(count):
            if not above[k, j]:
                continue
            x, y, z = points[k, 0] - places[j, 0], points[k, 1] - places[j, 1], points[k, 2] - places[j, 2]
            # a turn w moves the point by w x (x, y, z), which is this matrix times w
            arm[k, 0, 0], arm[k, 0, 1], arm[k, 0, 2] = 0.0, z, -y
            arm[k, 1, 0], arm[k, 1, 1], arm[k, 1, 2] = -z, 0.0, x
            arm[k, 2, 0], arm[k, 2, 1], arm[k, 2, 2] = y, -x, 0.0
            for a in range(3):
                reached = 0.0
                for b in range(3):
                    reached += arm[k, a, b] * back[j, b]
                    lever[k, a, b] = (
                        arm[k, a, 0] * may[j, 0, b] + arm[k, a, 1] * may[j, 1, b] + arm[k, a, 2] * may[j, 2, b]
                    )
                side[3 * k + a] += part * reached
            for m in range(k + 1):
                if above[m, j]:
                    for a in range(3):
                        for b in range(3):
                            matrix[3 * k + a, 3 * m + b] += (
                                lever[k, a, 0] * arm[m, b, 0]
                                + lever[k, a, 1] * arm[m, b, 1]
                                + lever[k, a, 2] * arm[m, b, 2]
                            )


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def turn_on(
    parent: Array, above: Array, turned: Array, now: tuple, may: Array, part: float, work: tuple, trial: Array
) -> float:
    """trial (n, 4) = turned after a step with the multipliers in `side`; returns the largest turn of the step."""
    turns, places, points = now
    side, back, step, scratch = work
    largest = 0.0
    step[0] = 0.0
    trial[0] = turned[0]
    for j in range(1, parent.shape[0]):
        s0, s1, s2 = 0.0, 0.0, 0.0
        for k in range(points.shape[0]):
            if above[k, j]:
                x, y, z = points[k, 0] - places[j, 0], points[k, 1] - places[j, 1], points[k, 2] - places[j, 2]
                fx, fy, fz = side[3 * k], side[3 * k + 1], side[3 * k + 2]
                s0 += y * fz - z * fy
                s1 += z * fx - x * fz
                s2 += x * fy - y * fx
        for i in range(3):
            step[j, i] = part * (may[j, i, 0] * s0 + may[j, i, 1] * s1 + may[j, i, 2] * s2 - back[j, i])
            largest = max(largest, abs(step[j, i]))
    less = min(1.0, LONGEST / max(largest, 1e-300))
    for j in range(1, parent.shape[0]):
        for i in range(3):
            scratch[i] = less * step[j, i]
        rotate(turns[parent[j]], scratch[:3], -1.0, scratch[3:6])
        exponential(scratch[3:6], scratch[6:10])
        multiply(scratch[6:10], turned[j], trial[j])
    return largest


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def step_of(body: tuple, frame: tuple, turned: Array, now: tuple, part: float, work: tuple, trial: Array) -> float:
    """trial = turned after a damped step that stops at the limits; the multipliers are left in `side`."""
    parent, _, above, limited, rest = body
    goals, soft, above0, low, high = frame
    free, axes, vectors, may, matrix, side, back, step, arm, lever, scratch = work
    limits = (limited, rest, low, high)
    turning_axes(limits, above0, parent, now[0], axes, scratch)
    for j in range(parent.shape[0]):
        for i in range(3):
            free[j, i] = high[j, i] > low[j, i]
    largest = 0.0
    for _ in range(ROUNDS):
        allowed(limited, axes, free, may)
        equations(parent, above, goals, turned, now, may, part, (matrix, side, back, arm, lever, scratch))
        for k in range(goals.shape[0]):
            for a in range(3):
                for b in range(3 * k + 3):
                    matrix[3 * k + a, b] *= part
                matrix[3 * k + a, 3 * k + a] += soft[k]
        solve(matrix, side, side.size, LEAST)
        largest = turn_on(parent, above, turned, now, may, part, (side, back, step, scratch), trial)
        if not stopped(limits, axes, vectors, step, free):
            break
    return largest


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def pull_of(root: Array, points: Array, matrix: Array, side: Array, pull: Array, block: Array, column: Array) -> None:
    """How the points pull at the whole figure: pull (6,) = A^T W rho and block (6, 6) = A^T W A, over moves and turns.

    W is the inverse of J J^T + soft, of which `matrix` holds the factor L, and side = W rho.
    """
    count = points.shape[0]
    column[:] = 0.0
    for k in range(count):
        x, y, z = points[k, 0] - root[0], points[k, 1] - root[1], points[k, 2] - root[2]
        for i in range(3):
            column[3 * k + i, i] = 1.0
        column[3 * k, 4], column[3 * k, 5] = z, -y
        column[3 * k + 1, 3], column[3 * k + 1, 5] = -z, x
        column[3 * k + 2, 3], column[3 * k + 2, 4] = y, -x
    for c in range(6):
        total = 0.0
        for i in range(3 * count):
            total += column[i, c] * side[i]
        pull[c] = total
    for i in range(3 * count):  # L^-1 A
        for c in range(6):
            total = column[i, c]
            for m in range(i):
                total -= matrix[i, m] * column[m, c]
            column[i, c] = total / matrix[i, i]
    for a in range(6):
        for b in range(6):
            total = 0.0
            for i in range(3 * count):
                total += column[i, a] * column[i, b]
            block[a, b] = total


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def solve_frame(
    body: tuple, frame: tuple, iterations: int, turned: Array, shift: Array, pull: Array, block: Array, work: tuple
) -> float:
    """Turns (n, 4) of the joints under which points come nearest to goals, from those given; the cost of it."""
    parent, carrier, _, limited, rest = body
    places0, points0, goals, soft, above0, local0, low, high = frame
    turns, places, points, free, axes, vectors, may, matrix, side, back, step, arm, lever, scratch, trial, column = work
    limits = (limited, rest, low, high)
    start, now = (places0, points0), (turns, places, points)
    room = (free, axes, vectors, may, matrix, side, back, step, arm, lever, scratch)
    tied = (goals, soft, above0, low, high)
    bounded(limits, above0, local0, turned, vectors, scratch)
    forward(parent, start, carrier, turned, shift, now, scratch)
    best = cost(goals, points, turned, soft, scratch)
    damping = 0.0
    for _ in range(iterations):
        largest = step_of(body, tied, turned, now, 1.0 / (1.0 + damping), room, trial)
        bounded(limits, above0, local0, trial, vectors, scratch)
        forward(parent, start, carrier, trial, shift, now, scratch)
        found = cost(goals, points, trial, soft, scratch)
        if found <= best:
            done = best - found < GAIN * best
            turned[:], best = trial, found
            damping = 0.0 if damping < 0.1 else damping / 8.0
            if largest < SMALL or done:
                break
        else:
            bounded(limits, above0, local0, turned, vectors, scratch)
            forward(parent, start, carrier, turned, shift, now, scratch)
            damping = max(4.0 * damping, 0.5)
            if damping > 1e7:
                break
    step_of(body, tied, turned, now, 1.0, room, trial)
    pull_of(places[0], points, matrix, side, pull, block, column)
    return best


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def solve_frames(
    body: tuple, frames: tuple, iterations: int, turned: Array, shifts: Array, pulls: Array, blocks: Array, costs: Array
) -> None:
    """All frames: turned (F, n, 4) is moved on; pulls (F, 6), blocks (F, 6, 6) and costs (F,) are written."""
    places0, points0, goals, soft, above0, local0, low, high = frames
    n, count = body[0].shape[0], body[1].shape[0]
    work = (
        np.zeros((n, 4)),
        np.zeros((n, 3)),
        np.zeros((count, 3)),
        np.ones((n, 3), np.bool_),
        np.zeros((n, 3, 3)),
        np.zeros((n, 3)),
        np.zeros((n, 3, 3)),
        np.zeros((3 * count, 3 * count)),
        np.zeros(3 * count),
        np.zeros((n, 3)),
        np.zeros((n, 3)),
        np.zeros((count, 3, 3)),
        np.zeros((count, 3, 3)),
        np.zeros(16),
        np.zeros((n, 4)),
        np.zeros((3 * count, 6)),
    )
    for f in range(goals.shape[0]):
        frame = (places0[f], points0[f], goals[f], soft[f], above0[f], local0[f], low[f], high[f])
        costs[f] = solve_frame(body, frame, iterations, turned[f], shifts[f], pulls[f], blocks[f], work)
