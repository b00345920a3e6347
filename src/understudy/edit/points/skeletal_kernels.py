"""States of points of a skeleton (see `skeletal`): one sample and one request after the other, without temporaries."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.edit.points.skeletal import EULER_ROTATION, QUATERNION_ROTATION, Anchors, JointChain, JointFrames
from understudy.maths.jit import compile_kernel


@compile_kernel(nogil=True)
def rotation(x: float, y: float, z: float, w: float, r: Array) -> None:
    """The matrix (3, 3) of a unit quaternion."""
    r[0, 0], r[0, 1], r[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    r[1, 0], r[1, 1], r[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    r[2, 0], r[2, 1], r[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@compile_kernel(nogil=True)
def rotation_from_quaternion(values: Array, first: int, r: Array, axes: Array, i: int, j: int) -> None:
    """R of four columns of any length, and a_k = 2 vec(e_k conj(q)) / |q|^2 into axes[i, j]."""
    x, y, z, w = values[first], values[first + 1], values[first + 2], values[first + 3]
    square = x * x + y * y + z * z + w * w
    scale = 1.0 / np.sqrt(square)
    rotation(x * scale, y * scale, z * scale, w * scale, r)
    k = 2.0 / square
    axes[i, j, 0, 0], axes[i, j, 0, 1], axes[i, j, 0, 2] = k * w, k * z, -k * y
    axes[i, j, 1, 0], axes[i, j, 1, 1], axes[i, j, 1, 2] = -k * z, k * w, k * x
    axes[i, j, 2, 0], axes[i, j, 2, 1], axes[i, j, 2, 2] = k * y, -k * x, k * w
    axes[i, j, 3, 0], axes[i, j, 3, 1], axes[i, j, 3, 2] = -k * x, -k * y, -k * z


@compile_kernel(nogil=True)
def rotation_from_angles(values: Array, first: int, order: Array, r: Array, axes: Array, i: int, j: int) -> None:
    """R = R_i(a) R_j(b) R_k(c) of three columns, and the axis of each factor in the frame of the parent."""
    for a in range(3):
        for b in range(3):
            r[a, b] = 1.0 if a == b else 0.0
    for k in range(3):
        axis = order[j, k]
        for a in range(3):
            axes[i, j, k, a] = r[a, axis]
        c, s = np.cos(values[first + k]), np.sin(values[first + k])
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for a in range(3):
            ru, rv = r[a, u], r[a, v]
            r[a, u], r[a, v] = c * ru + s * rv, c * rv - s * ru


@compile_kernel(nogil=True)
def fill_frames(bones: JointChain, values: Array, out: JointFrames) -> None:
    """Transforms of all joints at all samples."""
    for i in range(values.shape[0]):
        fill_frame(bones, values[i], i, out)


@compile_kernel(nogil=True)
def fill_frame(bones: JointChain, values: Array, i: int, out: JointFrames) -> None:
    """Transforms of all joints for values (n,), as sample i.

    Numbers are taken one by one: a view of an array costs as much as a joint.
    """
    t, r, s = np.empty(3), np.empty((3, 3)), np.empty(3)
    for j in range(bones.parents.size):
        moving, scaling = bones.translation_column[j], bones.scale_column[j]
        for a in range(3):
            t[a] = values[moving + a] if moving >= 0 else bones.translations[j, a]
            s[a] = values[scaling + a] if scaling >= 0 else bones.scales[j, a]
        if bones.rotation_kind[j] == QUATERNION_ROTATION:
            rotation_from_quaternion(values, bones.rotation_column[j], r, out.axes, i, j)
        elif bones.rotation_kind[j] == EULER_ROTATION:
            rotation_from_angles(values, bones.rotation_column[j], bones.order, r, out.axes, i, j)
        else:
            q = bones.rotations
            rotation(q[j, 0], q[j, 1], q[j, 2], q[j, 3], r)
        p = bones.parents[j]
        for a in range(3):
            out.t[i, j, a], out.s[i, j, a] = t[a], s[a]
            x, y, z = 1.0 * (a == 0), 1.0 * (a == 1), 1.0 * (a == 2)  # of L_p and Q_p
            u, v, w, o = x, y, z, 0.0
            if p >= 0:
                x, y, z = out.linear[i, p, a, 0], out.linear[i, p, a, 1], out.linear[i, p, a, 2]
                u, v, w = out.turn[i, p, a, 0], out.turn[i, p, a, 1], out.turn[i, p, a, 2]
                o = out.origin[i, p, a]
            out.origin[i, j, a] = o + x * t[0] + y * t[1] + z * t[2]
            for b in range(3):
                out.r[i, j, a, b] = r[a, b]
                out.linear[i, j, a, b] = (x * r[0, b] + y * r[1, b] + z * r[2, b]) * s[b]
                out.turn[i, j, a, b] = u * r[0, b] + v * r[1, b] + w * r[2, b]


@compile_kernel(nogil=True)
def add_slope(
    out: Array,
    n: int,
    row: int,
    column: int,
    weight: float,
    linear: Array,
    i: int,
    p: int,
    x: float,
    y: float,
    z: float,
) -> None:
    """out[n, row : row + 3, column] += weight linear[i, p] (x, y, z); p = -1 is the world."""
    if p < 0:
        out[n, row, column] += weight * x
        out[n, row + 1, column] += weight * y
        out[n, row + 2, column] += weight * z
        return
    for a in range(3):
        out[n, row + a, column] += weight * (linear[i, p, a, 0] * x + linear[i, p, a, 1] * y + linear[i, p, a, 2] * z)


@compile_kernel(nogil=True)
def accumulate_ancestors(
    bones: JointChain, at: JointFrames, i: int, j: int, w: float, y: Array, out: Array, n: int
) -> None:
    """Add the derivatives of a point y in the frame of joint j, with respect to j and all above it, to out[n]."""
    while j >= 0:
        p, linear, s, r = bones.parents[j], at.linear, at.s, at.r
        y0, y1, y2 = y[0], y[1], y[2]
        z0, z1, z2 = s[i, j, 0] * y0, s[i, j, 1] * y1, s[i, j, 2] * y2
        v0 = r[i, j, 0, 0] * z0 + r[i, j, 0, 1] * z1 + r[i, j, 0, 2] * z2
        v1 = r[i, j, 1, 0] * z0 + r[i, j, 1, 1] * z1 + r[i, j, 1, 2] * z2
        v2 = r[i, j, 2, 0] * z0 + r[i, j, 2, 1] * z1 + r[i, j, 2, 2] * z2
        column = bones.translation_column[j]
        if column >= 0:
            for k in range(3):
                add_slope(out, n, 0, column + k, w, linear, i, p, 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))
        column = bones.scale_column[j]
        if column >= 0:
            for k in range(3):
                add_slope(
                    out,
                    n,
                    0,
                    column + k,
                    w,
                    linear,
                    i,
                    p,
                    r[i, j, 0, k] * y[k],
                    r[i, j, 1, k] * y[k],
                    r[i, j, 2, k] * y[k],
                )
        column = bones.rotation_column[j]
        if bones.rotation_kind[j] > 0:
            for k in range(4 if bones.rotation_kind[j] == QUATERNION_ROTATION else 3):
                ax, ay, az = at.axes[i, j, k, 0], at.axes[i, j, k, 1], at.axes[i, j, k, 2]
                add_slope(
                    out, n, 0, column + k, w, linear, i, p, ay * v2 - az * v1, az * v0 - ax * v2, ax * v1 - ay * v0
                )
        y[0], y[1], y[2] = at.t[i, j, 0] + v0, at.t[i, j, 1] + v1, at.t[i, j, 2] + v2
        j = p


@compile_kernel(nogil=True)
def accumulate_ancestor_turns(bones: JointChain, at: JointFrames, i: int, j: int, out: Array, n: int) -> None:
    """Add the derivatives of the orientation of joint j to the last three rows of out[n]."""
    while j >= 0:
        p = bones.parents[j]
        if bones.rotation_kind[j] > 0:
            for k in range(4 if bones.rotation_kind[j] == QUATERNION_ROTATION else 3):
                x, y, z = at.axes[i, j, k, 0], at.axes[i, j, k, 1], at.axes[i, j, k, 2]
                add_slope(out, n, 3, bones.rotation_column[j] + k, 1.0, at.turn, i, p, x, y, z)
        j = p


@compile_kernel(nogil=True)
def fill_states(
    bones: JointChain,
    anchors: Anchors,
    at: JointFrames,
    values: Array,
    sample: Array,
    point: Array,
    position: Array,
    orientation: Array,
    jacobian: Array,
) -> None:
    """States and derivatives of all requests into zeroed arrays; without derivatives where `jacobian` is empty."""
    y, slopes = np.empty(3), jacobian.size > 0
    for n in range(sample.size):
        i = sample[n]
        fill_state(bones, anchors, at, values[i], i, point[n], y, position, orientation, slopes, jacobian, n)


@compile_kernel(nogil=True)
def fill_state(
    bones: JointChain,
    anchors: Anchors,
    at: JointFrames,
    values: Array,
    i: int,
    p: int,
    y: Array,
    position: Array,
    orientation: Array,
    slopes: bool,
    jacobian: Array,
    n: int,
) -> None:
    """State of point p at sample i, with values (n,), as request n, and with `slopes` its derivatives.

    y (3,) is scratch memory.
    """
    main = anchors.main[p]
    for a in range(3):
        for b in range(3):
            orientation[n, a, b] = at.turn[i, main, a, b]
    for carrier in range(anchors.first[p], anchors.first[p + 1]):
        j, w = anchors.joint[carrier], anchors.weight[carrier]
        for a in range(3):
            y[a] = anchors.local[carrier, a]
        for e in range(anchors.first_shape[carrier], anchors.first_shape[carrier + 1]):
            column, d = anchors.shape_column[e], anchors.shape_delta
            for a in range(3):
                y[a] += values[column] * d[e, a]
            if slopes:
                add_slope(jacobian, n, 0, column, w, at.linear, i, j, d[e, 0], d[e, 1], d[e, 2])
        for a in range(3):
            turned = at.linear[i, j, a, 0] * y[0] + at.linear[i, j, a, 1] * y[1] + at.linear[i, j, a, 2] * y[2]
            position[n, a] += w * (at.origin[i, j, a] + turned)
        if slopes:
            accumulate_ancestors(bones, at, i, j, w, y, jacobian, n)
    if slopes:
        accumulate_ancestor_turns(bones, at, i, main, jacobian, n)
