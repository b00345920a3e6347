"""The way back: appended where it is missing, noted, without a jump; left alone where it was recorded."""

from __future__ import annotations

import numpy as np
import pytest
from tests.express.takes import smile

from understudy.errors import InvalidInput
from understudy.express.preprocessing import append_return


def test_an_onset_is_played_backwards_and_noted() -> None:
    take = smile(frames=11, peak=10)
    result = append_return(take)
    assert len(result) == 21 and result.peak == 10
    np.testing.assert_allclose(result.points, result.points[::-1], atol=1e-12)
    assert result.notes == ("sequence 'smile' ends at its peak: its onset, reversed, was appended (10 frames)",)


def test_what_comes_back_is_left_alone() -> None:
    take = smile(frames=24, peak=10)
    assert append_return(take) is take
    assert (
        append_return(append_return(smile(frames=11, peak=10))).notes == append_return(smile(frames=11, peak=10)).notes
    )


@pytest.mark.parametrize("last", [12, 15, 18])
def test_a_way_back_that_was_cut_is_finished(last: int) -> None:
    whole = smile(frames=24, peak=10)
    result = append_return(whole.with_fields(points=whole.points[: last + 1]))
    assert "before it is neutral again" in result.notes[0] or last == 11
    np.testing.assert_allclose(result.points[-1], whole.points[0], atol=1e-9)
    np.testing.assert_array_equal(result.points[: last + 1], whole.points[: last + 1])
    step = np.abs(np.diff(whole.points, axis=0)).max()
    assert np.abs(np.diff(result.points, axis=0)).max() < 1.3 * step


def test_the_way_back_is_no_faster_than_the_take() -> None:
    """A take that is cut where it is nearly back, at a pose that its onset passes in the second frame."""
    whole = smile(frames=60, peak=6)
    cut = whole.with_fields(points=whole.points[:50])
    result = append_return(cut)
    speed = np.linalg.norm(np.diff(result.points, axis=0), axis=2).sum(axis=1)
    assert len(result) > 50 and speed[49:].max() < 0.8 * speed[:49].max()


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="should lie between 0 and 1, but is 2"):
        append_return(smile(), 2)
