"""Face graphs in a file: the archive of `formats.archive`, one folder of arrays for each region.

Displacements and velocities are written as they are held, so that what is read acts the same, to the last bit. A file
from elsewhere is checked: sizes, indexes, finite numbers, and that every node still reaches every label.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.expression.acting.coupling import Coupling
from understudy.expression.graph.face_graph import FaceGraph, RegionGraph
from understudy.expression.graph.reach import dead_ends
from understudy.formats import archive
from understudy.formats.archive import Field

KIND = "face graph"
NODES = ("onset", "onset_deviation", "offset", "offset_deviation")  # (N,), NaN but for peaks
FIELDS = {
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


def save(graph: FaceGraph, path: str | Path) -> None:
    """Write a graph, whole or not at all; the same graph makes the same bytes."""
    header = {
        "kind": KIND,
        "names": list(graph.names),
        "labels": list(graph.labels),
        "rate": graph.rate,
        "takes": graph.takes,
        "asked": list(graph.asked),
        "regions": [{"name": region.name, "spread": region.spread} for region in graph.regions],
    }
    arrays: dict[str, Array] = {"base": graph.base}
    for number, region in enumerate(graph.regions):
        arrays |= {f"region{number}.{name}": getattr(region, name) for name in (*FIELDS, *NODES)}
    if graph.coupling is not None:
        arrays |= {f"coupling.{name}": value for name, value in graph.coupling.to_arrays().items()}
    archive.write(path, header, arrays)


def load(path: str | Path) -> FaceGraph:
    """The graph that `save` wrote, or a sentence that says why not."""
    header, arrays = archive.read(path)
    if header.get("kind") != KIND:
        raise BadFile(path, "should hold a face graph, but holds something else")
    try:
        return _graph(path, header, arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFile(path, f"should hold a face graph, but is damaged: {error}") from None


def _graph(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> FaceGraph:
    names, labels = (tuple(map(str, header[key])) for key in ("names", "labels"))
    base = archive.checked(path, arrays, {"base": Field("f", (len(names), "D"))})["base"]
    parts = header["regions"]
    regions = []
    for number, part in enumerate(parts):
        below = _below(arrays, f"region{number}")
        regions.append(_region(path, str(part["name"]), float(part["spread"]), below, base, len(labels)))
    coupling = _below(arrays, "coupling")
    first, second, third, fourth = map(float, header["asked"])
    rate, takes = float(header["rate"]), int(header["takes"])
    if not (np.isfinite(rate) and rate > 0 and takes > 0 and regions):
        raise InvalidInput(f"it has {len(regions)} regions of {takes} takes at {rate} frames a second")
    return FaceGraph(
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
    found = archive.checked(path, arrays, FIELDS, {"D": base.shape[1], "Q": labels})
    nodes = len(found["displacements"])
    for key in NODES:
        value = arrays[key]
        if value.shape != (nodes,) or value.dtype.kind != "f":
            raise InvalidInput(f"{key} of region {name!r} should have a number a node")
        found[key] = value
    for key, below in (("members", len(base)), ("sources", nodes), ("targets", nodes)):
        checks.indices(found[key], f"{key} of region {name!r}", below)
    if nodes == 0 or not (np.isfinite(spread) and spread > 0):
        raise InvalidInput(f"region {name!r} has {nodes} nodes and a spread of {spread}")
    holds = found["peaks"].any(axis=1)
    if not np.isfinite([found[key][holds] for key in NODES]).all():
        raise InvalidInput(f"the peaks of region {name!r} should have a duration")
    region = RegionGraph(name=name, spread=spread, **found)
    if len(dead_ends(region)):
        raise InvalidInput(f"from node {dead_ends(region)[0]} of region {name!r} some label cannot be reached")
    return region


def _below(arrays: Mapping[str, Array], place: str) -> dict[str, Array]:
    """The arrays under a folder, by their own name."""
    return {key.removeprefix(f"{place}."): value for key, value in arrays.items() if key.startswith(f"{place}.")}
