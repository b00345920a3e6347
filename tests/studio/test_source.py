"""Clips as sources: time goes on, round and round or once, within a range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.acrobat import acrobat
from tests.fuzz.seeds import small_asset

from understudy.character import rig
from understudy.studio import source as module
from understudy.studio.source import ClipSource, PlaybackSource

ASSET = acrobat()
RIG = rig.rig_of(ASSET.character())
BOW = ASSET.clip("bow")  # 30 frames at 24


def test_it_is_a_source() -> None:
    assert isinstance(ClipSource(RIG, BOW), PlaybackSource)


def test_without_an_animation_it_rests() -> None:
    source = ClipSource(RIG, None)
    np.testing.assert_array_equal(source.advance(1.0), RIG.rest)
    assert source.duration == 0.0


@pytest.mark.parametrize("name", ["acrobat", "small"])
def test_frames_are_those_of_the_clip(name: str) -> None:
    asset = acrobat() if name == "acrobat" else small_asset()
    own, animation = rig.rig_of(asset.character()), asset.animations[0]
    source, expected = ClipSource(own, animation), own.pose(animation)
    for number, time in enumerate(animation.frame_times() - animation.start):
        source.seek(float(time))
        np.testing.assert_allclose(source.advance(0.0), expected[number], atol=1e-9)


def test_a_long_capture_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    laid = ClipSource(RIG, BOW)
    monkeypatch.setattr(module, "MAX_VALUES_PER_BLOCK", 1)
    sampled = ClipSource(RIG, BOW)
    for _ in range(20):
        np.testing.assert_allclose(sampled.advance(0.03), laid.advance(0.03), atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(0, 3), max_size=20),
    st.booleans(),
    st.floats(0, 2),
    st.none() | st.floats(0, 2),
)
def test_time_stays_within_the_range(steps: list[float], loop: bool, start: float, stop: float | None) -> None:
    source = ClipSource(RIG, BOW, loop, start, stop)
    source.seek(source.start)
    for step in steps:
        row = source.advance(step)
        assert np.isfinite(row).all()
        assert source.start - 1e-9 <= source.time <= source.stop + 1 / source.rate + 1e-9
        if source.has_ended:
            assert not loop and source.time == source.stop


def test_a_loop_comes_round_after_its_frames() -> None:
    source = ClipSource(RIG, BOW)
    source.seek(0.1)
    first = source.advance(0.0)
    np.testing.assert_allclose(source.advance(len(BOW) / BOW.rate), first, atol=1e-9)


def test_once_ends_at_the_last_frame() -> None:
    source = ClipSource(RIG, BOW, loop=False)
    source.advance(100.0)
    assert source.has_ended and source.time == BOW.duration
