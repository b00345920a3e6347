"""Compiled twins of `head_frame`: where one joint stands in each of many rows, down the chain of its ancestors."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _below(world: Array, t: Array, x: float, y: float, z: float, w: float, s: Array) -> None:
    """world (3, 4) = world @ T(t) R(x, y, z, w) S(s)."""
    m00, m01, m02 = s[0] * (1.0 - 2.0 * (y * y + z * z)), s[1] * 2.0 * (x * y - w * z), s[2] * 2.0 * (x * z + w * y)
    m10, m11, m12 = s[0] * 2.0 * (x * y + w * z), s[1] * (1.0 - 2.0 * (x * x + z * z)), s[2] * 2.0 * (y * z - w * x)
    m20, m21, m22 = s[0] * 2.0 * (x * z - w * y), s[1] * 2.0 * (y * z + w * x), s[2] * (1.0 - 2.0 * (x * x + y * y))
    for a in range(3):
        g0, g1, g2 = world[a, 0], world[a, 1], world[a, 2]
        world[a, 3] += g0 * t[0] + g1 * t[1] + g2 * t[2]
        world[a, 0] = g0 * m00 + g1 * m10 + g2 * m20
        world[a, 1] = g0 * m01 + g1 * m11 + g2 * m21
        world[a, 2] = g0 * m02 + g1 * m12 + g2 * m22


@compiled(fastmath=FAST, error_model="numpy")
def direct(rows: Array, starts: Array) -> Array:
    """(M, 12) world_from_joint, its upper three rows, of rows whose joints have translation, rotation and scale from
    `starts` on."""
    result = np.zeros((rows.shape[0], 12))
    for m in range(rows.shape[0]):
        row, world = rows[m], result[m].reshape(3, 4)
        world[0, 0] = world[1, 1] = world[2, 2] = 1.0
        for a in starts:
            _below(world, row[a : a + 3], row[a + 3], row[a + 4], row[a + 5], row[a + 6], row[a + 7 : a + 10])
    return result


@compiled(fastmath=FAST, error_model="numpy")
def layered(
    rows: Array,
    columns: Array,
    ranges: Array,  # (3, k) low, rest, high of the controls
    gains: Array,  # (n, 9, k)
    limits: Array,  # (2, n, 9) of the components
    translations: Array,
    rotations: Array,
    scales: Array,
) -> Array:
    """The same for controls that move the components of n joints, each a sum."""
    result = np.zeros((rows.shape[0], 12))
    part, t, s = np.zeros(9), np.zeros(3), np.zeros(3)
    offsets = np.zeros(columns.shape[0])
    for m in range(rows.shape[0]):
        world = result[m].reshape(3, 4)
        world[0, 0] = world[1, 1] = world[2, 2] = 1.0
        for k in range(columns.shape[0]):
            offsets[k] = min(max(rows[m, columns[k]], ranges[0, k]), ranges[2, k]) - ranges[1, k]
        for n in range(gains.shape[0]):
            for i in range(9):
                total = 0.0
                for k in range(columns.shape[0]):
                    total += gains[n, i, k] * offsets[k]
                part[i] = min(max(total, limits[0, n, i]), limits[1, n, i])
            for i in range(3):
                t[i] = translations[n, i] + part[i]
                s[i] = scales[n, i] * (1.0 + part[6 + i])
            cx, sx = cos(0.5 * part[3]), sin(0.5 * part[3])
            cy, sy = cos(0.5 * part[4]), sin(0.5 * part[4])
            cz, sz = cos(0.5 * part[5]), sin(0.5 * part[5])
            bx, by = cy * sx * cz + sy * cx * sz, sy * cx * cz - cy * sx * sz  # Ry Rx Rz
            bz, bw = cy * cx * sz - sy * sx * cz, cy * cx * cz + sy * sx * sz
            ax, ay, az, aw = rotations[n, 0], rotations[n, 1], rotations[n, 2], rotations[n, 3]
            x, y = aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx
            z, w = aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz
            _below(world, t, x, y, z, w, s)
    return result
