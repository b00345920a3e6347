"""Flights: what is in the air falls, what was carried is not thrown."""

from __future__ import annotations

import numpy as np

from understudy.transfer.standing_feet import MAX_FLIGHT_SECONDS, ballistic_flight


def test_the_centre_falls_between_the_floor_and_the_floor() -> None:
    rng = np.random.default_rng(0)
    centres, air = rng.normal(size=(40, 3)), np.zeros(40, bool)
    air[10:25] = True
    flown = centres + ballistic_flight(centres, air, 48.0, 5.0)
    np.testing.assert_array_equal(flown[~air], centres[~air])
    bent = np.diff(flown, 2, axis=0)[9:24] * 48.0**2  # about the frames 10 to 24
    np.testing.assert_allclose(bent, np.broadcast_to([0.0, -5.0, 0.0], (15, 3)), atol=1e-9)


def test_what_has_no_end_or_is_too_long_is_left_alone() -> None:
    centres, air = np.zeros((200, 3)), np.zeros(200, bool)
    air[:5] = air[-5:] = True
    air[50 : 52 + int(MAX_FLIGHT_SECONDS * 48)] = True
    np.testing.assert_array_equal(ballistic_flight(centres, air, 48.0, 9.81), 0.0)
