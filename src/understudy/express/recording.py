"""Recording: the landmarks or weights of a file, before any part of it has a label.

`recording_from_asset` and `recording_from_clip` take the weights or markers of any animation file: Live Link's CSV,
glTF, USD, C3D and every other format with clips.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Asset, Clip
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.express.sequence import ExpressionSequence
from understudy.formats import arkit_names

# Longest gap that is filled, seconds: a hand before the face for longer hides an expression, which is not invented.
MAX_GAP_SECONDS = 0.25
COMMON_FRAME_RATES = (12.0, 15.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0)  # frames a second


@dataclass(frozen=True, eq=False)
class Recording:
    """F frames of L landmarks in D dimensions, or of weights (D = 1); NaN where one was not seen."""

    name: str
    points: Array  # (F, L, D), y up
    rate: float  # frames a second
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __init__(self, name: str, points: Any, rate: float, names: Iterable[str], notes: Iterable[str] = ()) -> None:
        names = checks.unique_names(names, f"names of {name!r}")
        points = checks.array(points, f"points of {name!r}", ("F", len(names), None), finite=False)
        fields = {"name": str(name), "points": points, "names": names, "notes": tuple(notes)}
        fields["rate"] = checks.positive(rate, f"rate of {name!r}")
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate

    def sequence(
        self,
        label: str,
        *,
        peak: float | None = None,
        peak_frame: int | None = None,
        start: float | None = None,
        end: float | None = None,
        name: str | None = None,
    ) -> ExpressionSequence:
        """The part from `start` to `end` under a label.

        Times are seconds of the recording, `peak_frame` is a frame of the recording, or -1 for the last of the part.
        Gaps of up to a quarter of a second are filled in between their neighbours and noted; longer ones are refused.
        """
        name = self.name if name is None else name
        first, last = self._frame(0.0 if start is None else start, "start", name), len(self) - 1
        if end is not None:
            last = self._frame(end, "end", name)
        if last <= first:
            raise InvalidInput(f"sequence {name!r} should end after its start, but goes from frame {first} to {last}")
        if peak is not None and peak_frame is not None:
            raise InvalidInput(f"sequence {name!r} should have a peak or a peak_frame, but has both")
        if peak is not None:
            peak_frame = self._frame(peak, "peak", name)
        if peak_frame is not None and peak_frame < 0:
            peak_frame += last + 1
        if peak_frame is not None and not first < peak_frame <= last:
            raise InvalidInput(
                f"the peak of sequence {name!r} should lie in frames {first + 1} to {last}, but is frame {peak_frame}"
            )
        points, filled = fill_gaps(self.points[first : last + 1], self.rate, self.names, name)
        notes = [*self.notes, f"sequence {name!r} had {filled} frames with gaps, which were filled in"]
        offset = None if peak_frame is None else peak_frame - first
        return ExpressionSequence(name, label, points, self.rate, offset, self.names, notes if filled else self.notes)

    def _frame(self, time: float, what: str, name: str) -> int:
        frame = round(float(time) * self.rate) if np.isfinite(time) else -1
        if not 0 <= frame < len(self):
            hint = f"; for a frame write {what}_frame" if what == "peak" else ""
            within = f"between 0 and {self.duration:.3f} s"
            raise InvalidInput(f"the {what} of sequence {name!r} should lie {within}, but is {time:g} s{hint}")
        return frame


def recording_from_asset(asset: Asset, clip: str | None = None) -> Recording:
    """The recording in an asset's clip of that name, or in its only one."""
    clips = {animation.name: animation for animation in asset.animations}
    if clip is None and len(clips) != 1:
        raise InvalidInput(f"one clip was expected, but there are {len(clips)}: {join_names(clips) or 'none'}")
    if clip is not None and clip not in clips:
        raise InvalidInput(f"there is no clip {clip!r}; available: {join_names(clips, 40) or 'none'}")
    chosen = clips[clip] if clip is not None else next(iter(clips.values()))
    return recording_from_clip(chosen if isinstance(chosen, Clip) else chosen.clip(), asset.notes)


def recording_from_clip(clip: Clip, notes: tuple[str, ...] | list[str] = ()) -> Recording:
    """The shape weights of a clip (D = 1), by their ARKit names where they have one; without weights its markers."""
    names: list[str] = []
    for channel in clip.channels:
        if channel.kind == "weights":
            names += [arkit_names.canonical_name(column) or column for column in channel.columns]
    columns = clip.channels.columns_of("weights")
    if columns.size:
        first = dict(zip(reversed(names), reversed(columns)))  # parts may share shapes: the first part's column is used
        kept = list(dict.fromkeys(names))
        return Recording(clip.name, clip.values[:, [first[name] for name in kept]][..., None], clip.rate, kept, notes)
    markers = [channel.target for channel in clip.channels if channel.kind == "marker"]
    if not markers:
        raise InvalidInput(f"clip {clip.name!r} should have shape weights or markers, but has neither")
    values = clip.values[:, clip.channels.columns_of("marker")]
    return Recording(clip.name, np.reshape(values, (len(values), len(markers), 3)), clip.rate, markers, notes)


def fill_gaps(points: Array, rate: float, names: tuple[str, ...], what: str) -> tuple[Array, int]:
    """(F, L, D) with short gaps filled linearly, constant at the ends, and how many frames had any."""
    seen: Array = np.asarray(np.isfinite(points).all(axis=2))  # (F, L)
    if seen.all():
        return points, 0
    never = np.flatnonzero(~seen.any(axis=0))
    if never.size:
        more = f" and {never.size - 1} more" if never.size > 1 else ""
        raise InvalidInput(f"sequence {what!r} never shows {names[never[0]]!r}{more}")
    frames = np.arange(len(points))
    result = np.array(points)
    for row in np.flatnonzero(~seen.all(axis=0)):
        known = frames[seen[:, row]]
        edges = np.concatenate([[-1], known, [len(points)]])
        widest = int(np.argmax(np.diff(edges)))
        length = int(np.diff(edges)[widest] - 1)
        if length > MAX_GAP_SECONDS * rate:
            first = int(edges[widest] + 1)
            raise InvalidInput(
                f"sequence {what!r} does not show {names[row]!r} from frame {first} to {first + length - 1}, "
                f"{length / rate:.2f} s, but gaps of at most {MAX_GAP_SECONDS:g} s are filled in"
            )
        for axis in range(points.shape[2]):
            result[:, row, axis] = np.interp(frames, known, points[known, row, axis])
    return result, int((~seen.all(axis=1)).sum())


def nearest_common_rate(rate: float) -> float:
    """The common frame rate within half a percent, the error of rounded clocks, or the rate itself."""
    near = min(COMMON_FRAME_RATES, key=lambda usual: abs(usual - rate))
    return near if abs(near - rate) < 0.005 * rate else rate
