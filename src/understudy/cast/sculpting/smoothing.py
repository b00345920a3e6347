"""Smoothing over a mesh: values move towards the mean of their neighbours, and never leak across air."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array


def average(triangles: Array, count: int) -> Any:
    """(V, V) sparse: A @ f is, at each vertex, the mean of f over its neighbours."""
    from scipy import sparse

    edges = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    both = np.concatenate([edges, edges[:, ::-1]])
    near = sparse.coo_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), (count, count)).tocsr()
    near.data[:] = 1.0
    return sparse.diags(1.0 / np.asarray(near.sum(axis=1)).ravel()) @ near


def smoothed(values: Array, mean: Any, rounds: int, fixed: Array | None = None) -> Array:
    """Values (V, ...) after `rounds` of moving half-way to the mean of the neighbours, but for those `fixed` (V,)."""
    result = values
    for _ in range(rounds):
        result = 0.5 * result + 0.5 * (mean @ result)
        if fixed is not None:
            result[fixed] = values[fixed]
    return result
