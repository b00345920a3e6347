"""Small solvers: Cholesky factors in place, least squares within bounds.

**Cholesky, in place and without the interpreter's lock.** SciPy's own wrappers of `potrf` and `potri` keep the lock, so
that models trained in threads would wait for each other. The functions behind them are called by their addresses:
ctypes releases the lock. Where the library's integers are not C's `int` the wrappers are used: slower in threads, and
equal. Matrices are C-ordered and hold their upper triangle, which Fortran sees as the lower one.

**Least squares within bounds**, for many right sides at once:

    min over w of  1/2 w'Hw - b'w      with  low <= w <= high

H is the same for all. Newton's method on the weights that are free [Bertsekas 1982]: a weight at a bound stays there
while the gradient pushes it outwards; the others take the Newton step, cut off at the bounds. It ends, for a positive
definite H, with the exact minimum after a few steps; each right side starts where the one before ended.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.maths import jit

_SIGNATURE = ("char *", "int *", "d *", "int *", "int *")  # uplo, n, a, lda, info
MAX_NEWTON_STEPS = 60  # frames of a face need 2 to 6
GRADIENT_TOLERANCE_RATIO = 1e-10  # of the largest entry of b: a smaller gradient is rounding
MIN_PIVOT_RATIO = 1e-14  # of the largest diagonal entry of H: smaller pivots are rounding, and their weights stay fixed


def cholesky_in_place(matrix: Array) -> bool:
    """Factor (N, N) = U^T U; the upper triangle becomes U. False where the matrix is not positive definite."""
    return _call("dpotrf", matrix) == 0


def inverse_in_place(factor: Array) -> None:
    """The inverse of U^T U, from the factor U; the upper triangle becomes the inverse."""
    _call("dpotri", factor)


def _call(name: str, matrix: Array) -> int:
    size, leading, info = ctypes.c_int(len(matrix)), ctypes.c_int(max(1, len(matrix))), ctypes.c_int(0)
    function = _function(name)
    if function is None:
        from scipy.linalg import lapack

        result, failed = getattr(lapack, name)(matrix.T, 1, **_in_place(name))
        if not np.shares_memory(result, matrix):
            matrix[...] = result.T
        return int(failed)
    pointer = matrix.ctypes.data_as(ctypes.c_void_p)
    function(b"L", ctypes.byref(size), pointer, ctypes.byref(leading), ctypes.byref(info))
    return info.value


def _in_place(name: str) -> dict[str, int]:
    return {"clean": 0, "overwrite_a": 1} if name == "dpotrf" else {"overwrite_c": 1}


@cache
def _function(name: str) -> Callable[..., Any] | None:
    """The library's function, or None where its arguments are not of the types expected."""
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__[name]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature: bytes = get_name(capsule)
    given = [part.strip() for part in signature.decode().partition("(")[2].rstrip(")").split(",")]
    if len(given) != 5 or any(not kind.endswith(wanted) for kind, wanted in zip(given, _SIGNATURE)):
        return None
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, *[ctypes.c_void_p] * 4)
    return kind(get_pointer(capsule, signature))


def solve_box_qp(h: Array, b: Array, low: Array, high: Array, start: Array | None = None) -> Array:
    """(F, S) the minima for right sides b (F, S), with h (S, S) positive definite, low (S,) and high (S,)."""
    begin = np.clip(np.zeros(len(h)) if start is None else start, low, high)
    result = np.empty(b.shape)
    least = MIN_PIVOT_RATIO * float(np.diag(h).max(initial=0.0)) + 1e-300
    arrays = [np.ascontiguousarray(array, np.float64) for array in (h, b, low, high, begin)]
    kernels = jit.kernels("understudy.maths.scalar_kernels")
    kernels.solve_box_qp_rows(*arrays, MAX_NEWTON_STEPS, GRADIENT_TOLERANCE_RATIO, least, result)
    return result
