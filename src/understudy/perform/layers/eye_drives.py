"""What turns the eyes and shuts the lids of a character: controls, joints, or ARKit's shapes.

**Eyes.** A drive reads and writes one thing: `Angles` of both eyes in the face. Yaw is positive to the character's
left, pitch upwards; verge turns both eyes towards the nose, skew one up and the other down:

    left eye   yaw - verge, pitch + skew        right eye   yaw + verge, pitch - skew

ARKit's shapes are found among the columns of a rig under any spelling (`eyeBlink_L`, `Face.eyeBlinkLeft`).

**Controls** are probed: the signs and gains of a rig are in the rig, not in the names.

**Lids.** A blink is a control or a shape by name (`lids.blink.L`, `eyeBlinkLeft`, `Blink`). On a rig with controls
others lower the lid as well; each is probed, and counts by its share of the lid rotation that the blink makes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import atan2, cos, hypot, sin
from typing import NamedTuple, Protocol

import numpy as np

from understudy.character.body.bone_names import name_words
from understudy.character.rig import LayeredRig, PosedRig
from understudy.checks import Array
from understudy.formats.arkit_names import canonical_name
from understudy.maths import jit, quaternion

KERNELS = "understudy.perform.layers.layer_kernels"
SINGLE_ROW_INDEX = np.zeros(1, np.int64)  # row 0 of one row
PROBE_STEP_RATIO = 1e-3  # of a control's range: small enough for a slope, large enough against rounding
CLOSED_EYE_RATIO = 0.55  # closure by the pose, 0 to 1, from which on eyes count as shut
MIN_LID_GAIN_RATIO = 0.02  # of a blink, over a control's whole range: a control that closes less is ignored

PER_EYE = np.array([[1.0, 0, -1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, -1]])
"""Left yaw, left pitch, right yaw, right pitch of yaw, pitch, verge, skew."""


class Angles(NamedTuple):
    """Angles of both eyes in the face, radians."""

    yaw: float
    pitch: float
    verge: float = 0.0
    skew: float = 0.0


class EyeDrive(Protocol):
    """What turns the eyes of one character."""

    @property
    def names(self) -> tuple[str, ...]:
        """The controls, joints or shapes that it writes."""

    def read(self, row: Array) -> Angles:
        """The eyes' angles in a row (C,)."""

    def write(self, row: Array, angles: Angles) -> None:
        """Turn the eyes of a row (C,), in place."""


@dataclass(frozen=True, eq=False)
class ControlDrive:
    """Controls of a layered rig, by their effect on the eyes' joints: angles = G (c - rest).

    Controls of both eyes come first; the controls of one eye take what those cannot reach.
    """

    names: tuple[str, ...]
    columns: Array  # (k,)
    gains: Array  # G (4, k), the rows in the order of Angles
    is_both: Array  # (k,) bool, the controls that move both eyes
    ranges: Array  # (3, k) low, rest and high
    both: Array = field(init=False)  # (k, 4) the inverse of G for the controls of both eyes, zero for the others
    single: Array = field(init=False)  # (k, 4) and for the controls of one eye

    def __post_init__(self) -> None:
        object.__setattr__(self, "both", _inverse(self.gains, self.is_both))
        object.__setattr__(self, "single", _inverse(self.gains, ~self.is_both))

    def read(self, row: Array) -> Angles:
        """The eyes' angles in a row (C,)."""
        angles = jit.kernels(KERNELS).read_eye_angles(row[None], self.columns, self.gains, self.ranges)
        return Angles(*angles[0].tolist())

    def write(self, row: Array, angles: Angles) -> None:
        """Turn the eyes of a row (C,), in place."""
        controls = (self.columns, self.gains, self.both, self.single, self.ranges)
        jit.kernels(KERNELS).write_eye_angles(row[None], SINGLE_ROW_INDEX, *controls, np.array([angles]))


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
        """The eyes' angles in a row (C,)."""
        (a, b), (c, d) = _joint_angles(self.left, row), _joint_angles(self.right, row)
        return Angles(0.5 * (a + c), 0.5 * (b + d), 0.5 * (c - a), 0.5 * (b - d))

    def write(self, row: Array, angles: Angles) -> None:
        """Turn the eyes of a row (C,), in place."""
        yaw, pitch, verge, skew = angles
        for eye, y, p in ((self.left, yaw - verge, pitch + skew), (self.right, yaw + verge, pitch - skew)):
            row[eye.column : eye.column + 4] = quaternion.multiply_scalar(
                quaternion.multiply_scalar(eye.before, gaze_rotation(y, p)), eye.after
            )


@dataclass(frozen=True, eq=False)
class ShapeDrive:
    """ARKit's eyeLook shapes. A weight of 1 is taken as `reach`, which the standard leaves open."""

    names: tuple[str, ...]
    columns: dict[str, tuple[int, ...]]  # by ARKit name, such as eyeLookInLeft
    reach: tuple[float, float]  # radians across, and up or down

    def _one(self, row: Array, shape: str) -> float:
        places = self.columns.get(shape, ())
        return float(row[places[0]]) if places else 0.0

    def read(self, row: Array) -> Angles:
        """The eyes' angles in a row (C,)."""
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


def _inverse(gains: Array, kept: Array) -> Array:
    """(k, 4) the pseudo-inverse of the kept controls' gains; zero for the others."""
    result = np.zeros(gains.T.shape)
    if kept.any():
        result[kept] = np.linalg.pinv(gains[:, kept])
    return result


def _joint_angles(eye: EyeJoint, row: Array) -> tuple[float, float]:
    """Yaw and pitch of one eye in a row (C,)."""
    x, y, z, w = row[eye.column : eye.column + 4].tolist()
    x, y, z, w = quaternion.multiply_scalar(
        quaternion.multiply_scalar(quaternion.conjugate_scalar(eye.before), (x, y, z, w)),
        quaternion.conjugate_scalar(eye.after),
    )
    ahead = 1 - 2 * (x * x + y * y)
    across, up = 2 * (x * z + w * y), 2 * (y * z - w * x)
    return atan2(across, ahead), atan2(up, hypot(across, ahead))


def gaze_rotation(yaw: float, pitch: float) -> quaternion.Scalars:
    """Ry(yaw) Rx(-pitch): turns a gaze along +Z by `yaw` to the left (+X) and by `pitch` up."""
    cy, sy, cx, sx = cos(0.5 * yaw), sin(0.5 * yaw), cos(0.5 * pitch), -sin(0.5 * pitch)
    return cy * sx, sy * cx, -sy * sx, cy * cx


def read_all(drive: EyeDrive, rows: Array) -> list[Angles]:
    """The eyes' angles in each of rows (M, C)."""
    if not isinstance(drive, ControlDrive):
        return [drive.read(row) for row in rows]
    angles = jit.kernels(KERNELS).read_eye_angles(rows, drive.columns, drive.gains, drive.ranges)
    return [Angles(*values) for values in angles.tolist()]


def write_all(drive: EyeDrive, rows: Array, which: list[int], angles: list[Angles]) -> None:
    """Turn the eyes of some of rows (M, C), in place."""
    if not isinstance(drive, ControlDrive):
        for m, wanted in zip(which, angles):
            drive.write(rows[m], wanted)
    elif which:
        controls = (drive.columns, drive.gains, drive.both, drive.single, drive.ranges)
        jit.kernels(KERNELS).write_eye_angles(rows, np.array(which), *controls, np.array(angles))


def face_columns(rig: PosedRig) -> dict[str, tuple[int, ...]]:
    """ARKit's name -> the columns of that shape, one on each part that has it."""
    found: dict[str, list[int]] = {}
    for number, channel in enumerate(rig.channels):
        if channel.kind != "weights":
            continue
        start = int(rig.channels.offsets[number])
        for i, column in enumerate(channel.columns):
            name = canonical_name(column)
            if name is not None:
                found.setdefault(name, []).append(start + i)
    return {name: tuple(columns) for name, columns in found.items()}


class ControlProbe(NamedTuple):
    """The rest row, then one row for each control that can move a joint, with that control moved a little."""

    columns: Array  # (n,) the controls
    step: Array  # (n,) by how much each is moved
    rows: Array  # (1 + n, C)


def probe_controls(rig: LayeredRig, share: float = PROBE_STEP_RATIO) -> ControlProbe:
    """Rows to evaluate: each control is moved by `share` of its range, upwards where there is room."""
    layers, controls = rig.layers, rig.controls
    count = len(layers.components)
    rules = (
        (layers.drive_parameter, layers.drive_control),
        (layers.corrective_parameter, layers.corrective_a),
        (layers.corrective_parameter, layers.corrective_b),
        (layers.toward_parameter, layers.toward_control),
    )
    columns = np.unique(np.concatenate([control[parameter < count] for parameter, control in rules]))
    step = share * (controls.high - controls.low)[columns]
    columns, step = columns[step > 0], step[step > 0]
    step = np.where(controls.rest[columns] + step > controls.high[columns], -step, step)
    rows = np.tile(rig.rest, (1 + len(columns), 1))
    rows[np.arange(1, len(rows)), columns] += step
    return ControlProbe(columns, step, rows)


@dataclass(frozen=True, eq=False)
class EyelidDrive:
    """The columns that shut an eye, and other columns that lower its lid: closure = gains . (value - rest)."""

    columns: tuple[int, ...]
    open: float  # the value of an open eye
    shut: float  # the value of a shut eye
    others: Array  # (n,) columns
    gains: Array  # (n,) of a blink for a unit
    rest: Array  # (n,)

    def blink(self, row: Array) -> float:
        """How far the blink itself is, 0 to 1."""
        return (float(row[self.columns[0]]) - self.open) / (self.shut - self.open)

    def closure(self, row: Array) -> float:
        """How far the eye is shut, 0 to 1, by the blink and the other columns."""
        blink = min(max(self.blink(row), 0.0), 1.0)
        if not len(self.others):
            return blink
        lowered = float(self.gains @ (row[self.others] - self.rest))
        return 1.0 - (1.0 - blink) * (1.0 - min(max(lowered, 0.0), 1.0))

    def closures(self, rows: Array) -> Array:
        """(M,) `closure` of each of rows (M, C)."""
        ends = self.columns[0], self.open, self.shut
        return jit.kernels(KERNELS).lid_closure(rows, *ends, self.others, self.gains, self.rest)

    def shut_to(self, row: Array, amount: float) -> None:
        """Shut the eye of a row (C,) to at least `amount`, 0 to 1, in place; an eye that is shut further stays."""
        for column in self.columns:
            value = self.open + amount * (self.shut - self.open)
            row[column] = max(float(row[column]), value) if self.shut > self.open else min(float(row[column]), value)


def lids_of(rig: PosedRig) -> tuple[EyelidDrive, ...]:
    """The lids of a rig's character, left and right, or one for both; none where nothing shuts its eyes."""
    return _lids_from_controls(rig) if isinstance(rig, LayeredRig) else _lids_from_shapes(rig)


def _lids_from_shapes(rig: PosedRig) -> tuple[EyelidDrive, ...]:
    none = np.zeros(0)
    known = face_columns(rig)
    lids = [known[name] for name in ("eyeBlinkLeft", "eyeBlinkRight") if name in known]
    if not lids:  # VRM 0's Blink_L and Blink_R, or one shape for both
        named: dict[str, list[int]] = {}
        for column, name in enumerate(rig.channels.names):
            parts = name_words(name.rpartition(".weights.")[2]) if ".weights." in name else []
            if "blink" in parts and set(parts) <= {"blink", "eye", "eyes", "fcl", "l", "r", "left", "right"}:
                side = next((part[0] for part in parts if part in ("l", "r", "left", "right")), "")
                named.setdefault(side, []).append(column)
        sides = ("l", "r") if "l" in named and "r" in named else ("",)
        lids = [tuple(named[side]) for side in sides if side in named]
    return tuple(EyelidDrive(columns, 0.0, 1.0, none.astype(np.int64), none, none) for columns in lids)


def _lids_from_controls(rig: LayeredRig) -> tuple[EyelidDrive, ...]:
    controls = rig.controls
    blinks = [i for i, name in enumerate(controls.names) if name_words(re.sub(r"\.[LR]$", "", name))[-1:] == ["blink"]]
    if not blinks:
        return ()
    columns, step, rows = probe_controls(rig, share=0.1)
    shut = np.tile(rig.rest, (len(blinks), 1))
    shut[np.arange(len(blinks)), blinks] = controls.high[blinks]
    _, turns, _ = rig.local_transforms(np.vstack([rows, shut]))
    vectors = quaternion.log(quaternion.multiply(quaternion.conjugate(turns[0]), turns[1:]))  # (n + B, J, 3)
    width = (controls.high - controls.low)[columns]
    result = []
    for number, blink in enumerate(blinks):
        blinked = vectors[len(columns) + number]  # (J, 3) rotations that this blink makes
        lid = int(np.argmax(np.linalg.norm(blinked, axis=1)))
        gains = vectors[: len(columns), lid] @ blinked[lid] / max(float(blinked[lid] @ blinked[lid]), 1e-12) / step
        kept = (np.abs(gains) * width > MIN_LID_GAIN_RATIO) & ~np.isin(columns, blinks)
        ends = (float(controls.rest[blink]), float(controls.high[blink]))
        result.append(EyelidDrive((blink,), *ends, columns[kept], gains[kept], controls.rest[columns[kept]]))
    return tuple(result)
