"""Re-fitting: any curve as one Hermite spline, within its tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import Channel, Curve
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.formats.gltf.hermite_fit import FIT_TOLERANCE, refit
from understudy.maths import euler, quaternion


def mixed(kind: str, seed: int) -> Curve:
    """A curve with all kinds of segments and free handles."""
    rng = np.random.default_rng(seed)
    channel = Channel("hip", kind, ("y", "z", "x") if kind == "euler" else ())
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


@pytest.mark.parametrize("kind", ["translation", "rotation", "scale", "euler"])
@pytest.mark.parametrize("seed", range(4))
def test_the_spline_follows_the_curve(kind: str, seed: int) -> None:
    curve = mixed(kind, seed)
    spline = refit(curve)
    assert (np.diff(spline.times) > 0).all()
    assert (np.diff(spline.times.astype(np.float32)) > 0).all()
    assert set(curve.times) <= set(spline.times)
    channel = Channel("hip", "rotation") if kind == "euler" else curve.channel
    fitted = Curve.hermite(channel, spline.times, spline.values, spline.arriving, spline.leaving)
    times = np.linspace(curve.times[0], curve.times[-1], 2003)
    jumps = curve.times[1:][curve.segments == STEP]
    times = times[np.abs(times[:, None] - jumps).min(axis=1) > 1e-6]
    wanted, found = curve.sample(times), fitted.sample(times)
    if kind == "euler":
        wanted = euler.from_euler(wanted, "yzx")
    turns = kind in ("rotation", "euler")
    error = quaternion.angle_between(wanted, found).max() if turns else np.abs(wanted - found).max()
    assert error < 1.5 * FIT_TOLERANCE  # it is measured at eight places of each piece only
    assert spline.error <= FIT_TOLERANCE


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.0, 3.14])
def test_turns_at_constant_speed_gain_no_keys(angle: float) -> None:
    turn = quaternion.from_axis_angle(np.array([1.0, 2, 3]), np.array(angle))
    curve = Curve(Channel("hip", "rotation"), [0, 1, 2], [[0, 0, 0, 1], -turn, turn], [LINEAR, STEP])
    spline = refit(curve)
    assert len(spline.times) == 4  # the step's own jump
    fitted = Curve.hermite(curve.channel, spline.times, spline.values, spline.arriving, spline.leaving)
    times = np.linspace(0, 0.999, 200)
    assert quaternion.angle_between(curve.sample(times), fitted.sample(times)).max() < 1.2e-5


def test_keys_off_unit_length_are_made_unit_and_followed() -> None:
    """As cut from the middle of a quaternion segment, where columns are cubics and only directions count."""
    source = mixed("rotation", 1)
    curve = Curve(source.channel, [0, 1, 2], source.values[:3] * [[1], [0.9], [1]], BEZIER, *_thirds(source))
    spline = refit(curve)
    np.testing.assert_allclose(np.linalg.norm(spline.values, axis=1), 1, atol=1e-9)
    fitted = Curve.hermite(curve.channel, spline.times, spline.values, spline.arriving, spline.leaving)
    times = np.linspace(0, 2, 300)
    assert quaternion.angle_between(curve.sample(times), fitted.sample(times)).max() < 1.5 * FIT_TOLERANCE


def _thirds(source: Curve) -> tuple[np.ndarray, np.ndarray]:
    before, after = source.before[:3].copy(), source.after[:3].copy()
    before[..., 0] = after[..., 0] = 1 / 3
    return before, after


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


def test_a_small_bulge_between_equal_keys_keeps_its_shape() -> None:
    """Equal key values have no range of their own; the tolerance comes from how far the curve leaves them."""
    before, after = np.zeros((2, 2, 3, 2))
    after[0, :, 0], after[0, :, 1] = 0.6, 1e-3
    before[1, :, 0], before[1, :, 1] = 0.6, -1e-3
    curve = Curve(Channel("hip", "translation"), [0, 1], np.zeros((2, 3)), BEZIER, before, after)
    spline = refit(curve)
    assert 3 <= len(spline.times) < 20
    assert 0 < spline.error <= 2e-6
