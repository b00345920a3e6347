"""Controls to parameters: the rules of `Layers`, for many frames at once.

p = D (c - rest);   p_i += gain ramp(c_a) ramp(c_b);   p_i += clip(c_b, 0, 1) (target - p_i);   p = clip(p, low, high)
"""

from __future__ import annotations

import numpy as np

from understudy.character import Layers
from understudy.checks import Array


class Parameters:
    """The rules of a character, sorted once so that a frame costs two passes over them."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self._drives = _Sum(layers.drive_parameter)
        self._correctives = _Sum(layers.corrective_parameter)
        self._toward_rounds = _rounds(layers.toward_parameter)
        lattice = layers.lattice
        self._offsets = None if lattice is None else _Sum(lattice.point * 3 + lattice.axis)

    def evaluate(self, values: Array) -> Array:
        """p (F, P) for controls (F, C) within their ranges."""
        layers, controls = self.layers, self.layers.controls
        offset = values - controls.rest
        p = np.zeros((len(values), layers.parameter_count))
        self._drives.add(layers.drive_gain * offset[:, layers.drive_control], p)
        if len(layers.corrective_gain):
            reach = np.where(controls.high > controls.rest, controls.high - controls.rest, 1.0)
            ramp = np.clip(offset / reach, 0, 1)
            pulled = ramp[:, layers.corrective_a] * ramp[:, layers.corrective_b]
            self._correctives.add(layers.corrective_gain * pulled, p)
        for rules in self._toward_rounds:
            parameter, control = layers.toward_parameter[rules], layers.toward_control[rules]
            before = p[:, parameter]
            p[:, parameter] = before + np.clip(values[:, control], 0, 1) * (layers.toward_target[rules] - before)
        return np.clip(p, layers.low, layers.high)

    def offsets(self, values: Array) -> Array | None:
        """(F, nx, ny, nz, 3) how far the lattice's points are moved, or None where there is no lattice."""
        lattice = self.layers.lattice
        if lattice is None or self._offsets is None:
            return None
        result = np.zeros((len(values), int(np.prod(lattice.counts)) * 3))
        moved = lattice.gain * (values - self.layers.controls.rest)[:, lattice.control]
        self._offsets.add(moved, result)
        return result.reshape(len(values), *lattice.counts, 3)


def _rounds(targets: Array) -> list[Array]:
    """The rules (n,) of each round: those of one target follow each other in their order, one a round."""
    turn = np.array([np.count_nonzero(targets[:i] == target) for i, target in enumerate(targets)], np.int64)
    return [np.flatnonzero(turn == number) for number in range(int(turn.max(initial=-1)) + 1)]


class _Sum:
    """Adds N columns into others, several into one where asked: result[:, target[n]] += columns[:, n]."""

    def __init__(self, target: Array) -> None:
        self._order = np.argsort(target, kind="stable")
        self._targets, self._starts = np.unique(target[self._order], return_index=True)

    def add(self, columns: Array, result: Array) -> None:
        """`columns` (F, N) into `result` (F, P)."""
        if len(self._order):
            result[:, self._targets] += np.add.reduceat(columns[:, self._order], self._starts, axis=1)
