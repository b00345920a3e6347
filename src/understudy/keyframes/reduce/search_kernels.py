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

REACH = 2  # keys on either side of a change that are fitted again

_fit_chain, _sample_chain = fit.fit_chain, fit.sample_chain
_worst = worlds.worst


@compiled()
def _free(
    count: int, state_free: bool, lengths: bool, broken: Array, first_end: bool, last_end: bool, free: Array
) -> None:
    """Which slots of a chain may move: all inside; at its two ends the lengths, and what does not show outside.

    Without `lengths` no length does.
    """
    free[:] = True
    free[:, fit.LENGTH_IN] = free[:, fit.LENGTH_OUT] = lengths
    for i, is_end in ((0, first_end), (count - 1, last_end)):
        slope = 3 if i == 0 else 1
        free[i, 0] = free[i, 1] = free[i, 3] = is_end and state_free
        free[i, slope] = (is_end and state_free) or broken[i]


@compiled()
def insert(keys: Array, state: Array, broken: Array, count: int, sample: int) -> int:
    """A key at a sample that has none, on the curve as it is; returns its number."""
    k = 0
    while k < count and keys[k] < sample:
        k += 1
    for i in range(count, k, -1):
        keys[i] = keys[i - 1]
        state[:, i] = state[:, i - 1]
        broken[:, i] = broken[:, i - 1]
    left, right = sample - keys[k - 1], keys[k + 1] - sample
    keys[k] = sample
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
    count: int,
    target: Array,
    weight: Array,
    limit: float,
    state_free: bool,
    lengths: bool,
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
            _free(count, state_free, lengths, broken[c], True, True, free)
            _fit_chain(
                keys, state[c], broken[c], 0, count - 1, target[c], weight[c], free, 60 if count < 6 else 12, np.inf
            )
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
            insert(keys, state, broken, count, sample)
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
    lengths: bool,
    local_keys: Array,
    local: Array,
    local_broken: Array,
    delta: Array,
) -> tuple[float, int, int, int]:
    """Take key k out (sample < 0) or move it, and move the next to `merged` (unless < 0); fit the neighbourhood again.

    Returns the worst error that this makes, in tolerances, the first key of the neighbourhood, its width in samples and
    the keys that it has then; `local_keys`, `local` (n, ., 5) and `delta` (n, W) hold the fit.
    """
    a, b = max(k - REACH, 0), min(k + REACH + (1 if merged >= 0 else 0), count - 1)
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
    most_of = np.empty(len(columns))
    hopeless = 1.7 * limit
    for c in range(len(columns)):
        for i in range(1, inside - 1):
            if not local_broken[c, i]:
                local[c, i, 1] = local[c, i, 3] = 0.5 * (local[c, i, 1] + local[c, i, 3])
        for i in range(inside - 1):
            span = float(local_keys[i + 1] - local_keys[i])
            if i == k - 1 - a or (i == k - a and (sample >= 0 or merged >= 0)):
                local[c, i, 4] = local[c, i + 1, 2] = span / 3.0
            local[c, i, 4] = min(max(local[c, i, 4], fit.SHORTEST * span), fit.longest(span) * span)
            local[c, i + 1, 2] = min(max(local[c, i + 1, 2], fit.SHORTEST * span), fit.longest(span) * span)
        _free(inside, state_free, lengths, local_broken[c], a == 0, b == count - 1, free)
        enough = 4.0 * hopeless * hopeless * width
        _fit_chain(local_keys, local[c], local_broken[c], 0, inside - 1, target[c], weight[c], free, 6, enough)
        _sample_chain(local_keys, local[c], 0, inside - 1, values)
        most_of[c] = _residual(values, start, target[c], weight[c])
        if most_of[c] > hopeless:
            return most_of[c], a, width, inside
        _sample_chain(keys, state[c], a, b, before)
        delta[c, :width] = values - before
    most = _worst(world, columns, start, delta[:, :width], limit)
    if most <= limit or most > hopeless:
        return most, a, width, inside
    for c in range(len(columns)):
        if most_of[c] < 0.3 * limit:
            continue
        _free(inside, state_free, lengths, local_broken[c], a == 0, b == count - 1, free)
        _sample_chain(local_keys, local[c], 0, inside - 1, values)
        _heavier(values, start, target[c], weight[c], most_of[c], heavier)
        _fit_chain(local_keys, local[c], local_broken[c], 0, inside - 1, target[c], heavier, free, 3, np.inf)
        _sample_chain(local_keys, local[c], 0, inside - 1, values)
        _sample_chain(keys, state[c], a, b, before)
        delta[c, :width] = values - before
    return _worst(world, columns, start, delta[:, :width], limit), a, width, inside


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
