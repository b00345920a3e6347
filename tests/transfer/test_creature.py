"""Contacts of a character: which of the actor's they follow, and when the lamp's base hops, tilts or leans."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.transfer import bodies, small

from understudy import cast
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import body_of
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.formats import registry
from understudy.maths import quaternion
from understudy.transfer.creature import _base_phases, _gliding_phases, match_contacts
from understudy.transfer.physics.contact_schedule import CentreMotion, ContactSchedule


def test_a_figure_follows_itself() -> None:
    skeleton, body = bodies.walker()
    assert match_contacts(body, skeleton, body, skeleton) == (((0,),), ((1,),), ((2,),), ((3,),))


def test_a_base_follows_both_feet() -> None:
    skeleton, body = bodies.walker()
    lamp = cast.load("lamp").character()
    assert match_contacts(body_of(lamp), lamp.skeleton, body, skeleton) == (((0, 1), (2, 3)),) * 4


def steps(far: float, turn: float = 0.0) -> Array:
    """(F, K) phases of the lamp's base where the actor makes a step of the left foot, `far` radii of the base ahead."""
    lamp = cast.load("lamp").character()
    base = body_of(lamp)
    points = base.contact_positions(PoseSequence.rest(lamp.skeleton).world)[0]
    radius = float(np.linalg.norm((points - points.mean(axis=0))[:, [0, 2]], axis=1).max())
    share = np.clip((np.arange(120) - 40) / 30, 0, 1)
    frames = np.tile(np.eye(4), (120, 1, 1))
    frames[:, 2, 3] = far * radius * share
    frames[:, :3, :3] = quaternion.to_matrix(quaternion.from_rotation_vector(np.outer(turn * share, [0.0, 1.0, 0.0])))
    placed = PoseSequence.rest(lamp.skeleton, 120, 60.0).apply_transform(frames)
    down = np.ones((120, 4), bool)
    down[40:70, :2] = False
    return _base_phases(schedule_of(down), ((0, 1), (2, 3)), base, placed).down


def schedule_of(down: Array, flight: Array | None = None) -> ContactSchedule:
    frames = len(down)
    still = CentreMotion(*np.zeros((4, frames, 3)))
    flight = np.zeros(frames, bool) if flight is None else flight
    names = ("Left.toe", "Left.heel", "Right.toe", "Right.heel")
    return ContactSchedule(ContactPhases(names, down), flight, np.ones(frames, bool), np.full(frames, 9.81), still)


def test_a_base_hops_where_the_actor_travels_and_nowhere_else() -> None:
    def air(down: Array) -> int:
        return int(np.count_nonzero(~down.any(axis=1)))

    assert 5 < air(steps(3.0)) < 30  # for less than the step
    assert air(steps(0.0)) == air(steps(0.5)) == 0
    assert air(steps(0.0, 1.5)) == 0  # it pivots on its edge, however far it turns
    assert not steps(0.0, 1.5).all()
    assert steps(0.0).all()  # it leans


def test_a_base_stands_on_the_edge_of_the_foot_that_stands() -> None:
    down = steps(0.5)
    names = body_of(cast.load("lamp").character()).names
    assert [name for name, stands in zip(names, down[55]) if stands] == ["Base.right"]
    assert down[:39].all() and down[71:].all()


def test_a_base_is_in_the_air_where_the_actor_is() -> None:
    flight = np.zeros(120, bool)
    flight[50:70] = True
    down = np.repeat(~flight[:, None], 4, axis=1)
    lamp = cast.load("lamp").character()
    placed = PoseSequence.rest(lamp.skeleton, 120, 60.0)
    phases = _base_phases(schedule_of(down, flight), ((0, 1), (2, 3)), body_of(lamp), placed)
    np.testing.assert_array_equal(~phases.down.any(axis=1), flight)


def test_a_base_that_never_leaves_the_floor_glides_where_the_actor_steps() -> None:
    down = np.ones((60, 4), bool)
    down[10:22, :2] = False  # a step
    phases = _gliding_phases(schedule_of(down), ((0, 1), (2, 3)), ("a", "b"))
    assert phases.down.all() and phases.gliding is not None
    np.testing.assert_array_equal(np.flatnonzero(phases.gliding), range(10, 22))


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
    with pytest.raises(InvalidInput, match="no contact point of the source 'Tail'"):
        match_contacts(body, skeleton, body, skeleton, given={"Left.toe": ["Tail"]})


def test_a_bare_skeleton_stands_on_toes_and_heels() -> None:
    asset = small.actor()
    body = body_of(asset.character())
    assert {name.split(".")[0] for name in body.names} >= {"LeftFoot", "RightFoot"}
