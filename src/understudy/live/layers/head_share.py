"""How far the head goes with the eyes: a part of the way, and later.

A critically damped spring (`maths.spring`, here for two plain numbers) leads to the goal, so that the head sets off
when the eyes have arrived. The goal goes by where the face has pointed of late: a head that is shaken should not be
held back by a gaze.
"""

from __future__ import annotations

from math import exp, hypot, radians
from typing import NamedTuple

from understudy.live.layers.eyes import Eyes, Point
from understudy.live.layers.head_frame import Frame
from understudy.maths.spring import HALF_REACHED

Pair = tuple[float, float]

FREE = radians(9)  # what the eyes do alone
SHARE = 0.5  # of what lies beyond
MOST = (radians(22), radians(12))
HALF_LIFE = 0.16  # seconds
USUAL_HALF_LIFE = 0.8  # seconds over which the face's direction is averaged: longer than a shake, shorter than a stroll
ARRIVED = 1e-4  # radians between the two directions
SETTLED = radians(1e-3)


class HeadShare(NamedTuple):
    """Radians that the head is turned further, to its left and up, their speed, and where the face points usually."""

    turn: Pair = (0.0, 0.0)
    speed: Pair = (0.0, 0.0)
    usual: Point | None = None  # None before the first frame

    def next(self, eyes: Eyes, frame: Frame, ahead: Point, point: Point | None, dt: float) -> HeadShare:
        """After dt seconds, with a point that is looked at, or none; the first frame starts where the head will be."""
        usual = ahead if self.usual is None else followed(self.usual, ahead, dt)
        goal = (0.0, 0.0) if point is None else _goal(eyes, frame, usual, point)
        if self.usual is None or (self.turn == goal and self.speed == (0.0, 0.0)):
            return HeadShare(goal, (0.0, 0.0), usual)
        (a, va), (b, vb) = (sprung(x, v, g, dt, HALF_LIFE) for x, v, g in zip(self.turn, self.speed, goal))
        if max(abs(a - goal[0]), abs(b - goal[1])) < SETTLED and hypot(va, vb) < SETTLED:
            return HeadShare(goal, (0.0, 0.0), usual)
        return HeadShare((a, b), (va, vb), usual)


def _goal(eyes: Eyes, frame: Frame, usual: Point, point: Point) -> Pair:
    x, y, z = eyes.centre(frame)
    now = eyes.bearing(frame, point)
    of_usual = eyes.bearing(frame, (x + usual[0], y + usual[1], z + usual[2]))
    yaw, pitch = now[0] - of_usual[0], now[1] - of_usual[1]
    off = hypot(yaw, pitch)
    if off <= FREE:
        return 0.0, 0.0
    share = SHARE * (off - FREE) / off
    return min(max(share * yaw, -MOST[0]), MOST[0]), min(max(share * pitch, -MOST[1]), MOST[1])


def sprung(x: float, v: float, goal: float, dt: float, half_life: float) -> Pair:
    """Value and speed after dt: k = v + y (x - g), x = g + e^(-y dt) (x - g + k dt), v = e^(-y dt) (v - y k dt)."""
    y = HALF_REACHED / half_life
    k, decay = v + y * (x - goal), exp(-y * dt)
    return goal + decay * (x - goal + k * dt), decay * (v - y * k * dt)


def followed(usual: Point, ahead: Point, dt: float) -> Point:
    """A direction that follows another slowly, and arrives."""
    x, y, z = ahead[0] - usual[0], ahead[1] - usual[1], ahead[2] - usual[2]
    if abs(x) + abs(y) + abs(z) < ARRIVED:
        return ahead
    part = 1.0 - 0.5 ** (dt / USUAL_HALF_LIFE)
    return usual[0] + part * x, usual[1] + part * y, usual[2] + part * z
