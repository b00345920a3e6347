"""Flattening: the plain character moves as the layered one does, within the error that is noted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.character.rig.layered_character import character
from tests.character.rig.test_layered import in_layers, some_rows

from understudy import cast
from understudy.character import Asset, Channel, Character, Clip, Skeleton
from understudy.character.rig import DirectRig, LayeredRig, flatten_asset
from understudy.character.rig.flatten import coarse_shapes
from understudy.errors import InvalidInput
from understudy.formats import read, write

OTHER = Character("other", Skeleton(["x"], [-1], [[1, 2, 3]]))


def swing(rig: LayeredRig, frames: int = 25, seed: int = 0, *layers: str) -> Clip:
    """From one pose to another and on to a third, with a channel of another character."""
    keys = some_rows(rig, 3, seed)
    keys = in_layers(rig, keys, *layers) if layers else keys
    share = np.linspace(0, 2, frames)
    rows = np.stack([np.interp(share, [0, 1, 2], column) for column in keys.T], axis=1)
    channels = [*(Channel(name, "controls", ("value",)) for name in rig.controls.names), Channel("x", "translation")]
    values = np.concatenate([rows, np.arange(3 * frames).reshape(frames, 3)], axis=1)
    return Clip(f"swing{seed}", channels, values, 24, 0.5, ["merry"], "it swings", {"middle": 1.0})


def error_of(rig: LayeredRig, flat: Asset, clips: list[Clip]) -> float:
    """The largest distance of a vertex, metres, over all frames."""
    direct = DirectRig(flat.characters[0])
    return max(
        float(
            np.linalg.norm(
                rig.vertices(rig.pose(clip)) - direct.vertices(direct.pose(flat.clip(clip.name))), axis=2
            ).max()
        )
        for clip in clips
    )


@pytest.mark.parametrize("tolerance", [1e-3, 1e-4])
def test_the_plain_character_moves_alike_within_what_is_noted(tolerance: float) -> None:
    rig = LayeredRig(character())
    clips = [swing(rig, seed=0), swing(rig, seed=1)]
    asset = Asset([rig.character, OTHER], clips, notes=["as read"], format="test")
    flat = flatten_asset(asset, tolerance)
    assert flat.characters[0].layers is None and flat.characters[1] is OTHER
    height = np.ptp(rig.vertices(rig.rest[None])[0, :, 1])
    found = error_of(rig, flat, clips)
    assert 0 < found <= tolerance * height
    assert flat.notes[0] == "as read" and flat.format == "test"
    told = re.search(r"baked into (\d+) shapes; largest error (.*) mm .* over 50 frames", flat.notes[-1])
    assert told is not None
    assert float(told[2]) == pytest.approx(1e3 * found, rel=0.06)


def test_without_the_lattice_it_is_exact_and_named_as_before() -> None:
    rig = LayeredRig(character())
    clip = swing(rig, 9, 0, "bones", "coarse")
    flat = flatten_asset(Asset([rig.character], [clip]))
    assert error_of(rig, flat, [clip]) < 2e-6
    names = set(rig.layers.shapes.names)
    kept = {name for part in flat.characters[0].shapes.values() for name in part}
    assert {name.removesuffix(".minus") for name in kept} <= names
    assert "shape0" in kept and "shape8" not in kept  # a fine one that the clip does not use


def test_all_weights_lie_in_0_to_1_and_both_sides_of_a_shape_make_its_weight() -> None:
    rig = LayeredRig(character())
    clip = swing(rig)
    flat = flatten_asset(Asset([rig.character], [clip]))
    direct = DirectRig(flat.characters[0])
    rows = direct.pose(flat.clips[0])
    weights = rows[:, direct.channels.columns_of("weights")]
    assert weights.min() >= 0 and weights.max() <= 1 + 1e-6
    shapes = flat.characters[0].parts[0].mesh.shapes
    columns = direct.channels.slice("ball", "weights")
    exact = rig.frames(rig.pose(clip)).weights
    for name in ("shape2", "shape9"):
        both = [i for i, other in enumerate(shapes.names) if other in (name, f"{name}.minus")]
        found = np.einsum("fs,svc->fvc", rows[:, columns][:, both], shapes.deltas[both])
        s = rig.layers.shapes.names.index(name)
        expected = exact[:, s, None, None] * rig.layers.shapes.dense(s, 94)[:90]
        np.testing.assert_allclose(found, expected, atol=1e-8)
        assert len(both) == 2 and exact[:, s].min() < 0 < exact[:, s].max()


def test_clips_keep_what_they_are_and_other_characters_their_channels() -> None:
    rig = LayeredRig(character())
    flat = flatten_asset(Asset([rig.character, OTHER], [swing(rig, 5)]))
    clip = flat.clips[0]
    assert (clip.name, clip.rate, clip.start, clip.labels) == ("swing0", 24, 0.5, ("merry",))
    assert (clip.about, clip.moments) == ("it swings", {"middle": 1.0})
    np.testing.assert_array_equal(clip.get("x", "translation"), np.arange(15).reshape(5, 3))


def test_joints_alone() -> None:
    rig = LayeredRig(character())
    flat = flatten_asset(Asset([rig.character], [swing(rig, 5)]), shapes=False)
    assert not flat.characters[0].shapes and not flat.notes
    direct = DirectRig(flat.characters[0])
    expected = rig.joints(rig.pose(swing(rig, 5)))
    np.testing.assert_allclose(direct.joints(direct.pose(flat.clips[0])), expected, atol=1e-9)


def test_without_clips_there_is_no_lattice_to_bake() -> None:
    rig = LayeredRig(character())
    flat = flatten_asset(Asset([rig.character]))
    assert "the lattice was lost: there is no clip to bake it from" in flat.notes
    direct = DirectRig(flat.characters[0])
    np.testing.assert_allclose(direct.vertices(direct.rest[None]), rig.vertices(rig.rest[None]), atol=1e-6)


def test_plain_assets_are_left_alone_and_tolerances_checked() -> None:
    asset = Asset([OTHER])
    assert flatten_asset(asset).characters == (OTHER,)
    with pytest.raises(InvalidInput, match="tolerance"):
        flatten_asset(asset, 0)


def test_progress_is_told_to_the_end() -> None:
    rig = LayeredRig(character())
    told: list[tuple[int, int]] = []
    flatten_asset(Asset([rig.character], [swing(rig, 5)]), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (10, 10)


def test_shapes_of_bones_and_coarse_controls_are_coarse() -> None:
    layers = character().layers
    assert coarse_shapes(layers).tolist() == [True] * 6 + [False] * 7 + [True]  # the last is a corrective of two coarse


def test_writing_layers_as_they_are_says_what_is_lost(tmp_path: Path) -> None:
    assert "the layers of character 'ball' were lost" in write(Asset([character()]), tmp_path / "x.glb")[0]


def dragon_clip() -> tuple[Character, Clip]:
    """The dragon, going from rest to a pose in which every layer is used and back."""
    dragon = cast.load("dragon").character()
    rng = np.random.default_rng(0)
    controls = dragon.layers.controls
    pose = np.where(rng.random(len(controls)) < 0.2, rng.uniform(controls.low, controls.high), controls.rest)
    share = np.sin(np.linspace(0, np.pi, 13))[:, None]
    rows = controls.rest + share * (pose - controls.rest)
    return dragon, Clip("there and back", [Channel(name, "controls", ("value",)) for name in controls.names], rows, 24)


@pytest.mark.parametrize("ending", [".glb", ".usdc"])
def test_the_dragon_in_a_file_moves_as_its_rig_does(tmp_path: Path, ending: str) -> None:
    if ending == ".usdc":
        pytest.importorskip("pxr")
    dragon, clip = dragon_clip()
    rig = LayeredRig(dragon)
    flat = flatten_asset(Asset([dragon], [clip]))
    write(flat, tmp_path / f"dragon{ending}")
    back = read(tmp_path / f"dragon{ending}")
    direct = DirectRig(back.characters[0])
    found, expected = direct.vertices(direct.pose(back.animations[0])), rig.vertices(rig.pose(clip))
    start = first = 0
    height = np.ptp(expected[0, :, 1])
    for ours, theirs in zip(dragon.parts, back.characters[0].parts):
        size = len(ours.mesh.vertices)  # a file may split vertices at seams: the copies follow the vertices
        off = found[:, first : first + size] - expected[:, start : start + size]
        assert np.linalg.norm(off, axis=2).max() <= 1.01e-3 * height
        start, first = start + size, first + len(theirs.mesh.vertices)
