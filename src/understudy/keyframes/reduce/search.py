"""The search for fewer keys: take out, move, merge; and put in where an error is too large.

A change is tried by fitting the curves around it again, and made where the world stays within the limit.
"""

from __future__ import annotations

import numpy as np

from understudy.keyframes.reduce import fit_kernels, world_kernels
from understudy.keyframes.reduce.groups import UNJOINED, UNMERGED, UNMOVED, UNTRIED, Group
from understudy.keyframes.reduce.world_kernels import World

HOPELESS = 1.3  # of the limit: a key that cost more when last tried is not tried again while nothing near it changes
FAR = 2.5  # of the limit: keys that cost more alone are not merged either
NEAR = 2.0  # of the limit: merged keys that cost more are not looked for any further
HIGHEST = 8.0  # tolerances; beyond, costs need not be known
BETTER = 0.97  # of the squares: a move that gains less is not worth its trouble

AT_PEAK = 0.6  # likewise: what a key on a peak may cost more than elsewhere, turned around
DRAWN = 0.15  # of the way between its neighbours, from which a peak draws a key


def estimate(group: Group, world: World) -> None:
    """What taking out each key would cost."""
    for k in range(1, group.count - 1):
        group.cost[k] = group.attempt(world, k, HIGHEST).worst


def thin(group: Group, world: World, limit: float) -> None:
    """Take out every key that the limit (tolerances) does not need, cheapest first as far as costs are known."""
    inside = slice(1, max(group.count - 1, 1))
    order = np.argsort(group.cost[inside], kind="stable")
    for sample in group.keys[inside][order].tolist():
        k = int(np.searchsorted(group.keys[: group.count], sample))
        marks = int(group.marks[k])
        if not marks & UNTRIED and group.cost[k] > HOPELESS * limit:
            continue
        tried = group.attempt(world, k, limit)
        group.cost[k] = tried.worst
        group.marks[k] &= ~UNTRIED
        if tried.worst <= limit:
            group.accept(world, tried)
    if group.count == 2:
        group.flatten(world, limit)


def shift(group: Group, world: World, limit: float) -> None:
    """Move each key to a frame nearby that fits better."""
    for k in range(1, group.count - 1):
        marks = int(group.marks[k])
        if not marks & UNMOVED:
            continue
        group.marks[k] &= ~UNMOVED
        before, here, after = group.keys[k - 1 : k + 2].tolist()
        steps = {
            here: BETTER,
            here - max(2, (here - before) // 10 * 2): 1.0,
            here + max(2, (after - here) // 10 * 2): 1.0,
        }
        near = np.flatnonzero(group.peaks[before + 2 : after - 1]) + before + 2
        if len(near):
            peak = int(near[np.argmin(np.abs(near - here))])
            if abs(peak - here) <= max(4, DRAWN * (after - before)):
                steps[peak] = AT_PEAK
        costs = {}
        for sample, share in steps.items():
            if before < sample < after:
                tried = group.attempt(world, k, limit, sample)
                if tried.worst <= limit:
                    costs[sample] = share * _squares(group, tried.inside)
        if costs and min(costs, key=costs.__getitem__) != here:
            tried = group.attempt(world, k, limit, min(costs, key=costs.__getitem__))
            group.accept(world, tried)


def _squares(group: Group, inside: int) -> float:
    """The cost of the last attempt."""
    keys, local, _, _ = group.scratch
    return sum(
        fit_kernels.chain_cost(keys, local[c], 0, inside - 1, group.target[c], group.weight[c])
        for c in range(len(group.columns))
    )


def merge(group: Group, world: World, limit: float) -> None:
    """Make one key of two neighbours, somewhere between them, where the limit allows it."""
    if limit > group.merged_at:
        group.merged_at = limit
        group.marks |= UNMERGED
    k = 1
    while k < group.count - 2:
        marks = int(group.marks[k] | group.marks[k + 1])
        first, second = group.keys[k : k + 2].tolist()
        if marks & UNMERGED and second - first >= 4 and group.cost[k : k + 2].min() <= _patience(group) * FAR * limit:
            group.marks[k] &= ~UNMERGED
            _merge_pair(group, world, limit, k, first, second)
        k += 1


def _patience(group: Group) -> float:
    """Trials of a single column are cheap, and are carried further."""
    return 2.5 if len(group.columns) == 1 else 1.0


def _merge_pair(group: Group, world: World, limit: float, k: int, first: int, second: int) -> None:
    """Try the middle, then about the better half, in halving steps, as long as there is hope."""
    at, step = (first + second) // 4 * 2, (second - first) // 8 * 2
    tried = {at: group.attempt(world, k, limit, merged=at)}
    while tried[at].worst > limit and tried[at].worst < _patience(group) * NEAR * limit and step >= 2:
        for sample in (at - step, at + step):
            if sample not in tried and first < sample < second and min(t.worst for t in tried.values()) > limit:
                tried[sample] = group.attempt(world, k, limit, merged=sample)
        at = min(tried, key=lambda sample: tried[sample].worst)
        step = step // 4 * 2
    if tried[at].worst <= limit:
        group.accept(world, group.attempt(world, k, limit, merged=at))


def join(group: Group, world: World, limit: float) -> None:
    """Make broken keys smooth again, all columns of a key at once, where the limit allows it."""
    for k in range(1, group.count - 1):
        broken = group.broken[:, k].copy()
        if broken.any() and group.marks[k] & UNJOINED:
            group.marks[k] &= ~UNJOINED
            group.broken[:, k] = False
            tried = group.attempt(world, k, limit, int(group.keys[k]))
            if tried.worst <= limit:
                group.accept(world, tried)
            else:
                group.broken[:, k] = broken


def refine(group: Group, world: World, sample: int) -> bool:
    """A key at the frame nearest to a sample; where it has one, that is broken. False where all are broken already."""
    if group.count == 1:
        group.unflatten()
    frames = np.arange(2, group.target.shape[1] - 1, 2)
    done = np.isin(frames, group.keys[: group.count][group.broken[:, : group.count].all(axis=0)])
    if done.all():
        return False
    near = int(frames[~done][np.argmin(np.abs(frames[~done] - sample))])
    old = group.sampled()
    k = int(np.searchsorted(group.keys[: group.count], near))
    if group.keys[k] == near:
        group.broken[:, k] = True
    else:
        group.insert(near)
    world_kernels.apply(world, group.columns, 0, group.sampled() - old)
    group.accept(world, group.attempt(world, k, 1e300, near))
    return True
