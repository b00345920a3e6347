"""Recovery: the way to given nodes without any noise, by the paper's four steps alone [Serra 2018, section 5.1].

This is what the error of a graph is measured on: a take goes in, its peak's nodes are asked for, and what comes out is
compared with the take.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.actor import actor_of
from understudy.expression.acting.smoothing import smooth
from understudy.expression.acting.timing import expanded, natural_length, normalised, stretched
from understudy.expression.graph.face_graph import FaceGraph


def recovered(
    graph: FaceGraph, sinks: Array, sources: Array | None = None, *, smoothing: float = 0.5, frames: int | None = None
) -> Array:
    """(F, L, D) displacements from the nodes `sources` (R,), neutral by default, to `sinks` (R,).

    F is the longest of the regions' own durations, or `frames` where given.
    """
    actor = actor_of(graph)
    starts = np.zeros(len(sinks), np.int64) if sources is None else sources
    motions = []
    for routes, source, sink in zip(actor.routes, starts, sinks):
        region, path = routes.region, routes.path(int(source), int(sink))
        poses = expanded(region.displacements[path], region.velocities[path], region.runs[path])  # step 1
        length = max(round(natural_length(region, path)) + 1, 2) if frames is None else frames
        motions.append(stretched(poses, length))  # step 2
    motions = normalised(motions)  # step 3
    points = np.zeros((len(motions[0]), *graph.base.shape))
    for routes, motion in zip(actor.routes, motions):
        points[:, routes.region.members] = motion
    bounds = np.array([0, len(points) - 1])
    flat = smooth(points.reshape(len(points), -1), bounds, graph.rate, smoothing)  # step 4
    return flat.reshape(points.shape)
