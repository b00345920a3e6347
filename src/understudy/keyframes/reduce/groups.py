"""Group: columns that share the times of their keys, with the keys that they have now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.keyframes.reduce import fit_kernels, landmarks, search_kernels, world_kernels
from understudy.keyframes.reduce.world_kernels import World

OWN_COLUMNS = ("weights", "controls")  # their columns have little to do with each other, and are keyed one by one
CONSTANT = 0.05  # tolerances: columns that never leave this much are one key without further questions

UNTRIED, UNMOVED, UNMERGED, UNJOINED = 1, 2, 4, 8
NEW = UNTRIED | UNMOVED | UNMERGED | UNJOINED
"""What is marked of a key: that taking it out, moving it, merging it with the next or making it smooth was not tried
since its surroundings are as they are."""


class Attempt(NamedTuple):
    """A change that was tried: the worst error that it makes, and where it is."""

    worst: float  # tolerances
    key: int
    first: int  # key with which the neighbourhood begins
    width: int  # samples
    inside: int  # keys of the neighbourhood after the change
    removed: bool


@dataclass(eq=False)
class Group:
    """n columns and K keys; the arrays have room for a key a frame. The letters are those of `search_kernels`."""

    columns: Array  # (n,) int
    target: Array  # (n, M)
    weight: Array  # (n, M) tolerances for one unit
    bound: Array  # (n, M) likewise, by which columns are kept from making up for others: see `world_kernels.aim`
    peaks: Array  # (M,) bool, samples at which one of the columns turns around: keys are drawn to them
    free_lengths: bool = True  # or every handle is as long as a third of its segment
    free_ends: bool = True
    count: int = 0
    merged_at: float = 0.0  # the limit at which merging was last tried
    source: Array = field(init=False)  # (n, M) the target before it makes up for others
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
        self.state = np.zeros((n, room, fit_kernels.SLOTS))
        self.broken = np.zeros((n, room), bool)
        self.marks = np.full(room, NEW)
        self.cost = np.zeros(room)

    @cached_property
    def is_still(self) -> bool:
        """Whether the source never moves: such columns stay so, and make up for nothing."""
        return bool(np.all(np.ptp(self.source, axis=1) <= 1e-9 * np.maximum(np.abs(self.source[:, 0]), 1)))

    def begin(self, loop: bool, fill: float) -> None:
        """The first keys: one where nothing moves; else the ends, and as many as `fill` (tolerances) needs."""
        self.broken[:], self.marks[:], self.cost[:], self.merged_at = False, NEW, 0.0, 0.0
        low, high = self.target.min(axis=1), self.target.max(axis=1)
        if self.target.shape[1] == 1 or np.all((high - low) * self.weight.max(axis=1) <= 2 * CONSTANT):
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
            self._tie()
        self.count = search_kernels.fill(
            self.keys, self.state, self.broken, self.count, self.target, self.weight, fill,
            self.free_ends, self.free_lengths,
        )  # fmt: skip

    def _tie(self) -> None:
        """Ends that a loop runs through: their values and slopes are set here and stay."""
        self.free_ends = False
        last = self.count - 1
        for c in range(len(self.columns)):
            first, end, slope = landmarks.seam(self.target[c], float(self.weight[c, 0]))
            self.state[c, 0, 0], self.state[c, last, 0] = first, end
            self.state[c, [0, last], 1] = self.state[c, [0, last], 3] = slope

    def sampled(self) -> Array:
        """(n, M) the columns as the keys have them."""
        result = np.empty(self.target.shape)
        if self.count == 1:
            result[:] = self.state[:, 0, :1]
        else:
            for c in range(len(self.columns)):
                fit_kernels.sample_chain(self.keys, self.state[c], 0, self.count - 1, result[c])
        return result

    def flatten(self, world: World, limit: float) -> None:
        """Two keys become one where a constant will do: that in the middle of the range."""
        middle = 0.5 * (self.target.min(axis=1) + self.target.max(axis=1))
        delta = middle[:, None] - self.sampled()
        if self.count == 2 and world_kernels.worst(world, self.columns, 0, delta, limit) <= limit:
            world_kernels.apply(world, self.columns, 0, delta)
            self.count = 1
            self.state[:, 0, 0] = middle

    def unflatten(self) -> None:
        """One key becomes two of the same value."""
        last = self.target.shape[1] - 1
        self.count = 2
        self.keys[1] = last
        self.state[:, 1] = self.state[:, 0]
        self.state[:, 0, 4] = self.state[:, 1, 2] = last / 3.0
        self.state[:, :2, 1] = self.state[:, :2, 3] = 0.0

    def insert(self, sample: int) -> None:
        """A key at a sample that has none, on the curve."""
        k = search_kernels.insert(self.keys, self.state, self.broken, self.count, sample)
        for each in (self.marks, self.cost):
            each[k + 1 : self.count + 1] = each[k : self.count].copy()
        self.marks[k], self.cost[k] = NEW, 1.0
        self.count += 1

    def restore(self, start: int, stop: int) -> None:
        """Keys at all frames from sample `start` to `stop`, with the source's values and straight lines between."""
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

    def attempt(self, world: World, k: int, limit: float, sample: int = -1, merged: int = -1) -> Attempt:
        """Key k taken out (or moved to a sample, and the next to `merged`), and the curves fitted again around it."""
        worst, first, width, inside = search_kernels.attempt(
            self.keys, self.state, self.broken, self.count, k, sample, merged, self.columns, self.target, self.weight,
            world, limit, self.free_ends, self.free_lengths, *self.scratch,
        )  # fmt: skip
        return Attempt(worst, k, first, width, inside, sample < 0)

    def accept(self, world: World, attempt: Attempt) -> None:
        """Make the last attempt so."""
        local_keys, local, _, delta = self.scratch
        k, a, inside = attempt.key, attempt.first, attempt.inside
        world_kernels.apply(world, self.columns, int(self.keys[a]), delta[:, : attempt.width])
        if attempt.removed:
            for each in (self.keys, self.marks, self.cost):
                each[k : self.count - 1] = each[k + 1 : self.count].copy()
            for table in (self.state, self.broken):
                table[:, k : self.count - 1] = table[:, k + 1 : self.count].copy()
            self.count -= 1
        last = a + inside - 1
        self.keys[a : last + 1] = local_keys[:inside]
        self.marks[a : last + 1] |= NEW
        self.state[:, a + 1 : last] = local[:, 1 : inside - 1]
        # the far sides of the two end keys are not in the fit
        self.state[:, a, [0, 3, 4]] = local[:, 0, [0, 3, 4]]
        self.state[:, last, [0, 1, 2]] = local[:, inside - 1, [0, 1, 2]]

    def polish(self, world: World, limit: float) -> None:
        """Fit each column again so that it makes up for the errors of the others, and aim at that from now on."""
        samples = self.target.shape[1]
        wish, weight, new = np.empty(samples), np.empty(samples), np.empty(samples)
        free = np.ones((self.count, fit_kernels.SLOTS), bool)
        free[[0, -1]] = self.free_ends
        free[:, fit_kernels.LENGTH_IN] = free[:, fit_kernels.LENGTH_OUT] = self.free_lengths
        for row, column in enumerate(self.columns):
            world_kernels.aim(world, column, self.bound[row], wish, weight)
            weight /= max(float(weight.max()), 1e-300) / self.weight[row].max()
            aim = self.source[row] + wish
            state = self.state[row, : self.count].copy()
            fit_kernels.fit_chain(self.keys, state, self.broken[row], 0, self.count - 1, aim, weight, free, 6, np.inf)
            fit_kernels.sample_chain(self.keys, state, 0, self.count - 1, new)
            delta = (new - self.source[row] - world.error[column])[None]
            one = self.columns[row : row + 1]
            if world_kernels.worst(world, one, 0, delta, limit) <= limit:
                world_kernels.apply(world, one, 0, delta)
                self.state[row, : self.count] = state
                self.target[row] = aim

    def aims(self, world: World) -> Array:
        """(n, M) what each column should be to make up for the errors of the others as they are."""
        wish, weight = np.empty(self.target.shape), np.empty(self.target.shape[1])
        for row, column in enumerate(self.columns):
            world_kernels.aim(world, column, self.bound[row], wish[row], weight)
        return self.source + wish

    def now(self, world: World) -> Array:
        """(n, M) the columns as they are, errors with them."""
        return self.source + world.error[self.columns]

    @cached_property
    def scratch(self) -> tuple[Array, Array, Array, Array]:
        n, size = len(self.columns), 2 * search_kernels.REACH + 2
        local = np.empty((n, size, fit_kernels.SLOTS))
        return np.empty(size, np.int64), local, np.empty((n, size), bool), np.empty(self.target.shape)


def grouped(channels: Channels, moving: Array, together: bool) -> Iterator[Array]:
    """(n,) columns of each group. `moving` (C,) bool: columns that are not constant share keys where `together`."""
    shared = []
    for i, channel in enumerate(channels):
        own = np.arange(int(channels.offsets[i]), int(channels.offsets[i + 1]))
        if together and moving[own].any():
            shared.append(own)
        elif channel.kind in OWN_COLUMNS and not together:
            yield from own[:, None]
        else:
            yield own
    if shared:
        yield np.concatenate(shared)
