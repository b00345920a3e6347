"""The compiled twin of `pieces.sample_slowly`, and the product with the derivatives of states [Ciccone 2019, eq. 2]."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.keyframes.pieces import Grid, Pieces
from understudy.maths.accelerate import compiled
from understudy.maths.bezier import FLAT, NUDGE
from understudy.maths.bezier_kernels import newton_one
from understudy.maths.bezier_solve import RESIDUAL_END, STEP_END, STEPS


@compiled(nogil=True)
def sample(pieces: Pieces, handles: Array, grid: Grid, values: Array, slopes: Array) -> None:
    """Values and their derivatives with respect to the handles."""
    for k in range(grid.times.size):
        sample_one(pieces, handles, grid, k, True, values[k], slopes[k])


@compiled(nogil=True)
def sample_values(pieces: Pieces, handles: Array, grid: Grid, values: Array) -> None:
    """Values alone."""
    room = np.empty((grid.fixed.shape[1], 4))
    for k in range(grid.times.size):
        sample_one(pieces, handles, grid, k, False, values[k], room)


@compiled(nogil=True)
def sample_one(pieces: Pieces, handles: Array, grid: Grid, k: int, sloping: bool, values: Array, slopes: Array) -> None:
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
        s = u if u <= 0.0 or u >= 1.0 else newton_one(p1, p2, u, STEPS, STEP_END, RESIDUAL_END)
        m = 1.0 - s
        b1, b2, b3 = 3.0 * m * m * s, 3.0 * m * s * s, s * s * s
        values[i] = pieces.y0[g] + b1 * q1 + b2 * q2 + b3 * rise
        if not sloping:
            continue
        run = rate(p1, p2, 1.0, s)
        at = s
        if run < FLAT:
            at = s + NUDGE if s < 0.5 else s - NUDGE
            run = max(rate(p1, p2, 1.0, at), 1e-12)
        steep = rate(q1, q2, rise, at) / run / d
        slopes[i, 0], slopes[i, 1] = -b1 * steep, b1
        slopes[i, 2], slopes[i, 3] = b2 * steep, -b2


@compiled(nogil=True)
def rate(p1: float, p2: float, p3: float, s: float) -> float:
    """p'(s) of a cubic with p0 = 0."""
    m = 1.0 - s
    return 3.0 * (m * m * p1 + 2.0 * m * s * (p2 - p1) + s * s * (p3 - p2))


@compiled(nogil=True)
def rows(
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
    """Rows (., N) of states with respect to variables, of requests (R,) whose derivatives by columns are (R, 6, n).

    Row first_row[r, 0] and the two after it are of the position, those from first_row[r, 1] of the turn; -1 leaves them
    out. `scale` (2,) multiplies the two kinds. `variable` and `factor` (G, 4) say what moves each handle.
    """
    for r in range(sample_of.size):
        k = sample_of[r]
        row_one(jacobian[r], slopes[k], piece[k], variable, factor, first_row[r], scale, out)


@compiled(nogil=True)
def row_one(
    jacobian: Array, slopes: Array, piece: Array, variable: Array, factor: Array, first: Array, scale: Array, out: Array
) -> None:
    """The rows of one request: jacobian (6, n), slopes (n, 4), piece (n,), first (2,)."""
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
