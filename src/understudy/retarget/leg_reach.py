"""Legs that reach: the least turn of a few joints that brings points to their goals, each frame from its own pose.

With the turns t of the joints since the start, seen in the world, J how they move the points, s a shift of the whole
figure and r what the points still miss,

    minimise |r|^2 / soft + |t|^2 + |s|^2 / give

where soft is all but zero, and give so small that hips stay unless legs are straight. The root turns too, about the
vertical: it hardly does where legs are long, and helps those whose legs are short. A step goes to t' = J^T z with
(J J^T + give 1 1^T + soft) z = r + J t + s, a system as small as the number of points; where it does not help it is
damped. What is open keeps its pose. Joints turn only about the axes, and as far, as their limits let them; where a
start is beyond a limit, it goes no further.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.features.root import smooth
from understudy.maths import accelerate, quaternion, transform
from understudy.retarget.freedom import Limits, limit_boxes
from understudy.retarget.poses import Poses

KERNELS = "understudy.retarget.leg_reach_kernels"
ITERATIONS = 40  # at most; four to six suffice where legs are bent
SOFT = 2e-5  # of the squared length of a leg: where hips give way, feet miss by a thousandth of it
GIVE = 5e-2  # of the squared length of a leg: hips take a twentieth of a correction, and more where legs are straight

EASE, EASE_ROOT = 0.06, 0.12  # seconds, of limbs and of the whole figure


def reach(
    poses: Poses, turning: Array, carriers: Array, points: Array, goals: Array, limits: Limits | None = None
) -> Poses | None:
    """Poses whose `points` (F, K, 3), carried by joints (K,), are at `goals` (F, K, 3); None without compiled code.

    `turning` (n,) are the joints of the limbs that turn, unbroken chains down to the carriers; the root is not one.
    Limits may make neighbouring frames choose differently: what was found is smoothed over time, and the search is
    done again from there.
    """
    if accelerate.kernels(KERNELS) is None:
        return None
    found = _reach(poses, turning, carriers, points, goals, limits)
    if len(poses) < 3:
        return found
    local = transform.apply(transform.invert(poses.world[:, carriers]), points)
    eased = _eased(poses, found)
    return _reach(eased, turning, carriers, transform.apply(eased.world[:, carriers], local), goals, limits)


def _eased(poses: Poses, found: Poses) -> Poses:
    """The change from one motion to another, smoothed over time."""
    change = quaternion.multiply(quaternion.conjugate(poses.rotations), found.rotations)
    vectors = quaternion.to_rotation_vector(quaternion.upper(change)).reshape(len(poses), -1)
    roots = np.repeat(poses.skeleton.parents < 0, 3)
    vectors = np.where(roots, smooth(vectors, EASE_ROOT * poses.rate), smooth(vectors, EASE * poses.rate))
    turned = quaternion.from_rotation_vector(vectors.reshape(*change.shape[:2], 3))
    moves = (found.translations - poses.translations).reshape(len(poses), -1)
    translations = poses.translations + smooth(moves, EASE_ROOT * poses.rate).reshape(poses.translations.shape)
    return Poses(poses.skeleton, translations, quaternion.multiply(poses.rotations, turned), poses.rate)


def _reach(poses: Poses, turning: Array, carriers: Array, points: Array, goals: Array, limits: Limits | None) -> Poses:
    """`reach`, once."""
    kernels = accelerate.kernels(KERNELS)
    assert kernels is not None  # asked before
    skeleton = poses.skeleton
    root = skeleton.ancestors(int(carriers[0]))[-1]
    turning = np.concatenate([[root], np.sort(turning)])
    number = np.full(len(skeleton) + 1, -1)
    number[turning] = np.arange(len(turning))
    parent = np.maximum(number[skeleton.parents[turning]], 0)  # limbs leave a trunk that turns with the root
    parent[0] = -1
    above = np.array([[j in skeleton.ancestors(int(c)) for j in turning] for c in carriers], bool)
    rotations = world_rotations(skeleton, poses.rotations)
    up = np.zeros((len(poses), len(turning), 4))
    up[..., 3] = 1.0
    has_parent = skeleton.parents[turning] >= 0
    up[:, has_parent] = rotations[:, skeleton.parents[turning[has_parent]]]
    local = np.ascontiguousarray(poses.rotations[:, turning])
    low, high, limited = (box[turning] for box in limit_boxes(skeleton, limits))
    limited[0] = False
    rest = quaternion.normalise(skeleton.rotations[turning])
    low, high = _including(rest, local, low, high)
    places = np.ascontiguousarray(poses.world[:, turning][..., :3, 3])
    length = float(
        np.mean(np.linalg.norm(points - places[:, [_top(parent, int(number[c])) for c in carriers]], axis=2))
    )
    turned, shifts = np.empty((len(poses), len(turning), 4)), np.empty((len(poses), 3))
    kernels.solve_frames(
        (parent, number[carriers], above, limited, rest),
        (places, np.ascontiguousarray(points), np.ascontiguousarray(goals), up, local, low, high),
        (ITERATIONS, GIVE * length**2, SOFT * length**2),
        turned,
        shifts,
    )
    result = np.array(poses.rotations)
    in_parent = quaternion.multiply(quaternion.multiply(quaternion.conjugate(up), turned), up)
    result[:, turning] = quaternion.multiply(in_parent, local)
    shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
    shift[:, :3, 3] = shifts
    return Poses(skeleton, poses.translations, quaternion.unroll(result), poses.rate).moved(shift)


def world_rotations(skeleton: Skeleton, rotations: Array) -> Array:
    """(F, J, 4) the rotations of joints in the world, of local ones (F, J, 4); scales leave them alone."""
    result = np.array(rotations)
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            result[:, j] = quaternion.multiply(result[:, p], result[:, j])
    return quaternion.normalise(result)


def _including(rest: Array, local: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """(F, n, 3) limits that the start is within."""
    start = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(rest), local))
    return np.minimum(low, start), np.maximum(high, start)


def _top(parent: Array, joint: int) -> int:
    """The first joint of the limb, below the root."""
    while parent[joint] > 0:
        joint = int(parent[joint])
    return joint
