"""The compiled loop of `leg_reach`: each frame for itself, from its own pose, in memory that stays in the cache."""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

YAW = 0.2  # beside the 1 of a leg's joint: how readily the whole figure turns
LONGEST = 0.5  # radians: no joint turns further in one step
SMALL = 1e-7  # radians: a step in which nothing turns further is the last
END = 1e-6  # radians from a limit at which a joint is at its end
ROUNDS = 4  # a step is taken again without the axes that it would turn beyond their ends
GAIN = 1e-9  # of the cost: so is one that gains less


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def multiply(a: Array, b: Array, out: Array) -> None:
    """out = a b, quaternions x, y, z, w; out may be neither."""
    out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1]
    out[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0]
    out[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3]
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def rotate(q: Array, v: Array, back: float, out: Array) -> None:
    """out = q v q*, or with back = -1 q* v q; out may not be v."""
    x, y, z, w = back * q[0], back * q[1], back * q[2], q[3]
    a, b, c = 2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])
    out[0] = v[0] + w * a + y * c - z * b
    out[1] = v[1] + w * b + z * a - x * c
    out[2] = v[2] + w * c + x * b - y * a


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def exponential(v: Array, out: Array) -> None:
    """The quaternion of a rotation vector."""
    a = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    s = 0.5 - a * a / 48.0 if a < 1e-4 else math.sin(0.5 * a) / a
    out[0], out[1], out[2], out[3] = s * v[0], s * v[1], s * v[2], math.cos(0.5 * a)


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def logarithm(q: Array, out: Array) -> None:
    """The rotation vector of a quaternion, the shorter way round."""
    sign = 1.0 if q[3] >= 0.0 else -1.0
    s = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    factor = 2.0 * sign if s < 1e-9 else sign * 2.0 * math.atan2(s, sign * q[3]) / s
    out[0], out[1], out[2] = factor * q[0], factor * q[1], factor * q[2]


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
def cholesky_solve(a: Array, b: Array) -> None:
    """Solve a x = b in place of both; a is symmetric and positive definite."""
    n = b.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for m in range(j):
                total -= a[i, m] * a[j, m]
            if i == j:
                a[i, i] = math.sqrt(max(total, 1e-300))
            else:
                a[i, j] = total / a[j, j]
    for i in range(n):
        total = b[i]
        for m in range(i):
            total -= a[i, m] * b[m]
        b[i] = total / a[i, i]
    for i in range(n - 1, -1, -1):
        total = b[i]
        for m in range(i + 1, n):
            total -= a[m, i] * b[m]
        b[i] = total / a[i, i]


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
            out[0, 1, 1] = YAW  # the whole figure turns about the vertical alone
            continue
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
def cost(goals: Array, points: Array, turned: Array, shift: Array, give: float, soft: float, scratch: Array) -> float:
    """|r|^2 / soft + |t|^2 + |s|^2 / give."""
    total = 0.0
    for k in range(goals.shape[0]):
        for i in range(3):
            total += (goals[k, i] - points[k, i]) ** 2
    total /= soft
    for j in range(turned.shape[0]):
        logarithm(turned[j], scratch)
        total += (scratch[0] ** 2 + scratch[1] ** 2 + scratch[2] ** 2) / (YAW if j == 0 else 1.0)
    return total + (shift[0] ** 2 + shift[1] ** 2 + shift[2] ** 2) / give


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def equations(
    parent: Array,
    above: Array,
    goals: Array,
    turned: Array,
    shift: Array,
    now: tuple,
    may: Array,
    part: float,
    work: tuple,
) -> None:
    """The matrix J J^T and the side r + part (J t + s) of a step, and `back` (n, 3): t, seen in the world."""
    turns, places, points = now
    matrix, side, back, arm, lever, scratch = work
    count = goals.shape[0]
    matrix[:, :] = 0.0
    for k in range(count):
        for i in range(3):
            side[3 * k + i] = goals[k, i] - points[k, i] + part * shift[i]
    for j in range(parent.shape[0]):
        logarithm(turned[j], scratch[:3])
        if parent[j] >= 0:
            rotate(turns[parent[j]], scratch[:3], 1.0, scratch[3:6])
        else:
            scratch[3:6] = scratch[:3]
        for i in range(3):
            back[j, i] = may[j, i, 0] * scratch[3] + may[j, i, 1] * scratch[4] + may[j, i, 2] * scratch[5]
        if j == 0:
            back[0, 1] = scratch[4]
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
    for j in range(parent.shape[0]):
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
    for j in range(parent.shape[0]):
        for i in range(3):
            scratch[i] = less * step[j, i]
        if parent[j] >= 0:
            rotate(turns[parent[j]], scratch[:3], -1.0, scratch[3:6])
        else:
            scratch[3:6] = scratch[:3]
        exponential(scratch[3:6], scratch[6:10])
        multiply(scratch[6:10], turned[j], trial[j])
    return largest


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def solve_frame(body: tuple, frame: tuple, settings: tuple, turned: Array, shift: Array, work: tuple) -> None:
    """Turns (n, 4) of the joints since the start, and the shift (3,) of the whole, under which points reach goals."""
    parent, carrier, above, limited, rest = body
    places0, points0, goals, above0, local0, low, high = frame
    iterations, give, soft = settings
    turns, places, points, free, axes, vectors, may, matrix, side, back, step, arm, lever, scratch, trial, moved = work
    limits = (limited, rest, low, high)
    start, now = (places0, points0), (turns, places, points)
    count = carrier.shape[0]
    turned[:, :3] = 0.0
    turned[:, 3] = 1.0
    shift[:] = 0.0
    bounded(limits, above0, local0, turned, vectors, scratch)
    forward(parent, start, carrier, turned, shift, now, scratch)
    best = cost(goals, points, turned, shift, give, soft, scratch)
    damping = 0.0
    for _ in range(iterations):
        part = 1.0 / (1.0 + damping)
        turning_axes(limits, above0, parent, turns, axes, scratch)
        for j in range(parent.shape[0]):
            for i in range(3):
                free[j, i] = high[j, i] > low[j, i]
        largest = 0.0
        for _ in range(ROUNDS):
            allowed(limited, axes, free, may)
            equations(parent, above, goals, turned, shift, now, may, part, (matrix, side, back, arm, lever, scratch))
            for k in range(count):
                for m in range(k + 1):
                    for a in range(3):
                        for b in range(3):
                            matrix[3 * k + a, 3 * m + b] *= part
                        matrix[3 * k + a, 3 * m + a] += give * part
                for a in range(3):
                    matrix[3 * k + a, 3 * k + a] += soft
            cholesky_solve(matrix, side)
            largest = turn_on(parent, above, turned, now, may, part, (side, back, step, scratch), trial)
            if not stopped(limits, axes, vectors, step, free):
                break
        for i in range(3):
            total = 0.0
            for k in range(count):
                total += side[3 * k + i]
            moved[i] = shift[i] + min(1.0, LONGEST / max(largest, 1e-300)) * part * (give * total - shift[i])
        bounded(limits, above0, local0, trial, vectors, scratch)
        forward(parent, start, carrier, trial, moved, now, scratch)
        found = cost(goals, points, trial, moved, give, soft, scratch)
        if found <= best:
            done = best - found < GAIN * best
            turned[:], shift[:], best = trial, moved, found
            damping = 0.0 if damping < 0.1 else damping / 8.0
            if largest < SMALL or done:
                break
        else:
            bounded(limits, above0, local0, turned, vectors, scratch)
            forward(parent, start, carrier, turned, shift, now, scratch)
            damping = max(4.0 * damping, 0.5)
            if damping > 1e7:
                break


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def solve_frames(body: tuple, frames: tuple, settings: tuple, turned: Array, shifts: Array) -> None:
    """All frames: turned (F, n, 4) and shifts (F, 3) are written."""
    places0, points0, goals, above0, local0, low, high = frames
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
        np.zeros(3),
    )
    for f in range(goals.shape[0]):
        frame = (places0[f], points0[f], goals[f], above0[f], local0[f], low[f], high[f])
        solve_frame(body, frame, settings, turned[f], shifts[f], work)
