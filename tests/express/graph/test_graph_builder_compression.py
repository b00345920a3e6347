from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import InvalidInput
from understudy.express.graph.graph_builder import (
    MAX_THRESHOLD_SPREADS,
    MAX_THRESHOLD_TRIES,
    THRESHOLD_STEP_SPREADS,
    CompressionTarget,
    search_threshold,
)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.02, 8.0), st.floats(1e-6, 1e6))
def test_a_monotone_compression_is_met_in_any_unit(wanted, scale, spread):
    calls = []

    def reached(threshold):
        calls.append(threshold)
        return threshold / (threshold + scale * spread)

    found = search_threshold(reached, CompressionTarget(wanted, 0.02), spread)
    if (
        scale * wanted / (1 - wanted) < MAX_THRESHOLD_SPREADS * 0.3
    ):  # far enough below the highest threshold that is tried
        assert abs(found / (found + scale * spread) - wanted) <= 0.02 + THRESHOLD_STEP_SPREADS / scale
    assert len(calls) <= MAX_THRESHOLD_TRIES
    assert min(calls) > 0


def test_a_jump_that_skips_the_wanted_ends_at_the_nearest():
    tried = []

    def reached(threshold):
        tried.append(threshold)
        return 0.9 if threshold > 0.7 else 0.2

    found = search_threshold(reached, CompressionTarget(0.5, 0.1), 1.0)
    assert found <= 0.7  # 0.3 away below, 0.4 above
    steps = [abs(b - a) for a, b in itertools.pairwise(tried)]
    turn = next(i for i, t in enumerate(tried) if t > 0.7)
    assert all(step == steps[0] for step in steps[:turn])
    assert all(b == a / 2 for a, b in zip(steps[turn - 1 :], steps[turn:]))  # halved once the direction had turned
    assert steps[-1] >= THRESHOLD_STEP_SPREADS


def test_the_first_threshold_will_do_where_anything_will():
    assert search_threshold(lambda threshold: 0.01, CompressionTarget(0.5, 0.5), 8.0) == 1.0


def test_what_cannot_be_reached_ends():
    assert search_threshold(lambda threshold: 0.0, CompressionTarget(0.9, 0.05), 1.0) > 0
    assert search_threshold(lambda threshold: 1.0, CompressionTarget(0.1, 0.05), 1.0) > 0


@pytest.mark.parametrize("goal", [(1.2, 0.1), (0.5, -0.1), (float("nan"), 0.1)])
def test_a_goal_is_a_share(goal):
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        CompressionTarget(*goal)
