"""What only scaled conjugate gradients promise; the laws that both optimisers keep are in test_lbfgs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from understudy.maths import scg


def test_a_quadratic_of_n_dimensions_takes_about_n_iterations():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 8))
    matrix = root @ root.T + np.eye(8)
    goal = rng.normal(size=8)
    state = scg.minimise(
        lambda x: (0.5 * float((x - goal) @ matrix @ (x - goal)), matrix @ (x - goal)), np.zeros(8), 60
    )
    assert np.allclose(state.x, goal, atol=1e-4)


def test_the_scale_rises_where_the_function_is_not_like_its_parabola():
    def steep(x):
        return float(np.cosh(8 * x[0])), np.array([8 * np.sinh(8 * x[0])])

    state = scg.start(steep, np.array([0.02]))
    states = [state := scg.step(steep, state) for _ in range(5)]
    assert all(after.value <= before.value for before, after in pairwise(states))


def test_an_iteration_that_fails_keeps_its_place_and_raises_the_scale():
    def cliff(x):
        return (float(x @ x), 2 * x) if x[0] > 0.9 else (np.inf, np.zeros_like(x))

    state = scg.step(cliff, scg.start(cliff, np.array([1.0, 0.0])))
    assert not state.moved and state.scale > 1.0 and np.array_equal(state.x, [1.0, 0.0])
