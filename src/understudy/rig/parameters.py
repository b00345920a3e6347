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
        controls, lattice = layers.controls, layers.lattice
        self._reach = np.where(controls.high > controls.rest, controls.high - controls.rest, 1.0)
        self._drives = _Sum(layers.drive_parameter, layers.drive_gain, layers.drive_control)
        self._correctives = _Sum(
            layers.corrective_parameter, layers.corrective_gain, layers.corrective_a, layers.corrective_b
        )
        self._toward_rounds = _rounds(layers.toward_parameter)
        self._offsets = (
            None if lattice is None else _Sum(lattice.point * 3 + lattice.axis, lattice.gain, lattice.control)
        )

    def evaluate(self, values: Array) -> Array:
        """p (F, P) for controls (F, C) within their ranges."""
        layers, controls = self.layers, self.layers.controls
        offset = values - controls.rest
        p = np.zeros((len(values), layers.parameter_count))
        self._drives.add(offset, p)
        if len(layers.corrective_gain):
            self._correctives.add(np.clip(offset / self._reach, 0, 1), p)
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
        self._offsets.add(values - self.layers.controls.rest, result)
        return result.reshape(len(values), *lattice.counts, 3)


def _rounds(targets: Array) -> list[Array]:
    """The rules (n,) of each round: those of one target follow each other in their order, one a round."""
    turn = np.array([np.count_nonzero(targets[:i] == target) for i, target in enumerate(targets)], np.int64)
    return [np.flatnonzero(turn == number) for number in range(int(turn.max(initial=-1)) + 1)]


class _Sum:
    """Adds N products into columns, several into one where asked: p[:, target[n]] += gain[n] prod_k x[:, of_k[n]]."""

    def __init__(self, target: Array, gain: Array, *of: Array) -> None:
        order = np.argsort(target, kind="stable")
        self._gain, self._of = gain[order], [each[order] for each in of]
        self._targets, self._starts = np.unique(target[order], return_index=True)

    def add(self, x: Array, p: Array) -> None:
        """Of `x` (F, C) into `p` (F, P)."""
        if not len(self._gain):
            return
        first, *others = self._of
        columns = x[:, first]
        for each in others:
            columns *= x[:, each]
        columns *= self._gain
        p[:, self._targets] += np.add.reduceat(columns, self._starts, axis=1)
