"""Compiled kernels of `offsets`: the energy of a change, its whitening, and samples of the whitened basis."""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.edit.solver.offsets import OffsetPieces
from understudy.maths.bezier import MAX_NEWTON_STEPS, RESIDUAL_TOLERANCE, STEP_TOLERANCE
from understudy.maths.jit import compile_kernel
from understudy.maths.scalar_kernels import bezier_newton_scalar

MIN_TIME_RATE_RATIO = 0.1  # of the segment's length: slower, d''(t) of a Bezier curve is taken as if time ran this fast
RIDGE_RATIO = 1e-7  # of the diagonal: keys nearly at one time depend on each other


@compile_kernel(nogil=True)
def distance_outside(t: float, start: float, stop: float, period: float) -> tuple[float, int]:
    """Seconds from t to the span `start` to `stop`, zero inside, and which end is nearer, 0 or 1.

    The shorter way round where `period` is above zero.
    """
    away, side = max(start - t, t - stop, 0.0), 0 if t < start else 1
    for turn in (-period, period):
        other = max(start - t - turn, t + turn - stop, 0.0)
        if other < away:
            away, side = other, 0 if t + turn < start else 1
    return away, side


@compile_kernel(nogil=True)
def fill_moment(pieces: OffsetPieces, c: int, time: float, first: int, out: Array) -> None:
    """What the unknowns of column c add to it at a time, into a zeroed `out` (count,)."""
    basis = np.empty(4)
    g = find_piece(pieces, c, time)
    if g < 0:
        return
    fill_basis(bezier_parameter(pieces, g, time), pieces.leaving[g], pieces.arriving[g], pieces.stepped[g], basis)
    for i in range(4):
        if pieces.variable[g, i] >= 0:
            out[pieces.variable[g, i] - first] += basis[i]


@compile_kernel(nogil=True)
def find_piece(pieces: OffsetPieces, c: int, time: float) -> int:
    """The piece of column c at a time, -1 where it has none."""
    g = -1
    for piece in range(pieces.first[c], pieces.first[c + 1]):  # the last that begins before the time
        if pieces.start[piece] <= time + 1e-9:
            g = piece
    return -1 if g < 0 or time > pieces.start[g] + pieces.length[g] + 1e-9 else g


@compile_kernel(nogil=True)
def bezier_parameter(pieces: OffsetPieces, g: int, time: float) -> float:
    """The parameter of piece g at a time."""
    d = pieces.length[g]
    share = min(max((time - pieces.start[g]) / d, 0.0), 1.0)
    if 0.0 < share < 1.0:
        p1, p2 = pieces.leaving[g] / d, 1.0 - pieces.arriving[g] / d
        return bezier_newton_scalar(p1, p2, share, MAX_NEWTON_STEPS, STEP_TOLERANCE, RESIDUAL_TOLERANCE)
    return share


@compile_kernel(nogil=True)
def falloff(away: float, radius: float) -> float:
    """A raised cosine, 1 at zero and 0 from `radius` on."""
    return 0.5 + 0.5 * math.cos(math.pi * away / radius) if away < radius else 0.0


@compile_kernel(nogil=True)
def fill_whitening(
    pieces: OffsetPieces,
    first_variable: Array,
    first_block: Array,
    weight: Array,
    window: tuple[float, float, float],
    floor: float,
    shape_cost: float,
    smoothness: float,
    nodes: Array,
    node_weights: Array,
    blocks: Array,
) -> None:
    """X of each column, into `blocks`, such that x = X z makes the energy |z|^2.

    The energy of a column is summed over its pieces like finite elements, at Gauss points in the parameter of the
    Bezier curve: a piece of one frame is seen as closely as a long one, and no equation has to be solved.
    """
    start, stop, radius = window
    basis, bend = np.empty(4), np.empty(4)
    for c in range(first_variable.size - 1):
        count, first = first_variable[c + 1] - first_variable[c], first_variable[c]
        h = np.zeros((count, count))
        moment = np.zeros((2, count))  # what the variables add at the first and at the last moment
        cross, square = np.zeros((2, count)), np.zeros(2)
        fill_moment(pieces, c, start, first, moment[0])
        fill_moment(pieces, c, stop, first, moment[1])
        for g in range(pieces.first[c], pieces.first[c + 1]):
            d, la, lb = pieces.length[g], pieces.leaving[g], pieces.arriving[g]
            for n in range(nodes.size):
                u = nodes[n]
                m = 1.0 - u
                x = 3.0 * u * m * m * la + 3.0 * u * u * m * (d - lb) + u * u * u * d
                rate = 3.0 * m * m * la + 6.0 * u * m * (d - la - lb) + 3.0 * u * u * lb
                turn = 6.0 * m * (d - lb - 2.0 * la) + 6.0 * u * (la - 2.0 * (d - lb) + d)
                slow = max(rate, MIN_TIME_RATE_RATIO * d)
                fill_basis(u, la, lb, pieces.stepped[g], basis)
                bend[0], bend[1] = 6.0 * (u - m), 6.0 * (m - u)
                bend[2], bend[3] = 3.0 * (2.0 * u - 4.0 * m) * la, -3.0 * (2.0 * m - 4.0 * u) * lb
                along0 = -6.0 * u * m
                along2, along3 = 3.0 * (m * m - 2.0 * u * m) * la, -3.0 * (2.0 * u * m - u * u) * lb
                for i in range(4):
                    along = along0 if i == 0 else -along0 if i == 1 else along2 if i == 2 else along3
                    bend[i] = 0.0 if pieces.stepped[g] else (bend[i] * slow - along * turn) / slow**3
                    bend[i] *= (smoothness * radius / math.pi) ** 2
                away, side = distance_outside(pieces.start[g] + x, start, stop, pieces.period[c])
                share = falloff(away, radius)
                # of a raised cosine in the same units as `bend`; zero between the moments, where nothing fades
                fade = 0.5 * smoothness**2 * (1.0 - 2.0 * share) if 0.0 < away < radius else 0.0
                mass = node_weights[n] * max(rate, 0.0) / radius * weight[c]
                far = mass / (share * share + floor)
                outside = 0.0 if away == 0.0 else 1.0
                square[side] += far * (outside * share * share + fade * fade)
                for i in range(4):
                    row = pieces.variable[g, i] - first
                    if pieces.variable[g, i] < 0:
                        continue
                    cross[side, row] += far * (outside * share * basis[i] + fade * bend[i])
                    for j in range(4):
                        if pieces.variable[g, j] >= 0:
                            column = pieces.variable[g, j] - first
                            size = (mass / shape_cost + outside * far) * basis[i] * basis[j]
                            h[row, column] += size + far * bend[i] * bend[j]
        for side in range(2):
            for i in range(count):
                for j in range(count):
                    a, b = moment[side, i], moment[side, j]
                    h[i, j] += square[side] * a * b - cross[side, i] * b - a * cross[side, j]
        invert_root(h, blocks[first_block[c] : first_block[c + 1]].reshape(count, count))


@compile_kernel(nogil=True)
def invert_root(h: Array, out: Array) -> None:
    """X (n, n) with X' H X = 1, for a symmetric positive H, by the Cholesky factor of H scaled to a unit diagonal."""
    n = h.shape[0]
    scale = np.empty(n)
    for i in range(n):
        scale[i] = math.sqrt(max(h[i, i], 1e-12))
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = h[i, j] / (scale[i] * scale[j]) + (RIDGE_RATIO if i == j else 0.0)
            for k in range(j):
                total -= low[i, k] * low[j, k]
            low[i, j] = math.sqrt(max(total, RIDGE_RATIO)) if i == j else total / low[j, j]
    out[:] = 0.0
    for j in range(n):  # column j of L^-1, which is row j of X' before scaling
        for i in range(j, n):
            total = 1.0 if i == j else 0.0
            for k in range(j, i):
                total -= low[i, k] * out[j, k]
            out[j, i] = total / low[i, i]
    for j in range(n):
        for i in range(n):
            out[j, i] /= scale[j]


@compile_kernel(nogil=True)
def fill_basis(u: float, la: float, lb: float, stepped: bool, out: Array) -> None:
    """What the values of the first and the last key and the slopes at both add to a piece at parameter u."""
    m = 1.0 - u
    out[0] = m * m * m + 3.0 * u * m * m
    out[2], out[3] = 3.0 * u * m * m * la, -3.0 * u * u * m * lb
    if stepped:
        out[0], out[2], out[3] = 1.0 if u < 1.0 else 0.0, 0.0, 0.0
    out[1] = 1.0 - out[0]


@compile_kernel(nogil=True)
def fill_samples(
    pieces: OffsetPieces, first_variable: Array, first_block: Array, blocks: Array, times: Array, out: Array
) -> None:
    """The whitened basis at times (S,), into a zeroed `out` (S, N)."""
    basis = np.empty(4)
    for c in range(first_variable.size - 1):
        count = first_variable[c + 1] - first_variable[c]
        block = blocks[first_block[c] : first_block[c + 1]].reshape(count, count)  # upper triangles
        g = pieces.first[c] - 1
        for s in range(times.size):
            if s > 0 and times[s] < times[s - 1]:
                g = pieces.first[c] - 1
            while g + 1 < pieces.first[c + 1] and pieces.start[g + 1] <= times[s] + 1e-9:
                g += 1
            if g < pieces.first[c] or times[s] > pieces.start[g] + pieces.length[g] + 1e-9:
                continue
            u = bezier_parameter(pieces, g, times[s])
            fill_basis(u, pieces.leaving[g], pieces.arriving[g], pieces.stepped[g], basis)
            for i in range(4):
                if pieces.variable[g, i] >= 0 and basis[i] != 0.0:
                    row = pieces.variable[g, i] - first_variable[c]
                    for j in range(row, count):
                        out[s, first_variable[c] + j] += basis[i] * block[row, j]


@compile_kernel(nogil=True)
def fill_offsets(phi: Array, first: Array, moved: Array, z: Array, out: Array) -> None:
    """The offsets for variables z (N,) at samples, into a zeroed `out` (S, n); those from first[m] move moved[m]."""
    for s in range(phi.shape[0]):
        for m in range(moved.size):
            total = 0.0
            for i in range(first[m], first[m + 1]):
                total += phi[s, i] * z[i]
            out[s, moved[m]] = total


@compile_kernel(nogil=True)
def fill_variables_of_forces(
    phi: Array, first: Array, moved: Array, slope: Array, sample: Array, force: Array, out: Array
) -> None:
    """Add J' f to `out` (N,), of forces f (M,) on rows with slopes (M, n) by the columns at their samples (M,)."""
    total = np.zeros((phi.shape[0], slope.shape[1]))
    for r in range(force.size):
        for c in range(slope.shape[1]):
            total[sample[r], c] += force[r] * slope[r, c]
    for s in range(phi.shape[0]):
        for m in range(moved.size):
            pull = total[s, moved[m]]
            if pull != 0.0:
                for i in range(first[m], first[m + 1]):
                    out[i] += phi[s, i] * pull


@compile_kernel(nogil=True)
def chain_offset_rows(
    jacobian: Array, phi: Array, column: Array, sample: Array, first_row: Array, size: float, out: Array
) -> None:
    """Rows (M, N) of targets (R,) by the variables, from derivatives (R, 6, n) by columns [Ciccone 2019, eq. 2]."""
    for r in range(sample.size):
        for part in range(2):
            row = first_row[r, part]
            if row < 0:
                continue
            scale = 1.0 / size if part == 0 else 1.0
            for a in range(3):
                for i in range(column.size):
                    out[row + a, i] = scale * jacobian[r, 3 * part + a, column[i]] * phi[sample[r], i]


@compile_kernel(nogil=True)
def fill_covariances(phi: Array, first: Array, moved: Array, out: Array) -> None:
    """Covariances of the columns between samples, k_c(s, t) = Phi_c(s) Phi_c(t)', into a zeroed `out` (n, S, S)."""
    samples = phi.shape[0]
    for m in range(moved.size):
        block = np.ascontiguousarray(phi[:, first[m] : first[m + 1]])
        c = moved[m]
        for s in range(samples):
            for t in range(s + 1):
                total = 0.0
                for i in range(block.shape[1]):
                    total += block[s, i] * block[t, i]
                out[c, s, t] = out[c, t, s] = total


@compile_kernel(nogil=True)
def add_gram_matrix(
    slope: Array, covariance: Array, scale: Array, first: Array, row: Array, sample: Array, out: Array
) -> None:
    """Add J S J' to the lower half of `out` (M, M), with J the rows by the variables and S the scale (n,) of columns.

    J J' = sum_c slope_c k_c slope_c', so no sum over the variables is needed. `slope` (M, n) are the rows by the
    columns at their samples. Rows come in threes: `row` and `sample` (G,) are the first row and the sample of those
    that column c moves, rising, from first[c] to first[c + 1].
    """
    for c in range(scale.size):
        for g in range(first[c], first[c + 1]):
            p, at = row[g], covariance[c, sample[g]]
            a0, a1, a2 = scale[c] * slope[p, c], scale[c] * slope[p + 1, c], scale[c] * slope[p + 2, c]
            for h in range(first[c], g + 1):
                q, k = row[h], at[sample[h]]
                b0, b1, b2 = k * slope[q, c], k * slope[q + 1, c], k * slope[q + 2, c]
                out[p, q] += a0 * b0
                out[p, q + 1] += a0 * b1
                out[p, q + 2] += a0 * b2
                out[p + 1, q] += a1 * b0
                out[p + 1, q + 1] += a1 * b1
                out[p + 1, q + 2] += a1 * b2
                out[p + 2, q] += a2 * b0
                out[p + 2, q + 1] += a2 * b1
                out[p + 2, q + 2] += a2 * b2
