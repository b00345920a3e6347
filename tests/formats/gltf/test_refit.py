"""Re-fitting: any curve as one Hermite spline, within its tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import Channel, Curve
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.formats.gltf.refit import TOLERANCE, refit
from understudy.maths import quaternion


def mixed(kind: str, seed: int) -> Curve:
    """A curve with all kinds of segments and free handles."""
    rng = np.random.default_rng(seed)
    channel = Channel("hip", kind)
    keys = 7
    times = np.cumsum(rng.uniform(0.2, 1, keys))
    values = rng.normal(size=(keys, len(channel)))
    if kind == "rotation":
        values = quaternion.normalise(values)
    spans = np.diff(times)
    handle = rng.uniform(0.1, 0.8, (2, keys - 1, len(channel))) * spans[:, None]
    before, after = np.zeros((2, keys, len(channel), 2))
    after[:-1, :, 0], before[1:, :, 0] = handle
    after[..., 1], before[..., 1] = rng.normal(size=(2, keys, len(channel))) * 0.2
    return Curve(channel, times, values, [STEP, LINEAR, BEZIER, BEZIER, LINEAR, STEP], before, after)


@pytest.mark.parametrize("kind", ["translation", "rotation", "scale"])
@pytest.mark.parametrize("seed", range(4))
def test_the_spline_follows_the_curve(kind: str, seed: int) -> None:
    curve = mixed(kind, seed)
    spline = refit(curve)
    assert (np.diff(spline.times) > 0).all()
    assert (np.diff(spline.times.astype(np.float32)) > 0).all()
    fitted = Curve.hermite(curve.channel, spline.times, spline.values, spline.arriving, spline.leaving)
    times = np.linspace(curve.times[0], curve.times[-1], 2003)
    jumps = curve.times[1:][curve.segments == STEP]
    times = times[np.abs(times[:, None] - jumps).min(axis=1) > 1e-6]
    wanted, found = curve.sample(times), fitted.sample(times)
    if kind == "rotation":
        error = quaternion.angle_between(wanted, found).max() / 2
    else:
        error = np.abs(wanted - found).max() / np.ptp(curve.values, axis=0).max()
    assert error < 3 * TOLERANCE  # it is measured at eight places of each piece only
    assert spline.error <= TOLERANCE


def test_what_is_a_hermite_spline_already_gains_no_keys() -> None:
    rng = np.random.default_rng(2)
    times, values = np.arange(5.0), rng.normal(size=(5, 3))
    curve = Curve.hermite(
        Channel("hip", "translation"), times, values, rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    )
    assert len(refit(curve).times) == 5


def test_linear_and_stepped_segments_need_no_cutting() -> None:
    curve = Curve(Channel("hip", "scale"), [0, 1, 2], [[0, 0, 0], [1, 2, 3], [4, 4, 4]], [LINEAR, STEP])
    spline = refit(curve)
    assert len(spline.times) == 4 and spline.error == 0
    np.testing.assert_allclose(spline.values, [[0, 0, 0], [1, 2, 3], [1, 2, 3], [4, 4, 4]])
    np.testing.assert_allclose(spline.leaving[0], [1, 2, 3], atol=1e-9)
    assert not spline.leaving[1:].any()


def test_a_vertical_tangent_ends() -> None:
    """A handle without length in time makes an infinite slope, which no number of pieces follows exactly."""
    handles = np.zeros((2, 3, 2))
    after, before = handles.copy(), handles.copy()
    after[0, :, 1] = 1.0
    before[1, :, 0] = 0.5
    spline = refit(Curve(Channel("hip", "translation"), [0, 1], [[0, 0, 0], [1, 1, 1]], BEZIER, before, after))
    assert len(spline.times) < 200 and np.isfinite(spline.leaving).all()


def test_a_bulge_between_equal_keys_is_measured_by_its_height() -> None:
    """Equal key values have no range of their own; the tolerance comes from how far the curve leaves them."""
    before, after = np.zeros((2, 2, 3, 2))
    after[0, :, 0], after[0, :, 1] = 0.6, 1.0
    before[1, :, 0], before[1, :, 1] = 0.6, -1.0
    curve = Curve(Channel("hip", "translation"), [0, 1], np.zeros((2, 3)), BEZIER, before, after)
    spline = refit(curve)
    assert len(spline.times) < 60
    assert spline.error <= TOLERANCE
