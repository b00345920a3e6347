"""Compiled parts of `spacetime`: kinematics of the reduced tree, the sum of all residuals, the contact wrench cone.

Letters as in `spacetime`: F frames, A bodies, n unknowns of a frame, K contact points, M mass points, S skin points.
Lengths are over the height of the figure. The normal equations are kept as the lower bands of their matrix, a row of
3 n numbers for each unknown: `bands[t n + b, k]` belongs to unknown b of frame t and to the unknown k further down.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

FAST_FLAGS = FASTMATH_FLAGS | {"reassoc"}
SMALL_ANGLE_RAD = 1e-4
CONE_EDGES = 4  # edges of the friction pyramid of a contact point


class Tree(NamedTuple):
    """The posed bodies: where they are, and which unknowns move them."""

    places: Array  # (F, A, 3)
    chain: Array  # (A, n) the unknowns that move a body, ascending
    length: Array  # (A,) how many
    owner: Array  # (n,) the body that an unknown turns
    axes: Array  # (F, n, 3) in the world


class MassSlopes(NamedTuple):
    """Derivatives (F, 3, n) of the centre of mass, of the spin to the next frame, and of that from the last."""

    by_centre: Array
    by_next: Array
    by_last: Array


class Equations(NamedTuple):
    """The normal equations; without `derive` nothing is added to them."""

    bands: Array  # (F n, 3 n)
    slope: Array  # (F n,)
    derive: bool


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def rotation_of(v: Array, turn: Array, jacobian: Array) -> None:
    """exp([v]) into `turn` (3, 3) and the right Jacobian of v (3,) into `jacobian` (3, 3)."""
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    angle = math.sqrt(square)
    if angle < SMALL_ANGLE_RAD:
        a, b, c = 1.0 - square / 6, 0.5 - square / 24, 1.0 / 6 - square / 120
    else:
        a, b = math.sin(angle) / angle, (1 - math.cos(angle)) / square
        c = (1 - a) / square
    for i in range(3):
        for j in range(3):
            outer = v[i] * v[j]
            same = 1.0 if i == j else 0.0
            turn[i, j] = same * (1 - b * square) + b * outer
            jacobian[i, j] = same * (1 - c * square) + c * outer
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3  # [v]_kj = v_i, [v]_jk = -v_i
        turn[k, j] += a * v[i]
        turn[j, k] -= a * v[i]
        jacobian[k, j] -= b * v[i]
        jacobian[j, k] += b * v[i]


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def log_and_inverse_jacobian(turn: Array, v: Array, inverse: Array) -> None:
    """The rotation vector of `turn` (3, 3) into v (3,), and the inverse of its left Jacobian (3, 3)."""
    x, y, z = turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (turn[0, 0] + turn[1, 1] + turn[2, 2] - 1)
    angle = math.atan2(sine, cosine)
    factor = 0.5 if sine < 1e-9 else 0.5 * angle / sine
    v[0], v[1], v[2] = factor * x, factor * y, factor * z
    square = angle * angle
    if angle < SMALL_ANGLE_RAD:
        c = 1.0 / 12
    else:
        c = (1 - 0.5 * angle * math.sin(angle) / max(1 - math.cos(angle), 1e-12)) / square
    for i in range(3):
        for j in range(3):
            inverse[i, j] = (1 - c * square if i == j else 0.0) + c * v[i] * v[j]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        inverse[k, j] -= 0.5 * v[i]
        inverse[j, k] += 0.5 * v[i]


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def pose_bodies(
    d: Array,
    parent: Array,
    first: Array,
    local_axes: Array,
    relative_turn: Array,
    relative_place: Array,
    turns: Array,
    places: Array,
    axes: Array,
) -> None:
    """World rotations (F, A, 3, 3), places (F, A, 3) and axes (F, n, 3) of the bodies for the unknowns d (F, n)."""
    v, turn, jacobian = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    between = np.empty((3, 3))
    for t in range(len(d)):
        for a in range(len(parent)):
            for x in range(3):
                v[x] = 0.0
                for i in range(first[a], first[a + 1]):
                    v[x] += local_axes[i, x] * d[t, i]
            rotation_of(v, turn, jacobian)
            above = parent[a]
            for x in range(3):
                places[t, a, x] = relative_place[t, a, x]
                if above < 0:
                    places[t, a, x] += d[t, x]
                for y in range(3):
                    between[x, y] = relative_turn[t, a, x, y]
            if above >= 0:
                for x in range(3):
                    total = places[t, above, x]
                    for y in range(3):
                        total += turns[t, above, x, y] * relative_place[t, a, y]
                        s = 0.0
                        for z in range(3):
                            s += turns[t, above, x, z] * relative_turn[t, a, z, y]
                        between[x, y] = s
                    places[t, a, x] = total
            for x in range(3):
                for y in range(3):
                    s = 0.0
                    for z in range(3):
                        s += between[x, z] * turn[z, y]
                    turns[t, a, x, y] = s
            for i in range(first[a], first[a + 1]):
                for x in range(3):
                    s = 0.0
                    for y in range(3):
                        w = 0.0
                        for z in range(3):
                            w += jacobian[y, z] * local_axes[i, z]
                        s += turns[t, a, x, y] * w
                    axes[t, i, x] = s


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def place_points(turns: Array, places: Array, body: Array, offset: Array, points: Array) -> None:
    """World places (F, P, 3) of points that ride on bodies (P,) at offsets (F, P, 3)."""
    for t in range(len(turns)):
        for k in range(len(body)):
            a = body[k]
            for x in range(3):
                points[t, k, x] = places[t, a, x] + (
                    turns[t, a, x, 0] * offset[t, k, 0]
                    + turns[t, a, x, 1] * offset[t, k, 1]
                    + turns[t, a, x, 2] * offset[t, k, 2]
                )


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_row(bands: Array, slope: Array, columns: Array, values: Array, count: int, weight: float, r: float) -> None:
    """Add weight r^2 of one residual to the normal equations; `columns` ascend, `values` are its derivatives."""
    for i in range(count):
        c, v = columns[i], weight * values[i]
        slope[c] += v * r
        for j in range(i, count):
            bands[c, columns[j] - c] += v * values[j]


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_window(bands: Array, slope: Array, start: int, rows: Array, weights: Array, r: Array, width: int) -> None:
    """Add dense residuals r (R,) with derivatives `rows` (R, width) by the unknowns from `start` on."""
    for k in range(len(r)):
        if weights[k] == 0.0:
            continue
        row = rows[k]
        for b in range(width):
            v = weights[k] * row[b]
            if v == 0.0:
                continue
            slope[start + b] += v * r[k]
            band = bands[start + b]
            for j in range(width - b):
                band[j] += v * row[b + j]


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def mass_derivatives(
    points: Array,
    body: Array,
    share: Array,
    parent: Array,
    first: Array,
    axes: Array,
    places: Array,
    centres: Array,
    by_centre: Array,
    by_next: Array,
    by_last: Array,
    rate: float,
) -> None:
    """Derivatives by the unknowns of a frame: of the centre of mass, of the spin to the next frame and from the last.

    The spin between two frames is rate (sum m x_t x x_t+1 - c_t x c_t+1), so its derivative by x_t is
    -rate m (x_t+1 - c_t+1) x, and by x_t+1 it is rate m (x_t - c_t) x. Sums over all that hangs on a body are
    accumulated from the ends of the tree.
    """
    frames, count = len(points), len(parent)
    mass, moment = np.zeros(count), np.zeros((count, 3))
    arms, crossed = np.zeros((2, count, 3)), np.zeros((2, count, 3, 3))
    offset, product = np.empty(3), np.empty((3, 3))
    for t in range(frames):
        mass[:] = 0.0
        moment[:] = 0.0
        arms[:] = 0.0
        crossed[:] = 0.0
        for k in range(len(body)):
            a, m = body[k], share[k]
            mass[a] += m
            for x in range(3):
                moment[a, x] += m * points[t, k, x]
            for side in range(2):
                other = t + 1 if side == 0 else t - 1
                if other < 0 or other >= frames:
                    continue
                for x in range(3):
                    arm = m * (points[other, k, x] - centres[other, x])
                    arms[side, a, x] += arm
                    for y in range(3):
                        crossed[side, a, x, y] += arm * points[t, k, y]
        for a in range(count - 1, 0, -1):
            p = parent[a]
            mass[p] += mass[a]
            for x in range(3):
                moment[p, x] += moment[a, x]
                for side in range(2):
                    arms[side, p, x] += arms[side, a, x]
                    for y in range(3):
                        crossed[side, p, x, y] += crossed[side, a, x, y]
        by_centre[t] = 0.0
        by_next[t] = 0.0
        by_last[t] = 0.0
        for x in range(3):
            by_centre[t, x, x] = 1.0
        for a in range(count):
            for x in range(3):
                offset[x] = moment[a, x] - mass[a] * places[t, a, x]
            for i in range(first[a], first[a + 1]):
                ux, uy, uz = axes[t, i, 0], axes[t, i, 1], axes[t, i, 2]
                by_centre[t, 0, i] = uy * offset[2] - uz * offset[1]
                by_centre[t, 1, i] = uz * offset[0] - ux * offset[2]
                by_centre[t, 2, i] = ux * offset[1] - uy * offset[0]
            for side in range(2):
                for x in range(3):
                    for y in range(3):
                        product[x, y] = crossed[side, a, x, y] - arms[side, a, x] * places[t, a, y]
                trace = product[0, 0] + product[1, 1] + product[2, 2]
                factor = -rate if side == 0 else rate
                for i in range(first[a], first[a + 1]):
                    for x in range(3):
                        value = trace * axes[t, i, x]
                        for y in range(3):
                            value -= product[y, x] * axes[t, i, y]
                        if side == 0:
                            by_next[t, x, i] = factor * value
                        else:
                            by_last[t, x, i] = factor * value


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def nearest_in_cone(edges: Array, count: int, wanted: Array, x: Array) -> None:
    """The x >= 0 (C,) of which edges[:, :count] x is nearest to `wanted` (6,) [Lawson and Hanson 1974, 23.10]."""
    passive = np.zeros(count, np.bool_)
    x[:count] = 0.0
    residual = wanted.copy()
    gram, answer, picked = np.empty((6, 6)), np.empty(6), np.empty(6, np.int64)
    size = 0.0
    for j in range(6):
        size += wanted[j] * wanted[j]
    tolerance = 1e-10 * (1.0 + math.sqrt(size))
    for _ in range(3 * count):
        best, most = -1, tolerance
        used = 0
        for c in range(count):
            if passive[c]:
                used += 1
                continue
            slope = 0.0
            for j in range(6):
                slope += edges[j, c] * residual[j]
            if slope > most:
                best, most = c, slope
        if best < 0 or used >= 6:
            break
        passive[best] = True
        while True:
            m = 0
            for c in range(count):
                if passive[c]:
                    picked[m] = c
                    m += 1
            if m == 0:
                break
            for i in range(m):  # Cholesky of the passive columns, with a trace of a ridge
                for k in range(i + 1):
                    s = 0.0
                    for j in range(6):
                        s += edges[j, picked[i]] * edges[j, picked[k]]
                    if i == k:
                        s *= 1 + 1e-10
                    for q in range(k):
                        s -= gram[i, q] * gram[k, q]
                    gram[i, k] = math.sqrt(max(s, 1e-14)) if i == k else s / gram[k, k]
                s = 0.0
                for j in range(6):
                    s += edges[j, picked[i]] * wanted[j]
                for q in range(i):
                    s -= gram[i, q] * answer[q]
                answer[i] = s / gram[i, i]
            for i in range(m - 1, -1, -1):
                s = answer[i]
                for q in range(i + 1, m):
                    s -= gram[q, i] * answer[q]
                answer[i] = s / gram[i, i]
            share = 1.0
            for i in range(m):
                if answer[i] <= 0:
                    share = min(share, x[picked[i]] / max(x[picked[i]] - answer[i], 1e-300))
            done = share >= 1.0
            for i in range(m):
                c = picked[i]
                x[c] += share * (answer[i] - x[c])
                if not done and answer[i] <= 0 and x[c] <= 1e-12:
                    x[c] = 0.0
                    passive[c] = False
            if done:
                break
        for j in range(6):
            residual[j] = wanted[j]
            for c in range(count):
                if passive[c]:
                    residual[j] -= edges[j, c] * x[c]


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
def floor_wrench(
    needed: Array, points: Array, centre: Array, down: Array, friction: float, scale: Array, given: Array, forces: Array
) -> None:
    """The wrench nearest to `needed` (6,) that the points (K, 3) that are down can give, and their forces (K, 3).

    Moments are about the centre of mass (3,); `scale` (6,) weighs force and moment.
    """
    count = 0
    for k in range(len(down)):
        if down[k]:
            count += CONE_EDGES
    given[:] = 0.0
    forces[:] = 0.0
    if count == 0:
        return
    edges, x, wanted = np.empty((6, count)), np.empty(count), scale * needed
    c = 0
    for k in range(len(down)):
        if not down[k]:
            continue
        ax, ay, az = points[k, 0] - centre[0], points[k, 1] - centre[1], points[k, 2] - centre[2]
        for e in range(CONE_EDGES):
            fx = friction if e == 0 else (-friction if e == 1 else 0.0)
            fz = friction if e == 2 else (-friction if e == 3 else 0.0)
            edges[0, c], edges[1, c], edges[2, c] = scale[0] * fx, scale[1], scale[2] * fz
            edges[3, c] = scale[3] * (ay * fz - az)
            edges[4, c] = scale[4] * (az * fx - ax * fz)
            edges[5, c] = scale[5] * (ax - ay * fx)
            c += 1
    nearest_in_cone(edges, count, wanted, x)
    for j in range(6):
        for c in range(count):
            given[j] += edges[j, c] * x[c] / scale[j]
    c = 0
    for k in range(len(down)):
        if down[k]:
            forces[k, 0] = friction * (x[c] - x[c + 1])
            forces[k, 1] = x[c] + x[c + 1] + x[c + 2] + x[c + 3]
            forces[k, 2] = friction * (x[c + 2] - x[c + 3])
            c += CONE_EDGES


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def point_derivatives(point: Array, a: int, t: int, start: int, tree: Tree, columns: Array, values: Array) -> None:
    """Columns and derivatives (3, length) of a point (3,) on body `a` in frame t, by the unknowns of its chain."""
    chain, owner, axes, places = tree.chain, tree.owner, tree.axes[t], tree.places[t]
    for i in range(tree.length[a]):
        c = chain[a, i]
        columns[i] = start + c
        if c < 3:
            for x in range(3):
                values[x, i] = 1.0 if x == c else 0.0
            continue
        o = owner[c]
        rx, ry, rz = point[0] - places[o, 0], point[1] - places[o, 1], point[2] - places[o, 2]
        ux, uy, uz = axes[c, 0], axes[c, 1], axes[c, 2]
        values[0, i] = uy * rz - uz * ry
        values[1, i] = uz * rx - ux * rz
        values[2, i] = ux * ry - uy * rx


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_changes(
    d: Array,
    prior: Array,
    smooth: Array,
    low: Array,
    high: Array,
    limit: float,
    equations: Equations,
) -> Array:
    """Costs of the change d (F, n) itself, of its second difference, and of angles beyond low and high (F, n)."""
    bands, slope, derive = equations
    frames, n = d.shape
    costs = np.zeros(3)
    for t in range(frames):
        for i in range(n):
            q = t * n + i
            costs[0] += prior[i] * d[t, i] * d[t, i]
            beyond = min(d[t, i] - low[t, i], 0.0) + max(d[t, i] - high[t, i], 0.0)
            costs[2] += limit * beyond * beyond
            if derive:
                bands[q, 0] += prior[i]
                slope[q] += prior[i] * d[t, i]
                if beyond != 0.0:
                    bands[q, 0] += limit
                    slope[q] += limit * beyond
            if 0 < t < frames - 1:
                second = d[t - 1, i] - 2 * d[t, i] + d[t + 1, i]
                costs[1] += smooth[i] * second * second
                if derive:
                    s = smooth[i]
                    bands[q - n, 0] += s
                    bands[q, 0] += 4 * s
                    bands[q + n, 0] += s
                    bands[q - n, n] -= 2 * s
                    bands[q, n] -= 2 * s
                    bands[q - n, 2 * n] += s
                    slope[q - n] += s * second
                    slope[q] -= 2 * s * second
                    slope[q + n] += s * second
    return costs


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_orientations(
    turns: Array,
    wanted: Array,
    weights: Array,
    tree: Tree,
    equations: Equations,
) -> float:
    """Cost of log(R R^_T), the world orientation of each body beside that of the reference, weights (F, A)."""
    bands, slope, derive = equations
    chain, length, axes = tree.chain, tree.length, tree.axes
    frames, count = weights.shape
    n = axes.shape[1]
    between, v, inverse = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    columns, values = np.empty(n, np.int64), np.empty((3, n))
    cost = 0.0
    for t in range(frames):
        for a in range(count):
            for x in range(3):
                for y in range(3):
                    s = 0.0
                    for z in range(3):
                        s += turns[t, a, x, z] * wanted[t, a, y, z]
                    between[x, y] = s
            log_and_inverse_jacobian(between, v, inverse)
            cost += weights[t, a] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
            if not derive:
                continue
            m = 0
            for i in range(3, length[a]):  # shifts turn nothing
                c = chain[a, i]
                columns[m] = t * n + c
                for x in range(3):
                    s = 0.0
                    for y in range(3):
                        s += inverse[x, y] * axes[t, c, y]
                    values[x, m] = s
                m += 1
            for x in range(3):
                add_row(bands, slope, columns, values[x], m, weights[t, a], v[x])
    return cost


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_heights(
    points: Array,
    body: Array,
    lying: Array,
    above: float,
    tree: Tree,
    equations: Equations,
) -> float:
    """Cost of heights: weight `lying` (F, P) where a point lies on the floor, `above` of every other that is below."""
    bands, slope, derive = equations
    n = tree.axes.shape[1]
    columns, values = np.empty(n, np.int64), np.empty((3, n))
    cost = 0.0
    for t in range(len(points)):
        for k in range(len(body)):
            y = points[t, k, 1]
            weight = lying[t, k]
            if weight == 0.0:
                if y >= 0.0:
                    continue
                weight = above
            elif y < 0.0:
                weight = max(weight, above)
            cost += weight * y * y
            if derive:
                a = body[k]
                point_derivatives(points[t, k], a, t, t * n, tree, columns, values)
                add_row(bands, slope, columns, values[1], tree.length[a], weight, y)
    return cost


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_slides(
    points: Array,
    body: Array,
    pinned: Array,
    near: float,
    rubbing: float,
    tree: Tree,
    equations: Equations,
) -> float:
    """Cost of steps along the floor: weight `pinned` (F - 1, K) while down; else `rubbing` times how near the floor is.

    A point that is not down and lower than `near` is weighed by p(y) = (1 - y / near)^2: it stops or it rises.
    """
    bands, slope, derive = equations
    n = tree.axes.shape[1]
    columns, values = np.empty(2 * n, np.int64), np.empty((3, 2 * n))
    row, later = np.empty(2 * n), np.empty((3, n))
    cost = 0.0
    for t in range(len(points) - 1):
        for k in range(len(body)):
            weight, p, rate = pinned[t, k], 1.0, 0.0
            y = 0.5 * (points[t, k, 1] + points[t + 1, k, 1])
            if y < near and weight < rubbing:
                q = min(max(1 - y / near, 0.0), 1.0)
                if weight < rubbing * q * q * q * q:
                    weight, p = rubbing, q * q
                    rate = -2 * q / near if q < 1.0 else 0.0
            if weight == 0.0:
                continue
            a = body[k]
            m = tree.length[a]
            if derive:
                point_derivatives(points[t, k], a, t, t * n, tree, columns, values)
                point_derivatives(points[t + 1, k], a, t + 1, (t + 1) * n, tree, columns[m:], later)
            for x in (0, 2):
                step = points[t + 1, k, x] - points[t, k, x]
                cost += weight * p * p * step * step
                if derive:
                    for i in range(m):
                        row[i] = -p * values[x, i] + 0.5 * rate * step * values[1, i]
                        row[m + i] = p * later[x, i] + 0.5 * rate * step * later[1, i]
                    add_row(bands, slope, columns, row, 2 * m, weight, p * step)
    return cost


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def centres_and_spins(points: Array, share: Array, rate: float, centres: Array, spins: Array) -> None:
    """Centre of mass (F, 3) and spin between frames (F - 1, 3) of mass points (F, M, 3), for a whole mass of one."""
    for t in range(len(points)):
        for x in range(3):
            s = 0.0
            for k in range(len(share)):
                s += share[k] * points[t, k, x]
            centres[t, x] = s
    for t in range(len(points) - 1):
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            s = centres[t, z] * centres[t + 1, y] - centres[t, y] * centres[t + 1, z]
            for k in range(len(share)):
                s += share[k] * (points[t, k, y] * points[t + 1, k, z] - points[t, k, z] * points[t + 1, k, y])
            spins[t, x] = rate * s


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_momenta(
    centres: Array,
    spins: Array,
    velocity: Array,
    velocity_weight: Array,
    spin: Array,
    spin_weight: Array,
    acceleration: Array,
    acceleration_weight: Array,
    slopes: MassSlopes,
    rate: float,
    equations: Equations,
) -> Array:
    """Costs of the velocity of the centre of mass, of the spin (both F - 1, 3, between frames), and of acceleration."""
    bands, slope, derive = equations
    by_centre, by_next, by_last = slopes
    frames, n = len(centres), by_centre.shape[2]
    rows, r, weights = np.zeros((6, 2 * n)), np.empty(6), np.empty(6)
    wide, far, heavy = np.zeros((3, 3 * n)), np.empty(3), np.empty(3)
    costs = np.zeros(3)
    for t in range(frames - 1):
        for x in range(3):
            r[x] = (centres[t + 1, x] - centres[t, x]) * rate - velocity[t, x]
            r[3 + x] = spins[t, x] - spin[t, x]
            weights[x], weights[3 + x] = velocity_weight[t, x], spin_weight[t, x]
            costs[0] += weights[x] * r[x] * r[x]
            costs[1] += weights[3 + x] * r[3 + x] * r[3 + x]
        if derive:
            for x in range(3):
                for i in range(n):
                    rows[x, i], rows[x, n + i] = -rate * by_centre[t, x, i], rate * by_centre[t + 1, x, i]
                    rows[3 + x, i], rows[3 + x, n + i] = by_next[t, x, i], by_last[t + 1, x, i]
            add_window(bands, slope, t * n, rows, weights, r, 2 * n)
    square = rate * rate
    for t in range(1, frames - 1):
        for x in range(3):
            far[x] = (centres[t - 1, x] - 2 * centres[t, x] + centres[t + 1, x]) * square - acceleration[t, x]
            heavy[x] = acceleration_weight[t, x]
            costs[2] += heavy[x] * far[x] * far[x]
        if derive:
            for x in range(3):
                for i in range(n):
                    wide[x, i] = square * by_centre[t - 1, x, i]
                    wide[x, n + i] = -2 * square * by_centre[t, x, i]
                    wide[x, 2 * n + i] = square * by_centre[t + 1, x, i]
            add_window(bands, slope, (t - 1) * n, wide, heavy, far, 3 * n)
    return costs


@compile_kernel(nogil=True, fastmath=FAST_FLAGS, error_model="numpy")
def add_wrenches(
    centres: Array,
    spins: Array,
    points: Array,
    body: Array,
    down: Array,
    known: Array,
    gravity: Array,
    friction: float,
    weight: Array,
    slopes: MassSlopes,
    tree: Tree,
    rate: float,
    missing: Array,
    equations: Equations,
) -> float:
    """Cost of the wrench that the motion needs and no friction cone of a point that is down can give.

    Frames that are not `known` (F,), with a support that no contact point tells of, are left out.

    `weight` (6,); `missing` (F, 6) becomes the residual. The forces found are held while the equations are built: by
    the envelope theorem that is the exact gradient.
    """
    bands, slope, derive = equations
    by_centre, by_next, by_last = slopes
    frames, n = len(centres), by_centre.shape[2]
    rows, needed, given, r = np.zeros((6, 3 * n)), np.empty(6), np.empty(6), np.empty(6)
    forces, scale = np.empty((len(body), 3)), np.sqrt(weight)
    columns, values = np.empty(n, np.int64), np.empty((3, n))
    square, cost = rate * rate, 0.0
    for t in range(1, frames - 1):
        if not known[t]:
            continue
        for x in range(3):
            needed[x] = (centres[t - 1, x] - 2 * centres[t, x] + centres[t + 1, x]) * square
            needed[3 + x] = (spins[t, x] - spins[t - 1, x]) * rate
        needed[1] += gravity[t]
        floor_wrench(needed, points[t], centres[t], down[t], friction, scale, given, forces)
        for x in range(6):
            r[x] = needed[x] - given[x]
            missing[t, x] = r[x]
            cost += weight[x] * r[x] * r[x]
        if not derive:
            continue
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            for i in range(n):
                rows[x, i] = square * by_centre[t - 1, x, i]
                rows[x, n + i] = -2 * square * by_centre[t, x, i]
                rows[x, 2 * n + i] = square * by_centre[t + 1, x, i]
                rows[3 + x, i] = -rate * by_next[t - 1, x, i]
                rows[3 + x, n + i] = rate * (by_next[t, x, i] - by_last[t, x, i])
                rows[3 + x, n + i] += by_centre[t, y, i] * given[z] - by_centre[t, z, i] * given[y]
                rows[3 + x, 2 * n + i] = rate * by_last[t + 1, x, i]
        for k in range(len(body)):
            if not down[t, k] or forces[k, 1] == 0.0:
                continue
            a = body[k]
            point_derivatives(points[t, k], a, t, 0, tree, columns, values)
            for i in range(tree.length[a]):
                c = n + columns[i]
                for x in range(3):
                    y, z = (x + 1) % 3, (x + 2) % 3
                    rows[3 + x, c] -= values[y, i] * forces[k, z] - values[z, i] * forces[k, y]
        add_window(bands, slope, (t - 1) * n, rows, weight, r, 3 * n)
    return cost
