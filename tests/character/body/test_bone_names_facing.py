"""Which way a character faces: told by left and right, whatever the axes of its joints."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.perform.layers.bodies import body

from understudy import formats
from understudy.character import Character, Skeleton
from understudy.character.body.bone_names import facing_axes
from understudy.character.rig import DirectRig, rig_of


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seed", [None, 7])
def test_a_body(seed: int | None, turned: bool) -> None:
    expected = np.diag([-1.0, 1, -1]) if turned else np.eye(3)
    np.testing.assert_array_equal(facing_axes(body(seed=seed, turned=turned)), expected)


@pytest.mark.parametrize(
    ("left", "forward"), [((0, 0, -1), (1, 0, 0)), ((0, 0, 1), (-1, 0, 0)), ((0.9, 0.2, -0.4), (0, 0, 1))]
)
def test_any_axis_and_uneven_poses(left: tuple[float, ...], forward: tuple[float, ...]) -> None:
    skeleton = Skeleton(
        ("root", "hand.L", "hand.R", "head"), [-1, 0, 0, 0], [[0, 0, 0], left, [-x for x in left], [0, 1, 0]]
    )
    axes = facing_axes(DirectRig(Character("two hands", skeleton)))
    np.testing.assert_array_equal(axes[:, 2], forward)
    np.testing.assert_allclose(np.linalg.det(axes), 1)


def test_without_sides() -> None:
    skeleton = Skeleton(("a", "b"), [-1, 0], [[0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(facing_axes(DirectRig(Character("stick", skeleton))), np.eye(3))


@pytest.mark.parametrize(
    "name", ["gltf_threejs/RobotExpressive.glb", "gltf_quaternius/dinosaurs_pack_Trex.glb", "bvh_cmu/79_69.bvh"]
)
def test_real_characters_look_along_z(name: str) -> None:
    np.testing.assert_array_equal(facing_axes(rig_of(formats.read(data_file(name)).character())), np.eye(3))
