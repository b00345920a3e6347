"""Joints that are added: they follow as they should, and they help."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.deform import tubes

from understudy.deform.methods.added_joints import (
    HALF_TURN_KIND,
    SWELL_AFTER_KIND,
    SWELL_BEFORE_KIND,
    AddedJointRule,
    AddedJoints,
)
from understudy.deform.methods.linear import LinearSkin
from understudy.maths import transform


@pytest.fixture(scope="module")
def added():
    return AddedJointRule.from_examples(tubes.standard())


def test_only_joints_that_turn_are_followed(added):
    assert set(added.joint.tolist()) == {2}  # the upper bone keeps still
    assert sorted(added.kind.tolist()) == [
        HALF_TURN_KIND,
        SWELL_BEFORE_KIND,
        SWELL_BEFORE_KIND,
        SWELL_AFTER_KIND,
        SWELL_AFTER_KIND,
    ]


@pytest.mark.parametrize("degrees", [0, 30, 120, 179])
def test_the_half_joint_turns_half_way(added, degrees):
    half = added.subset(added.kind == HALF_TURN_KIND).transforms(tubes.pose(np.radians(degrees), 0)[None])[0, 0]
    turn = Rotation.from_matrix(half[:3, :3]).as_rotvec()
    assert np.allclose(turn, (0, 0, np.radians(degrees / 2)), atol=1e-9)
    assert np.allclose(half[:3, 3], (tubes.LENGTH / 2, 0, 0))


def test_swelling_grows_with_the_bend_and_leaves_the_bone_its_length(added):
    swell = added.subset((added.kind == SWELL_BEFORE_KIND) & (added.gain == 1))
    rest = transform.invert(swell.transforms(tubes.pose(0, 0)[None]))[0, 0]
    for degrees, scale in ((0, 1.0), (90, 1.5), (180, 2.0)):
        m = swell.transforms(tubes.pose(np.radians(degrees), 0)[None])[0, 0] @ rest
        assert np.allclose(np.linalg.svd(m[:3, :3])[1], (scale, scale, 1), atol=1e-9)
        assert np.allclose(m[:3, 0], (1, 0, 0), atol=1e-9)
    thin = added.subset((added.kind == SWELL_AFTER_KIND) & (added.gain < 0)).transforms(tubes.pose(np.pi, 0)[None])[
        0, 0
    ]
    assert np.allclose(np.linalg.svd(thin[:3, :3])[1], (1, 0.5, 0.5), atol=1e-9)


def test_is_a_linear_blend_of_the_longer_skeleton():
    made = AddedJoints.fit(tubes.standard())
    t = np.stack([tubes.pose(1.0, 0.3), tubes.pose(2.0, -0.5)])
    binds = np.concatenate((made.inverse_binds, made.added_binds))
    plain = LinearSkin(made.rest, binds, made.joints, made.weights)
    assert np.allclose(plain.deform_reference(made.extend_transforms(t)), made.deform_reference(t))
    assert made.extend_transforms(t[0]).shape == (len(binds), 4, 4)


def test_all_added_joints_are_used_and_they_help():
    e = tubes.standard()
    made = AddedJoints.fit(e)
    used = np.unique(made.joints[made.weights > 0])
    assert set(range(3, 3 + len(made.added_binds))) <= set(used.tolist())
    assert made.rms < 0.9 * LinearSkin.fit(e).rms
