from __future__ import annotations

import numpy as np
import pytest
from tests.gp.poses import clips

from understudy.errors import InvalidInput
from understudy.gp.gplvm import GPLVM, SparseGPLVM

pytestmark = pytest.mark.usefixtures("single")


@pytest.fixture(
    scope="module", params=[GPLVM(iterations=40), SparseGPLVM(inducing=40, iterations=40)], ids=["exact", "sparse"]
)
def model(request):
    return request.param.fit(*clips((30, 30)))


def test_a_training_pose_is_found_where_it_was_put(model):
    known = model.mapping_.mean(model.latents_)
    latents, deviation = model.transform(known)
    assert latents.shape == deviation.shape == (60, 3)
    assert np.abs(model.mapping_.mean(latents) - known).max() < 1e-6 * model.mapping_.scale
    assert np.median(np.abs(latents - model.latents_)) < 1e-4


def test_a_pose_between_two_frames_is_found_between_them(model):
    x = model.latents_
    middle = 0.5 * (x[10] + x[11])
    found, _ = model.transform(model.mapping_.mean(middle[None]))
    assert np.linalg.norm(found[0] - middle) < np.linalg.norm(x[11] - x[10])


def test_the_deviation_covers_what_noise_does(model):
    """Poses shaken by as much as the model's own noise come back within a few deviations."""
    mapping, rng = model.mapping_, np.random.default_rng(0)
    shaken = mapping.mean(model.latents_) + mapping.scale * np.sqrt(model.kernel_.noise) * rng.normal(size=(60, 6))
    found, deviation = model.transform(shaken)
    off = np.abs(found - model.latents_) / deviation
    assert np.median(off) < 1.5 and np.percentile(off, 90) < 5


def test_a_pose_unlike_any_is_not_trusted(model):
    known = model.mapping_.mean(model.latents_[5:6])
    _, sure = model.transform(known)
    _, unsure = model.transform(known + 3 * model.mapping_.scale)
    assert (unsure.max() > 3 * sure.max()) and unsure.max() <= np.sqrt(np.mean(model.latents_**2)) * (1 + 1e-9)


def test_no_poses_and_poses_of_another_width(model):
    assert model.transform(np.zeros((0, 6)))[0].shape == (0, 3)
    with pytest.raises(InvalidInput, match=r"Y should have shape \(M, 6\), but has shape \(2, 5\)"):
        model.transform(np.zeros((2, 5)))
