"""Limbs on springs lie on the floor and do not go through it.

From the body to the tip, a bone whose tip would be below the floor is turned up about its joint until the tip lies on
it. It keeps its direction over the floor; the more is missing, the more it gives way to where the limb points to at
rest, so that a tail that is let down runs out behind the body and does not flip.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion

THICK = 0.03  # of the limb's length: how high the middle of a limb is that lies on the floor
ASIDE = 0.5  # of what is missing to the floor: how much it gives way to the side


def over_floor(
    turns: Array, starts: Array, local: Array, bones: Array, offsets: Array, rest: Array, lowest: float
) -> Array:
    """(F, n, 4) local rotations of a chain whose tips stay over the floor.

    `turns` (F, 4) and `starts` (F, 3) are of what it hangs on and of its first joint in the world; `local` (F, n, 4);
    `bones` (n, 3) from joint to tip and `offsets` (n, 3) from the joint before, metres in the joints' frames; `rest`
    (n, 4) its rotations at rest. What is lower than the floor at rest, `lowest` metres, may be as low as that.
    """
    floor = min(THICK * float(np.linalg.norm(bones, axis=1).sum()), lowest)
    away = quaternion.rotate(turns, _direction(rest, bones)) * (1.0, 0.0, 1.0)
    away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    turn, place, result = turns, starts, np.empty_like(local)
    for i, bone in enumerate(bones):
        if i:
            place = place + quaternion.rotate(turn, offsets[i])
        wanted = quaternion.multiply(turn, local[:, i])
        reach = quaternion.rotate(wanted, bone)
        lifted = _lifted(reach, floor - place[:, 1], away)
        turned = quaternion.multiply(quaternion.between(reach, lifted), wanted)
        result[:, i] = quaternion.multiply(quaternion.conjugate(turn), turned)
        turn = turned
    return result


def _lifted(reach: Array, least: Array, away: Array) -> Array:
    """Bones (F, 3) of the same length whose y is at least `least` (F,), or as near to it as they can point."""
    length = np.linalg.norm(reach, axis=1)
    y = np.clip(np.maximum(reach[:, 1], least), -length, length)
    missing = y - reach[:, 1]
    level = reach * (1.0, 0.0, 1.0) + ASIDE * missing[:, None] * away
    level *= (np.sqrt(np.maximum(length**2 - y**2, 0.0)) / np.maximum(np.linalg.norm(level, axis=1), 1e-12))[:, None]
    level[:, 1] = y
    return np.where((missing > 0)[:, None], level, reach)


def _direction(rest: Array, bones: Array) -> Array:
    """(3,) where the chain points to at rest, in the frame of what it hangs on."""
    turn, sum_ = quaternion.identity(()), np.zeros(3)
    for rotation, bone in zip(rest, bones):
        turn = quaternion.multiply(turn, rotation)
        sum_ = sum_ + quaternion.rotate(turn, bone)
    return sum_
