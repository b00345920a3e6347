"""The head's share of a gaze: a small turn of the head that is added to what the performance does with it.

On a rig with controls, the ones that turn and nod the head best are found by trying; else the joints of neck and head
turn about their own axes.
"""

from __future__ import annotations

from math import radians
from typing import NamedTuple, Protocol

import numpy as np

from understudy.checks import Array
from understudy.live.layers.bones import human_bones
from understudy.live.layers.eye_drives import turn
from understudy.live.layers.facing import facing
from understudy.live.layers.trying import trial
from understudy.maths import quaternion
from understudy.rig import LayeredRig, PosedRig

LEAST = radians(5)  # that a control should be able to turn the head
STRAIGHT = 0.97  # of the turn that must be about the one axis: 14 degrees
SHARES = {"Neck": 0.35, "Head": 0.65}


class HeadTurn(Protocol):
    """Turns a head a little further."""

    def add(self, row: Array, yaw: float, pitch: float) -> None:
        """Turn the head of a row (C,) by radians to its left and up, in place."""


class Control(NamedTuple):
    """One control: what a radian is, and its range."""

    column: int
    gain: float
    low: float
    high: float


class ControlTurn(NamedTuple):
    """A control for each axis; either may be missing."""

    yaw: Control | None
    pitch: Control | None

    def add(self, row: Array, yaw: float, pitch: float) -> None:
        """Turn the head of a row (C,) by radians to its left and up, in place."""
        for control, angle in ((self.yaw, yaw), (self.pitch, pitch)):
            if control is not None:
                value = float(row[control.column])
                # held within the range, and never moved back by it: a row outside is the performance's own business
                low, high = min(control.low, value), max(control.high, value)
                row[control.column] = min(max(value + angle * control.gain, low), high)


class TurningJoint(NamedTuple):
    """A joint, its axes (joint_from_face) and its share of the turn."""

    column: int
    axes: quaternion.Scalars
    share: float


class JointTurn(NamedTuple):
    """Neck and head, or the head alone."""

    joints: tuple[TurningJoint, ...]

    def add(self, row: Array, yaw: float, pitch: float) -> None:
        """Turn the head of a row (C,) by radians to its left and up, in place."""
        for column, axes, share in self.joints:
            local = quaternion.multiply_scalar(
                quaternion.multiply_scalar(axes, turn(share * yaw, share * pitch)), quaternion.conjugate_scalar(axes)
            )
            row[column : column + 4] = quaternion.multiply_scalar(
                quaternion.to_scalars(row[column : column + 4]), local
            )


def head_turn(rig: PosedRig, head: int) -> HeadTurn | None:
    """What turns the head of a rig, joint `head` being the one that carries the eyes; None where nothing is found."""
    if isinstance(rig, LayeredRig):
        return _controls(rig, head)
    bones = human_bones(rig.character.skeleton)
    worlds = rig.joints(rig.rest[None])[0, :, :3, :3]
    axes = facing(rig)
    found = []
    for name in SHARES:
        columns = rig.channels.slice(rig.character.skeleton.names[bones[name]], "rotation") if name in bones else None
        if columns is not None:
            world = worlds[bones[name]] / np.linalg.norm(worlds[bones[name]], axis=0)
            found.append((columns.start, quaternion.to_scalars(quaternion.from_matrix(world.T @ axes)), SHARES[name]))
    if not found:
        return None
    total = sum(share for _, _, share in found)
    return JointTurn(tuple(TurningJoint(column, turned, share / total) for column, turned, share in found))


def _controls(rig: LayeredRig, head: int) -> ControlTurn | None:
    """The control with the widest reach among those that turn the head about one axis alone."""
    controls = rig.controls
    columns, step, rows = trial(rig)
    worlds = rig.joints(rows)[:, head, :3, :3]
    worlds = worlds / np.linalg.norm(worlds, axis=1, keepdims=True)
    vectors = quaternion.log(quaternion.from_matrix(worlds[1:] @ worlds[0].T)) @ facing(rig)  # (n, 3) left, up, forward
    length = np.linalg.norm(vectors, axis=1)
    room = np.minimum(controls.high - controls.rest, controls.rest - controls.low)[columns]
    found: list[Control | None] = []
    for axis, sign in ((1, 1.0), (0, -1.0)):  # a turn about left by a positive angle looks down
        slope = sign * vectors[:, axis] / step
        straight = (length > 1e-6) & (np.abs(vectors[:, axis]) > STRAIGHT * length)
        reach = np.where(straight, np.abs(slope) * room, 0.0)
        best = int(np.argmax(reach)) if len(reach) else -1
        if best < 0 or reach[best] < LEAST:
            found.append(None)
            continue
        column = int(columns[best])
        found.append(Control(column, float(1 / slope[best]), float(controls.low[column]), float(controls.high[column])))
    return ControlTurn(found[0], found[1]) if any(found) else None
