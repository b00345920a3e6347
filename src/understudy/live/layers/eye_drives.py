"""The three ways in which characters turn their eyes: controls, joints, or ARKit's shapes.

A drive reads and writes one thing: `Angles` of both eyes in the face. Yaw is positive to the character's left, pitch
upwards; verge turns both eyes towards the nose, skew one up and the other down:

    left eye   yaw - verge, pitch + skew        right eye   yaw + verge, pitch - skew
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, cos, hypot, sin
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from understudy.checks import Array
from understudy.maths import accelerate, quaternion

KERNELS = "understudy.live.layers.eye_drives_kernels"
EVERY = np.zeros(1, np.int64)  # the rows of a single one

PER_EYE = np.array([[1.0, 0, -1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, -1]])
"""Left yaw, left pitch, right yaw, right pitch of yaw, pitch, verge, skew."""


class Angles(NamedTuple):
    """How both eyes stand in the face, radians."""

    yaw: float
    pitch: float
    verge: float = 0.0
    skew: float = 0.0


class EyeDrive(Protocol):
    """What turns the eyes of one character."""

    @property
    def names(self) -> tuple[str, ...]:
        """The controls, joints or shapes that it turns them by."""

    def read(self, row: Array) -> Angles:
        """How the eyes stand in a row (C,)."""

    def write(self, row: Array, angles: Angles) -> None:
        """Turn the eyes of a row (C,), in place."""


@dataclass(frozen=True, eq=False)
class ControlDrive:
    """Controls of a layered rig, by what each does to the eyes' joints: angles = G (c - rest).

    Those that move both eyes come first; what they leave over, or cannot reach, is given to those that move one.
    """

    names: tuple[str, ...]
    columns: Array  # (k,)
    gains: Array  # G (4, k), the rows in the order of Angles
    is_both: Array  # (k,) bool, the controls that move both eyes
    ranges: Array  # (3, k) low, rest and high
    both: Array = field(init=False)  # (k, 4) the inverse of G for the controls of both eyes, zero for the others
    single: Array = field(init=False)  # (k, 4) and for the controls of one eye
    kernels: ModuleType | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "both", _inverse(self.gains, self.is_both))
        object.__setattr__(self, "single", _inverse(self.gains, ~self.is_both))
        object.__setattr__(self, "kernels", accelerate.kernels(KERNELS))

    def read(self, row: Array) -> Angles:
        """How the eyes stand in a row (C,)."""
        if self.kernels is None:
            return Angles(*(self.gains @ (row[self.columns] - self.ranges[1])).tolist())
        return Angles(*self.kernels.read(row[None], self.columns, self.gains, self.ranges)[0].tolist())

    def write(self, row: Array, angles: Angles) -> None:
        """Turn the eyes of a row (C,), in place."""
        if self.kernels is None:
            low, rest, high = self.ranges
            values = np.clip(rest + self.both @ angles, low, high)
            left_over = angles - self.gains @ (values - rest)
            row[self.columns] = np.clip(values + self.single @ left_over, low, high)
        else:
            wanted = np.array([angles])
            self.kernels.write(row[None], EVERY, self.columns, self.gains, self.both, self.single, self.ranges, wanted)


def _inverse(gains: Array, kept: Array) -> Array:
    """(k, 4) what the kept controls do for given angles; zero for the others."""
    result = np.zeros(gains.T.shape)
    if kept.any():
        result[kept] = np.linalg.pinv(gains[:, kept])
    return result


def read_all(drive: EyeDrive, rows: Array) -> list[Angles]:
    """How the eyes stand in each of rows (M, C)."""
    if not isinstance(drive, ControlDrive) or drive.kernels is None:
        return [drive.read(row) for row in rows]
    found = drive.kernels.read(rows, drive.columns, drive.gains, drive.ranges)
    return [Angles(*each) for each in found.tolist()]


def write_all(drive: EyeDrive, rows: Array, which: list[int], angles: list[Angles]) -> None:
    """Turn the eyes of some of rows (M, C), in place."""
    if not isinstance(drive, ControlDrive) or drive.kernels is None:
        for m, wanted in zip(which, angles):
            drive.write(rows[m], wanted)
    elif which:
        told = (drive.columns, drive.gains, drive.both, drive.single, drive.ranges)
        drive.kernels.write(rows, np.array(which), *told, np.array(angles))


class EyeJoint(NamedTuple):
    """One eye's joint: its rotation is before * turn * after, with the turn in the axes of the face."""

    column: int
    before: quaternion.Scalars
    after: quaternion.Scalars


@dataclass(frozen=True, eq=False)
class JointDrive:
    """Rotations of two joints."""

    names: tuple[str, ...]
    left: EyeJoint
    right: EyeJoint

    def read(self, row: Array) -> Angles:
        """How the eyes stand in a row (C,)."""
        (a, b), (c, d) = _turn_of(self.left, row), _turn_of(self.right, row)
        return Angles(0.5 * (a + c), 0.5 * (b + d), 0.5 * (c - a), 0.5 * (b - d))

    def write(self, row: Array, angles: Angles) -> None:
        """Turn the eyes of a row (C,), in place."""
        yaw, pitch, verge, skew = angles
        for eye, y, p in ((self.left, yaw - verge, pitch + skew), (self.right, yaw + verge, pitch - skew)):
            row[eye.column : eye.column + 4] = quaternion.multiply_scalar(
                quaternion.multiply_scalar(eye.before, turn(y, p)), eye.after
            )


@dataclass(frozen=True, eq=False)
class ShapeDrive:
    """ARKit's eyeLook shapes. A weight of 1 is taken as `reach`, which the standard leaves open."""

    names: tuple[str, ...]
    columns: dict[str, tuple[int, ...]]  # of each of eyeLookInLeft and so on
    reach: tuple[float, float]  # radians across, and up or down

    def _one(self, row: Array, shape: str) -> float:
        places = self.columns.get(shape, ())
        return float(row[places[0]]) if places else 0.0

    def read(self, row: Array) -> Angles:
        """How the eyes stand in a row (C,)."""
        across, along = self.reach
        a = (self._one(row, "eyeLookOutLeft") - self._one(row, "eyeLookInLeft")) * across
        c = (self._one(row, "eyeLookInRight") - self._one(row, "eyeLookOutRight")) * across
        b = (self._one(row, "eyeLookUpLeft") - self._one(row, "eyeLookDownLeft")) * along
        d = (self._one(row, "eyeLookUpRight") - self._one(row, "eyeLookDownRight")) * along
        return Angles(0.5 * (a + c), 0.5 * (b + d), 0.5 * (c - a), 0.5 * (b - d))

    def write(self, row: Array, angles: Angles) -> None:
        """Turn the eyes of a row (C,), in place."""
        yaw, pitch, verge, skew = angles
        across, along = self.reach
        for shape, value in (
            ("eyeLookOutLeft", (yaw - verge) / across),
            ("eyeLookInLeft", (verge - yaw) / across),
            ("eyeLookInRight", (yaw + verge) / across),
            ("eyeLookOutRight", (-yaw - verge) / across),
            ("eyeLookUpLeft", (pitch + skew) / along),
            ("eyeLookDownLeft", (-pitch - skew) / along),
            ("eyeLookUpRight", (pitch - skew) / along),
            ("eyeLookDownRight", (skew - pitch) / along),
        ):
            for column in self.columns.get(shape, ()):
                row[column] = min(max(value, 0.0), 1.0)


def turn(yaw: float, pitch: float) -> quaternion.Scalars:
    """Ry(yaw) Rx(-pitch): what looks along +Z looks `yaw` to the left (+X) and `pitch` up."""
    cy, sy, cx, sx = cos(0.5 * yaw), sin(0.5 * yaw), cos(0.5 * pitch), -sin(0.5 * pitch)
    return cy * sx, sy * cx, -sy * sx, cy * cx


def _turn_of(eye: EyeJoint, row: Array) -> tuple[float, float]:
    x, y, z, w = row[eye.column : eye.column + 4].tolist()
    x, y, z, w = quaternion.multiply_scalar(
        quaternion.multiply_scalar(quaternion.conjugate_scalar(eye.before), (x, y, z, w)),
        quaternion.conjugate_scalar(eye.after),
    )
    ahead = 1 - 2 * (x * x + y * y)
    across, up = 2 * (x * z + w * y), 2 * (y * z - w * x)
    return atan2(across, ahead), atan2(up, hypot(across, ahead))
