"""Where the head stands in the world, for one row, in microseconds.

A rig evaluates all joints of many rows at once, and a single row costs it half a millisecond. The gaze needs one joint
of one row each frame, so the chain of its ancestors is walked alone. Where the kernels are absent, or a rule of the rig
is more than a sum, the rig is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from understudy.character.layers import COMPONENTS
from understudy.checks import Array
from understudy.maths import accelerate
from understudy.rig import DirectRig, LayeredRig, PosedRig

KERNELS = "understudy.live.layers.head_frame_kernels"

Frame = tuple[float, ...]
"""world_from_joint, its upper three rows one after the other: 12 numbers."""


class HeadFrame:
    """world_from_joint of one joint of a rig."""

    def __init__(self, rig: PosedRig, joint: int) -> None:
        self.rig, self.joint = rig, joint
        chain = rig.character.skeleton.ancestors(joint)[::-1]
        self._quick = _direct(rig, chain) if isinstance(rig, DirectRig) else _layered(rig, chain)

    def of(self, row: Array) -> Frame:
        """The frame of a row (C,)."""
        if self._quick is None:
            return self.asked(row)
        return tuple(self._quick(np.ascontiguousarray(row, np.float64)[None])[0].tolist())

    def of_all(self, rows: Array) -> Array:
        """(M, 12) the frames of rows (M, C)."""
        if self._quick is None:
            return np.ascontiguousarray(self.rig.joints(rows)[:, self.joint, :3]).reshape(-1, 12)
        return self._quick(np.ascontiguousarray(rows, np.float64))

    def asked(self, row: Array) -> Frame:
        """The same by way of the rig."""
        return tuple(self.rig.joints(row[None])[0, self.joint, :3].ravel().tolist())


def _direct(rig: DirectRig, chain: list[int]) -> Callable[[Array], Array] | None:
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        return None
    return partial(kernels.direct, starts=10 * np.array(chain, np.int64))


def _layered(rig: PosedRig, chain: list[int]) -> Callable[[Array], Array] | None:
    kernels = accelerate.kernels(KERNELS)
    if kernels is None or not isinstance(rig, LayeredRig):
        return None
    layers, skeleton = rig.layers, rig.character.skeleton
    place = {skeleton.names[joint]: n for n, joint in enumerate(chain)}
    own = {
        number: (place[joint], COMPONENTS.index(component))
        for number, (joint, component) in enumerate(layers.components)
        if joint in place
    }
    if np.isin([*layers.corrective_parameter, *layers.toward_parameter], list(own)).any():
        return None  # products and targets: the rig knows them
    drives = np.flatnonzero(np.isin(layers.drive_parameter, list(own)))
    columns, place_of_column = np.unique(layers.drive_control[drives], return_inverse=True)
    gains = np.zeros((len(chain), len(COMPONENTS), len(columns)))
    for drive, k in zip(drives, place_of_column.ravel()):
        gains[*own[int(layers.drive_parameter[drive])], k] += layers.drive_gain[drive]
    limits = np.zeros((2, len(chain), len(COMPONENTS)))
    for number, (n, i) in own.items():
        limits[:, n, i] = layers.low[number], layers.high[number]
    controls = rig.controls
    ranges = np.stack([controls.low[columns], controls.rest[columns], controls.high[columns]])
    rest = tuple(np.ascontiguousarray(a[chain]) for a in (skeleton.translations, skeleton.rotations, skeleton.scales))
    return lambda rows: kernels.layered(rows, columns, ranges, gains, limits, *rest)
