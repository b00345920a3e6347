from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file, data_files
from tests.deform.rigging.shapes import box, tube

from understudy import formats
from understudy.character import Asset, Character, Mesh, Part, Skeleton, SkinBinding
from understudy.character.rig import rig_of
from understudy.deform.example_files import bind_space
from understudy.deform.skin import automatic_asset, rest_geometry, skin_automatically
from understudy.errors import InvalidInput

SKINNED = [
    p for p in data_files("gltf_*/*.gl*") if p.stem in ("Fox", "SimpleSkin", "fish_pack_Dolphin", "RiggedFigure")
]


def arm(offset: float = 0.0) -> Character:
    """A tube on two joints, bound where it is; its mesh lies `offset` away in its own space, and a box hangs on it."""
    vertices, triangles = tube()
    skeleton = Skeleton(["upper", "lower"], [-1, 0], [[0, 0, 0], [1, 0, 0]])
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[0, 0, 3], binds[1, 0, 3] = -offset, -1 - offset
    count = len(vertices)
    skin = SkinBinding([0, 1], binds, np.zeros((count, 1)), np.ones((count, 1)))
    cube = box([0.2, 0.2, 0.2], [0.3, 0.3, 0.3])
    parts = [Part("arm", Mesh("arm", vertices + np.array([offset, 0, 0]), triangles), skin)]
    parts.append(Part("watch", Mesh("watch", *cube), SkinBinding.rigid(1, 8)))
    return Character("arm", skeleton, parts)


def test_parts_are_brought_into_one_space() -> None:
    whole = bind_space(arm(5.0), rigid=True)
    np.testing.assert_allclose(whole.binds[:, 0, 3], [5, 6])  # the space is that of the first mesh
    assert whole.names == ("upper", "lower") and list(whole.parents) == [-1, 0]
    np.testing.assert_allclose(whole.vertices[-8:, 0].min(), 6.2)
    joints, weights = whole.artist_weights()
    assert (weights[:, 0] == 1).all() and (joints[-8:, 0] == 1).all()


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_new_weights_keep_the_rest_and_bend_the_tube(offset: float) -> None:
    source = arm(offset)
    found = skin_automatically(source)
    old, new = rig_of(source), rig_of(found.character)
    np.testing.assert_allclose(new.vertices(new.rest[None]), old.vertices(old.rest[None]), atol=1e-5)
    assert found.character.parts[1].skin.is_rigid and "hang rigidly" in found.notes[0]
    dense = found.weights.dense(2)
    assert dense[0, 0] > 0.95 and dense[24 * 16, 1] > 0.95
    assert not skin_automatically(source, rigid=True).character.parts[1].skin.is_rigid


def test_parts_are_rigged_as_they_were_bound_however_the_skeleton_stands() -> None:
    """Two halves of a tube hang on two joints, of which one has moved away since: they are one tube still."""
    vertices = tube()[0]
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[1, 0, 3] = -1
    skeleton = Skeleton(["upper", "lower"], [-1, 0], [[0, 0, 0], [1, 2, 0]])
    halves = [np.flatnonzero((vertices[:, 0] > 1) == far) for far in (False, True)]
    parts = []
    for joint, half in enumerate(halves):
        skin = SkinBinding([0, 1], binds, np.full((len(half), 1), joint), np.ones((len(half), 1)))
        parts.append(Part(f"half {joint}", Mesh("half", vertices[half], [[0, 1, 2]]), skin))
    _, placed, _ = rest_geometry(Character("tube", skeleton, parts))
    whole = vertices[np.concatenate(halves)]
    np.testing.assert_allclose(placed - placed[0], whole - whole[0], atol=1e-6)


def test_a_mesh_without_a_skeleton_is_rigged() -> None:
    lamp = arm(5.0)
    found = skin_automatically(lamp, template="lamp", facing="+z")
    assert found.rig is not None and len(found.character.skeleton) == 4
    old, new = rig_of(lamp), rig_of(found.character)
    np.testing.assert_allclose(new.vertices(new.rest[None]), old.vertices(old.rest[None]), atol=1e-4)
    asset = automatic_asset(Asset([lamp]), found, lamp)
    assert asset.characters == (found.character,) and not asset.animations


def test_nothing_to_skin_is_said() -> None:
    with pytest.raises(InvalidInput, match="no mesh to skin"):
        skin_automatically(Character("bare", Skeleton(["a"], [-1], [[0, 0, 0]])))


@pytest.mark.parametrize("path", SKINNED, ids=lambda path: path.stem)
def test_real_characters_keep_their_rest_and_leave_no_vertex_empty(path: Path, tmp_path: Path) -> None:
    asset = formats.read(path)
    source = asset.character()
    found = skin_automatically(source)
    weights = found.weights.weights
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    formats.write(automatic_asset(asset, found, source), tmp_path / "x.glb")
    again = formats.read(tmp_path / "x.glb")
    assert {a.name for a in again.animations} == {a.name for a in asset.animations}


def test_the_fox_bends_where_its_artist_bends_it() -> None:
    asset = formats.read(data_file("gltf_quaternius/animals_pack_Fox.glb"))
    source = asset.character()
    found = skin_automatically(source)
    old, new = rig_of(source), rig_of(found.character)
    rows = old.pose(asset.clip("Gallop"))[::5]
    truth = old.vertices(rows)
    error = np.linalg.norm(new.vertices(rows) - truth, axis=-1)
    assert np.sqrt((error**2).mean()) < 0.01 * np.linalg.norm(np.ptp(truth[0], axis=0))
