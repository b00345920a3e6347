"""Measures: how different performances are, how their regions keep together, and whether they stay within the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.coupling import ARRIVES, activation
from understudy.expression.acting.performance import Performance
from understudy.expression.acting.rising import crossing
from understudy.expression.acting.timing import stretched
from understudy.expression.graph.face_graph import FaceGraph

SAMPLES = 48  # of a performance, when two of different lengths are compared


class Bounds(NamedTuple):
    """How far performances go: 1 is the data's own greatest speed; 0 is its range."""

    fastest: float  # of any region, as a part of the data's own greatest speed
    outside: float  # of any coordinate, as a part of the width of its range


def bounds(graph: FaceGraph, faces: Iterable[Performance]) -> Bounds:
    """The worst of some performances against the data that the graph was built from."""
    learned = graph.coupling
    assert learned is not None, "a graph without a coupling knows no range"
    width = np.maximum(learned.highest - learned.lowest, 1e-9)
    fastest, outside = 0.0, 0.0
    for face in faces:
        steps = np.linalg.norm(np.diff(face.points, axis=0), axis=2) * face.rate
        for region, limit in zip(graph.regions, learned.fastest):
            if limit > 0:
                fastest = max(fastest, float(steps[:, region.members].max()) / float(limit))
        moved = face.displacements
        beyond = np.maximum(moved.max(axis=0) - learned.highest, learned.lowest - moved.min(axis=0))
        outside = max(outside, float((beyond / width).max()))
    return Bounds(fastest, outside)


def distances(faces: Sequence[Performance]) -> Array:
    """(N (N - 1) / 2,) between every two performances: the root mean square over frames and landmarks, time shared.

    Performances are brought to one length first, so that what differs is more than the pace.
    """
    rows = np.stack([stretched(face.displacements, SAMPLES).ravel() for face in faces])
    scale = np.sqrt(SAMPLES * faces[0].points.shape[1])
    squares = (rows**2).sum(axis=1)
    between = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0.0)
    result: Array = np.sqrt(between[np.triu_indices(len(rows), 1)]) / scale
    return result


def arrivals(displacements: Array, regions: Mapping[str, Array], rate: float) -> Array:
    """(R,) seconds at which each region of a motion (F, L, D) to a peak has gone nine tenths of its way."""
    levels = (activation(displacements[:, members]) for members in regions.values())
    return np.array([crossing(level, ARRIVES * level.max()) for level in levels]) / rate


def lag(displacements: Array, regions: Mapping[str, Array], rate: float) -> float:
    """Seconds between the first and the last region to arrive."""
    return float(np.ptp(arrivals(displacements, regions, rate)))


def coactivation(motions: Iterable[Array], regions: Mapping[str, Array]) -> Array:
    """(R, R) correlation over all frames of how active two regions are, each as a part of its greatest activation."""
    moved = [np.stack([activation(motion[:, m]) for m in regions.values()], axis=1) for motion in motions]
    levels = np.concatenate(moved)
    return np.corrcoef(levels / np.maximum(levels.max(axis=0), 1e-12), rowvar=False)


def likeness(found: Array, wanted: Array) -> float:
    """1 where two correlation matrices (R, R) agree, less by the mean difference of their entries off the diagonal."""
    off = ~np.eye(len(found), dtype=bool)
    return 1.0 - float(np.abs(found - wanted)[off].mean())
