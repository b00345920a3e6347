"""Timecodes and fixed rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import BadFile
from understudy.formats import livelink


@given(st.floats(0, 86399.9))
def test_text_and_back(time):
    pair = livelink.seconds_from_timecodes([livelink.format_timecode(0.0), livelink.format_timecode(time)], [1, 2], "x")
    assert pair[1] == pytest.approx(time, abs=1e-5)


def test_over_midnight():
    cells = ["23:59:59:58.000", "00:00:00:00.500", "00:00:00:02.000"]
    np.testing.assert_allclose(livelink.seconds_from_timecodes(cells, [2, 3, 4], "x"), [0, 2.5 / 60, 4 / 60], atol=1e-9)


@pytest.mark.parametrize("base", [24, 25, 30, 60])
def test_the_base_is_found(base):
    cells = [livelink.format_timecode(10.3 + frame / base, base) for frame in range(5 * base)]
    np.testing.assert_allclose(
        livelink.seconds_from_timecodes(cells, [0] * len(cells), "x"), np.arange(5 * base) / base, atol=1e-9
    )


@pytest.mark.parametrize("bad", ["", "12:00:00", "a:b:c:d", "1:2:3:4:5", "-1:00:00:00.0", "00:00:00:1e5"])
def test_rubbish_is_refused_with_its_line(bad):
    with pytest.raises(BadFile, match="line 7"):
        livelink.seconds_from_timecodes(["00:00:00:00.000", bad], [2, 7], "x.csv")


def test_going_back_is_refused():
    with pytest.raises(BadFile, match="line 3: the timecode goes back"):
        livelink.seconds_from_timecodes(["00:00:01:00.000", "00:00:00:59.000"], [2, 3], "x.csv")


def test_rows_keep_their_values_and_gaps_are_filled():
    values = np.array([[0.0], [1.0], [4.0], [2.0]])
    notes = []
    filled, rate = livelink.resample_uniformly(np.array([0, 1, 4, 5]) / 30.004, values, notes)
    assert rate == 30
    np.testing.assert_allclose(filled[:, 0], [0, 1, 2, 3, 4, 2])
    assert notes == ["2 of 6 frames are missing: they were filled in between their neighbours"]


def test_uneven_rows_are_resampled():
    times = np.array([0, 1, 2.4, 3, 4, 5, 6.0]) / 60
    notes = []
    filled, rate = livelink.resample_uniformly(times, times[:, None], notes)
    assert rate == 60 and any("uneven" in note for note in notes)
    np.testing.assert_allclose(filled[:, 0], np.arange(7) / 60)


def test_repeated_times_and_one_row():
    notes = []
    filled, _ = livelink.resample_uniformly(np.array([0, 0, 0.1, 0.2]), np.arange(4.0)[:, None], notes)
    assert len(filled) == 3 and any("repeat" in note for note in notes)
    assert livelink.resample_uniformly(np.zeros(1), np.ones((1, 2)), notes)[0].shape == (1, 2)


def test_a_broken_clock_takes_no_memory():
    times = np.array([0, 1, 2, 1e9, 1e9 + 1]) / 60
    notes = []
    filled, rate = livelink.resample_uniformly(times, np.zeros((5, 61)), notes)
    assert len(filled) == 5 and rate == 60 and any("cut out" in note for note in notes)
