"""Face graphs: labelled takes merged into a small graph for each region of a face [Serra 2018, section 4]."""

from understudy.expression.graph.building import Traced, added, build, raw_bytes, traced
from understudy.expression.graph.face_graph import FaceGraph, RegionGraph
from understudy.expression.graph.reach import dead_ends, labels_reached
from understudy.expression.graph.stored import load, save

__all__ = [
    "FaceGraph",
    "RegionGraph",
    "Traced",
    "added",
    "build",
    "dead_ends",
    "labels_reached",
    "load",
    "raw_bytes",
    "save",
    "traced",
]
