"""The compiled twin of `sample_graph.visited`."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.expression.graph.similarity_kernels import distances, make_unit, weighed
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def visited(
    poses: Array, units: Array, influence: float, threshold: float, still: float, peak: int, home: bool
) -> Array:
    """(F,) the node of each pose of displacements (F, L, D) with unit velocities (F, L, D)."""
    frames, landmarks, dimensions = poses.shape
    nodes = np.zeros((frames, landmarks, dimensions))
    counts = np.zeros(frames, np.int64)
    counts[0] = 1
    number = 1
    sources, targets = np.zeros(frames, np.int64), np.zeros(frames, np.int64)
    edges = 0
    visits = np.zeros(frames, np.int64)
    distance = np.zeros(landmarks)
    unit, standing = np.zeros((landmarks, dimensions)), np.zeros((landmarks, dimensions))
    for f in range(1, frames):
        chosen = 0
        if not (home and f == frames - 1):
            chosen, bound = -1, threshold
            for n in range(1 if f == peak else 0, number):
                if distances(poses[f], nodes[n], distance) >= bound:
                    continue
                alone = True
                for e in range(edges):
                    if targets[e] != n:
                        continue
                    alone = False
                    make_unit(nodes[sources[e]], nodes[n], still, unit)
                    value = weighed(distance, units[f], unit, influence, bound)
                    if value < bound:
                        chosen, bound = n, value
                if alone:
                    value = weighed(distance, units[f], standing, influence, bound)
                    if value < bound:
                        chosen, bound = n, value
            if chosen < 0:
                chosen = number
                number += 1
            if chosen:
                counts[chosen] += 1
                for i in range(landmarks):
                    for d in range(dimensions):
                        nodes[chosen, i, d] += (poses[f, i, d] - nodes[chosen, i, d]) / counts[chosen]
        visits[f] = chosen
        before = visits[f - 1]
        if chosen != before:
            known = False
            for e in range(edges):
                known = known or (sources[e] == before and targets[e] == chosen)
            if not known:
                sources[edges], targets[edges] = before, chosen
                edges += 1
    return visits
