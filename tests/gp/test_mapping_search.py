from __future__ import annotations

import numpy as np
import pytest
from tests.gp.poses import clips

from understudy.errors import InvalidInput
from understudy.gp.covariance import Kernel
from understudy.gp.mapping import MAX_STEP_LENGTHS, LatentMapping
from understudy.maths import scg

pytestmark = pytest.mark.usefixtures("single")


@pytest.fixture(scope="module")
def trained():
    poses, _, _ = clips()
    latents = 2 * poses[:, :3] / poses[:, 0].std()
    return LatentMapping.from_frames(latents, Kernel(1.0, 1.0, 1e-3), poses, 1.0), latents


def distance(mapping, y, x):
    return np.square(y - mapping.mean(x)).sum(axis=1)


def test_a_point_is_found_from_its_pose(trained):
    mapping, latents = trained
    rng = np.random.default_rng(0)
    hidden = latents[::3] + 0.05 * rng.normal(size=latents[::3].shape)
    found, error = mapping.find(mapping.mean(hidden), (hidden + 0.02 * rng.normal(size=hidden.shape))[:, None])
    assert error.max() < 1e-9
    assert np.abs(found - hidden).max() < 1e-2  # in the flattest valley; elsewhere a millionth of that


def test_it_ends_where_scaled_conjugate_gradients_ends(trained):
    mapping, latents = trained
    rng = np.random.default_rng(1)
    poses = mapping.mean(latents[::10]) + 0.05 * rng.normal(size=(5, mapping.outputs))
    starts = latents[::10] + 0.05
    found, error = mapping.find(poses, starts[:, None])

    for y, start, point, left in zip(poses, starts, found, error):

        def function(x, y=y):
            mean, jacobian = mapping.mean_and_jacobian(x[None])
            return float(np.square(y - mean).sum()), -2.0 * (y - mean[0]) @ jacobian[0]

        reference = scg.minimise(function, start, 500, 1e-14)
        assert left <= reference.value * (1 + 1e-6)
        assert np.abs(function(point)[1]).max() < 1e-4
        assert np.abs(point - reference.x).max() < 0.1  # which, where the valley is flat, has not quite arrived


def test_the_result_is_the_best_of_the_starts_and_never_worse_than_one(trained):
    mapping, latents = trained
    rng = np.random.default_rng(2)
    poses, starts = rng.normal(0, 0.5, size=(12, mapping.outputs)), latents[rng.integers(0, len(latents), (12, 5))]
    found, error = mapping.find(poses, starts)
    assert np.allclose(error, distance(mapping, poses, found), rtol=1e-9)
    for s in range(5):
        assert (error <= distance(mapping, poses, starts[:, s]) + 1e-12).all()


def test_poses_do_not_depend_on_their_neighbours_in_the_batch(trained):
    mapping, latents = trained
    poses, starts = mapping.mean(latents + 0.05), np.stack([latents, np.roll(latents, 5, axis=0)], axis=1)
    together, alone = mapping.find(poses, starts)[0], mapping.find(poses[7:8], starts[7:8])[0]
    assert np.allclose(together[7], alone[0], atol=1e-8)


def test_a_start_in_the_empty_stays_near_rather_than_flying_off(trained):
    mapping, latents = trained
    start = latents[:1] + 8.0
    found, _ = mapping.find(mapping.mean(latents[:1]), start[:, None])
    assert np.linalg.norm(found - start) <= 60 * MAX_STEP_LENGTHS * mapping.kernel.length


def test_no_poses_are_no_points(trained):
    found, error = trained[0].find(np.zeros((0, 6)), np.zeros((0, 3, 3)))
    assert found.shape == (0, 3) and error.shape == (0,)


def test_poses_of_another_model_are_refused(trained):
    with pytest.raises(InvalidInput, match="poses should have shape"):
        trained[0].find(np.zeros((2, 9)), np.zeros((2, 1, 3)))
