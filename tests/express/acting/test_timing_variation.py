from __future__ import annotations

import numpy as np
import pytest
from tests.reference import express as reference

from understudy.errors import InvalidInput
from understudy.express.acting import acting_kernels
from understudy.express.acting.graph_paths import RegionRoutes
from understudy.express.acting.timing import DRAWS_PER_PATH, MAX_DETOUR_RATIO, PathNoise, vary_length
from understudy.express.graph.expression_graph import ExpressionGraph


def some_paths(graph: ExpressionGraph) -> list[tuple[RegionRoutes, np.ndarray]]:
    found = []
    for region in graph.regions:
        routes = RegionRoutes(region)
        found += [(routes, routes.path(int(a), int(b))) for a in routes.sinks[:4] for b in routes.sinks[:4] if a != b]
    return found


def test_no_noise_no_change(merged: ExpressionGraph) -> None:
    for routes, path in some_paths(merged):
        assert np.array_equal(reference.vary_path(routes, path, PathNoise(0.0, 1), np.full(DRAWS_PER_PATH, 0.99)), path)


def test_noise_changes_some_of_the_inner_nodes_to_ones_that_share_a_label(merged: ExpressionGraph) -> None:
    changed = 0
    for number, (routes, path) in enumerate(some_paths(merged)):
        found = reference.vary_path(
            routes, path, PathNoise(0.5, 2), np.random.default_rng(number).random(DRAWS_PER_PATH)
        )
        labels = routes.region.labels
        new = found != path
        changed += int(new.sum())
        assert not new[0] and not new[-1] and len(set(found.tolist())) == len(found)
        assert new.sum() <= 0.5 * len(path) + 1
        poses = routes.region.displacements
        for place in np.flatnonzero(new):
            old, over = (np.linalg.norm(poses[nodes[place]] - poses[found[place - 1]]) for nodes in (path, found))
            assert over <= 2 * MAX_DETOUR_RATIO * (old + np.linalg.norm(poses[path[place]] - poses[path[place + 1]]))
        assert (labels[found[new]] & (labels[path[0]] | labels[path[-1]])).any(axis=1).all()
    assert changed > 10


def test_the_kernel_agrees_with_its_oracle(merged: ExpressionGraph) -> None:
    for number, (routes, path) in enumerate(some_paths(merged)):
        draws = np.random.default_rng(number).random(DRAWS_PER_PATH)
        found = path.copy()
        poses = routes.region.displacements.reshape(routes.region.nodes, -1)
        acting_kernels.vary(found, routes.region.labels, poses, *routes.substitutes(2), 0.6, MAX_DETOUR_RATIO, draws)
        assert np.array_equal(found, reference.vary_path(routes, path, PathNoise(0.6, 2), draws))


def test_lengths_vary_as_much_whatever_the_coupling() -> None:
    rng = np.random.default_rng(0)
    mean, deviation = np.full(3, 1.0), np.full(3, 0.05)
    for coupling in (0.0, 0.5, 1.0):
        drawn = np.array(
            [vary_length(mean, deviation, rng.normal(), rng.normal(size=3), coupling, 1.0) for _ in range(4000)]
        )
        assert drawn.std() == pytest.approx(0.05, rel=0.1)
        together = np.corrcoef(drawn, rowvar=False)[0, 1]
        assert together == pytest.approx(coupling**2, abs=0.06)


@pytest.mark.parametrize("noise", [(1.5, 1), (-0.1, 1), (0.2, 0), (0.2, 1.5), (0.2, 99)])
def test_bad_noise_is_refused(noise: tuple[float, int]) -> None:
    with pytest.raises(InvalidInput, match="path noise should be"):
        PathNoise.from_argument(noise)
