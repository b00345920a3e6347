"""Kernels of `particle` (steps, random forces), `latent_path` (cheapest paths) and `changes` (their search).

**Particle.** Characters go through a frame one by one: the result of one depends neither on the size of the crowd nor
on the number of threads. A particle moves little within a frame and only the points within some lengths of the kernel
count (`forces.MIN_KERNEL_RATIO`), so those are gathered once a frame, their precision as a packed triangle. That is a
quarter of the dragon's matrix or less, small enough to stay in the second cache for the six products of a frame, and
since it is symmetric each of its numbers, once in a register, serves two sums.

The exponential is that of `maths.scalar_kernels`, split into loops over all points: exp(y) = 2^n exp(r), n the integer
next to y / log 2, which falls out of the low bits of y / log 2 + 1.5 * 2^52. A crowd is a tenth faster for it.

**Random force.** One frame of one character draws its grid values once.

**Cheapest path.** Dijkstra's algorithm on a dense graph, in N^2 steps. A point is settled when no open point is
cheaper; the search stops when the end is settled. The next point is found while the costs are brought up to date.

**Changes.** The products of accelerations and differences are shared by all durations of a candidate.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.maths.scalar_kernels import LN2_HIGH, LN2_LOW, exp_series
from understudy.perform.runtime.forces import KERNEL_LANES, MAX_MULTIPLIER_RATIO, MIN_KERNEL_RATIO, MIN_SQUARED_DISTANCE
from understudy.perform.runtime.particle import WINDOW_GRID_STEPS, WINDOW_SCALE

UINT32_MASK = np.uint64(0xFFFFFFFF)
UINT32_BITS = np.uint64(32)
PHILOX_MULTIPLIER_0, PHILOX_MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
PHILOX_WEYL_0, PHILOX_WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
TAU = 2 * np.pi
WINDOW_RATIO_DECAY = np.exp(-0.5)
STREAMS_PER_CHUNK = 16  # taken by one thread at a time
# Distance in kernel lengths at which the kernel has fallen to `MIN_KERNEL_RATIO`.
MAX_KERNEL_LENGTHS = np.sqrt(-2.0 * np.log(MIN_KERNEL_RATIO)) * (1.0 + 1e-9)
RESELECT_SLACK_LENGTHS = 0.05  # that a particle may move, besides its velocity, before points are selected anew
MIN_EXPONENT = -700.0  # exp(-700) = 1e-304 is near the smallest power of two that the bit trick can make
LOG2E = 1.4426950408889634
ROUNDING_OFFSET = 6755399441055744.0  # 1.5 * 2^52: a double this large has no bits left below one
REASSOCIATED_MATH = FASTMATH_FLAGS | {"reassoc", "nsz"}  # for sums, whose order the compiler then fixes once for all


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def normals(key: Array, index: int, stream: int, block: int, z: Array) -> None:
    """Fills z (4,) with the standard normal numbers of the counter (index, block, stream)."""
    own = np.uint64(stream)
    a, b, c, d = np.uint64(index) & UINT32_MASK, np.uint64(block), own & UINT32_MASK, own >> UINT32_BITS
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    for _ in range(10):
        first, second = PHILOX_MULTIPLIER_0 * a, PHILOX_MULTIPLIER_1 * c
        a, b, c, d = (
            (second >> UINT32_BITS) ^ b ^ k0,
            second & UINT32_MASK,
            (first >> UINT32_BITS) ^ d ^ k1,
            first & UINT32_MASK,
        )
        k0, k1 = (k0 + PHILOX_WEYL_0) & UINT32_MASK, (k1 + PHILOX_WEYL_1) & UINT32_MASK
    radius = np.sqrt(-2.0 * np.log((np.float64(a) + 0.5) * 2.0**-32))
    angle = TAU * ((np.float64(b) + 0.5) * 2.0**-32)
    z[0], z[1] = radius * np.cos(angle), radius * np.sin(angle)
    radius = np.sqrt(-2.0 * np.log((np.float64(c) + 0.5) * 2.0**-32))
    angle = TAU * ((np.float64(d) + 0.5) * 2.0**-32)
    z[2], z[3] = radius * np.cos(angle), radius * np.sin(angle)


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def fill_random_forces(key: Array, streams: Array, places: Array, out: Array, first: int, last: int) -> None:
    """Fills out (M, T, Q) from `first` to `last` with the forces of streams (M,) at grid places (M, T).

    A grid value is drawn once for all times that use it: those of one frame lie within one or two steps of the grid;
    times further apart start anew. Neighbouring values of the window, exp(-(u - i)^2 / 4), have ratios that change by
    exp(-1/2) from one to the next.
    """
    count, dims = out.shape[1:]
    near = 2 * WINDOW_GRID_STEPS
    z, drawn = np.empty(4), np.empty((2 * near, dims))
    for m in range(first, last):
        start, have = np.int64(0), 0
        for t in range(count):
            place = places[m, t]
            low = np.int64(np.floor(place)) - WINDOW_GRID_STEPS + 1
            if have == 0 or low < start or low > start + near:
                start, have = low, 0
            while start + have < low + near:
                for block in range(0, dims, 4):
                    normals(key, start + have, streams[m], block // 4, z)
                    for q in range(block, min(block + 4, dims)):
                        drawn[have, q] = z[q - block]
                have += 1
            away = place - np.float64(low)
            window, ratio = WINDOW_SCALE * np.exp(-0.25 * away * away), np.exp(0.5 * away - 0.25)
            for q in range(dims):
                out[m, t, q] = 0.0
            for i in range(low - start, low - start + near):
                for q in range(dims):
                    out[m, t, q] += window * drawn[i, q]
                window *= ratio
                ratio *= WINDOW_RATIO_DECAY


@compile_kernel(parallel=True)
def fill_random_forces_parallel(key: Array, streams: Array, places: Array, out: Array) -> None:
    """`fill_random_forces` of all streams, on all threads."""
    for piece in numba.prange((len(streams) + STREAMS_PER_CHUNK - 1) // STREAMS_PER_CHUNK):
        fill_random_forces(
            key, streams, places, out, piece * STREAMS_PER_CHUNK, min((piece + 1) * STREAMS_PER_CHUNK, len(streams))
        )


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def similarities(places: Array, x: Array, scale: float, variance: float, bits: Array, k: Array) -> None:
    """k_i (n,) = variance * exp(scale |x - x_i|^2) of one point x (Q,) and the first n places (Q, P); `bits` (P,) is
    scratch."""
    count = len(k)
    whole = bits.view(np.float64)
    for i in range(count):
        k[i] = 0.0
    for q in range(places.shape[0]):
        row, c = places[q], x[q]
        for i in range(count):
            d = row[i] - c
            k[i] += d * d
    for i in range(count):
        k[i] = max(scale * k[i], MIN_EXPONENT)
    for i in range(count):
        whole[i] = k[i] * LOG2E + ROUNDING_OFFSET
    for i in range(count):
        n = whole[i] - ROUNDING_OFFSET
        r = (k[i] - n * LN2_HIGH) - n * LN2_LOW
        k[i] = variance * exp_series(r)
    for i in range(count):
        bits[i] = (bits[i] + 1023) << 52
    silent = MIN_KERNEL_RATIO * variance
    for i in range(count):
        heard = k[i] * whole[i]
        k[i] = heard if heard > silent else 0.0


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def select_nearby_points(places: Array, x: Array, reach: float, away: Array, chosen: Array, near: Array) -> int:
    """Chooses the points within `reach` of x (Q,); returns how many these are, n, rounded up to `KERNEL_LANES`.

    The first n of chosen (P,) are their numbers, and of near (Q, P) their places. What was rounded up is the last
    point, which is a spare one. away (P,) is scratch.
    """
    limit, (dims, count) = reach * reach, places.shape
    for i in range(count):
        away[i] = 0.0
    for q in range(dims):
        row, c = places[q], x[q]
        for i in range(count):
            away[i] += (row[i] - c) ** 2
    n = 0
    for i in range(count):
        chosen[n] = i
        n += away[i] <= limit
    while n % KERNEL_LANES:
        chosen[n] = count - 1
        n += 1
    for q in range(dims):
        for i in range(n):
            near[q, i] = places[q, chosen[i]]
    return n


@compile_kernel(nogil=True)
def pack_precision(precision: Array, chosen: Array, packed: Array) -> None:
    """L of P = L + L^T, P the precision of the chosen points (n,): its lower triangle with half the diagonal.

    Its rows follow each other by fours, which end with the last one's diagonal; what lies above it there is zero.
    """
    at = 0
    for i in range(0, len(chosen), KERNEL_LANES):
        end = i + KERNEL_LANES
        p0, p1, p2, p3 = (
            precision[chosen[i]],
            precision[chosen[i + 1]],
            precision[chosen[i + 2]],
            precision[chosen[i + 3]],
        )
        r0, r1, r2, r3 = packed[at:], packed[at + end :], packed[at + 2 * end :], packed[at + 3 * end :]
        for j in range(end):
            other = chosen[j]
            r0[j], r1[j], r2[j], r3[j] = p0[other], p1[other], p2[other], p3[other]
        for row in range(i, end):
            packed[at + row] *= 0.5
            packed[at + row + 1 : at + end] = 0.0
            at += end


@compile_kernel(fastmath=REASSOCIATED_MATH, nogil=True, error_model="numpy")
def product(packed: Array, k: Array, b: Array) -> None:
    """b (n,) = P k = L k + L^T k of the packed L and k (n,): four of its rows take part in both."""
    at = 0
    b[:] = 0.0
    for i in range(0, len(k), KERNEL_LANES):
        end = i + KERNEL_LANES
        r0, r1, r2, r3 = packed[at:], packed[at + end :], packed[at + 2 * end :], packed[at + 3 * end :]
        k0, k1, k2, k3 = k[i], k[i + 1], k[i + 2], k[i + 3]
        b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
        for j in range(end):
            p0, p1, p2, p3, other = r0[j], r1[j], r2[j], r3[j], k[j]
            b[j] += k0 * p0 + k1 * p1 + k2 * p2 + k3 * p3
            b0 += p0 * other
            b1 += p1 * other
            b2 += p2 * other
            b3 += p3 * other
        b[i] += b0
        b[i + 1] += b1
        b[i + 2] += b2
        b[i + 3] += b3
        at += KERNEL_LANES * end


@compile_kernel(fastmath=REASSOCIATED_MATH, nogil=True, error_model="numpy")
def log_density(places: Array, k: Array, b: Array, x: Array, numbers: Array, gradient: Array) -> float:
    """p(x|M) of one character, given k and b = P k; fills its gradient (Q,)."""
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


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def likelihood_force(p: float, gradient: Array, law: Array) -> None:
    """Turns `gradient` (Q,) of the density p into the force towards likely regions, eq. 11."""
    a, likely, width, flat = law[1], law[2], law[3], law[4]
    steep = flat * flat
    for q in range(len(gradient)):
        steep += gradient[q] * gradient[q]
    scale = a / (1.0 + np.exp(min((p - likely) / width, 700.0))) / np.sqrt(steep)
    for q in range(len(gradient)):
        gradient[q] *= scale


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def total_force(
    force: Array,
    x: Array,
    v: Array,
    pushed: Array,
    random: Array,
    place: tuple[Array, Array, float, float],
    elapsed: float,
    law: Array,
) -> None:
    """Fills force (Q,) with the total force on one particle.

    `place` is the start of the path, its drift, the radius and the stiffest multiplier; `elapsed` is in seconds of the
    frame.
    """
    path, drift, radius, stiffest = place
    alpha, drag = law[0], law[5]
    gg, gw, ww, gf = 0.0, 0.0, 0.0, 0.0
    for q in range(len(x)):
        g, w = x[q] - path[q] - elapsed * drift[q], v[q] - drift[q]
        force[q] = random[q] + pushed[q] - drag * w
        gg += g * g
        gw += g * w
        ww += w * w
        gf += g * force[q]
    gg = max(gg, MIN_SQUARED_DISTANCE)
    bound = ww + 2.0 * alpha * gw + 0.5 * alpha * alpha * (gg - radius * radius)
    multiplier = min(0.0, -gf / gg - min(bound / gg, stiffest))
    for q in range(len(x)):
        force[q] += multiplier * (x[q] - path[q] - elapsed * drift[q])


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def evaluate_likelihood_force(
    model: tuple[Array, ...], law: Array, x: Array, slack: float, scratch: tuple[Array, ...], n: int, pushed: Array
) -> int:
    """Fills pushed (Q,) with the force towards likely regions at x (Q,). Returns n, how many points are near: those of
    the call before, unless x is by now more than `slack` from where they were chosen."""
    places, precision, numbers = model
    centre, chosen, near, packed, k, b, bits = scratch
    away = 0.0
    for q in range(len(x)):
        away += (x[q] - centre[q]) ** 2
    if not away <= slack * slack:
        centre[:] = x
        n = select_nearby_points(places, x, MAX_KERNEL_LENGTHS / np.sqrt(numbers[2]) + slack, b, chosen, near)
        pack_precision(precision, chosen[:n], packed)
    similarities(near, x, -0.5 * numbers[2], numbers[4], bits, k[:n])
    product(packed, k[:n], b[:n])
    likelihood_force(log_density(near, k[:n], b[:n], x, numbers, pushed), pushed, law)
    return n


@compile_kernel(fastmath=FASTMATH_FLAGS, nogil=True, error_model="numpy")
def run(
    model: tuple[Array, ...], law: Array, state: tuple[Array, ...], dt: float, substeps: int, first: int, every: int
) -> None:
    """One frame of every so many characters from the first on; x and velocity (M, Q) are overwritten."""
    positions, velocities, path, path_end, radius, random = state
    dims, points = model[0].shape
    centre, near, packed = np.empty(dims), np.empty((dims, points)), np.empty(points * (points + KERNEL_LANES) // 2)
    k, b, bits, chosen = np.empty(points), np.empty(points), np.empty(points, np.int64), np.empty(points, np.int64)
    scratch = (centre, chosen, near, packed, k, b, bits)
    drift, pushed, there, moving = np.empty(dims), np.empty(dims), np.empty(dims), np.empty(dims)
    f1, f2, f3, f4 = np.empty(dims), np.empty(dims), np.empty(dims), np.empty(dims)
    h = dt / substeps
    stiffest = min(MAX_MULTIPLIER_RATIO * law[0] * law[0], 1.0 / (h * h))
    for m in range(first, len(positions), every):
        x, v, drawn = positions[m], velocities[m], random[m]
        place, speed, n = (path[m], drift, radius[m], stiffest), 0.0, 0
        for q in range(dims):
            drift[q] = (path_end[m, q] - path[m, q]) / dt
            speed += v[q] ** 2
            centre[q] = np.inf
        slack = RESELECT_SLACK_LENGTHS / np.sqrt(model[2][2]) + dt * np.sqrt(speed)
        for i in range(0, 2 * substeps, 2):
            n = evaluate_likelihood_force(model, law, x, slack, scratch, n, pushed)
            total_force(f1, x, v, pushed, drawn[i], place, i * 0.5 * h, law)
            for q in range(dims):
                there[q] = x[q] + 0.5 * h * v[q] + 0.125 * h * h * f1[q]
                moving[q] = v[q] + 0.5 * h * f1[q]
            n = evaluate_likelihood_force(model, law, there, slack, scratch, n, pushed)
            total_force(f2, there, moving, pushed, drawn[i + 1], place, (i + 1) * 0.5 * h, law)
            for q in range(dims):
                moving[q] = v[q] + 0.5 * h * f2[q]
            total_force(f3, there, moving, pushed, drawn[i + 1], place, (i + 1) * 0.5 * h, law)
            for q in range(dims):
                there[q] = x[q] + h * v[q] + 0.5 * h * h * f3[q]
                moving[q] = v[q] + h * f3[q]
            n = evaluate_likelihood_force(model, law, there, slack, scratch, n, pushed)
            total_force(f4, there, moving, pushed, drawn[i + 2], place, (i + 2) * 0.5 * h, law)
            for q in range(dims):
                x[q] += h * v[q] + h * h / 6.0 * (f1[q] + f2[q] + f3[q])
                v[q] += h / 6.0 * (f1[q] + 2.0 * f2[q] + 2.0 * f3[q] + f4[q])


@compile_kernel(nogil=True)
def step(model: tuple[Array, ...], law: Array, state: tuple[Array, ...], dt: float, substeps: int) -> None:
    """One frame of all characters on this thread."""
    run(model, law, state, dt, substeps, 0, 1)


@compile_kernel(parallel=True)
def step_parallel(
    model: tuple[Array, ...], law: Array, state: tuple[Array, ...], dt: float, substeps: int, pieces: int
) -> None:
    """One frame of all characters on all threads, dealt out in turns into so many pieces."""
    for piece in numba.prange(pieces):
        run(model, law, state, dt, substeps, piece, pieces)


def thread_count() -> int:
    """The number of numba's threads."""
    return int(numba.get_num_threads())


@compile_kernel(nogil=True)
def cheapest_path(between: Array, from_start: Array, to_end: Array, direct: float) -> Array:
    """(K,) the training points on the cheapest path.

    `between` (N, N) costs among the points, `from_start` and `to_end` (N,) those of the two ends, `direct` of the edge
    that joins them.
    """
    count = len(from_start)
    cost, before = from_start.copy(), np.full(count, -1)
    settled = np.zeros(count, np.bool_)
    best, last = direct, -1
    while True:
        i, here = -1, best
        for j in range(count):
            if not settled[j] and cost[j] < here:
                i, here = j, cost[j]
        if i < 0:
            break
        settled[i] = True
        if here + to_end[i] < best:
            best, last = here + to_end[i], i
        for j in range(count):
            through = here + between[i, j]
            if through < cost[j] and through < best:
                cost[j], before[j] = through, i
    way = np.empty(count, np.int64)
    n = 0
    while last >= 0:
        way[n] = last
        n += 1
        last = before[last]
    return way[:n][::-1].copy()


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS)
def search_changes(
    departures: Array,
    waits: Array,
    motion: Array,
    steps: Array,
    accelerations: Array,
    squares: Array,
    candidates: Array,
    shapes: Array,
    durations: Array,
    lengths: Array,
    budget: float,
    harshness: float,
    best: Array,
) -> None:
    """Write the best changes to `best` (M, 5): cost, departure, candidate's frame, duration's index and peak of each.

    departures (S, 2, D) poses and steps a frame of the motion that is left, waits (S,) seconds until then; motion,
    steps, accelerations (n, D) of the motion that is entered, in steps of a frame, squares (n,) of the accelerations;
    candidates (S, K) frames; shapes (T, 2, J) second differences of h0 and of the velocity's part, durations (T,)
    seconds, lengths (T,) their frames. A candidate costs at least its seconds, so most are left early. Each pair of
    departure and candidate is there once, with its best duration; what is left over has an infinite cost.
    """
    dimensions, most = motion.shape[1], shapes.shape[2]
    along, across, worst = np.zeros(most), np.zeros(most), len(best) - 1
    for s in range(len(departures)):
        pose, step = departures[s, 0], departures[s, 1]
        for k in range(candidates.shape[1]):
            i = candidates[s, k]
            if i < 0 or waits[s] + durations[0] >= best[worst, 0] or (k > 0 and candidates[s, k - 1] == i):
                continue
            xx, xv, vv = 0.0, 0.0, 0.0
            for d in range(dimensions):
                x, v = pose[d] - motion[i, d], step[d] - steps[i, d]
                xx += x * x
                xv += x * v
                vv += v * v
            known = 0  # frames whose products are there already
            least, chosen, height = best[worst, 0], -1, 0.0
            for t in range(len(durations)):
                seconds = waits[s] + durations[t]
                if seconds >= least:
                    break
                peak = 0.0
                limit = budget * (1.0 + math.sqrt((least - seconds) / harshness))
                limit *= limit
                for j in range(lengths[t]):
                    if j == known:
                        ax, av = 0.0, 0.0
                        if j > 0:
                            for d in range(dimensions):
                                ax += accelerations[i + j, d] * (pose[d] - motion[i, d])
                                av += accelerations[i + j, d] * (step[d] - steps[i, d])
                        along[j], across[j] = ax, av
                        known += 1
                    a, b = shapes[t, 0, j], shapes[t, 1, j]
                    own = squares[i + j] if j > 0 else 0.0
                    total = own + a * a * xx + b * b * vv + 2 * (a * along[j] + b * across[j] + a * b * xv)
                    if total > peak:
                        peak = total
                        if peak >= limit:
                            break
                if peak >= limit:
                    continue
                excess = max(0.0, math.sqrt(peak) / budget - 1.0)
                least, chosen, height = seconds + harshness * excess * excess, t, math.sqrt(peak)
            if chosen < 0:
                continue
            place = worst
            while place > 0 and best[place - 1, 0] > least:
                best[place] = best[place - 1]
                place -= 1
            best[place, 0], best[place, 1], best[place, 2], best[place, 3], best[place, 4] = least, s, i, chosen, height
