"""A curve of any kind as one Hermite spline, which is all that glTF's CUBICSPLINE can hold.

Segments with free handles, and turns at constant speed, are cut in half until a Hermite piece with the exact end slopes
stays within the tolerance. A stepped segment ends with a jump between two neighbouring float32 times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Curve
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import Array

# Of the range of the values: well below what can be seen (a hundredth of a millimetre on a step of a metre), and well
# above the rounding of float32 (6e-8), so that cutting always ends.
TOLERANCE = 1e-5
DEEPEST = 12  # halvings of one segment: 4096 pieces; only a handle that makes a vertical tangent comes near
PROBES = np.linspace(0, 1, 10)[1:-1]
NUDGE = 1e-4  # of a piece, for one-sided slopes: their error is its square, rounding leaves 1e-12


@dataclass(frozen=True)
class Spline:
    """Hermite keys: times (K,), values, arriving and leaving slopes (K, n); `error` is the largest over the range."""

    times: Array
    values: Array
    arriving: Array
    leaving: Array
    error: float


def refit(curve: Curve, tolerance: float = TOLERANCE) -> Spline:
    """The Hermite spline of a curve with two keys or more."""
    curve = _same_side(curve)
    span = 1.0 if curve.channel.kind == "rotation" else _range(curve)
    allowed = tolerance * max(span, 1e-12)
    starts, ends, worst = _pieces(curve, allowed)
    left, right, slopes = _ends(curve, starts, ends)
    # every piece's end is the next one's beginning, but for stepped segments, which jump
    times, values, arriving, leaving = [], [], [], []
    for i in range(len(starts)):
        fresh = i == 0 or starts[i] != ends[i - 1]
        if fresh:
            times.append(starts[i])
            values.append(left[i])
            arriving.append(np.zeros_like(left[i]))
            leaving.append(slopes[i, 0])
        else:
            leaving[-1] = slopes[i, 0]
        times.append(ends[i])
        values.append(right[i])
        arriving.append(slopes[i, 1])
        leaving.append(np.zeros_like(right[i]))
    if curve.segments[-1] == STEP:
        times.append(curve.times[-1])
        values.append(curve.values[-1])
        arriving.append(np.zeros_like(curve.values[-1]))
        leaving.append(np.zeros_like(curve.values[-1]))
    return Spline(np.array(times), np.array(values), np.array(arriving), np.array(leaving), worst / max(span, 1e-12))


def _range(curve: Curve) -> float:
    """The range of the control points: a curve that bulges between equal keys has one as well."""
    points = (curve.values, curve.values + curve.after[..., 1], curve.values - curve.before[..., 1])
    return float(np.ptp(np.concatenate(points), axis=0).max())


def _same_side(curve: Curve) -> Curve:
    """The same rotations with signs such that linear segments do not change sides: they turn the short way anyway."""
    if curve.channel.kind != "rotation":
        return curve
    dots = np.einsum("ki,ki->k", curve.values[1:], curve.values[:-1])
    turns = np.where((curve.segments == LINEAR) & (dots < 0), -1.0, 1.0)
    sign = np.concatenate([[1.0], np.cumprod(turns)])
    both = np.array([1.0, 0.0])  # times of handles keep their sign
    scale = sign[:, None, None] * (1 - both) + both
    return Curve(
        curve.channel,
        curve.times,
        curve.values * sign[:, None],
        curve.segments,
        curve.before * scale,
        curve.after * scale,
    )


def _pieces(curve: Curve, allowed: float) -> tuple[Array, Array, float]:
    """Where each Hermite piece begins and ends, and the largest error that is left."""
    starts, ends = curve.times[:-1].copy(), curve.times[1:].copy()
    stepped = curve.segments == STEP
    ends[stepped] = np.nextafter(ends[stepped].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    ends = np.maximum(ends, starts + 1e-9 * (curve.times[1:] - curve.times[:-1]))
    exact = stepped if curve.channel.kind == "rotation" else curve.segments != BEZIER
    done = [(starts[exact], ends[exact])]
    open_starts, open_ends, worst = starts[~exact], ends[~exact], 0.0
    for depth in range(DEEPEST + 1):
        if not len(open_starts):
            break
        error = _error(curve, open_starts, open_ends)
        good = (error <= allowed) | (depth == DEEPEST)
        worst = max(worst, float(error[good].max(initial=0)))
        done.append((open_starts[good], open_ends[good]))
        a, b = open_starts[~good], open_ends[~good]
        middle = (a + b) / 2
        open_starts, open_ends = np.concatenate([a, middle]), np.concatenate([middle, b])
    all_starts, all_ends = (np.concatenate(column) for column in zip(*done))
    order = np.argsort(all_starts)
    return all_starts[order], all_ends[order], worst


def _ends(curve: Curve, starts: Array, ends: Array) -> tuple[Array, Array, Array]:
    """Values at both ends of pieces (P, n) and the slopes from inside (P, 2, n)."""
    h = (ends - starts) * NUDGE
    left, right = curve.sample(starts), curve.sample(ends)
    segment = np.clip(np.searchsorted(curve.times, starts, side="right") - 1, 0, len(curve) - 2)
    stepped = curve.segments[segment] == STEP
    right[stepped] = left[stepped]
    slope_in = (-3 * left + 4 * curve.sample(starts + h) - curve.sample(starts + 2 * h)) / (2 * h[:, None])
    slope_out = (3 * right - 4 * curve.sample(ends - h) + curve.sample(ends - 2 * h)) / (2 * h[:, None])
    slopes = np.stack([slope_in, slope_out], axis=1)
    slopes[stepped] = 0
    return left, right, slopes


def _error(curve: Curve, starts: Array, ends: Array) -> Array:
    """(P,) how far the Hermite piece is from the curve at the probes."""
    left, right, slopes = _ends(curve, starts, ends)
    d = (ends - starts)[:, None, None]
    s = PROBES[None, :, None]
    p0, p1, m0, m1 = left[:, None], right[:, None], slopes[:, :1] * d, slopes[:, 1:] * d
    cubic = (
        (2 * s**3 - 3 * s**2 + 1) * p0 + (s**3 - 2 * s**2 + s) * m0 + (3 * s**2 - 2 * s**3) * p1 + (s**3 - s**2) * m1
    )
    times = starts[:, None] + (ends - starts)[:, None] * PROBES
    truth = curve.sample(times.reshape(-1)).reshape(cubic.shape)
    if curve.channel.kind == "rotation":
        cubic = cubic / np.maximum(np.sqrt(np.sum(cubic * cubic, axis=2, keepdims=True)), 1e-12)
    return np.abs(cubic - truth).max(axis=(1, 2))
