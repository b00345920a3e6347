"""Which way a character stands and faces: by sides, toes, eyes, head and symmetry, whatever the axes of its joints."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file, field_file
from tests.perform.layers.bodies import body

import understudy as us
from understudy import formats
from understudy.character import Character, Mesh, Part, Skeleton, SkinBinding
from understudy.character.body.bone_names import Facing, facing_axes, find_facing
from understudy.character.rig import DirectRig, rig_of
from understudy.errors import InvalidInput


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


def facing_of(names: tuple[str, ...], parents: list[int], places: list[tuple[float, ...]], **known: str) -> Facing:
    """The facing of a stick figure whose joints are at these places."""
    offsets = [np.subtract(place, places[parent] if parent >= 0 else 0) for place, parent in zip(places, parents)]
    return find_facing(DirectRig(Character("figure", Skeleton(names, parents, offsets))), **known)


@pytest.mark.parametrize("mirror", [1, -1])
def test_toes_and_eyes_win_against_sides_named_by_an_onlooker(mirror: int) -> None:
    """The feet point along +Z whichever side is called left."""
    names = ("hips", "foot.L", "foot.R", "toe.L", "toe.R")
    places = [(0, 1, 0), (0.2 * mirror, 0, 0), (-0.2 * mirror, 0, 0), (0.2 * mirror, 0, 0.2), (-0.2 * mirror, 0, 0.2)]
    facing = facing_of(names, [-1, 0, 0, 1, 2], places)
    assert (facing.up, facing.forward) == ("+y", "+z")
    assert ("left and right joints" in facing.evidence) == (mirror == 1) and "toes" in facing.evidence
    head = facing_of(("head", "eyeLeft", "eyeRight"), [-1, 0, 0], [(0, 0, 0), (0.1, 0, -0.2), (-0.1, 0, -0.2)])
    assert head.forward == "-z" and head.evidence == ("eyes",)


def test_the_head_of_an_animal_is_in_front() -> None:
    names = ("body", "neck", "head", "tail", "tail tip")
    facing = facing_of(names, [-1, 0, 1, 0, 3], [(0, 1, 0), (-0.5, 1, 0), (-0.9, 1.2, 0), (0.5, 1, 0), (1, 1, 0)])
    assert facing.forward == "-x" and facing.evidence == ("head",)


def test_legs_tell_which_way_is_up() -> None:
    """A figure that stands along +Z and looks along -Y, as Blender has it."""
    names = ("hips", "thigh.L", "thigh.R", "foot.L", "foot.R")
    places = [(0, 0, 1), (0.1, 0, 1), (-0.1, 0, 1), (0.1, 0, 0), (-0.1, 0, 0)]
    facing = facing_of(names, [-1, 0, 0, 1, 2], places)
    assert (facing.up, facing.forward) == ("+z", "-y")
    np.testing.assert_allclose(np.linalg.det(facing.axes), 1)


def test_what_is_given_is_not_looked_for() -> None:
    given = facing_of(("a", "b"), [-1, 0], [(0, 0, 0), (0, 1, 0)], up="z", facing="-x")
    assert (given.up, given.forward, given.evidence) == ("+z", "-x", ("given",))
    for known in ({"facing": "w"}, {"up": "--y"}, {"up": "y", "facing": "-y"}):
        with pytest.raises(InvalidInput):
            facing_of(("a", "b"), [-1, 0], [(0, 0, 0), (0, 1, 0)], **known)


@pytest.mark.parametrize("turned", [False, True])
def test_the_symmetry_of_a_mesh_tells_the_axis(turned: bool) -> None:
    """A skinned boat without names: pointed in front, blunt behind, the same on both sides."""
    rng = np.random.default_rng(2)
    half = rng.random((300, 3)) * [1, 1, 3]
    half[:, 0] *= 1 - half[:, 2] / 3
    points = np.concatenate([half, half * [-1, 1, 1]])
    points = points[:, [2, 1, 0]] if turned else points
    mesh = Mesh("boat", points, np.arange(600).reshape(-1, 3))
    skin = SkinBinding([0, 1], np.tile(np.eye(4), (2, 1, 1)), np.tile([0, 1], (600, 1)), np.full((600, 2), 0.5))
    skeleton = Skeleton(("one", "two"), [-1, 0], [[0, 0, 0], [0, 1, 0]])
    facing = find_facing(DirectRig(Character("boat", skeleton, [Part("boat", mesh, skin)])))
    assert facing.forward == ("+x" if turned else "+z") and facing.evidence == ("symmetry",)


@pytest.mark.parametrize("name", us.cast_names())
def test_the_cast_stands_up_and_looks_along_z(name: str) -> None:
    np.testing.assert_array_equal(facing_axes(rig_of(us.load(name).character())), np.eye(3))


@pytest.mark.parametrize(
    ("name", "forward"),
    [
        *(("glb/Soldier.glb", "-z"), ("glb/Xbot.glb", "+z"), ("glb/Wasp.glb", "+x"), ("glb/Bull.glb", "+z")),
        *(("vrm/Godette.vrm", "-z"), ("glb/facecap.glb", "+z"), ("glb/Barbarian.glb", "+z")),
    ],
)
def test_field_files(name: str, forward: str) -> None:
    """As seen in pictures of the files."""
    assert find_facing(rig_of(formats.read(field_file(name)).character())).forward == forward
