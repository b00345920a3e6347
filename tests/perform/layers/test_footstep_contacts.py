"""Where feet stand: low and still for a while, and what neighbouring frames say between them."""

from __future__ import annotations

import numpy as np

from understudy.perform.layers import footstep
from understudy.perform.layers.footstep import LabelContacts, stance_frames

RATE = 24.0


def walk(seconds: float = 4.0, travels: bool = True) -> np.ndarray:
    """(F, 3) of a foot that stands half of each second and swings half; on the spot it is drawn back meanwhile."""
    times = np.arange(int(seconds * RATE)) / RATE
    phase, count = times % 1.0, np.floor(times)
    swing = np.clip((phase - 0.5) / 0.5, 0, 1)
    forward = count + swing * swing * (3 - 2 * swing)
    high = 0.2 * np.sin(np.pi * swing)
    return np.stack([0 * times, high, forward if travels else forward - times], axis=1)


def test_a_foot_stands_between_its_steps() -> None:
    stands = stance_frames(walk(), 0.05, 1.0, RATE)
    phase = np.arange(len(stands)) / RATE % 1.0
    assert stands[(phase > 0.1) & (phase < 0.45)].all() and not stands[(phase > 0.6) & (phase < 0.9)].any()


def test_on_the_spot_it_does_not_stand() -> None:
    assert not stance_frames(walk(travels=False), 0.05, 1.0, RATE)[6:-6].any()


def test_a_moment_is_no_stand() -> None:
    places = np.zeros((40, 3))
    places[:, 2] = np.cumsum(np.full(40, 0.05))
    places[20:22, 2] = places[20, 2]
    assert not stance_frames(places, 0.05, 1.0, RATE).any()


def test_the_nearest_frames_speak() -> None:
    latents = np.stack([np.linspace(0, 1, 41), np.zeros(41), np.zeros(41)], axis=1)
    known = np.zeros((41, 4))
    known[20:, 0] = 1.0
    known[:, 2] = latents[:, 0]
    label = LabelContacts.from_clips(latents, known, [(0, 41)])
    assert (
        label.contacts_at_latent(np.array([0.1, 0.0, 0.0]))[0] < 0.01
        and label.contacts_at_latent(np.array([0.9, 0.0, 0.0]))[0] > 0.99
    )
    assert abs(label.contacts_at_latent(np.array([0.5, 0.3, 0.0]))[2] - 0.5) < 1e-6
    both = footstep.blend_contacts({"a": label}, [("a", latents[5], 0.25), ("a", latents[35], 0.75)])
    assert abs(both[0] - 0.75) < 1e-3


def test_the_ground_is_where_feet_stand() -> None:
    latents = np.stack([np.linspace(0, 1, 41), np.zeros(41), np.zeros(41)], axis=1)
    stands, heights = np.arange(41) >= 20, np.where(np.arange(41) >= 20, 0.1, 0.8)
    known = np.stack([stands, 0 * heights, heights, stands * heights], axis=1)
    label = LabelContacts.from_clips(latents, known, [(0, 41)])
    both = footstep.blend_contacts({"a": label}, [("a", latents[5], 0.6), ("a", latents[35], 0.4)])
    assert abs(both[2] - 0.52) < 1e-3, "in between, they are half in the air"
    assert abs(footstep.ground_height(both[0], both[3], 0.1) - 0.1) < 1e-9
    assert footstep.ground_height(0.0, 0.0, 0.25) == 0.25, "without a contact, the floor"
