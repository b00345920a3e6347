"""The search for few keys: key each joint from the root down; then remove, shift, merge and smooth keys, or add one.

A change is tried by fitting the curves around it again, and applied where the world stays within the limit.

From the root down (`key_from_root`). An error of the orientation of a joint swings everything below it, but the joints
below can compensate: if a child keeps its orientation in the world, all that is left of the error of its parent is the
shift of the child itself, the error times the length of one bone. So joints are keyed in the order of the tree, and
each aims at the rotation that restores its orientation in the world under the parent as keyed so far,

    R_j = Q'_p^T Q_j,        Q_j in the source, Q'_p as keyed

and its levers reach to its own children only. Jitter of the hips that thighs and spine undo, common in captures,
vanishes from all of them.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.edit.reduce import fit_kernels, search_kernels
from understudy.edit.reduce.groups import JOIN_UNTRIED, MERGE_UNTRIED, REMOVAL_UNTRIED, SHIFT_UNTRIED, KeyGroup
from understudy.edit.reduce.search_kernels import WorldState
from understudy.edit.reduce.world_error import ROTATION_KINDS, WorldError
from understudy.maths import euler, quaternion

# The cost of a change is the worst error that it causes, in tolerances.
RETRY_COST_RATIO = 1.3  # of the limit: a key with a higher last cost is retried only after a change near it
MERGE_SINGLE_COST_RATIO = 2.5  # of the limit: two keys whose removal costs more are not merged either
MERGE_SEARCH_COST_RATIO = 2.0  # of the limit: the search for a merged key ends at a higher cost
MAX_COST_TOLERANCES = 8.0  # tolerances; higher costs are not computed exactly
SHIFT_GAIN_RATIO = 0.97  # of the sum of squares: a shift has to lower it below this share
PEAK_COST_RATIO = 0.6  # factor on the sum of squares of a key on a peak, which favours it
PEAK_ATTRACTION_RATIO = 0.15  # of the span between its neighbours: a peak this near attracts a key

JOINT_POSITION_SHARE = 0.4  # of the position tolerance for one joint: the errors of a chain add up, at random
JOINT_TURN_SHARE = 0.8  # of the orientation tolerance for one joint: nothing else adds to it
TIGHTEN_FACTOR = 1.1  # times the excess, by which a column is tightened where joints below it are off too far
TIGHTEN_WINDOW_SAMPLES = 31  # samples around the moment: the range of a key

JOINT_STAGES = (0.7 * JOINT_POSITION_SHARE, JOINT_POSITION_SHARE)
COLUMN_STAGES = (0.35, 0.5, 0.65, 0.8, 0.9, 0.985)
"""Limits in tolerances, first while keys are added, then while they are removed. Columns that move no joint have their
whole tolerance for themselves."""


def key_from_root(measure: WorldError, groups: list[KeyGroup], world: WorldState, loop: bool) -> None:
    """Give every group its first keys, aimed at the errors that the groups before it left."""
    values = measure.given.values.copy()
    none = np.full(len(world.joint), -1)
    for group, number in order_from_root(measure, groups):
        moves_joint = world.joint[group.columns[0]] >= 0
        if moves_joint and not group.is_still:
            group.target[:] = aim_keys(measure, number, values).T
        stages = JOINT_STAGES if moves_joint else COLUMN_STAGES
        group.begin(loop, stages[0])
        alone = world._replace(joint=none, band=np.zeros(world.band.shape), error=np.zeros(world.error.shape))
        alone.band[group.columns] = np.maximum(group.weight, world.band[group.columns])
        if group.count > 1:
            alone.error[group.columns] = group.sample_columns() - group.target
            estimate_costs(group, alone)
            for limit in stages[1:]:
                smooth_keys(group, alone, limit)
                remove_keys(group, alone, limit)
                if not moves_joint:
                    shift_keys(group, alone, limit)
                    merge_keys(group, alone, limit)
        values[:, group.columns] = group.sample_columns().T


def order_from_root(measure: WorldError, groups: list[KeyGroup]) -> list[tuple[KeyGroup, int]]:
    """The groups from the root down, each with the number of its channel."""
    channels = measure.given.channels
    owner = np.searchsorted(channels.offsets, [int(group.columns[0]) for group in groups], side="right") - 1
    depth = []
    for number in owner:
        channel = channels[int(number)]
        depth.append(measure.bones.joints.get((channel.target, channel.kind), len(measure.bones.parents)))
    return [(groups[i], int(owner[i])) for i in np.argsort(depth, kind="stable")]


def aim_keys(measure: WorldError, number: int, values: Array) -> Array:
    """(M, n) the values of a channel that give its joint the orientation of the source, the others at `values`."""
    channels = measure.given.channels
    channel = channels[number]
    source = measure.given.values[:, int(channels.offsets[number]) : int(channels.offsets[number + 1])]
    joint = measure.bones.joints.get((channel.target, channel.kind))
    if joint is None or channel.kind not in ROTATION_KINDS or measure.bones.parents[joint] < 0:
        return source
    parent = int(measure.bones.parents[joint])
    turned = measure.bones.world_frames(values)[1][:, parent]
    wanted = quaternion.from_matrix(np.swapaxes(turned, -1, -2) @ measure.turns[:, joint])
    if channel.kind == "rotation":
        return wanted * np.where(np.sum(wanted * source, axis=1, keepdims=True) < 0, -1.0, 1.0)
    return nearest_angles(euler.to_euler(wanted, "".join(channel.columns)), source)


def nearest_angles(angles: Array, others: Array) -> Array:
    """The angles (M, 3) of the same rotations (Tait-Bryan) that are nearest to others (M, 3)."""
    flipped = angles * [1.0, -1.0, 1.0] + np.pi
    near = [others + np.remainder(form - others + np.pi, 2 * np.pi) - np.pi for form in (angles, flipped)]
    distance = [np.sum((form - others) ** 2, axis=1) for form in near]
    return np.where((distance[0] <= distance[1])[:, None], near[0], near[1])


def bone_levers(measure: WorldError, world: WorldState) -> Array:
    """(C, M) levers that reach from each joint to its children, in tolerances for one unit of a column."""
    parents = measure.bones.parents
    below = [np.concatenate([[j], np.flatnonzero(parents == j)]) for j in range(len(parents))]
    first = np.concatenate([[0], np.cumsum([len(b) for b in below])]).astype(np.int64)
    near = world._replace(
        first=first,
        below=np.concatenate([np.zeros(0, np.int64), *below]).astype(np.int64),
        reach_turn=world.reach_turn * (JOINT_POSITION_SHARE / JOINT_TURN_SHARE),
    )
    lever = np.empty(world.error.shape)
    search_kernels.write_levers(near, lever)
    return np.maximum(lever, 1e-6)


def tighten(world: WorldState, worst: Array, tight: Array) -> None:
    """Raise the lever factors `tight` (C, M) of columns above joints whose error `worst` (M, J) exceeds one."""
    from scipy.ndimage import maximum_filter1d

    for c, joint in enumerate(world.joint):
        if joint >= 0:
            below = world.below[world.first[joint] : world.first[joint + 1]]
            most = maximum_filter1d(worst[:, below].max(axis=1), TIGHTEN_WINDOW_SAMPLES)
            tight[c] *= np.where(most > 1, TIGHTEN_FACTOR * most, 1.0)


def estimate_costs(group: KeyGroup, world: WorldState) -> None:
    """Compute the cost of removing each key."""
    for k in range(1, group.count - 1):
        group.cost[k] = group.attempt(world, k, MAX_COST_TOLERANCES).worst


def remove_keys(group: KeyGroup, world: WorldState, limit: float) -> None:
    """Remove every key that the limit (tolerances) does not need, cheapest first as far as costs are known."""
    inside = slice(1, max(group.count - 1, 1))
    order = np.argsort(group.cost[inside], kind="stable")
    for sample in group.keys[inside][order].tolist():
        k = int(np.searchsorted(group.keys[: group.count], sample))
        marks = int(group.marks[k])
        if not marks & REMOVAL_UNTRIED and group.cost[k] > RETRY_COST_RATIO * limit:
            continue
        tried = group.attempt(world, k, limit)
        group.cost[k] = tried.worst
        group.marks[k] &= ~REMOVAL_UNTRIED
        if tried.worst <= limit:
            group.accept(world, tried)
    if group.count == 2:
        group.flatten(world, limit)


def shift_keys(group: KeyGroup, world: WorldState, limit: float) -> None:
    """Move each key to a frame nearby that fits better."""
    for k in range(1, group.count - 1):
        marks = int(group.marks[k])
        if not marks & SHIFT_UNTRIED:
            continue
        group.marks[k] &= ~SHIFT_UNTRIED
        before, current, after = group.keys[k - 1 : k + 2].tolist()
        steps = {
            current: SHIFT_GAIN_RATIO,
            current - max(2, (current - before) // 10 * 2): 1.0,
            current + max(2, (after - current) // 10 * 2): 1.0,
        }
        near = np.flatnonzero(group.peaks[before + 2 : after - 1]) + before + 2
        if len(near):
            peak = int(near[np.argmin(np.abs(near - current))])
            if abs(peak - current) <= max(4, PEAK_ATTRACTION_RATIO * (after - before)):
                steps[peak] = PEAK_COST_RATIO
        costs = {}
        for sample, share in steps.items():
            if before < sample < after:
                tried = group.attempt(world, k, limit, sample)
                if tried.worst <= limit:
                    costs[sample] = share * _squares(group, tried.inside)
        if costs and min(costs, key=costs.__getitem__) != current:
            tried = group.attempt(world, k, limit, min(costs, key=costs.__getitem__))
            group.accept(world, tried)


def _squares(group: KeyGroup, inside: int) -> float:
    """The weighted sum of squares of the last attempt."""
    keys, local, _, _ = group.scratch
    return sum(
        fit_kernels.chain_cost(keys, local[c], 0, inside - 1, group.target[c], group.weight[c])
        for c in range(len(group.columns))
    )


def merge_keys(group: KeyGroup, world: WorldState, limit: float) -> None:
    """Replace two neighbouring keys by one between them, where the limit allows it."""
    if limit > group.merged_at:
        group.merged_at = limit
        group.marks |= MERGE_UNTRIED
    k = 1
    while k < group.count - 2:
        marks = int(group.marks[k] | group.marks[k + 1])
        first, second = group.keys[k : k + 2].tolist()
        if (
            marks & MERGE_UNTRIED
            and second - first >= 4
            and group.cost[k : k + 2].min() <= _trial_factor(group) * MERGE_SINGLE_COST_RATIO * limit
        ):
            group.marks[k] &= ~MERGE_UNTRIED
            _merge_pair(group, world, limit, k, first, second)
        k += 1


def _merge_pair(group: KeyGroup, world: WorldState, limit: float, k: int, first: int, second: int) -> None:
    """Try the middle, then samples around the best, in halving steps, while the cost is not too high."""
    at, step = (first + second) // 4 * 2, (second - first) // 8 * 2
    tried = {at: group.attempt(world, k, limit, merged=at)}
    while (
        tried[at].worst > limit
        and tried[at].worst < _trial_factor(group) * MERGE_SEARCH_COST_RATIO * limit
        and step >= 2
    ):
        for sample in (at - step, at + step):
            if sample not in tried and first < sample < second and min(t.worst for t in tried.values()) > limit:
                tried[sample] = group.attempt(world, k, limit, merged=sample)
        at = min(tried, key=lambda sample: tried[sample].worst)
        step = step // 4 * 2
    if tried[at].worst <= limit:
        group.accept(world, group.attempt(world, k, limit, merged=at))


def _trial_factor(group: KeyGroup) -> float:
    """Factor on the cost limits of merging: trials of a single column are cheap, and are carried further."""
    return 2.5 if len(group.columns) == 1 else 1.0


def smooth_keys(group: KeyGroup, world: WorldState, limit: float) -> None:
    """Make broken keys smooth again, all columns of a key at once, where the limit allows it."""
    for k in range(1, group.count - 1):
        broken = group.broken[:, k].copy()
        if broken.any() and group.marks[k] & JOIN_UNTRIED:
            group.marks[k] &= ~JOIN_UNTRIED
            group.broken[:, k] = False
            tried = group.attempt(world, k, limit, int(group.keys[k]))
            if tried.worst <= limit:
                group.accept(world, tried)
            else:
                group.broken[:, k] = broken


def add_key(group: KeyGroup, world: WorldState, sample: int) -> bool:
    """Add a key at the frame nearest to a sample, or break the key there; False where all are broken already."""
    if group.count == 1:
        group.unflatten()
    frames = np.arange(2, group.target.shape[1] - 1, 2)
    done = np.isin(frames, group.keys[: group.count][group.broken[:, : group.count].all(axis=0)])
    if done.all():
        return False
    near = int(frames[~done][np.argmin(np.abs(frames[~done] - sample))])
    old = group.sample_columns()
    k = int(np.searchsorted(group.keys[: group.count], near))
    if group.keys[k] == near:
        group.broken[:, k] = True
    else:
        group.insert(near)
    search_kernels.apply_change(world, group.columns, 0, group.sample_columns() - old)
    group.accept(world, group.attempt(world, k, 1e300, near))
    return True
