"""What glides: on the floor, along its way, never posed in the air."""

from __future__ import annotations

import numpy as np
from tests.retarget import bodies

from understudy.retarget.contact_correction import corrected
from understudy.retarget.contacts import Phases
from understudy.retarget.glide import standing, stays_down
from understudy.retarget.measures import slide
from understudy.retarget.poses import Poses
from understudy.retarget.realism import realistic

FRAMES = 40


def sliding(body_names: tuple[str, ...]) -> tuple[Poses, Phases]:
    """A brick that slides along +X, now a little above the floor and now below, and steps in its second half."""
    skeleton, _ = bodies.brick()
    t = np.arange(FRAMES) / bodies.RATE
    frames = np.broadcast_to(np.eye(4), (FRAMES, 4, 4)).copy()
    frames[:, 0, 3], frames[:, 1, 3] = 0.6 * t, 0.02 * np.sin(9 * t)
    still = Poses.rest(skeleton)
    poses = Poses(skeleton, *(np.repeat(part, FRAMES, axis=0) for part in (still.translations, still.rotations)), 60.0)
    return poses.moved(frames), Phases(body_names, np.ones((FRAMES, 4), bool), np.arange(FRAMES) >= 20)


def test_what_glides_keeps_its_way_and_lies_on_the_floor() -> None:
    _, body = bodies.brick()
    poses, phases = sliding(body.names)
    found = corrected(poses, body, phases)
    points = body.contact_positions(found.world)
    assert points[..., 1].min() > -1e-12 and points[..., 1].max() < 0.01
    np.testing.assert_allclose(points[..., [0, 2]], body.contact_positions(poses.world)[..., [0, 2]], atol=1e-12)
    weighty = body.contact_positions(realistic(found, body, phases).world)
    np.testing.assert_allclose(weighty, points, atol=1e-12)


def test_in_flight_it_is_not_drawn_to_the_floor() -> None:
    _, body = bodies.brick()
    poses, phases = sliding(body.names)
    lift = np.broadcast_to(np.eye(4), (FRAMES, 4, 4)).copy()
    lift[10:30, 1, 3] = 0.3
    down = phases.down.copy()
    down[10:30] = False
    found = corrected(poses.moved(lift), body, Phases(phases.names, down, phases.gliding))
    assert body.contact_positions(found.world)[15:25, :, 1].min() > 0.25


def test_slide_counts_where_it_stands() -> None:
    _, body = bodies.brick()
    poses, phases = sliding(body.names)
    positions = body.contact_positions(poses.world)
    assert len(slide(positions, phases, 60.0)) == 4 * 19
    assert not standing(phases).down[20:].any()
    always = Phases(phases.names, phases.down, np.ones(FRAMES, bool))
    assert standing(always) is always


def test_who_was_never_posed_in_the_air_stays_down() -> None:
    assert stays_down(np.array([[0.0, 0.3], [0.05, 0.01]]), 0.06)
    assert not stays_down(np.array([[0.0, 0.3], [0.1, 0.08]]), 0.06)
    assert not stays_down(np.zeros((0, 2)), 0.06)
