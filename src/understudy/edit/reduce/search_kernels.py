"""Compiled kernels of the search: the errors of columns in the world, and the keys of one group of columns.

The world (`WorldState`), to first order. A column c that turns joint j by the axis A_c (radians for one of its units,
in the world) or moves it along D_c, and that is off by e, moves every joint i below j by

    position  e (D_c + A_c x (x_i - x_j))        rotation  e A_c

Errors of all columns add up; the sums for all joints are stored, and a change of a few columns in a span of time is
judged by the new sums, and by the steps of planted joints from sample to sample. Columns that move no joint (shape
weights) have a tolerance of their own instead, their band.

The keys of a group with n columns and K keys: `keys` (K,) samples, `state` (n, K, 5) and `broken` (n, K) as in
`fit_kernels`. The arrays have room for more keys than there are; functions return the new count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.edit.reduce import fit_kernels as fit
from understudy.maths.jit import compile_kernel

REFIT_KEYS_EACH_SIDE = 2  # keys on either side of a change that are fitted again with it


class WorldState(NamedTuple):
    """C columns and J joints at M samples."""

    joint: Array  # (C,) int, the joint a column moves, or -1
    axis: Array  # (C, M, 3) radians in the world for one unit of the column
    along: Array  # (C, M, 3) metres in the world for one unit
    place: Array  # (M, J, 3) metres, joints of the source
    first: Array  # (J + 1,) int, where the joints below each begin in `below`
    below: Array  # (B,) int, each joint itself first
    offset: Array  # (M, J, 3) metres, the error of each joint now
    turn: Array  # (M, J, 3) radians
    reach: Array  # (M, J) 1 / tolerance on positions
    reach_turn: Array  # (M, J) 1 / tolerance on orientations
    reach_step: Array  # (M, J) 1 / metres that a planted joint may move from the sample before, 0 for others
    error: Array  # (C, M) of the columns now
    band: Array  # (C, M) 1 / tolerance on columns that move no joint, 0 for the others


@compile_kernel()
def _change(world: WorldState, columns: Array, m: int, delta: Array, w: int, moved: Array, d: Array) -> None:
    """Into d (J, 6) the change of offsets and turns at sample m by delta (n, W)[:, w]; marks joints as `moved` (J,)."""
    n = len(columns)
    i = 0
    while i < n:
        joint = world.joint[columns[i]]
        if joint < 0:
            i += 1
            continue
        ax, ay, az, tx, ty, tz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        while i < n and world.joint[columns[i]] == joint:
            c, e = columns[i], delta[i, w]
            ax += e * world.axis[c, m, 0]
            ay += e * world.axis[c, m, 1]
            az += e * world.axis[c, m, 2]
            tx += e * world.along[c, m, 0]
            ty += e * world.along[c, m, 1]
            tz += e * world.along[c, m, 2]
            i += 1
        x0, y0, z0 = world.place[m, joint, 0], world.place[m, joint, 1], world.place[m, joint, 2]
        for b in range(world.first[joint], world.first[joint + 1]):
            j = world.below[b]
            x, y, z = world.place[m, j, 0] - x0, world.place[m, j, 1] - y0, world.place[m, j, 2] - z0
            if not moved[j]:
                moved[j] = True
                d[j, :] = 0.0
            d[j, 0] += tx + ay * z - az * y
            d[j, 1] += ty + az * x - ax * z
            d[j, 2] += tz + ax * y - ay * x
            d[j, 3] += ax
            d[j, 4] += ay
            d[j, 5] += az


@compile_kernel()
def worst_error(world: WorldState, columns: Array, start: int, delta: Array, limit: float) -> float:
    """The largest error, in tolerances, of joints and columns that delta (n, W) from sample `start` on would move.

    Errors that shrink do not count. Returns early once the error is above `limit`.
    """
    n, width = delta.shape
    joints = world.place.shape[1]
    d, moved = np.empty((joints, 6)), np.zeros(joints, np.bool_)
    last = np.zeros((joints, 3))  # the change at the sample before
    most = 0.0
    for w in range(width):
        m = start + w
        for i in range(n):
            c = columns[i]
            if world.band[c, m] > 0:
                old, new = abs(world.error[c, m]), abs(world.error[c, m] + delta[i, w])
                if new > old:
                    most = max(most, new * world.band[c, m])
        moved[:] = False
        _change(world, columns, m, delta, w, moved, d)
        for j in range(joints):
            if not moved[j]:
                continue
            old = new = old_turn = new_turn = 0.0
            for a in range(3):
                old += world.offset[m, j, a] ** 2
                new += (world.offset[m, j, a] + d[j, a]) ** 2
                old_turn += world.turn[m, j, a] ** 2
                new_turn += (world.turn[m, j, a] + d[j, 3 + a]) ** 2
            if new > old:
                most = max(most, np.sqrt(new) * world.reach[m, j])
            if new_turn > old_turn:
                most = max(most, np.sqrt(new_turn) * world.reach_turn[m, j])
            if world.reach_step[m, j] > 0:
                old = new = 0.0
                for a in range(3):
                    step = world.place[m, j, a] - world.place[m - 1, j, a]
                    step += world.offset[m, j, a] - world.offset[m - 1, j, a]
                    old += step**2
                    new += (step + d[j, a] - last[j, a]) ** 2
                if new > old:
                    most = max(most, np.sqrt(new) * world.reach_step[m, j])
            for a in range(3):
                last[j, a] = d[j, a]
        if most > limit:
            return most
    return most


@compile_kernel()
def apply_change(world: WorldState, columns: Array, start: int, delta: Array) -> None:
    """Add the change to the stored errors."""
    n, width = delta.shape
    d, moved = np.empty((world.place.shape[1], 6)), np.zeros(world.place.shape[1], np.bool_)
    for w in range(width):
        m = start + w
        moved[:] = False
        _change(world, columns, m, delta, w, moved, d)
        for j in range(len(moved)):
            if moved[j]:
                for a in range(3):
                    world.offset[m, j, a] += d[j, a]
                    world.turn[m, j, a] += d[j, 3 + a]
        for i in range(n):
            world.error[columns[i], m] += delta[i, w]


@compile_kernel(inline="always")
def _shift(world: WorldState, c: int, joint: int, m: int, j: int) -> tuple[float, float, float]:
    """How one unit of column c, which turns and shifts `joint`, moves joint j below it: along + axis x arm."""
    ax, ay, az = world.axis[c, m, 0], world.axis[c, m, 1], world.axis[c, m, 2]
    x = world.place[m, j, 0] - world.place[m, joint, 0]
    y = world.place[m, j, 1] - world.place[m, joint, 1]
    z = world.place[m, j, 2] - world.place[m, joint, 2]
    return (
        world.along[c, m, 0] + ay * z - az * y,
        world.along[c, m, 1] + az * x - ax * z,
        world.along[c, m, 2] + ax * y - ay * x,
    )


@compile_kernel()
def write_levers(world: WorldState, out: Array) -> None:
    """out (C, M): the error in tolerances that one unit of each column causes at the joint with the largest."""
    for c in range(len(world.joint)):
        joint = world.joint[c]
        for m in range(world.place.shape[0]):
            if joint < 0:
                out[c, m] = world.band[c, m]
                continue
            ax, ay, az = world.axis[c, m, 0], world.axis[c, m, 1], world.axis[c, m, 2]
            turn = np.sqrt(ax * ax + ay * ay + az * az)
            most = 0.0
            for b in range(world.first[joint], world.first[joint + 1]):
                j = world.below[b]
                px, py, pz = _shift(world, c, joint, m, j)
                most = max(
                    most, np.sqrt(px * px + py * py + pz * pz) * world.reach[m, j], turn * world.reach_turn[m, j]
                )
            out[c, m] = most


@compile_kernel()
def aim_column(world: WorldState, c: int, bound: Array, start: int, stop: int, target: Array, weight: Array) -> None:
    """The offset `target` (M,) with which column c compensates the errors of the others, and its `weight` (M,).

    Only samples from `start` to `stop` are written.

    At each sample the sum over the joints below of w |E + (t - e) g|^2 in tolerances, with E their errors, g the
    effect of one unit of the column on them and e its current error, is least at t = e - (sum w g.E) / (sum w g.g).
    Joints with large errors weigh more, so that these shrink first. bound (M,), in tolerances for one unit, pulls back
    to no error: a column of a quaternion that hardly turns at a sample could otherwise take any value.
    """
    joint = world.joint[c]
    for m in range(start, stop):
        if joint < 0:
            target[m], weight[m] = 0.0, world.band[c, m]
            continue
        ax, ay, az = world.axis[c, m, 0], world.axis[c, m, 1], world.axis[c, m, 2]
        whole = 1e-12 + world.band[c, m] ** 2  # a column with a band of its own, as at its peaks, stays there
        part = world.band[c, m] ** 2 * world.error[c, m]
        heaviest = 0.0
        for b in range(world.first[joint], world.first[joint + 1]):
            j = world.below[b]
            px, py, pz = _shift(world, c, joint, m, j)
            ex, ey, ez = world.offset[m, j, 0], world.offset[m, j, 1], world.offset[m, j, 2]
            tx, ty, tz = world.turn[m, j, 0], world.turn[m, j, 1], world.turn[m, j, 2]
            near, turning = world.reach[m, j] ** 2, world.reach_turn[m, j] ** 2
            off = max((ex * ex + ey * ey + ez * ez) * near, (tx * tx + ty * ty + tz * tz) * turning)
            w = (0.05 + off) ** 2
            heaviest = max(heaviest, w)
            whole += w * ((px * px + py * py + pz * pz) * near + (ax * ax + ay * ay + az * az) * turning)
            part += w * ((px * ex + py * ey + pz * ez) * near + (ax * tx + ay * ty + az * tz) * turning)
        pull = heaviest * bound[m] ** 2
        target[m] = world.error[c, m] - (part + pull * world.error[c, m]) / (whole + pull)
        weight[m] = np.sqrt(whole + pull)


@compile_kernel()
def _mark_free_slots(
    count: int, state_free: bool, lengths: bool, broken: Array, first_end: bool, last_end: bool, free: Array
) -> None:
    """The slots of a chain that may change: all inside; at its two ends the lengths, and what is invisible outside.

    Without `lengths` no length may.
    """
    free[:] = True
    free[:, fit.LENGTH_IN_SLOT] = free[:, fit.LENGTH_OUT_SLOT] = lengths
    for i, is_end in ((0, first_end), (count - 1, last_end)):
        slope = 3 if i == 0 else 1
        free[i, 0] = free[i, 1] = free[i, 3] = is_end and state_free
        free[i, slope] = (is_end and state_free) or broken[i]


@compile_kernel()
def insert_key_on_curve(keys: Array, state: Array, broken: Array, count: int, sample: int, cut: Array) -> int:
    """Insert a key on the curve at a sample that has none; returns its number. Keys of straight segments are broken."""
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
        for segment in (k - 1, k):
            if fit.is_straight(keys, segment, cut):
                broken[c, segment] = broken[c, segment + 1] = True
        fit.straighten(keys, state[c], k - 1, k + 1, cut)
    return k


@compile_kernel()
def fill_keys(
    keys: Array,
    state: Array,
    broken: Array,
    count: int,
    target: Array,
    weight: Array,
    cut: Array,
    frame: int,
    limit: float,
    state_free: bool,
    lengths: bool,
) -> int:
    """Add keys until every column of target (n, M) is met within limit / weight (n, M) at every sample.

    Each round fits all keys and adds one at the worst sample of each segment that fails, on a frame (`frame` samples).
    A segment that fails and is too short to be divided has a corner at its ends: they are broken, then it is divided
    into straight ones.
    """
    n, samples = target.shape
    values = np.empty(samples)
    worst_at, worst_of = np.empty(samples, np.int64), np.empty(samples)
    shortest = max(frame, fit.MIN_FITTED_SAMPLES)
    for _ in range(64):
        worst_of[: count - 1] = 0.0
        free = np.empty((count, 5), np.bool_)
        for c in range(n):
            _mark_free_slots(count, state_free, lengths, broken[c], True, True, free)
            fit.fit_chain(
                keys, state[c], broken[c], 0, count - 1, target[c], weight[c], cut, free, 40 if count < 6 else 8, np.inf
            )
            fit.sample_chain(keys, state[c], 0, count - 1, values)
            for k in range(count - 1):
                for m in range(keys[k], keys[k + 1] + 1):
                    off = abs(values[m] - target[c, m]) * weight[c, m]
                    if off > worst_of[k]:
                        worst_of[k], worst_at[k] = off, m
        failed = False
        for k in range(count - 2, -1, -1):
            if worst_of[k] <= limit or fit.is_straight(keys, k, cut):
                continue
            span = keys[k + 1] - keys[k]
            margin = max(shortest, span // 8)
            if span < 2 * shortest:
                whole = broken[:, k].all() and broken[:, k + 1].all()
                broken[:, k] = broken[:, k + 1] = True
                failed |= not whole
                if not whole or span <= frame:
                    continue
                margin = frame
            sample = (worst_at[k] + frame // 2) // frame * frame
            low, high = -(-(keys[k] + margin) // frame) * frame, (keys[k + 1] - margin) // frame * frame
            insert_key_on_curve(keys, state, broken, count, min(max(sample, low), high), cut)
            count += 1
            failed = True
        if not failed:
            break
    return count


@compile_kernel()
def attempt_change(
    keys: Array,
    state: Array,
    broken: Array,
    count: int,
    k: int,
    sample: int,
    merged: int,
    columns: Array,
    current: Array,
    target: Array,
    weight: Array,
    cut: Array,
    world: WorldState,
    limit: float,
    state_free: bool,
    lengths: bool,
    local_keys: Array,
    local: Array,
    local_broken: Array,
    delta: Array,
) -> tuple[float, int, int, int]:
    """Remove key k (sample < 0) or move it, or replace it and the next by one at `merged` (unless < 0); fit again.

    The neighbourhood is fitted to target (n, M), and compared with the `current` values (n, M). Returns the worst error
    that this causes, in tolerances, the first key of the neighbourhood, its width in samples and its number of keys
    after the change; `local_keys`, `local` (n, ., 5) and `delta` (n, W) receive the fit.
    """
    a, b = max(k - REFIT_KEYS_EACH_SIDE, 0), min(k + REFIT_KEYS_EACH_SIDE + (1 if merged >= 0 else 0), count - 1)
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
    values = np.empty(width)
    heavier = np.empty(weight.shape[1])
    most_of = np.empty(len(columns))
    hopeless = 1.7 * limit
    for c in range(len(columns)):
        for i in range(1, inside - 1):
            if not local_broken[c, i]:
                local[c, i, 1] = local[c, i, 3] = 0.5 * (local[c, i, 1] + local[c, i, 3])
        for i in range(inside - 1):
            if i == k - 1 - a or (i == k - a and (sample >= 0 or merged >= 0)):
                local[c, i, 4] = local[c, i + 1, 2] = (local_keys[i + 1] - local_keys[i]) / 3.0
        _mark_free_slots(inside, state_free, lengths, local_broken[c], a == 0, b == count - 1, free)
        enough = 4.0 * hopeless * hopeless * width  # twice the largest residual: two steps have not converged
        fit.fit_chain(local_keys, local[c], local_broken[c], 0, inside - 1, target[c], weight[c], cut, free, 5, enough)
        fit.sample_chain(local_keys, local[c], 0, inside - 1, values)
        most_of[c] = _residual(values, start, target[c], weight[c])
        if most_of[c] > hopeless:
            return most_of[c], a, width, inside
        delta[c, :width] = values - current[c, start : start + width]
    most = worst_error(world, columns, start, delta[:, :width], limit)
    if most <= limit or most > hopeless:
        return most, a, width, inside
    for c in range(len(columns)):
        if most_of[c] < 0.3 * limit:
            continue
        _mark_free_slots(inside, state_free, lengths, local_broken[c], a == 0, b == count - 1, free)
        fit.sample_chain(local_keys, local[c], 0, inside - 1, values)
        _reweight(values, start, target[c], weight[c], most_of[c], heavier)
        fit.fit_chain(local_keys, local[c], local_broken[c], 0, inside - 1, target[c], heavier, cut, free, 3, np.inf)
        fit.sample_chain(local_keys, local[c], 0, inside - 1, values)
        delta[c, :width] = values - current[c, start : start + width]
    return worst_error(world, columns, start, delta[:, :width], limit), a, width, inside


@compile_kernel()
def _residual(values: Array, start: int, target: Array, weight: Array) -> float:
    most = 0.0
    for w in range(len(values)):
        most = max(most, abs(values[w] - target[start + w]) * weight[start + w])
    return most


@compile_kernel()
def _reweight(values: Array, start: int, target: Array, weight: Array, most: float, out: Array) -> None:
    """Lawson's step from least squares towards the least maximum: weight samples by their error."""
    for w in range(len(values)):
        m = start + w
        out[m] = weight[m] * np.sqrt(0.25 + abs(values[w] - target[m]) * weight[m] / most)
