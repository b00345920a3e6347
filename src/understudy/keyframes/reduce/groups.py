"""Group: columns that share the times of their keys, with the keys that they have now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.keyframes.reduce import fit_kernels, landmarks, search_kernels, world_kernels
from understudy.keyframes.reduce.world_kernels import World

OWN_COLUMNS = ("weights", "controls")  # their columns have little to do with each other, and are keyed one by one
CONSTANT = 0.05  # tolerances: columns that never leave this much are one key without further questions
REACH = 2  # keys on either side of a change that are fitted again


@dataclass(eq=False)
class Group:
    """n columns and K keys; the arrays have room for a key a frame. The letters are those of `search_kernels`."""

    columns: Array  # (n,) int
    target: Array  # (n, M)
    weight: Array  # (n, M) tolerances for one unit
    free_ends: bool = True
    count: int = 0
    keys: Array = field(init=False)
    state: Array = field(init=False)
    broken: Array = field(init=False)
    marks: Array = field(init=False)
    cost: Array = field(init=False)

    def __post_init__(self) -> None:
        n, samples = self.target.shape
        room = (samples + 1) // 2 + 1
        self.keys = np.zeros(room, np.int64)
        self.state = np.zeros((n, room, fit_kernels.SLOTS))
        self.broken = np.zeros((n, room), bool)
        self.marks = np.full(room, search_kernels.NEW)
        self.cost = np.zeros(room)

    def begin(self, peaks: Array, loop: bool, fill: float) -> None:
        """The first keys: one where nothing moves; else the ends, the peaks (M,) bool, and what `fill` (tol.) needs."""
        low, high = self.target.min(axis=1), self.target.max(axis=1)
        if self.target.shape[1] == 1 or np.all((high - low) * self.weight.max(axis=1) <= 2 * CONSTANT):
            self.count = 1
            still = high - low <= 1e-9 * np.maximum(np.abs(high), 1)
            self.state[:, 0, 0] = np.where(still, self.target[:, 0], 0.5 * (low + high))
            return
        samples = self.target.shape[1]
        chosen = np.unique(np.concatenate([[0], np.flatnonzero(peaks), [samples - 1]]))
        self.count = len(chosen)
        self.keys[: self.count] = chosen
        self.marks[1 : self.count - 1] |= search_kernels.HELD
        self.state[:, : self.count, 0] = self.target[:, chosen]
        rise = (self.target[:, -1] - self.target[:, 0]) / (samples - 1)
        lengths = np.diff(chosen) / 3.0
        for slope in (1, 3):
            self.state[:, : self.count, slope] = 0.0 if self.count > 2 else rise[:, None]
        self.state[:, : self.count - 1, 4] = lengths
        self.state[:, 1 : self.count, 2] = lengths
        if loop:
            self._tie()
        self.count = search_kernels.fill(
            self.keys, self.state, self.broken, self.marks, self.count, self.target, self.weight, fill, self.free_ends
        )

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

    def estimate(self, world: World) -> None:
        """What taking out each key would cost."""
        if self.count > 2:
            search_kernels.estimate(*self._lists(), *self._aims(world), 8.0, self.free_ends, REACH)

    def thin(self, world: World, limit: float) -> None:
        """Take out the keys that the limit does not need."""
        if self.count > 2:
            self.count = search_kernels.thin(*self._lists(), *self._aims(world), limit, self.free_ends, REACH)
        if self.count == 2:
            self._flatten(world, limit)

    def shift(self, world: World, limit: float) -> None:
        """Move keys to better frames."""
        if self.count > 2:
            search_kernels.shift(*self._lists(), *self._aims(world), limit, self.free_ends, REACH)

    def merge(self, world: World, limit: float) -> None:
        """Make one key of two where the limit allows it."""
        if self.count > 3:
            self.count = search_kernels.merge(*self._lists(), *self._aims(world), limit, self.free_ends, REACH)

    def refine(self, world: World, sample: int) -> bool:
        """A key at a frame, or the nearest that has none; False where every frame has a broken one."""
        if self.count == 1:
            self._two(world)
        frames = np.arange(2, self.target.shape[1] - 1, 2)
        taken = np.isin(frames, self.keys[: self.count][self.broken[:, : self.count].all(axis=0)])
        open_frames = frames[~taken]
        if not len(open_frames):
            return False
        nearest = int(open_frames[np.argmin(np.abs(open_frames - sample))])
        self.count = search_kernels.refine(*self._lists(), *self._aims(world), nearest, self.free_ends)
        return True

    def _two(self, world: World) -> None:
        """One key becomes two of the same value."""
        last = self.target.shape[1] - 1
        self.count = 2
        self.keys[1] = last
        self.state[:, 1] = self.state[:, 0]
        self.state[:, 0, 4] = self.state[:, 1, 2] = last / 3.0
        self.state[:, :2, 1] = self.state[:, :2, 3] = 0.0

    def _flatten(self, world: World, limit: float) -> None:
        """Two keys become one where a constant will do: that in the middle of the range."""
        middle = 0.5 * (self.target.min(axis=1) + self.target.max(axis=1))
        delta = middle[:, None] - self.sampled()
        if world_kernels.worst(world, self.columns, 0, delta, limit) <= limit:
            world_kernels.apply(world, self.columns, 0, delta)
            self.count = 1
            self.state[:, 0, 0] = middle

    def _lists(self) -> tuple[Array, Array, Array, Array, Array, int]:
        return self.keys, self.state, self.broken, self.marks, self.cost, self.count

    def _aims(self, world: World) -> tuple[Array, Array, Array, World]:
        return self.columns, self.target, self.weight, world


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
