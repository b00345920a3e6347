"""How far poses are from each other, as vectors of all their points."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def squared_pose_distances(a: Array, b: Array) -> Array:
    """(M, N) squared distances of poses a (M, D) and b (N, D), never below zero.

    By |a|^2 + |b|^2 - 2 a.b about the mean of b: poses have hundreds of numbers, so that one product is a hundred times
    as quick as differences; it loses digits below 1e-12 of the poses' spread, far less than a marker's noise.
    """
    centre = b.mean(axis=0)
    a, b = a - centre, b - centre
    squares = np.einsum("md,md->m", a, a)[:, None] + np.einsum("nd,nd->n", b, b) - 2 * (a @ b.T)
    return np.maximum(squares, 0.0)
