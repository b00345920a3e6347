"""The fit of one column: values against the plain Bezier, derivatives against differences, known chains found again."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.checks import Array
from understudy.edit.reduce import fit_kernels
from understudy.maths import bezier

KEYS = np.array([0, 20, 54, 80])
UNCUT = np.zeros(81, bool)


def chain(seed: int = 0) -> Array:
    """(4, 5) states of smooth keys, handles within their bounds."""
    rng = np.random.default_rng(seed)
    state = np.zeros((4, 5))
    state[:, 0] = rng.normal(size=4)
    state[:, 1] = state[:, 3] = rng.normal(0, 0.05, 4)
    spans = np.diff(KEYS)
    state[1:, 2], state[:-1, 4] = rng.uniform(0.2, 0.6, 3) * spans, rng.uniform(0.2, 0.6, 3) * spans
    fit_kernels.bound_lengths(KEYS, state, np.zeros(4, bool), 0, 3, UNCUT)
    return state


def sampled(state: Array) -> Array:
    values = np.empty(KEYS[-1] + 1)
    fit_kernels.sample_chain(KEYS, state, 0, 3, values)
    return values


def test_values_are_those_of_the_bezier() -> None:
    state = chain()
    values = sampled(state)
    for k in range(3):
        t = np.arange(KEYS[k], KEYS[k + 1] + 1)
        left, right = state[k], state[k + 1]
        x, y = bezier.control_points(
            [KEYS[k], left[0]], [KEYS[k + 1], right[0]], [left[4], left[3] * left[4]], [right[2], right[1] * right[2]]
        )
        np.testing.assert_allclose(values[t], bezier.evaluate(x, y, t), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_known_chain_is_found_again(seed: int) -> None:
    truth = chain(seed)
    target = sampled(truth)
    state = truth.copy()
    rng = np.random.default_rng(seed + 10)
    state[:, 0] += rng.normal(0, 0.1, 4)
    state[:, 1] += rng.normal(0, 0.01, 4)
    state[:, 3] = state[:, 1]
    free = np.ones((4, 5), bool)
    weight = np.full(len(target), 100.0)
    cost = fit_kernels.fit_chain(KEYS, state, np.zeros(4, bool), 0, 3, target, weight, UNCUT, free, 100, np.inf)
    assert np.abs(sampled(state) - target).max() < 2e-3
    assert cost < 0.05
    np.testing.assert_array_equal(state[:, 1], state[:, 3])


def test_a_step_of_the_fit_is_that_of_differences() -> None:
    """At the least squares of a fit the gradient by differences vanishes along every free number."""
    target = sampled(chain(3)) + 0.02 * np.sin(np.arange(81))
    state, broken, weight = chain(3), np.array([False, False, True, False]), np.full(81, 10.0)
    free = np.ones((4, 5), bool)
    free[0, 0] = False
    fixed = state[0, 0]
    fit_kernels.fit_chain(KEYS, state, broken, 0, 3, target, weight, UNCUT, free, 300, np.inf)
    assert state[0, 0] == fixed
    base = fit_kernels.chain_cost(KEYS, state, 0, 3, target, weight, UNCUT)
    for k, slots in [(1, (0,)), (1, (1, 3)), (2, (1,)), (2, (3,)), (3, (0,))]:
        for sign in (1e-4, -1e-4):
            moved = state.copy()
            moved[k, list(slots)] += sign
            assert fit_kernels.chain_cost(KEYS, moved, 0, 3, target, weight, UNCUT) > base - 1e-3 * base


def test_lengths_stay_within_bounds() -> None:
    state, target = chain(1), np.where(np.arange(81) < 40, 0.0, 1.0)
    broken, weight, free = np.zeros(4, bool), np.full(81, 100.0), np.ones((4, 5), bool)
    fit_kernels.fit_chain(KEYS, state, broken, 0, 3, target, weight, UNCUT, free, 50, np.inf)
    for k, span in enumerate(np.diff(KEYS)):
        for length in (state[k, 4], state[k + 1, 2]):
            assert 0 < length <= fit_kernels.length_bounds(float(span))[1] + 1e-12
    ratios = state[1:3, 2] / state[1:3, 4]
    most = fit_kernels.MAX_HANDLE_RATIO + 1e-9
    assert np.all((ratios <= most) & (ratios >= 1 / most))


def test_short_segments_have_no_odd_mode() -> None:
    """Samples at frames and midway fit l (1 - l) (1 - 2 l) of any size; straight segments and thirds leave none."""
    rng = np.random.default_rng(0)
    keys = np.array([0, 2, 6, 10, 24])
    target = rng.normal(size=25)
    state = np.zeros((5, 5))
    state[:, 0] = target[keys]
    state[1:, 2] = state[:-1, 4] = np.diff(keys) / 3
    broken, uncut = np.zeros(5, bool), np.zeros(25, bool)
    fit_kernels.fit_chain(
        keys, state, broken, 0, 4, target, np.full(25, 100.0), uncut, np.ones((5, 5), bool), 100, np.inf
    )
    assert state[0, 3] == state[1, 1] == (state[1, 0] - state[0, 0]) / 2  # two samples: straight
    np.testing.assert_allclose(state[[1, 2], 4], np.diff(keys)[1:3] / 3)  # four samples: thirds
    np.testing.assert_allclose(state[[2, 3], 2], np.diff(keys)[1:3] / 3)


def test_a_cut_is_straight() -> None:
    target = np.where(np.arange(81) < 21, 0.0, 1.0)
    keys, state, broken = np.array([0, 20, 21, 80]), np.zeros((4, 5)), np.array([False, True, True, False])
    state[1:, 2] = state[:-1, 4] = np.diff(keys) / 3
    cut = np.arange(81) == 20
    fit_kernels.fit_chain(keys, state, broken, 0, 3, target, np.ones(81), cut, np.ones((4, 5), bool), 50, np.inf)
    np.testing.assert_allclose(state[:, 0], [0, 0, 1, 1], atol=1e-6)
    np.testing.assert_allclose(state[[0, 2], 3], 0, atol=1e-6)
    assert state[1, 3] == state[2, 1] == pytest.approx(1)
