"""Rigid alignment of one region's landmarks: Procrustes analysis without scale [Serra 2018, section 4.1].

Minimise sum_i |R a_i + t - b_i|^2 over rotations R and shifts t: with both sets about their centres and
H = sum_i a_i b_i^T = U S V^T, R = V diag(1, .., det(V U^T)) U^T. Weights (D = 1) are independent of each other, and are
never shifted. The compiled twin is `rigid_fit_kernels.fit_rigid_single`.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def fit_rigid(a: Array, b: Array) -> tuple[Array, Array]:
    """R (D, D) and t (D,) that take the points a (L, D) nearest to b (L, D)."""
    dimensions = a.shape[1]
    if dimensions == 1 or len(a) < 2:
        return np.eye(dimensions), np.zeros(dimensions)
    ca, cb = a.mean(axis=0), b.mean(axis=0)
    u, _, vt = np.linalg.svd((a - ca).T @ (b - cb))
    turn = np.ones(dimensions)
    turn[-1] = np.sign(np.linalg.det(vt.T @ u.T)) or 1.0
    r = (vt.T * turn) @ u.T
    return r, cb - r @ ca
