"""Timing: from the nodes of a path to the poses of a motion, and its variation.

Merging poses into nodes loses time. Three steps restore it [Serra 2018, section 5.1, steps 1 to 3]: every node gives as
many poses as takes spend in it, along its mean velocity; the whole gets the duration that takes need for this peak;
regions get one duration together.

Variation makes the motion of the same labels differ each time [Serra 2018, section 5.2]: some nodes of a path are
replaced by their neighbours, and durations vary as they do in the takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.graph.expression_graph import RegionGraph

MAX_DRAW_DEVIATIONS = 2.0  # standard deviations of a drawn duration; a face that takes 3 longer looks stuck
DRAWS_PER_PATH = 49  # uniform numbers a path: one for the count of replaced nodes, two for each of at most 24
MAX_DETOUR_RATIO = 1.25  # path length over a substitute, of that over the node it replaces
MIN_LENGTH_RATIO, MAX_LENGTH_RATIO = 0.6, 1.6  # of the mean duration; outside, speed itself becomes an expression


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
