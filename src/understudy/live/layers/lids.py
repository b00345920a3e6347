"""Finding the lids of a character: what shuts each eye, and how far an eye is shut already.

A blink is a control or a shape by name (`lids.blink.L`, `eyeBlinkLeft`, `Blink`). On a rig with controls others
lower the lid as well; each is tried, and counts by the share of the blink's own turn of the lid that it makes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.live.layers.bones import words
from understudy.live.layers.shape_names import face_columns
from understudy.live.layers.trying import trial
from understudy.maths import accelerate, quaternion
from understudy.rig import LayeredRig, PosedRig

KERNELS = "understudy.live.layers.lids_kernels"
COUNTS = 0.02  # of a blink, over a control's whole range: less is not worth asking for in each frame


@dataclass(frozen=True, eq=False)
class Lid:
    """The columns that shut an eye, with their highest value, and others that lower its lid: shut = gains . offset."""

    columns: tuple[int, ...]
    open: float  # the value of an open eye
    shut: float  # and of a shut one
    others: Array  # (n,) columns
    gains: Array  # (n,) of a blink for a unit
    rest: Array  # (n,)

    def blink(self, row: Array) -> float:
        """How far the blink itself is, 0 to 1."""
        return (float(row[self.columns[0]]) - self.open) / (self.shut - self.open)

    def closed(self, row: Array) -> float:
        """How far the eye is shut, 0 to 1, by whatever."""
        blink = min(max(self.blink(row), 0.0), 1.0)
        if not len(self.others):
            return blink
        lowered = float(self.gains @ (row[self.others] - self.rest))
        return 1.0 - (1.0 - blink) * (1.0 - min(max(lowered, 0.0), 1.0))

    def closed_all(self, rows: Array) -> Array:
        """(M,) `closed` of each of rows (M, C)."""
        kernels = accelerate.kernels(KERNELS)
        if kernels is None:
            return np.array([self.closed(row) for row in rows])
        ends = self.columns[0], self.open, self.shut
        return kernels.closed(rows, *ends, self.others, self.gains, self.rest)

    def shut_to(self, row: Array, amount: float) -> None:
        """Shut the eye of a row (C,) at least so far, in place; one that is shut further stays."""
        for column in self.columns:
            value = self.open + amount * (self.shut - self.open)
            row[column] = max(float(row[column]), value) if self.shut > self.open else min(float(row[column]), value)


def lids_of(rig: PosedRig) -> tuple[Lid, ...]:
    """The lids of a rig's character, left and right, or one for both; none where nothing shuts its eyes."""
    return _of_controls(rig) if isinstance(rig, LayeredRig) else _of_shapes(rig)


def _of_shapes(rig: PosedRig) -> tuple[Lid, ...]:
    none = np.zeros(0)
    known = face_columns(rig)
    found = [known[name] for name in ("eyeBlinkLeft", "eyeBlinkRight") if name in known]
    if not found:  # VRM 0's Blink_L and Blink_R, or one shape for both
        named: dict[str, list[int]] = {}
        for column, name in enumerate(rig.channels.names):
            parts = words(name.rpartition(".weights.")[2]) if ".weights." in name else []
            if "blink" in parts and set(parts) <= {"blink", "eye", "eyes", "fcl", "l", "r", "left", "right"}:
                side = next((part[0] for part in parts if part in ("l", "r", "left", "right")), "")
                named.setdefault(side, []).append(column)
        sides = ("l", "r") if "l" in named and "r" in named else ("",)
        found = [tuple(named[side]) for side in sides if side in named]
    return tuple(Lid(columns, 0.0, 1.0, none.astype(np.int64), none, none) for columns in found)


def _of_controls(rig: LayeredRig) -> tuple[Lid, ...]:
    controls = rig.controls
    blinks = [i for i, name in enumerate(controls.names) if words(re.sub(r"\.[LR]$", "", name))[-1:] == ["blink"]]
    if not blinks:
        return ()
    columns, step, rows = trial(rig, share=0.1)
    shut = np.tile(rig.rest, (len(blinks), 1))
    shut[np.arange(len(blinks)), blinks] = controls.high[blinks]
    _, turns, _ = rig.local_transforms(np.vstack([rows, shut]))
    vectors = quaternion.log(quaternion.multiply(quaternion.conjugate(turns[0]), turns[1:]))  # (n + B, J, 3)
    width = (controls.high - controls.low)[columns]
    result = []
    for number, blink in enumerate(blinks):
        own = vectors[len(columns) + number]  # (J, 3) what this blink turns
        lid = int(np.argmax(np.linalg.norm(own, axis=1)))
        gains = vectors[: len(columns), lid] @ own[lid] / max(float(own[lid] @ own[lid]), 1e-12) / step
        kept = (np.abs(gains) * width > COUNTS) & ~np.isin(columns, blinks)
        ends = (float(controls.rest[blink]), float(controls.high[blink]))
        result.append(Lid((blink,), *ends, columns[kept], gains[kept], controls.rest[columns[kept]]))
    return tuple(result)
