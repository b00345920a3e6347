from __future__ import annotations

import numpy as np
import pytest
from benchmarks.measures import express
from tests.express.acting.small import REGIONS

from understudy.express.acting import act
from understudy.express.acting.synthesis import nodes_of_walk
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.sequence import ExpressionSequence


def test_distances_are_a_metric_on_performances(graph: ExpressionGraph) -> None:
    faces = [act(graph, ["fear"], seed=seed) for seed in (1, 2, 1)]
    a, b, c = express.distances(faces)
    assert b == pytest.approx(0.0, abs=1e-6) and a == pytest.approx(c) and a > 0.01


def test_takes_move_as_they_move(takes: list[ExpressionSequence]) -> None:
    moved = [take.displacements for take in takes]
    own = express.coactivation(moved, REGIONS)
    assert express.likeness(own, own) == 1.0
    shuffled = [np.concatenate([m[:, :6], np.roll(m[:, 6:], 15, axis=0)], axis=1) for m in moved]
    assert express.likeness(express.coactivation(shuffled, REGIONS), own) < 0.8


def test_lag_is_between_the_first_and_the_last_region(takes: list[ExpressionSequence]) -> None:
    take = takes[0]
    motion = take.displacements[: take.peak + 1].copy()
    before = express.lag(motion, REGIONS, take.rate)
    motion[:, REGIONS["mouth"]] = motion[np.maximum(np.arange(len(motion)) - 6, 0)][:, REGIONS["mouth"]]
    assert express.lag(motion, REGIONS, take.rate) > before + 0.05


def test_a_walk_passes_a_peak_of_every_label(graph: ExpressionGraph) -> None:
    ways = nodes_of_walk(graph, ["fear", "anger"], seed=3)
    for region in graph.regions:
        way = ways[region.name]
        edges = set(zip(region.sources.tolist(), region.targets.tolist()))
        assert way[0] == 0 and all(pair in edges for pair in zip(way[:-1].tolist(), way[1:].tolist()))
        passed = region.peaks[way].any(axis=0)
        assert passed[graph.label_index("fear")] and passed[graph.label_index("anger")]
