from __future__ import annotations

import numpy as np
import pytest
from tests.gp.poses import clips

from understudy.errors import InvalidInput
from understudy.gp.gplvm import GPLVM, SparseGPLVM, inducing_frames


@pytest.fixture(scope="module")
def data():
    return clips((40, 50, 30))


def left_over(model, poses):
    return np.sqrt(np.mean((model.mapping_.mean(model.latents_) - poses) ** 2)) / model.mapping_.scale


def test_a_quarter_of_the_frames_carries_the_map(data):
    poses = data[0]
    model = SparseGPLVM(inducing=30, iterations=60).fit(*data)
    linear = np.linalg.svd(poses, compute_uv=False)
    assert left_over(model, poses) < 0.5 * np.sqrt((linear[3:] ** 2).sum() / (linear**2).sum())
    assert model.mapping_.points.shape == (30, 3) and model.latents_.shape == (120, 3)
    assert np.array_equal(model.mapping_.points, model.latents_[model.inducing_])


def test_with_all_frames_it_trains_as_the_exact_model_does(data):
    settings = {"iterations": 12, "connectivity": None}
    exact, sparse = GPLVM(**settings).fit(*data), SparseGPLVM(inducing=500, **settings).fit(*data)
    assert sparse.objective_ == pytest.approx(exact.objective_, rel=1e-2)
    assert left_over(sparse, data[0]) == pytest.approx(left_over(exact, data[0]), rel=0.1)


def test_it_is_deterministic(data):
    models = [SparseGPLVM(inducing=20, iterations=10).fit(*data) for _ in range(2)]
    assert np.array_equal(models[0].latents_, models[1].latents_)


def test_every_segment_has_its_share_of_inducing_frames():
    order = np.random.default_rng(0).permutation(90)
    chosen = inducing_frames(order, 9)
    place = np.empty(90, int)
    place[order] = np.arange(90)
    assert np.bincount(place[chosen] // 30).tolist() == [3, 3, 3]
    assert np.array_equal(inducing_frames(order, 90), np.arange(90))


def test_bad_input(data):
    with pytest.raises(InvalidInput, match="a sparse model needs at least one inducing point, but was given 0"):
        SparseGPLVM(inducing=0).fit(*data)
    with pytest.raises(InvalidInput, match="a latent space needs at least 3 frames"):
        SparseGPLVM().fit(np.zeros((1, 3)))
