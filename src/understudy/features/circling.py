"""Rotations that come full circle, as two of their axes and back [Zhou 2019, "On the Continuity of Rotation
Representations in Neural Networks", section 4.2].

A logarithm that is followed beyond half a turn has many values for one rotation: a head that has spun once is far from
one that has not, and near a whole turn a slight tilt is a leap, since all vectors of that length mean the same. What is
learned between such frames is turns that nobody animated. The first two columns of the matrix of r^-1 q have one value
for each rotation, and are continuous; the third follows from them.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import linear, quaternion

NAMES = ("xx", "xy", "xz", "yx", "yy", "yz")  # of the axes x and y
FLAT = 1e-6  # axes that are shorter, or span less, tell no rotation: the reference is meant


def comes_round(logs: Array) -> Array:
    """(R,) which of the rotations that logarithms (F, R, 3) tell turn further than half a turn from their reference."""
    return np.asarray((linear.length(logs) > np.pi).any(axis=0))


def axes(rotations: Array, reference: Array) -> Array:
    """(F, S, 6) the axes x and y of r^-1 q, of quaternions (F, S, 4) about references (S, 4)."""
    turned = quaternion.to_matrix(quaternion.multiply(quaternion.conjugate(reference), rotations))
    return np.asarray(np.swapaxes(turned[..., :2], -1, -2).reshape(*rotations.shape[:2], 6))


def rotations_of(values: Array, reference: Array) -> Array:
    """(F, S, 4) q, of axes (F, S, 6) that need be neither unit nor square: x as it is, and y as far as it is across."""
    x, y = values[..., :3], values[..., 3:]
    z = np.cross(x, y)
    size, span = linear.length(x), linear.length(z)
    sound = (size > FLAT) & (span > FLAT * size)
    x = np.where(sound[..., None], x / np.where(sound, size, 1.0)[..., None], [1.0, 0.0, 0.0])
    z = np.where(sound[..., None], z / np.where(sound, span, 1.0)[..., None], [0.0, 0.0, 1.0])
    turned = quaternion.from_matrix(np.stack([x, np.cross(z, x), z], axis=-1))
    return quaternion.multiply(reference, turned)
