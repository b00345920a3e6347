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

JOINT_POSITION_SHARE = 0.4  # of the position tolerance for one joint: the errors of a chain add up, at random
JOINT_TURN_SHARE = 0.8  # of the orientation tolerance for one joint: nothing else adds to it
TIGHTEN_WINDOW_SAMPLES = 15  # samples around a moment: the range of a key
AIM_RADIUS_SAMPLES = 64  # around a moment, in which a key is added: several keys

JOINT_STAGES = (0.7 * JOINT_POSITION_SHARE, JOINT_POSITION_SHARE)
COLUMN_STAGES = (0.35, 0.7, 0.985)
"""Limits in tolerances, first while keys are added, then while they are removed. Columns that move no joint have their
whole tolerance for themselves."""


def key_from_root(measure: WorldError, groups: list[KeyGroup], world: WorldState, loop: bool) -> None:
    """Give every group its first keys, aimed at the errors that the groups before it left."""
    none = np.full(len(world.joint), -1)
    alone = world._replace(joint=none, band=np.zeros(world.band.shape), error=np.zeros(world.error.shape))
    keyed = KeyedOrientations(measure)
    for group, number in order_from_root(measure, groups):
        moves_joint = world.joint[group.columns[0]] >= 0
        if moves_joint and not group.is_still:
            group.target[:] = keyed.aim(number).T
        stages = JOINT_STAGES if moves_joint else COLUMN_STAGES
        group.begin(loop, stages[0])
        if group.count > 1:
            alone.band[group.columns] = np.maximum(group.weight, world.band[group.columns])
            alone.error[group.columns] = group.values - group.target
            estimate_costs(group, alone)
            for limit in stages[1:]:
                smooth_keys(group, alone, limit)
                remove_keys(group, alone, limit)
                if not moves_joint:
                    shift_keys(group, alone, limit)
                    merge_keys(group, alone, limit)
        keyed.set(number, group.values.T)


class KeyedOrientations:
    """World orientations of the joints as keyed so far, from the root down."""

    def __init__(self, measure: WorldError) -> None:
        self.measure = measure
        self.turns = measure.turns.copy()  # (M, J, 3, 3) those of the source until a joint is keyed

    def _joint(self, number: int) -> int:
        """The joint that the channel of this number turns, or -1."""
        channel = self.measure.given.channels[number]
        turning = channel.kind in ROTATION_KINDS
        return self.measure.bones.joints.get((channel.target, channel.kind), -1) if turning else -1

    def aim(self, number: int) -> Array:
        """(M, n) the values of a channel that give its joint the orientation of the source under its keyed parent."""
        channels = self.measure.given.channels
        channel, joint = channels[number], self._joint(number)
        source = self.measure.given.values[:, int(channels.offsets[number]) : int(channels.offsets[number + 1])]
        parent = int(self.measure.bones.parents[joint]) if joint >= 0 else -1
        if parent < 0:
            return source
        wanted = quaternion.from_matrix(np.swapaxes(self.turns[:, parent], -1, -2) @ self.measure.turns[:, joint])
        if channel.kind == "rotation":
            return wanted * np.where(np.sum(wanted * source, axis=1, keepdims=True) < 0, -1.0, 1.0)
        return nearest_angles(euler.to_euler(wanted, "".join(channel.columns)), source)

    def set(self, number: int, values: Array) -> None:
        """Take the keyed values (M, n) of a channel; joints that are not keyed keep their rotation of the source."""
        joint = self._joint(number)
        if joint < 0:
            return
        channel, parent = self.measure.given.channels[number], int(self.measure.bones.parents[joint])
        turn = euler.from_euler(values, "".join(channel.columns)) if channel.kind == "euler" else values
        local = quaternion.to_matrix(quaternion.normalise(turn))
        self.turns[:, joint] = local if parent < 0 else self.turns[:, parent] @ local


def order_from_root(measure: WorldError, groups: list[KeyGroup]) -> list[tuple[KeyGroup, int]]:
    """The groups from the root down, each with the number of its channel."""
    channels = measure.given.channels
    owner = np.searchsorted(channels.offsets, [int(group.columns[0]) for group in groups], side="right") - 1
    depth = []
    for number in owner:
        channel = channels[int(number)]
        depth.append(measure.bones.joints.get((channel.target, channel.kind), len(measure.bones.parents)))
    return [(groups[i], int(owner[i])) for i in np.argsort(depth, kind="stable")]


def nearest_angles(angles: Array, others: Array) -> Array:
    """The angles (M, 3) of the same rotations (Tait-Bryan) that are nearest to others (M, 3)."""
    flipped = angles * [1.0, -1.0, 1.0] + np.pi
    near = [others + np.remainder(form - others + np.pi, 2 * np.pi) - np.pi for form in (angles, flipped)]
    distance = [np.sum((form - others) ** 2, axis=1) for form in near]
    return np.where((distance[0] <= distance[1])[:, None], near[0], near[1])


def bone_levers(measure: WorldError, world: WorldState, planted_reach: float) -> Array:
    """(C, M) levers that reach from each joint to its children, in tolerances for one unit of a column.

    A joint above a planted one, and that one itself, have its reach (1 / metres): orientations are compensated below,
    shifts are not.
    """
    parents = measure.bones.parents
    below = [np.concatenate([[j], np.flatnonzero(parents == j)]) for j in range(len(parents))]
    first = np.concatenate([[0], np.cumsum([len(b) for b in below])]).astype(np.int64)
    reach = np.where(world.reach_step > 0, np.maximum(world.reach, planted_reach), world.reach)
    for j in range(len(parents) - 1, -1, -1):
        if parents[j] >= 0:
            np.maximum(reach[:, parents[j]], reach[:, j], out=reach[:, parents[j]])
    near = world._replace(
        first=first,
        below=np.concatenate([np.zeros(0, np.int64), *below]).astype(np.int64),
        reach=reach,
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
            tight[c] *= np.maximum(most, 1.0)


def estimate_costs(group: KeyGroup, world: WorldState) -> None:
    """Compute the cost of removing each key."""
    for k in range(1, group.count - 1):
        if not group.is_pinned(k):
            group.cost[k] = group.attempt(world, k, MAX_COST_TOLERANCES).worst


def remove_keys(group: KeyGroup, world: WorldState, limit: float) -> None:
    """Remove every key that the limit (tolerances) does not need, cheapest first as far as costs are known."""
    inside = slice(1, max(group.count - 1, 1))
    order = np.argsort(group.cost[inside], kind="stable")
    for sample in group.keys[inside][order].tolist():
        k = int(np.searchsorted(group.keys[: group.count], sample))
        untried = group.marks[k] & REMOVAL_UNTRIED
        if group.is_pinned(k) or (not untried and group.cost[k] > RETRY_COST_RATIO * limit):
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
        if not group.marks[k] & SHIFT_UNTRIED or group.is_pinned(k):
            continue
        group.marks[k] &= ~SHIFT_UNTRIED
        before, current, after = group.keys[k - 1 : k + 2].tolist()
        left, right = (max(1, gap // (10 * group.frame)) * group.frame for gap in (current - before, after - current))
        costs = {}
        for sample, share in {current: SHIFT_GAIN_RATIO, current - left: 1.0, current + right: 1.0}.items():
            if sample == current or group.has_room(sample, k - 1, k + 1):
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
        fit_kernels.chain_cost(keys, local[c], 0, inside - 1, group.target[c], group.weight[c], group.cut)
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
        if (
            marks & MERGE_UNTRIED
            and not (group.is_pinned(k) or group.is_pinned(k + 1))
            and group.keys[k + 1] - group.keys[k] >= 2 * group.frame
            and group.cost[k : k + 2].min() <= _trial_factor(group) * MERGE_SINGLE_COST_RATIO * limit
        ):
            group.marks[k] &= ~MERGE_UNTRIED
            _merge_pair(group, world, limit, k)
        k += 1


def _merge_pair(group: KeyGroup, world: WorldState, limit: float, k: int) -> None:
    """Try the middle, then samples around the best, in halving steps, while the cost is not too high."""
    frame = group.frame
    first, second = group.keys[k : k + 2].tolist()
    at, step = (first + second) // (2 * frame) * frame, (second - first) // (4 * frame) * frame
    if not group.has_room(at, k - 1, k + 2):
        return
    tried = {at: group.attempt(world, k, limit, merged=at)}
    while (
        tried[at].worst > limit
        and tried[at].worst < _trial_factor(group) * MERGE_SEARCH_COST_RATIO * limit
        and step >= frame
    ):
        for sample in (at - step, at + step):
            inside = first < sample < second and group.has_room(sample, k - 1, k + 2)
            if sample not in tried and inside and min(t.worst for t in tried.values()) > limit:
                tried[sample] = group.attempt(world, k, limit, merged=sample)
        at = min(tried, key=lambda sample: tried[sample].worst)
        step = step // (2 * frame) * frame
    if tried[at].worst <= limit:
        group.accept(world, group.attempt(world, k, limit, merged=at))


def _trial_factor(group: KeyGroup) -> float:
    """Factor on the cost limits of merging: trials of a single column are cheap, and are carried further."""
    return 2.5 if len(group.columns) == 1 else 1.0


def smooth_keys(group: KeyGroup, world: WorldState, limit: float) -> None:
    """Make broken keys smooth again, all columns of a key at once, where the limit allows it."""
    for k in range(1, group.count - 1):
        broken = group.broken[:, k].copy()
        straight = any(fit_kernels.is_straight(group.keys, i, group.cut) for i in (k - 1, k))
        if broken.any() and group.marks[k] & JOIN_UNTRIED and not straight:
            group.marks[k] &= ~JOIN_UNTRIED
            group.broken[:, k] = False
            tried = group.attempt(world, k, limit, int(group.keys[k]))
            if tried.worst <= limit:
                group.accept(world, tried)
            else:
                group.broken[:, k] = broken


def add_key(group: KeyGroup, world: WorldState, sample: int, aim: Array) -> slice | None:
    """Add a key at the frame nearest to a sample, or break the key there, and fit it to `aim` (n, M).

    The curves bend to the aim between the two neighbouring keys only. Returns the samples that change; None where all
    keys near the sample are broken already.
    """
    if group.count == 1:
        group.unflatten()
    frames = np.arange(group.frame, group.target.shape[1] - 1, group.frame)
    frames = frames[np.abs(frames - sample) <= AIM_RADIUS_SAMPLES]
    keys = group.keys[: group.count]
    after = np.searchsorted(keys, frames)  # the first key that is not before each frame
    at_key = keys[after] == frames
    done = at_key & group.broken[:, after].all(axis=0)
    if done.all():
        return None
    apart = np.minimum(keys[after] - frames, frames - keys[after - 1])
    distance = np.abs(frames - sample)
    distance += np.where(~at_key & (apart < fit_kernels.MIN_FITTED_SAMPLES), fit_kernels.MIN_FITTED_SAMPLES, 0)
    nearest = int(np.argmin(np.where(done, len(group.cut), distance)))
    near, k = int(frames[nearest]), int(after[nearest])
    if at_key[nearest]:
        group.broken[:, k] = True
    else:
        group.insert(near)
        group.update_values(world, k - 1, k + 1)
    reach = search_kernels.REFIT_KEYS_EACH_SIDE
    changed = slice(int(group.keys[max(k - reach, 0)]), int(group.keys[min(k + reach, group.count - 1)]) + 1)
    share = np.interp(np.arange(changed.start, changed.stop), group.keys[k - 1 : k + 2], [0.0, 1.0, 0.0])
    group.target[:] = group.values
    group.target[:, changed] += share * (aim - group.values)[:, changed]
    group.accept(world, group.attempt(world, k, 1e300, near))
    return changed
