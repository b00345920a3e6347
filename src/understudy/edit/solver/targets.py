"""Targets: points at times with their goals, and the derivatives of their states by the tangents [Ciccone 2019, eq. 1].

Distances are counted in sizes of the character and rotations in radians, so that one tolerance and one weight serve
both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.checks import Array
from understudy.edit.points import skeletal
from understudy.edit.points.states import LayeredPointStates, PointStates, SkeletalPoints
from understudy.edit.solver import segments
from understudy.edit.solver.free_tangents import TangentVariables
from understudy.edit.solver.offsets import OffsetVariables
from understudy.edit.solver.segments import Grid, SampleGrid
from understudy.maths import jit

Variables = TangentVariables | OffsetVariables

KERNELS = "understudy.edit.solver.target_kernels"
MAX_NEW_SAMPLES_PER_GOAL = 3  # times added at once for each goal


@dataclass(frozen=True)
class PointTargets:
    """R targets: points at times, with the number of their goal in the edit."""

    point: Array  # (R,) int
    time: Array  # (R,)
    goal: Array  # (R,) int
    parts: Array  # (R, 2) bool: position, orientation
    place: Array  # (R, 3) metres
    turn: Array  # (R, 3, 3)
    grid: Grid
    sample: Array  # (R,) int, into the grid
    first_row: Array  # (R, 2) int, -1 where a part has no target

    @cached_property
    def rows(self) -> int:
        """M, three for each part with a target."""
        return 3 * int(self.parts.sum())

    def __len__(self) -> int:
        return len(self.point)

    @cached_property
    def sample_order(self) -> tuple[Array, Array]:
        """The targets (R,) in the order of their samples, and where those of each sample begin (S + 1,)."""
        return skeletal.group_by_sample(self.sample, len(self.grid.times))

    @property
    def row_goal(self) -> Array:
        """(M,) the goal of each row."""
        return np.repeat(np.repeat(self.goal[:, None], 2, axis=1)[self.parts], 3)

    def thin(self) -> PointTargets:
        """Every other target of each goal, the first among them."""
        first = np.searchsorted(self.goal, self.goal)  # targets of a goal lie together
        chosen = np.flatnonzero((np.arange(len(self)) - first) % 2 == 0)
        sample = self.sample[chosen]
        used, number = np.unique(sample, return_inverse=True)
        grid = type(self.grid)(*(array[used] for array in self.grid))
        point, time, goal, parts, place, turn = (
            getattr(self, name)[chosen] for name in ("point", "time", "goal", "parts", "place", "turn")
        )
        return PointTargets(point, time, goal, parts, place, turn, grid, number.reshape(-1), _first_rows(parts))

    def merge_targets(self, other: PointTargets, which: Array) -> PointTargets:
        """These targets and `which` (W,) of the others, in the order of time within each goal."""

        def both(name: str) -> Array:
            return np.concatenate([getattr(self, name), getattr(other, name)[which]])

        order = np.lexsort((both("time"), both("goal")))
        samples = np.concatenate([self.sample, len(self.grid.times) + np.arange(len(which))])
        joined = (np.concatenate([a, b[other.sample[which]]]) for a, b in zip(self.grid, other.grid))
        grid = type(self.grid)(*joined)
        point, time, goal, parts, place, turn = (
            both(name)[order] for name in ("point", "time", "goal", "parts", "place", "turn")
        )
        return PointTargets(point, time, goal, parts, place, turn, grid, samples[order], _first_rows(parts))


@dataclass(frozen=True, eq=False)
class TargetResiduals:
    """The gaps from states to goals, and the derivatives of the states by variables."""

    gap: Array  # (R, 6) sizes and radians, zero where a part has no target
    residual: Array  # (M,) the same, only of parts with a target
    matrix: Array  # (M, N), or (0, N) without derivatives

    @cached_property
    def distance(self) -> float:
        """The largest remaining distance, sizes."""
        return float(np.sqrt((self.gap[:, :3] ** 2).sum(axis=1)).max(initial=0.0))

    @cached_property
    def angle(self) -> float:
        """The largest remaining rotation, radians."""
        return float(np.sqrt((self.gap[:, 3:] ** 2).sum(axis=1)).max(initial=0.0))

    @property
    def largest(self) -> float:
        """The larger of both."""
        return max(self.distance, self.angle)

    @property
    def far(self) -> float:
        """The sum of both."""
        return self.distance + self.angle


def point_targets(tangents: Variables, point: Array, time: Array, goal: Array, parts: Array) -> PointTargets:
    """Targets at the origin of the world, without rotation; their goals are set afterwards (`problem.with_targets`)."""
    times, sample = np.unique(time, return_inverse=True)
    count = len(point)
    return PointTargets(
        point,
        time,
        goal,
        parts,
        np.zeros((count, 3)),
        np.tile(np.eye(3), (count, 1, 1)),
        tangents.grid(times),
        np.ascontiguousarray(sample.reshape(-1)),
        _first_rows(parts),
    )


def join_targets(*parts: PointTargets) -> PointTargets:
    """All targets, one set after the other, with their goals."""

    def both(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    offsets = np.cumsum([0, *(len(part.grid.times) for part in parts)])
    sample = np.concatenate([part.sample + offset for part, offset in zip(parts, offsets)])
    grid = type(parts[0].grid)(*(np.concatenate(arrays) for arrays in zip(*(part.grid for part in parts))))
    point, time, goal, what, place, turn = (both(name) for name in ("point", "time", "goal", "parts", "place", "turn"))
    return PointTargets(point, time, goal, what, place, turn, grid, sample, _first_rows(what))


def point_states(states: PointStates, tangents: Variables, asked: PointTargets, v: Array) -> tuple[Array, Array]:
    """Position (R, 3) and orientation (R, 3, 3) for variables v (N,)."""
    values = tangents.sample(asked.grid, v)
    position, orientation, _ = states.evaluate(values, asked.sample, asked.point, slopes=False)
    return position, orientation


def measure_targets(
    states: PointStates, tangents: Variables, asked: PointTargets, v: Array, size: float, slopes: bool = True
) -> TargetResiduals:
    """Gaps of the states for variables v (N,), and their derivatives by v."""
    if isinstance(tangents, OffsetVariables):
        return _measure_offsets(states, tangents, asked, v, size, slopes)
    if not isinstance(states, SkeletalPoints | LayeredPointStates):
        return measure_any_states(states, tangents, asked, v, size, slopes)
    kernels = jit.kernels(KERNELS)
    t, (order, first) = tangents, asked.sample_order
    gap, residual = np.empty((len(asked), 6)), np.empty(asked.rows)
    matrix = np.zeros((asked.rows if slopes else 0, t.count))
    fill = kernels.measure_skeletal if isinstance(states, SkeletalPoints) else kernels.measure_layered
    fill(
        *states.parts,
        t.pieces,
        asked.grid,
        t.start,
        t.variable,
        t.factor,
        v,
        order,
        first,
        asked.point,
        asked.parts,
        asked.place,
        asked.turn,
        asked.first_row,
        size,
        gap,
        residual,
        matrix,
    )
    return TargetResiduals(gap, residual, matrix)


def measure_any_states(
    states: PointStates, tangents: TangentVariables, asked: PointTargets, v: Array, size: float, slopes: bool = True
) -> TargetResiduals:
    """`measure_targets` for states of any kind, without a kernel that does all steps at once."""
    assert isinstance(asked.grid, SampleGrid)
    values, handle_slopes = segments.sample_segments(tangents.pieces, tangents.handles(v), asked.grid)
    position, orientation, jacobian = states.evaluate(values, asked.sample, asked.point, slopes)
    gap = gaps(asked, position, orientation, size)
    residual = gap.reshape(-1, 2, 3)[asked.parts].reshape(-1)
    matrix = np.zeros((asked.rows if slopes else 0, tangents.count))
    if slopes and len(asked):
        scale = np.array([1.0 / size, 1.0])
        jit.kernels(KERNELS).chain_rows(
            jacobian,
            handle_slopes,
            asked.sample,
            asked.grid.piece,
            tangents.variable,
            tangents.factor,
            asked.first_row,
            scale,
            matrix,
        )
    return TargetResiduals(gap, residual, matrix)


def _measure_offsets(
    states: PointStates, variables: OffsetVariables, asked: PointTargets, z: Array, size: float, slopes: bool
) -> TargetResiduals:
    values = variables.sample(asked.grid, z)
    position, orientation, jacobian = states.evaluate(values, asked.sample, asked.point, slopes)
    gap = gaps(asked, position, orientation, size)
    matrix = np.empty((asked.rows if slopes else 0, variables.count))
    if slopes and len(asked):
        variables.chain_rows(jacobian, asked.grid, asked.sample, asked.first_row, size, matrix)
    return TargetResiduals(gap, gap.reshape(-1, 2, 3)[asked.parts].reshape(-1), matrix)


def compare_states(
    asked: PointTargets, position: Array, orientation: Array, size: float, variables: int
) -> TargetResiduals:
    """`measure_targets` without slopes, for known states (R, 3) and (R, 3, 3)."""
    gap = gaps(asked, position, orientation, size)
    return TargetResiduals(gap, gap.reshape(-1, 2, 3)[asked.parts].reshape(-1), np.zeros((0, variables)))


def add_worst_samples(held: PointTargets, dense: PointTargets, drift: TargetResiduals) -> PointTargets | None:
    """The samples `held` and, for each goal, the times of `dense` with the largest drift; None where all are in.

    Only local maxima of the drift are added: the neighbours of a sample give nearly the same row.
    """
    off = np.sqrt((drift.gap**2).sum(axis=1))
    known = set(zip(held.goal.tolist(), held.time.tolist()))
    new = []
    for goal in np.unique(dense.goal):
        rows = np.flatnonzero(dense.goal == goal)
        rows = rows[np.argsort(dense.time[rows], kind="stable")]
        around = np.pad(off[rows], 1, constant_values=-1.0)
        peaks = rows[(off[rows] >= around[:-2]) & (off[rows] >= around[2:])]
        peaks = peaks[np.argsort(-off[peaks], kind="stable")][:MAX_NEW_SAMPLES_PER_GOAL]
        new += [int(r) for r in peaks if (int(goal), float(dense.time[r])) not in known]
    return held.merge_targets(dense, np.array(new)) if new else None


def gaps(asked: PointTargets, position: Array, orientation: Array, size: float) -> Array:
    """(R, 6) the gaps from positions (R, 3) and orientations (R, 3, 3) to the goals, zero without a target."""
    out = np.empty((len(asked), 6))
    jit.kernels(KERNELS).write_gaps(asked.parts, asked.place, asked.turn, position, orientation, size, out)
    return out


def _first_rows(parts: Array) -> Array:
    """(R, 2) where the rows of each part begin, -1 where it has no target."""
    return np.where(parts, np.cumsum(parts.reshape(-1)).reshape(parts.shape) * 3 - 3, -1)
