from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput, NotFitted
from understudy.gp.shared_gplvm import (
    PoseView,
    SharedGPLVM,
    SharedObjective,
    Standardiser,
    descend,
    kernel_cca,
    roughness,
    value_and_gradient,
)


def motion(frames: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """A path through two pose spaces that hang together: (F, 24) and (F, 15)."""
    rng = np.random.default_rng(0)
    t = np.linspace(0, 6, frames)
    hidden = np.column_stack([np.sin(1.3 * t), np.cos(0.7 * t + 1), np.sin(2.1 * t + 2)])
    bent = np.tanh(hidden @ rng.normal(size=(3, 20)))
    return bent @ rng.normal(size=(20, 24)), np.sin(bent @ rng.normal(size=(20, 15)) * 0.5)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return motion()


@pytest.fixture(scope="module")
def model(data: tuple[np.ndarray, np.ndarray]) -> SharedGPLVM:
    Y, Z = data
    return SharedGPLVM(dimension=8).fit(Y[::8], Z[::8])


def test_the_slope_of_the_joint_objective_is_that_of_its_value(data: tuple[np.ndarray, np.ndarray]) -> None:
    Y, Z = (Standardiser.from_data(space[::10]).data for space in data)
    objective = SharedObjective([PoseView(Y), PoseView(Z)], (20, 5), 1e-3)
    vector = objective.pack(kernel_cca(Y, Z, 5)[0] + 0.1)
    rng = np.random.default_rng(1)
    for _ in range(3):
        way, step = rng.normal(size=vector.size), 1e-6
        slope = (objective(vector + step * way)[0] - objective(vector - step * way)[0]) / (2 * step)
        assert objective(vector)[1] @ way == pytest.approx(slope, rel=1e-5)


def test_learning_raises_the_likelihood_and_keeps_the_pairs(
    model: SharedGPLVM, data: tuple[np.ndarray, np.ndarray]
) -> None:
    Y, Z = data
    unlearned = SharedGPLVM(dimension=8, iterations=1).fit(Y[::8], Z[::8])
    assert model.objective_ < unlearned.objective_ - 100
    mean, variance = model.predict(model.map(Y[::8]))
    assert np.sqrt(((mean - Z[::8]) ** 2).mean()) < 0.05 * Z.std()
    assert (variance > 0).all()


def test_frames_between_the_pairs_are_foretold(model: SharedGPLVM, data: tuple[np.ndarray, np.ndarray]) -> None:
    Y, Z = data
    mean, variance = model.predict(model.map(Y))
    missed = np.sqrt(((mean - Z) ** 2).mean(axis=1))
    assert missed.mean() < 0.1 * Z.std()
    far, _ = model.predict(model.map(Y + 3 * Y.std()))
    assert np.isfinite(far).all()
    assert model.predict(model.map(Y + 3 * Y.std()))[1].mean() > 3 * variance.mean()


def test_the_slope_of_the_search_is_that_of_its_value(model: SharedGPLVM, data: tuple[np.ndarray, np.ndarray]) -> None:
    rng = np.random.default_rng(2)
    observed = model._observed
    y = ((data[0][3:9] - model.spaces_[0].mean) / model.spaces_[0].scale) @ model._basis
    rest, x, way = rng.uniform(0, 1, 6), 0.5 * rng.normal(size=(6, 8)), rng.normal(size=(6, 8))
    centres = rng.normal(size=(6, 8))
    _, slope = value_and_gradient(observed, y, rest, x, 0.7, centres)
    two = [value_and_gradient(observed, y, rest, x + step * way, 0.7, centres)[0] for step in (1e-5, -1e-5)]
    np.testing.assert_allclose((slope * way).sum(axis=1), (two[0] - two[1]) / 2e-5, rtol=1e-3, atol=0.1)


def test_the_search_ends_where_scipy_ends(model: SharedGPLVM, data: tuple[np.ndarray, np.ndarray]) -> None:
    from scipy.optimize import minimize

    observed = model._observed
    y = (data[0][:20:5] - model.spaces_[0].mean) / model.spaces_[0].scale
    inside, rest = y @ model._basis, np.zeros(len(y))
    starts = np.array(model.latents_[[0, 0, 1, 2]])
    found, values = descend(observed, inside, rest, starts)
    np.testing.assert_allclose(values, value_and_gradient(observed, inside, rest, found)[0], rtol=1e-9)
    for f in range(len(y)):

        def one(x: np.ndarray, f: int = f) -> tuple[float, np.ndarray]:
            value, slope = value_and_gradient(observed, inside[f : f + 1], rest[f : f + 1], x[None])
            return float(value[0]), slope[0]

        oracle = minimize(one, starts[f], jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-14})
        assert values[f] == pytest.approx(oracle.fun, abs=0.01)
        np.testing.assert_allclose(found[f], oracle.x, atol=0.02)


def test_a_frame_does_not_depend_on_the_others(model: SharedGPLVM, data: tuple[np.ndarray, np.ndarray]) -> None:
    whole = model.map(data[0])
    np.testing.assert_allclose(model.map(data[0][50:60]), whole[50:60], atol=1e-6)


def test_continuity_makes_steps_smaller(model: SharedGPLVM, data: tuple[np.ndarray, np.ndarray]) -> None:
    noisy = data[0] + 0.3 * data[0].std() * np.random.default_rng(3).normal(size=data[0].shape)
    free, tied = model.map(noisy), model.map(noisy, continuity=30.0)
    assert (np.diff(tied, axis=0) ** 2).sum() < 0.7 * (np.diff(free, axis=0) ** 2).sum()
    assert roughness(tied) < roughness(free)


def test_a_motion_that_arrives_bit_by_bit(model: SharedGPLVM, data: tuple[np.ndarray, np.ndarray]) -> None:
    first = model.map(data[0][:1])
    near = model.map(data[0][5:6], continuity=1e6, before=first[0])
    far = model.map(data[0][5:6])
    assert np.linalg.norm(near - first) < 0.1 * np.linalg.norm(far - first)
    np.testing.assert_allclose(model.map(data[0][5:6], start=far), far, atol=1e-2)


def test_units_and_places_of_the_data_do_not_matter(data: tuple[np.ndarray, np.ndarray]) -> None:
    Y, Z = data[0][::12], data[1][::12]
    one = SharedGPLVM(dimension=4, iterations=20).fit(Y, Z)
    other = SharedGPLVM(dimension=4, iterations=20).fit(100 * Y + 7, 0.01 * Z - 3)
    np.testing.assert_allclose(one.latents_, other.latents_, atol=1e-4)
    mean, variance = one.predict(one.map(data[0][:9]))
    scaled_mean, scaled_variance = other.predict(other.map(100 * data[0][:9] + 7))
    np.testing.assert_allclose(scaled_mean, 0.01 * mean - 3, atol=1e-3)
    np.testing.assert_allclose(scaled_variance, 1e-4 * variance, rtol=0.05)


def test_learning_twice_gives_the_same(data: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = (SharedGPLVM(dimension=3, iterations=15).fit(data[0][::20], data[1][::20]) for _ in range(2))
    np.testing.assert_array_equal(a.latents_, b.latents_)


def test_two_pairs_are_enough() -> None:
    Y, Z = np.array([[0.0, 1, 2], [1, 1, 0]]), np.array([[0.0, 5], [1, 6]])
    model = SharedGPLVM().fit(Y, Z)
    np.testing.assert_allclose(model.predict(model.map(Y))[0], Z, atol=0.1)


def test_wrong_input_is_refused(model: SharedGPLVM) -> None:
    with pytest.raises(InvalidInput, match="at least two pairs, but there are 1"):
        SharedGPLVM().fit(np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="Z should have shape"):
        SharedGPLVM().fit(np.zeros((4, 3)), np.zeros((3, 3)))
    with pytest.raises(InvalidInput, match="dimension should be 1 or more"):
        SharedGPLVM(dimension=0)
    with pytest.raises(InvalidInput, match="'most'"):
        SharedGPLVM(dimension="most")
    with pytest.raises(InvalidInput, match="Y should have shape"):
        model.map(np.zeros((3, 5)))
    with pytest.raises(NotFitted):
        SharedGPLVM().map(np.zeros((3, 5)))
