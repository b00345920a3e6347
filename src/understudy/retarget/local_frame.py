"""The local frame of a pose: where the figure stands and which way it faces, and nothing else [Yamane 2010, 4.1].

Height, roll and pitch say something about a pose; the place on the floor and the heading do not. With the root joint
at p, its vectors up u and front f in the world, and v the vertical,

    origin = p projected to the floor;   Y = v;   Z = B f made horizontal and unit, B the single rotation with B u = v

so that a figure that bends over, or lies on its back, keeps the heading that it would have stood up with. The paper has
z up and x forward; here Y is up and Z forward.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import linear, quaternion, transform

UP = np.array([0.0, 1.0, 0.0])
AHEAD = np.array([0.0, 0.0, 1.0])


def frames_of(origins: Array, fronts: Array, ups: Array) -> Array:
    """world_from_local (F, 4, 4) of roots at `origins` (F, 3) with world directions `fronts` and `ups` (F, 3)."""
    righted = quaternion.rotate(quaternion.between(ups, UP), fronts)
    righted[:, 1] = 0.0
    ahead = linear.normalise(righted, otherwise=AHEAD)
    frames = np.zeros((len(origins), 4, 4))
    frames[:, :3, 0] = np.cross(UP, ahead)
    frames[:, 1, 1] = 1.0
    frames[:, :3, 2] = ahead
    frames[:, 0, 3], frames[:, 2, 3] = origins[:, 0], origins[:, 2]
    frames[:, 3, 3] = 1.0
    return frames


def into_local(frames: Array, points: Array) -> Array:
    """Points (F, P, 3) of the world in the local frames (F, 4, 4)."""
    return transform.apply(transform.invert_rigid(frames)[:, None], points)


def into_world(frames: Array, points: Array) -> Array:
    """Points (F, P, 3) of the local frames (F, 4, 4) in the world."""
    return transform.apply(frames[:, None], points)
