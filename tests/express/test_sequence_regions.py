"""Regions: every landmark, weight and control has one; wanted ones are kept to the letter."""

from __future__ import annotations

import numpy as np
import pytest

from understudy import cast
from understudy.errors import InvalidInput
from understudy.express.sequence import landmark_names, landmark_number, regions_of
from understudy.formats import arkit_names

FACE = ["eyes", "brows", "nose", "mouth", "cheeks_jaw"]


def members(names: tuple[str, ...]) -> dict[str, set[str]]:
    return {region: {names[i] for i in found} for region, found in regions_of(names).items()}


@pytest.mark.parametrize("names", [landmark_names(), arkit_names.SHAPE_NAMES, landmark_names()[::3]])
def test_the_five_regions_share_out_all_names(names: tuple[str, ...]) -> None:
    regions = regions_of(names)
    assert list(regions) == FACE
    assert sorted(np.concatenate(list(regions.values()))) == list(range(len(names)))
    assert all(np.all(np.diff(found) > 0) for found in regions.values())


def test_landmarks_and_weights_lie_where_a_face_has_them() -> None:
    assert {len(found) for found in members(landmark_names()).values()} == {12, 10, 9, 20, 17}
    weights = members(arkit_names.SHAPE_NAMES)
    assert {"jawOpen", "cheekPuff"} <= weights["cheeks_jaw"] and "tongueOut" in weights["mouth"]
    assert members(("eyeBlink_L", "HeadYaw", "LeftEyeYaw")) == {
        "eyes": {"eyeBlink_L", "LeftEyeYaw"},
        "head": {"HeadYaw"},
    }


def test_every_control_of_the_dragon_has_a_region() -> None:
    layers = cast.load("dragon").characters[0].layers
    assert layers is not None
    regions = members(layers.controls.names)
    assert list(regions) == [*FACE, "ears", "head", "lattice"]
    assert {name.split(".")[0] for name in regions["eyes"]} == {"eyes", "lids"}


def test_wanted_regions_are_kept_to_the_letter() -> None:
    names = ("browUp", "browDown", "jaw", "ear")
    regions = regions_of(names, {"top": ["brow*"], "low": ["jaw"]})
    assert {region: list(found) for region, found in regions.items()} == {"top": [0, 1], "low": [2]}


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (None, "there is no region for 'left': it is no landmark"),
        ({}, "at least one region, but there is none"),
        ({"top": []}, "region 'top' should have at least one member, but has none"),
        ({"top": ["middle"]}, "region 'top' names 'middle', but there are only 'left', 'right'"),
        ({"top": ["left"], "low": ["l*"]}, "'left' is in two regions, 'top' and 'low'"),
    ],
)
def test_what_is_refused(wanted: dict[str, list[str]] | None, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        regions_of(("left", "right"), wanted)


def test_numbers_of_landmarks() -> None:
    assert [landmark_number(name) for name in ("lm00", "lm67", "lm68", "lm7", "jawOpen")] == [0, 67, None, None, None]
