"""ASF skeletons: bones with axes of their own."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy.character import kinematics
from understudy.errors import UnderstudyError
from understudy.formats import acclaim

SMALL = """# made by hand
:version 1.10
:name VICON
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
   none
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name back
     direction 0 1 0
     length 10
     axis 0 0 0 XYZ
     dof rx ry rz
     limits (-10 10)
            (-10 10)
            (-10 10)
  end
  begin
     id 2
     name arm
     direction 1 0 0
     length 8
     axis 30 40 50 XYZ
     dof rz
  end
  begin
     id 3
     name leg
     direction 0 -2 0
     length 14
     axis 0 0 20 XYZ
  end
:hierarchy
  begin
    root back leg
    back arm
  end
"""


def load(tmp_path, text=SMALL, **options):
    path = tmp_path / "small.asf"
    path.write_text(text)
    return acclaim.read_asf(path, **options)


def rest_world(skeleton):
    return kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations)


def test_joints_stand_at_the_beginnings_of_bones_and_turn_with_their_axes(tmp_path):
    asset = load(tmp_path, scale=1.0)
    skeleton = asset.characters[0].skeleton
    assert skeleton.names == ("root", "back", "arm", "leg")
    world = rest_world(skeleton)
    np.testing.assert_allclose(world[:, :3, 3], [[0, 0, 0], [0, 0, 0], [0, 10, 0], [0, 0, 0]], atol=1e-12)

    def about(axis, degrees):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        m = np.eye(3)
        m[i, i] = m[j, j] = c
        m[i, j], m[j, i] = -s, s
        return m

    np.testing.assert_allclose(world[2, :3, :3], about("z", 50) @ about("y", 40) @ about("x", 30), atol=1e-12)
    end = world[2] @ np.array([*skeleton.extra["bvh"]["ends"]["arm"], 1.0])
    np.testing.assert_allclose(end[:3], [8, 10, 0], atol=1e-12)


def test_radians_and_other_orders(tmp_path):
    text = (
        SMALL.replace("angle deg", "angle rad").replace("30 40 50 XYZ", "0.3 0.4 0.5 ZYX").replace("0 0 20", "0 0 .3")
    )
    world = rest_world(load(tmp_path, text).characters[0].skeleton)
    degrees = SMALL.replace("30 40 50 XYZ", " ".join(str(np.degrees(a)) for a in (0.3, 0.4, 0.5)) + " ZYX")
    again = rest_world(load(tmp_path, degrees).characters[0].skeleton)
    np.testing.assert_allclose(world[2], again[2], atol=1e-12)
    assert not np.allclose(
        world[2], rest_world(load(tmp_path, degrees.replace("ZYX", "XYZ")).characters[0].skeleton)[2]
    )


def test_the_unit(tmp_path):
    cmu = load(tmp_path)
    np.testing.assert_allclose(cmu.characters[0].skeleton.translations[2], [0, 10 * 0.0254 / 0.45, 0])
    assert any("inches over 0.45" in note for note in cmu.notes)
    centimetres = SMALL.replace("length 0.45", "length 1.0")
    for old, new in (("length 10", "length 80"), ("length 8\n", "length 70\n"), ("length 14", "length 100")):
        centimetres = centimetres.replace(old, new)
    found = load(tmp_path, centimetres)
    np.testing.assert_allclose(found.characters[0].skeleton.translations[2], [0, 0.8, 0])
    assert any("centimetres" in note for note in found.notes)
    np.testing.assert_allclose(load(tmp_path, scale=2.0).characters[0].skeleton.translations[2], [0, 20, 0])


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (":version 1.10", "version 1.10", "begin with a section"),
        (":root", ":rot", ":root"),
        (":hierarchy", ":bones", "section :hierarchy"),
        ("length 0.45", "length 0", "line 6"),
        ("length 0.45", "length x", "line 6"),
        ("RX RY RZ", "RX RX RZ", "line 11"),
        ("axis XYZ", "axis XYX", "line 12"),
        ("position 0 0 0", "position 0 0", "line 13"),
        ("begin\n     id 1", "id 1", "line 16"),
        ("name back", "", "line 16"),
        ("direction 0 1 0", "direction 0 nan 0", "line 19"),
        ("axis 30 40 50 XYZ", "axis 30 40", "line 32"),
        ("dof rz", "dof rw", "line 33"),
        ("name leg", "name arm", "'arm' appears twice"),
        ("root back leg", "root back", "'leg' has no place"),
        ("root back leg", "root back leg foot", "'foot'"),
        ("back arm\n", "back arm\n leg arm\n", "two places"),
        ("root back leg\n    back arm", "root leg\n back arm\n arm back", "no place"),
        ("  end\n:hierarchy", ":hierarchy", "within a bone"),
    ],
)
def test_damage_is_refused_with_its_place(tmp_path, old, new, place):
    assert old in SMALL
    with pytest.raises(UnderstudyError, match=place) as caught:
        load(tmp_path, SMALL.replace(old, new, 1))
    assert "small.asf" in str(caught.value) and "\n" not in str(caught.value)


def test_scrambled_files_raise_our_errors_only(tmp_path):
    rng = np.random.default_rng(1)
    words = SMALL.split(" ")
    for _ in range(200):
        mixed = list(words)
        for _ in range(3):
            a, b = rng.integers(0, len(mixed), 2)
            mixed[a] = mixed[b] if rng.random() < 0.7 else "\x7f²"
        try:
            load(tmp_path, " ".join(mixed))
        except UnderstudyError as error:
            assert str(error)


def test_real_file():
    asset = acclaim.read_asf(data_file("asf_amc/walk.asf"))
    assert len(asset.characters[0].skeleton) == 31 and not asset.clips
