"""Equations of a symmetric matrix, a x = b, by Cholesky's method, a = L L'.

A matrix that should be positive definite may not be, by rounding or because what it is made of says nothing about some
of x. What is to happen then is said by `least`, the smallest pivot:

    least = 0     there is no answer, and the caller finds another way
    least > 0     a pivot below it is raised to it, as if something stiff held that unknown where it is; there always is
                  an answer, which where no pivot was raised is the exact one

Kernels have their own (`cholesky_kernels`), which gives the same.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from understudy.checks import Array
from understudy.maths import accelerate

KERNELS = "understudy.maths.cholesky_kernels"


def solve(a: Array, b: Array, least: float = 0.0) -> Array | None:
    """x (N,) of a (N, N), of which the lower half is read, and b (N,); None where there is none that is finite."""
    try:
        factor = np.linalg.cholesky(a)
        enough = bool((np.diag(factor) ** 2 >= least).all())
    except np.linalg.LinAlgError:
        enough = False
    if not enough:
        if least == 0.0:
            return None
        factor = _raised(a, least)
    with np.errstate(over="ignore", invalid="ignore"):
        x: Array = cho_solve((factor, True), b, check_finite=False)
    return x if np.isfinite(x).all() else None


def _raised(a: Array, least: float) -> Array:
    """L (N, N) with pivots of at least `least`, column by column."""
    factor = np.tril(a)
    for j in range(len(factor)):
        pivot = max(float(factor[j, j]), least)
        factor[j, j] = np.sqrt(pivot)
        column = factor[j + 1 :, j] = factor[j + 1 :, j] / np.sqrt(pivot)
        factor[j + 1 :, j + 1 :] -= np.tril(np.outer(column, column))
    return factor


def solve_banded(bands: Array, b: Array) -> Array | None:
    """x with A x = b (n,) for the upper banded A (u + 1, n), or None where A is not positive definite."""
    kernels = accelerate.kernels(KERNELS)
    if kernels is not None:
        x = b.copy()
        return x if kernels.solve_banded(bands, x) else None
    from scipy.linalg import LinAlgError, solveh_banded

    try:
        return np.asarray(solveh_banded(bands, b, check_finite=False))
    except LinAlgError:
        return None
