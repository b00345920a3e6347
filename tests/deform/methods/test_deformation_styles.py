"""Deformation styles: curves that pass where they should, textures that swell only what lies under them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.deform import tubes

from understudy.deform.methods import deformation_styles as module
from understudy.deform.methods.deformation_styles import DeformationStyles


@pytest.fixture(scope="module")
def fitted():
    return DeformationStyles.fit(tubes.standard())


def test_curve_is_met_as_far_along_as_the_vertex(fitted):
    axis = module.vector.normalise(fitted.corners[:, 2] - fitted.corners[:, 0], (1.0, 0.0, 0.0))
    still = np.broadcast_to(module.quaternion.identity(), (len(fitted.joint), 2, 4))
    c, F = fitted.curve_frames(fitted.corners, still)
    inside = (fitted.share > 0) & (fitted.share < 1)
    assert inside.any()
    along = np.sum((fitted.rest - c) * axis[fitted.curve], axis=1)
    assert np.abs(along[inside]).max() < 1e-5
    np.testing.assert_allclose(F, np.broadcast_to(np.eye(3), F.shape), atol=1e-12)


def test_half_a_twist_in_the_middle_of_the_curve(fitted):
    """A twist is spread evenly: a vertex a part h of the way along is turned by h of it, and keeps its radius."""
    plain = dataclasses.replace(fitted, texture=np.zeros_like(fitted.texture))
    twist = 2.0
    posed = plain.deform_reference(tubes.pose(0.0, twist))
    lower = fitted.curve == list(fitted.joint).index(2)
    turned = np.arctan2(posed[:, 2], posed[:, 1]) - np.arctan2(plain.rest[:, 2], plain.rest[:, 1])
    off = np.angle(np.exp(1j * (turned - twist * plain.share)))[lower]
    assert np.abs(off).max() < 1e-5
    np.testing.assert_allclose(np.hypot(posed[:, 1], posed[:, 2]), tubes.RADIUS, rtol=1e-5)


def test_a_painted_style_swells_the_skin_by_what_it_says(fitted):
    texture = np.zeros_like(fitted.texture)
    texture[:, 0] = 0.1  # a tenth a radian of bend, everywhere
    plain, swollen = (dataclasses.replace(fitted, texture=t) for t in (np.zeros_like(texture), texture))
    pose = tubes.pose(1.0, 0.0)
    corners, turns, _ = fitted.frames(pose[None])
    c, F = fitted.curve_frames(corners[0], turns[0])
    along, across = fitted.split()
    bent = fitted.curve == list(fitted.joint).index(2)
    expected = c + np.einsum("vab,vb->va", F, along + np.where(bent, 1.1, 1.0)[:, None] * across)
    np.testing.assert_allclose(swollen.deform_reference(pose), expected, atol=1e-6)
    assert np.abs(swollen.deform(pose) - plain.deform(pose))[~bent].max() < 1e-6


def test_styles_learn_the_bulge(fitted):
    e = tubes.standard()
    plain = dataclasses.replace(fitted, texture=np.zeros_like(fitted.texture))

    def error(skin):
        return np.square(skin.deform_reference(e.transforms) - e.vertices).sum()

    assert error(fitted) < 0.9 * error(plain)
