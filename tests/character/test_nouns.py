"""The nouns refuse what is not sound, with a reason, and are frozen."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import (
    Asset,
    Channel,
    Channels,
    Character,
    Clip,
    Curve,
    Curves,
    Mesh,
    Part,
    Shapes,
    Skeleton,
    SkinBinding,
)
from understudy.errors import InvalidInput

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
TWO = [[0, 1, 2], [0, 2, 3]]


def test_skeleton_sorted_puts_parents_first_and_says_how() -> None:
    skeleton, order = Skeleton.from_unsorted(["hand", "hip", "arm"], [2, -1, 1], np.arange(9).reshape(3, 3))
    assert skeleton.names == ("hip", "arm", "hand")
    assert skeleton.parents.tolist() == [-1, 0, 1]
    assert order.tolist() == [1, 2, 0]
    np.testing.assert_array_equal(skeleton.translations[2], [0, 1, 2])
    assert skeleton.ancestors(2) == [2, 1, 0]
    assert skeleton.index("arm") == 1
    assert "leg" not in skeleton


@pytest.mark.parametrize(
    ("names", "parents", "words"),
    [
        (["a", "a"], [-1, 0], "appears twice"),
        (["a", ""], [-1, 0], "non-empty"),
        (["a", "b"], [1, -1], "after its parent"),
        (["a", "b"], [-1, -2], "after its parent"),
        (["a", "b"], [-1], "shape"),
    ],
)
def test_bad_skeletons(names: list[str], parents: list[int], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Skeleton(names, parents, np.zeros((2, 3)))


def test_cycle_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cycle"):
        Skeleton.from_unsorted(["a", "b", "c"], [-1, 2, 1], np.zeros((3, 3)))


def test_frozen_data_has_frozen_arrays() -> None:
    mesh = Mesh("square", SQUARE, TWO)
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 1
    given = np.zeros((1, 3))
    skeleton = Skeleton(["a"], [-1], given)
    given[0] = 9  # the noun took a copy
    assert skeleton.translations[0, 0] == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"triangles": [[0, 1, 4]]}, "between 0 and 3"),
        ({"vertices": [[0, 0, np.nan], *SQUARE[1:]]}, r"vertices of mesh 'square'\[0, 2\] is nan"),
        ({"normals": np.zeros((3, 3))}, "normals"),
        ({"uvs": [np.zeros((4, 3))]}, "UVs"),
        ({"material_of": [0, 1]}, "materials"),
        ({"shapes": Shapes(["smile"], np.zeros((1, 3, 3)))}, "should move 4 vertices"),
    ],
)
def test_bad_meshes(change: dict, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Mesh(**{"name": "square", "vertices": SQUARE, "triangles": TWO, **change})


def test_seams_split_only_where_needed() -> None:
    uvs = np.array([[[0, 0], [1, 0], [1, 1]], [[0, 0], [0.5, 0.5], [0, 1]]], np.float32)  # vertex 2 has two UVs
    shapes = Shapes(["up"], np.arange(12).reshape(1, 4, 3))
    split, origin = Mesh("square", SQUARE, TWO, uvs=[uvs], shapes=shapes).per_vertex()
    assert origin.tolist() == [0, 1, 2, 3, 2]
    np.testing.assert_array_equal(split.vertices[split.triangles], np.array(SQUARE)[np.array(TWO)])
    np.testing.assert_array_equal(split.uvs[0][split.triangles], uvs)
    np.testing.assert_array_equal(split.shapes.deltas[0, 4], shapes.deltas[0, 2])


def test_skin_weights_are_checked_and_can_be_normalised() -> None:
    weights = [[1.0, 0.755], [0.0, 0.0], [0.25, 0.75]]
    with pytest.raises(InvalidInput, match=r"vertex 0 sum to 1\.755"):
        SkinBinding([0, 1], np.tile(np.eye(4), (2, 1, 1)), np.zeros((3, 2)), weights)
    fixed, changed = SkinBinding.normalise(weights)
    assert changed == 2
    np.testing.assert_allclose(fixed.sum(axis=1), 1)
    assert fixed[1].tolist() == [1, 0]


def test_character_checks_parts_against_the_skeleton() -> None:
    mesh, skeleton = Mesh("square", SQUARE, TWO), Skeleton(["a"], [-1], np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="skin joints"):
        Character("x", skeleton, [Part("p", mesh, SkinBinding.rigid(1, 4))])
    with pytest.raises(InvalidInput, match="should have 4 vertices"):
        Character("x", skeleton, [Part("p", mesh, SkinBinding.rigid(0, 3))])
    two = Character("x", skeleton, [Part("p", mesh, SkinBinding.rigid(0, 4)), Part("q", mesh, SkinBinding.rigid(0, 4))])
    assert two.vertex_count == 8
    assert two.triangles.max() == 7


def test_inbetweens_share_the_weight_linearly() -> None:
    shapes = Shapes(["smile"], np.zeros((2, 1, 3)), shape_of=[0, 0], stop_of=[1.0, 0.5])
    weights = shapes.target_weights(np.array([[0.0], [0.25], [0.5], [0.75], [1.0]]))
    np.testing.assert_allclose(weights, [[0, 0], [0, 0.5], [0, 1], [0.5, 0.5], [1, 0]])


def test_channels_name_their_columns() -> None:
    channels = Channels([Channel("hip", "translation"), Channel("hip", "rotation"), Channel("", "weights", ("a", "b"))])
    assert channels.width == 9
    assert channels.names[3] == "hip.rotation.x"
    assert channels.slice("", "weights") == slice(7, 9)
    assert channels.slice("knee", "rotation") is None
    assert channels.columns_of("rotation").tolist() == [3, 4, 5, 6]
    with pytest.raises(InvalidInput, match="appears twice"):
        Channels([Channel("hip", "scale"), Channel("hip", "scale")])
    with pytest.raises(InvalidInput, match="available"):
        Channel("hip", "colour")


def test_clip_checks_values_and_resamples() -> None:
    channels = [Channel("hip", "translation")]
    with pytest.raises(InvalidInput, match=r"hip.translation.y is nan at frame 1"):
        Clip("walk", channels, [[0, 0, 0], [0, np.nan, 0]], 24)
    seen = Clip("take", [Channel("LFHD", "marker")], [[0, 0, 0], [np.nan] * 3], 100)
    assert np.isnan(seen.values[1]).all()
    ramp = Clip("ramp", channels, np.outer(np.arange(25), [1, 2, 3]), 24, start=0.5)
    np.testing.assert_allclose(ramp.resample(60).sample(ramp.times), ramp.values, atol=1e-9)
    assert ramp.duration == 1
    assert ramp.times[0] == 0.5


def test_asset_finds_by_name_and_lists_what_there_is() -> None:
    clip = Clip("walk", [Channel("hip", "translation")], np.zeros((2, 3)), 24)
    run = Curves("run", [Curve(Channel("hip", "translation"), [0, 1], np.zeros((2, 3)))])
    asset = Asset(clips=[clip], curves=[run])
    assert asset.animation("walk") is clip
    assert len(asset.clip("run", 10)) == 11
    with pytest.raises(InvalidInput, match="'run', 'walk'"):
        asset.animation("jump")
    with pytest.raises(InvalidInput, match="appears twice"):
        Asset(clips=[clip, clip])


def test_blender_names_are_found_by_their_short_form() -> None:
    clips = [Clip(name, [Channel("hip", "scale")], np.ones((1, 3)), 24) for name in ("Rig|Walk", "Rig|Run", "Hat|Run")]
    asset = Asset(clips=clips)
    assert asset.animation("Walk") is clips[0]
    with pytest.raises(InvalidInput, match="available"):
        asset.animation("Run")
