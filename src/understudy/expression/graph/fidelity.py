"""How well a graph remembers its takes: every take against what is acted to its peak and back [Serra 2018, Table 1].

The nodes that hold a take's peak are asked for, without any noise, from neutral and back to it. Where what comes out is
longer or shorter, it is brought to the take's frames; how much so is the error of duration.

The paper gives the error of velocities "using the dot product", 0 % for a match and 100 % for 90 degrees, which can be
read in two ways. Both are here: `turn` is the angle between the two velocities in per cent of 90 degrees (200 % is the
opposite way), `line` is eq. 3's v in per cent, which is lower. Landmarks that stand still count as in eq. 3.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.recovery import recovered
from understudy.expression.acting.timing import stretched
from understudy.expression.graph import similarity
from understudy.expression.graph.building import Traced
from understudy.expression.graph.face_graph import FaceGraph
from understudy.expression.sequence import Sequence


class Spread(NamedTuple):
    """A mean and a standard deviation."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Many[Array]) -> Spread:
        """Over all numbers of some arrays."""
        every = np.concatenate([np.ravel(each) for each in values])
        return cls(float(every.mean()), float(every.std()))


@dataclass(frozen=True)
class Fidelity:
    """What Table 1 has in its columns 6 to 8."""

    duration: Spread  # frames
    landmark: Spread  # in the takes' unit
    turn: Spread  # per cent
    line: Spread  # per cent


def fidelity(traced: Traced, takes: Many[Sequence], smoothing: float = 0.5) -> Fidelity:
    """Of the takes that the graph was traced from, in their order."""
    found: list[tuple[Array, ...]] = []
    for take, nodes in zip(takes, traced.nodes):
        motion, frames = acted(traced.graph, nodes[:, take.peak], take, smoothing)
        found.append((np.array([abs(frames - len(take))]), *_compared(traced.graph, take.displacements, motion)))
    return Fidelity(*(Spread.of(each) for each in zip(*found)))


def acted(graph: FaceGraph, peaks: Array, take: Sequence, smoothing: float) -> tuple[Array, int]:
    """(F, L, D) the way to the nodes `peaks` (R,) and back, in the frames of a take; and the frames that it had."""
    there = recovered(graph, peaks, smoothing=smoothing)
    back = recovered(graph, np.zeros_like(peaks), peaks, smoothing=smoothing)
    onset, offset = stretched(there, take.peak + 1), stretched(back, len(take) - take.peak)
    return np.concatenate([onset, offset[1:]]), len(there) + len(back) - 1


def _compared(graph: FaceGraph, wanted: Array, found: Array) -> tuple[Array, Array, Array]:
    """Distances (F, L), and both errors of the velocities (F - 1, L)."""
    covered = np.concatenate([region.members for region in graph.regions])
    still = np.concatenate(
        [np.full(len(r.members), similarity.STILL * r.spread / len(r.members)) for r in graph.regions]
    )
    wanted, found = wanted[:, covered], found[:, covered]
    u, w = (similarity.units_of(np.diff(each, axis=0), still[:, None]) for each in (wanted, found))
    one, two = (np.einsum("fld,fld->fl", each, each) > 0.5 for each in (u, w))
    angle = np.degrees(np.arccos(np.clip(np.einsum("fld,fld->fl", u, w), -1.0, 1.0))) / 90.0
    turn = np.where(one & two, angle, np.where(one | two, 0.5, 0.0))
    return np.linalg.norm(wanted - found, axis=2), 100 * turn, 100 * similarity.velocity_influence(u, w)
