"""Slow oracles of the kernels of `understudy.maths`."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from understudy.checks import Array
from understudy.maths.solvers import GRADIENT_TOLERANCE_RATIO, MAX_NEWTON_STEPS


def solve_cholesky(a: Array, b: Array, least: float = 0.0) -> Array | None:
    """`scalar_kernels.solve_cholesky`: x (N,) of a (N, N), of which the lower half is read, and b (N,), or None."""
    try:
        factor = np.linalg.cholesky(a)
        enough = bool((np.diag(factor) ** 2 >= least).all())
    except np.linalg.LinAlgError:
        enough = False
    if not enough:
        if least == 0.0:
            return None
        factor = _factorise_with_min_pivot(a, least)
    with np.errstate(over="ignore", invalid="ignore"):
        x: Array = cho_solve((factor, True), b, check_finite=False)
    return x if np.isfinite(x).all() else None


def _factorise_with_min_pivot(a: Array, least: float) -> Array:
    """L (N, N) with pivots of at least `least`, column by column."""
    factor = np.tril(a)
    for j in range(len(factor)):
        pivot = max(float(factor[j, j]), least)
        factor[j, j] = np.sqrt(pivot)
        column = factor[j + 1 :, j] = factor[j + 1 :, j] / np.sqrt(pivot)
        factor[j + 1 :, j + 1 :] -= np.tril(np.outer(column, column))
    return factor


def solve_box_qp(h: Array, b: Array, low: Array, high: Array, w: Array, least: float) -> Array:
    """(S,) `box_qp.solve_box_qp` for one right side, from w (S,)."""
    enough = GRADIENT_TOLERANCE_RATIO * max(float(np.abs(b).max(initial=0.0)), 1e-300)
    for _ in range(MAX_NEWTON_STEPS):
        gradient = h @ w - b
        free = ~(((w <= low) & (gradient > 0)) | ((w >= high) & (gradient < 0)))
        if not free.any() or np.abs(gradient[free]).max() <= enough:
            break
        newton = solve_cholesky(h[np.ix_(free, free)], -gradient[free], least)
        if newton is None:
            break
        step = np.zeros(len(w))
        step[free] = newton
        value, share = float(0.5 * w @ (gradient - b)), 1.0
        for _ in range(30):
            tried = np.clip(w + share * step, low, high)
            if float(0.5 * tried @ (h @ tried) - b @ tried) < value:
                break
            share *= 0.5
        else:
            break
        w = tried
    return w


def fit_rigid(a: Array, b: Array) -> tuple[Array, Array]:
    """`rigid_fit_kernels.fit_rigid_single`: R (D, D) and t (D,) that take the points a (L, D) nearest to b (L, D).

    With both sets about their centres and H = sum_i a_i b_i^T = U S V^T, R = V diag(1, .., det(V U^T)) U^T.
    """
    dimensions = a.shape[1]
    if dimensions == 1 or len(a) < 2:
        return np.eye(dimensions), np.zeros(dimensions)
    ca, cb = a.mean(axis=0), b.mean(axis=0)
    u, _, vt = np.linalg.svd((a - ca).T @ (b - cb))
    turn = np.ones(dimensions)
    turn[-1] = np.sign(np.linalg.det(vt.T @ u.T)) or 1.0
    r = (vt.T * turn) @ u.T
    return r, cb - r @ ca
