"""Groups of columns that share the times of their keys, what a reduction must not lose, and keys turned into curves.

`KeyGroup` has the columns of a group and its current keys. `find_peaks`, `find_still_joints` and `is_loop` find what
must stay: peaks of the columns, joints in contact with the floor, the seam of a loop. `build_curves` makes the
animation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy.character import Channel, Channels, Curve, Curves
from understudy.character.curve import BEZIER
from understudy.checks import Array
from understudy.edit.reduce import fit_kernels, search_kernels
from understudy.edit.reduce.search_kernels import WorldState
from understudy.edit.reduce.source import SampledAnimation

PEAK_PROMINENCE_TOLERANCES = 12.0
"""Prominence of a peak, in tolerances by which its column rises before and falls after it: clearly more than the error
of the fit on both sides (two), and not so few that a breath, a dozen millimetres, is forced into keys."""

PEAK_TOLERANCE_RATIO = 0.25  # of its tolerance that a column may be off at a peak, so that peaks are not cut off
CONTACT_SPEED_M_S = 0.12  # walking feet on the floor measure below 0.1 in captures, swinging ones above 0.5
MIN_CONTACT_SECONDS = 0.1  # a foot in a run stays for 0.15
CONTACT_HEIGHT_RATIO = 0.12  # of the height that the joints span: toes and ankles are below it, knees are not
CONTACT_TOLERANCE_RATIO = 0.5  # of the tolerance that a joint may be off while it is in contact
SEPARATE_COLUMN_KINDS = ("weights", "controls")  # their columns are independent, and are keyed one by one
CONSTANT_TOLERANCE_RATIO = 0.05  # tolerances: columns that stay within this get a single key

REMOVAL_UNTRIED, SHIFT_UNTRIED, MERGE_UNTRIED, JOIN_UNTRIED = 1, 2, 4, 8
ALL_UNTRIED = REMOVAL_UNTRIED | SHIFT_UNTRIED | MERGE_UNTRIED | JOIN_UNTRIED
"""Marks of a key: removing it, shifting it, merging it with the next or making it smooth was not tried since its
neighbourhood last changed."""


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
    peaks: Array  # (M,) bool, samples at which one of the columns has a peak: keys are attracted to them
    free_lengths: bool = True  # else every handle is a third of its segment long
    free_ends: bool = True
    count: int = 0
    merged_at: float = 0.0  # the limit at which merging was last tried
    source: Array = field(init=False)  # (n, M) the target before it compensates other columns
    keys: Array = field(init=False)
    state: Array = field(init=False)
    broken: Array = field(init=False)
    marks: Array = field(init=False)
    cost: Array = field(init=False)

    def __post_init__(self) -> None:
        self.source = self.target.copy()
        n, samples = self.target.shape
        room = (samples + 1) // 2 + 1
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
        """Set the first keys: one for a constant group; else the ends, and as many as `fill` (tolerances) needs."""
        self.broken[:], self.marks[:], self.cost[:], self.merged_at = False, ALL_UNTRIED, 0.0, 0.0
        low, high = self.target.min(axis=1), self.target.max(axis=1)
        if self.target.shape[1] == 1 or np.all((high - low) * self.weight.max(axis=1) <= 2 * CONSTANT_TOLERANCE_RATIO):
            self.count = 1
            self.state[:, 0, 0] = self.source[:, 0] if self.is_still else 0.5 * (low + high)
            return
        samples = self.target.shape[1]
        self.count = 2
        self.keys[1] = samples - 1
        self.state[:, :2, 0] = self.target[:, [0, -1]]
        rise = (self.target[:, -1] - self.target[:, 0]) / (samples - 1)
        self.state[:, :2, 1] = self.state[:, :2, 3] = rise[:, None]
        self.state[:, 0, 4] = self.state[:, 1, 2] = (samples - 1) / 3.0
        if loop:
            self._fix_loop_ends()
        self.count = search_kernels.fill_keys(
            self.keys, self.state, self.broken, self.count, self.target, self.weight, fill,
            self.free_ends, self.free_lengths,
        )  # fmt: skip

    def _fix_loop_ends(self) -> None:
        """Fix the values and slopes of both ends, so that a loop is seamless."""
        self.free_ends = False
        last = self.count - 1
        for c in range(len(self.columns)):
            first, end, slope = loop_seam(self.target[c], float(self.weight[c, 0]))
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

    def flatten(self, world: WorldState, limit: float) -> None:
        """Replace two keys by one where a constant, the middle of the range, is within the limit."""
        middle = 0.5 * (self.target.min(axis=1) + self.target.max(axis=1))
        delta = middle[:, None] - self.sample_columns()
        if self.count == 2 and search_kernels.worst_error(world, self.columns, 0, delta, limit) <= limit:
            search_kernels.apply_change(world, self.columns, 0, delta)
            self.count = 1
            self.state[:, 0, 0] = middle

    def unflatten(self) -> None:
        """Replace one key by two of the same value."""
        last = self.target.shape[1] - 1
        self.count = 2
        self.keys[1] = last
        self.state[:, 1] = self.state[:, 0]
        self.state[:, 0, 4] = self.state[:, 1, 2] = last / 3.0
        self.state[:, :2, 1] = self.state[:, :2, 3] = 0.0

    def insert(self, sample: int) -> None:
        """Insert a key on the curve at a sample that has none."""
        k = search_kernels.insert_key_on_curve(self.keys, self.state, self.broken, self.count, sample)
        for array in (self.marks, self.cost):
            array[k + 1 : self.count + 1] = array[k : self.count].copy()
        self.marks[k], self.cost[k] = ALL_UNTRIED, 1.0
        self.count += 1

    def restore(self, start: int, stop: int) -> None:
        """Put keys at all frames from sample `start` to `stop`, with the values of the source and linear segments."""
        samples = self.target.shape[1]
        if self.count == 1:
            self.unflatten()
        for sample in range(max(start // 2 * 2, 0), min(stop, samples - 1) + 1, 2):
            if sample not in self.keys[: self.count]:
                self.insert(sample)
            k = int(np.searchsorted(self.keys[: self.count], sample))
            self.state[:, k, 0], self.broken[:, k] = self.source[:, sample], True
        for k in range(self.count - 1):
            first, last = int(self.keys[k]), int(self.keys[k + 1])
            if last - first == 2 and self.broken[:, [k, k + 1]].all():
                slope = 0.5 * (self.state[:, k + 1, 0] - self.state[:, k, 0])
                self.state[:, k, 3] = self.state[:, k + 1, 1] = slope
                self.state[:, k, 4] = self.state[:, k + 1, 2] = 2 / 3

    def attempt(self, world: WorldState, k: int, limit: float, sample: int = -1, merged: int = -1) -> Attempt:
        """Try to remove key k (or move it to `sample`, and the next to `merged`) and fit the curves around it again."""
        worst, first, width, inside = search_kernels.attempt_change(
            self.keys, self.state, self.broken, self.count, k, sample, merged, self.columns, self.target, self.weight,
            world, limit, self.free_ends, self.free_lengths, *self.scratch,
        )  # fmt: skip
        return Attempt(worst, k, first, width, inside, sample < 0)

    def accept(self, world: WorldState, attempt: Attempt) -> None:
        """Apply the last attempt."""
        local_keys, local, _, delta = self.scratch
        k, a, inside = attempt.key, attempt.first, attempt.inside
        search_kernels.apply_change(world, self.columns, int(self.keys[a]), delta[:, : attempt.width])
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
            search_kernels.aim_column(world, column, self.bound[row], offset, weight)
            weight /= max(float(weight.max()), 1e-300) / self.weight[row].max()
            aim = self.source[row] + offset
            state = self.state[row, : self.count].copy()
            fit_kernels.fit_chain(self.keys, state, self.broken[row], 0, self.count - 1, aim, weight, free, 6, np.inf)
            fit_kernels.sample_chain(self.keys, state, 0, self.count - 1, new)
            delta = (new - self.source[row] - world.error[column])[None]
            one = self.columns[row : row + 1]
            if search_kernels.worst_error(world, one, 0, delta, limit) <= limit:
                search_kernels.apply_change(world, one, 0, delta)
                self.state[row, : self.count] = state
                self.target[row] = aim

    def aims(self, world: WorldState) -> Array:
        """(n, M) the values with which each column would compensate the current errors of the others."""
        offset, weight = np.empty(self.target.shape), np.empty(self.target.shape[1])
        for row, column in enumerate(self.columns):
            search_kernels.aim_column(world, column, self.bound[row], offset[row], weight)
        return self.source + offset

    def current_values(self, world: WorldState) -> Array:
        """(n, M) the current values of the columns: the source plus their errors."""
        return self.source + world.error[self.columns]

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
    before, after = handles_from_state(state, 1 / (2 * given.rate))
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
    return Curve(channel, given.seconds(group.keys[:count]), values, BEZIER, before, after, extrapolation)


def handles_from_state(state: Array, sample: float) -> tuple[Array, Array]:
    """Handles before and after (K, n, 2) of states (K, n, 5), whose times count samples of `sample` seconds."""
    before = np.stack([state[..., 2] * sample, state[..., 1] * state[..., 2]], axis=-1)
    after = np.stack([state[..., 4] * sample, state[..., 3] * state[..., 4]], axis=-1)
    return before, after


def find_peaks(values: Array, lever: Array) -> Array:
    """(M,) bool: the peaks of a column (M,), by PEAK_PROMINENCE_TOLERANCES and its lever (M,), tolerances per unit."""
    peaks = np.zeros(len(values), bool)
    frames = values[::2] * 1.0
    scale = PEAK_PROMINENCE_TOLERANCES / np.maximum(lever[::2], 1e-12)
    high = low = 0
    direction = 0
    for f in range(1, len(frames)):
        if frames[f] > frames[high]:
            high = f
        if frames[f] < frames[low]:
            low = f
        if direction >= 0 and frames[high] - frames[f] > scale[high]:
            peaks[2 * high] = direction != 0
            direction, low = -1, f
        elif direction <= 0 and frames[f] - frames[low] > scale[low]:
            peaks[2 * low] = direction != 0
            direction, high = 1, f
    return peaks


def find_still_joints(places: Array, rate: float) -> Array:
    """(M, J) bool: joints in contact, slow and near the floor; positions (M, J, 3), Y up, two samples a frame."""
    samples, joints = places.shape[:2]
    still = np.zeros((samples, joints), bool)
    if samples < 9 or joints < 2:
        return still
    height = places[..., 1]
    floor = np.percentile(height.min(axis=1), 5)
    span = float(np.median(height.max(axis=1) - height.min(axis=1)))
    reach = max(2, round(0.04 * 2 * rate))  # samples over which speed is averaged: jitter is not motion
    ahead, behind = np.minimum(np.arange(samples) + reach, samples - 1), np.maximum(np.arange(samples) - reach, 0)
    speed = np.linalg.norm(places[ahead] - places[behind], axis=-1) / ((ahead - behind) / (2 * rate))[:, None]
    still = (speed < CONTACT_SPEED_M_S) & (height < floor + CONTACT_HEIGHT_RATIO * span)
    shortest = round(MIN_CONTACT_SECONDS * 2 * rate)
    for j in range(joints):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], still[:, j].astype(np.int8), [0]])))
        for a, b in edges.reshape(-1, 2):
            if b - a < shortest:
                still[a:b, j] = False
    return still


def is_loop(values: Array, lever: Array, travelling: Array) -> bool:
    """Whether the values (M, C) are a loop: last and first sample agree in value and step, by levers (C, M).

    Steps may differ by as much as they change from frame to frame near the seam anyway. Columns that may be
    `travelling` (C,) (translations: a root walks away) may differ in value, if they agree in speed. An animation that
    does not move is no loop.
    """
    if len(values) < 9 or not np.any(np.ptp(values, axis=0) * lever.max(axis=1) > 1):
        return False
    first = lever[:, 0]
    gap = np.abs(values[-1] - values[0]) * first
    steps = np.concatenate([np.diff(values[-7::2], axis=0), np.diff(values[:7:2], axis=0)])  # three frames on each side
    bends = np.abs(np.diff(steps, axis=0))
    usual = np.max(np.delete(bends, 2, axis=0), axis=0)
    return bool(np.all((bends[2] - 1.5 * usual) * first < 0.2) and np.all((gap <= 0.5) | travelling))


def loop_seam(column: Array, lever: float, frames: int = 3) -> tuple[float, float, float]:
    """Value at the start, value at the end and common slope per sample, of a looping column (M,).

    The slope is that of the line through the frames on both sides of the seam.
    """
    gap = column[-1] - column[0]
    near = min(2 * frames, (len(column) - 1) // 2)
    if abs(gap) * lever <= 0.5:
        middle = 0.5 * (column[0] + column[-1])
        first = last = middle
    else:
        first, last = float(column[0]), float(column[-1])
    t = np.arange(-near, near + 1)
    around = np.concatenate([column[-near - 1 : -1] - gap, column[: near + 1]])
    return float(first), float(last), float(t @ (around - around.mean()) / (t @ t))
