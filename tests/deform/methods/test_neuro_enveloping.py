"""Neuro-enveloping: the network's gradient, its directions, and that it learns a curve."""

from __future__ import annotations

import numpy as np
from scipy.optimize import check_grad
from tests.deform import tubes

from understudy.deform.methods import neuro_enveloping as module
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.neuro_enveloping import NeuroEnveloping


def test_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    f, o = rng.normal(size=(7, 4)), rng.normal(size=(7, 3))
    x = rng.normal(size=5 * 4 + 5 + 3 * 5)
    error = check_grad(
        lambda x: module.network_loss(x, f, o, 5, 0.01)[0], lambda x: module.network_loss(x, f, o, 5, 0.01)[1], x
    )
    assert error < 1e-5


def test_network_learns_and_is_zero_at_rest():
    x = np.linspace(-1.0, 1.0, 30)[:, None]
    y = np.concatenate([np.sin(2.5 * x), x**2], axis=1)
    A, a, B = module.train(x, y, 8, 1e-6, 200, seed=0)
    made = (np.tanh(x @ A.T + a) - np.tanh(a)) @ B.T
    assert np.abs(made - y).max() < 0.1
    again = module.train(x, y, 8, 1e-6, 200, seed=0)
    np.testing.assert_array_equal(A, again[0])


def test_principal_directions_rebuild_the_rows():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, 3)) @ rng.normal(size=(3, 50))
    U, o = module.principal_directions(rows, 10)
    assert len(U) == 3
    np.testing.assert_allclose(o @ U, rows, atol=1e-10)
    np.testing.assert_allclose(U @ U.T, np.eye(3), atol=1e-10)
    nothing = module.principal_directions(np.zeros((4, 9)), 5)
    assert nothing[0].shape == (0, 9)


def test_learns_what_a_linear_blend_cannot():
    bends = np.radians(np.arange(0.0, 121.0, 15.0))
    train, test = tubes.tube(bends, 0 * bends), tubes.tube(bends[:-1] + 0.13, 0 * bends[:-1])

    def rms(kind):
        made = kind.fit(train).deform_reference(test.transforms)
        return np.sqrt(np.mean(np.sum((made - test.vertices) ** 2, axis=-1)))

    assert rms(NeuroEnveloping) < 0.4 * rms(LinearSkin)
