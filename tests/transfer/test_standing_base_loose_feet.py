"""Feet that hang on no leg are found, placed where they stand, and their legs follow."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.body.test_ik_leg_reach import crouched
from tests.data_folder import data_file
from tests.transfer import bodies

from understudy import cast
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.limbs import limbs_of
from understudy.character.body.mass import body_of
from understudy.character.body.poses import poses_of
from understudy.formats import registry
from understudy.maths import transform
from understudy.transfer.measures import penetration, slide_speeds
from understudy.transfer.standing import plant_contacts
from understudy.transfer.standing_base import find_detached_feet, place_detached_feet, stance_of


def test_feet_on_legs_are_not_loose() -> None:
    poses, body = crouched(4), bodies.walker()[1]
    assert find_detached_feet(poses, body, limbs_of(poses.skeleton)) == ()
    stance = stance_of(poses, body, ContactPhases(body.names, np.ones((4, 4), bool)))
    assert stance.base is None and stance.feet == ()
    np.testing.assert_array_equal(stance.hips, [1, 1, 4, 4])


def test_the_lamp_stands_on_its_base() -> None:
    asset = cast.load("lamp")
    body, poses = body_of(asset.character()), poses_of(asset, "sad")
    stance = stance_of(poses, body, ContactPhases(body.names, np.ones((len(poses), 4), bool)))
    assert stance.feet == () and stance.base == poses.skeleton.index("Base")


@pytest.mark.parametrize(
    ("name", "shins"),
    [
        ("animals_pack_Husky", {"BackLowerLeg.L", "BackLowerLeg.R", "FrontLowerLeg.L", "FrontLowerLeg.R"}),
        ("dinosaurs_pack_Trex", {"BackLowLeg.L", "BackLowLeg.R"}),
    ],
)
def test_feet_of_baked_rigs_are_placed_and_their_legs_follow(name: str, shins: set[str]) -> None:
    asset = registry.read(data_file(f"gltf_quaternius/{name}.glb"))
    clip = next(a.name for a in asset.animations if "walk" in a.name.lower())
    poses, body = poses_of(asset, clip, 30.0), body_of(asset.character())
    feet = find_detached_feet(poses, body, limbs_of(poses.skeleton))
    assert {poses.skeleton.names[foot.shin] for foot in feet} == shins
    assert sorted(k for foot in feet for k in foot.contacts) == list(range(len(body.contacts)))
    # a walk on the spot slides all the time; held for half of it in turn, no foot does
    down = np.zeros((len(poses), len(body.contacts)), bool)
    for n, foot in enumerate(feet):
        half = (2 * np.arange(len(poses)) // len(poses) + n) % 2 == 0
        down[:, foot.contacts] = half[:, None]
    phases = ContactPhases(body.names, down)
    found = plant_contacts(poses, body, phases)
    size = limbs_of(poses.skeleton).size
    places = body.contact_positions(found.world)
    assert slide_speeds(places, phases, 30.0).max() < 0.01 * size
    assert penetration(places) < 0.01 * size
    for foot in feet:  # the foot is where it was, seen from its shin
        seen = [_seen(p.world, foot.shin, foot.joint) for p in (poses, found)]
        assert np.abs(seen[1] - seen[0]).max() < 0.02 * size


def test_a_foot_goes_where_it_is_moved_to() -> None:
    asset = registry.read(data_file("gltf_quaternius/animals_pack_Husky.glb"))
    poses, body = poses_of(asset, asset.animations[0].name, 30.0), body_of(asset.character())
    feet = find_detached_feet(poses, body, limbs_of(poses.skeleton))
    frames = np.broadcast_to(np.eye(4), (len(poses), len(feet), 4, 4)).copy()
    frames[:, 0, :3, 3] = [0.1, 0.2, 0.3]
    whole = np.eye(4)
    whole[0, 3] = 1.0
    found = place_detached_feet(poses, poses.apply_transform(whole), feet, frames)
    wanted = poses.world[:, feet[0].joint, :3, 3] + [0.1, 0.2, 0.3]
    np.testing.assert_allclose(found.world[:, feet[0].joint, :3, 3], wanted, atol=1e-9)
    np.testing.assert_allclose(found.world[:, feet[1].joint], poses.world[:, feet[1].joint], rtol=1e-5, atol=1e-4)


def _seen(world: np.ndarray, shin: int, foot: int) -> np.ndarray:
    """(F, 3) metres, a foot from its shin."""
    scale = np.linalg.norm(world[:, shin, :3, 0], axis=1)[:, None]
    return np.asarray(scale * transform.apply(transform.invert(world[:, shin]), world[:, foot, :3, 3]))
