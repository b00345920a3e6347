"""Compiled twins of `centres_of_rotation`."""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def centres(full: Array, places: Array, areas: Array, middles: Array, width: float, rest: Array, c: Array) -> None:
    """c (V, 3) of the vertices' weights (V, B) and the places' (T, B)."""
    bones = full.shape[1]
    used = np.empty(bones, np.int64)
    whole = areas.sum()
    for i in range(full.shape[0]):
        n = 0
        for b in range(bones):
            if full[i, b] > 0:
                used[n] = b
                n += 1
        amount, x, y, z = 0.0, 0.0, 0.0, 0.0
        if n > 1:
            for t in range(places.shape[0]):
                s = 0.0
                for u in range(n):
                    j = used[u]
                    for v in range(u):
                        k = used[v]
                        both = places[t, j] * places[t, k]
                        if both > 0:
                            apart = (full[i, j] * places[t, k] - full[i, k] * places[t, j]) / width
                            s += 2 * full[i, j] * full[i, k] * both * np.exp(-apart * apart)
                s *= areas[t]
                amount += s
                x += s * middles[t, 0]
                y += s * middles[t, 1]
                z += s * middles[t, 2]
        if amount > 1e-12 * whole:
            c[i, 0], c[i, 1], c[i, 2] = x / amount, y / amount, z / amount
        else:
            c[i, 0], c[i, 1], c[i, 2] = rest[i, 0], rest[i, 1], rest[i, 2]


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def turn(rest: Array, centre: Array, joints: Array, weights: Array, q: Array, rows: Array, out: Array) -> None:
    """out (F, V, 3) of the bones' quaternions (F, B, 4) and matrices (F, B, 12)."""
    zero, two = np.float32(0.0), np.float32(2.0)
    for i in numba.prange(rest.shape[0]):
        c0, c1, c2 = centre[i, 0], centre[i, 1], centre[i, 2]
        p0, p1, p2 = rest[i, 0] - c0, rest[i, 1] - c1, rest[i, 2] - c2
        for f in range(out.shape[0]):
            first = q[f, joints[i, 0]]
            x, y, z, w, a, b, c = zero, zero, zero, zero, zero, zero, zero
            for k in range(joints.shape[1]):
                weight = weights[i, k]
                if weight == 0:
                    continue
                turned, m = q[f, joints[i, k]], rows[f, joints[i, k]]
                a += weight * (m[0] * c0 + m[1] * c1 + m[2] * c2 + m[3])
                b += weight * (m[4] * c0 + m[5] * c1 + m[6] * c2 + m[7])
                c += weight * (m[8] * c0 + m[9] * c1 + m[10] * c2 + m[11])
                along = turned[0] * first[0] + turned[1] * first[1] + turned[2] * first[2] + turned[3] * first[3]
                if along < 0:
                    weight = -weight
                x += weight * turned[0]
                y += weight * turned[1]
                z += weight * turned[2]
                w += weight * turned[3]
            size = np.sqrt(x * x + y * y + z * z + w * w)
            if size > np.float32(1e-6):
                x, y, z, w = x / size, y / size, z / size, w / size
            else:
                x, y, z, w = first[0], first[1], first[2], first[3]
            u, v, t = y * p2 - z * p1 + w * p0, z * p0 - x * p2 + w * p1, x * p1 - y * p0 + w * p2
            out[f, i, 0] = p0 + two * (y * t - z * v) + a
            out[f, i, 1] = p1 + two * (z * u - x * t) + b
            out[f, i, 2] = p2 + two * (x * v - y * u) + c
