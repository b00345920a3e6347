"""Kernels of `elastic` and `relax`: poses are the innermost axis, for vectorisation."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def add_volume_term(
    elements: Array, gradients: Array, volumes: Array, shear: Array, bulk: Array, x: Array, force: Array, energy: Array
) -> None:
    """Add the volume term's energy to `energy` (P,) and its gradient to `force` (N, 3, P)."""
    poses = x.shape[2]
    F, C = np.empty((9, poses)), np.empty((9, poses))
    for e in range(elements.shape[0]):
        F[:] = 0.0
        for i in range(8):
            node = x[elements[e, i]]
            for c in range(3):
                for d in range(3):
                    g = gradients[e, i, d]
                    f, v = F[3 * c + d], node[c]
                    for p in range(poses):
                        f[p] += g * v[p]
        for c in range(3):
            a, b = 3 * ((c + 1) % 3), 3 * ((c + 2) % 3)
            for d in range(3):
                k, m = (d + 1) % 3, (d + 2) % 3
                out, ak, am, bk, bm = C[3 * c + d], F[a + k], F[a + m], F[b + k], F[b + m]
                for p in range(poses):
                    out[p] = ak[p] * bm[p] - am[p] * bk[p]
        stiffness, alpha = volumes[e] * bulk[e], 1.0 + shear[e] / bulk[e]
        for p in range(poses):
            excess = F[0, p] * C[0, p] + F[1, p] * C[1, p] + F[2, p] * C[2, p] - alpha
            energy[p] += 0.5 * stiffness * excess * excess
            F[0, p] = stiffness * excess
        for i in range(8):
            node = force[elements[e, i]]
            g0, g1, g2 = gradients[e, i, 0], gradients[e, i, 1], gradients[e, i, 2]
            for c in range(3):
                f, a, b, d = node[c], C[3 * c], C[3 * c + 1], C[3 * c + 2]
                for p in range(poses):
                    f[p] += F[0, p] * (a[p] * g0 + b[p] * g1 + d[p] * g2)


@compile_kernel(fastmath=FASTMATH_FLAGS)
def add_scaled(total: Array, factor: Array, v: Array) -> None:
    """total += factor * v, of (N, 3, P) and a factor (P,), without a copy in between."""
    for n in range(total.shape[0]):
        for c in range(3):
            t, u = total[n, c], v[n, c]
            for p in range(total.shape[2]):
                t[p] += factor[p] * u[p]
