"""A curve of any kind as one Hermite spline, which is all that glTF's CUBICSPLINE can hold.

Every key is kept. Segments that are Hermite already, straight lines and rotations at constant speed are exact. The
others, with free handles or with Euler angles, are cut into pieces as long as the tolerance lets a Hermite piece with
the curve's own values and slopes be. A stepped segment ends with a jump between two neighbouring float32 times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Curve
from understudy.character.curve import BEZIER, LINEAR, STEP, align_quaternion_signs
from understudy.checks import NEAR_UNIT, Array
from understudy.maths import euler, quaternion
from understudy.maths.bezier import slerp_handles

# Radians for rotations, metres for positions, and the same for factors and weights: a tenth of a millimetre, or the
# movement at the end of a limb of a metre that rotates by 1e-4 radians.
FIT_TOLERANCE = 1e-4
RANGE_TOLERANCE_RATIO = 1e-3  # of a curve's range, so that small movements keep their shape
VALUE_TOLERANCE_RATIO = 1e-6  # of the largest value; float32, which files hold, leaves 6e-8
MIN_PIECE_RATIO = 1 / 4096  # of a segment; only a handle that makes a vertical tangent comes near it
SLOPE_STEP_RATIO = 1e-4  # of a piece, for one-sided slopes: their error is its square, rounding leaves 1e-12
PROBE_FRACTIONS = np.linspace(0, 1, 10)[1:-1]  # of a piece, where its error is measured
# (4, probes): of the value and slope at the start, and of those at the end.
HERMITE_BASIS = np.stack(
    [
        2 * PROBE_FRACTIONS**3 - 3 * PROBE_FRACTIONS**2 + 1,
        PROBE_FRACTIONS**3 - 2 * PROBE_FRACTIONS**2 + PROBE_FRACTIONS,
        3 * PROBE_FRACTIONS**2 - 2 * PROBE_FRACTIONS**3,
        PROBE_FRACTIONS**3 - PROBE_FRACTIONS**2,
    ]
)


@dataclass(frozen=True)
class HermiteSpline:
    """Hermite keys: times (K,), values, arriving and leaving slopes (K, n); `error` is the largest, in radians for
    rotations and in the values' own unit otherwise."""

    times: Array
    values: Array
    arriving: Array
    leaving: Array
    error: float


@dataclass(frozen=True)
class _Path:
    """The curve to be fitted: rotations on one side of the sphere, Euler angles as quaternions."""

    curve: Curve
    keys: Array  # (K, n)
    is_rotation: bool

    def sample(self, times: Array) -> Array:
        """(M, n) values, rotations of unit length. Quaternions of angles are continuous where the angles are."""
        values = self.curve.sample(times)
        if self.curve.channel.kind == "euler":
            return euler.from_euler(values, "".join(self.curve.channel.columns))
        return quaternion.normalise(values) if self.is_rotation else values

    def restore_keys(self, times: Array, values: Array) -> Array:
        """Values (M, n) at times (M,) with keys as they are: these may be a little off unit length."""
        k = np.minimum(np.searchsorted(self.curve.times, times), len(self.curve) - 1)
        return np.where((self.curve.times[k] == times)[:, None], self.keys[k], values)


@dataclass(frozen=True)
class _Pieces:
    """Hermite pieces: from starts to ends (P,), values left and right (P, n), slopes (P, 2, n) from inside."""

    starts: Array
    ends: Array
    left: Array
    right: Array
    slopes: Array


def refit(curve: Curve, tolerance: float = FIT_TOLERANCE) -> HermiteSpline:
    """The Hermite spline of a curve with two keys or more; Euler angles become quaternions."""
    path = _path(curve)
    exact, whole = _whole_segments(path)
    starts, ends, worst = _cut(path, np.flatnonzero(~exact), _error_limit(path, tolerance))
    cut, _ = _make_pieces(path, starts, ends)
    parts = [np.concatenate([getattr(whole, name)[exact], getattr(cut, name)]) for name in _Pieces.__dataclass_fields__]
    order = np.argsort(parts[0])
    return _spline(path, _Pieces(*(part[order] for part in parts)), worst)


def _path(curve: Curve) -> _Path:
    if curve.channel.kind == "euler":
        return _Path(curve, euler.from_euler(curve.values, "".join(curve.channel.columns)), True)
    if curve.channel.kind != "rotation":
        return _Path(curve, curve.values, False)
    curve = align_quaternion_signs(curve)
    values = curve.values
    length = np.sqrt(np.einsum("ki,ki->k", values, values))[:, None]
    return _Path(curve, np.where(np.abs(length - 1) > NEAR_UNIT, quaternion.normalise(values), values), True)


def _error_limit(path: _Path, tolerance: float) -> float:
    if path.is_rotation:
        return tolerance
    curve = path.curve
    # the range of the control points: a curve that bulges between equal keys has one as well
    points = np.concatenate([curve.values, curve.values + curve.after[..., 1], curve.values - curve.before[..., 1]])
    fine = max(
        RANGE_TOLERANCE_RATIO * float(np.ptp(points, axis=0).max()),
        VALUE_TOLERANCE_RATIO * float(np.abs(points).max()),
        1e-12,
    )
    return min(tolerance, fine)


def _whole_segments(path: _Path) -> tuple[Array, _Pieces]:
    """(K - 1,) which segments are one Hermite piece each as they are, and all segments as such pieces."""
    curve = path.curve
    starts, ends, lengths = curve.times[:-1], curve.times[1:].copy(), np.diff(curve.times)[:, None]
    stepped, straight, bent = (curve.segments == kind for kind in (STEP, LINEAR, BEZIER))
    ends[stepped] = np.nextafter(ends[stepped].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    ends = np.maximum(ends, starts + 1e-9 * lengths[:, 0])
    left, right = path.keys[:-1], path.keys[1:]
    slopes = np.zeros((len(starts), 2, left.shape[1]))
    exact = stepped
    if curve.channel.kind != "euler":
        off = np.maximum(np.abs(curve.after[:-1, :, 0] - lengths / 3), np.abs(curve.before[1:, :, 0] - lengths / 3))
        hermite = bent & (off <= 1e-9 + 1e-6 * lengths).all(axis=1)
        if path.is_rotation:  # a key that had to be made unit changes the cubic
            kept = (path.keys == curve.values).all(axis=1)
            hermite &= kept[:-1] & kept[1:]
        exact = stepped | straight | hermite
        leave, arrive = slerp_handles(left, right) if path.is_rotation else (right - left, right - left)
        share = 3.0 if path.is_rotation else 1.0
        slopes[straight] = np.stack([leave, arrive], axis=1)[straight] * share / lengths[straight][:, None]
        handles = np.stack([curve.after[:-1, :, 1], curve.before[1:, :, 1]], axis=1)
        slopes[hermite] = handles[hermite] * 3 / lengths[hermite][:, None]
    return exact, _Pieces(starts, ends, left, np.where(stepped[:, None], left, right), slopes)


def _cut(path: _Path, segments: Array, allowed: float) -> tuple[Array, Array, float]:
    """Where the pieces of the given segments begin and end, and the largest error that is left.

    All segments are walked together. The error goes with the fourth power of a piece's length, so the error of the last
    piece predicts the length of the next; a piece with too large an error is shortened and tried again.
    """
    at, ends = path.curve.times[segments].copy(), path.curve.times[segments + 1]
    shortest, length = (ends - at) * MIN_PIECE_RATIO, ends - at
    done: list[tuple[Array, Array]] = [(np.zeros(0), np.zeros(0))]
    worst = 0.0
    while len(at):
        left = ends - at
        # what is left is one piece, or two of equal length, rather than a long one and a sliver
        length = np.where(length >= left, left, np.where(length > 0.5 * left, 0.5 * left, length))
        stop = np.where(length >= left, ends, at + length)
        _, error = _make_pieces(path, at, stop)
        good = (error <= allowed) | (length <= shortest)
        done.append((at[good], stop[good]))
        worst = max(worst, float(error[good].max(initial=0)))
        growth = 0.9 * (allowed / np.maximum(error, 1e-4 * allowed)) ** 0.25
        length = length * np.clip(growth, 0.1, np.where(good, 4.0, 0.9))
        at = np.where(good, stop, at)
        going = at < ends
        at, ends, shortest, length = at[going], ends[going], shortest[going], length[going]
    starts, stops = (np.concatenate(column) for column in zip(*done))
    return starts, stops, worst


def _make_pieces(path: _Path, starts: Array, ends: Array) -> tuple[_Pieces, Array]:
    """Pieces with the path's own values and one-sided slopes, of second order, and their errors (P,)."""
    span = (ends - starts)[:, None]
    places = np.concatenate(
        [
            [0, SLOPE_STEP_RATIO, 2 * SLOPE_STEP_RATIO],
            PROBE_FRACTIONS,
            [1 - 2 * SLOPE_STEP_RATIO, 1 - SLOPE_STEP_RATIO, 1],
        ]
    )
    times = starts[:, None] + span * places
    times[:, -1] = ends
    # one call for everything: curves are many and short, and a call costs more than its arithmetic
    values = path.sample(times.reshape(-1)).reshape(*times.shape, path.keys.shape[1])
    slopes = np.stack([values[:, :3], values[:, :-4:-1]], axis=1)  # from both ends inwards
    slopes = np.einsum("i,psin->psn", [-3.0, 4.0, -1.0], slopes) / (2 * SLOPE_STEP_RATIO * span[:, None])
    slopes[:, 1] *= -1
    left, right = path.restore_keys(starts, values[:, 0]), path.restore_keys(ends, values[:, -1])
    if path.is_rotation:  # a key off unit length rotates by its slope over its length
        slopes *= np.linalg.norm(np.stack([left, right], axis=1), axis=2, keepdims=True)
    pieces = _Pieces(starts, ends, left, right, slopes)
    return pieces, _error(path, pieces, values[:, 3:-3])


def _error(path: _Path, pieces: _Pieces, truth: Array) -> Array:
    """(P,) how far Hermite pieces are from the path's values (P, probes, n) at the probes."""
    d = (pieces.ends - pieces.starts)[:, None, None]
    p0, p1 = pieces.left[:, None], pieces.right[:, None]
    m0, m1 = pieces.slopes[:, :1] * d, pieces.slopes[:, 1:] * d
    h = HERMITE_BASIS[:, None, :, None]
    cubic = h[0] * p0 + h[1] * m0 + h[2] * p1 + h[3] * m1
    if path.is_rotation:
        return quaternion.angle_between(quaternion.normalise(cubic), truth).max(axis=1)
    apart: Array = np.abs(cubic - truth).max(axis=(1, 2))
    return apart


def _spline(path: _Path, pieces: _Pieces, worst: float) -> HermiteSpline:
    """Every piece's end is the next one's beginning, but for stepped segments, which jump."""
    fresh = np.append(True, pieces.starts[1:] != pieces.ends[:-1])
    jumps = path.curve.segments[-1] == STEP
    columns = path.keys.shape[1]
    begin = np.flatnonzero(fresh) + np.arange(np.count_nonzero(fresh))  # places of keys that only leave
    count = len(pieces.starts) + np.count_nonzero(fresh) + int(jumps)
    end = np.setdiff1d(np.arange(count - int(jumps)), begin)  # places of keys that arrive
    times, (values, arriving, leaving) = np.empty(count), np.zeros((3, count, columns))
    times[end], values[end], arriving[end] = pieces.ends, pieces.right, pieces.slopes[:, 1]
    times[begin], values[begin] = pieces.starts[fresh], pieces.left[fresh]
    leaving[end - 1] = pieces.slopes[:, 0]
    if jumps:
        times[-1], values[-1] = path.curve.times[-1], path.keys[-1]
    return HermiteSpline(times, values, arriving, leaving, worst)
