"""Curves through USD's own splines: keys, handles and what lies beyond come back, and stale splines do not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.formats.usd.cases import random_character

from understudy.character import Asset, Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.rig import DirectRig
from understudy.formats import read, write

pytest.importorskip("pxr")
from pxr import Usd, UsdSkel

from understudy.formats.usd import splines

pytestmark = pytest.mark.skipif(not splines.AVAILABLE, reason="this usd-core has no splines")


def bent(rng, channel, segments=BEZIER, extrapolation=("hold", "hold")):
    """A curve with free handles of its own in every column."""
    n = len(channel)
    times = np.array([0.0, 0.25, 0.7, 1.0])
    values = rng.normal(size=(4, n))
    if channel.kind == "rotation":
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    if channel.kind == "weights":
        values = rng.uniform(0, 1, (4, n))
    gaps = np.diff(times, prepend=-0.3, append=1.3)
    before, after = rng.normal(size=(2, 4, n, 2)) * 0.1
    before[..., 0] = rng.uniform(0.1, 1, (4, n)) * gaps[:-1, None]
    after[..., 0] = rng.uniform(0.1, 1, (4, n)) * gaps[1:, None]
    return Curve(channel, times, values, segments, before, after, extrapolation)


def animated(seed=3):
    rng = np.random.default_rng(seed)
    character = random_character(rng)
    one, two, three = character.skeleton.names[:3]
    curves = [
        bent(rng, Channel(one, "translation"), [BEZIER, STEP, LINEAR]),
        bent(rng, Channel(one, "euler", ("z", "x", "y"))),
        bent(rng, Channel(two, "rotation"), extrapolation=("linear", "cycle_offset")),
        bent(rng, Channel(three, "scale"), extrapolation=("cycle", "hold")),
        bent(rng, Channel("left hand", "weights", ("brow up", "smile"))),
    ]
    return Asset([character], curves=[Curves("wild", curves, ["x"], 25.0)])


def found(asset, curve):
    return next(c for c in asset.curves[0].curves if c.channel == curve.channel)


def assert_equal(one, other):
    np.testing.assert_allclose(one.times, other.times, rtol=1e-15, atol=0)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.segments, other.segments)
    used = one.segments == BEZIER  # text files drop the others
    for handles, wanted in ((one.before[1:], other.before[1:]), (one.after[:-1], other.after[:-1])):
        np.testing.assert_allclose(handles[used], wanted[used], rtol=1e-14, atol=1e-16)
    assert one.extrapolation == other.extrapolation


@pytest.mark.parametrize("ending", [".usda", ".usdc", ".usdz"])
def test_curves_come_back(tmp_path, ending, capfd):
    before = animated()
    path = tmp_path / f"file{ending}"
    notes = write(before, path)
    assert all(note.endswith("the curves themselves stand beside as splines") for note in notes if "baked" in note)
    after = read(path)
    assert len(after.curves) == 1 and not any("spline" in note for note in after.notes)
    for curve in before.curves[0].curves:
        assert_equal(found(after, curve), curve)
    assert "Warning" not in capfd.readouterr().err


def test_usd_itself_evaluates_the_same_curve(tmp_path):
    before = animated()
    path = tmp_path / "file.usda"
    write(before, path)
    stage = Usd.Stage.Open(str(path))
    curve = before.curves[0].curves[1]
    prim = next(prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Animation))
    times = np.linspace(0, 1, 101)
    wanted = curve.sample(times)
    for attribute in prim.GetPropertiesInNamespace(splines.ATTRIBUTE_PREFIX):
        if attribute.GetCustomDataByKey("understudy:kind") == "euler":
            place = attribute.GetCustomDataByKey("understudy:place")
            values = [attribute.GetSpline().Eval(float(time) * 25) for time in times]
            np.testing.assert_allclose(values, wanted[:, place], atol=1e-9)


def test_samples_changed_by_others_win(tmp_path):
    before = animated()
    path = tmp_path / "file.usda"
    write(before, path)
    stage = Usd.Stage.Open(str(path))
    prim = next(prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Animation))
    attribute = UsdSkel.Animation(prim).GetTranslationsAttr()
    for time in attribute.GetTimeSamples():
        attribute.Set([(0.5, 0.5, 0.5) for _ in attribute.Get(time)], time)
    stage.GetRootLayer().Save()
    after = read(path)
    moved = next(c for c in after.curves[0].curves if c.channel.kind == "translation")
    assert (moved.segments == LINEAR).all() and (moved.values == 0.5).all()
    assert any("do not pass through the samples" in note for note in after.notes)
    assert_equal(found(after, before.curves[0].curves[1]), before.curves[0].curves[1])


def test_splines_taken_apart_are_left_out(tmp_path):
    before = animated()
    path = tmp_path / "file.usda"
    write(before, path)
    stage = Usd.Stage.Open(str(path))
    prim = next(prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Animation))
    for attribute in prim.GetPropertiesInNamespace(splines.ATTRIBUTE_PREFIX):
        if attribute.GetCustomDataByKey("understudy:column") == "x":
            spline = attribute.GetSpline()
            spline.RemoveKnot(0.0)
            attribute.SetSpline(spline)
    stage.GetRootLayer().Save()
    after = read(path)
    assert any("no longer as understudy wrote them" in note for note in after.notes)
    assert {c.channel.kind for c in after.curves[0].curves} == {"translation", "rotation", "scale", "weights"}


def test_weights_beside_those_that_move_stay(tmp_path):
    """A shape that rests at a weight of its own is driven by USD as well, and must not clash with the spline."""
    rng = np.random.default_rng(5)
    character = random_character(rng)
    for target in ("body", ""):
        curve = bent(rng, Channel(target, "weights", ("brow up",)))
        path = tmp_path / "file.usda"
        write(Asset([character], curves=[Curves("brow", [curve], rate=24.0)]), path)
        times = np.linspace(0, 1, 50)
        after = read(path)
        np.testing.assert_allclose(found(after, curve).sample(times), curve.sample(times), atol=1e-12)
        names = [
            name for c in after.curves[0].curves for name in c.channel.columns if c.channel.target in (target, "body")
        ]
        assert "smile" in names


def test_a_rise_without_width_is_kept_nearly(tmp_path):
    rng = np.random.default_rng(6)
    character = random_character(rng)
    curve = bent(rng, Channel(character.skeleton.names[0], "translation"))
    after = np.array(curve.after)
    after[1, :, 0] = 0
    curve = Curve(curve.channel, curve.times, curve.values, curve.segments, curve.before, after)
    path = tmp_path / "file.usda"
    write(Asset([character], curves=[Curves("jerk", [curve], rate=24.0)]), path)
    back = found(read(path), curve)
    times = np.linspace(0, 1, 200)
    np.testing.assert_allclose(back.sample(times), curve.sample(times), atol=1e-5)


def test_without_splines_the_samples_are_all(tmp_path, monkeypatch):
    monkeypatch.setattr(splines, "AVAILABLE", False)
    path = tmp_path / "file.usda"
    notes = write(animated(), path)
    assert not any("splines" in note for note in notes)
    assert splines.ATTRIBUTE_PREFIX not in path.read_text()
    monkeypatch.setattr(splines, "AVAILABLE", True)
    assert all((c.segments != BEZIER).all() for c in read(path).curves[0].curves)


def test_weights_in_several_channels(tmp_path):
    """Each shape with keys of its own, as reducing leaves them."""
    rng = np.random.default_rng(8)
    character = random_character(rng)
    curves = [bent(rng, Channel("left hand", "weights", (name,))) for name in ("brow up", "smile")]
    asset = Asset([character], curves=[Curves("two", curves, rate=25.0)])
    path = tmp_path / "file.usda"
    write(asset, path)
    after = read(path)
    for curve in curves:
        assert_equal(found(after, curve), curve)
    clip = asset.curves[0].clip(25.0)
    write(Asset([character], [clip]), path)
    times = clip.times
    np.testing.assert_allclose(
        DirectRig(character).pose(read(path).curves[0], times), DirectRig(character).pose(clip, times), atol=1e-6
    )
