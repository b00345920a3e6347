"""Saccades: the main sequence, and jumps that join smoothly."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.perform.layers.eye_drives import Angles
from understudy.perform.layers.gaze import VERGENCE_SECONDS, minimum_jerk, saccade_seconds, start_saccade


@pytest.mark.parametrize(
    ("degrees", "slowest", "fastest"), [(5, 220, 330), (10, 330, 480), (20, 450, 620), (30, 520, 720)]
)
def test_peak_speeds_of_people(degrees: float, slowest: float, fastest: float) -> None:
    """Between the slower and the faster of the people measured by Boghen and others 1974."""
    times = np.linspace(0, 0.2, 4001)
    going = start_saccade(Angles(0, 0), Angles(np.radians(degrees), 0), 0.0)
    left = [going.remaining(t) for t in times]
    path = np.degrees([0.0 if a is None else a.yaw for a in left])
    assert slowest < np.abs(np.gradient(path, times)).max() < fastest
    assert saccade_seconds(np.radians(degrees)) == pytest.approx(0.021 + 0.0022 * degrees)


def test_a_jump_begins_where_the_eyes_are_and_arrives() -> None:
    start, goal = Angles(0.3, -0.1, 0.02, 0.01), Angles(-0.2, 0.1, 0.1, 0.0)
    going = start_saccade(start, goal, 2.0)
    at_once = going.remaining(2.0)
    assert at_once is not None
    assert [g + o for g, o in zip(goal, at_once)] == pytest.approx(start)
    assert going.remaining(2.0 + going.seconds + VERGENCE_SECONDS) is None
    halfway = going.remaining(2.0 + going.seconds)
    assert halfway is not None and halfway.yaw == 0 and halfway.verge != 0  # vergence is slower


def test_a_jump_can_be_slowed() -> None:
    assert start_saccade(Angles(0, 0), Angles(0.01, 0), 0.0, least=0.16).seconds == 0.16


def test_smooth_is_flat_at_both_ends() -> None:
    x = np.linspace(-0.5, 1.5, 401)
    y = np.array([minimum_jerk(v) for v in x])
    assert (np.diff(y) >= -1e-12).all() and y[0] == 0 and y[-1] == 1
    assert abs(minimum_jerk(1e-3)) < 1e-7 and abs(1 - minimum_jerk(1 - 1e-3)) < 1e-7
