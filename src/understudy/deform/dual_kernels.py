"""Compiled twins of `dual`, laid out as in `linear_kernels`: frames innermost, or a few frames vertex by vertex.

Rigid parts come as (blocks, B, 8 * width): real x, y, z, w, then dual x, y, z, w. Scale and shear come as
(blocks, B, 9 * width) and are read only for vertices that hang on a bone which is scaled somewhere in the clip.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from understudy.checks import Array
from understudy.deform.linear_kernels import BLOCK, NARROW, WIDE, gather_influences, write_frames
from understudy.maths.accelerate import FAST, compiled

__all__ = ["NARROW", "WIDE", "few", "few_shared", "narrow", "wide"]

ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)


@compiled(inline="always")
def _largest_first(n: int, j: Array, w: Array) -> None:
    """Swap the influence of the largest weight (the pivot; the first of equals) to the front."""
    best = 0
    for k in range(1, n):
        if w[k] > w[best]:
            best = k
    j[0], j[best] = j[best], j[0]
    w[0], w[best] = w[best], w[0]


@compiled(fastmath=FAST, inline="always")
def _scale_frames(n: int, j: Array, w: Array, scale: Array, width: int, p: Array, q: Array) -> None:
    """p (3 * width) becomes sum_k w_k S_k p / sum_k w_k, by way of q."""
    total = ZERO
    for k in range(n):
        total += w[k]
    for c in range(3 * width):
        q[c] = 0
    for k in range(n):
        s, share = scale[j[k]], w[k] / total
        for r in range(3):
            h = 3 * r * width
            for f in range(width):
                q[r * width + f] += share * (
                    s[h + f] * p[f] + s[h + width + f] * p[width + f] + s[h + 2 * width + f] * p[2 * width + f]
                )
    for c in range(3 * width):
        p[c] = q[c]


@compiled(fastmath=FAST, inline="always")
def _add_three(
    width: int, pivot: Array, a: Array, b: Array, c: Array, wa: float, wb: float, wc: float, total: Array
) -> None:
    """total += three dual quaternions times their weights, each turned to the side of the pivot."""
    y, z, w4, b0, b1, b2, b3 = width, 2 * width, 3 * width, 4 * width, 5 * width, 6 * width, 7 * width
    for f in range(width):
        px, py, pz, pw = pivot[f], pivot[y + f], pivot[z + f], pivot[w4 + f]
        da = px * a[f] + py * a[y + f] + pz * a[z + f] + pw * a[w4 + f]
        db = px * b[f] + py * b[y + f] + pz * b[z + f] + pw * b[w4 + f]
        dc = px * c[f] + py * c[y + f] + pz * c[z + f] + pw * c[w4 + f]
        ua = -wa if da < 0 else wa
        ub = -wb if db < 0 else wb
        uc = -wc if dc < 0 else wc
        total[f] += ua * a[f] + ub * b[f] + uc * c[f]
        total[y + f] += ua * a[y + f] + ub * b[y + f] + uc * c[y + f]
        total[z + f] += ua * a[z + f] + ub * b[z + f] + uc * c[z + f]
        total[w4 + f] += ua * a[w4 + f] + ub * b[w4 + f] + uc * c[w4 + f]
        total[b0 + f] += ua * a[b0 + f] + ub * b[b0 + f] + uc * c[b0 + f]
        total[b1 + f] += ua * a[b1 + f] + ub * b[b1 + f] + uc * c[b1 + f]
        total[b2 + f] += ua * a[b2 + f] + ub * b[b2 + f] + uc * c[b2 + f]
        total[b3 + f] += ua * a[b3 + f] + ub * b[b3 + f] + uc * c[b3 + f]


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _apply(width: int, total: Array, p: Array, o0: Array, o1: Array, o2: Array) -> None:
    """Points p (3 * width) moved by the blended dual quaternions; where all weights are zero they stay."""
    y, z, w4, b0, b1, b2, b3 = width, 2 * width, 3 * width, 4 * width, 5 * width, 6 * width, 7 * width
    for f in range(width):
        ax, ay, az, aw = total[f], total[y + f], total[z + f], total[w4 + f]
        bx, by, bz, bw = total[b0 + f], total[b1 + f], total[b2 + f], total[b3 + f]
        px, py, pz = p[f], p[y + f], p[z + f]
        norm = ax * ax + ay * ay + az * az + aw * aw
        n = TWO / norm if norm != 0 else ZERO
        cx, cy, cz = ay * pz - az * py + aw * px, az * px - ax * pz + aw * py, ax * py - ay * px + aw * pz
        o0[f] = px + n * (ay * cz - az * cy + aw * bx - bw * ax + ay * bz - az * by)
        o1[f] = py + n * (az * cx - ax * cz + aw * by - bw * ay + az * bx - ax * bz)
        o2[f] = pz + n * (ax * cy - ay * cx + aw * bz - bw * az + ax * by - ay * bx)


def _kernel(width: int) -> Any:
    @compiled(parallel=True, fastmath=FAST, error_model="numpy")
    def blend(
        vertices: Array,
        joints: Array,
        weights: Array,
        rigid: Array,
        scale: Array,
        scaled: Array,
        first: int,
        out: Array,
    ) -> None:
        count, frames, moving = vertices.shape[1], out.shape[0], vertices.shape[0] > 1
        for piece in numba.prange((count + BLOCK - 1) // BLOCK):
            start, stop = piece * BLOCK, min(count, (piece + 1) * BLOCK)
            done, total = np.empty((3, BLOCK, width), np.float32), np.empty(8 * width, np.float32)
            p, q = np.zeros(3 * width, np.float32), np.zeros(3 * width, np.float32)
            j, w = np.zeros(joints.shape[1] + 4, np.int32), np.zeros(joints.shape[1] + 4, np.float32)
            for block in range(rigid.shape[0]):
                here = first + block * width
                length = min(width, frames - here)
                for i in range(start, stop):
                    n = gather_influences(joints, weights, i, j, w)
                    _largest_first(n, j, w)
                    for r in range(3):
                        if moving:
                            for f in range(length):
                                p[r * width + f] = vertices[here + f, i, r]
                        else:
                            value = vertices[0, i, r]
                            for f in range(width):
                                p[r * width + f] = value
                    for k in range(n):
                        if scaled[j[k]]:
                            _scale_frames(n, j, w, scale[block], width, p, q)
                            break
                    pivot, w0 = rigid[block, j[0]], w[0] if n else ZERO
                    for c in range(8 * width):
                        total[c] = w0 * pivot[c]
                    for k in range(1, n, 3):
                        a, b, c3 = rigid[block, j[k]], rigid[block, j[k + 1]], rigid[block, j[k + 2]]
                        _add_three(width, pivot, a, b, c3, w[k], w[k + 1], w[k + 2], total)
                    _apply(width, total, p, done[0, i - start], done[1, i - start], done[2, i - start])
                write_frames(done, start, stop, here, length, out)

    return blend


wide, narrow = _kernel(WIDE), _kernel(NARROW)


@compiled(fastmath=FAST, inline="always")
def _scale_vertex(i: int, x: float, y: float, z: float, joints: Array, weights: Array, scale: Array) -> tuple:
    """sum_k w_k S_k v / sum_k w_k of one vertex; scale (B, 9)."""
    px, py, pz, total = ZERO, ZERO, ZERO, ZERO
    for k in range(joints.shape[1]):
        w = weights[i, k]
        if w != 0:
            s = scale[joints[i, k]]
            total += w
            px += w * (s[0] * x + s[1] * y + s[2] * z)
            py += w * (s[3] * x + s[4] * y + s[5] * z)
            pz += w * (s[6] * x + s[7] * y + s[8] * z)
    if total == 0:
        return x, y, z
    return px / total, py / total, pz / total


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _vertex(i: int, rest: Array, joints: Array, weights: Array, rigid: Array, scale: Array, row: Array) -> None:
    """One vertex in one frame; rigid (B, 8), scale (B, 9), or (B, 0) where nothing is scaled."""
    x, y, z = rest[i, 0], rest[i, 1], rest[i, 2]
    if scale.shape[1]:
        x, y, z = _scale_vertex(i, x, y, z, joints, weights, scale)
    best, largest = joints[i, 0], weights[i, 0]
    for k in range(1, joints.shape[1]):
        larger = weights[i, k] > largest
        best = joints[i, k] if larger else best
        largest = weights[i, k] if larger else largest
    pivot = rigid[best]
    ax = ay = az = aw = bx = by = bz = bw = ZERO
    for k in range(joints.shape[1]):
        w = weights[i, k]
        if w != 0:
            q = rigid[joints[i, k]]
            side = q[0] * pivot[0] + q[1] * pivot[1] + q[2] * pivot[2] + q[3] * pivot[3]
            w *= np.copysign(ONE, side)  # no branch: which side a joint lies on cannot be foreseen
            ax, ay, az, aw = ax + w * q[0], ay + w * q[1], az + w * q[2], aw + w * q[3]
            bx, by, bz, bw = bx + w * q[4], by + w * q[5], bz + w * q[6], bw + w * q[7]
    norm = ax * ax + ay * ay + az * az + aw * aw
    n = TWO / norm if norm != 0 else ZERO
    cx, cy, cz = ay * z - az * y + aw * x, az * x - ax * z + aw * y, ax * y - ay * x + aw * z
    row[i, 0] = x + n * (ay * cz - az * cy + aw * bx - bw * ax + ay * bz - az * by)
    row[i, 1] = y + n * (az * cx - ax * cz + aw * by - bw * ay + az * bx - ax * bz)
    row[i, 2] = z + n * (ax * cy - ay * cx + aw * bz - bw * az + ax * by - ay * bx)


@compiled(fastmath=FAST, error_model="numpy")
def few(vertices: Array, joints: Array, weights: Array, rigid: Array, scale: Array, first: int, out: Array) -> None:
    """Frames first, first + 1, ... of `out`, from rigid (frames, B, 8) and scale (frames, B, 9)."""
    for f in range(rigid.shape[0]):
        rest = vertices[min(first + f, vertices.shape[0] - 1)]
        for i in range(rest.shape[0]):
            _vertex(i, rest, joints, weights, rigid[f], scale[f], out[first + f])


@compiled(fastmath=FAST, error_model="numpy", parallel=True)
def few_shared(
    vertices: Array, joints: Array, weights: Array, rigid: Array, scale: Array, first: int, out: Array
) -> None:
    """The same with the vertices shared among the threads."""
    for i in numba.prange(vertices.shape[1]):
        for f in range(rigid.shape[0]):
            rest = vertices[min(first + f, vertices.shape[0] - 1)]
            _vertex(np.int64(i), rest, joints, weights, rigid[f], scale[f], out[first + f])
