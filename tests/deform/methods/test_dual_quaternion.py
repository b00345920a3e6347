"""Dual quaternion skinning fitted from examples: its derivative, its weights, and no candy wrapper."""

from __future__ import annotations

import numpy as np
from tests.deform import cases, tubes
from tests.deform.fitting.test_simplex import skinned

from understudy.character.skinning.dual_quaternion import rigid_and_scale
from understudy.deform.examples import Examples
from understudy.deform.methods import dual_quaternion
from understudy.deform.methods.dual_quaternion import DualSkin
from understudy.deform.methods.linear import LinearSkin


def test_derivative_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    m = cases.rigid_matrices(rng, 5, 4)
    m[..., :3, :3] *= 1 + 0.2 * rng.random((5, 4, 1, 3))  # scaled joints as well
    motions, scale, _ = rigid_and_scale(m)
    j, rest, w = rng.integers(0, 4, (7, 3)), rng.normal(size=(7, 3)), rng.random((7, 3)) + 0.1
    w /= w.sum(axis=1, keepdims=True)
    given = (motions[:, j], scale[:, j], rest)
    jacobian = dual_quaternion._jacobian(*dual_quaternion._blend(*given, w), w)
    step = rng.normal(size=w.shape)
    step -= step.mean(axis=1, keepdims=True)
    h = 1e-6
    change = (dual_quaternion._blend(*given, w + h * step)[0] - dual_quaternion._blend(*given, w - h * step)[0]) / (
        2 * h
    )
    assert np.allclose(np.einsum("evka,vk->eva", jacobian, step), change, atol=1e-7)
    assert np.abs(np.einsum("evka,vk->eva", jacobian, w)).max() < 1e-12


def test_finds_the_weights_that_made_the_examples():
    e, full = skinned(11, bones=4, influences=3, poses=10)
    j = np.tile(np.arange(4), (len(full), 1)).astype(np.int32)
    first = DualSkin(e.rest.astype(np.float32), e.inverse_binds, j, full.astype(np.float32), None)
    meshes = first.deform_reference(e.transforms)
    made = Examples(e.rest, e.triangles, e.inverse_binds, e.transforms, meshes, e.parents)
    again = DualSkin.fit(made, {"ridge": 1e-10})
    found = np.sqrt(np.square(again.deform_reference(e.transforms) - meshes).sum(axis=-1).mean(axis=0))
    # a sum of motions far apart has more than one valley: nearly all vertices find the right one
    assert np.mean(found < 1e-3 * e.size) > 0.9


def test_a_twist_does_not_collapse():
    """At 180 degrees the middle of a linear blend has no thickness left; that of the dual quaternions has all of it."""
    e = tubes.tube(np.radians([0, 0, 0, 0]), np.radians([45, 90, 135, 170]))
    pose, middle = tubes.pose(0, np.radians(179.9)), np.abs(e.rest[:, 0] - tubes.LENGTH / 2) < 0.01
    radius = {}
    for kind in (LinearSkin, DualSkin):
        out = kind.fit(e, {"weights": "artist"}).deform(pose)[middle]
        radius[kind] = np.linalg.norm(out[:, 1:], axis=1)
    assert radius[LinearSkin].max() < 0.01 * tubes.RADIUS
    assert np.allclose(radius[DualSkin], tubes.RADIUS, rtol=1e-3)


def test_fitting_helps():
    e = tubes.standard()
    error = [
        np.square(DualSkin.fit(e, {"weights": w}).deform(e.transforms) - e.vertices).mean() for w in ("artist", "fit")
    ]
    assert error[1] < error[0]
