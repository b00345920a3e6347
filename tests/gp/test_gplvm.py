from __future__ import annotations

import numpy as np
import pytest
from tests.gp.poses import clips

from understudy.errors import InvalidInput, NotFitted
from understudy.gp.gplvm import GPLVM, NOISE_FLOOR, STAGE_ITERATION_SHARES, initial_latents, make_stages
from understudy.gp.priors import ConnectivityPrior, DynamicsPrior

SHORT = {"iterations": 40}


@pytest.fixture(scope="module")
def data():
    return clips()


@pytest.fixture(scope="module")
def model(data):
    return GPLVM(**SHORT).fit(*data)


def test_it_reproduces_its_poses(model, data):
    poses = data[0]
    left = np.sqrt(np.mean((model.mapping_.mean(model.latents_) - poses) ** 2)) / model.mapping_.scale
    linear = np.linalg.svd(poses, compute_uv=False)
    assert left < 0.2 * np.sqrt((linear[3:] ** 2).sum() / (linear**2).sum())  # what three components leave
    assert model.latents_.shape == (50, 3) and model.kernel_.noise >= NOISE_FLOOR


def test_training_lowers_the_objective(data):
    values = [GPLVM(iterations=count, connectivity=None).fit(*data).objective_ for count in (1, 10, 60)]
    assert values[0] > values[1] > values[2]


def test_it_is_deterministic(model, data):
    again = GPLVM(**SHORT).fit(*data)
    assert np.array_equal(again.latents_, model.latents_)
    assert (again.kernel_, again.objective_) == (model.kernel_, model.objective_)


def test_the_size_of_the_data_makes_no_difference_to_the_latents(model, data):
    poses, segments, times = data
    larger = GPLVM(**SHORT).fit(64.0 * poses, segments, times)  # a power of two: the same digits
    assert np.array_equal(larger.latents_, model.latents_)
    assert np.array_equal(larger.mapping_.mean(model.latents_), 64.0 * model.mapping_.mean(model.latents_))


def test_order_of_frames_makes_no_difference_but_rounding(data):
    poses, segments, times = data
    order = np.random.default_rng(0).permutation(len(poses))
    short = GPLVM(iterations=5, connectivity=None)
    straight = short.fit(poses, segments, times).latents_
    assert np.allclose(short.fit(poses[order], segments[order], times[order]).latents_, straight[order], atol=1e-6)


def test_lbfgs_ends_lower_than_as_many_scaled_conjugate_gradients(data):
    fast, slow = (GPLVM(method=method, connectivity=None, **SHORT).fit(*data) for method in ("lbfgs", "scg"))
    assert fast.objective_ < slow.objective_
    assert np.isfinite(slow.latents_).all()


def test_connectivity_brings_segments_together(data):
    _, segments, _ = data

    def gap(model):
        x = model.latents_ / model.latents_.std()
        distance = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=-1))
        return np.where(segments[:, None] != segments, distance, np.inf).min(axis=1).mean()

    apart = GPLVM(connectivity=None, **SHORT).fit(*data)
    together = GPLVM(connectivity=ConnectivityPrior(weight=0.05), **SHORT).fit(*data)
    assert gap(together) < gap(apart)


def test_longer_dynamics_make_smoother_paths(data):
    def roughness(length):
        x = GPLVM(dynamics=DynamicsPrior(length=length), connectivity=None, **SHORT).fit(*data).latents_
        return np.abs(np.diff(x[:14], n=3, axis=0)).mean() / x.std()

    assert roughness(0.5) < roughness(0.03)


def test_progress_is_told_to_its_end(data):
    told = []
    GPLVM(iterations=10).fit(*data, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (10, 10) and [done for done, _ in told] == sorted(done for done, _ in told)


def test_fewer_columns_than_latent_dimensions(data):
    poses, segments, times = data
    model = GPLVM(dimensions=3, **SHORT).fit(poses[:, :1], segments, times)
    assert model.latents_.shape == (50, 3) and np.isfinite(model.latents_).all()


def test_the_first_latents_are_principal_components_whatever_the_axes(data):
    poses, _, times = data
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    straight, turned = initial_latents(poses, times, 3), initial_latents(poses @ turn, times, 3)
    assert straight[:, 0].std() == pytest.approx(1.0)
    assert np.allclose(np.abs(straight), np.abs(turned), atol=1e-9)  # the signs are told by the axes


def test_held_poses_are_learned_like_others():
    poses, segments, times = clips((12, 12))
    poses[3:9] = poses[3]
    model = GPLVM(**SHORT).fit(poses - poses.mean(axis=0), segments, times)
    assert np.isfinite(model.objective_) and np.isfinite(model.mapping_.weights).all()


def test_three_frames_are_enough():
    assert GPLVM(iterations=5).fit(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])).latents_.shape == (3, 3)


@pytest.mark.parametrize("count", [1, 7, 150])
def test_stages_share_all_iterations(count):
    for number in STAGE_ITERATION_SHARES:
        assert sum(stage.iterations for stage in make_stages([None] * number, count)) == count


@pytest.mark.parametrize(
    ("poses", "sentence"),
    [
        (np.zeros((2, 4)), "a latent space needs at least 3 frames, but Y has 2"),
        (np.zeros((9, 0)), "Y should have at least one column, but has none"),
        (np.ones((9, 4)), "the frames of Y are all the same"),
        (np.full((9, 4), np.nan), r"Y should be finite, but Y\[0, 0\] is nan"),
        (np.zeros(9), r"Y should have shape \(N, D\), but has shape \(9,\)"),
    ],
)
def test_poses_that_teach_nothing_are_refused_with_a_reason(poses, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        GPLVM().fit(poses)


def test_other_bad_input(data):
    poses, segments, times = data
    with pytest.raises(InvalidInput, match=r"segments should have shape \(50\), but has shape \(49,\)"):
        GPLVM().fit(poses, segments[1:], times)
    with pytest.raises(InvalidInput, match="times should be finite"):
        GPLVM().fit(poses, segments, np.full(50, np.inf))
    with pytest.raises(InvalidInput, match="there is no method 'adam'; available: 'lbfgs', 'scg'"):
        GPLVM(method="adam")
    with pytest.raises(InvalidInput, match="dimensions should be at least 1, but is 0"):
        GPLVM(dimensions=0)
    with pytest.raises(InvalidInput, match="iterations should be at least 1, but is -3"):
        GPLVM(iterations=-3)
    with pytest.raises(NotFitted, match="GPLVM has no 'latents_' yet: call fit first"):
        _ = GPLVM().latents_
