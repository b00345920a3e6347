"""Closed-form reach of one chain: how its joints turn so that its tip comes to a goal.

Hinges first bend until the tip is as far from the first joint as the goal is, then the first joint swings it there.
With the joint p of a hinge of axis a, k = p - first, w = tip - p, a bend by t changes the distance as

    d^2 = |k|^2 + |w|^2 + 2 (A + B cos t + C sin t),   A = (k.a)(a.w),   B = k.w - A,   C = k.(a x w)

which is solved for t. Of the two solutions the given side is taken: a knee never flips over, and one that is bent to
the wrong side by more than it may returns to the right one. Near a straight chain t grows as the root of the distance
asked for, and a knee would jump: there the first hundredth of the length is met in part only, the less the smaller it
is. Several hinges share the bend; each stays within its range. Bones keep their lengths: where a goal is too far or too
near, the tip is on the line to it, as close as it gets.
"""

from __future__ import annotations

from math import acos, atan2, pi, sqrt

import numpy as np

from understudy.checks import Array
from understudy.maths import jit, quaternion

KERNELS = "understudy.character.body.ik_kernels"
HINGE_ROUNDS = 2  # the first shares the bend among hinges, the second makes up for those at the end of their range
MIN_HINGE_EFFECT_RATIO = 1e-12  # of the squared length of a chain: a smaller effect of a hinge is none
# Range over which a knee that was bent to the wrong side comes to be bent as far to the right one.
WRONG_BEND_BLEND_RAD = 0.3
# Of the length: a chain that could be longer by less than the first is straight; it meets a change of distance in full
# above the second.
STRAIGHT_SLACK_RATIO, STRAIGHT_REACH_RATIO = 0.01, 0.012


def reach_chain(
    parent: Array, chain: Array, tip: Array, goal: Array, hinges: Array, sides: Array, room: Array
) -> tuple[Array, Array]:
    """Local rotations (n, 4) of the joints of a chain whose tip comes as near to `goal` (3,) as it can, and the tip.

    `parent` (4, 4) and `chain` (n, 4, 4) are world_from_joint of the first joint's parent and of the joints, `tip` (3,)
    is in the world. `hinges` (n, 3) are unit axes in the frames of the joints, zeros where a joint does not turn; the
    first is not read. `sides` (n, 2) is 1 or -1, whether a hinge bends the chain by turning on from straight or
    back, and the radians that it may be bent the other way. `room` (n, 2) is the range of each hinge from its current
    angle, radians.
    """
    kernels = jit.kernels(KERNELS)
    if kernels is None:
        return reach_chain_numpy(parent, chain, tip, goal, hinges, sides, room)
    turns, reached = np.empty((len(chain), 4)), np.empty(3)
    kernels.reach_chain(
        parent,
        chain,
        tip,
        goal,
        hinges,
        sides,
        room,
        HINGE_ROUNDS,
        (MIN_HINGE_EFFECT_RATIO, WRONG_BEND_BLEND_RAD, STRAIGHT_SLACK_RATIO, STRAIGHT_REACH_RATIO),
        turns,
        reached,
    )
    return turns, reached


def reach_chain_numpy(
    parent: Array, chain: Array, tip: Array, goal: Array, hinges: Array, sides: Array, room: Array
) -> tuple[Array, Array]:
    """`reach_chain` in NumPy alone."""
    count = len(chain)
    places = np.concatenate([chain[:, :3, 3], tip[None]])
    frames = chain[:, :3, :3] / np.linalg.norm(chain[:, :3, :3], axis=1, keepdims=True)  # (n, 3, 3) rotations
    length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    wanted = _soften_distance(float(np.linalg.norm(tip - places[0])), float(np.linalg.norm(goal - places[0])), length)
    turned = np.zeros(count)
    for number in range(HINGE_ROUNDS if count > 2 else 1):
        for joint in range(1, count):
            now = float(np.linalg.norm(places[-1] - places[0]))
            aim = now + (wanted - now) / (count - joint if number == 0 else 1)
            axis = frames[joint] @ hinges[joint]
            left = room[joint] - turned[joint]
            angle = hinge_bend(places[0], places[joint], places[-1], axis, aim, sides[joint], left, length)
            turned[joint] += angle
            _turn(frames, places, joint, angle * axis)
    _turn(frames, places, 0, _swing(places[-1] - places[0], goal - places[0]))
    above = parent[:3, :3] / np.linalg.norm(parent[:3, :3], axis=0)
    return quaternion.from_matrix(np.swapaxes(np.concatenate([above[None], frames[:-1]]), 1, 2) @ frames), places[-1]


def hinge_bend(
    first: Array, joint: Array, tip: Array, axis: Array, aim: float, side: Array, room: Array, length: float
) -> float:
    """The angle about an axis through `joint` that brings `tip` to a distance from `first`, within `room` (2,)."""
    k, w = joint - first, tip - joint
    a = float(k @ axis) * float(axis @ w)
    b, c = float(k @ w) - a, float(k @ np.cross(axis, w))
    size = sqrt(b * b + c * c)
    if size <= MIN_HINGE_EFFECT_RATIO * length**2:
        return 0.0
    ratio = (0.5 * (aim * aim - float(k @ k) - float(w @ w)) - a) / size
    straight, opens = atan2(c, b), acos(min(max(ratio, -1.0), 1.0))
    beyond = side[0] * straight  # the angle by which it is bent to the wrong side
    wrong = 0.0
    if beyond > 0:
        may = _fade(beyond, float(side[1]))
        wrong = _fade(opens, beyond) * (
            2.0 * may + (1.0 - may) * WRONG_BEND_BLEND_RAD / (beyond + WRONG_BEND_BLEND_RAD)
        )
    angle = straight + side[0] * opens * (1.0 - wrong)
    angle -= 2 * pi * round(angle / (2 * pi))
    return min(max(angle, float(room[0])), float(room[1]))


def straight_angle(first: Array, joint: Array, tip: Array, axis: Array) -> Array:
    """(...,) the angle about an axis (..., 3) through `joint` at which `tip` is furthest from `first`."""
    k, w = joint - first, tip - joint
    a = (k * axis).sum(axis=-1) * (axis * w).sum(axis=-1)
    return np.asarray(np.arctan2((k * np.cross(axis, w)).sum(axis=-1), (k * w).sum(axis=-1) - a))


def _soften_distance(now: float, wanted: float, length: float) -> float:
    """The distance asked of a chain instead of `wanted`, where it is nearly straight."""
    little = STRAIGHT_REACH_RATIO * length * max(1.0 - (length - now) / (STRAIGHT_SLACK_RATIO * length), 0.0)
    x = min(abs(wanted - now) / little, 1.0) if little > 0 else 1.0
    return now + (wanted - now) * x * x * (3.0 - 2.0 * x)


def _fade(value: float, limit: float) -> float:
    """1 up to a limit, 0 beyond three times that."""
    x = min(max(0.5 * (3.0 - value / limit), 0.0), 1.0) if limit > 0 else 0.0
    return x * x * (3.0 - 2.0 * x)


def _turn(frames: Array, places: Array, joint: int, vector: Array) -> None:
    """Turn a joint and all below it by a rotation vector (3,), in place."""
    turn = quaternion.to_matrix(quaternion.from_rotation_vector(vector))
    frames[joint:] = turn @ frames[joint:]
    places[joint + 1 :] = (places[joint + 1 :] - places[joint]) @ turn.T + places[joint]


def _swing(start: Array, end: Array) -> Array:
    """(3,) the shortest rotation vector from one direction to another."""
    across = np.cross(start, end)
    sine = float(np.linalg.norm(across))
    return np.asarray(across * (atan2(sine, float(start @ end)) / max(sine, np.finfo(float).tiny)))
