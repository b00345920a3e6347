"""Where points of a character are in many rows at once: positions and orientations, without derivatives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.keyframes.goals import Point
from understudy.keyframes.ground import Ground
from understudy.keyframes.states import part_of
from understudy.maths import accelerate, quaternion
from understudy.rig import PosedRig
from understudy.rig.laying import Laying


class Tracks:
    """P points on one rig, for values of one set of channels."""

    def __init__(self, ground: Ground, channels: Channels, laying: Laying, points: Sequence[Point]) -> None:
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

    def moved_by(self, number: int) -> Array:
        """The columns (n,) int of the animation that move or turn a point."""
        if self._all is None:
            return np.zeros(0, np.int64)
        moved: Array = self._all.columns[self._all.moved_by[number].any(axis=0)]
        return moved

    def at(self, values: Array) -> tuple[Array, Array]:
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
    kernels = accelerate.kernels("understudy.maths.quaternion_kernels")
    if kernels is None:
        return quaternion.from_matrix(turns)
    result = np.empty((len(turns), 4))
    kernels.from_matrix(turns, result)
    return result


def _turns(matrices: Array) -> Array:
    """Rotations (..., 3, 3) of matrices that scale as well: x stays, y turns in its plane [Gram and Schmidt]."""
    x = matrices[..., 0] / np.linalg.norm(matrices[..., 0], axis=-1, keepdims=True).clip(1e-12)
    y = matrices[..., 1] - np.sum(x * matrices[..., 1], axis=-1, keepdims=True) * x
    y = y / np.linalg.norm(y, axis=-1, keepdims=True).clip(1e-12)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def _strongest(rig: PosedRig, vertex: int) -> int:
    part, own = part_of(rig, vertex)
    best = int(np.argmax(part.skin.weights[own]))
    return int(part.skin.joints[part.skin.influences[own, best]])
