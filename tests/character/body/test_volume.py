"""Volumes of the skin: exact for solids, nothing lost where links meet, however files cut and turn their surfaces."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.transfer import bodies

from understudy.character import Skeleton
from understudy.character.body.volume import link_moments, patch_moments, rest_surface
from understudy.formats import registry


def test_a_box_has_the_moments_of_a_box() -> None:
    vertices, triangles = bodies.box([1.0, 2.0, 3.0], [1.4, 2.6, 4.0])
    (moment,) = patch_moments(vertices, triangles, np.zeros(12, np.int64))
    volume, centre = 0.4 * 0.6 * 1.0, np.array([1.2, 2.3, 3.5])
    np.testing.assert_allclose(moment[3, 3], volume)
    np.testing.assert_allclose(moment[:3, 3], volume * centre)
    central = moment[:3, :3] - volume * np.outer(centre, centre)
    np.testing.assert_allclose(central, np.diag(volume * np.square([0.4, 0.6, 1.0]) / 12), atol=1e-12)


def test_a_bar_cut_into_links_loses_nothing_and_each_has_its_share() -> None:
    vertices, triangles = bodies.tube(24, 13, 0.1, 1.2)
    owners = (vertices[triangles].mean(axis=1)[:, 1] // 0.4).clip(0, 2).astype(np.int64)
    whole = patch_moments(vertices, triangles, np.zeros(len(triangles), np.int64))[0]
    parts = patch_moments(vertices, triangles, owners)
    np.testing.assert_allclose(parts.sum(axis=0), whole, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(parts[:, 3, 3], whole[3, 3] / 3, rtol=0.02)
    np.testing.assert_allclose(parts[:, 1, 3] / parts[:, 3, 3], [0.2, 0.6, 1.0], atol=0.02)


def test_inside_out_and_copied_vertices_change_nothing() -> None:
    vertices, triangles = bodies.box([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    expected = patch_moments(vertices, triangles, np.zeros(12, np.int64))
    loose = vertices[triangles].reshape(-1, 3), np.arange(36).reshape(-1, 3)
    np.testing.assert_allclose(patch_moments(*loose, np.zeros(12, np.int64)), expected)
    np.testing.assert_allclose(patch_moments(vertices, triangles[:, ::-1], np.zeros(12, np.int64)), expected)


def test_a_hole_is_closed_and_a_sheet_has_some_mass() -> None:
    vertices, triangles = bodies.box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    np.testing.assert_allclose(patch_moments(vertices, triangles[:10], np.zeros(10, np.int64))[0, 3, 3], 1.0)
    sheet = patch_moments(np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1.0]]), np.array([[0, 1, 2]]), np.zeros(1, np.int64))
    assert 0 < sheet[0, 3, 3] < 0.01


def test_weights_decide_whose_volume_it_is() -> None:
    skeleton = Skeleton(["Low", "High"], [-1, 0], [[0.0, 0.0, 0.0], [0.0, 0.6, 0.0]])
    vertices, triangles = bodies.tube(16, 13, 0.1, 1.2)
    character = bodies.of_mesh(skeleton, vertices, triangles, (vertices[:, 1] > 0.65).astype(np.int64))
    low, high = link_moments(character)[:, 3, 3]
    np.testing.assert_allclose(low + high, patch_moments(vertices, triangles, np.zeros(len(triangles), int))[0, 3, 3])
    assert 0.8 < low / high < 1.25


@pytest.mark.parametrize("name", ["animals_pack_Husky", "easy_enemies_pack_Spider", "platformer_game_pack_Character"])
def test_real_links_are_solids(name: str) -> None:
    character = registry.read(data_file(f"gltf_quaternius/{name}.glb")).character()
    moments = link_moments(character)
    assert moments[:, 3, 3].min() >= 0
    vertices, triangles, owners = rest_surface(character)
    for joint in np.flatnonzero(moments[:, 3, 3] > 0):
        moment, skin = moments[joint], vertices[np.unique(triangles[owners == joint])]
        centre = moment[:3, 3] / moment[3, 3]
        assert (skin.min(axis=0) <= centre).all() and (centre <= skin.max(axis=0)).all()
        central = moment[:3, :3] - np.outer(moment[:3, 3], moment[:3, 3]) / moment[3, 3]
        assert np.linalg.eigvalsh(central)[0] > -1e-8 * np.trace(central)
