"""Regression of few examples: its parameters minimise the error of examples that are left out."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.checks import Array
from understudy.gp.regression import GaussianProcess


def examples(count: int, seed: int = 0) -> tuple[Array, Array]:
    """A smooth relation from 12 to 20 numbers, with a little noise."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(count, 2)) @ np.random.default_rng(1).normal(size=(2, 12))
    weights = np.random.default_rng(2).normal(size=(12, 20))
    return y, np.tanh(0.3 * y) @ weights + 0.02 * rng.normal(size=(count, 20))


def test_gradient_of_the_objective() -> None:
    model = GaussianProcess()
    model._prepare(*examples(9))
    gram, at = model._z @ model._z.T, np.log([3.0, 2.0, 0.5, 0.7])
    slope = model._objective(at, gram)[1]
    for i, step in enumerate(1e-6 * np.eye(4)):
        difference = model._objective(at + step, gram)[0] - model._objective(at - step, gram)[0]
        assert difference / 2e-6 == pytest.approx(slope[i], rel=1e-4, abs=1e-6)


def test_left_out_predictions_are_those_of_a_model_without_the_example() -> None:
    Y, Z = examples(12)
    model = GaussianProcess(centred=False, unit=4.0).fit(Y, Z)
    for i in (0, 5, 11):
        kept = np.arange(12) != i
        other = GaussianProcess(centred=False, unit=4.0)
        other._prepare(Y[kept], Z[kept])
        # the same kernel: places, width and parameters are those of the whole
        other.width_, other._y = model.width_, (Y[kept] - model.mean_source_) / 4.0
        other.mean_source_, other._products = model.mean_source_, other._y @ other._y.T
        other._finish(model.parameters_)
        np.testing.assert_allclose(other.predict(Y[[i]])[0][0], model.predictions_[i], atol=1e-8)


def test_examples_come_back_and_far_ones_are_uncertain() -> None:
    Y, Z = examples(20)
    model = GaussianProcess().fit(Y, Z)
    mean, variance = model.predict(Y)
    assert np.abs(mean - Z).max() < 0.1 * Z.std()
    assert model.predict(Y + 50.0)[1].min() > 5 * variance.max()


def test_it_predicts_better_than_the_nearest_example() -> None:
    Y, Z = examples(40)
    new, truth = examples(30, seed=7)
    nearest = Z[((new[:, None] - Y) ** 2).sum(-1).argmin(axis=1)]
    error = np.abs(GaussianProcess().fit(Y, Z).predict(new)[0] - truth).mean()
    assert error < 0.5 * np.abs(nearest - truth).mean()


def test_one_correction_holds_near_its_example_and_fades() -> None:
    Y, Z = examples(1)
    model = GaussianProcess(centred=False, unit=4.0).fit(Y, Z)
    assert np.abs(model.predict(Y)[0] - Z).max() < 0.1 * np.abs(Z).max()
    assert np.abs(model.predict(Y + 20.0)[0]).max() < 0.7 * np.abs(Z).max()


def test_the_mean_of_all_examples_does_not_tell_the_left_out_one() -> None:
    """In few examples of many numbers, the left-out one is minus the sum of the others if the mean is known."""
    rng = np.random.default_rng(0)
    Y, Z = rng.normal(size=(8, 300)), rng.normal(size=(8, 200))  # unrelated
    assert GaussianProcess().fit(Y, Z).left_out_.mean() > 0.9
