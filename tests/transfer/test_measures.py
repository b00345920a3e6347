"""Measures: of motions whose slide, penetration and jumps are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.transfer import bodies, small
from tests.transfer.physics.test_dynamics import jumping

from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import body_height, body_of
from understudy.character.body.poses import PoseSequence
from understudy.transfer.measures import (
    compare_forces,
    jerk,
    jumps,
    measure_motion,
    penetration,
    slide_speeds,
)
from understudy.transfer.physics.momentum import mass_motion


def test_slide_and_penetration_are_what_they_are() -> None:
    t = np.arange(10) / 30
    positions = np.stack([np.zeros(10), np.full(10, -0.02), 0.3 * t], axis=1)[:, None]
    phases = ContactPhases(("a",), np.ones((10, 1), bool))
    np.testing.assert_allclose(slide_speeds(positions, phases, 30.0), 0.3)
    assert penetration(positions) == pytest.approx(0.02)
    assert slide_speeds(positions, ContactPhases(("a",), np.zeros((10, 1), bool)), 30.0).size == 0


def test_a_jump_is_as_high_as_it_is() -> None:
    body = bodies.walker()[1]
    poses, phases = jumping(0.25)
    (jump,) = jumps(mass_motion(poses.world, body, 60.0), phases, None, None)
    assert jump["height_m"] == pytest.approx(0.25, abs=0.005)
    assert jump["end_s"] - jump["start_s"] == pytest.approx(0.4)


def test_a_constant_acceleration_has_no_jerk() -> None:
    skeleton, body = bodies.brick()
    t = np.arange(12)[:, None] / 60
    poses = PoseSequence(skeleton, (t * t * [0.0, 2.0, 1.0])[:, None], np.tile([0.0, 0, 0, 1], (12, 1, 1)), 60.0)
    assert jerk(poses.world, body, 60.0) < 1e-6


def test_the_report_is_plain_numbers_and_tells_of_the_source() -> None:
    source, target = small.source(), small.hopper().character()
    body = body_of(target)
    poses = PoseSequence.rest(target.skeleton, len(source), 30.0)
    phases = ContactPhases(body.names, np.ones((len(source), len(body.names)), bool))
    found = measure_motion(poses, body, phases, source, body_of(small.actor().character()))
    json.dumps(found)
    assert found["slide_max_cm_s"] == 0 and found["momentum_error"] == pytest.approx(1.0)
    assert found["vertical_force_mismatch"] < 0.05
    assert {"momentum_correlation", "size_ratio", "jumps", "force_in_air"} <= set(found)
    assert body_height(body, poses) > 0.5


def test_standing_needs_the_weight_and_gets_it() -> None:
    skeleton, body = bodies.brick()
    poses = PoseSequence.rest(skeleton, 6)
    needed, given, _, _, weight = compare_forces(poses, body, ContactPhases(body.names, np.ones((6, 4), bool)))
    np.testing.assert_allclose(needed[:, 1], weight)
    np.testing.assert_allclose(given[1:-1, 1], weight, rtol=0.01)
