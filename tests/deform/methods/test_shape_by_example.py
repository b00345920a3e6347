"""Shape by example: axes are found and named, weights are cardinal, tags are dials, planes extrapolate."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform import tubes

from understudy.deform.examples import Examples
from understudy.deform.fitting.pose_features import Axis, PoseAxes
from understudy.deform.methods.shape_by_example import AxisValue, ShapeByExample, ShapeByExampleSettings
from understudy.errors import InvalidInput


def test_axes_are_found_and_named():
    axes = PoseAxes.from_examples(tubes.standard())
    assert axes.names == ("lower twist", "lower bend")
    poses = np.stack([tubes.pose(*np.radians(p)) for p in ((50, 0), (0, 40), (70, -30))])
    assert np.degrees(np.abs(axes(poses))) == pytest.approx(np.array([[0, 50], [40, 0], [30, 70]]), abs=1e-6)


def test_a_twist_to_180_degrees_is_not_one_to_minus_180():
    e = tubes.tube(np.zeros(4), np.radians([60, 120, 180, -90]))
    axes = PoseAxes.from_examples(e)
    turns = np.stack([tubes.pose(0, np.radians(a)) for a in (0, 179, 180, 181, -90)])
    assert np.degrees(axes(turns)[:, 0]) == pytest.approx((0, 179, 180, 181, -90), abs=1e-4)


def test_axes_by_hand():
    e = tubes.standard()
    axis = Axis("elbow", "lower", (0, 0, 1))
    made = ShapeByExample.fit(e, ShapeByExampleSettings(axes=(axis, Axis("roll", "lower", (1, 0, 0)))))
    assert made.axis_names == ("elbow", "roll")
    assert np.abs(made.deform(e.transforms) - e.vertices).max() < 1e-4
    with pytest.raises(InvalidInput, match="joint 'hand'; joints that move: 'lower'"):
        ShapeByExample.fit(e, ShapeByExampleSettings(axes=(Axis("x", "hand", (1, 0, 0)),)))


def test_weights_are_cardinal():
    e = tubes.standard()
    made = ShapeByExample.fit(e)
    w = made.shape_weights(e.transforms)
    assert w.shape == (12, 11)  # the first example is the rest, which needs no shape
    assert np.abs(w[0]).max() < 1e-7
    assert np.allclose(w[1:], np.eye(11), atol=1e-6)


def tagged():
    """A tube that is thicker the older it is, and bent as it likes; straight and young at rest."""
    e = tubes.tube(np.radians([0, 0, 60, 60, 0]), np.zeros(5))
    age = np.array([0.0, 1.0, 0.0, 1.0, 0.5])
    thick = e.rest * (0, 1, 1)
    home = np.argmax(e.weights, axis=1) + 1
    grown = np.einsum("evab,vb->eva", e.matrices[:, home, :3, :3], thick) * 0.5 * age[:, None, None]
    return Examples(
        e.rest, e.triangles, e.inverse_binds, e.transforms, e.vertices + grown, e.parents, e.weights, e.joints
    ), age


def test_tags_are_dials():
    e, age = tagged()
    made = ShapeByExample.fit(e, ShapeByExampleSettings(tags=(AxisValue("age", tuple(age)),)))
    assert made.axis_names[-1] == "age"
    assert np.abs(made.deform(e.transforms, {"age": age}) - e.vertices).max() < 1e-4
    rest = e.rest_transforms[None]
    assert np.abs(made.deform(rest)[0] - e.rest).max() < 1e-5
    older = made.deform_reference(rest, {"age": 2.0})[0]
    wider = np.linalg.norm(older[:, 1:], axis=1) / tubes.RADIUS
    assert wider.mean() > 1.6  # beyond the examples the plane goes on
    with pytest.raises(InvalidInput, match="no tag 'height'; available: 'age'"):
        made.deform(rest, {"height": 1})
    with pytest.raises(InvalidInput, match="each of 5 examples, but has 2"):
        ShapeByExample.fit(e, ShapeByExampleSettings(tags=(AxisValue("age", (0.0, 1.0)),)))
