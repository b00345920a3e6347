"""Blends of changes: features that would be thrown take longer by themselves."""

from __future__ import annotations

import numpy as np

from understudy.maths import springs
from understudy.perform.runtime.changes import DURATIONS_SECONDS, least_feature_seconds


def test_no_feature_accelerates_more_than_it_may() -> None:
    random = np.random.default_rng(5)
    offset, rate = 0.05 * random.normal(size=200), random.normal(size=200)
    allowed = random.uniform(20.0, 60.0, size=200)
    seconds = least_feature_seconds(offset, rate, allowed)
    decay = springs.init_linear_decay(offset, rate, np.maximum(seconds, 0.02))
    times = np.linspace(0.0, float(seconds.max()), 4001)
    step = times[1]
    values = np.array([springs.evaluate(decay, t) for t in times])
    accelerations = np.abs(np.diff(values, 2, axis=0)).max(axis=0) / step**2
    long_enough = seconds < DURATIONS_SECONDS[-1]
    assert long_enough.any() and (accelerations[long_enough] <= 1.01 * allowed[long_enough]).all()


def test_what_hardly_differs_needs_hardly_any_time() -> None:
    nothing = np.zeros(3)
    assert (least_feature_seconds(nothing, nothing, np.ones(3)) == 0).all()
    assert (least_feature_seconds(1e6 + nothing, nothing, np.ones(3)) == DURATIONS_SECONDS[-1]).all()
