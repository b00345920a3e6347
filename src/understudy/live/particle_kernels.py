"""Compiled twin of `particle.step`.

Up to `TILE` characters go through a frame side by side. The precision matrix, too large for the nearer caches, is read
four rows at a time; these, once near, serve all of them, and a number of them, once in a register, serves two. With
one character the same arithmetic runs in the same order, so that what a character does depends neither on the size of
the crowd nor on the number of threads.

The exponential is that of `maths.exp_kernels`, taken apart into loops over all points: exp(y) = 2^n exp(r), n the
integer next to y / log 2, which falls out of the low bits of y / log 2 + 1.5 * 2^52. A crowd is a tenth faster for it.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.live.density import SILENT
from understudy.live.forces import NOTHING, STIFFEST
from understudy.maths.accelerate import FAST, compiled
from understudy.maths.exp_kernels import LN2_HIGH, LN2_LOW, series

TILE = 8  # characters; with more, a product is hardly faster, and a small crowd leaves threads without work
LOWEST = -700.0  # exp(-700) = 1e-304 is the last whole number of binades above zero that the trick can make
LOG2E = 1.4426950408889634
ROUND = 6755399441055744.0  # 1.5 * 2^52: a double this large has no bits left below one


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def similarities(places: Array, x: Array, scale: float, variance: float, bits: Array, k: Array) -> None:
    """k_i = variance * exp(scale |x - x_i|^2) of one point x (Q,) and all places (Q, P); `bits` (P,) is scratch."""
    count = places.shape[1]
    whole = bits.view(np.float64)
    for i in range(count):
        k[i] = 0.0
    for q in range(places.shape[0]):
        row, c = places[q], x[q]
        for i in range(count):
            d = row[i] - c
            k[i] += d * d
    for i in range(count):
        k[i] = max(scale * k[i], LOWEST)
    for i in range(count):
        whole[i] = k[i] * LOG2E + ROUND
    for i in range(count):
        n = whole[i] - ROUND
        r = (k[i] - n * LN2_HIGH) - n * LN2_LOW
        k[i] = variance * series(r)
    for i in range(count):
        bits[i] = (bits[i] + 1023) << 52
    silent = SILENT * variance
    for i in range(count):
        heard = k[i] * whole[i]
        k[i] = heard if heard > silent else 0.0


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def add_one(rows: Array, k: Array, b: Array) -> None:
    """b (P,) += k rows, of four rows (4, P) of the precision and their four k."""
    p0, p1, p2, p3 = rows[0], rows[1], rows[2], rows[3]
    k0, k1, k2, k3 = k[0], k[1], k[2], k[3]
    for i in range(len(b)):
        t = b[i]
        t += k0 * p0[i]
        t += k1 * p1[i]
        t += k2 * p2[i]
        t += k3 * p3[i]
        b[i] = t


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def add_two(rows: Array, k: Array, b: Array) -> None:
    """The same for two characters, k (2, 4) and b (2, P): the sums of `add_one`, in the same order.

    Eight factors, four numbers of the rows and two sums are as much as sixteen registers hold.
    """
    p0, p1, p2, p3 = rows[0], rows[1], rows[2], rows[3]
    e, f = b[0], b[1]
    e0, e1, e2, e3 = k[0, 0], k[0, 1], k[0, 2], k[0, 3]
    f0, f1, f2, f3 = k[1, 0], k[1, 1], k[1, 2], k[1, 3]
    for i in range(rows.shape[1]):
        q0, q1, q2, q3 = p0[i], p1[i], p2[i], p3[i]
        s, t = e[i], f[i]
        s += e0 * q0
        t += f0 * q0
        s += e1 * q1
        t += f1 * q1
        s += e2 * q2
        t += f2 * q2
        s += e3 * q3
        t += f3 * q3
        e[i], f[i] = s, t


@compiled(nogil=True)
def heard(k: Array, j: int) -> bool:
    """Whether any of four points from the j-th on counts. Rows that add zeros are left out: the sums stay the same."""
    return k[j] != 0.0 or k[j + 1] != 0.0 or k[j + 2] != 0.0 or k[j + 3] != 0.0


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def product(precision: Array, k: Array, b: Array, count: int) -> None:
    """b = P k for the first `count` characters of k and b (TILE, P)."""
    b[:count] = 0.0
    pairs = count // 2 * 2
    for j in range(0, k.shape[1], 4):
        rows = precision[j : j + 4]
        for c in range(0, pairs, 2):
            if heard(k[c], j) or heard(k[c + 1], j):
                add_two(rows, k[c : c + 2, j : j + 4], b[c : c + 2])
        if count > pairs and heard(k[pairs], j):
            add_one(rows, k[pairs, j : j + 4], b[pairs])


@compiled(fastmath=FAST | {"reassoc", "nsz"}, nogil=True, error_model="numpy")
def log_density(places: Array, k: Array, b: Array, x: Array, numbers: Array, gradient: Array) -> float:
    """p(x|M) of one character, given k and b = P k; fills its gradient (Q,). Its sums may be taken in any order, which
    the compiler fixes once for all."""
    top, floor, inverse, half = numbers[0], numbers[1], numbers[2], numbers[3]
    explained = 0.0
    for i in range(len(k)):
        b[i] *= k[i]
    for i in range(len(k)):
        explained += b[i]
    s = max(top - explained, floor)
    for q in range(len(x)):
        row, c, total = places[q], x[q], 0.0
        for i in range(len(k)):
            total += b[i] * (row[i] - c)
        gradient[q] = 2.0 * inverse * half / s * total
    return -half * np.log(s)


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def total_force(
    p: float,
    gradient: Array,
    x: Array,
    v: Array,
    path: Array,
    drift: Array,
    radius: float,
    random: Array,
    stiffest: float,
    law: Array,
) -> None:
    """Turns `gradient` (Q,) of the density p into the force on the particle: `particle.force`, for one character."""
    alpha, a, likely, width, flat, drag = law[0], law[1], law[2], law[3], law[4], law[5]
    steep = flat * flat
    for q in range(len(x)):
        steep += gradient[q] * gradient[q]
    push = a / (1.0 + np.exp(min((p - likely) / width, 700.0))) / np.sqrt(steep)
    gg, gw, ww, gf = 0.0, 0.0, 0.0, 0.0
    for q in range(len(x)):
        g, w = x[q] - path[q], v[q] - drift[q]
        f = random[q] + push * gradient[q] - drag * w
        gradient[q] = f
        gg += g * g
        gw += g * w
        ww += w * w
        gf += g * f
    gg = max(gg, NOTHING)
    bound = ww + 2.0 * alpha * gw + 0.5 * alpha * alpha * (gg - radius * radius)
    multiplier = min(0.0, -gf / gg - min(bound / gg, stiffest))
    for q in range(len(x)):
        gradient[q] += multiplier * (x[q] - path[q])


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def run(
    model: tuple[Array, ...], law: Array, state: tuple[Array, ...], dt: float, substeps: int, first: int, last: int
) -> None:
    """One frame of the characters first..last, at most `TILE` of them; x and velocity (M, Q) are overwritten."""
    places, precision, numbers = model
    x, velocity, path, path_end, radius, random = state
    dims, points = places.shape
    k, b = np.empty((TILE, points)), np.empty((TILE, points))
    bits = np.empty(points, np.int64)
    at, moving, force, here = np.empty((TILE, dims)), np.empty((TILE, dims)), np.empty(dims), np.empty(dims)
    dx, dv = np.empty((TILE, dims)), np.empty((TILE, dims))
    drift = np.empty((TILE, dims))
    tile = last - first
    h = dt / substeps
    stiffest = min(STIFFEST * law[0] * law[0], 1.0 / (h * h))
    for c in range(tile):
        for q in range(dims):
            drift[c, q] = (path_end[first + c, q] - path[first + c, q]) / dt
    for step in range(substeps):
        for stage in range(4):
            now = 2 * step + (stage + 1) // 2  # of the samples of the random force, two a substep
            for c in range(tile):
                m = first + c
                if stage == 0:
                    for q in range(dims):
                        at[c, q], moving[c, q] = x[m, q], velocity[m, q]
                        dx[c, q] = dv[c, q] = 0.0
                similarities(places, at[c], -0.5 * numbers[2], numbers[4], bits, k[c])
            product(precision, k, b, tile)
            weight = h / 6.0 if stage == 0 or stage == 3 else h / 3.0
            ahead = h if stage == 2 else 0.5 * h
            for c in range(tile):
                m = first + c
                for q in range(dims):
                    here[q] = path[m, q] + now * (0.5 * h) * drift[c, q]
                p = log_density(places, k[c], b[c], at[c], numbers, force)
                total_force(p, force, at[c], moving[c], here, drift[c], radius[m], random[m, now], stiffest, law)
                for q in range(dims):
                    dx[c, q] += weight * moving[c, q]
                    dv[c, q] += weight * force[q]
                    if stage == 3:
                        x[m, q] += dx[c, q]
                        velocity[m, q] += dv[c, q]
                    else:
                        at[c, q] = x[m, q] + ahead * moving[c, q]
                        moving[c, q] = velocity[m, q] + ahead * force[q]


@compiled(nogil=True)
def step(model: tuple[Array, ...], law: Array, state: tuple[Array, ...], dt: float, substeps: int) -> None:
    """One frame of all characters on this thread."""
    count = len(state[0])
    for first in range(0, count, TILE):
        run(model, law, state, dt, substeps, first, min(first + TILE, count))


@compiled(parallel=True)
def step_shared(model: tuple[Array, ...], law: Array, state: tuple[Array, ...], dt: float, substeps: int) -> None:
    """One frame of all characters on all threads."""
    count = len(state[0])
    for tile in numba.prange((count + TILE - 1) // TILE):
        first = tile * TILE
        run(model, law, state, dt, substeps, first, min(first + TILE, count))
