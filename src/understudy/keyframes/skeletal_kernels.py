"""The compiled twin of `skeletal.states`: one sample and one request after the other, without a temporary."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.keyframes.skeletal import EULER, QUATERNION, Anchors, Bones, Frames
from understudy.maths.accelerate import compiled


@compiled(nogil=True)
def rotation(q: Array, r: Array) -> None:
    """The matrix (3, 3) of a unit quaternion."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    r[0, 0], r[0, 1], r[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    r[1, 0], r[1, 1], r[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    r[2, 0], r[2, 1], r[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@compiled(nogil=True)
def of_quaternion(values: Array, first: int, r: Array, axes: Array) -> None:
    """R of four columns of any length, and a_k = 2 vec(e_k conj(q)) / |q|^2."""
    x, y, z, w = values[first], values[first + 1], values[first + 2], values[first + 3]
    square = x * x + y * y + z * z + w * w
    scale = 1.0 / np.sqrt(square)
    rotation(np.array([x * scale, y * scale, z * scale, w * scale]), r)
    k = 2.0 / square
    axes[0, 0], axes[0, 1], axes[0, 2] = k * w, k * z, -k * y
    axes[1, 0], axes[1, 1], axes[1, 2] = -k * z, k * w, k * x
    axes[2, 0], axes[2, 1], axes[2, 2] = k * y, -k * x, k * w
    axes[3, 0], axes[3, 1], axes[3, 2] = -k * x, -k * y, -k * z


@compiled(nogil=True)
def of_angles(values: Array, first: int, order: Array, r: Array, axes: Array) -> None:
    """R = R_i(a) R_j(b) R_k(c) of three columns, and the axis of each factor in the frame of the parent."""
    for a in range(3):
        for b in range(3):
            r[a, b] = 1.0 if a == b else 0.0
    for k in range(3):
        axis = order[k]
        for a in range(3):
            axes[k, a] = r[a, axis]
        c, s = np.cos(values[first + k]), np.sin(values[first + k])
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for a in range(3):
            ru, rv = r[a, u], r[a, v]
            r[a, u], r[a, v] = c * ru + s * rv, c * rv - s * ru


@compiled(nogil=True)
def frames(bones: Bones, values: Array, out: Frames) -> None:
    """Transforms of all joints at all samples."""
    for i in range(values.shape[0]):
        for j in range(bones.parents.size):
            t, r, s = out.t[i, j], out.r[i, j], out.s[i, j]
            for a in range(3):
                t[a], s[a] = bones.translations[j, a], bones.scales[j, a]
                if bones.translation_column[j] >= 0:
                    t[a] = values[i, bones.translation_column[j] + a]
                if bones.scale_column[j] >= 0:
                    s[a] = values[i, bones.scale_column[j] + a]
            if bones.rotation_kind[j] == QUATERNION:
                of_quaternion(values[i], bones.rotation_column[j], r, out.axes[i, j])
            elif bones.rotation_kind[j] == EULER:
                of_angles(values[i], bones.rotation_column[j], bones.order[j], r, out.axes[i, j])
            else:
                rotation(bones.rotations[j], r)
            p = bones.parents[j]
            linear, turn, origin = out.linear[i, j], out.turn[i, j], out.origin[i, j]
            for a in range(3):
                origin[a] = t[a] if p < 0 else out.origin[i, p, a]
                for b in range(3):
                    if p < 0:
                        linear[a, b], turn[a, b] = r[a, b] * s[b], r[a, b]
                        continue
                    origin[a] += out.linear[i, p, a, b] * t[b]
                    first, second = 0.0, 0.0
                    for c in range(3):
                        first += out.linear[i, p, a, c] * r[c, b]
                        second += out.turn[i, p, a, c] * r[c, b]
                    linear[a, b], turn[a, b] = first * s[b], second


@compiled(nogil=True)
def add_slope(jacobian: Array, column: int, weight: float, l_p: Array, x: float, y: float, z: float) -> None:
    """jacobian[:3, column] += weight L_p (x, y, z)."""
    for a in range(3):
        jacobian[a, column] += weight * (l_p[a, 0] * x + l_p[a, 1] * y + l_p[a, 2] * z)


@compiled(nogil=True)
def climb(bones: Bones, at: Frames, i: int, j: int, w: float, y: Array, out: Array) -> None:
    """Add the derivatives of a point y in the frame of joint j, with respect to j and all above it."""
    identity = np.eye(3)
    v = np.empty(3)
    while j >= 0:
        above = bones.parents[j]
        l_p = at.linear[i, above] if above >= 0 else identity
        r, s, axes = at.r[i, j], at.s[i, j], at.axes[i, j]
        for a in range(3):
            v[a] = r[a, 0] * s[0] * y[0] + r[a, 1] * s[1] * y[1] + r[a, 2] * s[2] * y[2]
        if bones.translation_column[j] >= 0:
            for k in range(3):
                unit = identity[k]
                add_slope(out, bones.translation_column[j] + k, w, l_p, unit[0], unit[1], unit[2])
        if bones.scale_column[j] >= 0:
            for k in range(3):
                add_slope(out, bones.scale_column[j] + k, w, l_p, r[0, k] * y[k], r[1, k] * y[k], r[2, k] * y[k])
        if bones.rotation_kind[j] > 0:
            for k in range(4 if bones.rotation_kind[j] == QUATERNION else 3):
                ax, ay, az = axes[k, 0], axes[k, 1], axes[k, 2]
                cx, cy, cz = ay * v[2] - az * v[1], az * v[0] - ax * v[2], ax * v[1] - ay * v[0]
                add_slope(out, bones.rotation_column[j] + k, w, l_p, cx, cy, cz)
        for a in range(3):
            y[a] = at.t[i, j, a] + v[a]
        j = above


@compiled(nogil=True)
def climb_turns(bones: Bones, at: Frames, i: int, j: int, out: Array) -> None:
    """Add the derivatives of the orientation of joint j."""
    identity = np.eye(3)
    while j >= 0:
        above = bones.parents[j]
        q_p = at.turn[i, above] if above >= 0 else identity
        if bones.rotation_kind[j] > 0:
            for k in range(4 if bones.rotation_kind[j] == QUATERNION else 3):
                axis = at.axes[i, j, k]
                add_slope(out, bones.rotation_column[j] + k, 1.0, q_p, axis[0], axis[1], axis[2])
        j = above


@compiled(nogil=True)
def states(
    bones: Bones,
    anchors: Anchors,
    at: Frames,
    values: Array,
    sample: Array,
    point: Array,
    position: Array,
    orientation: Array,
    jacobian: Array,
) -> None:
    """States and derivatives of all requests into zeroed arrays; without derivatives where `jacobian` is empty."""
    y = np.empty(3)
    slopes = jacobian.size > 0
    for request in range(sample.size):
        i, p = sample[request], point[request]
        orientation[request] = at.turn[i, anchors.main[p]]
        for b in range(anchors.first[p], anchors.first[p + 1]):
            j, w = anchors.joint[b], anchors.weight[b]
            y[:] = anchors.local[b]
            for e in range(anchors.first_shape[b], anchors.first_shape[b + 1]):
                column, d = anchors.shape_column[e], anchors.shape_delta[e]
                for a in range(3):
                    y[a] += values[i, column] * d[a]
                if slopes:
                    add_slope(jacobian[request], column, w, at.linear[i, j], d[0], d[1], d[2])
            for a in range(3):
                l_a = at.linear[i, j, a]
                position[request, a] += w * (at.origin[i, j, a] + l_a[0] * y[0] + l_a[1] * y[1] + l_a[2] * y[2])
            if slopes:
                climb(bones, at, i, j, w, y, jacobian[request])
        if slopes:
            climb_turns(bones, at, i, anchors.main[p], jacobian[request, 3:])
