from __future__ import annotations

import numpy as np
import pytest
from tests.express.graph.made_takes import takes

from understudy.express.graph import build
from understudy.express.graph_picture import label_angle, layout_nodes


@pytest.fixture(scope="module")
def region():
    return build(takes(2), compression=0.7, merge_compression=0.7).region("mouth")


def test_neutral_is_in_the_middle_and_nothing_far_outside(region):
    position = layout_nodes(region)
    assert position.shape == (region.nodes, 2)
    assert (position[0] == 0).all()
    assert np.linalg.norm(position, axis=1).max() < 1.3
    np.testing.assert_array_equal(position, layout_nodes(region))


def test_peaks_lie_in_the_petal_of_their_label(region):
    position = layout_nodes(region)
    labels = region.peaks.shape[1]
    for label in range(labels):
        for node in region.peaks_of(label):
            angle = np.arctan2(position[node, 1], position[node, 0])
            off = (angle - label_angle(label, labels) + np.pi) % (2 * np.pi) - np.pi
            assert abs(off) < 0.7 * 2 * np.pi / labels


def test_no_two_nodes_lie_on_each_other(region):
    position = layout_nodes(region)
    apart = np.linalg.norm(position[:, None] - position[None], axis=2) + np.eye(len(position))
    assert apart.min() > 0.01
