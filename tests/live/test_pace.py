"""The pace of ways, where clips hold what is no motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.live.performer import Performer
from understudy.live.planning import ALONE, FULL_CIRCLE, Planner


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(lamp_model(), lamp_rig(), 24.0, seed=3)


def test_a_logarithm_that_has_come_full_circle_is_no_jolt(performer: Performer) -> None:
    model = performer.model
    turn = len(model.encoder.plain)
    label, space = next(iter(model.spaces.items()))
    features = space.features.copy()
    features[len(features) // 2 :, turn] += 2 * np.pi
    assert 2 * np.pi * space.rate > FULL_CIRCLE
    jumped = replace(model, spaces={**model.spaces, label: replace(space, features=features)})
    before, after = Planner(model, performer.rate), Planner(jumped, performer.rate)
    assert after.jolt <= 1.5 * before.jolt  # the frame that jumps counts as one at rest, which is a change by itself
    assert np.isclose(after.speed, before.speed, rtol=0.05)


def test_each_feature_has_a_jolt_of_its_own_and_none_is_nothing(performer: Performer) -> None:
    jolts, jolt = performer.planner.jolts, performer.planner.jolt
    assert jolts.shape == (len(performer.model.encoder),)
    assert jolts.min() >= ALONE * jolts.max() * (1 - 1e-9) > 0
    assert jolts.max() <= jolt * (1 + 1e-9)
