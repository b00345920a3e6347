"""Ground: where on the floor a character stands and which way it faces, and how velocities carry that on.

A velocity belongs to the frame it leaves: v[f] carries the ground from frame f to frame f + 1. So one row at a time, as
in live play, and a whole clip at once are the same sums in the same order, and agree to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array


@dataclass(frozen=True, slots=True)
class Ground:
    """A place on the floor, metres, and a heading about +Y, radians: 0 faces as the rest pose does, usually +Z."""

    x: float = 0.0
    z: float = 0.0
    heading: float = 0.0

    def after(self, side: float, forward: float, turn: float, seconds: float) -> Ground:
        """Where it is after moving for a while at velocities of its own frame (m/s, m/s, rad/s)."""
        sine, cosine = math.sin(self.heading), math.cos(self.heading)
        return Ground(
            self.x + (cosine * side + sine * forward) * seconds,
            self.z + (cosine * forward - sine * side) * seconds,
            self.heading + turn * seconds,
        )


def path(velocities: Array, start: Ground, rate: float) -> tuple[Array, Ground]:
    """The ground (F, 3) of each frame, x, z, heading, for velocities (F, 3), and the ground that follows the last."""
    grounds = np.empty((len(velocities), 3))
    ground, seconds = start, 1.0 / rate
    for frame, (side, forward, turn) in enumerate(velocities.tolist()):
        grounds[frame] = ground.x, ground.z, ground.heading
        ground = ground.after(side, forward, turn, seconds)
    return grounds, ground


def velocities(grounds: Array, rate: float) -> Array:
    """(F, 3) side, forward and turn of each frame of a path (F, 3); the last frame goes on as the one before it."""
    if len(grounds) < 2:
        return np.zeros((len(grounds), 3))
    step = np.diff(grounds, axis=0) * rate
    sine, cosine = np.sin(grounds[:-1, 2]), np.cos(grounds[:-1, 2])
    result = np.empty_like(grounds)
    result[:-1, 0] = cosine * step[:, 0] - sine * step[:, 1]
    result[:-1, 1] = sine * step[:, 0] + cosine * step[:, 1]
    result[:-1, 2] = step[:, 2]
    result[-1] = result[-2]
    return result
