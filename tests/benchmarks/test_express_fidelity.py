from __future__ import annotations

import numpy as np
import pytest
from benchmarks.measures.express import act_take, fidelity
from tests.express.graph.made_takes import takes

from understudy.express.graph import build_with_trace


@pytest.fixture(scope="module")
def made():
    return takes(2, ("anger", "fear"))


def test_less_compression_remembers_more(made):
    found = [
        fidelity(build_with_trace(made, compression=c, merge_compression=c, tolerance=0.05), made) for c in (0.1, 0.8)
    ]
    assert found[0].landmark.mean < found[1].landmark.mean
    assert found[0].turn.mean < found[1].turn.mean
    for each in found:
        assert each.line.mean <= each.turn.mean
        assert 0 <= each.duration.mean < 2


def test_a_single_straight_take_comes_back(made):
    """A take along a line at an even pace loses nothing that the four steps do not bring back."""
    take = made[0]
    up = np.concatenate([np.linspace(0, 1, 11), np.linspace(1, 0, 9)[1:]])
    even = take.with_fields(points=take.points[0] + up[:, None, None] * take.displacements[take.peak], peak=10)
    found = build_with_trace([even], compression=0.0, tolerance=0.05, merge_compression=0.0)
    error = fidelity(found, [even], smoothing=0.0)
    size = np.linalg.norm(even.displacements[10], axis=1).mean()
    assert error.duration.mean == 0
    assert error.landmark.mean < 0.15 * size
    assert error.line.mean < 5


def test_peaks_are_met(made):
    found = build_with_trace(made, compression=0.7, merge_compression=0.7)
    for take, nodes in zip(made, found.nodes):
        motion, _ = act_take(found.graph, nodes[:, take.peak], take, 1.0)
        assert len(motion) == len(take)
        wanted = take.displacements[take.peak]
        assert np.linalg.norm(motion[take.peak] - wanted) < 0.3 * np.linalg.norm(wanted)
