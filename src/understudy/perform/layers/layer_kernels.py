"""Compiled loops of the layers, for one row or many: NumPy spends most of its time on the calls here.

- `read_eye_angles`, `write_eye_angles`: `eye_drives.ControlDrive`
- `face_directions`, `eye_angles`: `eyes.Eyes.direction`, `bearing` and `angles` of many characters
- `head_frames_direct`, `head_frames_layered`: `eyes.HeadFrame`, one joint of each row, down the chain of its ancestors
- `lid_closure`: `eye_drives.EyelidDrive.closure` of many rows
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.perform.layers.eyes import GAZE_FADE_RAD, MAX_SKEW_RAD, MAX_VERGENCE_RAD


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def read_eye_angles(rows: Array, columns: Array, gains: Array, ranges: Array) -> Array:
    """(M, 4) G (c - rest) of rows (M, C), `ranges` (3, k) being low, rest and high of the controls."""
    result = np.zeros((rows.shape[0], 4))
    for m in range(rows.shape[0]):
        for k in range(columns.shape[0]):
            offset = rows[m, columns[k]] - ranges[1, k]
            for i in range(4):
                result[m, i] += gains[i, k] * offset
    return result


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def write_eye_angles(
    rows: Array, which: Array, columns: Array, gains: Array, both: Array, single: Array, ranges: Array, angles: Array
) -> None:
    """In the rows `which` (N,), the controls of both eyes take the angles (N, 4) as far as they reach, those of one eye
    what is left over."""
    count = columns.shape[0]
    offsets, left = np.zeros(count), np.zeros(4)
    for n in range(which.shape[0]):
        offsets[:] = 0.0
        left[:] = angles[n]
        for inverse in (both, single):
            for k in range(count):
                for i in range(4):
                    offsets[k] += inverse[k, i] * left[i]
                offsets[k] = min(max(offsets[k], ranges[0, k] - ranges[1, k]), ranges[2, k] - ranges[1, k])
            for i in range(4):
                left[i] = angles[n, i]
                for k in range(count):
                    left[i] -= gains[i, k] * offsets[k]
        for k in range(count):
            rows[which[n], columns[k]] = ranges[1, k] + offsets[k]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _in_face(frame: Array, point: Array, axes: Array) -> tuple[float, float, float]:
    """`eyes.to_local`, along the axes (3, 3) of the face: across, up, ahead."""
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _visibility(off: float) -> float:
    """`eyes._visibility`."""
    return (
        1.0
        if off <= GAZE_FADE_RAD[0]
        else max(1.0 - (off - GAZE_FADE_RAD[0]) / (GAZE_FADE_RAD[1] - GAZE_FADE_RAD[0]), 0.0)
    )


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def face_directions(frames: Array, points: Array, axes: Array, middle: Array, out: Array) -> None:
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
        out[m, 3] = off * _visibility(off)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def eye_angles(frames: Array, points: Array, shifts: Array, axes: Array, eyes: Array, reach: Array, out: Array) -> None:
    """Into out (M, 4), the angles of eyes that look at points (M, 3), and `shifts` (M, 2) beside them.

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
        _clamp_to_limits(out[m], reach)
        if shifts[m, 0] != 0.0 or shifts[m, 1] != 0.0:
            out[m, 0] += shifts[m, 0]
            out[m, 1] += shifts[m, 1]
            _clamp_to_limits(out[m], reach)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _clamp_to_limits(angles: Array, reach: Array) -> None:
    """`Eyes.clamp_to_limits`, in place."""
    counts = _visibility(hypot(angles[0], angles[1]))
    for i in range(4):
        angles[i] *= counts
    out = hypot(angles[0] / reach[0], angles[1] / reach[1])
    if out > 1.0:
        angles[0] /= out
        angles[1] /= out
    angles[2] = min(max(angles[2], 0.0), MAX_VERGENCE_RAD)
    angles[3] = min(max(angles[3], -MAX_SKEW_RAD), MAX_SKEW_RAD)


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")
def _apply_local_transform(world: Array, t: Array, x: float, y: float, z: float, w: float, s: Array) -> None:
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


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def head_frames_direct(rows: Array, starts: Array) -> Array:
    """(M, 12) world_from_joint, its upper three rows, of rows whose joints have translation, rotation and scale from
    `starts` on."""
    result = np.zeros((rows.shape[0], 12))
    for m in range(rows.shape[0]):
        row, world = rows[m], result[m].reshape(3, 4)
        world[0, 0] = world[1, 1] = world[2, 2] = 1.0
        for a in starts:
            _apply_local_transform(
                world, row[a : a + 3], row[a + 3], row[a + 4], row[a + 5], row[a + 6], row[a + 7 : a + 10]
            )
    return result


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def head_frames_layered(
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
            _apply_local_transform(world, t, x, y, z, w, s)
    return result


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def lid_closure(rows: Array, column: int, open: float, shut: float, others: Array, gains: Array, rest: Array) -> Array:
    """(M,) how far the eye is shut in each of rows (M, C), 0 to 1: by its blink, and by the controls `others` (n,)."""
    result = np.empty(rows.shape[0])
    for m in range(rows.shape[0]):
        lowered = 0.0
        for k in range(others.shape[0]):
            lowered += gains[k] * (rows[m, others[k]] - rest[k])
        blink = min(max((rows[m, column] - open) / (shut - open), 0.0), 1.0)
        result[m] = 1.0 - (1.0 - blink) * (1.0 - min(max(lowered, 0.0), 1.0))
    return result
