"""Rigid alignment of points: an angle in the plane, Horn's unit quaternion in space [Horn 1987].

The points are the landmarks of a face's region: Procrustes analysis without scale [Serra 2018, section 4.1]. It
minimises sum_i |R a_i + t - b_i|^2 over rotations R and shifts t. Weights (D = 1) are independent of each other, and
are never shifted.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

MAX_JACOBI_SWEEPS = 12  # on a 4 x 4 matrix; Jacobi converges quadratically, within 6 sweeps in all trials


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def largest_eigenvector(m: Array, vectors: Array) -> int:
    """The column of `vectors` (4, 4) that belongs to the largest eigenvalue of the symmetric m (4, 4); m is used up."""
    for i in range(4):
        for j in range(4):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(MAX_JACOBI_SWEEPS):
        off, size = 0.0, 0.0
        for p in range(4):
            size += m[p, p] * m[p, p]
            for q in range(p + 1, 4):
                off += m[p, q] * m[p, q]
        if off <= 1e-30 * size:
            break
        for p in range(3):
            for q in range(p + 1, 4):
                if m[p, q] == 0.0:
                    continue
                theta = (m[q, q] - m[p, p]) / (2.0 * m[p, q])
                t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + sqrt(theta * theta + 1.0))
                c = 1.0 / sqrt(t * t + 1.0)
                s = t * c
                for k in range(4):
                    m[k, p], m[k, q] = c * m[k, p] - s * m[k, q], s * m[k, p] + c * m[k, q]
                for k in range(4):
                    m[p, k], m[q, k] = c * m[p, k] - s * m[q, k], s * m[p, k] + c * m[q, k]
                for k in range(4):
                    v, w = vectors[k, p], vectors[k, q]
                    vectors[k, p], vectors[k, q] = c * v - s * w, s * v + c * w
    best = 0
    for i in range(1, 4):
        if m[i, i] > m[best, best]:
            best = i
    return best


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def rotation_from_covariance(h: Array, r: Array) -> None:
    """r (3, 3) = the rotation that h (3, 3) = sum a b^T asks for [Horn 1987]."""
    n, vectors = np.zeros((4, 4)), np.zeros((4, 4))
    n[0, 0] = h[0, 0] + h[1, 1] + h[2, 2]
    n[0, 1] = n[1, 0] = h[1, 2] - h[2, 1]
    n[0, 2] = n[2, 0] = h[2, 0] - h[0, 2]
    n[0, 3] = n[3, 0] = h[0, 1] - h[1, 0]
    n[1, 1] = h[0, 0] - h[1, 1] - h[2, 2]
    n[2, 2] = h[1, 1] - h[0, 0] - h[2, 2]
    n[3, 3] = h[2, 2] - h[0, 0] - h[1, 1]
    n[1, 2] = n[2, 1] = h[0, 1] + h[1, 0]
    n[1, 3] = n[3, 1] = h[2, 0] + h[0, 2]
    n[2, 3] = n[3, 2] = h[1, 2] + h[2, 1]
    k = largest_eigenvector(n, vectors)
    w, x, y, z = vectors[0, k], vectors[1, k], vectors[2, k], vectors[3, k]
    r[0, 0], r[0, 1], r[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    r[1, 0], r[1, 1], r[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    r[2, 0], r[2, 1], r[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def fit_rigid_single(a: Array, b: Array, r: Array, t: Array) -> None:
    """r (D, D) and t (D,) that take the points a (L, D) nearest to b (L, D)."""
    landmarks, dimensions = a.shape
    for i in range(dimensions):
        t[i] = 0.0
        for j in range(dimensions):
            r[i, j] = 1.0 if i == j else 0.0
    if dimensions == 1 or landmarks < 2:
        return
    ca, cb = np.zeros(dimensions), np.zeros(dimensions)
    for i in range(landmarks):
        for d in range(dimensions):
            ca[d] += a[i, d] / landmarks
            cb[d] += b[i, d] / landmarks
    h = np.zeros((dimensions, dimensions))
    for i in range(landmarks):
        for d in range(dimensions):
            for e in range(dimensions):
                h[d, e] += (a[i, d] - ca[d]) * (b[i, e] - cb[e])
    if dimensions == 2:
        angle = atan2(h[0, 1] - h[1, 0], h[0, 0] + h[1, 1])
        r[0, 0], r[0, 1], r[1, 0], r[1, 1] = cos(angle), -sin(angle), sin(angle), cos(angle)
    else:
        rotation_from_covariance(h, r)
    for d in range(dimensions):
        t[d] = cb[d]
        for e in range(dimensions):
            t[d] -= r[d, e] * ca[e]
