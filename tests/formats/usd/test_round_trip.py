"""What is written as USD and read again is the same character in the same motion."""

from __future__ import annotations

import numpy as np
import pytest
from tests.formats.usd.cases import posed, random_asset, random_character, random_curves

from understudy.character import Asset, Channel, Character, Clip, Curve, Curves, Skeleton
from understudy.formats import read, write

pytest.importorskip("pxr")

ENDINGS = (".usda", ".usdc", ".usd", ".usdz")


def again(asset, folder, ending=".usda"):
    """The asset after a trip through a file, and the notes of writing it."""
    path = folder / f"file{ending}"
    notes = write(asset, path)
    return read(path), notes


def assert_same_motion(before, after, times, joints=1e-6, vertices=1e-5):
    for number in range(len(before.characters)):
        for animation in before.animations:
            want = posed(before, animation, times, number)
            have = posed(after, after.animation(animation.name), times, number)
            assert np.abs(want[0] - have[0]).max() <= joints * max(1, np.abs(want[0]).max())
            size = np.ptp(want[1].reshape(-1, 3), axis=0).max()
            assert np.abs(want[1] - have[1]).max() <= vertices * size


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_keeps_the_whole_asset(tmp_path, ending):
    before = random_asset(np.random.default_rng(1))
    after, notes = again(before, tmp_path, ending)
    assert not notes
    one, two = before.characters[0], after.characters[0]
    assert one.name == two.name
    assert one.skeleton.names == two.skeleton.names
    assert (one.skeleton.parents == two.skeleton.parents).all()
    assert [part.name for part in one.parts] == [part.name for part in two.parts]
    assert one.shapes == two.shapes
    assert [a.name for a in before.animations] == [a.name for a in after.animations]
    assert after.animations[0].labels == ("happy", "slow")
    for a, b in zip(one.parts, two.parts):
        assert np.array_equal(a.mesh.vertices, b.mesh.vertices)
        assert np.array_equal(a.mesh.triangles, b.mesh.triangles)
        assert np.array_equal(a.mesh.normals, b.mesh.normals)
        assert np.array_equal(a.skin.influences, b.skin.influences)
        assert np.array_equal(a.skin.joints, b.skin.joints)
        assert a.skin.is_rigid == b.skin.is_rigid
        np.testing.assert_allclose(a.skin.inverse_binds, b.skin.inverse_binds, atol=1e-12)
        np.testing.assert_allclose(a.mesh.colours, b.mesh.colours)
        for uv, back in zip(a.mesh.uvs, b.mesh.uvs):
            np.testing.assert_allclose(uv, back, atol=1e-7)
        np.testing.assert_array_equal(a.mesh.shapes.defaults, b.mesh.shapes.defaults)
    assert_same_motion(before, after, np.arange(21) / 24)


@pytest.mark.parametrize("seed", range(8))
def test_any_time_not_only_frames(tmp_path, seed):
    rng = np.random.default_rng(seed)
    before = random_asset(rng, scales=(0.5, 1.5), method="dual" if seed % 2 else "linear")
    after, _ = again(before, tmp_path)
    keys = np.unique(np.concatenate([c.times for a in before.curves for c in a.curves]))
    times = rng.uniform(-0.2, 1.2, size=50)
    times = times[np.abs(times[:, None] - keys).min(axis=1) > 1e-5]  # a step stands a ten-thousandth of a frame early
    assert_same_motion(before, after, times)


def test_steps_stay_steps_and_lines_stay_lines(tmp_path):
    before = random_asset(np.random.default_rng(3))
    after, _ = again(before, tmp_path)
    for curve in after.animation("jump").curves:
        changes = (curve.values[1:] != curve.values[:-1]).any(axis=1)
        assert (curve.segments[changes] == 0).all()
    assert all((curve.segments == 1).all() for curve in after.animation("walk").curves)


def test_a_channel_that_repeats_the_rest_is_left_out_but_its_clip_is_kept(tmp_path):
    character = random_character(np.random.default_rng(4))
    name = character.skeleton.names[1]
    rest = np.repeat(character.skeleton.rotations[1][None], 2, axis=0)
    still = Curves("still", [Curve(Channel(name, "rotation"), [0.0, 2.0], rest)], rate=24.0)
    after, _ = again(Asset([character], curves=[still]), tmp_path)
    assert after.animation("still").duration == 2.0
    assert all(c.target in ("mixamorig:joint.1", "body") for c in after.animation("still").channels)


def test_several_characters_share_an_animation(tmp_path):
    rng = np.random.default_rng(5)
    one, two = random_character(rng, "one"), random_character(rng, "two")
    renamed = Skeleton(
        [f"other_{n}" for n in two.skeleton.names],
        two.skeleton.parents,
        two.skeleton.translations,
        two.skeleton.rotations,
    )
    two = Character("two", renamed, [type(p)(f"other {p.name}", p.mesh, p.skin) for p in two.parts])
    curves = [*random_curves(rng, one).curves, *random_curves(rng, two).curves]
    before = Asset([one, two], curves=[Curves("duet", curves, rate=24.0)])
    after, _ = again(before, tmp_path)
    assert [c.name for c in after.characters] == ["one", "two"]
    assert [a.name for a in after.animations] == ["duet"]
    assert_same_motion(before, after, np.arange(21) / 24)


def test_dense_clips_and_their_clock(tmp_path):
    rng = np.random.default_rng(6)
    character = random_character(rng)
    curves = random_curves(rng, character)
    clip = curves.clip(30)
    told = ("a turn: and back", {"turn": 2.75, "back": 3.0})
    clip = Clip("dense", clip.channels, clip.values, 30, 2.5, ("x",), *told)
    after, _ = again(Asset([character], [clip]), tmp_path)
    back = after.animation("dense")
    assert (back.rate, back.labels) == (30.0, ("x",))
    assert (back.about, dict(back.moments)) == told
    assert back.start == pytest.approx(2.5)
    assert back.duration == pytest.approx(clip.duration)
    assert_same_motion(Asset([character], [clip]), after, clip.times)


def test_curves_that_usd_cannot_hold_are_exact_on_frames_and_their_error_is_told(tmp_path):
    character = random_character(np.random.default_rng(7))
    rng = np.random.default_rng(8)
    name = character.skeleton.names[0]
    times = np.array([0.0, 0.5, 1.0])
    smooth = Curve.hermite(Channel(name, "translation"), times, *rng.normal(size=(3, 3, 3)))
    turning = Curve(Channel(name, "euler", ("z", "x", "y")), times, rng.normal(size=(3, 3)))
    before = Asset([character], curves=[Curves("bend", [smooth, turning], rate=24.0)])
    after, notes = again(before, tmp_path)
    assert sum("baked at 24 frames a second" in note for note in notes) == 2
    assert_same_motion(before, after, np.arange(25) / 24)


def test_a_face_without_a_character(tmp_path):
    channel = Channel("", "weights", ("jawOpen", "eyeBlinkLeft"))
    clip = Clip("take", [channel], np.random.default_rng(9).uniform(size=(7, 2)).astype(np.float32), 60)
    after, notes = again(Asset(clips=[clip]), tmp_path)
    assert not notes and not after.characters
    np.testing.assert_allclose(after.animation("take").sample(clip.times), clip.values, atol=1e-7)
    assert after.animation("take").channels == clip.channels


def test_what_has_no_place_is_told(tmp_path):
    character = random_character(np.random.default_rng(10))
    markers = Clip("markers", [Channel("LASI", "marker")], np.ones((3, 3)), 100)
    _, notes = again(Asset([character], [markers]), tmp_path)
    assert any("marker of 'LASI'" in note for note in notes)
