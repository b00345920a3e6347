"""Centres of rotation: the kernels' sums, what they keep in a twist, and centres fitted to examples."""

from __future__ import annotations

import numpy as np
from tests.deform import tubes
from tests.reference import deform as reference

from understudy.deform.methods import centres_of_rotation as module
from understudy.deform.methods import method_kernels
from understudy.deform.methods.centres_of_rotation import CentresOfRotation


def test_the_kernel_agrees_with_its_oracle(monkeypatch):
    e = tubes.standard()
    fast = module.centres_of(e.rest, e.triangles, e.joints, e.weights)
    monkeypatch.setattr(method_kernels, "find_centres", reference.find_centres)
    np.testing.assert_allclose(fast, module.centres_of(e.rest, e.triangles, e.joints, e.weights), atol=1e-12)


def test_centres_of_a_tube_lie_on_its_axis():
    e = tubes.standard()
    c = module.centres_of(e.rest, e.triangles, e.joints, e.weights)
    both = (e.weights > 0.05).all(axis=1)
    assert both.any()
    assert np.abs(c[both, 1:]).max() < 0.02 * tubes.RADIUS
    np.testing.assert_array_equal(c[~(e.weights > 0).all(axis=1)], e.rest[~(e.weights > 0).all(axis=1)])


def test_a_twist_of_half_a_turn_keeps_the_radius():
    e = tubes.standard()
    skin = CentresOfRotation.fit(e, {"weights": "artist", "centres": "paper"})
    posed = skin.deform(tubes.pose(0.0, np.pi * 0.999))
    radius = np.hypot(posed[:, 1], posed[:, 2])
    np.testing.assert_allclose(radius, tubes.RADIUS, rtol=1e-3)


def test_fitted_centres_come_closer_than_the_papers():
    e = tubes.standard()

    def error(centres):
        made = CentresOfRotation.fit(e, {"weights": "artist", "centres": centres})
        return np.square(made.deform_reference(e.transforms) - e.vertices).sum()

    assert error("fit") < error("paper")
