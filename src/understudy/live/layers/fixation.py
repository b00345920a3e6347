"""Fixations: which point the eyes hold, since when and until when.

A character that was told where to look stays there, with small shifts beside the point. One that was not lets its eyes
wander over what lies ahead, point by point of the world; when its head turns, they let go and take a point further
along the turn. Without life it looks straight ahead, and its eyes go with its head.
"""

from __future__ import annotations

from math import hypot, radians
from typing import NamedTuple

from understudy.live.layers import chance
from understudy.live.layers.eyes import Eyes, Point
from understudy.live.layers.head_frame import Frame
from understudy.live.layers.layer import Moment

# Seconds that a fixation lasts (median, deviation of the logarithm). People who look at a picture make three a second,
# who think or listen one; a character that does the former all the time looks hunted.
HELD = (0.9, 0.55)
SHORTEST = 0.2  # seconds between two jumps
# Mean size of the shifts, radians: across, and up or down (people look across more than up).
ON_POINT = (radians(0.7), radians(0.45))
AHEAD = (radians(1.4), radians(0.8))
WANDERING = (radians(5.5), radians(2.6))
FURTHEST = (radians(15), radians(8))
DRAGGED = radians(20)  # the eyes let go of a point that a turning head carries further than this from the middle
LEAD, MOST_LEAD = 0.15, 0.25  # seconds, and radians, that the next point lies ahead of a turning head
DISTANCE = 14.0  # of what lies ahead, in distances between the eyes: a metre for a person, two for the dragon
PURSUIT = radians(60)  # a second; a point that moves faster is followed by jumps
NOTICED = radians(0.7)  # and a point that steps by less is simply followed


class Fixation(NamedTuple):
    """A point of the world that is looked at, and `shift` radians beside it."""

    mode: str = ""  # "point", "ahead", "wander" or "still"
    point: Point = (0.0, 0.0, 0.0)
    shift: tuple[float, float] = (0.0, 0.0)
    since: float = 0.0
    until: float = 0.0
    draws: int = 0  # of chance, so far
    moved: bool = False  # whether it is another than in the frame before, so that the eyes jump


class Fixations(NamedTuple):
    """Chooses fixations for a pair of eyes."""

    eyes: Eyes

    def told(self, seed: int, before: Fixation, frame: Frame, point: Point, moment: Moment) -> Fixation:
        """The next fixation of a character that was told to look at a point."""
        time, life = moment.time, moment.life
        arrived = before.mode == "point" and not self._jumped(before.point, point, frame, moment.dt)
        if life == 0.0:
            moved = not arrived or before.shift != (0.0, 0.0)
            return Fixation("point", point, (0.0, 0.0), time, time, before.draws, moved)
        if arrived and time < before.until:
            return before._replace(point=point, moved=False)
        # on a new point the eyes arrive; the small shifts beside it come later
        shift = _shift(seed, before.draws, ON_POINT, life) if arrived else (0.0, 0.0)
        return _from_now(seed, before.draws, "point", point, shift, moment)

    def free(self, seed: int, before: Fixation, frame: Frame, ahead: Point, turning: Point, moment: Moment) -> Fixation:
        """The next fixation of one that was not; `ahead` is where the face points, `turning` its change in a second."""
        time, life = moment.time, moment.life
        if life == 0.0:
            point = self._far(frame, ahead)
            return Fixation("still", point, (0.0, 0.0), time, time, before.draws, before.mode != "still")
        mode, size = ("wander", WANDERING) if moment.look is None else ("ahead", AHEAD)
        if before.mode == mode and not self._lets_go(before, frame, time):
            return before._replace(moved=False)
        x, y, z = self.eyes.direction(frame, *_shift(seed, before.draws, size, life))
        dx, dy, dz = turning
        lead = min(LEAD, MOST_LEAD / max(hypot(dx, dy, dz), 1e-9))
        way = (x + lead * dx, y + lead * dy, z + lead * dz)
        return _from_now(seed, before.draws, mode, self._far(frame, way), (0.0, 0.0), moment)

    def stays(self, before: Fixation, point: Point | None, off: float, moment: Moment) -> bool:
        """Whether the fixation is that of the frame before, and does not move: what `told` and `free` mostly find.

        `point` is the one that was told, and `off` how far from the middle (radians) the one of before is seen.
        """
        time = moment.time
        if moment.life == 0.0 or time >= before.until:
            return False
        if point is not None:
            return before.mode == "point" and before.point == point
        mode = "wander" if moment.look is None else "ahead"
        return before.mode == mode and (off <= DRAGGED or time - before.since < SHORTEST)

    def _lets_go(self, before: Fixation, frame: Frame, time: float) -> bool:
        """Whether eyes that wander leave their point: its time is over, or the head has turned away from it."""
        if time >= before.until:
            return True
        return time - before.since >= SHORTEST and hypot(*self.eyes.bearing(frame, before.point)) > DRAGGED

    def _jumped(self, before: Point, now: Point, frame: Frame, dt: float) -> bool:
        """Whether a point has moved further than eyes follow smoothly."""
        if now == before:
            return False
        a, b = self.eyes.angles(frame, before), self.eyes.angles(frame, now)
        return hypot(a.yaw - b.yaw, a.pitch - b.pitch) > max(PURSUIT * dt, NOTICED)

    def _far(self, frame: Frame, way: Point) -> Point:
        (x, y, z), far = self.eyes.centre(frame), DISTANCE * self.eyes.separation
        return x + far * way[0], y + far * way[1], z + far * way[2]


def _from_now(seed: int, draws: int, mode: str, point: Point, shift: tuple[float, float], moment: Moment) -> Fixation:
    lasts = max(chance.log_normal(seed, draws, *HELD) / moment.life, SHORTEST)
    return Fixation(mode, point, shift, moment.time, moment.time + lasts, draws + 3, True)


def _shift(seed: int, draws: int, size: tuple[float, float], life: float) -> tuple[float, float]:
    """Radians across and up, mostly small; smaller in a calm character."""
    calm = min(life, 1.0) ** 0.5
    yaw = chance.two_sided(seed, draws + 1, size[0] * calm)
    pitch = chance.two_sided(seed, draws + 2, size[1] * calm)
    return min(max(yaw, -FURTHEST[0]), FURTHEST[0]), min(max(pitch, -FURTHEST[1]), FURTHEST[1])
