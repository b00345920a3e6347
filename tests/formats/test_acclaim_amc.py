"""AMC motion: found skeletons, freedoms, damage, and the same take as BVH."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.formats.test_acclaim_asf import SMALL as SKELETON
from tests.formats.test_bvh import world

from understudy.errors import UnderstudyError
from understudy.formats import acclaim, bvh
from understudy.maths import quaternion

SMALL = """#!OML:ASF walk.ASF
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 10 20 30
back 5 6 7
arm 90
2
root 1 2 4 10 20 30
back 5 6 8
arm 45
"""


def load(tmp_path, text=SMALL, skeleton_text=SKELETON, **options):
    (tmp_path / "small.asf").write_text(skeleton_text)
    (tmp_path / "small.amc").write_text(text)
    return acclaim.read_amc(tmp_path / "small.amc", **options)


def test_freedoms_turn_about_the_bones_own_axes(tmp_path):
    asset = load(tmp_path, scale=1.0)
    clip, skeleton = asset.clips[0], asset.characters[0].skeleton
    assert clip.rate == 120 and any("120" in note for note in asset.notes)
    np.testing.assert_allclose(clip.get("root", "translation"), [[1, 2, 3], [1, 2, 4]])
    arm = skeleton.index("arm")
    hinge = quaternion.multiply(quaternion.conjugate(skeleton.rotations[arm]), clip.get("arm", "rotation"))
    np.testing.assert_allclose(quaternion.to_rotation_vector(hinge), np.radians([[0, 0, 90], [0, 0, 45]]), atol=1e-12)
    x, y, z = (quaternion.from_rotation_vector(np.radians(a) * np.eye(3)[i]) for i, a in enumerate((10, 20, 30)))
    expected = quaternion.multiply(z, quaternion.multiply(y, x))
    assert quaternion.angle_between(clip.get("root", "rotation")[0], expected) < 1e-12
    assert clip.get("leg", "rotation") is None


def test_radians_other_column_order_and_moving_bones(tmp_path):
    skeleton = SKELETON.replace("order TX TY TZ RX RY RZ", "order RZ RY RX TX TY TZ").replace("dof rz", "dof tx rz l")
    text = ":RADIANS\n1\narm 2 0.5 9\nroot .3 .2 .1 1 2 3\n"
    asset = load(tmp_path, text, skeleton, scale=1.0)
    degrees = ":DEGREES\n1\nroot 1 2 3 " + " ".join(str(np.degrees(a)) for a in (0.1, 0.2, 0.3)) + "\n"
    plain = load(tmp_path, degrees, scale=1.0)
    for kind in ("translation", "rotation"):
        np.testing.assert_allclose(asset.clips[0].get("root", kind), plain.clips[0].get("root", kind), atol=1e-12)
    rest = asset.characters[0].skeleton
    along_x = quaternion.rotate(rest.rotations[2], [2.0, 0, 0])
    np.testing.assert_allclose(asset.clips[0].get("arm", "translation")[0], rest.translations[2] + along_x, atol=1e-12)
    assert any("length" in note for note in asset.notes)


def test_which_skeleton(tmp_path):
    take = tmp_path / "02_01.amc"
    take.write_text(SMALL)
    with pytest.raises(UnderstudyError, match="needs the skeleton"):
        acclaim.read_amc(take)
    (tmp_path / "05.asf").write_text(SKELETON)
    assert acclaim.find_skeleton(take).name == "05.asf"  # the only one
    (tmp_path / "02.ASF").write_text(SKELETON)
    assert acclaim.find_skeleton(take).name == "02.ASF"  # begins most alike
    (tmp_path / "02_01.asf").write_text(SKELETON)
    assert acclaim.find_skeleton(take).name == "02_01.asf"  # the same
    (tmp_path / "elsewhere.amc").write_text(SMALL)
    with pytest.raises(UnderstudyError, match="not clear which"):
        acclaim.read_amc(tmp_path / "elsewhere.amc")
    assert acclaim.read_amc(tmp_path / "elsewhere.amc", skeleton=tmp_path / "05.asf").clips
    with pytest.raises(UnderstudyError, match="no such file"):
        acclaim.read_amc(take, skeleton=tmp_path / "none.asf")


def test_a_cut_last_frame_is_noted(tmp_path):
    asset = load(tmp_path, SMALL.replace("arm 45\n", ""))
    assert len(asset.clips[0]) == 1 and any("2 of 3 bones" in note for note in asset.notes)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("1\nroot", "root", "line 4"),
        ("back 5 6 7", "back 5 6", "line 6"),
        ("back 5 6 7", "back 5 6 x", "line 6"),
        ("back 5 6 7", "back 5 6 nan", "line 6"),
        ("back 5 6 7", "front 5 6 7", "line 6"),
        ("back 5 6 8\narm 45", "arm 45\nback 5 6 8", "line 10"),
        ("back 5 6 7\n", "back 5 6 7\nback 5 6 7\n", "line 7"),
        ("arm 90\n", "", "line 10"),
        (SMALL, "", "at least one frame"),
        (SMALL, "1\n", "at least one frame"),
    ],
)
def test_damage_is_refused_with_its_place(tmp_path, old, new, place):
    assert old in SMALL
    with pytest.raises(UnderstudyError, match=place) as caught:
        load(tmp_path, SMALL.replace(old, new, 1))
    assert "small.amc" in str(caught.value) and "\n" not in str(caught.value)


def test_scrambled_files_raise_our_errors_only(tmp_path):
    rng = np.random.default_rng(1)
    for _ in range(200):
        content = bytearray(SMALL.encode())
        for at in rng.integers(0, len(content), 3):
            content[at] = rng.integers(1, 256)
        try:
            load(tmp_path, content.decode("latin-1"))
        except UnderstudyError as error:
            assert str(error)


SAME_JOINT = {
    "root": "Hips",
    "lowerback": "LowerBack",
    "upperback": "Spine",
    "thorax": "Spine1",
    "lowerneck": "Neck",
    "upperneck": "Neck1",
    "head": "Head",
    **{f"{s}hipjoint": f"{s.upper()}HipJoint" for s in "lr"},
    **{f"{s}thumb": f"{s.upper()}Thumb" for s in "lr"},
    **{
        f"{s}{ours}": f"{side}{theirs}"
        for s, side in (("l", "Left"), ("r", "Right"))
        for ours, theirs in {
            "femur": "UpLeg",
            "tibia": "Leg",
            "foot": "Foot",
            "toes": "ToeBase",
            "clavicle": "Shoulder",
            "humerus": "Arm",
            "radius": "ForeArm",
            "wrist": "Hand",
            "hand": "FingerBase",
            "fingers": "HandIndex1",
        }.items()
    },
}
# The BVH files were converted from these, and left out the lengths of three bones: what hangs above the thorax, and the
# fingers, stand 117 and 11 mm lower than in the original.
LEFT_OUT = ("thorax", "lwrist", "rwrist")


def distances(asset, other):
    """Largest distance in metres over frames, by ASF joint name."""
    a, b = world(asset)[..., :3, 3], world(other)[1:, :, :3, 3]
    names, others = asset.characters[0].skeleton, other.characters[0].skeleton
    assert len(a) == len(b) == 343
    return {
        ours: np.linalg.norm(a[:, names.index(ours)] - b[:, others.index(theirs)], axis=-1).max()
        for ours, theirs in SAME_JOINT.items()
    }


def test_the_same_take_as_bvh(tmp_path):
    skeleton = data_file("asf_amc/walk.asf")
    motion = data_file("asf_amc/walk_01.amc")
    other = bvh.read(data_file("bvh_cmu/02_01.bvh"))
    asset = acclaim.read_amc(motion)
    assert set(SAME_JOINT) == set(asset.characters[0].skeleton.names)
    apart = distances(asset, other)
    exact = [name for name in apart if re.search("root|hip|femur|tibia|foot|toes|back|thorax", name)]
    assert len(exact) == 14 and max(apart[name] for name in exact) < 1e-5

    text = skeleton.read_text()
    for name in LEFT_OUT:
        text, count = re.subn(rf"(name {name}\s+direction[^\n]*\n\s+length )\S+", r"\g<1>0", text)
        assert count == 1
    (tmp_path / "cut.asf").write_text(text)
    apart = distances(acclaim.read_amc(motion, skeleton=tmp_path / "cut.asf"), other)
    assert len(apart) == 31 and max(apart.values()) < 1e-5


def test_real_take_as_bvh_and_back(tmp_path):
    asset = acclaim.read_amc(data_file("asf_amc/walk_01.amc"))
    bvh.write(asset, tmp_path / "walk.bvh")
    back = bvh.read(tmp_path / "walk.bvh")
    assert back.characters[0].skeleton.names == asset.characters[0].skeleton.names
    np.testing.assert_allclose(world(back)[..., :3, 3], world(asset)[..., :3, 3], atol=1e-6)
