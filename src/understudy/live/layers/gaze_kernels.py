"""Compiled twins of what `eyes` reckons for one character, for many: where faces point, and how eyes stand."""

from __future__ import annotations

from math import atan2, hypot, pi

from understudy.checks import Array
from understudy.live.layers.eyes import MOST_SKEW, MOST_VERGE, SEEN
from understudy.maths.accelerate import FAST, compiled

Three = tuple[float, float, float]


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _in_face(frame: Array, point: Array, axes: Array) -> Three:
    """`eyes.inside`, along the axes (3, 3) of the face: across, up, ahead."""
    a, b, c, d, e, f = frame[0], frame[1], frame[2], frame[4], frame[5], frame[6]
    g, h, i = frame[8], frame[9], frame[10]
    x, y, z = point[0] - frame[3], point[1] - frame[7], point[2] - frame[11]
    ei, fg, dh = e * i - f * h, f * g - d * i, d * h - e * g
    det = a * ei + b * fg + c * dh
    if det == 0.0:
        return 0.0, 0.0, 0.0
    u = (ei * x + (c * h - b * i) * y + (b * f - c * e) * z) / det
    v = (fg * x + (a * i - c * g) * y + (c * d - a * f) * z) / det
    w = (dh * x + (b * g - a * h) * y + (a * e - b * d) * z) / det
    return (
        u * axes[0, 0] + v * axes[0, 1] + w * axes[0, 2],
        u * axes[1, 0] + v * axes[1, 1] + w * axes[1, 2],
        u * axes[2, 0] + v * axes[2, 1] + w * axes[2, 2],
    )


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _counts(off: float) -> float:
    """`eyes._seen`."""
    return 1.0 if off <= SEEN[0] else max(1.0 - (off - SEEN[0]) / (SEEN[1] - SEEN[0]), 0.0)


@compiled(fastmath=FAST, error_model="numpy")
def sights(frames: Array, points: Array, axes: Array, middle: Array, out: Array) -> None:
    """Into out (M, 4), for heads (M, 12): where the face points in the world, and how far off a point (M, 3) is seen.

    `middle` (3,) lies between the eyes, along the axes of the face.
    """
    for m in range(frames.shape[0]):
        frame = frames[m]
        size = 0.0
        for i in range(3):
            along = frame[4 * i] * axes[2, 0] + frame[4 * i + 1] * axes[2, 1] + frame[4 * i + 2] * axes[2, 2]
            out[m, i] = along
            size += along * along
        size = size**0.5
        for i in range(3):
            out[m, i] /= size if size > 0.0 else 1.0
        across, up, ahead = _in_face(frame, points[m], axes)
        across, up, ahead = across - middle[0], up - middle[1], ahead - middle[2]
        off = hypot(atan2(across, ahead), atan2(up, hypot(across, ahead)))
        out[m, 3] = off * _counts(off)


@compiled(fastmath=FAST, error_model="numpy")
def angles(frames: Array, points: Array, shifts: Array, axes: Array, eyes: Array, reach: Array, out: Array) -> None:
    """Into out (M, 4), how the eyes stand that look at points (M, 3), and `shifts` (M, 2) beside them.

    `eyes` (6,) are the left and the right one along the axes of the face.
    """
    for m in range(frames.shape[0]):
        across, up, ahead = _in_face(frames[m], points[m], axes)
        left, right = across - eyes[0], across - eyes[3]
        a, c = atan2(left, ahead - eyes[2]), atan2(right, ahead - eyes[5])
        b, d = atan2(up - eyes[1], hypot(left, ahead - eyes[2])), atan2(up - eyes[4], hypot(right, ahead - eyes[5]))
        if c - a < -pi or c - a > pi:
            a = c
        out[m, 0], out[m, 1], out[m, 2], out[m, 3] = 0.5 * (a + c), 0.5 * (b + d), 0.5 * (c - a), 0.5 * (b - d)
        _hold(out[m], reach)
        if shifts[m, 0] != 0.0 or shifts[m, 1] != 0.0:
            out[m, 0] += shifts[m, 0]
            out[m, 1] += shifts[m, 1]
            _hold(out[m], reach)


@compiled(fastmath=FAST, error_model="numpy", inline="always")
def _hold(angles: Array, reach: Array) -> None:
    """`Eyes.held`, in place."""
    counts = _counts(hypot(angles[0], angles[1]))
    for i in range(4):
        angles[i] *= counts
    out = hypot(angles[0] / reach[0], angles[1] / reach[1])
    if out > 1.0:
        angles[0] /= out
        angles[1] /= out
    angles[2] = min(max(angles[2], 0.0), MOST_VERGE)
    angles[3] = min(max(angles[3], -MOST_SKEW), MOST_SKEW)
