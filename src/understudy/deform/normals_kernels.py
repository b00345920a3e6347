"""Compiled twins of `normals`. One frame is one thread's work, so the order of the sums does not depend on the threads.

Sums are in double precision: corners of a millimetre give cross products of 1e-6 square metres, and a fan of slivers
would otherwise lose its direction.
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _corner_angle(a: Array, b: Array, c: Array) -> float:
    """The angle of the triangle a, b, c at corner a."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return np.arctan2(np.sqrt(x * x + y * y + z * z), ux * vx + uy * vy + uz * vz)


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _frame(v: Array, triangles: Array, by_angle: bool, total: Array, out: Array) -> None:
    """Normals (V, 3) of one frame's vertices (V, 3); total (V, 3) is scratch."""
    total[:] = 0.0
    corner = np.empty((3, 3))
    for t in range(triangles.shape[0]):
        for k in range(3):
            for c in range(3):
                corner[k, c] = v[triangles[t, k], c]
        ux, uy, uz = corner[1, 0] - corner[0, 0], corner[1, 1] - corner[0, 1], corner[1, 2] - corner[0, 2]
        vx, vy, vz = corner[2, 0] - corner[0, 0], corner[2, 1] - corner[0, 1], corner[2, 2] - corner[0, 2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        area = np.sqrt(x * x + y * y + z * z)
        if area == 0:
            continue
        for k in range(3):
            i, share = triangles[t, k], 1.0
            if by_angle:
                share = _corner_angle(corner[k], corner[(k + 1) % 3], corner[(k + 2) % 3]) / area
            total[i, 0] += share * x
            total[i, 1] += share * y
            total[i, 2] += share * z
    for i in range(total.shape[0]):
        x, y, z = total[i, 0], total[i, 1], total[i, 2]
        length = np.sqrt(x * x + y * y + z * z)
        n = 1.0 / length if length != 0 else 0.0
        out[i, 0], out[i, 1], out[i, 2] = n * x, n * y, n * z


@compiled(fastmath=FAST, error_model="numpy")
def of_frame(vertices: Array, triangles: Array, by_angle: bool, out: Array) -> None:
    """Normals of frames (F, V, 3), one after the other on the calling thread."""
    total = np.empty((vertices.shape[1], 3))
    for f in range(vertices.shape[0]):
        _frame(vertices[f], triangles, by_angle, total, out[f])


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def of_frames(vertices: Array, triangles: Array, by_angle: bool, out: Array) -> None:
    """Normals of frames (F, V, 3), frames shared among the threads."""
    for f in numba.prange(vertices.shape[0]):
        _frame(vertices[f], triangles, by_angle, np.empty((vertices.shape[1], 3)), out[f])


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def turn(columns: Array, normals: Array, out: Array) -> None:
    """out = unit(sign(det A) cofactors(A) n), of A's columns (3, F, V, 3) and normals (F or 1, V, 3)."""
    for i in numba.prange(out.shape[1]):
        for f in range(out.shape[0]):
            n = normals[min(f, normals.shape[0] - 1), i]
            a, b, c = columns[0, f, i], columns[1, f, i], columns[2, f, i]
            bcx, bcy, bcz = b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]
            cax, cay, caz = c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2], c[0] * a[1] - c[1] * a[0]
            abx, aby, abz = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
            x = n[0] * bcx + n[1] * cax + n[2] * abx
            y = n[0] * bcy + n[1] * cay + n[2] * aby
            z = n[0] * bcz + n[1] * caz + n[2] * abz
            length = np.sqrt(x * x + y * y + z * z)
            scale = 1.0 / length if length != 0 else 0.0
            if a[0] * bcx + a[1] * bcy + a[2] * bcz < 0:
                scale = -scale
            out[f, i, 0], out[f, i, 1], out[f, i, 2] = scale * x, scale * y, scale * z
