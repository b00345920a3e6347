"""BVH in and out: channel orders, units, End Sites, quirks of real files, and damage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data_folder import data_file, data_files

from understudy.character import Asset, Channel, Character, Clip, Skeleton, kinematics
from understudy.errors import UnderstudyError
from understudy.formats import bvh, conventions
from understudy.maths import quaternion

SMALL = """HIERARCHY
ROOT Hips
{
	OFFSET 0 90 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
	JOINT Left Arm
	{
		OFFSET 30 50 0
		CHANNELS 3 Yrotation Xrotation Zrotation
		End Site
		{
			OFFSET 50 0 0
		}
	}
	JOINT Leg
	{
		OFFSET 0 -45 0
		CHANNELS 1 Xrotation
		End Site
		{
			OFFSET 0 -45 0
		}
	}
}
MOTION
Frames: 2
Frame Time: 0.033333
0 90 0 10 20 30 1 2 3 4
5 91 1 11 21 31 2 3 4 5
"""


def load(tmp_path, text, **options):
    path = tmp_path / "take.bvh"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return bvh.read(path, **options)


def world(asset, skeleton=None):
    """(F, J, 4, 4) of the first clip, the slow way."""
    skeleton, clip = asset.characters[0].skeleton, asset.clips[0]
    t = np.tile(skeleton.translations, (len(clip), 1, 1))
    q = np.tile(skeleton.rotations, (len(clip), 1, 1))
    s = np.tile(skeleton.scales, (len(clip), 1, 1))
    for joint, name in enumerate(skeleton.names):
        for kind, local in (("translation", t), ("rotation", q), ("scale", s)):
            values = clip.get(name, kind)
            if values is not None:
                local[:, joint] = values
    return kinematics.world_transforms(skeleton.parents, t, q, s)


def axis_matrix(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    m = np.eye(3)
    m[i, i] = m[j, j] = c
    m[i, j], m[j, i] = -s, s
    return m


def test_channels_are_factors_in_the_order_of_the_file(tmp_path):
    asset = load(tmp_path, SMALL)
    clip = asset.clips[0]
    hips = quaternion.to_matrix(clip.get("Hips", "rotation")[0])
    np.testing.assert_allclose(hips, axis_matrix("Z", 10) @ axis_matrix("Y", 20) @ axis_matrix("X", 30), atol=1e-12)
    arm = quaternion.to_matrix(clip.get("Left Arm", "rotation")[1])
    np.testing.assert_allclose(arm, axis_matrix("Y", 2) @ axis_matrix("X", 3) @ axis_matrix("Z", 4), atol=1e-12)
    leg = quaternion.to_matrix(clip.get("Leg", "rotation")[1])
    np.testing.assert_allclose(leg, axis_matrix("X", 5), atol=1e-12)
    np.testing.assert_allclose(clip.get("Hips", "translation"), [[0, 0.9, 0], [0.05, 0.91, 0.01]], atol=1e-12)
    assert clip.get("Leg", "translation") is None
    assert clip.rate == 30
    assert asset.characters[0].skeleton.names == ("Hips", "Left Arm", "Leg")
    assert any("centimetres" in note for note in asset.notes)


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "ZXZ", "XZ", "ZYXZ", ""])
def test_any_order(tmp_path, order):
    angles = [25.0, -40.0, 70.0, 15.0][: len(order)]
    names = " ".join(f"{axis}rotation" for axis in order)
    text = (
        f"HIERARCHY\nROOT r\n{{\nOFFSET 0 0 0\nCHANNELS {len(order) + 1} Yposition {names}\n}}\n"
        f"MOTION\nFrames: 1\nFrame Time: 0.1\n3 {' '.join(map(str, angles))}\n"
    )
    clip = load(tmp_path, text, scale=1.0).clips[0]
    expected = np.eye(3)
    for axis, angle in zip(order, angles):
        expected = expected @ axis_matrix(axis, angle)
    turned = clip.get("r", "rotation")
    found = np.eye(3) if turned is None else quaternion.to_matrix(turned[0])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(clip.get("r", "translation")[0], [0, 3, 0])


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace("\n", "\r"),
        lambda t: t.replace("Frames: 2", "FRAMES:\t2 ").replace("Frame Time: 0.033333", "frame time:\t.033333"),
        lambda t: t.replace("HIERARCHY", "hierarchy").replace("JOINT", "Joint").replace("rotation", "ROTATION"),
        lambda t: t.replace("\n{", " {").replace("\t", "  "),
        lambda t: "\ufeff" + t + "\n\n",
        lambda t: t.replace("MOTION", "\n  motion  \n").replace("30 1 2", "30\n1 2"),
    ],
)
def test_writers_differ_in_form_only(tmp_path, change):
    plain, other = load(tmp_path, SMALL), load(tmp_path, change(SMALL))
    np.testing.assert_array_equal(other.clips[0].values, plain.clips[0].values)
    assert other.clips[0].rate == plain.clips[0].rate
    assert other.characters[0].skeleton.names == plain.characters[0].skeleton.names


def test_several_roots_and_positions_below_the_root(tmp_path):
    text = (
        "HIERARCHY\nROOT a\n{\nOFFSET 1 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "JOINT b\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n}\n}\n"
        "ROOT c\n{\nOFFSET 5 0 0\nCHANNELS 0\n}\n"
        "MOTION\nFrames: 2\nFrame Time: 0.04\n90 0 0 0 1 0 0 0 0\n90 0 0 0 1.5 0 0 0 0\n"
    )
    asset = load(tmp_path, text, scale=1.0)
    skeleton = asset.characters[0].skeleton
    assert list(skeleton.parents) == [-1, 0, -1]
    np.testing.assert_allclose(world(asset)[:, :, :3, 3][:, 1], [[0, 0, 0], [-0.5, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(world(asset)[0, 2, :3, 3], [5, 0, 0])


def test_small_positions_are_added_to_the_offsets(tmp_path):
    text = (
        "HIERARCHY\nROOT a\n{\nOFFSET 0 1 0\nCHANNELS 3 Xposition Yposition Zposition\n"
        "JOINT b\n{\nOFFSET 0 3 0\nCHANNELS 3 Xposition Yposition Zposition\n}\n}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.04\n0 0 0 0.01 0 0\n"
    )
    asset = load(tmp_path, text, scale=1.0)
    assert any("added to their offsets" in note for note in asset.notes)
    np.testing.assert_allclose(asset.clips[0].get("b", "translation")[0], [0.01, 3, 0])


@pytest.mark.parametrize("unit", conventions.LENGTH_UNITS)
def test_the_unit_is_guessed_noted_and_can_be_overruled(tmp_path, unit):
    u = unit.metres
    text = (
        f"HIERARCHY\nROOT Hips\n{{\nOFFSET 0 {1.0 / u} 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        f"JOINT Head\n{{\nOFFSET 0 {0.6 / u} 0\nCHANNELS 0\nEnd Site\n{{\nOFFSET {0.8 / u} 0 0\n}}\n}}\n"
        f"JOINT Foot\n{{\nOFFSET 0 {-1.0 / u} 0\nCHANNELS 0\n}}\n}}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.04\n0 0 0\n"
    )
    guessed = load(tmp_path, text)
    np.testing.assert_allclose(guessed.characters[0].skeleton.translations[1], [0, 0.6, 0], rtol=1e-9)
    assert any(unit.name in note for note in guessed.notes)
    told = load(tmp_path, text, scale=2.0)
    np.testing.assert_allclose(told.characters[0].skeleton.translations[1], [0, 1.2 / u, 0], rtol=1e-9)


def test_z_up_is_turned(tmp_path):
    text = (
        "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 1\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "JOINT Head\n{\nOFFSET 0 0 0.6\nCHANNELS 0\n}\nJOINT LeftFoot\n{\nOFFSET 0.1 -0.2 -1\nCHANNELS 0\n}\n}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.04\n0 0 1 0 0 0\n"
    )
    asset = load(tmp_path, text, scale=1.0)
    np.testing.assert_allclose(world(asset)[0, :, :3, 3], [[0, 1, 0], [0, 1.6, 0], [0.1, 0, 0.2]], atol=1e-12)
    assert any("Y up" in note for note in asset.notes)


def test_missing_frames_and_half_frames_are_noted(tmp_path):
    fewer = load(tmp_path, SMALL.replace("Frames: 2", "Frames: 5"))
    assert len(fewer.clips[0]) == 2 and any("says 5 frames" in note for note in fewer.notes)
    half = load(tmp_path, SMALL.rstrip()[:-4])
    assert len(half.clips[0]) == 1 and any("of 10 values" in note for note in half.notes)


def test_skeleton_without_motion(tmp_path):
    only = load(tmp_path, SMALL[: SMALL.index("MOTION")])
    assert not only.clips and len(only.characters[0].skeleton) == 3 and any("no MOTION" in n for n in only.notes)
    empty = load(tmp_path, SMALL[: SMALL.index("0 90 0 10")].replace("Frames: 2", "Frames: 0"))
    assert not empty.clips


def test_twins_and_scale_channels_are_noted(tmp_path):
    twins = load(tmp_path, SMALL.replace("JOINT Leg", "JOINT Left Arm"))
    assert twins.characters[0].skeleton.names == ("Hips", "Left Arm", "Left Arm_2")
    scaled = load(tmp_path, SMALL.replace("CHANNELS 1 Xrotation", "CHANNELS 1 Xscale"))
    assert any("scale channels" in note for note in scaled.notes)


def test_frame_time_zero_is_noted(tmp_path):
    asset = load(tmp_path, SMALL.replace("0.033333", "0"))
    assert asset.clips[0].rate == 30 and any("frame time is 0" in note for note in asset.notes)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("HIERARCHY", "HIERARCH", "line 1"),
        ("ROOT Hips", "JOINT Hips", "line 2"),
        ("OFFSET 0 90 0", "OFFSET 0 90", "line 4"),
        ("OFFSET 0 90 0", "OFFSET 0 nan 0", "line 4"),
        ("OFFSET 0 90 0", "OFFSET 0 1e40 0", "line 4"),
        ("CHANNELS 6", "CHANNELS 5", "line 5"),
        ("CHANNELS 6", "CHANNELS", "line 5"),
        ("Zposition Zrot", "Xposition Zrot", "line 5"),
        ("Yrotation Xrotation\n", "Yrotation Wrotation\n", "line 5"),
        ("JOINT Left Arm", "ROOT Left Arm", "line 6"),
        ("JOINT Left Arm", "BONE Left Arm", "line 6"),
        ("\tEnd Site\n", "\tOFFSET 1 2 3\n\t\tEnd\n\t\tEnd\n", "line 12"),
        ("\t}\n}\nMOTION", "\t}\nMOTION", "line 23"),
        ("Frames: 2", "Frames: two", "line 26"),
        ("Frames: 2", "Frames: 1000000000", "line 26"),
        ("Frames: 2", "", "line 25"),
        ("0.033333", "-1", "line 27"),
        ("0.033333", "nan", "line 27"),
        ("11 21 31", "11 x 31", "line 29"),
        ("11 21 31", "11 inf 31", "line 29"),
        (
            "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation",
            "CHANNELS 0",
            "no joint has channels",
        ),
    ],
)
def test_damage_is_refused_with_its_place(tmp_path, old, new, place):
    assert old in SMALL
    text = SMALL.replace(old, new, 1)
    if not place.startswith("line"):
        text = text.replace("CHANNELS 3 Yrotation Xrotation Zrotation", "CHANNELS 0")
        text = text.replace("CHANNELS 1 Xrotation", "CHANNELS 0")
    with pytest.raises(UnderstudyError, match=place) as caught:
        load(tmp_path, text)
    assert "take.bvh" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"HIERARCHY\n", b"{" * 100, b"ROOT a"])
def test_no_bvh_at_all(tmp_path, content):
    with pytest.raises(UnderstudyError):
        load(tmp_path, content)


def test_long_blanks_take_no_time(tmp_path):
    blank = " " * 300_000
    for old in ("Frames:", "Frame Time:", "MOTION", "HIERARCHY"):
        try:
            load(tmp_path, SMALL.replace(old, old + blank + "\n" + blank))
        except UnderstudyError as error:
            assert "line" in str(error)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutations_raise_our_errors_only(tmp_path_factory, data):
    content = bytearray(SMALL.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["byte", "cut", "copy"]))
        if kind == "byte":
            content[at] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            del content[at : at + data.draw(st.integers(1, 30))]
        else:
            content[at:at] = content[: data.draw(st.integers(1, 60))]
        if not content:
            break
    try:
        load(tmp_path_factory.mktemp("fuzz"), bytes(content))
    except UnderstudyError as error:
        assert str(error)


def round_trip(tmp_path, asset):
    path = tmp_path / "out.bvh"
    notes = bvh.write(asset, path)
    return bvh.read(path), notes


def test_round_trip_keeps_channels_ends_and_unit(tmp_path):
    asset = load(tmp_path, SMALL)
    back, notes = round_trip(tmp_path, asset)
    assert any("centimetres" in note for note in notes)
    first, second = asset.characters[0].skeleton, back.characters[0].skeleton
    np.testing.assert_allclose(second.translations, first.translations, atol=1e-8)
    for name, end in first.extra["bvh"]["ends"].items():
        np.testing.assert_allclose(second.extra["bvh"]["ends"][name], end, atol=1e-8)
    assert second.extra["bvh"]["channels"]["Left Arm"] == ("Yrotation", "Xrotation", "Zrotation")
    np.testing.assert_allclose(world(back), world(asset), atol=1e-7)
    assert not any("taken to be" in note for note in back.notes)


def random_asset(rng, size=1.0, scaled=False, joints=12, frames=20):
    """A character with rest rotations everywhere, a smooth motion, and one stretching joint."""
    parents = np.array([-1, *(rng.integers(0, j) for j in range(1, joints))])
    names = [f"joint {j}" for j in range(joints)]
    scales = rng.uniform(0.5, 2, (joints, 3)) if scaled else None
    skeleton = Skeleton(
        names, parents, size * rng.normal(size=(joints, 3)), quaternion.normalise(rng.normal(size=(joints, 4))), scales
    )
    steps = np.cumsum(0.2 * rng.normal(size=(frames, joints, 3)), axis=0)
    turns = quaternion.multiply(quaternion.from_rotation_vector(steps), skeleton.rotations)
    stretch = skeleton.translations[3] * np.linspace(1, 1.5, frames)[:, None]
    channels = [Channel(name, "rotation") for name in names] + [Channel(names[3], "translation")]
    values = np.concatenate([turns.reshape(frames, -1), stretch], axis=1)
    return Asset([Character("c", skeleton)], [Clip("moves", channels, values, 30)])


@pytest.mark.parametrize("size", [0.02, 0.3, 1.0, 40.0])
@pytest.mark.parametrize("scaled", [False, True])
def test_any_character_keeps_its_joint_positions(tmp_path, size, scaled):
    asset = random_asset(np.random.default_rng(3), size, scaled)
    back, _ = round_trip(tmp_path, asset)
    expected, found = world(asset), world(back)
    found = found[:, [back.characters[0].skeleton.index(name) for name in asset.characters[0].skeleton.names]]
    np.testing.assert_allclose(found[..., :3, 3], expected[..., :3, 3], atol=1e-7 + 1e-7 * size)
    if not scaled:
        rest = kinematics.world_transforms(
            asset.characters[0].skeleton.parents,
            asset.characters[0].skeleton.translations,
            asset.characters[0].skeleton.rotations,
        )
        np.testing.assert_allclose(found[..., :3, :3] @ rest[:, :3, :3], expected[..., :3, :3], atol=1e-7)


def test_what_bvh_cannot_hold_is_said(tmp_path):
    asset = random_asset(np.random.default_rng(5))
    clip = asset.clips[0]
    channels = [*clip.channels, Channel("face", "weights", ("smile",)), Channel("nobody", "rotation")]
    values = np.concatenate([clip.values, np.zeros((20, 1)), np.tile([0, 0, 0, 1.0], (20, 1))], axis=1)
    two = Asset(asset.characters * 2, [Clip("a", channels, values, 30, start=1.0), Clip("b", channels, values, 30)])
    _, notes = round_trip(tmp_path, two)
    for word in ("one animation", "one character", "weights", "'nobody'", "start at 1 s"):
        assert any(word in note for note in notes), word


def test_rest_pose_alone(tmp_path):
    asset = random_asset(np.random.default_rng(6))
    back, notes = round_trip(tmp_path, Asset(asset.characters))
    assert len(back.clips[0]) == 1 and any("rest pose" in note for note in notes)


def test_cmu_quirks():
    asset = bvh.read(data_file("bvh_cmu/02_01.bvh"))
    assert len(asset.characters[0].joints) == 31
    assert len(asset.clips[0]) == 344 and asset.clips[0].rate == 120
    assert any("CMU" in note and "5.644" in note for note in asset.notes)
    assert any("T-pose" in note for note in asset.notes)


@pytest.mark.parametrize("path", data_files("**/*.bvh"), ids=lambda path: path.stem)
def test_real_files_round_trip(tmp_path, path):
    asset = bvh.read(path)
    back, _ = round_trip(tmp_path, asset)
    expected, found = world(asset), world(back)
    np.testing.assert_allclose(found[..., :3, 3], expected[..., :3, 3], atol=1e-6)
    assert back.clips[0].rate == asset.clips[0].rate
    if "stands along Z" in "".join(asset.notes) or "turned to Y up" in "".join(asset.notes):
        return  # the axes of the joints follow the world, so their rotations have other numbers
    for channel in asset.clips[0].channels:
        if channel.kind == "rotation":
            pair = (clip.get(channel.target, "rotation") for clip in (asset.clips[0], back.clips[0]))
            assert np.degrees(quaternion.angle_between(*pair)).max() < 1e-4
