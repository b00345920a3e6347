"""The lamp's body: sound surfaces, weights, and a bind pose that is the rest pose."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cast.surfaces import areas, is_closed

from assets.members import lamp
from assets.members.skeletons import LAMP_LIMITS
from assets.sculpting import geometry
from understudy.character import Character
from understudy.character.kinematics import world_transforms


@pytest.fixture(scope="module")
def body() -> Character:
    return lamp.character()


def shells() -> dict[str, geometry.Surface]:
    gathered: dict[str, list[geometry.Surface]] = {}
    for piece in lamp.all_pieces():
        gathered.setdefault(piece.shell, []).append(piece.surface)
    result = {}
    for name, surfaces in gathered.items():
        starts = np.cumsum([0, *(len(vertices) for vertices, _ in surfaces)])
        triangles = [triangles + start for (_, triangles), start in zip(surfaces, starts)]
        result[name] = (np.concatenate([vertices for vertices, _ in surfaces]), np.concatenate(triangles))
    return result


@pytest.mark.parametrize("name", shells())
def test_every_shell_is_closed_faces_out_and_stands_on_the_ground(name: str) -> None:
    vertices, triangles = shells()[name]
    assert is_closed(vertices, triangles)
    assert geometry.signed_volume(vertices, triangles) > 0
    assert areas(vertices, triangles).min() > 1e-8
    assert vertices[:, 1].min() >= 0


def test_size(body: Character) -> None:
    assert 6_000 <= body.vertex_count <= 15_000
    top = max(part.mesh.vertices[:, 1].max() for part in body.parts)
    assert 0.9 <= top <= 1.0


def test_joints_are_the_seven_and_the_tail(body: Character) -> None:
    carrying = {body.skeleton.names[j] for j in body.joints}
    assert carrying == {"Base", "Swivel", "LowerArm", "UpperArm", "Neck", "Head", "Bulb", "Cord"}
    assert [body.skeleton.names[r] for r in body.skeleton.roots] == ["Root"]
    assert set(LAMP_LIMITS) <= set(body.skeleton.names)


def test_no_part_has_the_name_of_a_joint_or_scene_files_would_have_to_rename_it(body: Character) -> None:
    assert not {part.name for part in body.parts} & set(body.skeleton.names)


def test_weights_sum_to_one_and_only_springs_and_cable_are_shared(body: Character) -> None:
    for part in body.parts:
        assert np.allclose(part.skin.weights.sum(axis=1, dtype=float), 1, atol=1e-6)
        assert part.skin.weights.shape[1] == (2 if part.name in ("Spring", "Cable") else 1)


def test_the_rest_pose_is_the_bind_pose(body: Character) -> None:
    skeleton = body.skeleton
    world = world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    for part in body.parts:
        skinning = world[part.skin.joints] @ part.skin.inverse_binds
        assert np.allclose(skinning, np.eye(4), atol=1e-12)
    for name, (_, place) in lamp.JOINTS.items():
        assert np.allclose(world[skeleton.index(name), :3, 3], place)


def test_spring_ends_belong_to_one_joint_each(body: Character) -> None:
    for piece in lamp.springs():
        assert not isinstance(piece.hold, str)
        low, high = piece.hold.values()
        assert low.max() == pytest.approx(1) and high.max() == pytest.approx(1)
        assert low.min() < 1e-3 and high.min() < 0.05  # the wire's thickness reaches a little past the hook


def test_the_base_stands_on_the_circle_that_it_tips_about(body: Character) -> None:
    touching = np.concatenate([part.mesh.vertices[part.mesh.vertices[:, 1] == 0] for part in body.parts])
    radius = np.hypot(touching[:, 0], touching[:, 2])
    assert radius.max() == pytest.approx(lamp.RIM)
    for x, z in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        assert np.abs(touching - np.array([x, 0, z]) * lamp.RIM).sum(axis=1).min() < 1e-7


def test_what_glows_glows_and_the_metal_is_metal(body: Character) -> None:
    materials = {part.name: part.mesh.materials[0] for part in body.parts}
    assert sum(materials["Glass"].emissive) > sum(materials["Glow"].emissive) > 1
    assert sum(sum(materials[name].emissive) for name in ("Enamel", "Brass", "Steel", "Spring", "Cable")) == 0
    assert materials["Brass"].metallic > 0.5 > materials["Enamel"].metallic


def test_built_twice_it_is_the_same(body: Character) -> None:
    again = lamp.character()
    for one, other in zip(body.parts, again.parts):
        assert np.array_equal(one.mesh.vertices, other.mesh.vertices)
        assert np.array_equal(one.mesh.triangles, other.mesh.triangles)
        assert np.array_equal(one.mesh.colours, other.mesh.colours)
