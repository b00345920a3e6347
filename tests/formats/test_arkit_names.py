"""The ARKit 52 and their spellings."""

from __future__ import annotations

import pytest

from understudy.formats.arkit_names import ANGLE_NAMES, SHAPE_NAMES, canonical_name


def test_fifty_two_weights_and_nine_angles():
    assert len(SHAPE_NAMES) == len(set(SHAPE_NAMES)) == 52
    assert len(ANGLE_NAMES) == 9 and ANGLE_NAMES[0] == "HeadYaw"
    assert sum(name.endswith("Left") for name in SHAPE_NAMES) == sum(name.endswith("Right") for name in SHAPE_NAMES)


@pytest.mark.parametrize("name", [*SHAPE_NAMES, *ANGLE_NAMES])
def test_any_case_and_separator(name):
    for spelling in (name, name.upper(), name[0].upper() + name[1:], f" {name} ", f"face.{name}", f"rig:{name}"):
        assert canonical_name(spelling) == name
    for side, letter in (("Left", "L"), ("Right", "R")):
        if name in SHAPE_NAMES and name.endswith(side):
            assert canonical_name(name.removesuffix(side) + "_" + letter) == name


@pytest.mark.parametrize("name", ["", "smile", "eyeBlink", "Pitch", "x_0", "AU01", "_neutral", "Neutral"])
def test_others_are_none(name):
    assert canonical_name(name) is None
