"""Groups of columns that share the times of their keys, and keys turned into curves.

`KeyGroup` has the columns of a group and its current keys; `build_curves` makes the animation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy.character import Channel, Channels, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR
from understudy.checks import Array
from understudy.edit.reduce import fit_kernels, search_kernels
from understudy.edit.reduce.landmarks import loop_seam
from understudy.edit.reduce.search_kernels import WorldState
from understudy.edit.reduce.source import SampledAnimation

SEPARATE_COLUMN_KINDS = ("weights", "controls")  # their columns are independent, and are keyed one by one
CONSTANT_TOLERANCE_RATIO = 0.05  # tolerances: columns that stay within this get a single key

REMOVAL_UNTRIED, SHIFT_UNTRIED, MERGE_UNTRIED, JOIN_UNTRIED = 1, 2, 4, 8
ALL_UNTRIED = REMOVAL_UNTRIED | SHIFT_UNTRIED | MERGE_UNTRIED | JOIN_UNTRIED
"""Marks of a key: removing it, shifting it, merging it with the next or making it smooth was not tried since its
neighbourhood last changed."""

SAVED_FIELDS = ("target", "values", "keys", "state", "broken", "marks", "cost")


class Attempt(NamedTuple):
    """A change of a key that was tried: the worst error that it causes, and its neighbourhood."""

    worst: float  # tolerances
    key: int
    first: int  # key with which the neighbourhood begins
    width: int  # samples
    inside: int  # keys of the neighbourhood after the change
    removed: bool


@dataclass(eq=False)
class KeyGroup:
    """n columns and K keys; the arrays have room for a key a frame. The letters are those of `search_kernels`."""

    columns: Array  # (n,) int
    target: Array  # (n, M)
    weight: Array  # (n, M) tolerances for one unit
    bound: Array  # (n, M) likewise, pulls columns to the source when they compensate: see `search_kernels.aim_column`
    frame: int  # samples a frame: keys are on multiples of it
    cut: Array  # (M,) bool, samples at which a straight segment over a jump begins
    pinned: Array  # (M,) bool, samples that keep a key
    corners: Array  # (M,) bool, those of them whose key begins broken
    cut_slopes: dict[int, Array]  # of cuts by their first sample: (n, 2) slopes at its two ends, units a second
    free_lengths: bool = True  # else every handle is a third of its segment long
    free_ends: bool = True
    count: int = 0
    merged_at: float = 0.0  # the limit at which merging was last tried
    source: Array = field(init=False)  # (n, M) the target before it compensates other columns
    values: Array = field(init=False)  # (n, M) the columns as keyed
    keys: Array = field(init=False)
    state: Array = field(init=False)
    broken: Array = field(init=False)
    marks: Array = field(init=False)
    cost: Array = field(init=False)

    def __post_init__(self) -> None:
        self.source, self.values = self.target.copy(), self.target.copy()
        n, samples = self.target.shape
        room = (samples - 1) // self.frame + 3
        self.keys = np.zeros(room, np.int64)
        self.state = np.zeros((n, room, fit_kernels.SLOTS_PER_KEY))
        self.broken = np.zeros((n, room), bool)
        self.marks = np.full(room, ALL_UNTRIED)
        self.cost = np.zeros(room)

    @cached_property
    def is_still(self) -> bool:
        """Whether the source never moves: such columns stay constant, and compensate nothing."""
        return bool(np.all(np.ptp(self.source, axis=1) <= 1e-9 * np.maximum(np.abs(self.source[:, 0]), 1)))

    def begin(self, loop: bool, fill: float) -> None:
        """Set the first keys: one for a constant group; else the pinned ones, and as many as `fill` (tolerances) needs.

        Both ends are pinned.
        """
        self.broken[:], self.marks[:], self.cost[:], self.merged_at = False, ALL_UNTRIED, 0.0, 0.0
        self.state[:] = 0.0
        low, high = self.target.min(axis=1), self.target.max(axis=1)
        if self.target.shape[1] == 1 or np.all((high - low) * self.weight.max(axis=1) <= 2 * CONSTANT_TOLERANCE_RATIO):
            self.count = 1
            self.state[:, 0, 0] = self.source[:, 0] if self.is_still else 0.5 * (low + high)
            self.values[:] = self.state[:, 0, :1]
            return
        self.pinned[[0, -1]] = True
        at = np.flatnonzero(self.pinned)
        count = self.count = len(at)
        self.keys[:count] = at
        spans = np.diff(at)
        self.state[:, :count, 0] = self.target[:, at]
        rise = np.diff(self.target[:, at], axis=1) / spans
        self.state[:, 1 : count - 1, 1] = 0.5 * (rise[:, 1:] + rise[:, :-1])
        self.state[:, 0, 1], self.state[:, count - 1, 1] = rise[:, 0], rise[:, -1]
        self.state[:, :count, 3] = self.state[:, :count, 1]
        self.state[:, 1:count, 2] = self.state[:, : count - 1, 4] = spans / 3.0
        self.broken[:, :count] = self.corners[at]
        for k in range(count - 1):
            if fit_kernels.is_straight(self.keys, k, self.cut):
                self.broken[:, k : k + 2] = True
        if loop:
            self._fix_loop_ends()
        self.count = search_kernels.fill_keys(
            self.keys, self.state, self.broken, self.count, self.target, self.weight, self.cut, self.frame, fill,
            self.free_ends, self.free_lengths,
        )  # fmt: skip
        self.values = self.sample_columns()

    def _fix_loop_ends(self) -> None:
        """Fix the values and slopes of both ends, so that a loop is seamless."""
        self.free_ends = False
        last = self.count - 1
        for c in range(len(self.columns)):
            first, end, slope = loop_seam(self.target[c], float(self.weight[c, 0]), self.frame)
            self.state[c, 0, 0], self.state[c, last, 0] = first, end
            self.state[c, [0, last], 1] = self.state[c, [0, last], 3] = slope

    def sample_columns(self) -> Array:
        """(n, M) the columns sampled from the keys."""
        result = np.empty(self.target.shape)
        if self.count == 1:
            result[:] = self.state[:, 0, :1]
        else:
            for c in range(len(self.columns)):
                fit_kernels.sample_chain(self.keys, self.state[c], 0, self.count - 1, result[c])
        return result

    def is_pinned(self, k: int) -> bool:
        """Whether key k has to stay where it is."""
        return bool(self.pinned[self.keys[k]])

    def has_room(self, sample: int, before: int, after: int) -> bool:
        """Whether a key at a sample between the keys `before` and `after` leaves segments that can be fitted."""
        shortest = max(self.frame, fit_kernels.MIN_FITTED_SAMPLES)
        return bool(self.keys[before] + shortest <= sample <= self.keys[after] - shortest)

    def flatten(self, world: WorldState, limit: float) -> None:
        """Replace two keys by one where a constant, the middle of the range, is within the limit."""
        middle = 0.5 * (self.target.min(axis=1) + self.target.max(axis=1))
        delta = middle[:, None] - self.values
        if self.count == 2 and search_kernels.worst_error(world, self.columns, 0, delta, limit) <= limit:
            search_kernels.apply_change(world, self.columns, 0, delta)
            self.count = 1
            self.state[:, 0, 0] = middle
            self.values[:] = middle[:, None]

    def unflatten(self) -> None:
        """Replace one key by several of the same value: both ends and the pinned samples."""
        self.pinned[[0, -1]] = True
        at = np.flatnonzero(self.pinned)
        value = self.state[:, :1, 0].copy()
        self.count = len(at)
        self.keys[: self.count] = at
        self.state[:] = 0.0
        self.state[:, : self.count, 0] = value
        self.state[:, 1 : self.count, 2] = self.state[:, : self.count - 1, 4] = np.diff(at) / 3.0

    def insert(self, sample: int) -> None:
        """Insert a key on the curve at a sample that has none."""
        k = search_kernels.insert_key_on_curve(self.keys, self.state, self.broken, self.count, sample, self.cut)
        for array in (self.marks, self.cost):
            array[k + 1 : self.count + 1] = array[k : self.count].copy()
        self.marks[k], self.cost[k] = ALL_UNTRIED, 1.0
        self.count += 1

    def attempt(self, world: WorldState, k: int, limit: float, sample: int = -1, merged: int = -1) -> Attempt:
        """Try to remove key k (or move it to `sample`, and the next to `merged`) and fit the curves around it again."""
        worst, first, width, inside = search_kernels.attempt_change(
            self.keys, self.state, self.broken, self.count, k, sample, merged, self.columns, self.values,
            self.target, self.weight, self.cut, world, limit, self.free_ends, self.free_lengths, *self.scratch,
        )  # fmt: skip
        return Attempt(worst, k, first, width, inside, sample < 0)

    def accept(self, world: WorldState, attempt: Attempt) -> None:
        """Apply the last attempt."""
        local_keys, local, _, delta = self.scratch
        k, a, inside = attempt.key, attempt.first, attempt.inside
        start = int(self.keys[a])
        search_kernels.apply_change(world, self.columns, start, delta[:, : attempt.width])
        self.values[:, start : start + attempt.width] += delta[:, : attempt.width]
        if attempt.removed:
            for array in (self.keys, self.marks, self.cost):
                array[k : self.count - 1] = array[k + 1 : self.count].copy()
            for table in (self.state, self.broken):
                table[:, k : self.count - 1] = table[:, k + 1 : self.count].copy()
            self.count -= 1
        last = a + inside - 1
        self.keys[a : last + 1] = local_keys[:inside]
        self.marks[a : last + 1] |= ALL_UNTRIED
        self.state[:, a + 1 : last] = local[:, 1 : inside - 1]
        # the outer sides of the two end keys are not in the fit
        self.state[:, a, [0, 3, 4]] = local[:, 0, [0, 3, 4]]
        self.state[:, last, [0, 1, 2]] = local[:, inside - 1, [0, 1, 2]]

    def polish(self, world: WorldState, limit: float) -> None:
        """Fit each column again so that it compensates the errors of the others, and keep that as its target."""
        samples = self.target.shape[1]
        offset, weight, new = np.empty(samples), np.empty(samples), np.empty(samples)
        free = np.ones((self.count, fit_kernels.SLOTS_PER_KEY), bool)
        free[[0, -1]] = self.free_ends
        free[:, fit_kernels.LENGTH_IN_SLOT] = free[:, fit_kernels.LENGTH_OUT_SLOT] = self.free_lengths
        for row, column in enumerate(self.columns):
            search_kernels.aim_column(world, column, self.bound[row], 0, samples, offset, weight)
            weight /= max(float(weight.max()), 1e-300) / self.weight[row].max()
            aim = self.source[row] + offset
            state = self.state[row, : self.count].copy()
            broken, last = self.broken[row], self.count - 1
            fit_kernels.fit_chain(self.keys, state, broken, 0, last, aim, weight, self.cut, free, 4, np.inf)
            fit_kernels.sample_chain(self.keys, state, 0, last, new)
            delta = (new - self.values[row])[None]
            one = self.columns[row : row + 1]
            if search_kernels.worst_error(world, one, 0, delta, limit) <= limit:
                search_kernels.apply_change(world, one, 0, delta)
                self.state[row, : self.count] = state
                self.values[row] = new
                self.target[row] = aim

    def aims(self, world: WorldState, start: int, stop: int) -> Array:
        """(n, M) the values with which each column would compensate the current errors of the others.

        Outside of the samples from `start` to `stop` they are the current ones.
        """
        aim, offset, weight = self.values.copy(), *np.empty((2, self.target.shape[1]))
        for row, column in enumerate(self.columns):
            search_kernels.aim_column(world, column, self.bound[row], start, stop, offset, weight)
            aim[row, start:stop] = self.source[row, start:stop] + offset[start:stop]
        return aim

    def save(self) -> tuple[int, tuple[Array, ...]]:
        """The keys and values, for `load`."""
        return self.count, tuple(getattr(self, name).copy() for name in SAVED_FIELDS)

    def load(self, saved: tuple[int, tuple[Array, ...]], world: WorldState) -> None:
        """Go back to keys and values that were saved."""
        new = self.values
        self.count = saved[0]
        for name, array in zip(SAVED_FIELDS, saved[1]):
            setattr(self, name, array)
        self._apply(world, self.values - new)

    def update_values(self, world: WorldState, first: int, last: int) -> None:
        """Sample the curves between two keys again, after a change of them."""
        start, stop = int(self.keys[first]), int(self.keys[last]) + 1
        new = np.empty((len(self.columns), stop - start))
        for c in range(len(self.columns)):
            fit_kernels.sample_chain(self.keys, self.state[c], first, last, new[c])
        search_kernels.apply_change(world, self.columns, start, new - self.values[:, start:stop])
        self.values[:, start:stop] = new

    def _apply(self, world: WorldState, delta: Array) -> None:
        """Apply a change of the columns (n, M) to the world, where there is any."""
        changed = np.flatnonzero(delta.any(axis=0))
        if len(changed):
            span = slice(int(changed[0]), int(changed[-1]) + 1)
            search_kernels.apply_change(world, self.columns, span.start, np.ascontiguousarray(delta[:, span]))

    @cached_property
    def scratch(self) -> tuple[Array, Array, Array, Array]:
        """Memory for `attempt`: keys, states, broken flags and the change of the columns."""
        n, size = len(self.columns), 2 * search_kernels.REFIT_KEYS_EACH_SIDE + 2
        local = np.empty((n, size, fit_kernels.SLOTS_PER_KEY))
        return np.empty(size, np.int64), local, np.empty((n, size), bool), np.empty(self.target.shape)


def group_columns(channels: Channels, moving: Array, together: bool) -> Iterator[Array]:
    """The columns (n,) of each group; with `together` all channels with `moving` (C,) bool columns share their keys."""
    shared = []
    for i, channel in enumerate(channels):
        columns = np.arange(int(channels.offsets[i]), int(channels.offsets[i + 1]))
        if together and moving[columns].any():
            shared.append(columns)
        elif channel.kind in SEPARATE_COLUMN_KINDS and not together:
            yield from columns[:, None]
        else:
            yield columns
    if shared:
        yield np.concatenate(shared)


def build_curves(given: SampledAnimation, groups: list[KeyGroup], loop: bool) -> Curves:
    """The animation of the keys of all groups, columns in the order of the source, then the stepped curves."""
    owner = {int(column): (group, row) for group in groups for row, column in enumerate(group.columns)}
    curves = []
    for i, channel in enumerate(given.channels):
        columns = range(int(given.channels.offsets[i]), int(given.channels.offsets[i + 1]))
        first = owner[columns[0]][0]
        if all(owner[column][0] is first for column in columns):
            curves.append(_build_curve(channel, first, [owner[column][1] for column in columns], given, loop))
        else:
            assert channel.kind in SEPARATE_COLUMN_KINDS
            for name, column in zip(channel.columns, columns):
                group, row = owner[column]
                curves.append(_build_curve(Channel(channel.target, channel.kind, (name,)), group, [row], given, loop))
    source = given.animation
    return Curves(source.name, [*curves, *given.stepped], source.labels, given.rate, source.about, source.moments)


def _build_curve(channel: Channel, group: KeyGroup, rows: list[int], given: SampledAnimation, loop: bool) -> Curve:
    count = group.count
    state = group.state[rows, :count].transpose(1, 0, 2)  # (K, n, 5)
    values = state[..., 0].copy()
    if not group.free_lengths and count > 1:
        thirds = np.diff(group.keys[:count])[:, None] / 3  # also of keys inserted since the last fit
        state = state.copy()
        state[1:, :, 2], state[:-1, :, 4] = thirds, thirds
    before, after = handles_from_state(state, 1 / given.sample_rate)
    if channel.kind == "rotation":
        length = np.linalg.norm(values, axis=1)
        values /= length[:, None]
        before[..., 1] /= length[:, None]
        after[..., 1] /= length[:, None]
    if count > 1:
        before[0], after[-1] = 0.0, 0.0
    extrapolation = (
        ("cycle", "cycle") if loop and count > 1 and np.array_equal(values[0], values[-1]) else ("hold", "hold")
    )
    straight = [fit_kernels.is_straight(group.keys, k, group.cut) for k in range(count - 1)]
    segments = np.where(np.array(straight, bool), LINEAR, BEZIER)
    times = given.seconds(group.keys[:count])
    for k in np.flatnonzero(straight):
        if channel.kind == "euler" and int(group.keys[k]) in group.cut_slopes:
            third = (times[k + 1] - times[k]) / 3
            leave, arrive = group.cut_slopes[int(group.keys[k])][rows].T
            after[k], before[k + 1] = (
                np.stack([np.full(3, third), third * slope], axis=1) for slope in (leave, arrive)
            )
            segments[k] = BEZIER
    return Curve(channel, times, values, segments, before, after, extrapolation, fitted=True)


def handles_from_state(state: Array, sample: float) -> tuple[Array, Array]:
    """Handles before and after (K, n, 2) of states (K, n, 5), whose times count samples of `sample` seconds."""
    before = np.stack([state[..., 2] * sample, state[..., 1] * state[..., 2]], axis=-1)
    after = np.stack([state[..., 4] * sample, state[..., 3] * state[..., 4]], axis=-1)
    return before, after
