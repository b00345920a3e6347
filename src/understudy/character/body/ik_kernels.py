"""Compiled loops of `ik`, and of the reach in `limbs`.

    reach_chain     one chain to one point
    solve_frames    markers to joints: one frame after the other

Each frame is solved in memory that stays in the cache.
"""

from __future__ import annotations

import math
from math import acos, atan2, cos, pi, sin, sqrt

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

SUM_FASTMATH_FLAGS = FASTMATH_FLAGS | {"reassoc"}

# Markers to joints. Damping is relative to the mean of the diagonal, one for all turns and one for all moves. In
# proportion to each freedom's own entry, as is also usual, a hand would swing too freely and the hips hardly move: 60
# steps were not enough where now 6 are.
FIRST_DAMPING, WARM_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-2, 1e-3, 1e-7, 1e6
MOVE_STIFFNESS_RATIO = 1e-3  # of the stiffness: a figure may be metres away from where the search starts
MIN_RESIDUAL_GAIN_RATIO = 1e-7  # of the sum of squares: a frame that gains less is done
SERIES_ANGLE_RAD = 1e-4  # below it (a - sin a) / a^3 loses its digits


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _turn(vector: Array, turn: Array) -> None:
    """turn (3, 3) = exp(vector), by Rodrigues."""
    angle = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])
    if angle < 1e-12:
        x, y, z, s, c = 0.0, 0.0, 0.0, 0.0, 1.0
    else:
        x, y, z = vector[0] / angle, vector[1] / angle, vector[2] / angle
        s, c = sin(angle), cos(angle)
    d = 1.0 - c
    turn[0, 0], turn[0, 1], turn[0, 2] = c + d * x * x, d * x * y - s * z, d * x * z + s * y
    turn[1, 0], turn[1, 1], turn[1, 2] = d * x * y + s * z, c + d * y * y, d * y * z - s * x
    turn[2, 0], turn[2, 1], turn[2, 2] = d * x * z - s * y, d * y * z + s * x, c + d * z * z


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _rotate_by_matrix(turn: Array, x: float, y: float, z: float, out: Array) -> None:
    for a in range(3):
        out[a] = turn[a, 0] * x + turn[a, 1] * y + turn[a, 2] * z


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _quaternion(m: Array, out: Array) -> None:
    """The unit quaternion of a rotation m (3, 3): the largest of four divisors."""
    a, b, c = m[0, 0], m[1, 1], m[2, 2]
    if a + b + c > 0.0:
        s = 2.0 * sqrt(1.0 + a + b + c)
        out[0], out[1], out[2], out[3] = (
            (m[2, 1] - m[1, 2]) / s,
            (m[0, 2] - m[2, 0]) / s,
            (m[1, 0] - m[0, 1]) / s,
            s / 4,
        )
    elif a >= b and a >= c:
        s = 2.0 * sqrt(1.0 + a - b - c)
        out[0], out[1], out[2], out[3] = (
            s / 4,
            (m[0, 1] + m[1, 0]) / s,
            (m[0, 2] + m[2, 0]) / s,
            (m[2, 1] - m[1, 2]) / s,
        )
    elif b >= c:
        s = 2.0 * sqrt(1.0 + b - a - c)
        out[0], out[1], out[2], out[3] = (
            (m[0, 1] + m[1, 0]) / s,
            s / 4,
            (m[1, 2] + m[2, 1]) / s,
            (m[0, 2] - m[2, 0]) / s,
        )
    else:
        s = 2.0 * sqrt(1.0 + c - a - b)
        out[0], out[1], out[2], out[3] = (
            (m[0, 2] + m[2, 0]) / s,
            (m[1, 2] + m[2, 1]) / s,
            s / 4,
            (m[1, 0] - m[0, 1]) / s,
        )


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _rotation(world: Array, out: Array) -> None:
    """out (3, 3): world (4, 4) without its position and scale."""
    for b in range(3):
        size = sqrt(world[0, b] ** 2 + world[1, b] ** 2 + world[2, b] ** 2)
        for a in range(3):
            out[a, b] = world[a, b] / size


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _distance(a: Array, b: Array) -> float:
    return sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _fade(value: float, limit: float) -> float:
    x = min(max(0.5 * (3.0 - value / limit), 0.0), 1.0) if limit > 0.0 else 0.0
    return x * x * (3.0 - 2.0 * x)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _bend(
    first: Array,
    joint: Array,
    tip: Array,
    axis: Array,
    aim: float,
    side: Array,
    low: float,
    high: float,
    flat: float,
    gentle: float,
) -> float:
    """The angle about an axis through `joint` that brings `tip` to a distance from `first`, within its room."""
    k0, k1, k2 = joint[0] - first[0], joint[1] - first[1], joint[2] - first[2]
    w0, w1, w2 = tip[0] - joint[0], tip[1] - joint[1], tip[2] - joint[2]
    a0, a1, a2 = axis[0], axis[1], axis[2]
    a = (k0 * a0 + k1 * a1 + k2 * a2) * (a0 * w0 + a1 * w1 + a2 * w2)
    b = k0 * w0 + k1 * w1 + k2 * w2 - a
    c = k0 * (a1 * w2 - a2 * w1) + k1 * (a2 * w0 - a0 * w2) + k2 * (a0 * w1 - a1 * w0)
    size = sqrt(b * b + c * c)
    if size <= flat:
        return 0.0
    lengths = k0 * k0 + k1 * k1 + k2 * k2 + w0 * w0 + w1 * w1 + w2 * w2
    ratio = (0.5 * (aim * aim - lengths) - a) / size
    straight, opens = atan2(c, b), acos(min(max(ratio, -1.0), 1.0))
    beyond = side[0] * straight
    wrong = 0.0
    if beyond > 0.0:
        may = _fade(beyond, side[1])
        wrong = _fade(opens, beyond) * (2.0 * may + (1.0 - may) * gentle / (beyond + gentle))
    angle = straight + side[0] * opens * (1.0 - wrong)
    angle -= 2.0 * pi * round(angle / (2.0 * pi))
    return min(max(angle, low), high)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def _turn_chain(frames: Array, places: Array, joint: int, vector: Array) -> None:
    """Turn a joint and all below it, in place; the first of `frames` (n + 1, 3, 3) is the parent's."""
    turn, old, moved = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    _turn(vector, turn)
    for i in range(joint, frames.shape[0] - 1):
        old[:] = frames[i + 1]
        for b in range(3):
            _rotate_by_matrix(turn, old[0, b], old[1, b], old[2, b], moved)
            frames[i + 1, 0, b], frames[i + 1, 1, b], frames[i + 1, 2, b] = moved[0], moved[1], moved[2]
        x, y, z = places[i + 1] - places[joint]
        _rotate_by_matrix(turn, x, y, z, moved)
        places[i + 1] = places[joint] + moved


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def reach_chain(
    parent: Array,
    chain: Array,
    tip: Array,
    goal: Array,
    hinges: Array,
    sides: Array,
    room: Array,
    rounds: int,
    limits: tuple[float, float, float, float],  # FLAT, GENTLE, STRAIGHT, ASKED
    turns: Array,
    reached: Array,
) -> None:
    """Fills `turns` (n, 4) and `reached` (3,)."""
    count = chain.shape[0]
    places, frames = np.empty((count + 1, 3)), np.empty((count + 1, 3, 3))
    axis, vector, turned, old = np.empty(3), np.empty(3), np.zeros(count), np.empty((3, 3))
    _rotation(parent, frames[0])
    for i in range(count):
        _rotation(chain[i], frames[i + 1])
        places[i] = chain[i, :3, 3]
    places[count] = tip
    length = 0.0
    for i in range(count):
        length += _distance(places[i], places[i + 1])
    flat, gentle, straight, asked = limits
    now, wanted = _distance(tip, places[0]), _distance(goal, places[0])
    little = asked * length * max(1.0 - (length - now) / (straight * length), 0.0)
    x = min(abs(wanted - now) / little, 1.0) if little > 0.0 else 1.0
    wanted = now + (wanted - now) * x * x * (3.0 - 2.0 * x)
    for number in range(rounds if count > 2 else 1):
        for joint in range(1, count):
            now = _distance(places[count], places[0])
            aim = now + (wanted - now) / (count - joint if number == 0 else 1)
            _rotate_by_matrix(frames[joint + 1], hinges[joint, 0], hinges[joint, 1], hinges[joint, 2], axis)
            low, high = room[joint, 0] - turned[joint], room[joint, 1] - turned[joint]
            tiny, side = flat * length**2, sides[joint]
            angle = _bend(places[0], places[joint], places[count], axis, aim, side, low, high, tiny, gentle)
            turned[joint] += angle
            vector[:] = angle * axis
            _turn_chain(frames, places, joint, vector)
    u0, u1, u2 = places[count] - places[0]
    v0, v1, v2 = goal[0] - places[0, 0], goal[1] - places[0, 1], goal[2] - places[0, 2]
    vector[0], vector[1], vector[2] = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    sine = sqrt((vector**2).sum())
    vector *= atan2(sine, u0 * v0 + u1 * v1 + u2 * v2) / max(sine, 1e-300)
    _turn_chain(frames, places, 0, vector)
    for i in range(count):
        for a in range(3):
            for b in range(3):
                old[a, b] = 0.0
                for c in range(3):
                    old[a, b] += frames[i, c, a] * frames[i + 1, c, b]
        _quaternion(old, turns[i])
    reached[:] = places[count]


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def exp_and_left_jacobian(v: Array, exponential: Array, jacobian: Array) -> None:
    """exp([v]) and the left Jacobian J(v), (3, 3) each, of a rotation vector v (3,)."""
    x, y, z = v[0], v[1], v[2]
    square = x * x + y * y + z * z
    a = math.sqrt(square)
    if a < SERIES_ANGLE_RAD:
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


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def product(a: Array, b: Array, out: Array) -> None:
    """out = a b, (3, 3) each."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def place_joints(body: tuple, turns: Array, moves: Array, world: tuple, scratch: Array) -> None:
    """World of the joints: of each the linear part, the pure rotation, the origin, and the axes of its turns."""
    parents, scales, base = body[0], body[1], body[2]
    linear, rotation, origin, axes = world
    exponential, jacobian, above, local = scratch[0], scratch[1], scratch[2], scratch[3]
    for j in range(parents.shape[0]):
        p = parents[j]
        exp_and_left_jacobian(turns[j], exponential, jacobian)
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


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
def marker_moments(body: tuple, world: tuple, points: Array, moments: Array) -> float:
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


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
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


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
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


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def gather_dofs(degrees: tuple, turns: Array, moves: Array, x: Array) -> None:
    """x (D,) the freedoms among the turns and moves (J, 3)."""
    joint, kind, axis = degrees[0], degrees[1], degrees[2]
    for d in range(joint.shape[0]):
        x[d] = moves[joint[d], axis[d]] if kind[d] == 0 else turns[joint[d], axis[d]]


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def scatter_dofs(degrees: tuple, x: Array, turns: Array, moves: Array) -> None:
    """The freedoms x (D,) put back among the turns and moves (J, 3)."""
    joint, kind, axis = degrees[0], degrees[1], degrees[2]
    for d in range(joint.shape[0]):
        if kind[d] == 0:
            moves[joint[d], axis[d]] = x[d]
        else:
            turns[joint[d], axis[d]] = x[d]


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
def hold_cost(x: Array, wanted: Array, hold: Array) -> float:
    """sum c (x - x0)^2."""
    total = 0.0
    for d in range(x.shape[0]):
        total += hold[d] * (x[d] - wanted[d]) * (x[d] - wanted[d])
    return total


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def choose_nearer_turns(turns: Array, wanted: Array) -> None:
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


@compile_kernel(nogil=True, fastmath=SUM_FASTMATH_FLAGS, error_model="numpy")
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


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def damp_equations(
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
    """Add the holds and the damping to the equations, and remove the freedoms that are stopped by their limits."""
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


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
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
    gather_dofs(degrees, turns, moves, x)
    place_joints(body, turns, moves, world, small)
    best = marker_moments(body, world, points, moments) + hold_cost(x, wanted, hold)
    damping, fresh, move, turn = first_damping, True, 0.0, 0.0
    for _ in range(settings[2]):
        if fresh:
            normal_equations(body, degrees, world, moments, screws, kept, slope)
            move, turn = mean_diagonals(degrees, kept)
        matrix[:, :] = kept
        damp_equations(degrees, x, wanted, hold, (damping * move, damping * turn), slope, matrix, step, stopped)
        found, largest = np.inf, np.inf
        if solve_chains(degrees[3], degrees[4], matrix, step):
            largest = 0.0
            for d in range(x.shape[0]):
                trial[d] = min(max(x[d] + step[d], low[d]), high[d])
                largest = max(largest, abs(trial[d] - x[d]))
            scatter_dofs(degrees, trial, turns, moves)
            place_joints(body, turns, moves, world, small)
            found = marker_moments(body, world, points, moments) + hold_cost(trial, wanted, hold)
        fresh = found <= best
        if fresh:
            x[:] = trial
            done = best - found <= MIN_RESIDUAL_GAIN_RATIO * best
            best = found
            damping = max(0.1 * damping, MIN_DAMPING)
        else:
            done = False
            damping = max(10.0 * damping, 1e-4)
        if done or largest < settings[1] or damping > MAX_DAMPING:
            break
    scatter_dofs(degrees, x, turns, moves)


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
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
        gather_dofs(degrees, first_turns[s], first_moves[s], wanted)
        turns[f], moves[f] = first_turns[s], first_moves[s]
        if f == 0:
            place_joints(body, turns[0], moves[0], world, scratch[1])
            marker_moments(body, world, points[0], moments)
            normal_equations(body, degrees, world, moments, screws, kept, slope)
            for d in range(count):
                little = MOVE_STIFFNESS_RATIO if degrees[1][d] == 0 else 1.0
                hold[d] = little * settings[0] * max(kept[d, degrees[3][d]], 1e-12)
        else:
            gather_dofs(degrees, turns[f - 1], moves[f - 1], x)
            scatter_dofs(degrees, x, turns[f], moves[f])
            choose_nearer_turns(turns[f], first_turns[s])
        damping = FIRST_DAMPING if f == 0 else WARM_DAMPING
        solve_frame(body, degrees, points[f], settings, damping, hold, wanted, turns[f], moves[f], scratch)
