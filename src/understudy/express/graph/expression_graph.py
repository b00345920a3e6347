"""The face graph: one small directed graph for each region of the face [Serra 2018, section 4.4].

A node stands for the poses that were merged in it, an edge for a step that some take made from one node to the next.
Node 0 of every region is the base pose. All regions share the labels, the rate and the base pose.

Reachability: every node reaches every label [Serra 2018, section 6: without the return, every peak is a dead end].
Every take starts in node 0 and its end leads back there, so a region's graph is strongly connected: node 0 reaches all
nodes along the takes, and every node reaches node 0 along its take's end.

Files are archives of `storage`, with a folder of arrays for each region. Displacements and velocities are written as
they are in memory, so that a loaded graph acts the same, to the last bit. A file is checked: sizes, indexes, finite
numbers, and that every node reaches every label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, storage
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.express.graph.coupling import Coupling
from understudy.storage import Field


@dataclass(frozen=True, eq=False)
class RegionGraph:
    """N nodes and E edges of one region of L_r landmarks in D dimensions; Q labels.

    A node's poses came in `merged / runs` visits, where a stay at the apex counts as two, one for the onset and one for
    the offset. `velocities` are the mean displacement a frame over its poses, taken towards the peak: they give a line
    and a speed, and the path decides the direction along it. The displacement of a node that holds peaks is the mean of
    these peaks, so that an expression does not fade as its node grows.
    """

    name: str
    members: Array  # (L_r,) indexes into ExpressionGraph.names
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
        """Bytes of all its arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def peaks_of(self, label: int) -> Array:
        """(P,) nodes that hold a peak of the label numbered `label`."""
        return np.flatnonzero(self.peaks[:, label])


@dataclass(frozen=True, eq=False)
class ExpressionGraph:
    """The base pose, the labels, a graph for each region, and the coupling of the regions."""

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
        """Bytes of everything that acting needs: the data compression of Table 1 is measured on them."""
        coupling = {} if self.coupling is None else self.coupling.to_arrays()
        return self.base.nbytes + sum(r.bytes for r in self.regions) + sum(a.nbytes for a in coupling.values())

    @property
    def nodes(self) -> int:
        """Number of nodes of all regions."""
        return sum(region.nodes for region in self.regions)

    def label_index(self, label: str) -> int:
        """The number of a label; an unknown one is refused with a list of the known ones."""
        return self.labels.index(checks.one_of(label, "label", self.labels))

    def region(self, name: str) -> RegionGraph:
        """The graph of the region called `name`."""
        for region in self.regions:
            if region.name == name:
                return region
        known = ", ".join(repr(region.name) for region in self.regions)
        raise InvalidInput(f"there is no region {name!r}; available: {known}")


def labels_reached(region: RegionGraph) -> Array:
    """(N, Q) whether some peak of a label can be reached from a node, by one edge or more.

    Peaks spread backwards along the edges until nothing changes: E Q operations a round, as many rounds as the longest
    path has edges.
    """
    reached = np.zeros_like(region.peaks)
    while True:
        ahead = region.peaks | reached
        grown = reached.copy()
        np.logical_or.at(grown, region.sources, ahead[region.targets])
        if (grown == reached).all():
            return reached
        reached = grown


def dead_ends(region: RegionGraph) -> Array:
    """(K,) nodes from which some label cannot be reached."""
    return np.flatnonzero(~labels_reached(region).all(axis=1))


FILE_KIND = "face graph"
NODE_ARRAYS = ("onset", "onset_deviation", "offset", "offset_deviation")  # (N,), NaN but for peaks
REGION_FIELDS = {
    "members": Field("i", ("L",)),
    "displacements": Field("f", ("N", "L", "D")),
    "velocities": Field("f", ("N", "L", "D")),
    "merged": Field("i", ("N",)),
    "runs": Field("f", ("N",)),
    "labels": Field("b", ("N", "Q")),
    "peaks": Field("b", ("N", "Q")),
    "arrivals": Field("i", ("N",)),
    "sources": Field("i", ("E",)),
    "targets": Field("i", ("E",)),
    "costs": Field("f", ("E",)),
}


def save(graph: ExpressionGraph, path: str | Path, settings: Mapping[str, Any] | None = None) -> None:
    """Write a graph, whole or not at all; the same graph makes the same bytes. `settings` are those of its building."""
    header = {
        "kind": FILE_KIND,
        "settings": dict(settings or {}),
        "names": list(graph.names),
        "labels": list(graph.labels),
        "rate": graph.rate,
        "takes": graph.takes,
        "asked": list(graph.asked),
        "regions": [{"name": region.name, "spread": region.spread} for region in graph.regions],
    }
    arrays: dict[str, Array] = {"base": graph.base}
    for number, region in enumerate(graph.regions):
        arrays |= {f"region{number}.{name}": getattr(region, name) for name in (*REGION_FIELDS, *NODE_ARRAYS)}
    if graph.coupling is not None:
        arrays |= {f"coupling.{name}": value for name, value in graph.coupling.to_arrays().items()}
    storage.write(path, header, arrays)


def load(path: str | Path) -> ExpressionGraph:
    """The graph that `save` wrote; BadFile says why a file cannot be read."""
    header, arrays = storage.read(path)
    if header.get("kind") != FILE_KIND:
        raise BadFile(path, "should hold a face graph, but holds something else")
    try:
        return _graph(path, header, arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFile(path, f"should hold a face graph, but is damaged: {error}") from None


def _graph(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> ExpressionGraph:
    names, labels = (tuple(map(str, header[key])) for key in ("names", "labels"))
    base = storage.check_arrays(path, arrays, {"base": Field("f", (len(names), "D"))})["base"]
    parts = header["regions"]
    regions = []
    for number, part in enumerate(parts):
        below = _arrays_in_folder(arrays, f"region{number}")
        regions.append(_region(path, str(part["name"]), float(part["spread"]), below, base, len(labels)))
    coupling = _arrays_in_folder(arrays, "coupling")
    first, second, third, fourth = map(float, header["asked"])
    rate, takes = float(header["rate"]), int(header["takes"])
    if not (np.isfinite(rate) and rate > 0 and takes > 0 and regions):
        raise InvalidInput(f"it has {len(regions)} regions of {takes} takes at {rate} frames a second")
    return ExpressionGraph(
        names=names,
        base=base,
        labels=labels,
        rate=rate,
        regions=tuple(regions),
        coupling=Coupling.from_arrays(coupling, [r.name for r in regions], labels) if coupling else None,
        takes=takes,
        asked=(first, second, third, fourth),
    )


def _region(
    path: str | Path, name: str, spread: float, arrays: Mapping[str, Array], base: Array, labels: int
) -> RegionGraph:
    found = storage.check_arrays(path, arrays, REGION_FIELDS, {"D": base.shape[1], "Q": labels})
    nodes = len(found["displacements"])
    for key in NODE_ARRAYS:
        value = arrays[key]
        if value.shape != (nodes,) or value.dtype.kind != "f":
            raise InvalidInput(f"{key} of region {name!r} should have a number a node")
        found[key] = value
    for key, below in (("members", len(base)), ("sources", nodes), ("targets", nodes)):
        checks.indices(found[key], f"{key} of region {name!r}", below)
    if nodes == 0 or not (np.isfinite(spread) and spread > 0):
        raise InvalidInput(f"region {name!r} has {nodes} nodes and a spread of {spread}")
    holds = found["peaks"].any(axis=1)
    if not np.isfinite([found[key][holds] for key in NODE_ARRAYS]).all():
        raise InvalidInput(f"the peaks of region {name!r} should have a duration")
    region = RegionGraph(name=name, spread=spread, **found)
    if len(dead_ends(region)):
        raise InvalidInput(f"from node {dead_ends(region)[0]} of region {name!r} some label cannot be reached")
    return region


def _arrays_in_folder(arrays: Mapping[str, Array], place: str) -> dict[str, Array]:
    """The arrays under a folder, by their own name."""
    return {key.removeprefix(f"{place}."): value for key, value in arrays.items() if key.startswith(f"{place}.")}
