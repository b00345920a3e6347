from __future__ import annotations

import numpy as np
import pytest

from understudy.maths import lbfgs, scg

OPTIMISERS = [lbfgs, scg]


def rosenbrock(x):
    a, b = x[:-1], x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[:-1] = -2 * (1 - a) - 400 * b * a
    gradient[1:] += 200 * b
    return float(((1 - a) ** 2 + 100 * b**2).sum()), gradient


def bowl(seed: int, size: int = 30):
    """A quadratic whose axes differ by 1e4 in steepness, and where its least is."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix, goal = turn * np.geomspace(1e-2, 1e2, size) @ turn.T, rng.normal(size=size)
    return lambda x: (0.5 * float((x - goal) @ matrix @ (x - goal)), matrix @ (x - goal)), goal


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["lbfgs", "scg"])
def test_the_valley_is_followed_to_its_end(optimiser):
    state = optimiser.minimise(rosenbrock, np.array([-1.2, 1.0, -1.2, 1.0]), 2000, 1e-15)
    assert np.allclose(state.x, 1.0, atol=1e-3) and state.value < 1e-6


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["lbfgs", "scg"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_long_bowl(optimiser, seed):
    function, goal = bowl(seed)
    assert np.allclose(optimiser.minimise(function, np.zeros(goal.size), 3000, 1e-16).x, goal, atol=1e-3)


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["lbfgs", "scg"])
def test_the_value_never_rises(optimiser):
    state = optimiser.start(rosenbrock, np.array([-1.2, 1.0, 0.3]))
    for _ in range(60):
        after = optimiser.step(rosenbrock, state)
        assert after.value <= state.value
        state = after


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["lbfgs", "scg"])
def test_going_on_from_a_state_is_the_same_as_never_stopping(optimiser):
    first = np.array([-1.2, 1.0, -1.2, 1.0])
    whole = optimiser.start(rosenbrock, first)
    for _ in range(25):
        whole = optimiser.step(rosenbrock, whole)
    part = optimiser.start(rosenbrock, first)
    for _ in range(11):
        part = optimiser.step(rosenbrock, part)
    again = type(part)(**{name: getattr(part, name) for name in part.__dataclass_fields__})
    for _ in range(14):
        again = optimiser.step(rosenbrock, again)
    assert np.array_equal(again.x, whole.x) and again.iteration == whole.iteration == 25


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["lbfgs", "scg"])
def test_at_the_least_it_stops(optimiser):
    state = optimiser.minimise(lambda x: (float(x @ x), 2 * x), np.zeros(3), 100)
    assert state.stalled and state.iteration <= 2 and not state.x.any()


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["lbfgs", "scg"])
def test_where_the_function_is_infinite_shorter_steps_are_taken(optimiser):
    def walled(x):
        if x[0] <= 0:
            return np.inf, np.zeros_like(x)
        return float(x[0] - np.log(x[0]) + x[1] ** 2), np.array([1 - 1 / x[0], 2 * x[1]])

    state = optimiser.minimise(walled, np.array([1e-3, 5.0]), 500, 1e-14)
    assert np.allclose(state.x, [1.0, 0.0], atol=1e-3)


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["lbfgs", "scg"])
def test_a_slope_that_is_no_descent_ends_the_run(optimiser):
    """A gradient of the wrong sign: nothing helps, and it must end."""
    state = optimiser.minimise(lambda x: (float(x @ x), -2 * x), np.ones(2), 1000)
    assert state.value <= 2.0
