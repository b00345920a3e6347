"""Even beats: what is overslept is no loss, what is late is caught up with, a long pause is not."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.studio.clock import FramePacer

RATE, SHARE, LATE = 50.0, 0.8, 0.1


class Clock:
    """A clock that goes on when it is told to; who sleeps oversleeps."""

    def __init__(self, oversleeps: float = 0.0) -> None:
        self.now, self.oversleeps = 12.5, oversleeps

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + (self.oversleeps if seconds > 0 else 0.0)


def played(clock: Clock, costs: list[float], rate: float = RATE) -> tuple[list[float], list[float]]:
    """When each beat came, and the seconds that each was told have passed."""
    pace = FramePacer(rate, SHARE, LATE, clock)
    clock.sleep(3.0)  # nobody looks
    pace.begin()
    came, told = [], []
    seconds = 0.0
    for cost in costs:
        came.append(clock.now)
        told.append(seconds)
        clock.now += cost
        seconds = pace.next(cost)
        clock.sleep(pace.wait)
    return came, told


@pytest.mark.parametrize("oversleeps", [0.0, 1e-3, 6e-3])
def test_there_are_as_many_beats_as_were_asked_for(oversleeps: float) -> None:
    clock = Clock(oversleeps)
    came, told = played(clock, [0.004] * 500)
    assert came[-1] - came[0] == pytest.approx(499 / RATE, abs=oversleeps + 1e-9)
    assert told[0] == 0 and np.allclose(told[1:], 1 / RATE)


def test_a_late_beat_is_caught_up_with() -> None:
    costs = [0.004] * 100
    costs[40] = 0.07  # three beats and a half
    came, told = played(Clock(), costs)
    on_time = came[0] + np.arange(100) / RATE
    late = np.array(came) - on_time
    assert late[41] == pytest.approx(0.05) and late[46:].max() < 1e-9
    assert np.allclose(told[1:], 1 / RATE), "no beat is left out, and none longer than the others"


def test_a_long_pause_is_not() -> None:
    costs = [0.004] * 200
    costs[100] = 1.0
    came, told = played(Clock(), costs)
    assert max(told) == pytest.approx(1.0 - LATE)
    assert sum(told) == pytest.approx(came[-1] - came[0], abs=1e-9), "time is told as it passed"
    assert len([step for step in np.diff(came)[101:] if step < 0.5 / RATE]) <= LATE * RATE + 2


def test_who_is_too_slow_leaves_time_to_others() -> None:
    came, told = played(Clock(), [0.1] * 400)
    steps = np.diff(came)[200:]
    assert np.allclose(steps, 0.1 / SHARE, rtol=1e-3) and np.allclose(told[201:], 0.1 / SHARE, rtol=1e-3)


def test_who_is_slow_once_in_a_while_is_not_too_slow() -> None:
    costs = [0.002 if k % 10 else 0.06 for k in range(500)]
    came, _ = played(Clock(), costs)
    assert came[-1] - came[0] == pytest.approx(499 / RATE, abs=0.02)
