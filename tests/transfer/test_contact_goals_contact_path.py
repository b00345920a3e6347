"""The way over the floor: who can span it keeps it, who cannot takes shorter steps in the same time."""

from __future__ import annotations

import numpy as np
from tests.character.body.test_ik_leg_reach import crouched
from tests.transfer import bodies

from understudy.character.body.contacts import ContactPhases
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.transfer.contact_goals import fit_root_path, neutral_places
from understudy.transfer.standing_base import stance_of

FRAMES, STEP = 120, 30


def striding(speed: float) -> tuple[PoseSequence, ContactPhases]:
    """The walker goes ahead at so many metres a second, one foot down at a time, for a second each."""
    frames = np.tile(np.eye(4), (FRAMES, 1, 1))
    frames[:, 2, 3] = speed * np.arange(FRAMES) / 30
    left = (np.arange(FRAMES) // STEP) % 2 == 0
    return crouched(FRAMES).apply_transform(frames), ContactPhases(
        bodies.walker()[1].names, np.stack([left, left, ~left, ~left], axis=1)
    )


def _reached(poses: PoseSequence, phases: ContactPhases) -> tuple[Array, Array, Array]:
    """How far legs are asked to reach over how far they can, frame by frame, the shifts, and the places."""
    body = bodies.walker()[1]
    stance = stance_of(poses, body, phases)
    way = fit_root_path(poses, body, phases, stance)
    near, reach = neutral_places(poses, body, stance)
    asked = [
        np.linalg.norm((near[a:b, k] + way.shifts[a:b] - place)[:, [0, 2]], axis=1) / reach[k]
        for (k, a, b), place in zip(way.spans, way.places)
    ]
    return np.concatenate(asked), way.shifts, way.places


def test_short_strides_keep_their_way() -> None:
    asked, shifts, places = _reached(*striding(0.3))
    assert asked.max() <= 1.0
    assert np.abs(shifts).max() < 0.02
    np.testing.assert_array_equal(places[:, 1], 0.0)


def test_legs_that_are_too_short_take_shorter_steps() -> None:
    poses, phases = striding(1.6)
    asked, shifts, places = _reached(poses, phases)
    assert asked.max() < 1.4  # 1.6 m/s for a second would be twice the reach
    assert shifts[-1, 2] < shifts[0, 2] - 1.0  # and falls behind
    assert np.all(np.diff(places[[0, 4, 1, 5], 2]) > 0)  # toes: each step goes further than the one before
    assert np.abs(np.diff(shifts, 2, axis=0)).max() < 0.02
