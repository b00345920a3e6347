"""Pieces: the Bezier segments whose handles an edit may change, one for each column and segment.

A piece has a key (t0, y0), the next key at t0 + d with value y3, and four numbers of handles: after dt, after dv,
before dt, before dv [Ciccone 2019, appendix A]. Values at samples (S,) of columns (n,) come from the piece that
`piece` (S, n) names, or where that is -1 from `fixed` (S, n), which no handle changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.maths import accelerate, bezier


class Pieces(NamedTuple):
    """G pieces."""

    t0: Array  # (G,)
    d: Array  # (G,)
    y0: Array  # (G,)
    y3: Array  # (G,)


class Grid(NamedTuple):
    """Where S samples of n columns come from."""

    times: Array  # (S,)
    piece: Array  # (S, n) int, -1 where no handle matters
    fixed: Array  # (S, n)


def sample(pieces: Pieces, handles: Array, grid: Grid) -> tuple[Array, Array]:
    """Values (S, n), and how they answer to the four handles of their piece (S, n, 4), for handles (G, 4)."""
    kernels = accelerate.kernels("understudy.keyframes.pieces_kernels")
    if kernels is None:
        return sample_slowly(pieces, handles, grid)
    values, slopes = np.empty(grid.fixed.shape), np.empty((*grid.fixed.shape, 4))
    kernels.sample(pieces, handles, grid, values, slopes)
    return values, slopes


def values(pieces: Pieces, handles: Array, grid: Grid) -> Array:
    """The values (S, n) alone."""
    kernels = accelerate.kernels("understudy.keyframes.pieces_kernels")
    if kernels is None:
        return sample_slowly(pieces, handles, grid)[0]
    found = np.empty(grid.fixed.shape)
    kernels.sample_values(pieces, handles, grid, found)
    return found


def sample_slowly(pieces: Pieces, handles: Array, grid: Grid) -> tuple[Array, Array]:
    """`sample` in NumPy."""
    values, slopes = grid.fixed.copy(), np.zeros((*grid.fixed.shape, 4))
    s, i = np.nonzero(grid.piece >= 0)
    g = grid.piece[s, i]
    key = np.stack([pieces.t0, pieces.y0], axis=-1)[g]
    end = np.stack([pieces.t0 + pieces.d, pieces.y3], axis=-1)[g]
    x, y = bezier.control_points(key, end, handles[g, :2], handles[g, 2:])
    values[s, i] = bezier.evaluate(x, y, grid.times[s])
    slopes[s, i] = bezier.handle_gradient(x, y, grid.times[s])
    return values, slopes
