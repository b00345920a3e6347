"""Kernels of Delta Mush: a rotation for each vertex, by Horn's quaternion (`maths.rigid_fit_kernels`)."""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.maths.rigid_fit_kernels import rotation_from_covariance


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def add_detail(q: Array, scale: Array, rest: Array, delta: Array, first: Array, neighbours: Array, out: Array) -> None:
    """out (F, N, 3) = q + scale R delta, R from the edges of a point and of its neighbours; see `DeltaMush`."""
    frames, points = q.shape[:2]
    own = np.zeros((points, 3, 3))
    h, r = np.zeros((3, 3)), np.zeros((3, 3))
    for f in range(frames):
        for i in range(points):
            own[i] = 0.0
            for e in range(first[i], first[i + 1]):
                j = neighbours[e]
                for a in range(3):
                    for b in range(3):
                        own[i, a, b] += (rest[j, a] - rest[i, a]) * (q[f, j, b] - q[f, i, b])
        for i in range(points):
            h[:] = own[i]
            for e in range(first[i], first[i + 1]):
                h += own[neighbours[e]]
            rotation_from_covariance(h, r)
            for a in range(3):
                turned = r[a, 0] * delta[i, 0] + r[a, 1] * delta[i, 1] + r[a, 2] * delta[i, 2]
                out[f, i, a] = q[f, i, a] + scale[f, i] * turned


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def blend_moments(omega: Array, joints: Array, delta: Array, matrices: Array, scale: Array, out: Array) -> None:
    """out (F, V, 3) of omega (V, K, 10), matrices (F, B, 3, 4) and their scales (F, B); see `DirectDeltaMush`."""
    for i in numba.prange(len(omega)):
        h, r, total = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 4))
        p = np.zeros(3)
        for k in range(joints.shape[1]):
            for a in range(3):
                p[a] += omega[i, k, 6 + a]
        for f in range(len(out)):
            total[:] = 0.0
            size = 0.0
            for k in range(joints.shape[1]):
                o, m = omega[i, k], matrices[f, joints[i, k]]
                size += o[9] * scale[f, joints[i, k]]
                for a in range(3):
                    x, y, z, t = m[a, 0], m[a, 1], m[a, 2], m[a, 3]
                    total[a, 0] += x * o[0] + y * o[1] + z * o[2] + t * o[6]
                    total[a, 1] += x * o[1] + y * o[3] + z * o[4] + t * o[7]
                    total[a, 2] += x * o[2] + y * o[4] + z * o[5] + t * o[8]
                    total[a, 3] += x * o[6] + y * o[7] + z * o[8] + t * o[9]
            for a in range(3):
                for b in range(3):
                    h[b, a] = total[a, b] - total[a, 3] * p[b]
            rotation_from_covariance(h, r)
            for a in range(3):
                turned = r[a, 0] * delta[i, 0] + r[a, 1] * delta[i, 1] + r[a, 2] * delta[i, 2]
                out[f, i, a] = total[a, 3] + size * turned
