"""Animation space: linear blending is a case of it, and what it adds helps on poses that it has not seen."""

from __future__ import annotations

import numpy as np
from tests.deform import tubes
from tests.deform.fitting.test_simplex import skinned

from understudy.deform.methods.animation_space import AnimationSpace
from understudy.deform.methods.linear import LinearSkin


def test_a_strong_ridge_leaves_the_linear_blend():
    e = tubes.standard()
    stiff, plain = AnimationSpace.fit(e, {"ridge": 1e9}), LinearSkin.fit(e)
    assert np.abs(stiff.deform_reference(e.transforms) - plain.deform_reference(e.transforms)).max() < 1e-5


def test_last_components_sum_to_one():
    made = AnimationSpace.fit(tubes.standard())
    assert np.allclose(made.points[..., 3].sum(axis=1), 1, atol=1e-5)


def test_linear_examples_need_no_more_than_linear():
    e, _ = skinned(5, bones=4, poses=20)
    fit, held = e.split(np.arange(0, 20, 2))
    made = AnimationSpace.fit(fit)
    assert np.abs(made.deform_reference(held.transforms) - held.vertices).max() < 1e-3 * e.size


def test_beats_linear_blending_on_poses_held_out():
    rng = np.random.default_rng(0)
    e = tubes.standard()
    held = tubes.tube(np.radians(rng.uniform(0, 120, 15)), np.radians(rng.uniform(-60, 60, 15)))
    error = [
        np.square(kind.fit(e).deform(held.transforms) - held.vertices).mean() for kind in (AnimationSpace, LinearSkin)
    ]
    assert error[0] < 0.25 * error[1]
