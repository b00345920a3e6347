"""The head's share of a gaze: late, part of the way, and exactly at rest in the end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.perform.layers.bodies import body

from understudy.maths import springs
from understudy.perform.layers import head
from understudy.perform.layers.eyes import Eyes
from understudy.perform.layers.head import EYES_ONLY_RAD, HEAD_FOLLOW_RATIO, MAX_FOLLOW_RAD, HeadFollow

NUMBER = st.floats(-2, 2)


@settings(max_examples=50, deadline=None)
@given(NUMBER, NUMBER, NUMBER, st.floats(0.001, 0.2))
def test_the_spring_is_the_one_of_maths(x: float, v: float, goal: float, dt: float) -> None:
    expected = springs.step(x, v, goal, head.FOLLOW_HALF_LIFE_SECONDS, dt)
    assert head.spring_step(x, v, goal, dt, head.FOLLOW_HALF_LIFE_SECONDS) == pytest.approx(
        [float(a) for a in expected], abs=1e-12
    )


@pytest.fixture(scope="module")
def eyes() -> Eyes:
    found = Eyes.from_rig(body())
    assert found is not None
    return found


def at(eyes: Eyes, yaw: float, pitch: float = 0.0) -> tuple[float, float, float]:
    """A point so many radians from straight ahead of the resting face."""
    frame = eyes.head.evaluate_row(eyes.rig.rest)
    x, y, z = np.array(eyes.centre(frame)) + 2 * np.array(eyes.direction(frame, yaw, pitch))
    return float(x), float(y), float(z)


def run(eyes: Eyes, share: HeadFollow, point: tuple[float, float, float] | None, seconds: float) -> HeadFollow:
    frame = eyes.head.evaluate_row(eyes.rig.rest)
    for _ in range(round(24 * seconds)):
        share = share.step_follow(eyes, frame, eyes.direction(frame, 0.0, 0.0), point, 1 / 24)
    return share


@pytest.mark.parametrize("yaw", [0.1, 0.4, -0.6, 1.4])
def test_what_the_head_takes(eyes: Eyes, yaw: float) -> None:
    turn, speed, _ = run(eyes, HeadFollow(), at(eyes, yaw), 0.1)  # the first frame starts there
    expected = np.clip(
        np.sign(yaw) * HEAD_FOLLOW_RATIO * max(abs(yaw) - EYES_ONLY_RAD, 0), -MAX_FOLLOW_RAD[0], MAX_FOLLOW_RAD[0]
    )
    assert turn == pytest.approx((expected, 0), abs=1e-9) and speed == (0, 0)


def test_it_comes_later_and_settles_exactly(eyes: Eyes) -> None:
    start = run(eyes, HeadFollow(), None, 0.1)
    assert start.turn == (0.0, 0.0)
    soon, end = (run(eyes, start, at(eyes, 0.6), seconds) for seconds in (0.05, 4))
    assert 0 < soon.turn[0] < 0.2 * end.turn[0]
    assert run(eyes, end, at(eyes, 0.6), 1) == end and end.speed == (0, 0)
    assert run(eyes, end, None, 4).turn == (0.0, 0.0)


def test_a_point_behind_does_not_turn_the_head(eyes: Eyes) -> None:
    assert run(eyes, HeadFollow(), at(eyes, np.pi), 0.1).turn == (0.0, 0.0)
