"""The ARKit 52 and their spellings."""

from __future__ import annotations

import pytest

from understudy.formats.arkit_names import ANGLES, WEIGHTS, canonical


def test_fifty_two_weights_and_nine_angles():
    assert len(WEIGHTS) == len(set(WEIGHTS)) == 52
    assert len(ANGLES) == 9 and ANGLES[0] == "HeadYaw"
    assert sum(name.endswith("Left") for name in WEIGHTS) == sum(name.endswith("Right") for name in WEIGHTS)


@pytest.mark.parametrize("name", [*WEIGHTS, *ANGLES])
def test_any_case_and_separator(name):
    for spelling in (name, name.upper(), name[0].upper() + name[1:], f" {name} ", f"face.{name}", f"rig:{name}"):
        assert canonical(spelling) == name
    for side, letter in (("Left", "L"), ("Right", "R")):
        if name in WEIGHTS and name.endswith(side):
            assert canonical(name.removesuffix(side) + "_" + letter) == name


@pytest.mark.parametrize("name", ["", "smile", "eyeBlink", "Pitch", "x_0", "AU01", "_neutral", "Neutral"])
def test_others_are_none(name):
    assert canonical(name) is None
