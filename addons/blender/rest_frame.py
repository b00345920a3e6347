"""Joint curves relative to the rest pose, as Blender keys its bones, and back.

A joint's own transform is parent_from_joint = T(t) R(q) S(s). Blender keys what is left of it after the rest pose
T(t0) R(q0) S(s0), s0 the same along all axes:

    location = R(q0)^-1 (t - t0) / s0,   rotation = q0^-1 q,   scale = s / s0

All three are linear in the columns, so keys, straight and stepped segments, slerps, and Bezier segments whose columns
share their handles' times (every Hermite spline) are exact. Where they do not, columns that mix get one handle time,
and keys are added until the tolerance is met. Euler angles of a bone that is turned at rest become quaternions.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER
from understudy.checks import Array
from understudy.edit.keys import with_curves
from understudy.edit.rotation_curves import common_handle_length, refine_curve, to_quaternion
from understudy.errors import InvalidInput
from understudy.maths import bezier, quaternion

# Metres and radians (columns of quaternions), below the precision of Blender's float32 keys at 100 m.
CONVERSION_TOLERANCE_M_RAD = 1e-5


def to_rest(curves: Curves, skeleton: Skeleton, tolerance: float = CONVERSION_TOLERANCE_M_RAD) -> Curves:
    """Curves of joints relative to the rest pose of their bone; weights and controls as they are."""
    return _change_frame(curves, skeleton, tolerance, inward=True)


def from_rest(curves: Curves, skeleton: Skeleton, tolerance: float = CONVERSION_TOLERANCE_M_RAD) -> Curves:
    """Curves relative to the rest pose as curves of joints relative to their parents."""
    return _change_frame(curves, skeleton, tolerance, inward=False)


def _change_frame(curves: Curves, skeleton: Skeleton, tolerance: float, inward: bool) -> Curves:
    turned = [
        curve.channel
        for curve in curves.curves
        if curve.channel.kind == "euler" and not _is_unrotated(skeleton, curve.channel.target)
    ]
    if turned:
        curves = to_quaternion(curves, turned, tolerance)
    return with_curves(curves, (_map_curve(curve, skeleton, tolerance, inward) for curve in curves.curves))


def _is_unrotated(skeleton: Skeleton, name: str) -> bool:
    return bool(np.array_equal(np.abs(_rest_transform(skeleton, name)[1]), quaternion.IDENTITY))


def _rest_transform(skeleton: Skeleton, name: str) -> tuple[Array, Array, float]:
    """Translation, rotation and scale of a joint at rest."""
    if name not in skeleton:
        raise InvalidInput(f"there is no joint {name!r} in the skeleton that the curves should be relative to")
    joint = skeleton.index(name)
    scale = skeleton.scales[joint]
    if np.ptp(scale) > 1e-6 * np.abs(scale).max() or scale[0] == 0:
        raise InvalidInput(f"joint {name!r} is scaled unevenly at rest ({scale.tolist()}), which bones cannot be")
    return skeleton.translations[joint], quaternion.normalise(skeleton.rotations[joint]), float(scale[0])


def _map_curve(curve: Curve, skeleton: Skeleton, tolerance: float, inward: bool) -> Curve:
    kind = curve.channel.kind
    if kind not in ("translation", "rotation", "scale"):
        return curve
    t0, q0, s0 = _rest_transform(skeleton, curve.channel.target)
    matrix: Array
    if kind == "scale":
        matrix, offset = np.eye(3) / s0, np.zeros(3)
    elif kind == "translation":
        matrix = quaternion.to_matrix(quaternion.conjugate(q0)) / s0
        offset = -matrix @ t0
    else:
        matrix, offset = quaternion.multiply(quaternion.conjugate(q0), np.eye(4)).T, np.zeros(4)
    if not inward:
        matrix = np.linalg.inv(matrix)
        offset = -matrix @ offset
    return linear_map(curve, matrix, offset, curve.channel, tolerance)


def linear_map(curve: Curve, matrix: Array, offset: Array, channel: Channel, tolerance: float | None = None) -> Curve:
    """The curve of matrix (m, n) @ v + offset (m,) of a curve's values v (n,), in a channel with m columns.

    Exact where the matrix only changes signs, places and sizes of columns, or handles share their times; else within
    the tolerance (None: whatever keys at the same times give).
    """
    matrix = np.where(np.abs(matrix) < 1e-15, 0.0, matrix)

    def convert(source: Curve) -> Curve:
        return _map_keys(source, matrix, offset, channel)

    def error(source: Curve, result: Curve, times: Array) -> Array:
        apart: Array = np.abs(source.sample(times) @ matrix.T + offset - result.sample(times)).max(axis=1)
        return apart

    return refine_curve(curve, convert, error, tolerance)


def _map_keys(curve: Curve, matrix: Array, offset: Array, channel: Channel) -> Curve:
    values = curve.values @ matrix.T + offset
    before, after = _handles(curve.before, matrix), _handles(curve.after, matrix)
    if len(curve) > 1:
        single = (np.count_nonzero(matrix, axis=1) <= 1).all()
        leave, arrive = curve.after[:-1], curve.before[1:]
        shared = (np.ptp(leave[..., 0], axis=1) == 0) & (np.ptp(arrive[..., 0], axis=1) == 0)
        loose = (curve.segments == BEZIER) & ~shared & (not single)
        if loose.any():
            ends = np.stack(np.broadcast_arrays(curve.times[:, None], curve.values), axis=-1)
            x, y = bezier.control_points(ends[:-1], ends[1:], leave, arrive)
            lengths = np.diff(curve.times)
            for handles, slopes, old, at in (
                (after, bezier.to_hermite(x, y)[0], leave, slice(None, -1)),
                (before, bezier.to_hermite(x, y)[1], arrive, slice(1, None)),
            ):
                run = common_handle_length(old, lengths)[:, None]
                new = np.stack(np.broadcast_arrays(run, run * (slopes @ matrix.T)), axis=-1)
                handles[at] = np.where(loose[:, None, None], new, handles[at])
    return Curve(channel, curve.times, values, curve.segments, before, after, curve.extrapolation)


def _handles(handles: Array, matrix: Array) -> Array:
    """Handles (K, m, 2) of mixed columns: rises mixed, each with the time of the column that it has most of."""
    source = np.argmax(np.abs(matrix), axis=1)
    return np.stack([handles[:, source, 0], handles[..., 1] @ matrix.T], axis=-1)
