"""Face graphs: labelled takes merged into a small graph for each region of a face [Serra 2018, section 4]."""

from __future__ import annotations

from understudy.express.graph.expression_graph import (
    ExpressionGraph,
    RegionGraph,
    dead_ends,
    labels_reached,
    load,
    save,
)
from understudy.express.graph.graph_builder import BuildTrace, add_take, build, build_with_trace, raw_bytes

__all__ = [
    "BuildTrace",
    "ExpressionGraph",
    "RegionGraph",
    "add_take",
    "build",
    "build_with_trace",
    "dead_ends",
    "labels_reached",
    "load",
    "raw_bytes",
    "save",
]
