"""Who follows whom: left the left, toes the toes, the lamp's base both feet."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.transfer import bodies, small

from understudy import cast
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import body_of
from understudy.errors import InvalidInput
from understudy.formats import registry
from understudy.transfer.contact_goals import follow_phases, match_contacts


def test_a_figure_follows_itself() -> None:
    skeleton, body = bodies.walker()
    assert match_contacts(body, skeleton, body, skeleton) == (((0,),), ((1,),), ((2,),), ((3,),))


def test_a_base_follows_both_feet_and_hops_in_the_middle_of_a_step() -> None:
    skeleton, body = bodies.walker()
    lamp = cast.load("lamp").character()
    base = body_of(lamp)
    groups = match_contacts(base, lamp.skeleton, body, skeleton)
    assert groups == (((0, 1), (2, 3)),) * 4
    down = np.ones((60, 4), bool)
    down[5:8, 0] = False  # a heel stays down: no step
    down[10:22, :2] = False  # a step of 0.4 s
    down[26:40, 2:] = False  # and a jump of one leg after the other
    down[30:36] = False
    followed = follow_phases(ContactPhases(body.names, down), groups, base.names, 30.0)
    up = np.flatnonzero(~followed.down[:, 0])
    np.testing.assert_array_equal(up, [*range(12, 19), *range(30, 36)])
    assert followed.names == base.names


def test_a_base_that_never_leaves_the_floor_glides_where_the_actor_steps() -> None:
    _, body = bodies.walker()
    groups = (((0, 1), (2, 3)),) * 2
    down = np.ones((60, 4), bool)
    down[10:22, :2] = False  # a step
    down[30:36] = False  # a jump
    followed = follow_phases(ContactPhases(body.names, down), groups, ("a", "b"), 30.0, hops=False)
    np.testing.assert_array_equal(np.flatnonzero(~followed.down[:, 1]), range(30, 36))
    assert followed.gliding is not None
    np.testing.assert_array_equal(np.flatnonzero(followed.gliding), [*range(10, 22), *range(30, 36)])
    legs = (((0, 1),), ((2, 3),))
    assert follow_phases(ContactPhases(body.names, down), legs, ("a", "b"), 30.0, hops=False).gliding is None


def test_forefeet_follow_hands_only_where_hands_touch_the_floor() -> None:
    dog = registry.read(data_file("gltf_quaternius/animals_pack_Husky.glb")).character()
    actor = registry.read(data_file("bvh_cmu/79_53.bvh")).character()
    own, other = body_of(dog), body_of(actor)
    hands = {k for k, name in enumerate(other.names) if name.endswith(".hand")}
    assert len(hands) == 2
    fore = [k for k, name in enumerate(own.names) if "Front" in name]
    groups = match_contacts(own, dog.skeleton, other, actor.skeleton)
    assert all(set(groups[k][0]) <= hands for k in fore)
    never = ContactPhases(other.names, np.zeros((3, len(other.names)), bool))
    groups = match_contacts(own, dog.skeleton, other, actor.skeleton, phases=never)
    assert not any(set(group) & hands for k in fore for group in groups[k])


def test_what_is_given_is_followed() -> None:
    skeleton, body = bodies.walker()
    groups = match_contacts(
        body, skeleton, body, skeleton, given={"Left.toe": ["Right.heel", "Right.toe"], "Left.heel": []}
    )
    assert groups[:2] == (((3, 2),), ())
    down = np.ones((2, 4), bool)
    assert not follow_phases(ContactPhases(body.names, down), groups, body.names, 30.0).down[:, 1].any()
    with pytest.raises(InvalidInput, match="no contact point of the source 'Tail'"):
        match_contacts(body, skeleton, body, skeleton, given={"Left.toe": ["Tail"]})


def test_a_bare_skeleton_stands_on_toes_and_heels() -> None:
    asset = small.actor()
    body = body_of(asset.character())
    assert {name.split(".")[0] for name in body.names} >= {"LeftFoot", "RightFoot"}
