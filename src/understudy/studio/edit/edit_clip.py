"""A clip that is being edited: the committed curves, the drag in progress, and the view of both.

`EditedClip` knows no sockets and no documents; the controller calls it in the solver's thread only. `edit_state` is
what the page is told of it.

Committed curves are content files of the project: one file holds all arrays of an animation end to end, and a header
with the channel and key count of each. The file is named by a digest of its bytes and never changed, so that undo,
which goes back to an earlier name, restores the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Channel, Clip, Curve, Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Pin, Point
from understudy.edit.outcome import MotionChange
from understudy.edit.serialise import clip_metadata
from understudy.edit.solver.free_columns import RigCache
from understudy.edit.stances import find_stances, holds_feet_by_default
from understudy.errors import BadFile, InvalidInput
from understudy.render.viewport.surface import FramePacker
from understudy.studio.document import EditEntry
from understudy.studio.edit import poses, reduction
from understudy.studio.edit.constraints import Constraints, constraints_from_document
from understudy.studio.edit.drags import (
    DragProtocol,
    DragResult,
    DragTarget,
    PointDrag,
    PoseDrag,
    RetimeDrag,
    SpeedDrag,
)
from understudy.studio.edit.view import CharacterView, EditView
from understudy.studio.messages.edit import EditChannel, EditState, MotionCurveEntry, StanceEntry

CONTENT_VERSION = 1
CONTENT_ENDING = ".npz"
MAX_CONTENT_BYTES = 1 << 30
MAX_EDIT_NUMBERS = 1 << 24  # frames x columns to which keys may lengthen a clip: several arrays of 128 MB
CONTENT_ARRAYS = ("times", "values", "segments", "before", "after")
TIME_DIGITS = 6  # decimals of a second in key times; closer keys count as one


@dataclass(frozen=True)
class DragUpdate:
    """The result of one goal of a drag, and its picture."""

    step: DragResult
    picture: CharacterView
    place: tuple[float, float, float]
    turn: tuple[float, float, float, float]
    ms: float


class EditedClip:
    """The clip, its drag and its view. Arguments are seconds from the beginning; curves have the file's clock."""

    def __init__(self, rig: PosedRig, packer: FramePacker, animation: Clip | Curves, curves: Curves | None) -> None:
        self.rig, self.animation = rig, animation
        self.origin = float(animation.start)
        self.source_keys = reduction.count_keys(animation)
        self.ground = RigCache(rig)
        self.size = self.ground.size
        self.pairs = poses.has_pairs(rig)
        self.committed = reduction.original_keys(animation) if curves is None else curves
        self.baked = self._is_baked(self.committed)
        self.stances = find_stances(rig, self.committed)  # now, so that no click waits for them
        self.view = EditView(self.ground, packer, self.committed, self.origin, self._seconds(), not self.baked)
        self.gesture: DragProtocol | None = None
        self.step: DragResult | None = None  # the last result of the drag

    def _is_baked(self, curves: Curves) -> bool:
        """Whether every frame is a key; curves with fewer keys than the clip were reduced already."""
        return curves.key_count >= self.source_keys and reduction.is_baked(curves)

    def _seconds(self) -> float:
        """The duration: that of the clip, or longer if keys were moved beyond its end."""
        return max(float(self.animation.duration), self.committed.end - self.origin)

    def check_length(self, curves: Curves) -> None:
        """Raise `InvalidInput` where keys lie so far beyond the clip's end that an edit would take too much memory."""
        width = sum(curve.values.shape[1] for curve in curves.curves)
        longest = max(self._seconds(), MAX_EDIT_NUMBERS / (width * curves.rate))
        last = curves.end - self.origin
        if last > longest:
            raise InvalidInput(f"keys should lie within {longest:.4g} s from the beginning, but one is at {last:.4g} s")

    def adopt(self, curves: Curves) -> CharacterView:
        """Replace the committed curves; a drag in progress ends."""
        self.gesture = None
        other = curves.channels != self.committed.channels
        self.committed = curves
        baked, self.baked = self.baked, self._is_baked(curves)
        self.stances = find_stances(self.rig, curves)
        self.view.with_keys = not self.baked
        if baked != self.baked or other or self._seconds() != self.view.seconds:
            self.view.reset(curves, self._seconds())
            return self.view.picture()
        return self.view.show(curves, whole=True)

    def preview(self, curves: Curves, also: tuple[int, int] | None = None) -> CharacterView:
        """Show curves without committing them."""
        return self.view.show(curves, also=also)

    def begin(
        self,
        point: Point,
        moment: float,
        operation: str,
        held: Constraints,
        edges: str,
        falloff: float | None = None,
    ) -> tuple[Array, Array]:
        """Begin to drag a point at a time; returns its position (3,) and orientation (4,)."""
        self._end_gesture()
        at, curves = self._inside(moment), self.committed
        if operation != "time":
            self.gesture = PointDrag(self.ground, curves, point, at, operation == "turn", held, edges, falloff)
        elif holds_feet_by_default(curves, at, at):
            self.gesture = SpeedDrag(self.rig, curves, point, at, held, edges)
        else:
            self.gesture = RetimeDrag(self.rig, curves, point, at, held, edges)
        return self._start_drag(moment, point)

    def begin_pose(
        self, point: Point, moment: float, turning: bool, pins: Sequence[Point], held: Constraints, insert: bool
    ) -> tuple[Array, Array]:
        """Begin to drag a point of the pose; returns its position (3,) and orientation (4,)."""
        self._end_gesture()
        if self.baked:
            raise InvalidInput(
                "a pose would last one frame, because this clip has a key on every frame; move the point instead, or "
                "reduce the clip first"
            )
        at = self._inside(moment)
        self.gesture = PoseDrag(self.rig, self.committed, point, at, turning, pins, held, insert)
        return self._start_drag(moment, point)

    def _end_gesture(self) -> None:
        if self.gesture is not None:
            self.cancel()

    def _inside(self, moment: float) -> float:
        at = moment + self.origin
        if not self.committed.start - 1e-6 <= at <= self.committed.end + 1e-6:
            last = self.committed.end - self.origin
            raise InvalidInput(f"the time should lie within the clip's keys, up to {last:.4g} s, but is {moment:.4g} s")
        return min(max(at, self.committed.start), self.committed.end)

    def _start_drag(self, moment: float, point: Point) -> tuple[Array, Array]:
        self.step = None
        self.view.seek(moment)
        return self.view.where(point, self.origin + moment)

    def drag(self, goal: DragTarget, also: tuple[int, int] | None = None) -> DragUpdate:
        """Solve for another goal of the drag."""
        gesture = self.gesture
        if gesture is None:
            raise InvalidInput("no drag is in progress")
        began = time.perf_counter()
        step = gesture.drag(goal)
        picture = self.preview(step.curves, also)
        place, turn = self.view.where(gesture.point, gesture.time)
        self.step = step
        x, y, z = place.tolist()
        i, j, k, w = turn.tolist()
        return DragUpdate(step, picture, (x, y, z), (i, j, k, w), 1e3 * (time.perf_counter() - began))

    def end_drag(self) -> DragResult | None:
        """The result to commit on release; None if there was no goal. A blocked drag may have changed nothing."""
        gesture = self.gesture
        return None if gesture is None or self.step is None else gesture.release(self.step)

    def held_feet(self, held: Constraints) -> tuple[StanceEntry, ...]:
        """All stances of the clip, with whether they are held."""
        holds = held.holds_feet(self.committed, self.committed.start, self.committed.end)
        return tuple(stance_entry(pin, self.origin, holds and not held.is_loose(pin)) for pin in self.stances)

    def cancel(self) -> CharacterView:
        """End the drag and go back to the committed curves."""
        self.gesture = None
        return self.view.show(self.committed, whole=True)

    def sample(self, times: list[float]) -> Array:
        """(M, C) rows of the rig for the stage; from any thread."""
        return self.view.rows(times)


def stance_entry(pin: Pin, origin: float, held: bool = True) -> StanceEntry:
    """A stance as the page gets it."""
    start, stop = (pin.start or 0.0) - origin, (pin.stop or 0.0) - origin
    return StanceEntry(pin.point.joint, round(start, TIME_DIGITS), round(stop, TIME_DIGITS), held)


def change_entry(change: MotionChange | None, origin: float) -> MotionChange | None:
    """The change of a motion on the page's clock, which is zero at `origin`."""
    return None if change is None else replace(change, start=change.start - origin, stop=change.stop - origin)


def edit_state(
    entry: EditEntry, editing: EditedClip, curves: Sequence[MotionCurveEntry], copied: bool, revision: int
) -> EditState:
    """The state of an edit, for the page."""
    view, committed = editing.view, editing.committed
    held = constraints_from_document(entry, editing.origin)
    channels = tuple(
        EditChannel(
            curve.channel.target,
            curve.channel.kind,
            curve.channel.columns,
            () if editing.baked else tuple((curve.times - editing.origin).round(TIME_DIGITS).tolist()),
            len(curve),
            curve.extrapolation,
        )
        for curve in committed.curves
    )
    return EditState(
        entry.id,
        entry.character,
        entry.clip,
        entry.name,
        view.seconds,
        view.rate,
        view.frame_count,
        editing.size,
        editing.baked,
        holds_feet_by_default(committed, committed.start, committed.end),
        reduction.estimate_seconds(editing.animation) if editing.baked else 0.0,
        committed.key_count,
        editing.source_keys,
        channels,
        entry.pins,
        entry.contacts,
        entry.holds,
        entry.limits,
        entry.stiffness,
        held.holds_feet(committed, committed.start, committed.end),
        editing.held_feet(held),
        tuple(curves),
        copied,
        editing.pairs,
        revision,
    )


def pack_curves(curves: Curves) -> bytes:
    """An animation as bytes; equal animations give equal bytes."""
    entries = [
        {
            "target": curve.channel.target,
            "kind": curve.channel.kind,
            "columns": list(curve.channel.columns),
            "keys": len(curve),
            "extrapolation": list(curve.extrapolation),
            **({"fitted": curve.fitted.tolist()} if curve.fitted.any() else {}),
        }
        for curve in curves.curves
    ]
    header = json.dumps({"version": CONTENT_VERSION, **clip_metadata(curves), "curves": entries})
    arrays = {name: np.concatenate([getattr(c, name).reshape(-1) for c in curves.curves]) for name in CONTENT_ARRAYS}
    stream = io.BytesIO()
    np.savez(stream, **{"header": np.array(header), **arrays})  # type: ignore[arg-type]
    return stream.getvalue()


def unpack_curves(data: bytes, name: str) -> Curves:
    """The animation from the bytes of `pack_curves`, checked; `name` is for error messages."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            header = json.loads(str(arrays["header"]))
            flat = {name: arrays[name] for name in CONTENT_ARRAYS}
        return _curves_from_arrays(header, flat)
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, InvalidInput) as error:
        raise BadFile(name, f"the edited curves are damaged: {str(error).splitlines()[0]}") from None


def _curves_from_arrays(header: Any, flat: dict[str, Any]) -> Curves:
    if header["version"] != CONTENT_VERSION:
        raise InvalidInput(f"their version should be {CONTENT_VERSION}, but is {header['version']}")
    at = dict.fromkeys(CONTENT_ARRAYS, 0)

    def take(name: str, *shape: int) -> Any:
        count = int(np.prod(shape))
        part = flat[name][at[name] : at[name] + count]
        at[name] += count
        return part.reshape(shape)

    curves = []
    for entry in header["curves"]:
        channel = Channel(str(entry["target"]), str(entry["kind"]), tuple(entry["columns"]))
        keys, n = int(entry["keys"]), len(channel)
        arrays = take("times", keys), take("values", keys, n), take("segments", keys - 1)
        first, last = entry["extrapolation"]
        handles = take("before", keys, n, 2), take("after", keys, n, 2)
        curves.append(Curve(channel, *arrays, *handles, (first, last), entry.get("fitted", False)))
    return Curves(header["name"], curves, header["labels"], header["rate"], header["about"], header["moments"])


def write_curves(curves: Curves, folder: Path) -> str:
    """Write an animation into a folder atomically; returns the name of its file."""
    data = pack_curves(curves)
    name = hashlib.sha256(data).hexdigest()[:24] + CONTENT_ENDING
    if not (folder / name).exists():
        with files.write_atomically(folder / name) as temporary:
            temporary.write_bytes(data)
    return name


def read_curves(place: Path, name: str) -> Curves:
    """The animation of a file of `write_curves`; `name` is for error messages."""
    try:
        if place.stat().st_size > MAX_CONTENT_BYTES:
            raise BadFile(name, "is larger than curves can be")
        data = place.read_bytes()
    except OSError:
        raise BadFile(name, "the file of the edited curves is missing") from None
    return unpack_curves(data, name)
