"""Measures of face performances.

**Performances**: how different they are, how their regions keep together, and whether they stay within the data.

**Fidelity** of a graph to its takes: every take against the motion acted to its peak and back [Serra 2018, Table 1].
The nodes that hold a take's peak are targets, without any noise, from neutral and back to it. Where the result is
longer or shorter, it is stretched to the take's frames; the difference is the error of duration.

The paper gives the error of velocities "using the dot product", 0 % for a match and 100 % for 90 degrees, which can be
read in two ways. Both are measured: `turn` is the angle between the two velocities in per cent of 90 degrees (200 % is
the opposite direction), `line` is eq. 3's v in per cent, which is lower. Landmarks at rest count as in eq. 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.express.acting.cues import ExpressionTake
from understudy.express.acting.synthesis import recover_take
from understudy.express.acting.timing import stretch_time
from understudy.express.graph import sample_graph
from understudy.express.graph.coupling import APEX_ACTIVATION_RATIO, activation, crossing
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.graph.graph_builder import BuildTrace
from understudy.express.sequence import ExpressionSequence

COMPARISON_SAMPLES = 48  # of a performance, when two of different lengths are compared


class MotionBounds(NamedTuple):
    """How far performances go: 1 is the data's own greatest speed; 0 is its range."""

    fastest: float  # of any region, as a part of the data's own greatest speed
    outside: float  # of any coordinate, as a part of the width of its range


class ErrorSpread(NamedTuple):
    """A mean and a standard deviation."""

    mean: float
    deviation: float

    @classmethod
    def from_values(cls, values: Sequence[Array]) -> ErrorSpread:
        """Over all numbers of some arrays."""
        every = np.concatenate([np.ravel(part) for part in values])
        return cls(float(every.mean()), float(every.std()))


@dataclass(frozen=True)
class Fidelity:
    """Columns 6 to 8 of Table 1 [Serra 2018]."""

    duration: ErrorSpread  # frames
    landmark: ErrorSpread  # in the takes' unit
    turn: ErrorSpread  # per cent
    line: ErrorSpread  # per cent


def bounds(graph: ExpressionGraph, faces: Iterable[ExpressionTake]) -> MotionBounds:
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
    return MotionBounds(fastest, outside)


def distances(faces: Sequence[ExpressionTake]) -> Array:
    """(N (N - 1) / 2,) between every two performances: the root mean square over frames and landmarks, time shared.

    Performances are brought to one length first, so that what differs is more than the pace.
    """
    rows = np.stack([stretch_time(face.displacements, COMPARISON_SAMPLES).ravel() for face in faces])
    scale = np.sqrt(COMPARISON_SAMPLES * faces[0].points.shape[1])
    squares = (rows**2).sum(axis=1)
    between = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0.0)
    result: Array = np.sqrt(between[np.triu_indices(len(rows), 1)]) / scale
    return result


def arrivals(displacements: Array, regions: Mapping[str, Array], rate: float) -> Array:
    """(R,) seconds at which each region of a motion (F, L, D) to a peak has gone nine tenths of its way."""
    levels = (activation(displacements[:, members]) for members in regions.values())
    return np.array([crossing(level, APEX_ACTIVATION_RATIO * level.max()) for level in levels]) / rate


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


def fidelity(traced: BuildTrace, takes: Sequence[ExpressionSequence], smoothing: float = 0.5) -> Fidelity:
    """Of the takes that the graph was traced from, in their order."""
    found: list[tuple[Array, ...]] = []
    for take, nodes in zip(takes, traced.nodes):
        motion, frames = act_take(traced.graph, nodes[:, take.peak], take, smoothing)
        found.append((np.array([abs(frames - len(take))]), *_compare_motion(traced.graph, take.displacements, motion)))
    return Fidelity(*(ErrorSpread.from_values(each) for each in zip(*found)))


def act_take(graph: ExpressionGraph, peaks: Array, take: ExpressionSequence, smoothing: float) -> tuple[Array, int]:
    """(F, L, D) the way to the nodes `peaks` (R,) and back, in the frames of a take; and the frames that it had."""
    onset = recover_take(graph, peaks, smoothing=smoothing)
    offset = recover_take(graph, np.zeros_like(peaks), peaks, smoothing=smoothing)
    parts = [stretch_time(onset, take.peak + 1), stretch_time(offset, len(take) - take.peak)[1:]]
    return np.concatenate(parts), len(onset) + len(offset) - 1


def _compare_motion(graph: ExpressionGraph, wanted: Array, found: Array) -> tuple[Array, Array, Array]:
    """Distances (F, L), and both errors of the velocities (F - 1, L)."""
    covered = np.concatenate([region.members for region in graph.regions])
    still = np.concatenate(
        [
            np.full(len(r.members), sample_graph.STILL_DISPLACEMENT_RATIO * r.spread / len(r.members))
            for r in graph.regions
        ]
    )
    wanted, found = wanted[:, covered], found[:, covered]
    u, w = (sample_graph.units_of(np.diff(each, axis=0), still[:, None]) for each in (wanted, found))
    one, two = (np.einsum("fld,fld->fl", each, each) > 0.5 for each in (u, w))
    angle = np.degrees(np.arccos(np.clip(np.einsum("fld,fld->fl", u, w), -1.0, 1.0))) / 90.0
    turn = np.where(one & two, angle, np.where(one | two, 0.5, 0.0))
    return np.linalg.norm(wanted - found, axis=2), 100 * turn, 100 * sample_graph.velocity_influence(u, w)
