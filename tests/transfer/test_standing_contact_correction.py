"""Contact correction: feet stand still, on the floor, and whoever touches nothing is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.body.test_ik_leg_reach import crouched
from tests.data_folder import data_file
from tests.transfer import bodies

from understudy import cast
from understudy.character.body.contacts import ContactPhases, find_contact_phases
from understudy.character.body.mass import body_height, body_of
from understudy.character.body.poses import PoseSequence, poses_of
from understudy.formats import registry
from understudy.transfer.measures import penetration, slide_speeds
from understudy.transfer.source import source_of
from understudy.transfer.standing import plant_contacts
from understudy.transfer.standing_base import has_no_legs


def creeping() -> tuple[PoseSequence, ContactPhases]:
    """The walker slides ahead, sinks and rises while all its feet are down but for a moment."""
    poses = crouched(60)
    t = np.arange(60) / 30
    frames = np.tile(np.eye(4), (60, 1, 1))
    frames[:, :3, 3] = np.stack([0.02 * np.sin(3 * t), 0.03 + 0.02 * np.cos(2 * t), 0.05 * t], axis=1)
    down = np.ones((60, 4), bool)
    down[25:35, :2] = False
    down[40:48, 3] = False
    return poses.apply_transform(frames), ContactPhases(bodies.walker()[1].names, down)


def test_feet_stand_still_on_the_floor() -> None:
    (poses, phases), body = creeping(), bodies.walker()[1]
    before, after = (body.contact_positions(p.world) for p in (poses, plant_contacts(poses, body, phases)))
    assert slide_speeds(before, phases, 30.0).mean() > 0.03
    assert slide_speeds(after, phases, 30.0).max() < 0.002
    assert penetration(after) < 1e-3
    np.testing.assert_allclose(after[..., 1][phases.down], 0.0, atol=1e-3)


def test_a_motion_without_contact_is_left_alone() -> None:
    poses, phases = creeping()
    nobody = ContactPhases(phases.names, np.zeros_like(phases.down))
    assert plant_contacts(poses, bodies.walker()[1], nobody) is poses


def test_a_motion_that_stands_already_is_left_alone() -> None:
    poses, body = crouched(12), bodies.walker()[1]
    low = body.contact_positions(poses.world)[..., 1].min()
    frames = np.eye(4)
    frames[1, 3] = -low
    poses = poses.apply_transform(frames)
    phases = ContactPhases(body.names, np.ones((12, 4), bool))
    np.testing.assert_allclose(plant_contacts(poses, body, phases).world, poses.world, atol=2e-4)


def test_the_lamp_is_held_by_its_base() -> None:
    asset = cast.load("lamp")
    body, poses = body_of(asset.character()), poses_of(asset, "sad")
    phases = ContactPhases(body.names, np.ones((len(poses), 4), bool))
    assert has_no_legs(poses.skeleton, body, phases)
    assert not has_no_legs(
        bodies.walker()[0], bodies.walker()[1], ContactPhases(bodies.walker()[1].names, np.ones((1, 4), bool))
    )
    drift = np.tile(np.eye(4), (len(poses), 1, 1))
    drift[:, 0, 3], drift[:, 1, 3] = 0.1 * np.sin(np.arange(len(poses)) / 10), 0.02
    fixed = plant_contacts(poses.apply_transform(drift), body, phases)
    after = body.contact_positions(fixed.world)
    assert slide_speeds(after, phases, poses.rate).max() < 1e-6
    assert np.abs(after[..., 1]).max() < 0.01
    base = poses.skeleton.index("Base")
    np.testing.assert_array_equal(fixed.rotations[:, 1 : base + 1], poses.rotations[:, 1 : base + 1])


@pytest.mark.parametrize("name", ["02_01", "13_39", "79_64"])
def test_captured_feet_meet_the_bars(name: str) -> None:
    asset = registry.read(data_file(f"bvh_cmu/{name}.bvh"))
    motion, body = source_of(asset, rate=30.0), body_of(asset.character())
    assert motion.poses is not None
    height = body_height(body, motion.poses)
    phases = find_contact_phases(body.contact_positions(motion.poses.world), 30.0, height, body.names)
    after = body.contact_positions(plant_contacts(motion.poses, body, phases).world)
    assert 100 * slide_speeds(after, phases, 30.0).mean() / height < 0.1  # cm/s for a figure of one metre; the bar is 1
    assert 100 * np.percentile(slide_speeds(after, phases, 30.0), 99) / height < 1.0
    assert penetration(after) < 0.01 * height
