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

import numpy as np

from understudy.checks import Array
from understudy.maths import jit

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
    turns, reached = np.empty((len(chain), 4)), np.empty(3)
    jit.kernels(KERNELS).reach_chain(
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


def straight_angle(first: Array, joint: Array, tip: Array, axis: Array) -> Array:
    """(...,) the angle about an axis (..., 3) through `joint` at which `tip` is furthest from `first`."""
    k, w = joint - first, tip - joint
    a = (k * axis).sum(axis=-1) * (axis * w).sum(axis=-1)
    return np.asarray(np.arctan2((k * np.cross(axis, w)).sum(axis=-1), (k * w).sum(axis=-1) - a))
