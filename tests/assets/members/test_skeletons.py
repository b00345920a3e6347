"""Tables of joints: the right side mirrors the left, limbs stay together, limits turn round with the side."""

from __future__ import annotations

import numpy as np
import pytest

from assets.members import build, skeletons
from assets.sculpting.joints import both_sides, limits_of_both, skeleton_of, twin
from understudy import cast

MEMBERS = {
    "actor": (skeletons.actor_skeleton(), skeletons.ACTOR_LIMITS),
    "penguin": (skeletons.penguin_skeleton(), skeletons.PENGUIN_LIMITS),
    "squirrel": (skeletons.squirrel_skeleton(), skeletons.SQUIRREL_LIMITS),
}


def test_twins() -> None:
    assert [twin(name) for name in ("LeftHand", "LThumb", "LHipJoint", "LowerBack", "Head", "RightHand")] == [
        *("RightHand", "RThumb", "RHipJoint", "LowerBack", "Head", "RightHand")
    ]


def test_a_right_limb_follows_its_left_one_whole() -> None:
    table = both_sides({"Hips": ("", (0, 1, 0)), "LeftLeg": ("Hips", (1, 1, 0)), "LeftFoot": ("LeftLeg", (2, 0, 3))})
    assert list(table) == ["Hips", "LeftLeg", "LeftFoot", "RightLeg", "RightFoot"]
    assert table["RightFoot"] == ("RightLeg", (-2, 0, 3))


def test_limits_of_the_right_are_those_of_a_mirror() -> None:
    limits = limits_of_both({"LeftArm": {"x": (-10, 20), "y": (-30, 40), "z": (-50, 60)}, "Head": {"y": (-1, 1)}})
    assert limits["RightArm"] == {"x": (-10, 20), "y": (-40, 30), "z": (-60, 50)}
    assert set(limits) == {"LeftArm", "RightArm", "Head"}


@pytest.mark.parametrize("name", MEMBERS)
def test_skeletons_are_symmetric_and_limits_allow_rest(name: str) -> None:
    skeleton, limits = MEMBERS[name]
    for name in skeleton.names:
        other = skeleton.index(twin(name))
        assert np.allclose(skeleton.translations[other] * [-1, 1, 1], skeleton.translations[skeleton.index(name)]) or (
            name.startswith("R")
        )
    assert set(limits) == set(skeleton.names) - {"Hips"}
    for axes in limits.values():
        assert all(low <= 0 <= high for low, high in axes.values())


def test_shipped_limits_and_skeletons_are_those_of_the_tables() -> None:
    for name, limits in build.LIMITS.items():
        assert cast.limits(name) == limits
    for name, (skeleton, _) in MEMBERS.items():
        shipped = cast.load(name).character().skeleton
        assert shipped.names == skeleton.names and np.array_equal(shipped.translations, skeleton.translations)


def test_numbers_of_joints_are_those_of_the_guide() -> None:
    assert [len(skeleton) for skeleton, _ in MEMBERS.values()] == [31, 17, 30]


def test_the_actor_has_the_library_s_proportions() -> None:
    skeleton = skeletons.actor_skeleton()
    assert np.isclose(
        np.linalg.norm(skeleton.translations[skeleton.index("LeftForeArm")]), 4.946 * skeletons.ACTOR_UNIT
    )
    assert not skeleton.translations[skeleton.index("RHipJoint")].any()


def test_a_table_becomes_offsets_from_parents() -> None:
    skeleton = skeleton_of({"a": ("", (1, 2, 3)), "b": ("a", (1, 2, 4))})
    assert skeleton.translations.tolist() == [[1, 2, 3], [0, 0, 1]]
