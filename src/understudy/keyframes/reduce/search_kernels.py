"""Keys of one group of columns that share their times: put in where a fit fails, taken out where it does without.

A group has n columns and K keys: `keys` (K,) samples, `state` (n, K, 5) and `broken` (n, K) as in `fit_kernels`. The
arrays have room for more keys than there are; functions return the new count.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.keyframes.reduce import fit_kernels as fit
from understudy.keyframes.reduce import world_kernels as worlds
from understudy.keyframes.reduce.world_kernels import World
from understudy.maths.accelerate import compiled

HELD, UNTRIED, UNMOVED, UNMERGED = 1, 2, 4, 8
NEW = UNTRIED | UNMOVED | UNMERGED
"""What is marked of a key: that it stays; that taking it out, moving it or merging it with the next was not tried since
its surroundings are as they are."""

FAR = 6.0  # of the limit: keys that cost more alone are not merged either
HOPELESS = 1.3  # of the limit: a key that cost more when last tried is not tried again while nothing near it changes

_fit_chain, _sample_chain = fit.fit_chain, fit.sample_chain
_worst, _apply = worlds.worst, worlds.apply


@compiled()
def _free(count: int, state_free: bool, broken: Array, first_end: bool, last_end: bool, free: Array) -> None:
    """Which slots of a chain may move: all inside; at its two ends the lengths, and what does not show outside."""
    free[:] = True
    for i, is_end in ((0, first_end), (count - 1, last_end)):
        slope = 3 if i == 0 else 1
        free[i, 0] = free[i, 1] = free[i, 3] = is_end and state_free
        free[i, slope] = (is_end and state_free) or broken[i]


@compiled()
def _insert(keys: Array, state: Array, broken: Array, marks: Array, count: int, sample: int) -> int:
    """A key at a sample that has none, on the curve as it is; returns its number."""
    k = 0
    while k < count and keys[k] < sample:
        k += 1
    for i in range(count, k, -1):
        keys[i] = keys[i - 1]
        marks[i] = marks[i - 1]
        state[:, i] = state[:, i - 1]
        broken[:, i] = broken[:, i - 1]
    left, right = sample - keys[k - 1], keys[k + 1] - sample
    keys[k] = sample
    marks[k] = NEW
    for c in range(state.shape[0]):
        span = float(left + right)
        before, after = state[c, k - 1], state[c, k + 1]
        value = fit.sample_segment(span, before, after, float(left))
        step = min(0.5, 0.25 * min(left, right))
        rise = fit.sample_segment(span, before, after, left + step) - fit.sample_segment(
            span, before, after, left - step
        )
        state[c, k, 0] = value
        state[c, k, 1] = state[c, k, 3] = rise / (2 * step)
        state[c, k, 2], state[c, k, 4] = left / 3.0, right / 3.0
        broken[c, k] = False
        state[c, k - 1, 4] = min(state[c, k - 1, 4], left * 0.5)
        state[c, k + 1, 2] = min(state[c, k + 1, 2], right * 0.5)
    return k


@compiled()
def fill(
    keys: Array,
    state: Array,
    broken: Array,
    marks: Array,
    count: int,
    target: Array,
    weight: Array,
    limit: float,
    state_free: bool,
) -> int:
    """Add keys until every column of target (n, M) is met within limit / weight (n, M) at every sample.

    Each round fits all keys and puts one in at the worst sample of each segment that fails. A segment of one frame that
    fails has a corner at its ends: they are broken.
    """
    n, samples = target.shape
    values = np.empty(samples)
    worst_at, worst_of = np.empty(samples, np.int64), np.empty(samples)
    for _ in range(64):
        worst_of[: count - 1] = 0.0
        free = np.empty((count, 5), np.bool_)
        for c in range(n):
            _free(count, state_free, broken[c], True, True, free)
            _fit_chain(keys, state[c], broken[c], 0, count - 1, target[c], weight[c], free, 12)
            _sample_chain(keys, state[c], 0, count - 1, values)
            for k in range(count - 1):
                for m in range(keys[k], keys[k + 1] + 1):
                    off = abs(values[m] - target[c, m]) * weight[c, m]
                    if off > worst_of[k]:
                        worst_of[k], worst_at[k] = off, m
        failed = False
        old = count
        for k in range(old - 2, -1, -1):
            if worst_of[k] <= limit:
                continue
            span = keys[k + 1] - keys[k]
            if span <= 2:
                for c in range(n):
                    failed |= not (broken[c, k] and broken[c, k + 1])
                    broken[c, k] = broken[c, k + 1] = True
                continue
            sample = (worst_at[k] + 1) // 2 * 2
            margin = max(2, span // 8 // 2 * 2)
            sample = min(max(sample, keys[k] + margin), keys[k + 1] - margin)
            _insert(keys, state, broken, marks, count, sample)
            count += 1
            failed = True
        if not failed:
            break
    return count


@compiled()
def attempt(
    keys: Array,
    state: Array,
    broken: Array,
    count: int,
    k: int,
    sample: int,
    merged: int,
    columns: Array,
    target: Array,
    weight: Array,
    world: World,
    limit: float,
    state_free: bool,
    reach: int,
    local_keys: Array,
    local: Array,
    local_broken: Array,
    delta: Array,
) -> tuple[float, int, int]:
    """Take key k out (sample < 0) or move it, and move the next to `merged` (unless < 0); fit the neighbourhood again.

    Returns the worst error that this makes, in tolerances, and the first key and the width of the neighbourhood;
    `local_keys`, `local` (n, ., 5) and `delta` (n, W) then hold the fit.
    """
    a, b = max(k - reach, 0), min(k + reach + (1 if merged >= 0 else 0), count - 1)
    i = 0
    for key in range(a, b + 1):
        if key == k and sample < 0:
            continue
        local_keys[i] = sample if key == k else merged if key == k + 1 and merged >= 0 else keys[key]
        local[:, i] = state[:, key]
        local_broken[:, i] = broken[:, key]
        i += 1
    inside = i
    start, width = keys[a], keys[b] - keys[a] + 1
    free = np.empty((inside, 5), np.bool_)
    values, before = np.empty(width), np.empty(width)
    heavier = np.empty(weight.shape[1])
    for c in range(len(columns)):
        for i in range(inside - 1):
            span = float(local_keys[i + 1] - local_keys[i])
            if i == k - 1 - a or (i == k - a and (sample >= 0 or merged >= 0)):
                local[c, i, 4] = local[c, i + 1, 2] = span / 3.0
            local[c, i, 4] = min(max(local[c, i, 4], fit.SHORTEST * span), fit.longest(span) * span)
            local[c, i + 1, 2] = min(max(local[c, i + 1, 2], fit.SHORTEST * span), fit.longest(span) * span)
        _free(inside, state_free, local_broken[c], a == 0, b == count - 1, free)
        _fit_chain(local_keys, local[c], local_broken[c], 0, inside - 1, target[c], weight[c], free, 8)
        _sample_chain(local_keys, local[c], 0, inside - 1, values)
        most = _residual(values, start, target[c], weight[c])
        if most > 2.0 * limit:
            return most, a, width
        if most > 0.3 * limit:
            _heavier(values, start, target[c], weight[c], most, heavier)
            _fit_chain(local_keys, local[c], local_broken[c], 0, inside - 1, target[c], heavier, free, 5)
            _sample_chain(local_keys, local[c], 0, inside - 1, values)
            most = _residual(values, start, target[c], weight[c])
        if most > 1.2 * limit:
            return most, a, width
        _sample_chain(keys, state[c], a, b, before)
        delta[c, :width] = values - before
    return _worst(world, columns, start, delta[:, :width], limit), a, width


@compiled()
def _residual(values: Array, start: int, target: Array, weight: Array) -> float:
    most = 0.0
    for w in range(len(values)):
        most = max(most, abs(values[w] - target[start + w]) * weight[start + w])
    return most


@compiled()
def _heavier(values: Array, start: int, target: Array, weight: Array, most: float, out: Array) -> None:
    """Lawson's step from least squares towards the least maximum: weigh samples by how far they are off."""
    for w in range(len(values)):
        m = start + w
        out[m] = weight[m] * np.sqrt(0.25 + abs(values[w] - target[m]) * weight[m] / most)


@compiled()
def _accept(
    keys: Array,
    state: Array,
    broken: Array,
    marks: Array,
    cost: Array,
    count: int,
    k: int,
    removed: bool,
    a: int,
    local_keys: Array,
    local: Array,
) -> int:
    if removed:
        for i in range(k, count - 1):
            keys[i] = keys[i + 1]
            marks[i] = marks[i + 1]
            cost[i] = cost[i + 1]
            state[:, i] = state[:, i + 1]
            broken[:, i] = broken[:, i + 1]
        count -= 1
    last = min(a + local.shape[1], count)
    for i in range(a, last):
        marks[i] |= NEW
    return _write(keys, state, a, last, local_keys, local, count)


@compiled()
def _write(keys: Array, state: Array, a: int, last: int, local_keys: Array, local: Array, count: int) -> int:
    for i in range(a, last):
        keys[i] = local_keys[i - a]
        # the far sides of the two end keys are not in the fit
        for c in range(state.shape[0]):
            if i == a:
                state[c, i, 0], state[c, i, 3], state[c, i, 4] = local[c, 0, 0], local[c, 0, 3], local[c, 0, 4]
            elif i == last - 1:
                state[c, i, 0], state[c, i, 1], state[c, i, 2] = (
                    local[c, i - a, 0],
                    local[c, i - a, 1],
                    local[c, i - a, 2],
                )
            else:
                state[c, i] = local[c, i - a]
    return count


@compiled()
def thin(
    keys: Array,
    state: Array,
    broken: Array,
    marks: Array,
    cost: Array,
    count: int,
    columns: Array,
    target: Array,
    weight: Array,
    world: World,
    limit: float,
    state_free: bool,
    reach: int,
) -> int:
    """Take out every key that the limit (in tolerances) does not need, cheapest first as far as costs are known."""
    n, size = len(columns), 2 * reach + 2
    local_keys, local = np.empty(size, np.int64), np.empty((n, size, 5))
    local_broken, delta = np.empty((n, size), np.bool_), np.empty((n, target.shape[1]))
    order = np.argsort(cost[:count])
    sample_of = keys[:count].copy()
    for place in range(len(order)):
        sample = sample_of[order[place]]
        k = int(np.searchsorted(keys[:count], sample))
        if k == 0 or k == count - 1 or marks[k] & HELD:
            continue
        if not marks[k] & UNTRIED and cost[k] > HOPELESS * limit:
            continue
        most, a, width = attempt(
            keys, state, broken, count, k, -1, -1, columns, target, weight, world, limit, state_free, reach,
            local_keys, local, local_broken, delta,
        )  # fmt: skip
        cost[k] = most
        marks[k] &= ~UNTRIED
        if most <= limit:
            _apply(world, columns, keys[a], delta[:, :width])
            inside = min(k + reach, count - 1) - max(k - reach, 0)
            count = _accept(keys, state, broken, marks, cost, count, k, True, a, local_keys, local[:, :inside])
    return count


@compiled()
def estimate(
    keys: Array,
    state: Array,
    broken: Array,
    marks: Array,
    cost: Array,
    count: int,
    columns: Array,
    target: Array,
    weight: Array,
    world: World,
    limit: float,
    state_free: bool,
    reach: int,
) -> None:
    """What taking out each key would cost, in tolerances, into cost (K,)."""
    n, size = len(columns), 2 * reach + 2
    local_keys, local = np.empty(size, np.int64), np.empty((n, size, 5))
    local_broken, delta = np.empty((n, size), np.bool_), np.empty((n, target.shape[1]))
    for k in range(1, count - 1):
        if not marks[k] & HELD:
            cost[k] = attempt(
                keys, state, broken, count, k, -1, -1, columns, target, weight, world, limit, state_free, reach,
                local_keys, local, local_broken, delta,
            )[0]  # fmt: skip


@compiled()
def shift(
    keys: Array,
    state: Array,
    broken: Array,
    marks: Array,
    cost: Array,
    count: int,
    columns: Array,
    target: Array,
    weight: Array,
    world: World,
    limit: float,
    state_free: bool,
    reach: int,
) -> int:
    """Move each key to the frame nearby that fits best; returns how many moved."""
    n, size = len(columns), 2 * reach + 2
    local_keys, local = np.empty(size, np.int64), np.empty((n, size, 5))
    local_broken, delta = np.empty((n, size), np.bool_), np.empty((n, target.shape[1]))
    moved = 0
    for k in range(1, count - 1):
        if marks[k] & HELD or not marks[k] & UNMOVED:
            continue
        marks[k] &= ~UNMOVED
        here, best, best_cost = keys[k], keys[k], np.inf
        left, right = keys[k] - keys[k - 1], keys[k + 1] - keys[k]
        for step in range(-1, 2):
            by = step * max(2, (left if step < 0 else right) // 10 * 2)
            if here + by < keys[k - 1] + 2 or here + by > keys[k + 1] - 2:
                continue
            most, a, width = attempt(
                keys, state, broken, count, k, here + by, -1, columns, target, weight, world, limit, state_free, reach,
                local_keys, local, local_broken, delta,
            )  # fmt: skip
            if most > limit:
                continue
            inside = min(k + reach, count - 1) - a
            total = 0.0
            for c in range(n):
                total += fit.chain_cost(local_keys, local[c], 0, inside, target[c], weight[c])
            if step == 0:
                total *= 0.97
            if total < best_cost:
                best, best_cost = here + by, total
        if best == here:
            continue
        most, a, width = attempt(
            keys, state, broken, count, k, best, -1, columns, target, weight, world, limit, state_free, reach,
            local_keys, local, local_broken, delta,
        )  # fmt: skip
        _apply(world, columns, keys[a], delta[:, :width])
        inside = min(k + reach, count - 1) - a + 1
        _accept(keys, state, broken, marks, cost, count, k, False, a, local_keys, local[:, :inside])
        moved += 1
    return moved


@compiled()
def merge(
    keys: Array,
    state: Array,
    broken: Array,
    marks: Array,
    cost: Array,
    count: int,
    columns: Array,
    target: Array,
    weight: Array,
    world: World,
    limit: float,
    state_free: bool,
    reach: int,
) -> int:
    """Make one key of two neighbours, somewhere between them, where the limit allows it."""
    n, size = len(columns), 2 * reach + 2
    local_keys, local = np.empty(size, np.int64), np.empty((n, size, 5))
    local_broken, delta = np.empty((n, size), np.bool_), np.empty((n, target.shape[1]))
    k = 1
    while k < count - 2:
        tried = not (marks[k] | marks[k + 1]) & UNMERGED
        gap = keys[k + 1] - keys[k]
        if (marks[k] | marks[k + 1]) & HELD or tried or gap < 4 or min(cost[k], cost[k + 1]) > FAR * limit:
            k += 1
            continue
        for third in range(1, 4):
            at = keys[k] + max(2, gap * third // 8 * 2)
            most, a, width = attempt(
                keys, state, broken, count, k, -1, min(at, keys[k + 1] - 2), columns, target, weight, world, limit,
                state_free, reach, local_keys, local, local_broken, delta,
            )  # fmt: skip
            if most <= limit:
                _apply(world, columns, keys[a], delta[:, :width])
                inside = min(k + reach + 1, count - 1) - a
                count = _accept(keys, state, broken, marks, cost, count, k, True, a, local_keys, local[:, :inside])
                break
        else:
            marks[k] &= ~UNMERGED
        k += 1
    return count


@compiled()
def refine(
    keys: Array,
    state: Array,
    broken: Array,
    marks: Array,
    cost: Array,
    count: int,
    columns: Array,
    target: Array,
    weight: Array,
    world: World,
    sample: int,
    state_free: bool,
) -> int:
    """Put a key at a frame that has none and fit around it; a frame that has one has it broken instead."""
    n, size = len(columns), 6
    local_keys, local = np.empty(size, np.int64), np.empty((n, size, 5))
    local_broken, delta = np.empty((n, size), np.bool_), np.empty((n, target.shape[1]))
    old = np.empty((n, target.shape[1]))
    for c in range(n):
        _sample_chain(keys, state[c], 0, count - 1, old[c])
    k = int(np.searchsorted(keys[:count], sample))
    if keys[k] == sample:
        broken[:, k] = True
    else:
        _insert(keys, state, broken, marks, count, sample)
        count += 1
        cost[k + 1 : count] = cost[k : count - 1].copy()
        cost[k] = 1.0
    k = min(max(k, 1), count - 2)
    huge = 1e300
    _, a, _ = attempt(
        keys, state, broken, count, k, keys[k], -1, columns, target, weight, world, huge, state_free, 2,
        local_keys, local, local_broken, delta,
    )  # fmt: skip
    inside = min(k + 2, count - 1) - a + 1
    _accept(keys, state, broken, marks, cost, count, k, False, a, local_keys, local[:, :inside])
    for c in range(n):
        _sample_chain(keys, state[c], 0, count - 1, delta[c])
        delta[c] -= old[c]
    _apply(world, columns, 0, delta)
    return count
