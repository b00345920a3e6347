"""Corrections in pose space: exact where they were sculpted, nothing where nothing is needed, local where promised."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.deform import tubes

from understudy.deform.fitting import corrections
from understudy.deform.fitting.pose_features import PoseFeatures, squared_distances
from understudy.deform.methods.eigenskin import EigenSkin
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.pose_space import PoseSpaceDeformation, WeightedPoseSpace


def rms(made, e):
    return np.sqrt(np.square(made.deform_reference(e.transforms) - e.vertices).sum(axis=-1).mean())


@pytest.mark.parametrize(
    ("kind", "exact"), [(PoseSpaceDeformation, 1e-3), (WeightedPoseSpace, 0.02), (EigenSkin, 0.05)]
)
def test_meets_the_examples(kind, exact):
    e = tubes.standard()
    assert rms(kind.fit(e, {"weights": "artist"}), e) < exact * LinearSkin.from_artist_weights(e).rms


@pytest.mark.parametrize("kind", [PoseSpaceDeformation, WeightedPoseSpace, EigenSkin])
def test_between_the_examples_it_is_far_better_than_the_blend_below(kind):
    e = tubes.standard()
    between = tubes.tube(np.radians([30, 50, 70, 90]), np.radians([0, 0, 0, 0]))
    assert rms(kind.fit(e), between) < 0.2 * rms(LinearSkin.fit(e), between)


def test_a_collapsed_blend_does_not_blow_corrections_up():
    """At a twist of 180 degrees the linear blend cannot be undone; corrections stay as large as what they correct."""
    e = tubes.tube(np.zeros(5), np.radians([45, 90, 135, 170, 180]))
    skin = LinearSkin.from_artist_weights(e)
    d = corrections.home_corrections(skin, e)
    left = np.linalg.norm(e.vertices - skin.deform_reference(e.transforms), axis=-1)
    assert np.allclose(np.linalg.norm(d, axis=-1), left, atol=1e-5)


def test_a_joint_scaled_to_nothing_is_finite():
    e = tubes.standard()
    t = e.transforms.copy()
    t[3, 2, :3, :3] = 0
    flat = type(e)(e.rest, e.triangles, e.inverse_binds, t, e.vertices, e.parents, e.weights, e.joints)
    assert np.isfinite(corrections.home_corrections(LinearSkin.from_artist_weights(flat), flat)).all()


def test_distances_are_angles_and_know_no_signs():
    e = tubes.standard()
    features = PoseFeatures.from_examples(e)
    assert features.joints.tolist() == [2]
    for degrees in (1.0, 20.0, 179.0):
        a, b = features(tubes.pose(0, 0)[None]), features(tubes.pose(np.radians(degrees), 0)[None])
        assert np.sqrt(squared_distances(a, b)[0, 0, 0]) == pytest.approx(2 * np.sin(np.radians(degrees) / 2))
    root = np.eye(4)
    root[:3, :3] = Rotation.random(random_state=1).as_matrix()
    assert np.allclose(features(e.transforms), features(root @ e.transforms))
    assert np.allclose(features(tubes.pose(0, np.pi)[None]), features(tubes.pose(0, -np.pi)[None]))


def test_left_out_is_what_a_refit_says():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(7, 7))
    k, d = x @ x.T, rng.normal(size=(7, 3))
    total = 0.0
    for out in range(7):
        kept = np.arange(7) != out
        a = corrections.solve(k[np.ix_(kept, kept)], d[kept], 0.1)
        total += np.square(k[out, kept] @ a - d[out]).sum()
    assert corrections.leave_one_out_error(k, d, 0.1) == pytest.approx(total)


def test_far_joints_are_not_heard():
    """The first elbow's corrections do not change when the second bends: the weighted form only."""
    rng = np.random.default_rng(1)
    e = tubes.two_elbows(rng.uniform(0, 2, (14, 2)))
    made = WeightedPoseSpace.fit(e, {"weights": "artist"})
    poses = tubes.two_elbows([[1.0, 0.0], [1.0, 1.8]])
    out = made.deform_reference(poses.transforms)
    near = e.rest[:, 0] < tubes.LENGTH / 3 - tubes.SOFT  # on the first bone alone
    assert np.abs(out[0, near] - out[1, near]).max() < 1e-9
    assert np.abs(out[0, ~near] - out[1, ~near]).max() > 0.1
    whole = PoseSpaceDeformation.fit(e, {"weights": "artist"}).deform_reference(poses.transforms)
    assert np.abs(whole[0, near] - whole[1, near]).max() > 1e-9


def test_eigenskin_shares_corrections_among_joints_and_combines_them_anew():
    """Fitted to one elbow bent at a time, it knows both bent together; pose space deformation does not."""
    bends = np.linspace(0.25, 2, 8)
    alone = np.concatenate((np.stack((bends, 0 * bends), axis=1), np.stack((0 * bends, bends), axis=1)))
    e, both = tubes.two_elbows(alone), tubes.two_elbows([[1.0, 1.0], [2.0, 1.5], [0.6, 1.7]])
    settings = {"weights": "artist"}
    eigen, whole, below = (kind.fit(e, settings) for kind in (EigenSkin, PoseSpaceDeformation, LinearSkin))
    assert rms(eigen, both) < 0.1 * rms(below, both)
    assert rms(eigen, both) < 0.5 * rms(whole, both)


def test_eigenskin_is_smaller_than_pose_space():
    e = tubes.standard()
    eigen, whole = EigenSkin.fit(e), PoseSpaceDeformation.fit(e)
    assert eigen.stored < 0.5 * len(whole.shapes) * len(e.rest)
    assert eigen.bytes_a_vertex < whole.bytes_a_vertex
    full, few = EigenSkin.fit(e, {"energy": 1.0}), EigenSkin.fit(e, {"components": 1})
    assert few.stored < eigen.stored <= full.stored
    assert rms(full, e) <= rms(eigen, e) < rms(few, e)
