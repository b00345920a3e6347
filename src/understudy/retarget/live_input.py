"""Live input as text, a line a frame: a BVH file as it is being written, or markers as JSON.

    HIERARCHY ... MOTION, Frames: 0, Frame Time: 0.00833    then a line of numbers for every frame
    {"markers": ["LASI", "RASI", ...], "units": "mm"}       then {"time": 0.1, "points": [[x, y, z], ...]} for every one

Any program that can print can drive a character, through a pipe or a socket. A marker that is not seen is null, and
stays where it was. Times may be left out: frames then come at the BVH's rate, or 120 a second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from understudy.character import Asset
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.formats import bvh
from understudy.formats.bvh_parser import BvhText, parse
from understudy.retarget import marker_cloud
from understudy.retarget.markers import Markers, markers_of
from understudy.retarget.poses import poses_of
from understudy.retarget.source import UNITS

WHERE = "live input"
LONGEST_HEADER = 10_000  # lines
RATE = 120.0  # frames a second, where neither header nor frames say


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """One frame of the actor."""

    time: float  # seconds
    points: Array  # (P, 3) world, metres
    frame: Array  # (4, 4) world_from_local


def frames_of(lines: Iterable[str]) -> Iterator[LiveFrame]:
    """The frames of a stream as their lines arrive; which of the two it is, the first line tells."""
    source = (line for line in lines if line.strip())
    first = next(source, None)
    if first is None:
        raise BadFile(WHERE, "is empty: it should begin with HIERARCHY (BVH) or with a JSON line that names markers")
    return _of_markers(first, source) if first.lstrip().startswith("{") else _of_bvh(first, source)


def _of_bvh(first: str, lines: Iterator[str]) -> Iterator[LiveFrame]:
    header = [first.rstrip("\n")]
    for line in lines:
        header.append(line.rstrip("\n"))
        if line.strip().lower().startswith("frame time"):
            break
        if len(header) > LONGEST_HEADER:
            raise BadFile(WHERE, "should be BVH, but has no 'Frame Time:'")
    # a file that was finished before says how many frames will come, which nobody knows of one that is being written
    header = ["Frames: 0" if line.strip().lower().startswith("frames:") else line for line in header]
    text = parse("\n".join(header) + "\n", WHERE)
    step = float(text.frame_time or 0) or 1 / RATE
    reading: _Bvh | None = None
    for number, line in enumerate(lines):
        values = _numbers(line, text.values.shape[1], len(header) + number + 1)
        reading = _Bvh.begin(text, values) if reading is None else reading
        points, frame = reading.read(values)
        yield LiveFrame(number * step, points, frame)


@dataclass(frozen=True, eq=False)
class _Bvh:
    """A BVH stream whose unit and up axis are known from its first frame."""

    text: BvhText
    scale: float
    markers: Markers

    @classmethod
    def begin(cls, text: BvhText, values: Array) -> _Bvh:
        once = replace(text, values=values[None])
        asset = bvh.to_asset(once, "live")
        offsets = np.array([joint.offset for joint in text.joints])
        lengths = np.linalg.norm(offsets[1:], axis=1)
        metres = np.linalg.norm(asset.character().skeleton.translations[1:], axis=1)
        longest = int(lengths.argmax()) if len(lengths) else 0
        scale = float(metres[longest] / lengths[longest]) if len(lengths) and lengths[longest] > 0 else 1.0
        return cls(text, scale, markers_of(asset.character()))

    def read(self, values: Array) -> tuple[Array, Array]:
        asset: Asset = bvh.to_asset(replace(self.text, values=values[None]), "live", self.scale)
        world = poses_of(asset).world
        return self.markers.positions(world)[0], self.markers.frames(world)[0]


def _of_markers(first: str, lines: Iterator[str]) -> Iterator[LiveFrame]:
    head = _json(first, 1)
    names = head.get("markers")
    if not isinstance(names, list) or len(names) < 3 or not all(isinstance(name, str) for name in names):
        raise BadFile(WHERE, 'should begin with {"markers": [three names or more]}', "line 1")
    unit = head.get("units", "m")
    if unit not in UNITS:
        raise BadFile(WHERE, f"units should be one of {', '.join(UNITS)}, but are {unit!r}", "line 1")
    seen: Array | None = None
    for number, line in enumerate(lines):
        place = f"line {number + 2}"
        row = _json(line, number + 2)
        points = _points(row.get("points"), len(names), place) * UNITS[unit]
        if seen is not None:
            points = np.where(np.isnan(points), seen, points)
        if np.isnan(points).any():
            continue  # some marker was never seen: there is no pose yet
        seen = points
        time = row.get("time", number / RATE)
        if not isinstance(time, int | float):
            raise BadFile(WHERE, f"time should be a number of seconds, but is {time!r}", place)
        frame = marker_cloud.frames_of(tuple(names), points[None], [])[0]
        yield LiveFrame(float(time), points, frame)


def _points(value: object, count: int, place: str) -> Array:
    if not isinstance(value, list) or len(value) != count:
        found = len(value) if isinstance(value, list) else 0
        raise BadFile(WHERE, f"points should be {count} lists of x, y, z, but are {found}", place)
    rows = [[np.nan] * 3 if row is None else row for row in value]
    try:
        points = np.array(rows, np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape != (count, 3):
        raise BadFile(WHERE, "each point should be x, y, z, or null where the marker is not seen", place)
    return points


def _json(line: str, number: int) -> dict[str, object]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadFile(WHERE, f"is not JSON: {error.msg}", f"line {number}") from None
    if not isinstance(row, dict):
        raise BadFile(WHERE, "should be a JSON object", f"line {number}")
    return row


def _numbers(line: str, width: int, number: int) -> Array:
    try:
        values = np.array(line.split(), np.float64)
    except ValueError:
        raise BadFile(WHERE, "should be numbers", f"line {number}") from None
    if len(values) != width:
        raise BadFile(WHERE, f"should have {width} numbers, but has {len(values)}", f"line {number}")
    if not np.isfinite(values).all():
        raise InvalidInput(f"{WHERE}, line {number}: should be finite")
    return values
