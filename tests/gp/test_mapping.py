from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.gp.poses import clips, slope_along
from tests.reference import gp as reference

from understudy.errors import InvalidInput
from understudy.gp.covariance import Kernel
from understudy.gp.mapping import LatentMapping

pytestmark = pytest.mark.usefixtures("single")

KERNEL = Kernel(variance=1.2, length=0.9, noise=0.01)


@pytest.fixture
def trained():
    poses, _, _ = clips()
    latents = 2 * poses[:, :3] / poses[:, 0].std()
    return LatentMapping.from_frames(latents, KERNEL, poses, 0.7), latents, poses


def test_it_is_the_gaussian_process_prediction(trained):
    mapping, latents, poses = trained
    x = np.random.default_rng(0).normal(size=(5, 3))
    k, inverse = KERNEL.cross_covariance(x, latents), np.linalg.inv(KERNEL.matrix(latents))
    assert np.allclose(mapping.mean(x), k @ inverse @ poses, atol=1e-10)
    assert np.allclose(mapping.variance(x), KERNEL.variance + KERNEL.noise - np.diag(k @ inverse @ k.T), atol=1e-10)


def test_the_jacobian(trained):
    mapping, rng = trained[0], np.random.default_rng(1)
    x, direction = rng.normal(size=(7, 3)), rng.normal(size=(7, 3))
    mean, jacobian = mapping.mean_and_jacobian(x)
    assert np.allclose(mean, mapping.mean(x), atol=1e-12)
    assert np.allclose(np.einsum("mdq,mq->md", jacobian, direction), slope_along(mapping.mean, x, direction), atol=1e-7)


def test_the_gradient_of_the_log_density(trained):
    mapping, rng = trained[0], np.random.default_rng(2)
    x, direction = rng.normal(size=(7, 3)), rng.normal(size=(7, 3))
    value, gradient = mapping.log_density_and_gradient(x)
    assert np.allclose(value, -0.5 * mapping.outputs * np.log(mapping.variance(x)), atol=1e-12)
    assert np.allclose((gradient * direction).sum(axis=1), slope_along(mapping.log_density, x, direction), rtol=1e-6)


def test_a_mean_does_not_depend_on_the_others(trained):
    mapping, x = trained[0], np.random.default_rng(5).normal(size=(9, 3))
    together = mapping.mean(x)
    assert all(np.array_equal(mapping.mean(x[m : m + 1])[0], together[m]) for m in range(len(x)))
    slow = reference.cross_covariance(mapping.kernel, x, mapping.points) @ mapping.weights
    assert np.allclose(slow, together, rtol=1e-12, atol=1e-12)


def test_far_from_all_data_the_prior_is_left(trained):
    mapping = trained[0]
    far = np.full((1, 3), 60.0)
    assert np.allclose(mapping.mean(far), 0.0, atol=1e-12)
    assert mapping.variance(far)[0] == pytest.approx(KERNEL.variance + KERNEL.noise)
    assert np.allclose(mapping.log_density_and_gradient(far)[1], 0.0, atol=1e-12)


def test_among_dense_data_the_noise_is_left():
    rng = np.random.default_rng(3)
    latents = rng.uniform(-0.3, 0.3, size=(400, 2))
    mapping = LatentMapping.from_frames(latents, KERNEL, np.sin(latents), 1.0)
    variance = mapping.variance(rng.uniform(-0.2, 0.2, size=(20, 2)))
    assert (variance >= KERNEL.noise).all() and (variance < 1.05 * KERNEL.noise).all()


def test_where_the_variance_is_clamped_it_has_no_slope(trained):
    mapping, latents, _ = trained
    clamped = LatentMapping(latents, KERNEL, mapping.weights, 10 * mapping.precision, 1.0)
    value, gradient = clamped.log_density_and_gradient(latents[:4])
    assert np.allclose(clamped.variance(latents[:4]), KERNEL.noise) and not gradient.any()
    assert np.allclose(value, -0.5 * clamped.outputs * np.log(KERNEL.noise))


def stored(mapping):
    """The arrays of a file of version 0.1, which holds every matrix."""
    kernel = np.array([mapping.kernel.variance, mapping.kernel.length, mapping.kernel.noise, mapping.scale])
    return {"points": mapping.points, "weights": mapping.weights, "precision": mapping.precision, "kernel": kernel}


@pytest.mark.parametrize("inducing", [None, np.arange(0, 40, 3)])
def test_arrays_and_back(trained, inducing):
    _, latents, poses = trained
    mapping = LatentMapping.from_frames(latents, KERNEL, poses, 0.7, inducing)
    again = LatentMapping.from_arrays(mapping.arrays(), latents, poses)
    old = LatentMapping.from_arrays(stored(mapping), latents, poses)
    x = np.random.default_rng(4).normal(size=(3, 3))
    for other in (again, old, LatentMapping.from_arrays(old.arrays(), latents, poses)):
        assert np.array_equal(other.mean(x), mapping.mean(x)) and np.array_equal(other.variance(x), mapping.variance(x))
        assert (other.kernel, other.scale) == (mapping.kernel, mapping.scale)
    assert sum(array.nbytes for array in mapping.arrays().values()) < 200  # nothing that follows from the frames


def test_matrices_are_computed_once_they_are_needed(trained):
    _, latents, poses = trained
    mapping = LatentMapping.from_frames(latents, KERNEL, poses, 0.7)
    assert "_matrices" not in vars(mapping)
    with ThreadPoolExecutor(8) as pool:
        every = list(pool.map(lambda _: (mapping.weights, mapping.precision), range(8)))
    for weights, precision in every:
        assert np.array_equal(weights, every[0][0]) and np.array_equal(precision, every[0][1])
    assert np.allclose(every[0][1] @ KERNEL.matrix(latents), np.eye(len(latents)), atol=1e-8)
    assert np.array_equal(pickle.loads(pickle.dumps(mapping)).weights, mapping.weights)  # noqa: S301


def test_arrays_that_make_no_mapping_are_refused(trained):
    mapping, latents, poses = trained
    arrays = stored(mapping)
    with pytest.raises(InvalidInput, match="a mapping should have 'kernel', but has nothing"):
        LatentMapping.from_arrays({}, latents, poses)
    with pytest.raises(InvalidInput, match="a mapping should have 'weights'"):
        LatentMapping.from_arrays({name: value for name, value in arrays.items() if name != "weights"}, latents, poses)
    with pytest.raises(InvalidInput, match="precision should have shape"):
        LatentMapping.from_arrays({**arrays, "precision": arrays["precision"][:-1]}, latents, poses)
    with pytest.raises(InvalidInput, match="points should be finite"):
        LatentMapping.from_arrays({**arrays, "points": arrays["points"] * np.nan}, latents, poses)
    with pytest.raises(InvalidInput, match="inducing"):
        LatentMapping.from_arrays({"kernel": arrays["kernel"], "inducing": np.array([0, 999])}, latents, poses)


def test_frames_of_no_difference_have_no_mapping():
    same = np.zeros((5, 2))
    with pytest.raises(InvalidInput, match="singular"):
        _ = LatentMapping.from_frames(same, Kernel(1.0, 1.0, 1e-30), same, 1.0).weights


def test_it_is_frozen(trained):
    with pytest.raises(ValueError, match="read-only"):
        trained[0].weights[0, 0] = 1.0
