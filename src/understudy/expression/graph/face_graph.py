"""The face graph: one small directed graph for each region of the face [Serra 2018, section 4.4].

A node stands for the poses that were merged in it, an edge for a step that some take made from one node to the next.
Node 0 of every region is the base pose. All regions share the labels, the rate and the base pose.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

if TYPE_CHECKING:
    from understudy.expression.acting.coupling import Coupling


@dataclass(frozen=True, eq=False)
class RegionGraph:
    """N nodes and E edges of one region of L_r landmarks in D dimensions; Q labels.

    A node's poses came in `merged / runs` visits, where a stay at the apex counts as two, one each way. `velocities`
    are the mean displacement a frame over its poses, taken towards the peak: they give a line and a speed, and which
    way along it is for the path to say. The displacement of a node that holds peaks is the mean of these peaks, so that
    an expression does not fade as its node grows.
    """

    name: str
    members: Array  # (L_r,) indexes into FaceGraph.names
    displacements: Array  # (N, L_r, D) mean of the poses merged in a node; node 0 is the base pose (zero)
    merged: Array  # (N,) number of poses in it
    runs: Array  # (N,) mean number of consecutive poses that a sequence spends in it
    velocities: Array  # (N, L_r, D) float32: their mean displacement a frame
    labels: Array  # (N, Q) bool: labels of the sequences that pass
    peaks: Array  # (N, Q) bool: holds a peak of that label
    onset: Array  # (N,) mean frames from neutral to that peak, NaN elsewhere
    onset_deviation: Array  # (N,) its standard deviation, NaN elsewhere
    sources: Array  # (E,) int32, sorted, ties by target
    targets: Array  # (E,) int32
    costs: Array  # (E,) similarity of eq. 3
    # (N,) mean frames from that peak back to neutral, NaN elsewhere; its standard deviation; empty where not known
    offset: Array = field(default_factory=lambda: np.zeros(0))
    offset_deviation: Array = field(default_factory=lambda: np.zeros(0))
    arrivals: Array = field(default_factory=lambda: np.zeros(0, np.int32))  # (N,) number of peaks in it
    spread: float = 1.0  # the region's unit of similarity: that of a mean pose to the base pose

    def __post_init__(self) -> None:
        if not len(self.arrivals):
            object.__setattr__(self, "arrivals", np.asarray(self.peaks).any(axis=1).astype(np.int32))
        if not len(self.offset):  # as long as the onset, which is what a reversed copy has
            object.__setattr__(self, "offset", np.array(self.onset))
            object.__setattr__(self, "offset_deviation", np.array(self.onset_deviation))
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                checks.freeze(value)

    @property
    def nodes(self) -> int:
        """N."""
        return len(self.displacements)

    @property
    def bytes(self) -> int:
        """Of all its arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def peaks_of(self, label: int) -> Array:
        """(P,) nodes that hold a peak of the label numbered `label`."""
        return np.flatnonzero(self.peaks[:, label])


@dataclass(frozen=True, eq=False)
class FaceGraph:
    """What acting needs: the base pose, the labels, a graph for each region, and how regions move together."""

    names: tuple[str, ...]  # (L,) of landmarks or weights
    base: Array  # (L, D) mean neutral
    labels: tuple[str, ...]  # (Q,) sorted
    rate: float  # frames a second
    regions: tuple[RegionGraph, ...]
    coupling: Coupling | None = None
    takes: int = 1  # sequences that it was built from
    # compression and tolerance of a take's own nodes, and of its merging: what the next take is merged with
    asked: tuple[float, float, float, float] = (0.7, 0.1, 0.7, 0.2)

    def __post_init__(self) -> None:
        checks.freeze(self.base)

    @property
    def bytes(self) -> int:
        """Of everything that acting needs; the data compression of Table 1 is of this."""
        coupling = {} if self.coupling is None else self.coupling.to_arrays()
        return self.base.nbytes + sum(r.bytes for r in self.regions) + sum(a.nbytes for a in coupling.values())

    @property
    def nodes(self) -> int:
        """Of all regions together."""
        return sum(region.nodes for region in self.regions)

    def label_index(self, label: str) -> int:
        """The number of a label; an unknown one is refused with the list of those that there are."""
        return self.labels.index(checks.one_of(label, "label", self.labels))

    def region(self, name: str) -> RegionGraph:
        """The graph of the region called `name`."""
        for region in self.regions:
            if region.name == name:
                return region
        known = ", ".join(repr(region.name) for region in self.regions)
        raise InvalidInput(f"there is no region {name!r}; available: {known}")
