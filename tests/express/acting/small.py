"""Takes and a graph small enough to reason about: three labels, three regions, a node a pose."""

from __future__ import annotations

import numpy as np

from understudy.express.graph.coupling import Coupling
from understudy.express.graph.expression_graph import ExpressionGraph, RegionGraph
from understudy.express.sequence import ExpressionSequence

LABELS = ("anger", "fear", "happiness")
NAMES = tuple(f"lm{number:02d}" for number in (17, 18, 19, 36, 37, 38, 48, 49, 50, 51))
REGIONS = {"brows": np.arange(3), "eyes": np.arange(3, 6), "mouth": np.arange(6, 10)}
RATE = 30.0


def takes(count: int = 4, seed: int = 1) -> list[ExpressionSequence]:
    """Takes of each label, from neutral to an apex and back: regions set off and arrive at times of their own."""
    rng = np.random.default_rng(seed)
    found = []
    for label_number, label in enumerate(LABELS):
        way = np.random.default_rng(label_number).normal(size=(len(NAMES), 2))
        for number in range(count):
            peak, back = int(rng.integers(14, 24)), int(rng.integers(18, 30))
            times = np.arange(peak + back + 1)
            points = np.zeros((len(times), len(NAMES), 2))
            size = 1.0 + 0.2 * rng.normal()
            for region, members in enumerate(REGIONS.values()):
                lag = 0.08 * region * peak
                rise = _ease((times - lag) / (peak - lag - 1.0 + region))
                fall = 1.0 - _ease((times - peak) / (back - 2.0))
                own = way[members] + 0.15 * rng.normal(size=(len(members), 2))
                points[:, members] = (5.0 * size * np.minimum(rise, fall))[:, None, None] * own
            found.append(ExpressionSequence(f"{label}_{number}", label, points + 100.0, RATE, peak, NAMES))
    return found


def base_graph(sequences: list[ExpressionSequence]) -> ExpressionGraph:
    """One node a pose; the first and last poses of all takes are node 0."""
    labels = tuple(sorted({take.label for take in sequences}))
    regions = tuple(_region(name, members, sequences, labels) for name, members in REGIONS.items())
    base = np.mean([take.points[0] for take in sequences], axis=0)
    return ExpressionGraph(NAMES, base, labels, RATE, regions, Coupling.learn(sequences, REGIONS), len(sequences))


def _region(
    name: str, members: np.ndarray, sequences: list[ExpressionSequence], labels: tuple[str, ...]
) -> RegionGraph:
    poses, velocities, owners, peaks = [np.zeros((len(members), 2))], [np.zeros((len(members), 2))], [], {}
    edges = []
    for take in sequences:
        moved, before = take.displacements[:, members], 0
        for frame in range(1, len(take) - 1):
            node = len(poses)
            poses.append(moved[frame])
            velocities.append(moved[frame] - moved[frame - 1])
            owners.append(labels.index(take.label))
            edges.append((before, node))
            if frame == take.peak:
                peaks[node] = take
            before = node
        edges.append((before, 0))
    count = len(poses)
    known = np.zeros((count, len(labels)), bool)
    known[0] = True
    known[np.arange(1, count), owners] = True
    apexes, onset, deviation = np.zeros((count, len(labels)), bool), np.full(count, np.nan), np.full(count, np.nan)
    for node, take in peaks.items():
        apexes[node, labels.index(take.label)] = True
        onset[node], deviation[node] = take.peak, 0.0
    pairs = np.array(sorted(edges), np.int32)
    displacements = np.array(poses)
    costs = np.linalg.norm(displacements[pairs[:, 0]] - displacements[pairs[:, 1]], axis=2).sum(axis=1)
    ones = np.ones(count)
    return RegionGraph(
        name, members, displacements, ones, ones.copy(), np.array(velocities), known, apexes, onset, deviation,
        pairs[:, 0].copy(), pairs[:, 1].copy(), costs,
    )  # fmt: skip


def _ease(x: np.ndarray) -> np.ndarray:
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)
