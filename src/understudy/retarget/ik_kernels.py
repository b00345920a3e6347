"""The compiled loops of the inverse kinematics: one frame after the other, each in memory that stays in the cache."""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled

SUMS = FAST | {"reassoc"}
# Of the mean of the diagonal, alike for all turns and for all moves. In proportion to each freedom's own entry, as is
# also usual, a hand would swing as freely as the hips hardly do: 60 steps were not enough where now 6 are.
FIRST_DAMPING, WARM_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-2, 1e-3, 1e-7, 1e6
FREE_MOVES = 1e-3  # of the stiffness: a figure may be metres away from where the search starts
SMALL_GAIN = 1e-7  # of the sum of squares: less, and a frame is done
SERIES = 1e-4  # radians, below which (a - sin a) / a^3 loses its digits


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def turned(v: Array, exponential: Array, jacobian: Array) -> None:
    """exp([v]) and the left Jacobian J(v), (3, 3) each, of a rotation vector v (3,)."""
    x, y, z = v[0], v[1], v[2]
    square = x * x + y * y + z * z
    a = math.sqrt(square)
    if a < SERIES:
        first, second, third = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        half = math.sin(0.5 * a)
        first, second = math.sin(a) / a, 2.0 * half * half / square
        third = (1.0 - first) / square
    for i in range(3):
        for j in range(3):
            outer = v[i] * v[j]
            exponential[i, j] = second * outer
            jacobian[i, j] = third * outer
        exponential[i, i] += 1.0 - second * square
        jacobian[i, i] += 1.0 - third * square
    exponential[0, 1] -= first * z
    exponential[0, 2] += first * y
    exponential[1, 0] += first * z
    exponential[1, 2] -= first * x
    exponential[2, 0] -= first * y
    exponential[2, 1] += first * x
    jacobian[0, 1] -= second * z
    jacobian[0, 2] += second * y
    jacobian[1, 0] += second * z
    jacobian[1, 2] -= second * x
    jacobian[2, 0] -= second * y
    jacobian[2, 1] += second * x


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def product(a: Array, b: Array, out: Array) -> None:
    """out = a b, (3, 3) each."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def place(body: tuple, turns: Array, moves: Array, world: tuple, scratch: Array) -> None:
    """Where the joints are: of each the linear part, the pure rotation, the origin, and the axes of its turns."""
    parents, scales, base = body[0], body[1], body[2]
    linear, rotation, origin, axes = world
    exponential, jacobian, above, local = scratch[0], scratch[1], scratch[2], scratch[3]
    for j in range(parents.shape[0]):
        p = parents[j]
        turned(turns[j], exponential, jacobian)
        product(base[j], exponential, local)
        if p < 0:
            for i in range(3):
                origin[j, i] = moves[j, i]
                for k in range(3):
                    rotation[j, i, k] = local[i, k]
                    linear[j, i, k] = local[i, k] * scales[j, k]
                    above[i, k] = base[j, i, k]
        else:
            product(rotation[p], local, rotation[j])
            product(linear[p], local, linear[j])
            product(rotation[p], base[j], above)
            for i in range(3):
                origin[j, i] = origin[p, i]
                for k in range(3):
                    origin[j, i] += linear[p, i, k] * moves[j, k]
                    linear[j, i, k] *= scales[j, k]
        product(above, jacobian, axes[j])


@compiled(nogil=True, fastmath=SUMS, error_model="numpy")
def reach(body: tuple, world: tuple, points: Array, moments: Array) -> float:
    """sum w |r|^2 of the markers, and by joint the sums over its own markers and all below.

    moments (J, 16): w; w p (3); w p p^T (xx, yy, zz, xy, xz, yz); w p x r (3); w r (3).
    """
    parents, joints, offsets, weights = body[0], body[3], body[4], body[5]
    linear, origin = world[0], world[2]
    moments[:, :] = 0.0
    total = 0.0
    for q in range(joints.shape[0]):
        j, w = joints[q], weights[q]
        a, b, c = offsets[q, 0], offsets[q, 1], offsets[q, 2]
        x = origin[j, 0] + linear[j, 0, 0] * a + linear[j, 0, 1] * b + linear[j, 0, 2] * c
        y = origin[j, 1] + linear[j, 1, 0] * a + linear[j, 1, 1] * b + linear[j, 1, 2] * c
        z = origin[j, 2] + linear[j, 2, 0] * a + linear[j, 2, 1] * b + linear[j, 2, 2] * c
        rx, ry, rz = points[q, 0] - x, points[q, 1] - y, points[q, 2] - z
        total += w * (rx * rx + ry * ry + rz * rz)
        row = moments[j]
        row[0] += w
        row[1] += w * x
        row[2] += w * y
        row[3] += w * z
        row[4] += w * x * x
        row[5] += w * y * y
        row[6] += w * z * z
        row[7] += w * x * y
        row[8] += w * x * z
        row[9] += w * y * z
        row[10] += w * (y * rz - z * ry)
        row[11] += w * (z * rx - x * rz)
        row[12] += w * (x * ry - y * rx)
        row[13] += w * rx
        row[14] += w * ry
        row[15] += w * rz
    for j in range(parents.shape[0] - 1, -1, -1):
        if parents[j] >= 0:
            for i in range(16):
                moments[parents[j], i] += moments[j, i]
    return total


@compiled(nogil=True, fastmath=SUMS, error_model="numpy")
def normal_equations(
    body: tuple, degrees: tuple, world: tuple, moments: Array, screws: Array, matrix: Array, slope: Array
) -> None:
    """matrix[d, t] = H_de for the freedom e at depth t above d, slope[d] = sum w r . (how d moves the markers)."""
    parents = body[0]
    joint, kind, axis, depth, chain = degrees[0], degrees[1], degrees[2], degrees[3], degrees[4]
    linear, origin, axes = world[0], world[2], world[3]
    for d in range(joint.shape[0]):
        j = joint[d]
        m, s = moments[j], screws[d]
        w, mx, my, mz = m[0], m[1], m[2], m[3]
        if kind[d] == 0:
            if parents[j] < 0:
                s[3], s[4], s[5] = 0.0, 0.0, 0.0
                s[3 + axis[d]] = 1.0
            else:
                above = linear[parents[j]]
                s[3], s[4], s[5] = above[0, axis[d]], above[1, axis[d]], above[2, axis[d]]
            s[0], s[1], s[2] = 0.0, 0.0, 0.0
            fx, fy, fz = w * s[3], w * s[4], w * s[5]
            nx, ny, nz = my * s[5] - mz * s[4], mz * s[3] - mx * s[5], mx * s[4] - my * s[3]
        else:
            ux, uy, uz = axes[j, 0, axis[d]], axes[j, 1, axis[d]], axes[j, 2, axis[d]]
            ox, oy, oz = origin[j, 0], origin[j, 1], origin[j, 2]
            s[0], s[1], s[2] = ux, uy, uz
            s[3], s[4], s[5] = oy * uz - oz * uy, oz * ux - ox * uz, ox * uy - oy * ux
            ax, ay, az = mx - w * ox, my - w * oy, mz - w * oz
            fx, fy, fz = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
            along = m[4] + m[5] + m[6] - (mx * ox + my * oy + mz * oz)
            lift = mx * ux + my * uy + mz * uz
            nx = ux * along - (m[4] * ux + m[7] * uy + m[8] * uz) + ox * lift
            ny = uy * along - (m[7] * ux + m[5] * uy + m[9] * uz) + oy * lift
            nz = uz * along - (m[8] * ux + m[9] * uy + m[6] * uz) + oz * lift
        slope[d] = s[0] * m[10] + s[1] * m[11] + s[2] * m[12] + s[3] * m[13] + s[4] * m[14] + s[5] * m[15]
        row = matrix[d]
        for t in range(depth[d] + 1):
            e = screws[chain[d, t]]
            row[t] = e[0] * nx + e[1] * ny + e[2] * nz + e[3] * fx + e[4] * fy + e[5] * fz


@compiled(nogil=True, fastmath=SUMS, error_model="numpy")
def solve_chains(depth: Array, chain: Array, matrix: Array, right: Array) -> bool:
    """Solve H x = right in place, H in the form of `normal_equations`: H = L^T L from the leaves up, without fill-in.

    matrix becomes L; False where H is not positive definite.
    """
    count = depth.shape[0]
    for d in range(count - 1, -1, -1):
        row, deep = matrix[d], depth[d]
        if not row[deep] > 0.0:
            return False
        root = math.sqrt(row[deep])
        inverse = 1.0 / root
        row[deep] = root
        for t in range(deep):
            row[t] *= inverse
        for t in range(deep):
            above, factor = matrix[chain[d, t]], row[t]
            for s in range(t + 1):
                above[s] -= factor * row[s]
        right[d] *= inverse
        for t in range(deep):
            right[chain[d, t]] -= row[t] * right[d]
    for d in range(count):
        row, deep = matrix[d], depth[d]
        value = right[d]
        for t in range(deep):
            value -= row[t] * right[chain[d, t]]
        right[d] = value / row[deep]
    return True


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def gathered(degrees: tuple, turns: Array, moves: Array, x: Array) -> None:
    """x (D,) the freedoms among the turns and moves (J, 3)."""
    joint, kind, axis = degrees[0], degrees[1], degrees[2]
    for d in range(joint.shape[0]):
        x[d] = moves[joint[d], axis[d]] if kind[d] == 0 else turns[joint[d], axis[d]]


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def scattered(degrees: tuple, x: Array, turns: Array, moves: Array) -> None:
    """The freedoms x (D,) put back among the turns and moves (J, 3)."""
    joint, kind, axis = degrees[0], degrees[1], degrees[2]
    for d in range(joint.shape[0]):
        if kind[d] == 0:
            moves[joint[d], axis[d]] = x[d]
        else:
            turns[joint[d], axis[d]] = x[d]


@compiled(nogil=True, fastmath=SUMS, error_model="numpy")
def held(x: Array, wanted: Array, hold: Array) -> float:
    """sum c (x - x0)^2."""
    total = 0.0
    for d in range(x.shape[0]):
        total += hold[d] * (x[d] - wanted[d]) * (x[d] - wanted[d])
    return total


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def nearer(turns: Array, wanted: Array) -> None:
    """Of the two rotation vectors of each turn the one nearer to the wanted, in place."""
    for j in range(turns.shape[0]):
        a = math.sqrt(turns[j, 0] ** 2 + turns[j, 1] ** 2 + turns[j, 2] ** 2)
        if a > 0.5 * math.pi:
            here, there = 0.0, 0.0
            factor = 1.0 - 2.0 * math.pi / a
            for i in range(3):
                here += (turns[j, i] - wanted[j, i]) ** 2
                there += (factor * turns[j, i] - wanted[j, i]) ** 2
            if there < here:
                for i in range(3):
                    turns[j, i] *= factor


@compiled(nogil=True, fastmath=SUMS, error_model="numpy")
def mean_diagonals(degrees: tuple, matrix: Array) -> tuple[float, float]:
    """The mean entries of the diagonal: that of the moves, and that of the turns."""
    kind, depth = degrees[1], degrees[3]
    move, turn, moves, turns = 0.0, 0.0, 0, 0
    for d in range(kind.shape[0]):
        if kind[d] == 0:
            move += matrix[d, depth[d]]
            moves += 1
        else:
            turn += matrix[d, depth[d]]
            turns += 1
    return move / max(moves, 1), turn / max(turns, 1)


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def damped(
    degrees: tuple,
    x: Array,
    wanted: Array,
    hold: Array,
    damping: tuple[float, float],
    slope: Array,
    matrix: Array,
    step: Array,
    stopped: Array,
) -> None:
    """Add the holds and the damping to the equations, and take out the freedoms that are stopped by their limits."""
    kind, depth, chain, low, high = degrees[1], degrees[3], degrees[4], degrees[5], degrees[6]
    for d in range(x.shape[0]):
        push = slope[d] - hold[d] * (x[d] - wanted[d])
        stopped[d] = (x[d] <= low[d] and push <= 0.0) or (x[d] >= high[d] and push >= 0.0)
        row, deep = matrix[d], depth[d]
        if stopped[d]:
            step[d] = 0.0
            row[: deep + 1] = 0.0
            row[deep] = 1.0
            continue
        step[d] = push
        row[deep] += hold[d] + (damping[0] if kind[d] == 0 else damping[1])
        for t in range(deep):
            if stopped[chain[d, t]]:
                row[t] = 0.0


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def solve_frame(
    body: tuple,
    degrees: tuple,
    points: Array,
    settings: tuple,
    first_damping: float,
    hold: Array,
    wanted: Array,
    turns: Array,
    moves: Array,
    scratch: tuple,
) -> None:
    """One frame from where turns and moves (J, 3) are to where they fit best, in place."""
    world, small, moments, screws, matrix, kept, slope, step, x, trial, stopped = scratch
    low, high = degrees[5], degrees[6]
    gathered(degrees, turns, moves, x)
    place(body, turns, moves, world, small)
    best = reach(body, world, points, moments) + held(x, wanted, hold)
    damping, fresh, move, turn = first_damping, True, 0.0, 0.0
    for _ in range(settings[2]):
        if fresh:
            normal_equations(body, degrees, world, moments, screws, kept, slope)
            move, turn = mean_diagonals(degrees, kept)
        matrix[:, :] = kept
        damped(degrees, x, wanted, hold, (damping * move, damping * turn), slope, matrix, step, stopped)
        found, largest = np.inf, np.inf
        if solve_chains(degrees[3], degrees[4], matrix, step):
            largest = 0.0
            for d in range(x.shape[0]):
                trial[d] = min(max(x[d] + step[d], low[d]), high[d])
                largest = max(largest, abs(trial[d] - x[d]))
            scattered(degrees, trial, turns, moves)
            place(body, turns, moves, world, small)
            found = reach(body, world, points, moments) + held(trial, wanted, hold)
        fresh = found <= best
        if fresh:
            x[:] = trial
            done = best - found <= SMALL_GAIN * best
            best = found
            damping = max(0.1 * damping, LEAST_DAMPING)
        else:
            done = False
            damping = max(10.0 * damping, 1e-4)
        if done or largest < settings[1] or damping > MOST_DAMPING:
            break
    scattered(degrees, x, turns, moves)


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def solve_frames(body: tuple, degrees: tuple, motion: tuple, settings: tuple, turns: Array, moves: Array) -> None:
    """All frames, each from the solution of the one before; turns and moves (F, J, 3) are written."""
    first_turns, first_moves, points = motion
    joints, count, width = body[0].shape[0], degrees[0].shape[0], degrees[4].shape[1]
    linear, rotation, axes = np.zeros((joints, 3, 3)), np.zeros((joints, 3, 3)), np.zeros((joints, 3, 3))
    world = (linear, rotation, np.zeros((joints, 3)), axes)
    moments, screws, slope = np.zeros((joints, 16)), np.zeros((count, 6)), np.zeros(count)
    matrix, kept = np.zeros((count, width)), np.zeros((count, width))
    x, trial, step, wanted, hold = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    stopped = np.zeros(count, np.bool_)
    scratch = (world, np.zeros((4, 3, 3)), moments, screws, matrix, kept, slope, step, x, trial, stopped)
    for f in range(points.shape[0]):
        s = min(f, first_turns.shape[0] - 1)
        gathered(degrees, first_turns[s], first_moves[s], wanted)
        turns[f], moves[f] = first_turns[s], first_moves[s]
        if f == 0:
            place(body, turns[0], moves[0], world, scratch[1])
            reach(body, world, points[0], moments)
            normal_equations(body, degrees, world, moments, screws, kept, slope)
            for d in range(count):
                little = FREE_MOVES if degrees[1][d] == 0 else 1.0
                hold[d] = little * settings[0] * max(kept[d, degrees[3][d]], 1e-12)
        else:
            gathered(degrees, turns[f - 1], moves[f - 1], x)
            scattered(degrees, x, turns[f], moves[f])
            nearer(turns[f], first_turns[s])
        damping = FIRST_DAMPING if f == 0 else WARM_DAMPING
        solve_frame(body, degrees, points[f], settings, damping, hold, wanted, turns[f], moves[f], scratch)
