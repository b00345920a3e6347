"""Timing: from the nodes of a path to the poses of a motion, its variation, smoothing and limits.

Merging poses into nodes loses time. Three steps restore it [Serra 2018, section 5.1, steps 1 to 3]: every node gives as
many poses as takes spend in it, along its mean velocity; the whole gets the duration that takes need for this peak;
regions get one duration together.

Variation makes the motion of the same labels differ each time [Serra 2018, section 5.2]: some nodes of a path are
replaced by their neighbours, and durations vary as they do in the takes.

Smoothing [Serra 2018, section 5.1, step 4]. A Savitzky-Golay filter removes corners, a sigmoid fitted to each
coordinate of each leg removes the zigzag that is left. `smoothing` goes from the raw motion (0) to nothing but sigmoids
(1). A coordinate that no sigmoid follows, such as one that goes and comes back within a leg, keeps its filtered values:
that is where faces differ.

The sigmoid of a leg passes through the leg's ends, so that legs join:

    g(u) = y_0 + (y_1 - y_0) (s(u) - s(0)) / (s(1) - s(0)),    s(u) = 1 / (1 + exp(-b_2 (u - b_3))),    0 <= u <= 1

[Serra 2018, eqs. 1 and 2] with the ends fixed in place of b_1.

Limits. The motion stays within the range of the data and below its greatest speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.graph.expression_graph import RegionGraph
from understudy.maths import jit

MAX_DRAW_DEVIATIONS = 2.0  # standard deviations of a drawn duration; a face that takes 3 longer looks stuck
DRAWS_PER_PATH = 49  # uniform numbers a path: one for the count of replaced nodes, two for each of at most 24
MAX_DETOUR_RATIO = 1.25  # path length over a substitute, of that over the node it replaces
MIN_LENGTH_RATIO, MAX_LENGTH_RATIO = 0.6, 1.6  # of the mean duration; outside, speed itself becomes an expression

MAX_WINDOW_SECONDS = 0.36  # seconds of the filter's window_frames at smoothing 1; an eye blink takes as long
MAX_STEEPNESS, MIN_STEEPNESS = 40.0, 1e-2  # b_2: a rise in one fortieth of the leg; a straight line
GAUSS_NEWTON_STEPS = 8  # from the crossings of 1/4 and 3/4 it is within 1e-3 after four


class PathNoise(NamedTuple):
    """The share of a path's nodes that may be replaced, and how many edges away a substitute may lie.

    Beyond two hops neighbours no longer resemble the node, and noise is no longer coherent.
    """

    share: float = 0.2
    hops: int = 1

    @classmethod
    def from_argument(cls, given: tuple[float, int]) -> PathNoise:
        """The noise of a pair (share, hops), checked."""
        share, hops = given
        if not 0.0 <= share <= 1.0 or hops != int(hops) or not 1 <= hops <= 8:
            raise InvalidInput(f"path noise should be a share of 0 to 1 and 1 to 8 hops, but is {share:g} and {hops:g}")
        return cls(float(share), int(hops))


def expand_path(displacements: Array, velocities: Array, runs: Array) -> Array:
    """(m, L_r, D) the poses of a path (step 1): node i gives n_i of them about its mean d_i, a velocity v_i apart,

        d_i + (k - (n_i - 1) / 2) s_i v_i,    k = 0 .. n_i - 1,

    none beyond the poses of the nodes before and after it. `displacements` and `velocities` are (n, L_r, D), `runs`
    (n,). s_i is -1 where the path goes against the mean velocity, as it does after a peak.
    """
    counts = np.maximum(np.rint(runs), 1).astype(np.int64)
    before, after = (
        np.vstack([displacements[:1], displacements[:-1]]),
        np.vstack([displacements[1:], displacements[-1:]]),
    )
    against = np.einsum("nld,nld->n", velocities, after - before) < 0
    signed = np.where(against[:, None, None], -velocities, velocities)
    low = np.minimum(np.minimum(before, after), displacements)
    high = np.maximum(np.maximum(before, after), displacements)
    node = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(node)) - np.repeat(np.cumsum(counts) - counts, counts) - (counts[node] - 1) / 2
    poses: Array = np.clip(displacements[node] + place[:, None, None] * signed[node], low[node], high[node])
    return poses


def natural_length(region: RegionGraph, path: Array) -> float:
    """Frames that a path (n,) of nodes takes (step 2): the mean onset of its last peak, or mean offset of its first.

    From peak to peak both count. Where the node nearest to neutral is the k-th of n, the source's offset counts k / n.
    The paper, whose takes end at their peaks, has the source's onset there.
    """
    return length_by_share(region, path, (1 + nearest_to_neutral(region.displacements[path])) / len(path))


def length_by_share(region: RegionGraph, path: Array, share: float) -> float:
    """As `natural_length`, with k / n given."""
    source, sink = float(region.offset[path[0]]), float(region.onset[path[-1]])
    known = [frames for frames in (source, sink) if isfinite(frames)]
    if len(known) < 2:
        return known[0] if known else float(max(region.runs[path].sum() - 1.0, 1.0))
    return share * source + (1 - share) * sink


def nearest_to_neutral(displacements: Array) -> int:
    """Index of the pose, of (n, L_r, D), that is nearest to the base pose."""
    return int(np.argmin((displacements**2).sum(axis=(1, 2))))


def stretch_time(poses: Array, frames: int) -> Array:
    """(frames, ...) the same motion in another number of frames, by linear interpolation between its poses."""
    return sample_poses(poses, np.linspace(0.0, len(poses) - 1.0, frames))


def sample_poses(poses: Array, at: Array) -> Array:
    """(F, ...) poses (m, ...) interpolated at real-valued indexes `at` (F,), clamped to the ends."""
    at = np.clip(at, 0.0, len(poses) - 1.0)
    left = np.minimum(at.astype(np.int64), max(len(poses) - 2, 0))
    share = (at - left).reshape(-1, *[1] * (poses.ndim - 1))
    right = np.minimum(left + 1, len(poses) - 1)
    return poses[left] * (1 - share) + poses[right] * share


def normalise_time(regions: Sequence[Array]) -> list[Array]:
    """Motions (m_r, ...) of all regions, each stretched to the longest of them (step 3)."""
    longest = max(map(len, regions))
    return [stretch_time(poses, longest) for poses in regions]


def vary_length(mean: Array, deviation: Array, shared: float, own: Array, coupling: float, amount: float) -> Array:
    """(R,) durations about `mean` (R,) with a standard deviation of `amount` times `deviation` (R,).

    The draw of a region is a mixture of the `shared` and its `own` (R,) standard normal one; the squares of their
    weights sum to 1, so that the spread is the same whatever the coupling.
    """
    drawn = np.clip(coupling * shared + np.sqrt(1.0 - coupling**2) * own, -MAX_DRAW_DEVIATIONS, MAX_DRAW_DEVIATIONS)
    result: Array = np.clip(mean + amount * deviation * drawn, MIN_LENGTH_RATIO * mean, MAX_LENGTH_RATIO * mean)
    return result


def smooth_curves(points: Array, bounds: Array, rate: float, smoothing: float) -> Array:
    """(F, C) curves, smoothed by `smoothing`, 0 to 1.

    `bounds` (n + 1,) are the first frames of n legs and the last frame of all; `rate` is in frames a second.
    """
    if smoothing <= 0.0 or len(points) < 3:
        return points
    filtered = savitzky_golay(points, window_frames(rate, smoothing))
    result = np.array(filtered, order="C")
    jit.kernels("understudy.express.acting.acting_kernels").blend_towards_sigmoids(
        result, bounds.astype(np.int64), smoothing * smoothing, GAUSS_NEWTON_STEPS, MIN_STEEPNESS, MAX_STEEPNESS
    )
    return result


def window_frames(rate: float, smoothing: float) -> int:
    """The frames of the filter's window: odd, and 5 or more, since 3 points of a parabola are met exactly."""
    return max(2 * round(0.5 * MAX_WINDOW_SECONDS * smoothing * rate) + 1, 5)


def savitzky_golay(points: Array, width: int) -> Array:
    """(F, C) curves filtered with a window of `width` frames (odd) and parabolas; first and last frames stay.

    Beyond its ends a curve is continued by its point reflection about the end.
    """
    half = min(width // 2, len(points) - 1)
    taps = _taps(2 * half + 1) if half >= 2 else None
    if taps is None:
        return points
    head = 2 * points[0] - points[half:0:-1]
    tail = 2 * points[-1] - points[-2 : -half - 2 : -1]
    longer = np.concatenate([head, points, tail])
    result: Array = sum(tap * longer[k : k + len(points)] for k, tap in enumerate(taps))
    return result


@lru_cache(maxsize=64)
def _taps(width: int) -> Array:
    """(width,) coefficients of the filter: the middle of the least-squares parabola through `width` points."""
    offsets = np.arange(width) - width // 2
    powers = np.stack([np.ones(width), offsets, offsets**2], axis=1)
    return np.linalg.pinv(powers)[0]


def clamp_to_range(displacements: Array, lowest: Array, highest: Array) -> Array:
    """(F, L, D) displacements, none outside the range (L, D) of the data."""
    clamped: Array = np.clip(displacements, lowest, highest)
    return clamped


def limit_speed(displacements: Array, members: Sequence[Array], fastest: Array) -> tuple[Array, Array]:
    """Displacements (F', L, D) with no step of a region's landmarks above `fastest` (R,), and (F,) the new frames of
    the old ones.

    A step that is rho times too long gets rho frames. All regions wait together and stay simultaneous.
    """
    steps = np.diff(displacements, axis=0)
    lengths = np.sqrt(np.einsum("fld,fld->fl", steps, steps))
    rho = np.ones(len(steps))
    for rows, limit in zip(members, fastest):
        if limit > 0:
            np.maximum(rho, lengths[:, rows].max(axis=1) / limit, out=rho)
    places = np.concatenate([[0.0], np.cumsum(rho)])
    if places[-1] <= len(steps) * (1 + 1e-12):
        return displacements, np.arange(len(displacements), dtype=np.float64)
    frames = np.arange(int(np.ceil(places[-1] - 1e-9)) + 1)
    at = np.interp(frames, places, np.arange(len(places)))
    return sample_poses(displacements, at), places
