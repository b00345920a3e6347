"""What glides: it stands while the actor does, goes from place to place on the floor, and is never posed in the air."""

from __future__ import annotations

import numpy as np
import pytest
from tests.transfer import bodies

from understudy.character import Skeleton
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import Body, ContactPoint
from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion
from understudy.transfer.measures import glide_speeds, measure_motion, slide_speeds
from understudy.transfer.physics.contact_model import problem_of
from understudy.transfer.standing import (
    SlidingBase,
    flatten_base,
    hold_base_shape,
    never_airborne,
    plant_contacts,
    slide_velocities,
)

FRAMES, RATE = 60, 60.0
STEPS = (np.arange(FRAMES) >= 20) & (np.arange(FRAMES) < 40)


def slug() -> tuple[Skeleton, Body]:
    """A base with a tip that winds, and beside it, on the same root, most of the weight."""
    skeleton = Skeleton(
        ["Root", "Base", "Tip", "Rest"],
        [-1, 0, 1, 0],
        [[0.0, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, -0.4], [0.0, 0.5, 0.0]],
    )
    places = [(1, [0.2, -0.1, 0.2]), (1, [-0.2, -0.1, 0.2]), (2, [0.1, -0.1, -0.2]), (2, [-0.1, -0.1, -0.2])]
    contacts = [ContactPoint(f"sole {i}", joint, place) for i, (joint, place) in enumerate(places)]
    inertia = 0.02 * np.eye(3)
    return skeleton, Body([0.0, 1.0, 0.3, 3.0], np.zeros((4, 3)), [0 * inertia, inertia, inertia, inertia], contacts)


def sliding() -> tuple[PoseSequence, Body, ContactPhases]:
    """A slug that slides along +X, now a little above the floor and now below, winds, and steps for a while."""
    skeleton, body = slug()
    t = np.arange(FRAMES) / RATE
    frames = np.broadcast_to(np.eye(4), (FRAMES, 4, 4)).copy()
    frames[:, 0, 3], frames[:, 1, 3] = 0.3 * t, 0.02 * np.sin(9 * t)
    still = PoseSequence.rest(skeleton, FRAMES, RATE)
    rotations = np.array(still.rotations)
    rotations[:, 2] = quaternion.from_rotation_vector(0.3 * np.sin(7 * t)[:, None] * np.array([0.0, 1.0, 0.0]))
    poses = PoseSequence(skeleton, still.translations, rotations, RATE)
    return poses.apply_transform(frames), body, ContactPhases(body.names, np.ones((FRAMES, 4), bool), STEPS)


def test_it_stands_while_the_actor_does_and_glides_to_the_next_place() -> None:
    poses, body, phases = sliding()
    points = body.contact_positions(plant_contacts(poses, body, phases).world)
    for span in (slice(0, 20), slice(40, FRAMES)):
        assert np.abs(points[span] - points[span][0]).max() < 1e-9
    assert np.abs(points[..., 1]).max() < 1e-6
    way = points[-1, :, 0] - points[0, :, 0]
    assert np.all(way > 0.1)
    # it never goes back, and starts and stops softly
    speeds = np.diff(points[..., 0].mean(axis=1)) * RATE
    assert speeds.min() > -1e-9 and speeds[20] < 0.3 * speeds.max() and speeds[38] < 0.3 * speeds.max()


def test_figures_say_that_it_stands_and_how_it_goes() -> None:
    poses, body, phases = sliding()
    before, after = (measure_motion(p, body, phases) for p in (poses, plant_contacts(poses, body, phases)))
    assert before["slide_cm_s"] > 10 and before["slip_cm_s"] > 1
    assert after["slide_cm_s"] < 1e-6 and after["slip_cm_s"] < 0.1 * after["glide_cm_s"]
    assert "slip_cm_s" not in measure_motion(poses, body, ContactPhases(phases.names, phases.down))


def test_what_touches_the_floor_rests_on_it_while_the_body_glides() -> None:
    poses, body, phases = sliding()
    found = plant_contacts(poses, body, phases)
    problem = problem_of(found.world, body, phases, RATE, 1.0, 9.81)
    assert np.abs(problem.velocities[..., [0, 2]]).max() < 0.02
    slides = problem_of(found.world, body, ContactPhases(phases.names, phases.down), RATE, 1.0, 9.81)
    assert np.abs(slides.velocities[..., 0]).max() > 0.3


def test_the_glide_that_is_meant_leads_from_where_it_stood_to_where_it_stands() -> None:
    rng = np.random.default_rng(1)
    points = np.cumsum(rng.normal(size=(FRAMES, 4, 3)), axis=0)
    phases = ContactPhases([f"{i}" for i in range(4)], np.ones((FRAMES, 4), bool), STEPS)
    gone = slide_velocities(points, phases, RATE).sum(axis=0) / RATE
    np.testing.assert_allclose(gone[:, [0, 2]], (points[40] - points[19])[:, [0, 2]], atol=1e-9)
    assert np.all(slide_velocities(points, phases, RATE)[:19] == 0) and np.all(
        slide_velocities(points, phases, RATE)[40:] == 0
    )
    never = ContactPhases(phases.names, phases.down, np.ones(FRAMES, bool))
    np.testing.assert_allclose(slide_velocities(points, never, RATE)[..., 0], np.diff(points[..., 0], axis=0) * RATE)
    assert not slide_velocities(points, ContactPhases(phases.names, phases.down), RATE).any()


def test_before_the_first_place_and_after_the_last_it_waits() -> None:
    down = np.ones((FRAMES, 1), bool)
    ends = (np.arange(FRAMES) < 10) | (np.arange(FRAMES) >= 50)
    glides = SlidingBase.from_phases(ContactPhases(["a"], down, ends))
    assert glides is not None and not glides.share.any()
    assert (
        SlidingBase.from_phases(ContactPhases(["a"], down)) is None
        and SlidingBase.from_phases(ContactPhases(["a"], down, np.ones(FRAMES, bool))) is None
    )


def test_what_never_stands_keeps_its_way_on_the_floor() -> None:
    poses, body, phases = sliding()
    always = ContactPhases(phases.names, phases.down, np.ones(FRAMES, bool))
    points = body.contact_positions(plant_contacts(poses, body, always).world)
    assert points[..., 1].min() > -1e-12 and points[..., 1].max() < 0.01
    np.testing.assert_allclose(points[..., [0, 2]], body.contact_positions(poses.world)[..., [0, 2]], atol=1e-12)
    goes, slips = glide_speeds(points, always, RATE)
    assert len(goes) == 4 * (FRAMES - 1) and np.all(slips < 1e-9)


def test_in_flight_it_is_not_drawn_to_the_floor() -> None:
    poses, body, phases = sliding()
    lift = np.broadcast_to(np.eye(4), (FRAMES, 4, 4)).copy()
    lift[24:36, 1, 3] = 0.3
    down = phases.down.copy()
    down[24:36] = False
    found = plant_contacts(poses.apply_transform(lift), body, ContactPhases(phases.names, down, phases.gliding))
    assert body.contact_positions(found.world)[28:32, :, 1].min() > 0.2


def test_a_base_that_stands_keeps_its_form_and_lies_flat() -> None:
    poses, body, phases = sliding()
    glides = SlidingBase.from_phases(phases)
    assert glides is not None
    stiff = hold_base_shape(poses, body, 1, glides)
    np.testing.assert_allclose(stiff.rotations[:20, 2], stiff.rotations[:1, 2].repeat(20, axis=0), atol=1e-12)
    assert np.ptp(stiff.rotations[20:40, 2], axis=0).max() > 0.01
    tilted = np.array(poses.rotations)
    tilted[:, 1] = quaternion.from_rotation_vector([0.2, 0.0, 0.1])
    found = flatten_base(PoseSequence(poses.skeleton, poses.translations, tilted, RATE), body, 1)
    points = body.contact_positions(found.world)
    assert np.ptp(points[..., 1], axis=1).max() < 1e-6
    np.testing.assert_allclose(found.world[:, 3], poses.world[:, 3], atol=1e-12)


def test_slide_counts_where_it_stands() -> None:
    poses, body, phases = sliding()
    positions = body.contact_positions(poses.world)
    assert len(slide_speeds(positions, phases, RATE)) == 4 * (19 + 19)
    assert len(glide_speeds(positions, phases, RATE)[0]) == 4 * 21


@pytest.mark.parametrize(("heights", "stays"), [([[0.0, 0.3], [0.05, 0.01]], True), ([[0.0, 0.3], [0.1, 0.08]], False)])
def test_who_was_never_posed_in_the_air_stays_down(heights: list[list[float]], stays: bool) -> None:
    assert never_airborne(np.array(heights), 0.06) is stays
    assert not never_airborne(np.zeros((0, 2)), 0.06)


def test_a_brick_is_all_base() -> None:
    skeleton, body = bodies.brick()
    poses = PoseSequence.rest(skeleton, FRAMES, RATE)
    found = plant_contacts(poses, body, ContactPhases(body.names, np.ones((FRAMES, 4), bool), STEPS))
    np.testing.assert_allclose(found.world, poses.world, atol=1e-9)
