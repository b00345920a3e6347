"""Playback sources, which give the rows of the rig on stage, and the binary frames that carry them.

A frame has a header of 32 bytes, then float32 values, all little-endian:

    u32 magic 'USF1' | u32 stream | u32 sequence | u32 form | f64 time (s) | u32 a | u32 b

| form | a | b | payload |
|---|---|---|---|
| 1 joints | B | S | B matrices (3 rows of 4) world_from_joint, then S shape weights |
| 2 vertices | V | 0 | V positions; the page computes the normals |
| 3 crowd | characters | floats of each | rows |
| 4 motion curves | N curves | F frames | see `studio.edit.view` |
| 5 graph | N columns | S samples | see `studio.edit.view` |
| 6 ghosts | N | words of each | N times (s), then N payloads of form 1 or 2, as on the stage |

The streams are 0 the stage, 1 the crowd, 2 motion curves, 3 the graph editor, 4 ghosts.
"""

from __future__ import annotations

import struct
from typing import Protocol, runtime_checkable

from understudy.character import Clip, Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array

FRAME_HEADER = struct.Struct("<IIIIdII")
FRAME_MAGIC = 0x31465355
CROWD_FORM, PATHS_FORM, GRAPH_FORM, GHOSTS_FORM = 3, 4, 5, 6  # 1 and 2: `render.viewport.surface`
STAGE_STREAM, CROWD_STREAM, PATHS_STREAM, GRAPH_STREAM, GHOSTS_STREAM = 0, 1, 2, 3, 4
MAX_VALUES_PER_BLOCK = 8_000_000  # values of an animation that are kept as rows: 64 MB


def frame_message(
    stream: int, sequence: int, form: int, time: float, a: int, b: int, payload: bytes | memoryview
) -> bytes:
    """One frame with its header."""
    return b"".join((FRAME_HEADER.pack(FRAME_MAGIC, stream, sequence & 0xFFFFFFFF, form, time, a, b), payload))


@runtime_checkable
class PlaybackSource(Protocol):
    """Advances in time. `time` is in seconds from its beginning; `duration` is None if it never ends.

    A `live` source cannot be scrubbed: it ignores the loop and the range.
    """

    rate: float  # frames a second of its own
    time: float
    duration: float | None
    live: bool

    def advance(self, seconds: float) -> Array:
        """The row (C,) after that many seconds more; 0 gives the row of now."""
        ...

    def seek(self, time: float) -> None:
        """Go to a time; a live source stays where it is."""
        ...

    def prepare(self) -> None:
        """Slow preparation, called in a thread while the first frames are shown; nothing else is called meanwhile."""
        ...


class RowSampler(Protocol):
    """Rows of a rig at any time."""

    def sample(self, times: list[float]) -> Array:
        """(M, C) rows at times from the beginning of the animation, seconds."""
        ...


class ClipSource:
    """A clip or curves on a rig: sampled between frames, looped or once, within a range.

    `rows` gives the rows of the animation, if the caller has them already or changes them during playback.
    """

    live = False

    def __init__(
        self,
        rig: PosedRig,
        animation: Clip | Curves | None,
        loop: bool = True,
        start: float = 0.0,
        stop: float | None = None,
        rows: RowSampler | None = None,
    ) -> None:
        self.rig, self.animation = rig, animation
        self.rate = 24.0 if animation is None else float(animation.rate)
        self.duration: float | None = 0.0 if animation is None else float(animation.duration)
        self._rows: RowSampler | None = rows
        if rows is None and animation is not None:
            self._rows = AnimationRows(rig, animation)
        self.time = 0.0
        self.bounds(loop, start, stop)

    def bounds(self, loop: bool, start: float, stop: float | None) -> None:
        """Set the loop and the range, seconds from the beginning; None is the end."""
        last = self.duration or 0.0
        self.loop = loop
        self.stop = last if stop is None else min(max(stop, 0.0), last)
        self.start = min(max(start, 0.0), self.stop)

    @property
    def has_ended(self) -> bool:
        """Whether it has played to the end and does not loop."""
        return not self.loop and self.time >= self.stop

    def advance(self, seconds: float) -> Array:
        """The row (C,) after that many seconds more. A loop includes the step from its last frame to its first."""
        self.time += seconds
        if seconds and self.time > self.stop:
            span = self.stop - self.start + 1 / self.rate
            self.time = self.start + (self.time - self.start) % span if self.loop else self.stop
        elif seconds < 0 and self.time < self.start:
            self.time = self.start
        return self._row()

    def _row(self) -> Array:
        if self._rows is None:
            return self.rig.rest
        # between the last frame of the range and the first of the next loop the last frame is shown
        moment = min(self.time, self.stop) if self.loop else self.time
        row: Array = self._rows.sample([moment])[0]
        return row

    def seek(self, time: float) -> None:
        """Go to a time, clamped to the clip."""
        self.time = min(max(time, 0.0), self.duration or 0.0)

    def prepare(self) -> None:
        """Nothing to prepare."""


class AnimationRows:
    """An animation as rows of a rig, at any time.

    Mapping hundreds of channels to the rig takes 10 ms for one frame, and hardly longer for all frames at once. So all
    frames are mapped at the beginning, and a row is interpolated. A longer capture is mapped frame by frame.
    """

    def __init__(self, rig: PosedRig, animation: Clip | Curves) -> None:
        self._rig, self._animation = rig, animation
        self._mapped: Clip | None = None
        if animation.frame_count * rig.channels.width <= MAX_VALUES_PER_BLOCK:
            self._mapped = Clip(animation.name, rig.channels, rig.pose(animation), animation.rate)

    def sample(self, times: list[float]) -> Array:
        """(M, C) rows at times from the beginning of the animation, seconds."""
        if self._mapped is not None:
            return self._mapped.sample(times)
        return self._rig.pose(self._animation, [self._animation.start + time for time in times])
