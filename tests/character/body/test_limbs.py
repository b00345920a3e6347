from __future__ import annotations

import numpy as np
import pytest
from tests.transfer import small

from understudy import cast
from understudy.character import Skeleton
from understudy.character.body.limbs import links_of, mirror_names
from understudy.errors import InvalidInput


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("leftarm", "rightarm"),
        ("mixamorig:leftupleg", "mixamorig:rightupleg"),
        ("thigh_l", "thigh_r"),
        ("thigh.l", "thigh.r"),
        ("l_hand", "r_hand"),
        ("lthumb", "rthumb"),
    ],
)
def test_names_of_partners(left: str, right: str) -> None:
    assert right in mirror_names(left)


def test_names_without_a_side_have_no_partner() -> None:
    assert mirror_names("head") == []


def test_front_is_told_by_left_and_right() -> None:
    """A body whose left is towards -Z faces +X."""
    places = [[0, 1, 0], [0, 0.5, -0.2], [0, 0.5, 0.2], [0, 0.5, 0]]
    skeleton = Skeleton(["Hips", "LeftLeg", "RightLeg", "Spine"], [-1, 0, 0, 0], places)
    np.testing.assert_allclose(links_of(skeleton).front(), [1, 0, 0], atol=1e-12)


def test_front_is_ahead_where_no_name_tells() -> None:
    np.testing.assert_allclose(links_of(small.hopper().character()).front(), [0, 0, 1])


def test_joints_that_carry_nothing_are_no_links() -> None:
    links = links_of(cast.load("lamp").character())
    names = {cast.load("lamp").character().skeleton.names[j] for j in links.joints}
    assert not names & {"Root", "Lift", "RimFront", "RimBack", "RimLeft", "RimRight"}
    assert {"Base", "LowerArm", "UpperArm", "Head"} <= names


def test_the_root_is_the_lowest_joint_above_all_links() -> None:
    body = cast.load("lamp").character()
    assert body.skeleton.names[links_of(body, skip=["Cord"]).root] == "Base"
    assert body.skeleton.names[links_of(body).root] == "Root"


def test_what_is_skipped_goes_with_all_below() -> None:
    body = small.hopper().character()
    names = [body.skeleton.names[j] for j in links_of(body, skip=["Tail1"]).joints]
    assert names == ["Base", "Trunk", "Head"]
    with pytest.raises(InvalidInput, match="no joint 'Wing'"):
        links_of(body, skip=["Wing"])
    with pytest.raises(InvalidInput, match="not left out"):
        links_of(body, skip=["Base"])


def test_ends_reach_to_the_far_side_of_their_skin() -> None:
    """The head of the hopper is a box from 0 to 0.2 above its joint: twice the way to its middle."""
    body = small.hopper().character()
    links = links_of(body)
    head = list(links.joints).index(body.skeleton.index("Head"))
    np.testing.assert_allclose(links.bones[head][1], 0.2, atol=1e-6)


def test_a_body_without_any_extent_has_one_link() -> None:
    links = links_of(Skeleton(["Only"], [-1], [[0, 0, 0]]))
    assert len(links.joints) == 1
    assert np.linalg.norm(links.bones[0]) > 0
