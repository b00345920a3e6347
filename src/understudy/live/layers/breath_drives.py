"""What moves when a character breathes: a control made for it and the nostrils, or the joints of the chest.

A spine moves only where it stands upright, or where nothing that stands on the ground hangs on it: the chest of a
four-legged animal carries its front legs, and would drag the feet.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import NamedTuple, Protocol

import numpy as np

from understudy.checks import Array
from understudy.live.layers.bones import human_bones, words
from understudy.live.layers.facing import facing
from understudy.maths import quaternion
from understudy.rig import LayeredRig, PosedRig

BREATH = 0.42  # of the unit of a control named so, for a usual breath: its 1 is a deep one
FLARE = 0.10
CHEST = radians(1.5)  # that the chest turns back, shared by its joints
SHOULDERS = radians(1.0)  # that they are lifted
FEW = 4  # rows; below it plain numbers are quicker than arrays, and the same to the last bit
LOW = 0.2  # of the height of the body: what lies lower at rest stands on the ground
UPRIGHT = 0.8  # cosine of the angle between the way from hips to head and the vertical: 37 degrees


class BreathDrive(Protocol):
    """Lays a breath over rows."""

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """In each of rows (M, C) `air` is how full the lungs are, 0 to 1 in a usual breath, `flare` how fast they fill;
        in place."""


class ControlBreath(NamedTuple):
    """Controls: column, what `air` and `flare` add to it, and its range."""

    controls: tuple[tuple[int, float, float, float, float], ...]

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """Lay a breath over each of rows (M, C), in place."""
        if len(rows) < FEW:
            for row, full, fast in zip(rows, air, flare):
                self._add(row, full, fast)
            return
        airs, flares = np.array(air), np.array(flare)
        for column, of_air, of_flare, low, high in self.controls:
            values = rows[:, column]
            filled = values + of_air * airs + of_flare * flares
            rows[:, column] = np.minimum(np.maximum(filled, np.minimum(low, values)), np.maximum(high, values))

    def _add(self, row: Array, air: float, flare: float) -> None:
        for column, of_air, of_flare, low, high in self.controls:
            value = float(row[column])
            row[column] = min(max(value + of_air * air + of_flare * flare, min(low, value)), max(high, value))


class JointBreath(NamedTuple):
    """Joints: first column of the rotation, the axis in the joint's own frame, radians of a whole breath."""

    joints: tuple[tuple[int, tuple[float, float, float], float], ...]

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """Lay a breath over each of rows (M, C), in place."""
        for row, full in zip(rows, air):
            for column, (x, y, z), angle in self.joints:
                half = 0.5 * angle * full  # small: the sine is the angle to 1e-6
                turned: quaternion.Scalars = (half * x, half * y, half * z, (1.0 - half * half) ** 0.5)
                row[column : column + 4] = quaternion.multiply_scalar(
                    quaternion.to_scalars(row[column : column + 4]), turned
                )


def breath_drive(rig: PosedRig) -> BreathDrive | None:
    """What breathes in a rig's character, or None."""
    return _controls(rig) if isinstance(rig, LayeredRig) else _joints(rig)


def _controls(rig: LayeredRig) -> ControlBreath | None:
    controls = rig.controls
    found = []
    for i, name in enumerate(controls.names):
        parts = words(name)
        low, high = float(controls.low[i]), float(controls.high[i])
        if "breath" in parts or "breathe" in parts:
            found.append((i, BREATH, 0.0, low, high))
        elif (
            parts[:1]
            and parts[0] in ("nose", "nostril", "nostrils")
            and "flare" in parts
            and controls.layers[i] == "coarse"
        ):
            found.append((i, 0.0, FLARE, low, high))
    return ControlBreath(tuple(found)) if any(of_air for _, of_air, _, _, _ in found) else None


def _upright(places: Array, bones: dict[str, int]) -> bool:
    """Whether a body holds its head above its hips."""
    if "Hips" not in bones or "Head" not in bones:
        return False
    up = places[bones["Head"]] - places[bones["Hips"]]
    return bool(up[1] > UPRIGHT * np.linalg.norm(up))


def _joints(rig: PosedRig) -> JointBreath | None:
    skeleton = rig.character.skeleton
    bones = human_bones(skeleton)
    worlds = rig.joints(rig.rest[None])[0]
    heights = worlds[:, 1, 3]
    ground = heights.min() + LOW * np.ptp(heights)
    stands = {above for joint in np.flatnonzero(heights <= ground) for above in skeleton.ancestors(int(joint))}
    axes = facing(rig)
    chest = [bones[name] for name in ("Chest", "UpperChest") if name in bones] or [
        bones[n] for n in ("Spine",) if n in bones
    ]
    if not _upright(worlds[:, :3, 3], bones):
        chest = [joint for joint in chest if joint not in stands]
    if not chest:
        return None
    turns = [(joint, axes[:, 0], -CHEST / len(chest)) for joint in chest]
    above = [bones[name] for name in ("Neck", "Head") if name in bones]
    turns += [(joint, axes[:, 0], CHEST / len(above)) for joint in above]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        if f"{side}Shoulder" in bones:  # about forward, a positive turn lifts the left
            turns.append((bones[f"{side}Shoulder"], axes[:, 2], sign * SHOULDERS))
    found = []
    for joint, axis, angle in turns:
        columns = rig.channels.slice(skeleton.names[joint], "rotation")
        if columns is not None:
            world = worlds[joint, :3, :3] / np.linalg.norm(worlds[joint, :3, :3], axis=0)
            x, y, z = (world.T @ axis).tolist()
            found.append((columns.start, (x, y, z), angle))
    return JointBreath(tuple(found)) if found else None
