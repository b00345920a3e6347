"""Measures of motion: how fast, how sudden, how far from what was animated.

Motion is either vertices (F, V, 3) in metres, whose size is the root mean square over the vertices of their length,

    |x| = sqrt( sum_v (x_v . x_v) / V )

or features (F, E) that a caller has scaled to comparable units, whose size is the plain norm. With influences of
[Bailey 2016, eq. 3] over sqrt(V) as the scale the two agree to first order where controls move different vertices.

Rates are finite differences of neighbouring frames, exact for motion of that degree in time, h = 1 / rate:

    v_n = (x_{n+1} - x_n) / h,    a_n = (x_{n+2} - 2 x_{n+1} + x_n) / h^2
    j_n = (x_{n+3} - 3 x_{n+2} + 3 x_{n+1} - x_n) / h^3

so the rate of order o has F - o values, and value n is about the frame n + o / 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput

Rates = tuple[Array, Array, Array]  # (F - 1,), (F - 2,), (F - 3,)

QUERIES_PER_BLOCK = 512  # queries at once: 19 MB of distances to 4,700 frames


def size(motion: Array) -> Array:
    """(F,) how large each row is: RMS length of vertices (F, V, 3), norm of features (F, E)."""
    motion = np.asarray(motion, np.float64)
    square = np.einsum("fvi,fvi->f", motion, motion) / motion.shape[1] if motion.ndim == 3 else _square(motion)
    return np.sqrt(square)


def _square(rows: Array) -> Array:
    return np.asarray(np.einsum("fe,fe->f", rows, rows))


def rate_of(motion: Array, rate: float, order: int) -> Array:
    """(F - order,) the size of the derivative of that order: 1 speed, 2 acceleration, 3 jerk."""
    return size(np.diff(np.asarray(motion, np.float64), n=order, axis=0)) * rate**order


def speed(motion: Array, rate: float) -> Array:
    """(F - 1,) per second."""
    return rate_of(motion, rate, 1)


def acceleration(motion: Array, rate: float) -> Array:
    """(F - 2,) per second squared."""
    return rate_of(motion, rate, 2)


def jerk(motion: Array, rate: float) -> Array:
    """(F - 3,) per second cubed."""
    return rate_of(motion, rate, 3)


def rates(motion: Array, rate: float) -> Rates:
    """Speed, acceleration and jerk of a motion, frame by frame."""
    return speed(motion, rate), acceleration(motion, rate), jerk(motion, rate)


def peak(motion: Array, rate: float, order: int, first: int = 0, stop: int | None = None) -> float:
    """The largest rate of that order among the differences that touch a frame from `first` to `stop` (not included).

    A seam between two frames is seen by every difference that spans it, so that none can hide beside the window.
    """
    stop = len(motion) if stop is None else stop
    values = rate_of(motion, rate, order)[max(first - order, 0) : max(stop, 0)]
    return float(values.max(initial=0.0))


@dataclass(frozen=True)
class TypicalRates:
    """What the clips themselves do: a high percentile of speed, acceleration and jerk over all their frames."""

    speed: float
    acceleration: float
    jerk: float

    @classmethod
    def from_clips(cls, clips: Iterable[Array], rate: float, percentile: float = 99.0) -> TypicalRates:
        """From clips (F, V, 3) or (F, E); differences never span two clips."""
        return cls.from_rates((rates(clip, rate) for clip in clips), percentile)

    @classmethod
    def from_rates(cls, found: Iterable[Rates], percentile: float = 99.0) -> TypicalRates:
        """From the rates of each clip, which are far smaller than its meshes."""
        pooled = [np.concatenate([np.zeros(0), *values]) for values in zip(*found)]
        if not pooled or not all(len(values) for values in pooled):
            raise InvalidInput("the usual motion needs a clip of at least four frames, but there is none")
        return cls(*(float(np.percentile(values, percentile)) for values in pooled))

    def relative(self, motion: Array, rate: float, first: int = 0, stop: int | None = None) -> TypicalRates:
        """The peaks of a motion from frame `first` to `stop`, as multiples of what is usual (0 / 0 is 0)."""
        peaks = [peak(motion, rate, order, first, stop) for order in (1, 2, 3)]
        usual = (self.speed, self.acceleration, self.jerk)
        return TypicalRates(
            *(0.0 if p == 0 else float(np.divide(p, u)) if u > 0 else np.inf for p, u in zip(peaks, usual))
        )


def velocity_jump(motion: Array, rate: float, seam: int) -> float:
    """|v_after - v_before| where frame `seam` is the first after a cut: the step over the cut itself is left out.

    v_before = (x_{s-1} - x_{s-2}) / h,    v_after = (x_{s+1} - x_s) / h
    """
    before, after = motion[seam - 1] - motion[seam - 2], motion[seam + 1] - motion[seam]
    return float(size((after - before)[None])[0] * rate)


def pose_step(motion: Array, seam: int) -> float:
    """How far the step over a cut is from the mean of the steps beside it: 0 for motion of constant acceleration.

    | (x_s - x_{s-1}) - ((x_{s-1} - x_{s-2}) + (x_{s+1} - x_s)) / 2 |
    """
    before, over, after = np.diff(np.asarray(motion[seam - 2 : seam + 2], np.float64), axis=0)
    return float(size((over - 0.5 * (before + after))[None])[0])


def gap(a: Array, b: Array) -> Array:
    """(F,) the distance of poses a and b (F, V, 3) or (F, E), row by row."""
    return size(np.asarray(a, np.float64) - np.asarray(b, np.float64))


def seconds_until(values: Array, below: float, rate: float) -> float:
    """Time from the first frame to the first of the last stretch in which (F,) `values` stay at or under `below`.

    inf where the last value is above it: the motion never arrived.
    """
    above = np.flatnonzero(np.asarray(values) > below)
    if not len(above):
        return 0.0
    return np.inf if above[-1] == len(values) - 1 else float(above[-1] + 1) / rate


def share_used(visited: Iterable[Array], total: int) -> float:
    """Share of `total` frames that occur in any of the arrays of frame numbers."""
    seen = np.zeros(total, bool)
    for frames in visited:
        seen[np.asarray(frames, np.int64)] = True
    return float(seen.mean())


def _flat(poses: Array) -> Array:
    """(N, P) rows whose plain distance is the size of the difference."""
    poses = np.asarray(poses, np.float64)
    return poses.reshape(len(poses), -1) / np.sqrt(poses.shape[1]) if poses.ndim == 3 else poses


def nearest(queries: Array, data: Array) -> tuple[Array, Array]:
    """(M,) distance of each pose to the nearest of `data`, and its number: poses (M, V, 3) and (N, V, 3), or (M, E).

    Found by matrix products, |q|^2 - 2 q.d + |d|^2 about the mean of the data, and measured again without cancellation.
    """
    q, d = _flat(queries), _flat(data)
    centre = d.mean(axis=0)
    q, d = q - centre, d - centre
    half = 0.5 * _square(d)
    found = [
        np.argmin(half - q[start : start + QUERIES_PER_BLOCK] @ d.T, axis=1)
        for start in range(0, len(q), QUERIES_PER_BLOCK)
    ]
    number = np.concatenate([np.zeros(0, np.int64), *found])
    return np.sqrt(_square(q - d[number])), number


def mean_pairwise(takes: Array) -> float:
    """Mean over all pairs of takes (M, F, E) or (M, F, V, 3) of the root mean square over frames of their distance.

    sum over pairs a < b of sqrt( mean_f |x_a,f - x_b,f|^2 ) / (M (M - 1) / 2); 0 for fewer than two takes.
    """
    takes = np.asarray(takes, np.float64)
    flat = np.stack([_flat(take).ravel() for take in takes]) / np.sqrt(takes.shape[1])
    flat -= flat.mean(axis=0)
    apart = [np.sqrt(_square(flat[a + 1 :] - flat[a])) for a in range(len(flat) - 1)]
    return float(np.concatenate(apart).mean()) if apart else 0.0
