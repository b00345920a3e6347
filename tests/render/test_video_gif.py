"""A GIF plays at the right speed, whatever the rate: delays are shared out, and frames too short to show left out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.render.video import MIN_DELAY_CENTISECONDS, gif_timing


@pytest.mark.parametrize("rate", [1, 10, 24, 25, 30, Fraction(30000, 1001), 48, 50, 60, 120, 240])
@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_the_whole_takes_as_long_as_its_frames(rate: int | Fraction, count: int) -> None:
    shown, delays = gif_timing(count, Fraction(rate))
    assert len(shown) == len(delays)
    assert shown[0] == 0 and shown == sorted(set(shown)) and shown[-1] < count
    assert min(delays) >= MIN_DELAY_CENTISECONDS
    assert abs(sum(delays) - max(100 * count / rate, MIN_DELAY_CENTISECONDS)) <= 2
    if rate <= 50:
        assert len(shown) == count


def test_every_second_frame_is_shown_at_twice_the_highest_rate() -> None:
    assert gif_timing(6, Fraction(100)) == ([0, 2, 4], [2, 2, 2])
