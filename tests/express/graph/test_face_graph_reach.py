from __future__ import annotations

import numpy as np

from understudy.express.graph import RegionGraph, dead_ends, labels_reached


def region(edges, peaks, nodes, labels=2):
    held = np.zeros((nodes, labels), bool)
    for node, label in peaks:
        held[node, label] = True
    sources, targets = np.array(sorted(edges), np.int32).reshape(-1, 2).T.copy()
    zeros = np.zeros((nodes, 1, 1))
    return RegionGraph(
        "r", np.arange(1), zeros, np.ones(nodes, np.int32), np.ones(nodes), zeros.copy(), held.copy(), held,
        np.ones(nodes), np.ones(nodes), sources, targets, np.ones(len(sources)),
    )  # fmt: skip


def test_a_ring_reaches_everything():
    ring = region([(0, 1), (1, 2), (2, 3), (3, 0)], [(1, 0), (3, 1)], 4)
    assert labels_reached(ring).all()
    assert dead_ends(ring).tolist() == []


def test_a_branch_without_a_way_back_is_found():
    branch = region([(0, 1), (1, 0), (0, 2), (2, 3)], [(1, 0), (3, 1)], 4)
    np.testing.assert_array_equal(labels_reached(branch), [[1, 1], [1, 1], [0, 1], [0, 0]])
    assert dead_ends(branch).tolist() == [2, 3]


def test_a_label_without_a_peak_is_out_of_reach():
    assert dead_ends(region([(0, 1), (1, 0)], [(1, 0)], 2)).tolist() == [0, 1]
