"""Reachability: from every node every label [Serra 2018, section 6: without a way back, every peak is a dead end].

Every take starts in node 0 and its end leads back there, so a region's graph is strongly connected: node 0 reaches all
nodes along the takes, and every node reaches node 0 along its take's end.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.expression.graph.face_graph import RegionGraph


def labels_reached(region: RegionGraph) -> Array:
    """(N, Q) whether some peak of a label can be reached from a node, by one edge or more.

    Peaks spread backwards along the edges until nothing changes: E Q operations a round, as many rounds as the longest
    way has edges.
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
