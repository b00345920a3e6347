"""Compiled twin of `DeformationStyles.deform_reference`."""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def bend(
    curve: Array,
    u: Array,
    share: Array,
    along: Array,
    across: Array,
    styles: Array,
    corners: Array,
    turns: Array,
    g: Array,
    out: Array,
) -> None:
    """out (F, V, 3) of the curves' corners (F, C, 3, 3), turns (F, C, 2, 4) and styles' amounts g (F, C, G)."""
    frames, curves = corners.shape[0], corners.shape[1]
    opening = np.empty((frames, curves, 3), np.float32)  # sign, angle and its sine, once a curve
    for f in range(frames):
        for c in range(curves):
            a, b = turns[f, c, 0], turns[f, c, 1]
            cosine = (
                np.float64(a[0]) * b[0] + np.float64(a[1]) * b[1] + np.float64(a[2]) * b[2] + np.float64(a[3]) * b[3]
            )
            opening[f, c, 0] = np.float32(-1.0) if cosine < 0 else np.float32(1.0)
            angle = np.arccos(min(abs(cosine), 1.0))
            opening[f, c, 1], opening[f, c, 2] = angle, np.sin(angle)
    one, two = np.float32(1.0), np.float32(2.0)
    for v in numba.prange(len(curve)):
        c, t, r = curve[v], u[v], share[v]
        for f in range(frames):
            a, b, open_, k = turns[f, c, 0], turns[f, c, 1], opening[f, c], corners[f, c]
            first, second = one - r, r
            if open_[2] >= np.float32(1e-4) and r > 0 and r < one:
                first = np.sin((one - r) * open_[1]) / open_[2]
                second = np.sin(r * open_[1]) / open_[2]
            second *= open_[0]
            x, y, z = first * a[0] + second * b[0], first * a[1] + second * b[1], first * a[2] + second * b[2]
            w = first * a[3] + second * b[3]
            scale = one / np.sqrt(x * x + y * y + z * z + w * w)
            x, y, z, w = x * scale, y * scale, z * scale, w * scale
            s = one
            for n in range(g.shape[2]):
                s += styles[v, n] * g[f, c, n]
            p0 = along[v, 0] + s * across[v, 0]
            p1 = along[v, 1] + s * across[v, 1]
            p2 = along[v, 2] + s * across[v, 2]
            e0, e1, e2 = y * p2 - z * p1 + w * p0, z * p0 - x * p2 + w * p1, x * p1 - y * p0 + w * p2
            i, j, h = (one - t) * (one - t), two * t * (one - t), t * t
            out[f, v, 0] = p0 + two * (y * e2 - z * e1) + i * k[0, 0] + j * k[1, 0] + h * k[2, 0]
            out[f, v, 1] = p1 + two * (z * e0 - x * e2) + i * k[0, 1] + j * k[1, 1] + h * k[2, 1]
            out[f, v, 2] = p2 + two * (x * e1 - y * e0) + i * k[0, 2] + j * k[1, 2] + h * k[2, 2]
