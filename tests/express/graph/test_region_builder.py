from __future__ import annotations

import numpy as np
import pytest
from tests.express.graph import oracle
from tests.express.graph.made_takes import takes
from tests.reference import express as reference

from understudy.express.graph import sample_graph as similarity
from understudy.express.graph.region_builder import PEAK_THRESHOLD_RATIO, RegionBuilder, merge_nodes
from understudy.express.graph.sample_graph import build_sample_graph, edges_of, visit_poses
from understudy.express.sequence import regions_of

LABELS = ("anger", "fear")
SPREAD = 60.0


def sample_of(take, members, still, threshold=10.0):
    poses = take.displacements[:, members]
    units = similarity.units_of(np.diff(poses, axis=0, prepend=poses[:1]), still)
    return build_sample_graph(poses, visit_poses(poses, units, threshold, still, take.peak, True), take.peak, still)


def grown(dimensions, number=5, align=False, threshold=40.0):
    """A graph of a few takes of the mouth, and the sample that comes next."""
    made = takes(3, LABELS, dimensions, seed=1)
    members = regions_of(made[0].names)["mouth"]
    growing = RegionBuilder("mouth", members, made[0].points[0][members], len(LABELS), SPREAD)
    for take in made[:number]:
        sample, label = sample_of(take, members, growing.still), LABELS.index(take.label)
        merging = merge_nodes(sample, label, growing.snapshot(), threshold, align)
        growing.add_sample(sample, label, merging, (take.peak, len(take) - 1 - take.peak), True)
    return growing, sample_of(made[number], members, growing.still), LABELS.index(made[number].label)


@pytest.mark.parametrize("threshold", [0.0, 20.0, 60.0, 150.0, 1e6])
def test_every_node_goes_where_the_obvious_way_puts_it(threshold):
    growing, sample, label = grown(2)
    standing = growing.snapshot()
    found = merge_nodes(sample, label, standing, threshold)
    wanted = oracle.merged(
        *(sample.displacements, [tuple(e) for e in edges_of(sample.visits)], sample.peak, label),
        *(standing.displacements, [tuple(e) for e in growing.edges], standing.peaks),
        *(threshold, growing.still, PEAK_THRESHOLD_RATIO),
    )
    assert found.nodes.tolist() == wanted
    np.testing.assert_allclose(found.displacements, sample.displacements, atol=1e-12)
    assert found.new_node_count(standing) == len({n for n in wanted if n >= len(standing.displacements)})


@pytest.mark.parametrize("dimensions", [2, 3])
def test_aligned_as_the_oracle_aligns(dimensions):
    growing, sample, label = grown(dimensions, align=True)
    standing = growing.snapshot()
    fast = [merge_nodes(sample, label, standing, threshold, align=True) for threshold in (30.0, 120.0)]
    for threshold, found in zip((30.0, 120.0), fast):
        slow = reference.merge_nodes(sample, label, standing, threshold, align=True)
        assert found.nodes.tolist() == slow.nodes.tolist()
        np.testing.assert_allclose(found.displacements, slow.displacements, atol=1e-8)
        np.testing.assert_allclose(found.velocities, slow.velocities, atol=1e-8)


def test_alignment_brings_merged_nodes_nearer_in_the_least_squares_sense():
    growing, sample, label = grown(2)
    standing = growing.snapshot()
    found = merge_nodes(sample, label, standing, 120.0, align=True)
    first = int(np.flatnonzero(found.nodes[1:] < len(standing.displacements))[0]) + 1
    taker = standing.displacements[found.nodes[first]]
    before, after = (np.square(d - taker).sum() for d in (sample.displacements[first], found.displacements[first]))
    assert after < before
    # a rotation and a shift, no scale: distances within the region stay
    shapes = [standing.base + d[first] for d in (sample.displacements, found.displacements)]
    between = [np.linalg.norm(s[:, None] - s[None], axis=-1) for s in shapes]
    np.testing.assert_allclose(between[0], between[1], atol=1e-9)


def test_peaks_of_other_labels_and_the_base_pose_never_take_a_peak():
    growing, sample, label = grown(2)
    standing = growing.snapshot()
    for threshold in (50.0, 500.0, 1e9):
        node = merge_nodes(sample, label, standing, threshold).nodes[sample.peak]
        assert node != 0
        assert node >= len(standing.peaks) or standing.peaks[node] in (-1, label)
    assert {-1, 0, 1} <= set(standing.peaks.tolist())  # so that there was something to refuse
