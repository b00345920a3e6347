"""Way: one region from node to node: its path with noise, the poses of that, and what their timing needs to know."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.acting.actor import Actor
from understudy.expression.acting.coupling import ARRIVES, SETS_OFF
from understudy.expression.acting.rising import crossing
from understudy.expression.acting.timing import expanded, length_by_share, nearest_to_neutral
from understudy.expression.acting.variation import DETOUR, PathNoise, varied


class Way(NamedTuple):
    """A region's path and its poses."""

    path: Array  # (n,)
    poses: Array  # (m, L_r D)
    crossings: tuple[float, float]  # when a tenth and nine tenths of it are done, as shares of its own time
    share: float  # k / n, where the k-th node of n is nearest to neutral
    length: float  # frames that it naturally takes


def way(
    actor: Actor,
    r: int,
    source: int,
    sink: int,
    noise: PathNoise,
    direct: float,
    draws: Array,
    kernels: ModuleType | None,
) -> Way:
    """From `source` to `sink` in the region numbered r, `direct` as in `straightened`; `draws` (DRAWS,) are uniform."""
    routes = actor.routes[r]
    region = routes.region
    if kernels is None:
        path = varied(routes, routes.path(source, sink), noise, draws)
        moved = region.displacements[path]
        poses = expanded(moved, region.velocities[path], region.runs[path])
        poses = poses.reshape(len(poses), -1)
        poses = straightened(poses, direct) if source and sink else poses
        nearest, crossings = nearest_to_neutral(moved), _crossings(poses)
    else:
        displacements, velocities, runs, _ = actor.flat[r]
        path = kernels.way(routes.row(sink), source, sink)
        if not len(path):
            raise InvalidInput(f"region {region.name!r} has no way from node {source} to node {sink}")
        starts, others = routes.substitutes(noise.hops)
        kernels.vary(path, region.labels, displacements, starts, others, noise.share, DETOUR, draws)
        poses = kernels.expand(displacements, velocities, runs, path)
        if source and sink:
            kernels.straighten(poses, direct)
        nearest = kernels.nearest_to_neutral(displacements, path)
        crossings = kernels.crossings(poses, SETS_OFF, ARRIVES)
    share = (1 + nearest) / len(path)
    return Way(path, poses, crossings, share, length_by_share(region, path, share))


def straightened(poses: Array, direct: float) -> Array:
    """(m, n) poses from peak to peak, brought `direct` of the way to the straight line between them.

    Takes cross in neutral, and so do paths; a face that changes its expression does not empty on the way.
    """
    if direct == 0.0 or len(poses) < 3:
        return poses
    u = np.linspace(0.0, 1.0, len(poses))[:, None]
    line = poses[0] + (u * u * (3.0 - 2.0 * u)) * (poses[-1] - poses[0])
    straight: Array = (1.0 - direct) * poses + direct * line
    return straight


def _crossings(poses: Array) -> tuple[float, float]:
    far = np.sqrt(((poses - poses[0]) ** 2).sum(axis=1))
    last = len(far) - 1
    if last < 1 or far[-1] <= 0.0:
        return SETS_OFF, ARRIVES
    first, second = crossing(far, SETS_OFF * far[-1]) / last, crossing(far, ARRIVES * far[-1]) / last
    return (first, second) if second > first else (SETS_OFF, ARRIVES)
