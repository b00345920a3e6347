"""The compiled sum of `radial_basis`: matrices of frames to the banded matrix of the Gaussians' weights."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def gather(first: Array, values: Array, blocks: Array, out: Array) -> None:
    """out (u + 1, N n), upper banded, += phi^T A phi, where blocks (3, F, n, n) are the diagonals 0, 1, 2 of A.

    Frame by frame: the row f of A times phi, (windows of f - 2 to f + 2, n, n), then each of it times phi at f.
    """
    frames, wide = values.shape
    size = blocks.shape[2]
    top = out.shape[0] - 1
    row = np.zeros((3 * wide + 4, size, size))
    for f in range(frames):
        low = first[max(f - 2, 0)]
        high = first[min(f + 2, frames - 1)] + wide
        row[: high - low] = 0.0
        for d in range(-2, 3):
            g = f + d
            if g < 0 or g >= frames:
                continue
            for w in range(wide):
                phi = values[g, w]
                if phi == 0.0:
                    continue
                i = first[g] + w - low
                for a in range(size):
                    for b in range(size):
                        entry = blocks[d, f, a, b] if d >= 0 else blocks[-d, g, b, a]
                        row[i, a, b] += entry * phi
        for w in range(wide):
            phi = values[f, w]
            if phi == 0.0:
                continue
            j = first[f] + w
            for i in range(max(j, low), high):
                for a in range(size):
                    for b in range(size):
                        r, c = j * size + a, i * size + b
                        if r <= c:
                            out[top + r - c, c] += phi * row[i - low, a, b]


@compiled(nogil=True, fastmath=FAST | {"reassoc"}, error_model="numpy")
def solve_banded(bands: Array, b: Array) -> bool:
    """Solve A x = b by Cholesky, in place of both; A upper banded (u + 1, n). False where A is not positive definite.

    LAPACK's own is made for wide bands and many threads; waking those takes longer than these few million products.
    """
    top, n = bands.shape[0] - 1, bands.shape[1]
    # lower[j, d] = L[j, j - d]: rows of the factor, each in one stretch of memory
    lower = np.zeros((n, top + 1))
    for j in range(n):
        reach = min(top, j)
        for d in range(reach, -1, -1):
            i = j - d
            total = bands[top - d, j]
            shared = min(top - d, i)
            for e in range(1, shared + 1):
                total -= lower[j, d + e] * lower[i, e]
            if d == 0:
                if not total > 0.0:
                    return False
                lower[j, 0] = np.sqrt(total)
            else:
                lower[j, d] = total / lower[i, 0]
    for j in range(n):
        total = b[j]
        for d in range(1, min(top, j) + 1):
            total -= lower[j, d] * b[j - d]
        b[j] = total / lower[j, 0]
    for j in range(n - 1, -1, -1):
        b[j] /= lower[j, 0]
        for d in range(1, min(top, j) + 1):
            b[j - d] -= lower[j, d] * b[j]
    return True
