"""Kernels of `linear` and `dual_quaternion`.

Many frames: frames are the innermost axis, so that one vertex is blended for a whole block of frames with straight
vector arithmetic and its influences are looked up once a block. The matrices come as (blocks, B, 12 * width): for each
block of `width` frames and each bone, twelve runs of `width` numbers. A block of vertices is finished in a buffer that
stays in the cache and then written frame by frame.

`width` is a constant of each kernel, because the compiler then knows how the runs lie to each other and needs no checks
for overlap before it vectorises. Two widths serve all lengths: FRAMES_PER_WIDE_BLOCK for the bulk,
FRAMES_PER_NARROW_BLOCK for the rest. They are multiples of 8 (the vector) but not of 32, so the runs of one bone do not
fall on the same lines of the first-level cache (measured: 104 takes half the time of 64 for a frame).

Few frames: one vertex at a time, all its sums in registers.

`fastmath` allows fused multiply-adds only, so NaN and infinity reach the result and can be found there.

Dual quaternions have the same layout. Rigid parts come as (blocks, B, 8 * width): real x, y, z, w, then dual x, y, z,
w. Scale and shear come as (blocks, B, 9 * width) and are read only for vertices on a bone that is scaled somewhere in
the clip.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

FRAMES_PER_WIDE_BLOCK, FRAMES_PER_NARROW_BLOCK = 104, 24
VERTICES_PER_BLOCK = 48  # 48 x 3 x 104 floats are 60 KB, and each frame's run in the result is 9 whole cache lines


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
def gather_influences(joints: Array, weights: Array, i: int, found_joints: Array, found_weights: Array) -> int:
    """The number of influences of vertex i that are not zero, and which; three of weight zero follow to fill groups."""
    n = 0
    for k in range(joints.shape[1]):
        if weights[i, k] != 0:
            found_joints[n], found_weights[n] = joints[i, k], weights[i, k]
            n += 1
    for k in range(n, n + 3):
        found_joints[k], found_weights[k] = found_joints[0], np.float32(0)
    return n


def _static_rest_kernel(width: int) -> Any:
    """The kernel for vertices that are the same in all frames."""

    @compile_kernel(parallel=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
    def blend(vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array) -> None:
        count, frames = vertices.shape[1], out.shape[0]
        for piece in numba.prange((count + VERTICES_PER_BLOCK - 1) // VERTICES_PER_BLOCK):
            start, stop = piece * VERTICES_PER_BLOCK, min(count, (piece + 1) * VERTICES_PER_BLOCK)
            done = np.empty((3, VERTICES_PER_BLOCK, width), np.float32)
            j, w = np.zeros(joints.shape[1] + 4, np.int32), np.zeros(joints.shape[1] + 4, np.float32)
            for block in range(matrices.shape[0]):
                m = matrices[block]
                for i in range(start, stop):
                    x, y, z = vertices[0, i, 0], vertices[0, i, 1], vertices[0, i, 2]
                    n = gather_influences(joints, weights, i, j, w)
                    for r in range(3):
                        o = done[r, i - start]
                        for f in range(width):
                            o[f] = 0
                    for k in range(0, n, 4):
                        a, b, c, d = m[j[k]], m[j[k + 1]], m[j[k + 2]], m[j[k + 3]]
                        a3, b3, c3, d3 = w[k], w[k + 1], w[k + 2], w[k + 3]
                        a0, a1, a2, b0, b1, b2 = a3 * x, a3 * y, a3 * z, b3 * x, b3 * y, b3 * z
                        c0, c1, c2, d0, d1, d2 = c3 * x, c3 * y, c3 * z, d3 * x, d3 * y, d3 * z
                        for r in range(3):
                            o = done[r, i - start]
                            h = 4 * r * width
                            g, u, v = h + width, h + 2 * width, h + 3 * width
                            if n - k == 1:
                                for f in range(width):
                                    o[f] += a0 * a[h + f] + a1 * a[g + f] + a2 * a[u + f] + a3 * a[v + f]
                            elif n - k == 2:
                                for f in range(width):
                                    o[f] += (a0 * a[h + f] + a1 * a[g + f] + a2 * a[u + f] + a3 * a[v + f]) + (
                                        b0 * b[h + f] + b1 * b[g + f] + b2 * b[u + f] + b3 * b[v + f]
                                    )
                            else:
                                for f in range(width):
                                    o[f] += (
                                        (a0 * a[h + f] + a1 * a[g + f] + a2 * a[u + f] + a3 * a[v + f])
                                        + (b0 * b[h + f] + b1 * b[g + f] + b2 * b[u + f] + b3 * b[v + f])
                                        + (c0 * c[h + f] + c1 * c[g + f] + c2 * c[u + f] + c3 * c[v + f])
                                        + (d0 * d[h + f] + d1 * d[g + f] + d2 * d[u + f] + d3 * d[v + f])
                                    )
                write_frames(done, start, stop, first + block * width, min(width, frames - first - block * width), out)

    return blend


@compile_kernel(inline="always")
def write_frames(done: Array, start: int, stop: int, first: int, frames: int, out: Array) -> None:
    """done (3, VERTICES_PER_BLOCK, width) to out[first : first + frames, start:stop]."""
    for f in range(frames):
        row = out[first + f]
        for i in range(start, stop):
            row[i, 0], row[i, 1], row[i, 2] = done[0, i - start, f], done[1, i - start, f], done[2, i - start, f]


def _moving_rest_kernel(width: int) -> Any:
    """The kernel for vertices (F, V, 3) that already differ from frame to frame (after blend shapes)."""

    @compile_kernel(parallel=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
    def blend(vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array) -> None:
        count, frames = vertices.shape[1], out.shape[0]
        for piece in numba.prange((count + VERTICES_PER_BLOCK - 1) // VERTICES_PER_BLOCK):
            start, stop = piece * VERTICES_PER_BLOCK, min(count, (piece + 1) * VERTICES_PER_BLOCK)
            rest, done = (
                np.zeros((VERTICES_PER_BLOCK, 3 * width), np.float32),
                np.empty((3, VERTICES_PER_BLOCK, width), np.float32),
            )
            j, w = np.zeros(joints.shape[1] + 4, np.int32), np.zeros(joints.shape[1] + 4, np.float32)
            for block in range(matrices.shape[0]):
                m = matrices[block]
                read_frames(vertices, start, stop, first + block * width, width, rest)
                for i in range(start, stop):
                    p = rest[i - start]
                    n = gather_influences(joints, weights, i, j, w)
                    for r in range(3):
                        o = done[r, i - start]
                        for f in range(width):
                            o[f] = 0
                    for k in range(0, n, 2):
                        a, b, a3, b3 = m[j[k]], m[j[k + 1]], w[k], w[k + 1]
                        for r in range(3):
                            o = done[r, i - start]
                            h = 4 * r * width
                            g, u, v = h + width, h + 2 * width, h + 3 * width
                            for f in range(width):
                                o[f] += (
                                    p[f] * (a3 * a[h + f] + b3 * b[h + f])
                                    + p[width + f] * (a3 * a[g + f] + b3 * b[g + f])
                                    + p[2 * width + f] * (a3 * a[u + f] + b3 * b[u + f])
                                    + (a3 * a[v + f] + b3 * b[v + f])
                                )
                write_frames(done, start, stop, first + block * width, min(width, frames - first - block * width), out)

    return blend


@compile_kernel(inline="always")
def read_frames(vertices: Array, start: int, stop: int, first: int, width: int, rest: Array) -> None:
    """vertices[first : first + width, start:stop] to rest (vertices, 3 * width), unchanged beyond the last frame."""
    for f in range(min(width, vertices.shape[0] - first)):
        row = vertices[first + f]
        for i in range(start, stop):
            p = rest[i - start]
            p[f], p[width + f], p[2 * width + f] = row[i, 0], row[i, 1], row[i, 2]


blend_static_wide, blend_static_narrow = (
    _static_rest_kernel(FRAMES_PER_WIDE_BLOCK),
    _static_rest_kernel(FRAMES_PER_NARROW_BLOCK),
)
blend_moving_wide, blend_moving_narrow = (
    _moving_rest_kernel(FRAMES_PER_WIDE_BLOCK),
    _moving_rest_kernel(FRAMES_PER_NARROW_BLOCK),
)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _blend_linear_vertex(
    x: float, y: float, z: float, joints: Array, weights: Array, m: Array, i: int, row: Array
) -> None:
    """One vertex in one frame; m (B, 12)."""
    o0, o1, o2 = np.float32(0), np.float32(0), np.float32(0)
    for k in range(joints.shape[1]):
        w = weights[i, k]
        if w != 0:
            j = joints[i, k]
            a, b, c = w * x, w * y, w * z
            o0 += a * m[j, 0] + b * m[j, 1] + c * m[j, 2] + w * m[j, 3]
            o1 += a * m[j, 4] + b * m[j, 5] + c * m[j, 6] + w * m[j, 7]
            o2 += a * m[j, 8] + b * m[j, 9] + c * m[j, 10] + w * m[j, 11]
    row[i, 0], row[i, 1], row[i, 2] = o0, o1, o2


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def blend_linear_few(vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array) -> None:
    """Frames first, first + 1, ... of `out`, from matrices (frames, B, 12), on the calling thread."""
    for f in range(matrices.shape[0]):
        rest = vertices[min(first + f, vertices.shape[0] - 1)]
        for i in range(rest.shape[0]):
            _blend_linear_vertex(rest[i, 0], rest[i, 1], rest[i, 2], joints, weights, matrices[f], i, out[first + f])


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def blend_linear_few_parallel(
    vertices: Array, joints: Array, weights: Array, matrices: Array, first: int, out: Array
) -> None:
    """The same with the vertices shared among the threads."""
    for i in numba.prange(vertices.shape[1]):
        for f in range(matrices.shape[0]):
            rest = vertices[min(first + f, vertices.shape[0] - 1)]
            _blend_linear_vertex(
                rest[i, 0], rest[i, 1], rest[i, 2], joints, weights, matrices[f], np.int64(i), out[first + f]
            )


__all__ = [
    "FRAMES_PER_NARROW_BLOCK",
    "FRAMES_PER_WIDE_BLOCK",
    "blend_dual_few",
    "blend_dual_few_parallel",
    "blend_dual_narrow",
    "blend_dual_wide",
]

ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)


@compile_kernel(inline="always")
def _largest_first(n: int, j: Array, w: Array) -> None:
    """Swap the influence of the largest weight (the pivot; the first of equals) to the front."""
    best = 0
    for k in range(1, n):
        if w[k] > w[best]:
            best = k
    j[0], j[best] = j[best], j[0]
    w[0], w[best] = w[best], w[0]


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
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


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
def _add_three(
    width: int, pivot: Array, a: Array, b: Array, c: Array, wa: float, wb: float, wc: float, total: Array
) -> None:
    """total += three dual quaternions times their weights, each with the sign of the pivot's side."""
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
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


def _dual_kernel(width: int) -> Any:
    @compile_kernel(parallel=True, fastmath=FASTMATH_FLAGS, error_model="numpy")
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
        for piece in numba.prange((count + VERTICES_PER_BLOCK - 1) // VERTICES_PER_BLOCK):
            start, stop = piece * VERTICES_PER_BLOCK, min(count, (piece + 1) * VERTICES_PER_BLOCK)
            done, total = np.empty((3, VERTICES_PER_BLOCK, width), np.float32), np.empty(8 * width, np.float32)
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


blend_dual_wide, blend_dual_narrow = _dual_kernel(FRAMES_PER_WIDE_BLOCK), _dual_kernel(FRAMES_PER_NARROW_BLOCK)


@compile_kernel(fastmath=FASTMATH_FLAGS, inline="always")
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _blend_dual_vertex(
    i: int, rest: Array, joints: Array, weights: Array, rigid: Array, scale: Array, row: Array
) -> None:
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def blend_dual_few(
    vertices: Array, joints: Array, weights: Array, rigid: Array, scale: Array, first: int, out: Array
) -> None:
    """Frames first, first + 1, ... of `out`, from rigid (frames, B, 8) and scale (frames, B, 9)."""
    for f in range(rigid.shape[0]):
        rest = vertices[min(first + f, vertices.shape[0] - 1)]
        for i in range(rest.shape[0]):
            _blend_dual_vertex(i, rest, joints, weights, rigid[f], scale[f], out[first + f])


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def blend_dual_few_parallel(
    vertices: Array, joints: Array, weights: Array, rigid: Array, scale: Array, first: int, out: Array
) -> None:
    """The same with the vertices shared among the threads."""
    for i in numba.prange(vertices.shape[1]):
        for f in range(rigid.shape[0]):
            rest = vertices[min(first + f, vertices.shape[0] - 1)]
            _blend_dual_vertex(np.int64(i), rest, joints, weights, rigid[f], scale[f], out[first + f])
