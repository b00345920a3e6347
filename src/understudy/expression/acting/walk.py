"""Walk: which nodes a list of labels passes, for pictures of a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.acting import cues as cue_reading
from understudy.expression.acting.actor import actor_of
from understudy.expression.acting.cues import Asked
from understudy.expression.graph.face_graph import FaceGraph


def walked(graph: FaceGraph, labels: Sequence[Asked], *, seed: int = 0, coupling: float = 0.5) -> dict[str, Array]:
    """Region -> (n,) the nodes from neutral over a peak of each label, without noise; one label at a time."""
    actor, rng = actor_of(graph), np.random.default_rng(seed)
    here = np.zeros(len(actor.routes), np.int64)
    nodes: list[list[int]] = [[0] for _ in actor.routes]
    for cue in cue_reading.read(graph, labels):
        if len(cue.labels) > 1:
            raise InvalidInput(f"a walk goes to one label at a time, but {cue.text!r} are several")
        label = cue.labels[0] if cue.labels else None
        sinks = actor.sinks(label, actor.take(label, rng), coupling, here, rng)
        for routes, way, source, sink in zip(actor.routes, nodes, here.tolist(), sinks.tolist()):
            way += routes.path(source, sink)[1:].tolist()
        here = sinks
    return {routes.region.name: np.array(way) for routes, way in zip(actor.routes, nodes)}
