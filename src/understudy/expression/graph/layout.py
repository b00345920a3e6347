"""Where the nodes of a region's graph lie in a picture: neutral in the middle, each label a petal, peaks at its tip.

How far a node is from the middle says how far its pose is from neutral. Peaks of a label fan out over the label's share
of the circle; every other node takes the direction of its neighbours' mean, with all of them solved at once (Tutte's
drawing: L x = 0 for free nodes, L the graph's Laplacian).
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.expression.graph.face_graph import RegionGraph

FILLED = 0.8  # of a label's share of the circle, so that petals stay apart
MIDDLE = 0.06  # the least distance from the middle: nodes about neutral would hide it
FARTHEST = 1.1  # one pose that is twice as strong as all others would press them into the middle
SPREAD = 0.7  # a power that gives weak poses, which are many, more room than strong ones
ROUNDS = 40  # of pushing apart


def placed(region: RegionGraph) -> Array:
    """(N, 2) positions, nine in ten within the unit circle, x right and y up; node 0 is (0, 0)."""
    size = np.linalg.norm(region.displacements, axis=2).sum(axis=1)
    usual = float(np.percentile(size[1:], 90)) if len(size) > 1 else 0.0
    far = np.minimum((size / max(usual, 1e-12)) ** SPREAD, FARTHEST)
    fixed = np.zeros((region.nodes, 2))
    known = np.array(region.peaks.any(axis=1))
    known[0] = True
    for label in range(region.peaks.shape[1]):
        nodes = region.peaks_of(label)
        nodes = nodes[np.argsort(far[nodes], kind="stable")]
        share = np.linspace(-0.5, 0.5, len(nodes)) if len(nodes) > 1 else np.zeros(len(nodes))
        angle = petal(label, region.peaks.shape[1]) + 2 * np.pi * FILLED / region.peaks.shape[1] * share
        fixed[nodes] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    position = _between(region, known, fixed)
    length = np.linalg.norm(position, axis=1, keepdims=True)
    # a node that its neighbours pull equally all ways still needs a way: by its number, so that such nodes spread
    angle = 2.399963 * np.arange(region.nodes)  # the golden angle
    way = np.where(length > 1e-9, position / np.maximum(length, 1e-9), np.stack([np.cos(angle), np.sin(angle)], axis=1))
    result = way * np.maximum(far, MIDDLE)[:, None]
    result[0] = 0.0
    return _apart(result)


def petal(label: int, labels: int) -> float:
    """The direction of a label in radians: the first up, the others clockwise."""
    return float(np.pi / 2 - 2 * np.pi * label / labels)


def _between(region: RegionGraph, known: Array, fixed: Array) -> Array:
    """(N, 2) every unknown position the mean of its neighbours'."""
    many = region.nodes
    joined = np.zeros((many, many))
    joined[region.sources, region.targets] = joined[region.targets, region.sources] = 1.0
    laplacian = np.diag(joined.sum(axis=1) + 1e-9) - joined  # a node without neighbours lies in the middle
    free = ~known
    result = fixed.copy()
    if free.any():
        result[free] = np.linalg.solve(laplacian[np.ix_(free, free)], -laplacian[np.ix_(free, known)] @ fixed[known])
    return result


def _apart(position: Array) -> Array:
    """The same, nodes that overlap pushed apart; node 0 stays."""
    gap = min(0.9 / np.sqrt(len(position)), 0.08)
    for _ in range(ROUNDS):
        between = position[:, None] - position[None]
        length = np.linalg.norm(between, axis=2)
        np.fill_diagonal(length, np.inf)
        push = np.maximum(gap - length, 0.0) / np.maximum(length, 1e-6)
        position = position + 0.25 * (push[:, :, None] * between).sum(axis=1)
        position[0] = 0.0
    return position
