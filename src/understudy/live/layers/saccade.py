"""Saccades: the jumps of the eyes, by the main sequence.

A jump of A degrees lasts D = 21 ms + 2.2 ms/deg A [Carpenter 1988] and runs as smoothly as it can,

    s(x) = 10 x^3 - 15 x^4 + 6 x^5,    x = t / D

whose peak speed 15/8 A / D (290 deg/s for 5 degrees, 440 for 10, 580 for 20) lies on the main sequence of people
[Boghen 1974]. Vergence is slower. What is left of a jump is added to the goal, wherever the goal goes meanwhile, so the
eyes stay on a point while the head turns (the vestibulo-ocular reflex), and a jump can begin in the middle of another.
"""

from __future__ import annotations

from math import degrees, hypot
from typing import NamedTuple

from understudy.live.layers.eye_drives import Angles

REST, PER_DEGREE = 0.021, 0.0022  # seconds, seconds a degree
VERGENCE = 0.18  # seconds; people take 0.2 to 0.4 alone, and less together with a saccade
NONE = Angles(0.0, 0.0)


class Jump(NamedTuple):
    """What was left to go (`offset`) when a jump began, and when; over after `seconds`."""

    offset: Angles = NONE
    since: float = 0.0
    seconds: float = 0.0
    verging: float = 0.0

    def left(self, time: float) -> Angles | None:
        """What is left to go at a time; None when the eyes have arrived."""
        age = time - self.since
        if age >= self.seconds and age >= self.verging:
            return None
        a = 1.0 - smooth(age / self.seconds) if age < self.seconds else 0.0
        b = 1.0 - smooth(age / self.verging) if age < self.verging else 0.0
        yaw, pitch, verge, skew = self.offset
        return Angles(a * yaw, a * pitch, b * verge, b * skew)


def duration(amplitude: float) -> float:
    """Seconds of a saccade of `amplitude` radians."""
    return REST + PER_DEGREE * degrees(amplitude)


def jump(actual: Angles, goal: Angles, time: float, least: float = 0.0) -> Jump:
    """From where the eyes are to a goal, beginning now, in `least` seconds or more."""
    offset = Angles(*(a - g for a, g in zip(actual, goal)))
    seconds = max(duration(hypot(offset.yaw, offset.pitch)), least)
    return Jump(offset, time, seconds, max(seconds, VERGENCE))


def smooth(x: float) -> float:
    """From 0 to 1 with the least jerk."""
    if x <= 0.0:
        return 0.0
    return x * x * x * (10.0 - x * (15.0 - 6.0 * x)) if x < 1.0 else 1.0
