"""What stands on no legs sways: the base is held, the head goes on, within the limits of the arm."""

from __future__ import annotations

import numpy as np
import pytest
from tests.transfer.test_standing_glide import slug

from understudy import cast
from understudy.character.body.joint_limits import limit_boxes
from understudy.character.body.limbs import limbs_of
from understudy.character.body.mass import body_of
from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion
from understudy.transfer.standing_base import hop_with_joint, lean_over_base, length_of, top_of


def test_the_head_is_the_top_of_the_lamp() -> None:
    lamp = cast.load("lamp").character()
    body, limbs = body_of(lamp), limbs_of(lamp.skeleton)
    base = body.contacts[0].joint
    assert lamp.skeleton.names[top_of(body, limbs, base)] == "Head"
    assert 0.7 < length_of(body, limbs, base) < 1.0
    head = lamp.skeleton.index("Head")
    assert top_of(body, limbs, lamp.skeleton.index("Bulb")) == lamp.skeleton.index("Bulb")  # nothing is below it
    assert head != base


def test_the_base_stays_and_the_head_goes_on() -> None:
    lamp, limits = cast.load("lamp").character(), cast.limits("lamp")
    body, limbs = body_of(lamp), limbs_of(lamp.skeleton)
    base, head = body.contacts[0].joint, lamp.skeleton.index("Head")
    poses = PoseSequence.rest(lamp.skeleton, 20)
    ahead = np.tile(np.eye(4), (20, 1, 1))
    ahead[:, 2, 3] = np.linspace(0.0, 0.15, 20)
    ahead[:, 1, 3] = -np.linspace(0.0, 0.1, 20)
    wanted = poses.apply_transform(ahead)
    found = lean_over_base(poses, wanted, body, limbs, base, limits)
    np.testing.assert_allclose(found.world[:, base], poses.world[:, base], atol=1e-12)
    missed = np.linalg.norm(found.world[:, head, :3, 3] - wanted.world[:, head, :3, 3], axis=1)
    assert missed[0] < 1e-6 and missed[-1] < 0.5 * np.hypot(0.15, 0.1)
    low, high, limited = limit_boxes(lamp.skeleton, limits)
    turned = quaternion.to_rotation_vector(
        quaternion.multiply(quaternion.conjugate(lamp.skeleton.rotations), found.rotations)
    )
    assert np.all(turned[:, limited] >= low[limited] - 1e-6) and np.all(turned[:, limited] <= high[limited] + 1e-6)


def test_the_lamp_hops_by_its_lift_and_its_cord_stays_on_the_floor() -> None:
    asset = cast.load("lamp")
    skeleton = asset.character().skeleton
    limbs, base, cord = limbs_of(skeleton), skeleton.index("Base"), skeleton.index("Cord")
    poses = PoseSequence.rest(skeleton, 20)
    up = np.tile(np.eye(4), (20, 1, 1))
    up[:, 1, 3], up[:, 0, 3] = np.linspace(0.0, 0.5, 20), 0.2
    still = hop_with_joint(poses.apply_transform(up), limbs, base)
    np.testing.assert_array_equal(
        still.translations, poses.apply_transform(up).translations
    )  # a lift that never moved is none
    translations = np.array(poses.translations)
    translations[:, skeleton.index("Lift"), 1] += np.linspace(0.0, 0.1, 20)
    lifted = PoseSequence(skeleton, translations, poses.rotations, 30.0).apply_transform(up)
    found = hop_with_joint(lifted, limbs, base)
    np.testing.assert_allclose(found.world[:, base], lifted.world[:, base], atol=1e-9)
    np.testing.assert_allclose(found.world[:, cord, 1, 3], limbs.world[cord, 1, 3], atol=1e-9)
    np.testing.assert_allclose(found.world[:, cord, 0, 3], limbs.world[cord, 0, 3] + 0.2, atol=1e-9)


def test_what_hangs_beside_the_base_leans_over_it() -> None:
    skeleton, body = slug()
    limbs, base = limbs_of(skeleton), 1
    assert length_of(body, limbs, base) == pytest.approx(0.4)
    poses = PoseSequence.rest(skeleton, 40, 60.0)
    frames = np.tile(np.eye(4), (40, 1, 1))
    frames[:, 0, 3] = 0.01
    found = lean_over_base(poses, poses.apply_transform(frames), body, limbs, base, None)
    np.testing.assert_allclose(found.world[:, [1, 2]], poses.world[:, [1, 2]], atol=1e-12)
    np.testing.assert_allclose(found.world[:, 3, :3, 3], [[0.01, 0.5, 0.0]] * 40, atol=5e-4)
    frames[:, 0, 3] = 1.0
    far = lean_over_base(poses, poses.apply_transform(frames), body, limbs, base, None)
    assert 0.01 < far.world[20, 3, 0, 3] < 0.2 * 0.5
