from __future__ import annotations

import numpy as np
import pytest
from tests.deform.rigging.shapes import box

from understudy.deform import comparison
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin


def test_the_volume_of_a_box_wherever_it_is() -> None:
    vertices, triangles = box([0, 0, 0], [1, 2, 3])
    np.testing.assert_allclose(comparison.volumes(np.stack([vertices, vertices + 100]), triangles), [6, 6], atol=1e-9)


def test_loss_and_stretch_of_a_box_half_as_high() -> None:
    vertices, triangles = box([0, 0, 0], [1, 2, 3])
    flat = vertices * [1, 0.5, 1]
    np.testing.assert_allclose(comparison.volume_loss(flat[None], vertices[None], triangles), [0.5])
    assert comparison.edge_stretch(vertices[None], vertices[None], triangles) == 0
    assert 0 < comparison.edge_stretch(flat[None], vertices[None], triangles) < 0.5
    assert comparison.edge_stretch(1.5 * vertices[None], vertices[None], triangles) == pytest.approx(0.5)


def test_the_figures_of_a_skin(bending: Examples) -> None:
    skin = LinearSkin.fit(bending)
    found = comparison.measure(skin, bending, 0.25)
    distance = np.linalg.norm(skin.deform(bending.transforms) - bending.vertices, axis=-1)
    assert found.rms == pytest.approx(np.sqrt((distance**2).mean())) and found.worst == pytest.approx(distance.max())
    assert distance[found.worst_pose, found.worst_vertex] == distance.max()
    assert found.pose_rms.shape == (12,) and found.size == bending.size
    assert found.frame_microseconds > 0 and found.bytes_a_vertex == skin.bytes_a_vertex and found.fit_seconds == 0.25


def test_a_sheet_has_no_volume_to_lose() -> None:
    flat = np.array([[0, 0, 0], [1, 0, 1e-7], [1, 1, 0], [0, 1, 1e-7]], float)[None]
    np.testing.assert_array_equal(comparison.volume_loss(flat * 1.1, flat, np.array([[0, 1, 2], [0, 2, 3]])), 0)
