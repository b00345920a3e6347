"""How limbs that the source lacks are held: as the pairs near a frame hold them.

The animator may pose a tail in some pairs. Between them each joint turns to the weighted mean of the pairs' turns,

    w_i = |y - y_i|^-3

[Shepard 1968]: exactly as posed at a pair, and without a jump between. Springs then swing about that (`spring_limbs`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion
from understudy.retarget.pairs import Pairs
from understudy.retarget.pose_distance import squared_pose_distances
from understudy.retarget.poses import Poses
from understudy.retarget.spring_limbs import SpringLimb

AT_KEY = 1e-12  # square metres: nearer than that, a pose is the key pose itself


def start_poses(pairs: Pairs, local: Array, limbs: Sequence[SpringLimb], rate: float) -> Poses:
    """(F) the pose that a search begins from: that of the pair in the middle, limbs held as the nearby pairs do."""
    skeleton = pairs.poses.skeleton
    flat = pairs.target.reshape(len(pairs), -1)
    middle = int(((flat - flat.mean(axis=0)) ** 2).sum(axis=1).argmin())
    frames = len(local)
    translations = np.repeat(pairs.poses.translations[middle][None], frames, axis=0)
    rotations = np.repeat(pairs.poses.rotations[middle][None], frames, axis=0)
    joints = [skeleton.index(joint) for limb in limbs for joint in limb.joints]
    if joints:
        turns = pairs.poses.rotations[:, joints]  # (N, n, 4)
        turns = turns * np.where(np.einsum("njk,jk->nj", turns, turns[middle]) < 0, -1.0, 1.0)[..., None]
        held = np.einsum("fn,njk->fjk", nearness(pairs, local), turns)
        rotations[:, joints] = quaternion.normalise(held)
    return Poses(skeleton, translations, rotations, rate)


def nearness(pairs: Pairs, local: Array) -> Array:
    """(F, N) weights of the pairs for source points (F, P, 3), each row summing to 1."""
    squares = squared_pose_distances(np.asarray(local).reshape(len(local), -1), pairs.source.reshape(len(pairs), -1))
    nearest = np.maximum(squares.min(axis=1, keepdims=True), AT_KEY)
    weights = (nearest / np.maximum(squares, AT_KEY)) ** 1.5
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
