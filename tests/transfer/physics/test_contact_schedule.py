"""The contact schedule: flights, missed footsteps and what cannot be told, of motions whose truth is known."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.transfer.physics.contact_schedule import CentreMotion, ContactSchedule, find_schedule

RATE, HEIGHT = 60.0, 1.7


def schedule(feet: Array, centre: Array, hands: Array | None = None) -> ContactSchedule:
    """Of feet (F, 2) and hands (F, 2) at heights, and of a centre of mass (F,) at heights; nothing moves sideways."""
    points = feet if hands is None else np.concatenate([feet, hands], axis=1)
    places = np.zeros((*points.shape, 3))
    places[..., 1] = points
    is_foot = np.arange(points.shape[1]) < 2
    c = np.zeros((len(feet), 3))
    c[:, 1] = centre
    a = np.zeros_like(c)
    a[1:-1] = np.diff(c, 2, axis=0) * RATE**2
    motion = CentreMotion(c, np.gradient(c, 1 / RATE, axis=0), a, np.zeros_like(c))
    names = ("Left.toe", "Right.toe", "LeftHand", "RightHand")[: points.shape[1]]
    return find_schedule(places, names, is_foot, motion, RATE, HEIGHT)


def test_a_jump_is_a_flight_with_the_parabola_of_the_source() -> None:
    t = np.arange(120) / RATE
    rise = np.where((t > 0.8) & (t < 1.2), 0.5 * 9.0 * (t - 0.8) * (1.2 - t), 0.0)
    found = schedule(np.stack([rise, rise], 1), 1.0 + rise)
    flying = np.flatnonzero(found.flight)
    assert abs(flying[0] - 48) <= 4 and abs(flying[-1] - 72) <= 4 and found.known.all()
    assert np.abs(found.falls[found.flight] - 9.0).max() < 0.5
    assert (found.falls[~found.flight] == 9.81).all()


def test_a_missed_footstep_is_put_down_and_is_no_flight() -> None:
    t = np.arange(120) / RATE
    lifted = np.where((t > 0.8) & (t < 1.2), 0.1, 0.0)  # both feet seem to be up, and nothing falls
    found = schedule(np.stack([lifted, 1.5 * lifted], 1), np.full(120, 1.0))
    assert not found.flight.any() and found.known.all()
    assert found.phases.down.any(axis=1).all()
    assert found.phases.down[60, 0] and not found.phases.down[60, 1]  # the lower one


def test_a_body_that_something_else_carries_is_unknown() -> None:
    t = np.arange(120) / RATE
    lifted = np.where((t > 0.8) & (t < 1.2), 0.6, 0.0)  # it sits on a swing
    found = schedule(np.stack([lifted, lifted], 1), np.full(120, 1.0))
    assert not found.flight.any()
    assert not found.known[55:65].any() and found.known[:40].all()


def test_hands_come_down_to_the_floor_of_the_feet() -> None:
    hands = np.full((120, 2), 0.8)
    hands[30:80, 0] = 0.03
    down = schedule(np.zeros((120, 2)), np.full(120, 0.8), hands).phases.down
    assert down[35:75, 2].all() and not down[:25, 2].any() and not down[:, 3].any()


def test_feet_that_stay_on_the_floor_do_not_fly() -> None:
    t = np.arange(120) / RATE
    drop = np.where((t > 0.8) & (t < 1.0), 0.5 * 8.0 * (t - 0.8) * (1.0 - t), 0.0)  # between two fast steps
    feet = np.zeros((120, 2))
    feet[48:60] = 0.01 * (np.arange(12) % 2)[:, None]  # fast, and low
    assert not schedule(feet, 1.0 + drop).flight.any()
