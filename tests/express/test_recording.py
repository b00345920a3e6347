"""Recordings: parts of them become sequences; short gaps are filled, long ones are told."""

from __future__ import annotations

import numpy as np
import pytest
from tests.express.takes import smile

from understudy.errors import InvalidInput
from understudy.express.recording import Recording, nearest_common_rate


def recording(frames: int = 60) -> Recording:
    take = smile(frames=frames, peak=frames // 3)
    return Recording("film", take.points, 30.0, take.names)


def test_a_part_becomes_a_sequence() -> None:
    found = recording().sequence("joy", start=0.5, peak=1.0, end=1.5, name="part")
    assert (found.name, found.label, len(found), found.peak) == ("part", "joy", 31, 15)
    np.testing.assert_array_equal(found.points, recording().points[15:46])
    assert recording().sequence("joy", peak_frame=20).peak == 20
    assert recording().sequence("joy", start=0.5, end=0.9, peak_frame=-1).peak == 12
    whole = recording().sequence("joy")
    assert whole.peak == 20 and whole.guessed


def test_short_gaps_are_filled_in_between() -> None:
    whole = recording()
    points = np.array(whole.points)
    points[10:14, 48] = np.nan
    points[0, 8] = np.nan
    found = Recording("film", points, 30.0, whole.names).sequence("joy", peak_frame=20)
    assert np.abs(found.points - whole.points).max() < 0.5
    np.testing.assert_array_equal(found.points[0, 8], whole.points[1, 8])
    assert found.notes == ("sequence 'film' had 5 frames with gaps, which were filled in",)


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"peak": 20.0}, r"peak of sequence 'film' should lie between 0 and 1\.967 s, but is 20 s; .* peak_frame"),
        ({"start": -1.0}, r"the start of sequence 'film' should lie between 0 and 1\.967 s, but is -1 s"),
        ({"start": 1.0, "end": 0.5}, "should end after its start, but goes from frame 30 to 15"),
        ({"start": 1.0, "peak": 0.5}, "should lie in frames 31 to 59, but is frame 15"),
        ({"peak": 1.0, "peak_frame": 3}, "should have a peak or a peak_frame, but has both"),
        ({"peak": float("nan")}, "but is nan s"),
    ],
)
def test_parts_that_are_not_there(part: dict[str, float], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        recording().sequence("joy", **part)


def test_landmarks_that_are_missing() -> None:
    points = np.array(recording().points)
    points[5:25, 48] = np.nan
    with pytest.raises(
        InvalidInput, match=r"does not show 'lm48' from frame 5 to 24, 0\.67 s, but gaps of at most 0\.25"
    ):
        Recording("film", points, 30.0, recording().names).sequence("joy")
    points[:, 48:50] = np.nan
    with pytest.raises(InvalidInput, match="sequence 'film' never shows 'lm48' and 1 more"):
        Recording("film", points, 30.0, recording().names).sequence("joy")


def test_usual_rates() -> None:
    assert [nearest_common_rate(rate) for rate in (29.97, 30.0005, 14.96, 27.3)] == [30, 30, 15, 27.3]
