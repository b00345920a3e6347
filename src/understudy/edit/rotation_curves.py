"""Convert rotation channels between quaternions and Euler angles, key by key, and refine them where that is inaccurate.

Keys stay where they are. Each new key is the old one exactly, and its tangents turn as fast as the old ones on both
sides; the handles of all columns get one length in time. Between keys the result is another curve, since a cubic in
angles is no cubic in quaternions; the error falls quickly as keys come closer together. `rotation_error` measures it,
and with a `tolerance` `refine_curve` adds keys where it is too large. `refine_curve` serves any conversion that mixes
columns, such as one from frame to frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from understudy import checks
from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP, align_quaternion_signs, bezier_segments
from understudy.character.key_insertion import insert_curve_key
from understudy.checks import Array
from understudy.edit.keys import Targets, replace_curves, select_curves
from understudy.errors import InvalidInput
from understudy.maths import bezier, euler, quaternion

PROBE_FRACTIONS = np.arange(1, 8) / 8  # of a segment; the difference of two cubics has at most a few peaks in it
MAX_HALVINGS = 10  # of one segment

CurveError = Callable[[Curve, Curve, Array], Array]
"""The error (M,) of a converted curve at times (M,), from the curve, its conversion and the times."""


def to_euler(
    curves: Curves, orders: str | Mapping[str, str], targets: Targets = None, tolerance: float | None = None
) -> Curves:
    """Convert quaternion channels to Euler channels, continuous in time.

    `orders` is an order such as "ZXY" for all, or one for each joint; joints that it does not name keep quaternions.
    Keys are added only with a `tolerance` (radians), until the error is below it at all times. At gimbal lock a
    rotation about the lost axis has no rate in angles.
    """
    known = curves.channels
    if isinstance(orders, Mapping):
        for target in orders:
            checks.one_of(target, "rotation curve of", (c.target for c in known if c.kind == "rotation"))

    def change(curve: Curve) -> Curve:
        order = orders if isinstance(orders, str) else orders.get(curve.channel.target)
        if curve.channel.kind != "rotation" or order is None:
            return curve
        checks.one_of(order.upper(), "Euler order of three different axes", euler.TAIT_BRYAN)
        channel = Channel(curve.channel.target, "euler", tuple(order.lower()))
        return refine_curve(curve, lambda source: _euler_curve(source, channel), _angle_error, tolerance)

    return replace_curves(curves, select_curves(curves, targets), change)


def to_quaternion(curves: Curves, targets: Targets = None, tolerance: float | None = None) -> Curves:
    """Convert Euler channels to quaternion channels, without sign flips along each rotation.

    A quaternion curve turns by less than a full turn from key to key, so faster angles need a `tolerance` (radians),
    with which keys are added until the error is below it at all times.
    """

    def change(curve: Curve) -> Curve:
        if curve.channel.kind != "euler":
            return curve
        return refine_curve(curve, _quaternion_curve, _angle_error, tolerance)

    return replace_curves(curves, select_curves(curves, targets), change)


def rotation_error(one: Curves, other: Curves) -> float:
    """The largest angle in radians between the rotations of two animations, over all joints that both turn.

    It is measured at all keys of both and at seven times between each two.
    """
    turning = {c.channel.target: c for c in other.curves if c.channel.kind in ("rotation", "euler")}
    worst = 0.0
    for curve in one.curves:
        if curve.channel.kind in ("rotation", "euler") and curve.channel.target in turning:
            twin = turning[curve.channel.target]
            keys = np.union1d(curve.times, twin.times)
            between = (keys[:-1, None] + np.diff(keys)[:, None] * PROBE_FRACTIONS).ravel()
            worst = max(worst, float(_angle_error(curve, twin, np.concatenate([keys, between])).max()))
    return worst


def sample_rotations(curve: Curve, times: Array) -> Array:
    """(M, 4) unit quaternions of a curve of either kind at times (M,)."""
    values = curve.sample(times)
    if curve.channel.kind == "euler":
        return euler.from_euler(values, "".join(curve.channel.columns))
    return quaternion.normalise(values)


def refine_curve(curve: Curve, convert: Callable[[Curve], Curve], error: CurveError, tolerance: float | None) -> Curve:
    """Convert a curve; with a tolerance (in units of `error`), halve each segment whose error exceeds it first."""
    result = convert(curve)
    if tolerance is None:
        return result
    if not tolerance > 0:
        raise InvalidInput(f"tolerance should be above zero, but is {tolerance}")
    for _ in range(MAX_HALVINGS):
        starts, lengths = curve.times[:-1], np.diff(curve.times)
        times = starts[:, None] + lengths[:, None] * PROBE_FRACTIONS
        worst = error(curve, result, times.ravel()).reshape(times.shape).max(axis=1, initial=0.0)
        bad = np.flatnonzero((worst > tolerance) & (curve.segments != STEP))
        if not bad.size:
            break
        for time in starts[bad] + 0.5 * lengths[bad]:
            curve = insert_curve_key(curve, float(time))
        result = convert(curve)
    return result


def common_handle_length(handles: Array, lengths: Array) -> Array:
    """(N,) one length in time for the handles (N, n, 2) of all columns: their mean, weighted by the value part."""
    weight = np.abs(handles[..., 1]) + 1e-9
    run = (weight * handles[..., 0]).sum(axis=1) / weight.sum(axis=1)
    return np.where(run > 1e-6 * lengths, np.minimum(run, lengths), lengths / 3)


def _angle_error(one: Curve, other: Curve, times: Array) -> Array:
    return quaternion.angle_between(sample_rotations(one, times), sample_rotations(other, times))


def _quaternion_curve(curve: Curve) -> Curve:
    order = "".join(curve.channel.columns)
    times, at = _dense_times(curve)
    values = quaternion.unroll(euler.from_euler(curve.sample(times), order))[at]
    side = np.where(np.einsum("ki,ki->k", values, euler.from_euler(curve.values, order)) < 0, -1.0, 1.0)[:, None]

    def rates(keys: Array, slopes: Array) -> Array:
        return side[keys] * euler.quaternion_rates(curve.values[keys], slopes, order)

    return _convert_channel(curve, Channel(curve.channel.target, "rotation"), values, rates)


def _euler_curve(curve: Curve, channel: Channel) -> Curve:
    order = "".join(channel.columns)
    curve = align_quaternion_signs(curve)
    times, at = _dense_times(curve)
    angles = euler.unroll_euler(euler.to_euler(sample_rotations(curve, times), order), order)[at]
    length = np.sqrt(np.einsum("ki,ki->k", curve.values, curve.values))[:, None]
    unit = curve.values / np.maximum(length, 1e-12)

    def rates(keys: Array, slopes: Array) -> Array:
        q = unit[keys]  # (p / |p|)' = (p' - q (q . p')) / |p|
        along = np.einsum("ki,ki->k", q, slopes)[:, None]
        return euler.euler_rates(angles[keys], q, (slopes - q * along) / length[keys], order)

    return _convert_channel(curve, channel, angles, rates)


def _dense_times(curve: Curve) -> tuple[Array, Array]:
    """Times (M,) so close that no full turn is missed between two, and the indices (K,) of the keys among them."""
    if len(curve) == 1:
        return curve.times, np.zeros(1, np.int64)
    lengths = np.diff(curve.times)
    first, last = curve.values[:-1], curve.values[1:]
    points = np.stack([first, first + curve.after[:-1, :, 1], last - curve.before[1:, :, 1], last])
    length = np.abs(np.diff(points, axis=0)).sum(axis=0).max(axis=1)  # of the control polygon
    # angles: an eighth of a half turn a step; quaternions: their components change half as much
    steps = np.clip(np.ceil(length * (8 if curve.channel.kind == "euler" else 16) / np.pi), 2, 512).astype(np.int64)
    steps[curve.segments == STEP] = 1
    at = np.concatenate([[0], np.cumsum(steps)])
    times = np.append(np.repeat(curve.times[:-1], steps), curve.times[-1])
    number = np.arange(at[-1]) - np.repeat(at[:-1], steps)
    times[:-1] += np.repeat(lengths / steps, steps) * number
    return times, at


def _convert_channel(curve: Curve, channel: Channel, values: Array, rates: Callable[[Array, Array], Array]) -> Curve:
    """The same keys in another channel: `rates(keys (N,), slopes (N, n))` converts slopes of the old channel."""
    keys, columns = values.shape
    before, after = np.zeros((2, keys, columns, 2))
    segments = np.where(curve.segments == STEP, STEP, BEZIER)
    if keys > 1:
        smooth = bezier_segments(curve, curve.segments == LINEAR)
        ends = np.stack(np.broadcast_arrays(curve.times[:, None], smooth.values), axis=-1)
        x, y = bezier.control_points(ends[:-1], ends[1:], smooth.after[:-1], smooth.before[1:])
        first, last = bezier.to_hermite(x, y)
        number = np.arange(keys)
        for handles, slopes, old, at in (
            (after, first, smooth.after, slice(None, -1)),
            (before, last, smooth.before, slice(1, None)),
        ):
            run = common_handle_length(old[at], np.diff(curve.times))[:, None]
            handles[at, :, 0] = run
            handles[at, :, 1] = run * rates(number[at], slopes)
        stepped = curve.segments == STEP
        after[:-1][stepped], before[1:][stepped] = 0.0, 0.0
    return Curve(channel, curve.times, values, segments, before, after, curve.extrapolation, curve.fitted)
