"""The sampled values of an animation, updated while its curves change, and the paths of points that follow from them.

During a drag a few dozen curves change, and only around one time. `CurveTable.update` finds the changed curves, then
the changed segments, and samples only those columns and frames again, all curves at once (`PackedCurves`).
`PointTracks` gives positions and orientations of points in many rows at once, without derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Channels, Curves
from understudy.character.rig import PosedRig
from understudy.character.rig.rig import ChannelLayout
from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.edit.points.states import part_of
from understudy.edit.solver.free_columns import RigCache
from understudy.edit.solver.segments import PackedCurves, span_of
from understudy.maths import jit, quaternion


@dataclass(frozen=True, eq=False)
class CurveChange:
    """The rows that an update changed; among them the frames from `first` to before `last`."""

    first: int
    last: int
    rows: Array  # (M,) int


NO_CHANGE = CurveChange(0, 0, np.zeros(0, np.int64))


class CurveTable:
    """Values of curves at F frames, at E extra times (keys between frames), and at the current moment."""

    def __init__(self, curves: Curves, frames: Array, besides: Array, moment: float) -> None:
        self.frames = len(frames)  # F
        self.times = np.concatenate([frames, besides, [moment]])  # (F + E + 1,)
        self.curves = curves
        self._flat = PackedCurves(curves.curves)
        self._where = self._flat.where(self.times)
        self.values = self._flat.sample(self.times, self._where)  # (F + E + 1, C)

    @property
    def moment(self) -> float:
        """The time of the last row."""
        return float(self.times[-1])

    @property
    def now(self) -> Array:
        """(C,) the values at the moment."""
        row: Array = self.values[-1]
        return row

    def look_at(self, moment: float) -> None:
        """Set the current moment."""
        if moment != self.moment:
            self.times[-1] = moment
            self._where[-1:] = self._flat.where(self.times[-1:])
            self.values[-1:] = self._flat.sample(self.times[-1:], self._where[-1:])

    def rows(self, times: Array) -> Array:
        """(M, C) values at any times."""
        return self._flat.sample(times, self._flat.where(times))

    def update(self, curves: Curves) -> CurveChange:
        """Replace the curves by others of the same channels."""
        pairs = enumerate(zip(self.curves.curves, curves.curves))
        changed = {i: new for i, (old, new) in pairs if old is not new}
        if not changed:
            return NO_CHANGE
        span = self._flat.update(changed)
        if span is None:
            spans = [span_of(self.curves.curves[i], new) for i, new in changed.items()]
            span = min(a for a, _ in spans), max(b for _, b in spans)
            self._flat = PackedCurves(curves.curves)
            self._where = self._flat.where(self.times)
        self.curves = curves
        rows = np.flatnonzero((self.times >= span[0]) & (self.times <= span[1]))
        if not len(rows):
            return NO_CHANGE
        columns = self._flat.columns_of(tuple(changed))
        place = np.ix_(rows, columns)
        self.values[place] = self._flat.sample(self.times[rows], self._where[place], columns)
        frames = rows[rows < self.frames]
        first, last = (int(frames[0]), int(frames[-1]) + 1) if len(frames) else (0, 0)
        return CurveChange(first, last, rows)


class PointTracks:
    """P points on one rig, for values of one set of channels."""

    def __init__(self, ground: RigCache, channels: Channels, laying: ChannelLayout, points: Sequence[Point]) -> None:
        self.points = tuple(points)
        rig = ground.rig
        self._rig, self._laying = rig, laying
        self._all = ground.states(channels, self.points) if self.points else None
        self._states = self._all if self._all is not None and self._all.analytic else None
        skeleton = rig.character.skeleton
        self._joints = [
            skeleton.index(each.joint) if each.vertex is None else _strongest(rig, each.vertex) for each in self.points
        ]
        self._vertices = list(dict.fromkeys(each.vertex for each in self.points if each.vertex is not None))

    def columns_moving_point(self, number: int) -> Array:
        """The columns (n,) int of the animation that move or turn a point."""
        if self._all is None:
            return np.zeros(0, np.int64)
        moved: Array = self._all.columns[self._all.influence_mask[number].any(axis=0)]
        return moved

    def sample_points(self, values: Array) -> tuple[Array, Array]:
        """Positions (P, M, 3) and orientations (P, M, 4) for values (M, C)."""
        samples, count = len(values), len(self.points)
        if not count or not samples:
            return np.zeros((count, samples, 3)), np.zeros((count, samples, 4))
        if self._states is None:
            return self._of_any_rig(values)
        sample, point = np.tile(np.arange(samples), count), np.repeat(np.arange(count), samples)
        own = np.ascontiguousarray(values[:, self._states.columns])
        place, turn, _ = self._states.evaluate(own, sample, point, slopes=False)
        return place.reshape(count, samples, 3), _quaternions(turn).reshape(count, samples, 4)

    def _of_any_rig(self, values: Array) -> tuple[Array, Array]:
        rows = self._laying.rows(values)
        world = np.swapaxes(self._rig.joints(rows)[:, self._joints], 0, 1)  # (P, M, 4, 4)
        offsets = np.array([each.offset for each in self.points])
        place = world[..., :3, 3] + np.einsum("pmij,pj->pmi", world[..., :3, :3], offsets)
        if self._vertices:
            skin = np.swapaxes(self._rig.points(rows, self._vertices), 0, 1)
            for p, point in enumerate(self.points):
                if point.vertex is not None:
                    place[p] = skin[self._vertices.index(point.vertex)]
        return place, quaternion.from_matrix(_turns(world[..., :3, :3]))


def _quaternions(turns: Array) -> Array:
    """(N, 4) of rotation matrices (N, 3, 3)."""
    result = np.empty((len(turns), 4))
    jit.kernels("understudy.maths.scalar_kernels").quaternion_from_matrix(turns, result)
    return result


def _turns(matrices: Array) -> Array:
    """Rotations (..., 3, 3) of matrices with scale, by Gram-Schmidt: x keeps its direction, y its plane."""
    x = matrices[..., 0] / np.linalg.norm(matrices[..., 0], axis=-1, keepdims=True).clip(1e-12)
    y = matrices[..., 1] - np.sum(x * matrices[..., 1], axis=-1, keepdims=True) * x
    y = y / np.linalg.norm(y, axis=-1, keepdims=True).clip(1e-12)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def _strongest(rig: PosedRig, vertex: int) -> int:
    part, own = part_of(rig, vertex)
    best = int(np.argmax(part.skin.weights[own]))
    return int(part.skin.joints[part.skin.influences[own, best]])
