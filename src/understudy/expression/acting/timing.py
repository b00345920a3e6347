"""Timing: from the nodes of a path to the poses of a motion [Serra 2018, section 5.1, steps 1 to 3].

Merging poses into nodes loses time. Three steps bring it back: every node gives as many poses as takes spend in it,
along its mean velocity; the whole gets the duration that takes need for this peak; regions get one duration together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from understudy.checks import Array
from understudy.expression.graph.face_graph import RegionGraph


def expanded(displacements: Array, velocities: Array, runs: Array) -> Array:
    """(m, L_r, D) the poses of a path (step 1): node i gives n_i of them about its mean d_i, a velocity v_i apart,

        d_i + (k - (n_i - 1) / 2) s_i v_i,    k = 0 .. n_i - 1,

    none beyond the poses of the nodes before and after it. `displacements` and `velocities` are (n, L_r, D), `runs`
    (n,). s_i is -1 where the path goes against the mean velocity, as it does on the way back from a peak.
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
    """Frames that a path (n,) of nodes takes (step 2): the mean onset of the peak it goes to, or the mean offset of the
    peak it comes from.

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
    """Which of some poses (n, L_r, D) is nearest to the base pose."""
    return int(np.argmin((displacements**2).sum(axis=(1, 2))))


def stretched(poses: Array, frames: int) -> Array:
    """(frames, ...) the same motion in another number of frames, by linear interpolation between its poses."""
    return sampled(poses, np.linspace(0.0, len(poses) - 1.0, frames))


def sampled(poses: Array, at: Array) -> Array:
    """(F, ...) poses (m, ...) at real-valued places `at` (F,), held beyond the ends."""
    at = np.clip(at, 0.0, len(poses) - 1.0)
    left = np.minimum(at.astype(np.int64), max(len(poses) - 2, 0))
    share = (at - left).reshape(-1, *[1] * (poses.ndim - 1))
    right = np.minimum(left + 1, len(poses) - 1)
    return poses[left] * (1 - share) + poses[right] * share


def normalised(regions: Sequence[Array]) -> list[Array]:
    """Motions (m_r, ...) of all regions, each stretched to the longest of them (step 3)."""
    longest = max(map(len, regions))
    return [stretched(poses, longest) for poses in regions]
