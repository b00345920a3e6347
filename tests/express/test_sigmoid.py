"""Sigmoid fits: exact curves come back, no other optimiser does better, and the slow oracle agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares
from tests.reference import express as reference

from understudy.errors import InvalidInput
from understudy.express import preprocessing as sigmoid


def some(count: int, frames: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(M, 3) parameters of sigmoids whose middle is seen, and (M, F) noisy curves of them."""
    rng = np.random.default_rng(seed)
    steep = np.exp(rng.uniform(np.log(8 / frames), np.log(2.0), count)) * rng.choice([-1, 1], count)
    b = np.stack([rng.normal(size=count) * 5, steep, rng.uniform(0.3, 0.7, count) * frames], axis=1)
    return b, sigmoid.sigmoids(b, frames) + noise * rng.normal(size=(count, frames))


def cost(curves: np.ndarray, values: np.ndarray) -> np.ndarray:
    return ((curves - values) ** 2).sum(axis=1)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.1, 50), st.sampled_from([-1, 1]), st.floats(0.5, 2), st.floats(0.25, 0.75), st.integers(16, 60))
def test_a_sigmoid_comes_back(b_1: float, sign: int, b_2: float, middle: float, frames: int) -> None:
    b = np.array([[sign * b_1, b_2, middle * frames]])
    parameters, values = sigmoid.fit_sigmoids(sigmoid.sigmoids(b, frames))
    np.testing.assert_allclose(parameters, b, rtol=1e-4)
    np.testing.assert_allclose(values, sigmoid.sigmoids(b, frames), atol=1e-5 * b_1)


@pytest.mark.parametrize("noise", [0.0, 0.2, 2.0])
def test_the_kernel_agrees_with_its_oracle(noise: float) -> None:
    _, curves = some(300, 24, noise)
    parameters, values = sigmoid.fit_sigmoids(curves)
    slow_parameters, slow_values = reference.fit_sigmoids(curves)
    np.testing.assert_allclose(values, slow_values, atol=1e-6)
    np.testing.assert_allclose(parameters, slow_parameters, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values, sigmoid.sigmoids(parameters, 24), atol=1e-12)


def test_no_other_optimiser_does_better() -> None:
    truth, curves = some(60, 30, 0.3)
    seen = np.abs(truth[:, 0]) > 1  # those lost in the noise have several minima, and none means anything
    truth, curves = truth[seen], curves[seen]
    _, values = sigmoid.fit_sigmoids(curves)
    flattest, steepest, first, last = sigmoid.parameter_limits(30)
    for curve, b, ours in zip(curves, truth, cost(curves, values)):
        steepness = (flattest, steepest) if b[1] > 0 else (-steepest, -flattest)
        bounds = ([-np.inf, steepness[0], first], [np.inf, steepness[1], last])
        other = least_squares(lambda x, y=curve: sigmoid.sigmoids(x[None], 30)[0] - y, b, bounds=bounds)
        assert ours <= 2 * other.cost * 1.001


def test_the_minimum_is_flat() -> None:
    """Moving any parameter a little either way never lowers the cost by more than the fit says that it may."""
    _, curves = some(50, 40, 0.3)
    parameters, values = sigmoid.fit_sigmoids(curves)
    least = cost(curves, values)
    for i in range(3):
        for side in (-1, 1):
            moved = parameters.copy()
            moved[:, i] += side * 1e-3 * np.abs(moved[:, i])
            assert np.all(cost(curves, sigmoid.sigmoids(moved, 40)) > least * (1 - 1e-3))


def test_scale_and_time_carry_over() -> None:
    """A curve twice as high has twice the b_1; played backwards it has -b_2 and a mirrored middle."""
    b, curves = some(60, 32, 0.0)
    twice, _ = sigmoid.fit_sigmoids(2 * curves)
    back, _ = sigmoid.fit_sigmoids(curves[:, ::-1])
    np.testing.assert_allclose(twice, b * [2, 1, 1], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(back, np.stack([b[:, 0], -b[:, 1], 31 - b[:, 2]], axis=1), rtol=1e-3, atol=1e-3)


def test_curves_that_are_no_sigmoids_stay_within_bounds() -> None:
    rng = np.random.default_rng(1)
    lines = np.linspace(0, 1, 500)
    curves = np.stack([np.zeros(500), np.ones(500), lines, lines**8, rng.normal(size=500), 1e-9 * lines, 1e9 * lines])
    parameters, values = sigmoid.fit_sigmoids(curves)
    assert np.isfinite(parameters).all() and np.isfinite(values).all()
    assert np.all(values[0] == 0) and parameters[0, 0] == 0
    assert np.all(cost(curves, values) <= cost(curves, 0 * values))
    np.testing.assert_allclose(values[1], 1, atol=0.01)
    np.testing.assert_allclose(values[5] * 1e18, values[6], rtol=1e-6)
    flattest, steepest, first, last = sigmoid.parameter_limits(500)
    assert np.all((np.abs(parameters[:, 1]) >= flattest) & (np.abs(parameters[:, 1]) <= steepest))
    assert np.all((parameters[:, 2] >= first) & (parameters[:, 2] <= last))


@pytest.mark.parametrize("frames", [2, 3, 4])
def test_short_curves(frames: int) -> None:
    _, values = sigmoid.fit_sigmoids(np.eye(frames)[-1:])
    assert np.isfinite(values).all() and abs(values[0, -1] - 1) < 0.1


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _, curves = some(50, 12, 0.2)
    whole = sigmoid.fit_sigmoids(curves)
    monkeypatch.setattr(sigmoid, "CURVES_PER_BLOCK", 7)
    np.testing.assert_allclose(sigmoid.fit_sigmoids(curves)[1], whole[1], atol=1e-9)
    assert sigmoid.fit_sigmoids(np.zeros((0, 9)))[1].shape == (0, 9)


@pytest.mark.parametrize(
    ("curves", "sentence"),
    [
        (np.zeros((3, 1)), "a curve should have at least two frames, but has 1"),
        (np.full((2, 4), np.nan), r"curves should be finite, but curves\[0, 0\] is nan"),
        (np.zeros(4), r"curves should have shape \(M, F\)"),
    ],
)
def test_what_is_refused(curves: np.ndarray, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        sigmoid.fit_sigmoids(curves)
