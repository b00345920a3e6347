"""Legs that reach where the feet stand: exact, by the law of cosines.

A foot stands at its place and heading on the floor. With the heel up it turns about the joint of the toes, which stay
flat; with the toes up it turns about the heel's edge. From its ankle A and the hip H the knee follows: with thigh a,
shin b and d = |A - H|, it lies a cos(k) along the way from hip to ankle and a sin(k) aside, towards where the knee
points,

    cos(k) = (a^2 + d^2 - b^2) / (2 a d)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.maths import linear, quaternion

HEEL = 0.072  # metres from the ankle back to the edge that the heel turns on
STANCE = 0.125  # metres from the middle to each ankle where nothing is keyed
OUT = 7.0  # degrees by which feet point outwards there
RELAXING = 0.05  # metres above the floor at which toes are half relaxed
FORWARD = np.array([0.0, 0.0, 1.0])
UP = np.array([0.0, 1.0, 0.0])


class Leg(NamedTuple):
    """One leg at rest: thigh, shin and toes (3,) from joint to joint, the ankle's height, +1 left and -1 right."""

    thigh: Array
    shin: Array
    toes: Array
    height: float
    side: int

    @property
    def length(self) -> float:
        """Of the straight leg."""
        return float(np.linalg.norm(self.thigh) + np.linalg.norm(self.shin))


class Foot(NamedTuple):
    """Where a foot is: ankle (F, 3), foot and toes as rotations in the world (F, 4), heading (F,) radians."""

    ankle: Array
    foot: Array
    toes: Array
    heading: Array


def placed(leg: Leg, x: Array, z: Array, lift: Array, turn: Array, roll: Array) -> Foot:
    """A foot from its controls (F,), in metres and degrees."""
    heading = np.radians(turn + OUT * leg.side)
    yaw = quaternion.from_axis_angle(UP, heading)
    heel_up = quaternion.from_axis_angle([1.0, 0.0, 0.0], np.radians(np.maximum(roll, 0.0)))
    toes_up = quaternion.from_axis_angle([1.0, 0.0, 0.0], np.radians(np.minimum(roll, 0.0)))
    flat = np.stack([x + STANCE * leg.side, lift, z], axis=-1)  # on the floor below the ankle
    edge = np.array([0.0, 0.0, -HEEL])
    # the ankle seen from the edge of the heel, through the joint of the toes: both turns keep their own pivot
    ankle = np.array([0.0, leg.height, 0.0])
    joint = ankle + leg.toes
    swung = joint + quaternion.rotate(heel_up, ankle - joint)
    swung = edge + quaternion.rotate(toes_up, swung - edge)
    flat_toes = quaternion.multiply(yaw, toes_up)
    foot = quaternion.multiply(flat_toes, heel_up)
    relaxed = lift / (np.abs(lift) + RELAXING)  # in the air the toes go along with the foot
    return Foot(flat + quaternion.rotate(yaw, swung), foot, quaternion.slerp(flat_toes, foot, relaxed), heading)


def reached(leg: Leg, hip: Array, ankle: Array, stretch: float = 0.9995) -> Array:
    """(F, 3) the ankle, brought nearer to the hip (F, 3) where the leg is too short; gently from 99 % on."""
    way = ankle - hip
    d = linear.length(way)
    return hip + way * (soft_least(d, leg.length * stretch, 0.004) / np.maximum(d, 1e-9))[..., None]


def soft_least(value: Array, bound: Array | float, softness: float) -> Array:
    """min(value, bound) with a rounded corner: bound - s log(1 + exp((bound - value) / s))."""
    result: Array = bound - softness * np.logaddexp(0.0, (bound - value) / softness)
    return result


def solved(leg: Leg, hip: Array, ankle: Array, pointing: Array) -> tuple[Array, Array]:
    """Rotations in the world (F, 4) of thigh and shin; `pointing` (F, 3) is where the knee points."""
    a, b = np.linalg.norm(leg.thigh), np.linalg.norm(leg.shin)
    way = ankle - hip
    d = np.clip(linear.length(way), abs(a - b) + 1e-6, a + b - 1e-9)
    along = linear.normalise(way)
    aside = linear.normalise(pointing - along * linear.dot(pointing, along)[..., None])
    cosine = np.clip((a * a + d * d - b * b) / (2.0 * a * d), -1.0, 1.0)
    knee = hip + a * (cosine[..., None] * along + np.sqrt(1.0 - cosine**2)[..., None] * aside)
    hinge = linear.normalise(linear.cross(along, aside))  # (F, 3) the knee's axis
    return _turned(leg.thigh, knee - hip, hinge), _turned(leg.shin, ankle - knee, hinge)


def _turned(bone: Array, direction: Array, hinge: Array) -> Array:
    """(F, 4) the rotation that lays a bone (3,), whose hinge is square to it and to +Z, along a direction (F, 3)."""
    rest = _axes(bone[None], linear.cross(bone, FORWARD)[None])
    return quaternion.from_matrix(_axes(direction, hinge) @ np.swapaxes(rest, -1, -2))


def _axes(bone: Array, hinge: Array) -> Array:
    x = linear.normalise(bone)
    y = linear.normalise(hinge - x * linear.dot(hinge, x)[..., None])
    return np.stack([x, y, linear.cross(x, y)], axis=-1)
