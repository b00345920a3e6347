"""The pace of ways, where clips hold what is no motion."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.perform.runtime.latent_path import MAX_FEATURE_RAD_PER_S, MIN_FEATURE_CHANGE_RATIO
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.planner import Planner
from understudy.perform.runtime.state import FollowPath


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(lamp_model(), lamp_rig(), 24.0, seed=3, layers=False)


def test_a_logarithm_that_has_come_full_circle_is_no_jolt(performer: Performer) -> None:
    model = performer.model
    turn = len(model.encoder.plain)
    label, space = next(iter(model.spaces.items()))
    features = space.features.copy()
    features[len(features) // 2 :, turn] += 2 * np.pi
    assert 2 * np.pi * space.rate > MAX_FEATURE_RAD_PER_S
    jumped = replace(model, spaces={**model.spaces, label: replace(space, features=features)})
    before, after = Planner(model, performer.rate), Planner(jumped, performer.rate)
    assert (
        after.routes.max_velocity_change <= 1.5 * before.routes.max_velocity_change
    )  # the frame that jumps counts as one at rest, which is a change by itself
    assert np.isclose(after.routes.speed, before.routes.speed, rtol=0.05)


def test_each_feature_has_a_jolt_of_its_own_and_none_is_nothing(performer: Performer) -> None:
    jolts, jolt = performer.planner.routes.max_feature_velocity_changes, performer.planner.routes.max_velocity_change
    assert jolts.shape == (len(performer.model.encoder),)
    assert jolts.min() >= MIN_FEATURE_CHANGE_RATIO * jolts.max() * (1 - 1e-9) > 0
    assert jolts.max() <= jolt * (1 + 1e-9)


@pytest.mark.parametrize("rate", [60.0, 90.0])
def test_ways_take_as_long_at_a_higher_rate(rate: float) -> None:
    """More frames a second show the same motion more often; they do not make it slower.

    Where a way is harsh it takes longer in steps, so that one alone may differ by a third; all together do not.
    """
    model = lamp_model()
    usual, other = Planner(model, model.rate), Planner(model, rate)
    seconds = np.array(
        [
            [
                sum(len(leg.points) - 1 for leg in planner.routes.plan(a, x, b, y) if isinstance(leg, FollowPath))
                / planner.rate
                for planner in (usual, other)
            ]
            for (a, x), (b, y) in itertools.permutations([(s, usual.runtimes[s].home) for s in model.labels], 2)
        ]
    )
    assert seconds[:, 1].sum() == pytest.approx(seconds[:, 0].sum(), rel=0.06)
    assert np.abs(np.log(seconds[:, 1] / seconds[:, 0])).max() < np.log(1.4)
