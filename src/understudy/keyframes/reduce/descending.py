"""From the root down: each joint is keyed so that it makes up for what the joints above it are off.

An error of a joint's orientation swings everything below it, but the joints below can turn back: if a child keeps its
orientation in the world, all that is left of its parent's error is the shift of the child itself, the error times the
length of one bone. So joints are keyed in the order of the tree, and each aims at the rotation that restores its
orientation in the world under the parent as it is keyed by then,

    R_j = Q'_p^T Q_j,        Q_j in the source, Q'_p as keyed

and its levers reach to its own children only. Jitter of the hips that thighs and spine undo, as captures have it,
vanishes from all of them.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.keyframes.reduce import search, world_kernels
from understudy.keyframes.reduce.bones import TURNING
from understudy.keyframes.reduce.groups import Group
from understudy.keyframes.reduce.measure import Measure
from understudy.keyframes.reduce.world_kernels import World
from understudy.maths import euler, quaternion

SHARE = 0.4  # of the tolerance on positions that one joint may take: shares of a chain add up, at random
SHARE_TURN = 0.8  # of that on orientations, which nothing else adds to
MORE = 1.1  # times the excess, that a column is held tighter where joints below it are off too far
AROUND = 31  # samples about the moment: keys act that far
JOINT_STAGES = (0.7 * SHARE, SHARE)
COLUMN_STAGES = (0.35, 0.5, 0.65, 0.8, 0.9, 0.985)
"""Tolerances while keys are put in, then while they are taken out; columns that move no joint have theirs for
themselves."""


def bone_levers(measure: Measure, world: World) -> Array:
    """(C, M) levers that reach from each joint to its children, in tolerances for one unit of a column."""
    parents = measure.bones.parents
    below = [np.concatenate([[j], np.flatnonzero(parents == j)]) for j in range(len(parents))]
    first = np.concatenate([[0], np.cumsum([len(b) for b in below])]).astype(np.int64)
    near = world._replace(
        first=first,
        below=np.concatenate([np.zeros(0, np.int64), *below]).astype(np.int64),
        reach_turn=world.reach_turn * (SHARE / SHARE_TURN),
    )
    lever = np.empty(world.error.shape)
    world_kernels.levers(near, lever)
    return np.maximum(lever, 1e-6)


def order(measure: Measure, groups: list[Group]) -> list[tuple[Group, int]]:
    """The groups from the root down, each with the number of its channel."""
    channels = measure.given.channels
    owner = np.searchsorted(channels.offsets, [int(group.columns[0]) for group in groups], side="right") - 1
    depth = []
    for number in owner:
        channel = channels[int(number)]
        depth.append(measure.bones.joints.get((channel.target, channel.kind), len(measure.bones.parents)))
    return [(groups[i], int(owner[i])) for i in np.argsort(depth, kind="stable")]


def descend(measure: Measure, groups: list[Group], world: World, loop: bool) -> None:
    """Give every group its first keys, aimed at what is left to do for it."""
    values = measure.given.values.copy()
    none = np.full(len(world.joint), -1)
    for group, number in order(measure, groups):
        moves_joint = world.joint[group.columns[0]] >= 0
        if moves_joint and not group.is_still:
            group.target[:] = aimed(measure, number, values).T
        stages = JOINT_STAGES if moves_joint else COLUMN_STAGES
        group.begin(loop, stages[0])
        alone = world._replace(joint=none, band=np.zeros(world.band.shape), error=np.zeros(world.error.shape))
        alone.band[group.columns] = np.maximum(group.weight, world.band[group.columns])
        if group.count > 1:
            alone.error[group.columns] = group.sampled() - group.target
            search.estimate(group, alone)
            for limit in stages[1:]:
                search.join(group, alone, limit)
                search.thin(group, alone, limit)
                if not moves_joint:
                    search.shift(group, alone, limit)
                    search.merge(group, alone, limit)
        values[:, group.columns] = group.sampled().T


def tighten(world: World, worst: Array, tight: Array) -> None:
    """Raise tight (C, M), factors on the levers, for columns above joints whose error worst (M, J) is over one."""
    from scipy.ndimage import maximum_filter1d

    for c, joint in enumerate(world.joint):
        if joint >= 0:
            below = world.below[world.first[joint] : world.first[joint + 1]]
            most = maximum_filter1d(worst[:, below].max(axis=1), AROUND)
            tight[c] *= np.where(most > 1, MORE * most, 1.0)


def aimed(measure: Measure, number: int, values: Array) -> Array:
    """(M, n) what a channel should be for its joint to be turned as in the source, while the others have `values`."""
    channels = measure.given.channels
    channel = channels[number]
    own = measure.given.values[:, int(channels.offsets[number]) : int(channels.offsets[number + 1])]
    joint = measure.bones.joints.get((channel.target, channel.kind))
    if joint is None or channel.kind not in TURNING or measure.bones.parents[joint] < 0:
        return own
    parent = int(measure.bones.parents[joint])
    turned = measure.bones.placed(values)[1][:, parent]
    wanted = quaternion.from_matrix(np.swapaxes(turned, -1, -2) @ measure.turns[:, joint])
    if channel.kind == "rotation":
        return wanted * np.where(np.sum(wanted * own, axis=1, keepdims=True) < 0, -1.0, 1.0)
    return near_angles(euler.to_euler(wanted, "".join(channel.columns)), own)


def near_angles(angles: Array, others: Array) -> Array:
    """The angles (M, 3) of the same rotations (Tait-Bryan) that are nearest to others (M, 3)."""
    flipped = angles * [1.0, -1.0, 1.0] + np.pi
    near = [others + np.remainder(each - others + np.pi, 2 * np.pi) - np.pi for each in (angles, flipped)]
    distance = [np.sum((each - others) ** 2, axis=1) for each in near]
    return np.where((distance[0] <= distance[1])[:, None], near[0], near[1])
