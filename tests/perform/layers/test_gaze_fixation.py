"""Fixations: small shifts on a point, points further along a turn, straight ahead without life."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.perform.layers.bodies import body

from understudy.perform.layers.eyes import Eyes
from understudy.perform.layers.gaze import MAX_SHIFT_RAD, MIN_FIXATION_SECONDS, Fixation, Fixations
from understudy.perform.layers.layer import LayerContext

POINT = (0.3, 1.7, 2.0)


@pytest.fixture(scope="module")
def choice() -> Fixations:
    found = Eyes.from_rig(body())
    assert found is not None
    return Fixations(found)


def frame_of(choice: Fixations) -> tuple[float, ...]:
    return choice.eyes.head.evaluate_row(choice.eyes.rig.rest)


def free(
    choice: Fixations, before: Fixation, moment: LayerContext, turning: tuple[float, ...] = (0, 0, 0), seed: int = 1
) -> Fixation:
    frame = frame_of(choice)
    return choice.next_free_fixation(seed, before, frame, choice.eyes.direction(frame, 0, 0), turning, moment)


def test_a_point_is_met_first_and_then_looked_around(choice: Fixations) -> None:
    fixation, seen = Fixation(), []
    for step in range(400):
        fixation = choice.next_point_fixation(
            1, fixation, frame_of(choice), POINT, LayerContext(step / 24, 1 / 24, POINT)
        )
        assert fixation.point == POINT
        if fixation.moved:
            seen.append(fixation)
    assert seen[0].shift == (0, 0) and all(later.shift != (0, 0) for later in seen[1:])
    assert len(seen) > 8
    assert min(b.since - a.since for a, b in pairwise(seen)) >= MIN_FIXATION_SECONDS


def test_a_slow_point_is_followed_and_a_fast_one_jumped_after(choice: Fixations) -> None:
    at = Fixation("point", POINT, (0.0, 0.0), 0.0, 9.0)
    for across, moved in ((0.02, False), (0.4, True)):
        point = (POINT[0] + across, *POINT[1:])
        assert (
            choice.next_point_fixation(1, at, frame_of(choice), point, LayerContext(1.0, 1 / 24, point)).moved is moved
        )


def test_wandering_eyes_stay_near_the_middle(choice: Fixations) -> None:
    fixation = Fixation()
    for step in range(2000):
        fixation = free(choice, fixation, LayerContext(step / 24, 1 / 24))
        yaw, pitch = choice.eyes.bearing(frame_of(choice), fixation.point)
        assert abs(yaw) <= MAX_SHIFT_RAD[0] + 1e-6 and abs(pitch) <= MAX_SHIFT_RAD[1] + 1e-6
        assert fixation.mode == "wander"


def test_the_next_point_lies_along_the_turn(choice: Fixations) -> None:
    bearings = []
    for seed in range(40):
        fixation = free(choice, Fixation(), LayerContext(0.0, 1 / 24), turning=(1.0, 0, 0), seed=seed)
        bearings.append(choice.eyes.bearing(frame_of(choice), fixation.point)[0])
    assert 0.08 < np.mean(bearings) < 0.25  # a radian a second, 0.15 s ahead


def test_eyes_let_go_when_the_head_turns_away(choice: Fixations) -> None:
    aside = (2.0, 1.7, 2.0)
    held = Fixation("wander", aside, (0.0, 0.0), 0.0, 9.0)
    assert not free(choice, held, LayerContext(MIN_FIXATION_SECONDS / 2, 1 / 24)).moved
    assert free(choice, held, LayerContext(2 * MIN_FIXATION_SECONDS, 1 / 24)).moved


def test_without_life_the_eyes_look_ahead(choice: Fixations) -> None:
    first = free(choice, Fixation(), LayerContext(0.0, 1 / 24, stillness=1.0))
    again = free(choice, first, LayerContext(1.0, 1 / 24, stillness=1.0))
    assert first.moved and not again.moved and first.point == again.point
    assert choice.eyes.bearing(frame_of(choice), first.point) == pytest.approx((0, 0), abs=1e-12)
