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
