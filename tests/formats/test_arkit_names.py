"""The ARKit 52, their spellings, and visemes in their terms."""

from __future__ import annotations

from understudy.formats.arkit_names import ANGLE_NAMES, SHAPE_NAMES, VISEMES, canonical_name


def test_fifty_two_weights_and_nine_angles():
    assert len(SHAPE_NAMES) == len(set(SHAPE_NAMES)) == 52
    assert len(ANGLE_NAMES) == 9 and ANGLE_NAMES[0] == "HeadYaw"
    assert sum(name.endswith("Left") for name in SHAPE_NAMES) == sum(name.endswith("Right") for name in SHAPE_NAMES)


def test_any_case_and_separator():
    spellings = {}
    for name in (*SHAPE_NAMES, *ANGLE_NAMES):
        for spelling in (name, name.upper(), name[0].upper() + name[1:], f" {name} ", f"face.{name}", f"rig:{name}"):
            spellings[spelling] = name
    for name in SHAPE_NAMES:
        for side, letter in (("Left", "L"), ("Right", "R")):
            if name.endswith(side):
                spellings[name.removesuffix(side) + "_" + letter] = name
    assert {spelling: canonical_name(spelling) for spelling in spellings} == spellings
    assert len(spellings) > 6 * 52


def test_others_are_none():
    others = ("", "smile", "eyeBlink", "Pitch", "x_0", "AU01", "_neutral", "Neutral")
    assert {name: canonical_name(name) for name in others} == dict.fromkeys(others)


def test_visemes_use_names_that_arkit_has():
    for name, weights in VISEMES.items():
        assert set(weights) <= set(SHAPE_NAMES), name
