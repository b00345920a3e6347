"""Compiled kernels of the solver: samples of segments, gaps and derivatives of targets, and programs with few rows.

- `sample_segments` and `chain_rows`: values of segments with their derivatives by the handles, and the product with
  the derivatives of states [Ciccone 2019, eq. 2]. Moving P1 in value moves y by B1; moving it in time moves the
  solution s of x(s) = t as well, by the implicit function theorem -B1 y'/x'. P2 = P3 - before turns both signs. This
  replaces the finite differences of the paper.
- `measure_skeletal` and `measure_layered` are `targets.measure_any_states` for skeletons and for layered rigs: all
  steps of one sample, then those of the next. One call replaces five, and nothing larger than a sample is in memory: a
  drag measures fifty times.
- `solve_few_rows` is `qp.minimise_box_qp` for few rows. `gram` is not faster than BLAS, but BLAS starts threads for
  this little work, and on a busy machine waits for them.
"""

from __future__ import annotations

import math

import numpy as np

from understudy.checks import Array
from understudy.edit.points.layered import LatticeControls, Rules
from understudy.edit.points.layered_kernels import components, layered_state
from understudy.edit.points.skeletal import Anchors, JointChain, JointFrames
from understudy.edit.points.skeletal_kernels import fill_frame, fill_state
from understudy.edit.solver.segments import FreeSegments, SampleGrid
from understudy.maths.bezier import (
    MAX_NEWTON_STEPS,
    MIN_TIME_SLOPE_RATIO,
    RESIDUAL_TOLERANCE,
    STALL_OFFSET_RATIO,
    STEP_TOLERANCE,
)
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.maths.scalar_kernels import bezier_newton_scalar, largest_quaternion_column, solve_cholesky


@compile_kernel(nogil=True)
def write_gaps(
    parts: Array, place: Array, turn: Array, position: Array, orientation: Array, size: float, out: Array
) -> None:
    """The gaps of all targets, into `out` (R, 6), zero for parts without a target."""
    for r in range(parts.shape[0]):
        write_gap(parts[r], place[r], turn[r], position[r], orientation[r], size, out[r])


@compile_kernel(nogil=True)
def write_gap(
    parts: Array, place: Array, turn: Array, position: Array, orientation: Array, size: float, out: Array
) -> None:
    """The gap of one target, into `out` (6,)."""
    m, q = np.empty((3, 3)), np.empty(4)
    for a in range(3):
        out[a] = (place[a] - position[a]) / size if parts[0] else 0.0
        out[3 + a] = 0.0
    if not parts[1]:
        return
    for a in range(3):
        for b in range(3):
            m[a, b] = 0.0
            for c in range(3):
                m[a, b] += turn[a, c] * orientation[b, c]
    largest_quaternion_column(m, q)
    sine = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    cosine = abs(q[3])
    side = 1.0 if q[3] >= 0.0 else -1.0
    factor = 2.0 * side * math.atan2(sine, cosine) / sine if sine > 1e-12 * cosine else 2.0 * side / cosine
    for a in range(3):
        out[3 + a] = factor * q[a]


@compile_kernel(nogil=True)
def sample_segments(pieces: FreeSegments, handles: Array, grid: SampleGrid, values: Array, slopes: Array) -> None:
    """Values and their derivatives with respect to the handles."""
    for k in range(grid.times.size):
        sample_segments_at(pieces, handles, grid, k, True, values[k], slopes[k])


@compile_kernel(nogil=True)
def sample_values(pieces: FreeSegments, handles: Array, grid: SampleGrid, values: Array) -> None:
    """Values alone."""
    scratch = np.empty((grid.fixed.shape[1], 4))
    for k in range(grid.times.size):
        sample_segments_at(pieces, handles, grid, k, False, values[k], scratch)


@compile_kernel(nogil=True)
def sample_segments_at(
    pieces: FreeSegments, handles: Array, grid: SampleGrid, k: int, sloping: bool, values: Array, slopes: Array
) -> None:
    """Values (n,) of sample k and, where asked for, their derivatives (n, 4)."""
    for i in range(grid.fixed.shape[1]):
        g = grid.piece[k, i]
        if g < 0:
            values[i] = grid.fixed[k, i]
            for c in range(4):
                slopes[i, c] = 0.0
            continue
        d, rise = pieces.d[g], pieces.y3[g] - pieces.y0[g]
        p1, q1 = handles[g, 0] / d, handles[g, 1]
        p2, q2 = 1.0 - handles[g, 2] / d, rise - handles[g, 3]
        u = (grid.times[k] - pieces.t0[g]) / d
        u = min(max(u, 0.0), 1.0)
        s = (
            u
            if u <= 0.0 or u >= 1.0
            else bezier_newton_scalar(p1, p2, u, MAX_NEWTON_STEPS, STEP_TOLERANCE, RESIDUAL_TOLERANCE)
        )
        m = 1.0 - s
        b1, b2, b3 = 3.0 * m * m * s, 3.0 * m * s * s, s * s * s
        values[i] = pieces.y0[g] + b1 * q1 + b2 * q2 + b3 * rise
        if not sloping:
            continue
        run = cubic_rate(p1, p2, 1.0, s)
        at = s
        if run < MIN_TIME_SLOPE_RATIO:
            at = s + STALL_OFFSET_RATIO if s < 0.5 else s - STALL_OFFSET_RATIO
            run = max(cubic_rate(p1, p2, 1.0, at), 1e-12)
        steep = cubic_rate(q1, q2, rise, at) / run / d
        slopes[i, 0], slopes[i, 1] = -b1 * steep, b1
        slopes[i, 2], slopes[i, 3] = b2 * steep, -b2


@compile_kernel(nogil=True)
def cubic_rate(p1: float, p2: float, p3: float, s: float) -> float:
    """p'(s) of a cubic with p0 = 0."""
    m = 1.0 - s
    return 3.0 * (m * m * p1 + 2.0 * m * s * (p2 - p1) + s * s * (p3 - p2))


@compile_kernel(nogil=True)
def chain_rows(
    jacobian: Array,
    slopes: Array,
    sample_of: Array,
    piece: Array,
    variable: Array,
    factor: Array,
    first_row: Array,
    scale: Array,
    out: Array,
) -> None:
    """Rows (., N) of states with respect to variables, of targets (R,) whose derivatives by columns are (R, 6, n).

    Row first_row[r, 0] and the two after it are of the position, those from first_row[r, 1] of the turn; -1 leaves them
    out. `scale` (2,) multiplies the two kinds. `variable` and `factor` (G, 4) say what moves each handle.
    """
    for r in range(sample_of.size):
        k = sample_of[r]
        chain_row(jacobian[r], slopes[k], piece[k], variable, factor, first_row[r], scale, out)


@compile_kernel(nogil=True)
def chain_row(
    jacobian: Array, slopes: Array, piece: Array, variable: Array, factor: Array, first: Array, scale: Array, out: Array
) -> None:
    """The rows of one target: jacobian (6, n), slopes (n, 4), piece (n,), first (2,)."""
    for i in range(piece.size):
        g = piece[i]
        if g < 0:
            continue
        for c in range(4):
            n = variable[g, c]
            if n < 0:
                continue
            amount = slopes[i, c] * factor[g, c]
            for part in range(2):
                row = first[part]
                if row >= 0:
                    for a in range(3):
                        out[row + a, n] += scale[part] * amount * jacobian[3 * part + a, i]


@compile_kernel(nogil=True)
def handles_at(start: Array, variable: Array, factor: Array, v: Array) -> Array:
    """(G, 4) the handles for variables v (N,): `TangentVariables.handles`."""
    handles = start.copy()
    for g in range(start.shape[0]):
        for c in range(4):
            if variable[g, c] >= 0:
                handles[g, c] += factor[g, c] * v[variable[g, c]]
    return handles


@compile_kernel(nogil=True)
def write_residual(own: Array, first_row: Array, residual: Array) -> None:
    """Write the gap (6,) of one target into the residuals (M,)."""
    for part in range(2):
        row = first_row[part]
        if row >= 0:
            for a in range(3):
                residual[row + a] = own[3 * part + a]


@compile_kernel(nogil=True)
def measure_skeletal(
    bones: JointChain,
    anchors: Anchors,
    pieces: FreeSegments,
    grid: SampleGrid,
    start: Array,
    variable: Array,
    factor: Array,
    v: Array,
    order: Array,
    first: Array,
    point: Array,
    parts: Array,
    place: Array,
    turn: Array,
    first_row: Array,
    size: float,
    gaps: Array,
    residual: Array,
    matrix: Array,
) -> None:
    """Gaps (R, 6), residual (M,) and, unless it is empty, a zeroed matrix (M, N), for variables v (N,).

    The targets of sample k are order[first[k] : first[k + 1]].
    """
    handles = handles_at(start, variable, factor, v)
    joints, columns, slopes = bones.parents.size, grid.fixed.shape[1], matrix.size > 0
    values, by_handle = np.empty(columns), np.empty((columns, 4))
    three, nine = np.empty((3, 1, joints, 3)), np.empty((3, 1, joints, 3, 3))
    at = JointFrames(three[0], nine[0], three[1], np.empty((1, joints, 4, 3)), nine[1], three[2], nine[2])
    y, position, orientation = np.empty(3), np.empty((1, 3)), np.empty((1, 3, 3))
    jacobian, scale = np.empty((1, 6, columns)), np.array([1.0 / size, 1.0])
    for k in range(grid.times.size):
        if first[k] == first[k + 1]:
            continue
        sample_segments_at(pieces, handles, grid, k, slopes, values, by_handle)
        fill_frame(bones, values, 0, at)
        for n in range(first[k], first[k + 1]):
            r = order[n]
            position[:] = 0.0
            if slopes:
                jacobian[:] = 0.0
            fill_state(bones, anchors, at, values, 0, point[r], y, position, orientation, slopes, jacobian, 0)
            write_gap(parts[r], place[r], turn[r], position[0], orientation[0], size, gaps[r])
            write_residual(gaps[r], first_row[r], residual)
            if slopes:
                chain_row(jacobian[0], by_handle, grid.piece[k], variable, factor, first_row[r], scale, matrix)


@compile_kernel(nogil=True)
def measure_layered(
    rules: Rules,
    cage: LatticeControls,
    bones: JointChain,
    anchors: Anchors,
    pieces: FreeSegments,
    grid: SampleGrid,
    start: Array,
    variable: Array,
    factor: Array,
    v: Array,
    order: Array,
    first: Array,
    point: Array,
    parts: Array,
    place: Array,
    turn: Array,
    first_row: Array,
    size: float,
    gaps: Array,
    residual: Array,
    matrix: Array,
) -> None:
    """`measure_skeletal` for a layered rig."""
    handles = handles_at(start, variable, factor, v)
    joints, columns, sloping = bones.parents.size, grid.fixed.shape[1], matrix.size > 0
    values, by_handle = np.empty(columns), np.empty((columns, 4))
    three, nine = np.empty((3, 1, joints, 3)), np.empty((3, 1, joints, 3, 3))
    at = JointFrames(three[0], nine[0], three[1], np.empty((1, joints, 4, 3)), nine[1], three[2], nine[2])
    q, p, slopes = np.empty(rules.start.size), np.empty(rules.place.size), np.empty(rules.column.size)
    y, position, orientation = np.empty(3), np.empty((1, 3)), np.empty((1, 3, 3))
    by_q, jacobian, scale = np.empty((1, 6, q.size)), np.empty((6, columns)), np.array([1.0 / size, 1.0])
    for k in range(grid.times.size):
        if first[k] == first[k + 1]:
            continue
        sample_segments_at(pieces, handles, grid, k, sloping, values, by_handle)
        components(rules, values, p, q, slopes)
        fill_frame(bones, q, 0, at)
        for n in range(first[k], first[k + 1]):
            r, own = order[n], point[order[n]]
            if sloping:
                jacobian[:] = 0.0
            layered_state(
                rules,
                cage,
                bones,
                anchors,
                at,
                values,
                q,
                slopes,
                own,
                y,
                position,
                orientation,
                sloping,
                by_q,
                jacobian,
            )
            write_gap(parts[r], place[r], turn[r], position[0], orientation[0], size, gaps[r])
            write_residual(gaps[r], first_row[r], residual)
            if sloping:
                chain_row(jacobian, by_handle, grid.piece[k], variable, factor, first_row[r], scale, matrix)


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS)
def gram(rows: Array, weights: Array, out: Array) -> None:
    """Add sum_r w_r a_r a_r' to `out` (N, N); rows are half empty, and zeros are skipped."""
    n = out.shape[0]
    for r in range(rows.shape[0]):
        for i in range(n):
            scaled = weights[r] * rows[r, i]
            if scaled != 0.0:
                for j in range(i + 1):
                    out[i, j] += scaled * rows[r, j]
    for i in range(n):
        for j in range(i):
            out[j, i] = out[i, j]


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS)
def solve_few_rows(
    d: Array,
    g: Array,
    low: Array,
    high: Array,
    rows: Array,
    aims: Array,
    weights: Array,
    rounds: int,
) -> tuple[bool, Array, Array]:
    """Whether the minimum was found, the minimum (N,) and the forces of the bounds (N,)."""
    m, n = rows.shape
    b, k = np.empty((n, m)), np.zeros((m, m))  # B', and the lower half of 1 + B D^-1 B'
    x, pull, along = np.empty(n), -0.5 * g, np.empty(n)  # pull is B' z - g / 2
    side, z, c = np.zeros(n, np.int8), np.zeros(m), np.sqrt(weights) * aims
    for r in range(m):
        root = np.sqrt(weights[r])
        for i in range(n):
            b[i, r] = root * rows[r, i]
        k[r, r] = 1.0
    for i in range(n):
        add_square(b, i, 1.0 / d[i], k)
        x[i] = pull[i] / d[i]
    for turn in range(rounds):
        step = c.copy()
        for i in range(n):
            value = x[i] if side[i] != 0 else -0.5 * g[i] / d[i]
            for r in range(m):
                step[r] -= b[i, r] * value
        if not solve_cholesky(k.copy(), step, m, 0.0):
            return False, x, along
        step -= z
        same = True
        for i in range(n):
            along[i] = 0.0
            for r in range(m):
                along[i] += step[r] * b[i, r]
            free = (pull[i] + along[i]) / d[i]
            same = same and (free > high[i]) - (free < low[i]) == side[i]
        if same:
            for i in range(n):
                pull[i] += along[i]
                x[i] = min(max(pull[i] / d[i], low[i]), high[i])
                along[i] = 2.0 * (pull[i] - d[i] * x[i]) if side[i] != 0 else 0.0
            return True, x, along
        share = 1.0 if turn == 0 else step_share(d, low, high, step, pull, along)
        z += share * step
        for i in range(n):
            pull[i] += share * along[i]
            free = pull[i] / d[i]
            x[i] = min(max(free, low[i]), high[i])
            now = (free > high[i]) - (free < low[i])
            if (now == 0) != (side[i] == 0):
                add_square(b, i, (1.0 if now == 0 else -1.0) / d[i], k)
            side[i] = now
    return False, x, along


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS)
def step_share(d: Array, low: Array, high: Array, step: Array, pull: Array, along: Array) -> float:
    """The share of a step up to which the convex function falls, at most 1."""
    n = d.size
    at, rates = np.ones(2 * n), np.zeros(2 * n)
    rate = 0.0  # of the slope at the start
    for r in range(step.size):
        rate += step[r] * step[r]
    slope = -rate
    for i in range(n):
        if along[i] != 0.0:
            one, other = (d[i] * low[i] - pull[i]) / along[i], (d[i] * high[i] - pull[i]) / along[i]
            first, last, own = min(one, other), max(one, other), along[i] * along[i] / d[i]
            if first <= 0.0 <= last:
                slope -= own
            at[2 * i], at[2 * i + 1] = min(max(first, 0.0), 1.0), min(max(last, 0.0), 1.0)
            rates[2 * i], rates[2 * i + 1] = own, -own
    share = 0.0
    for k in np.argsort(at):
        rise = rate * (at[k] - share)
        if slope + rise >= 0.0:
            return share - slope / max(rate, 1e-300)
        slope, share, rate = slope + rise, at[k], rate + rates[k]
    return 1.0


@compile_kernel(nogil=True, fastmath=FASTMATH_FLAGS)
def add_square(b: Array, i: int, factor: float, k: Array) -> None:
    """k += factor b_i b_i', in the lower half; zeros are skipped."""
    for r in range(k.shape[0]):
        scaled = factor * b[i, r]
        if scaled != 0.0:
            for q in range(r + 1):
                k[r, q] += scaled * b[i, q]
