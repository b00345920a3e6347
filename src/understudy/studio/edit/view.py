"""The view of an edit: the character at one time, motion curves, the graph editor's curves, and ghosts.

All follow from one table of sampled values, which is updated while curves change, so that a drag costs one evaluation
of what it changes. A view belongs to the solver's thread; only `rows` may be called from other threads, and waits.

**Binary frames** of motion curves and of the graph editor. Words have 4 bytes, little-endian, after the header.

Graph editor (stream 3, form 5; a = N columns, b = S samples): keys, handles, and the sampled curve.

    S times (s)
    for each column: u32 channel, u32 column, u32 K, u32 0, then K each of: times, values, before dt, before dv,
        after dt, after dv, u32 flags (bits 0 and 1 the segment that leaves: 0 stepped, 1 linear, 2 Bezier; bit 2
        broken), then S values

Motion curves (stream 2, form 4; a = N curves, b = F frames): the paths of the shown points.

    u32 first, u32 total, u32 0, u32 0      these are the frames first ... first + F - 1 of total
    F times (s)
    for each curve: u32 number, u32 K, then 3 F positions, 4 F turns (x y z w), K times of keys, 3 K their positions

During a drag only the frames that can change are sent; the page replaces that part of what it has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Curve, Curves
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS
from understudy.character.rig.rig import ChannelLayout
from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.edit.keys import is_broken
from understudy.edit.solver.free_columns import RigCache
from understudy.edit.solver.segments import PackedCurves
from understudy.render.viewport.surface import VERTICES_FORM, FramePacker
from understudy.studio.edit.curve_table import CurveChange, CurveTable, PointTracks

BROKEN_TANGENT_FLAG = 4  # bit 2 of a key's flags


def pack_graph(curves: Curves, channels: Sequence[int], times: Array, origin: float) -> tuple[int, bytes]:
    """N and the payload of some channels, by number, at times (S,) of the file's own clock."""
    chosen = [curves.curves[i] for i in channels]
    flat = PackedCurves(chosen)
    values = flat.sample(times, flat.where(times))
    parts: list[Array] = [(times - origin).astype("<f4")]
    column = 0
    for number, curve in zip(channels, chosen):
        for c, rows in enumerate(_keys(curve, origin)):
            parts += [np.array([number, c, len(curve), 0], "<u4"), *rows, values[:, column].astype("<f4")]
            column += 1
    return column, b"".join(part.tobytes() for part in parts)


def _keys(curve: Curve, origin: float) -> list[list[Array]]:
    """The arrays of the keys of each column."""
    leaving = np.append(curve.segments, curve.segments[-1:] if len(curve) > 1 else [0]).astype("<u4")
    flags = leaving[:, None] + BROKEN_TANGENT_FLAG * is_broken(curve).astype("<u4")  # (K, n)
    handles = np.concatenate([curve.before, curve.after], axis=2).astype("<f4")  # (K, n, 4)
    times, values = (curve.times - origin).astype("<f4"), curve.values.astype("<f4")
    return [
        [times, values[:, c], *(handles[:, c, i] for i in range(4)), flags[:, c].astype("<u4")]
        for c in range(values.shape[1])
    ]


class MotionCurves:
    """The shown motion curves, as last computed."""

    def __init__(self, numbers: list[int], points: list[Point], times: Array) -> None:
        self.numbers, self.points = numbers, points
        self.times = times.astype("<f4")  # (F,) seconds from the beginning
        self.places = np.zeros((len(points), len(times), 3), "<f4")
        self.turns = np.zeros((len(points), len(times), 4), "<f4")
        self.key_times: list[Array] = [np.zeros(0, "<f4")] * len(points)
        self.key_places: list[Array] = [np.zeros((0, 3), "<f4")] * len(points)
        self._keys = np.zeros((0, 3), "<f4")  # positions of all keys; `key_places` are views of it

    def set_keys(self, times: list[Array]) -> None:
        """Set the times (K,) of the keys of each curve, seconds from the beginning; `put_keys` sets their positions."""
        self.key_times = [each.astype("<f4") for each in times]
        ends = np.cumsum([len(each) for each in times])
        self._keys = np.zeros((int(ends[-1]) if len(ends) else 0, 3), "<f4")
        self.key_places = np.split(self._keys, ends[:-1])

    def put_keys(self, which: Array, places: Array) -> None:
        """Set the positions (M, 3) of keys (M,), numbered over all curves."""
        self._keys[which] = places

    def put(self, first: int, places: Array, turns: Array) -> None:
        """Set positions (P, M, 3) and orientations (P, M, 4) of the frames from `first` on."""
        last = first + places.shape[1]
        self.places[:, first:last], self.turns[:, first:last] = places, turns

    def pack_frames(self, first: int, last: int) -> bytes:
        """The payload with the frames from `first` to before `last`."""
        parts = [np.array([first, len(self.times), 0, 0], "<u4"), self.times[first:last]]
        for p, number in enumerate(self.numbers):
            parts += [
                np.array([number, len(self.key_times[p])], "<u4"),
                self.places[p, first:last],
                self.turns[p, first:last],
                self.key_times[p],
                self.key_places[p],
            ]
        return b"".join(part.tobytes() for part in parts)


@dataclass(frozen=True)
class CurveBlock:
    """The payload of a frame and the two counts of its header."""

    a: int
    b: int
    payload: bytes | memoryview


@dataclass(frozen=True)
class CharacterView:
    """The frames to send: the stage at a time, and motion curves, graph and ghosts if there are any."""

    time: float  # seconds from the beginning
    stage: CurveBlock
    paths: CurveBlock | None = None
    first: int = 0  # first frame of the motion curves
    graph: CurveBlock | None = None
    ghosts: CurveBlock | None = None


@dataclass(frozen=True)
class GraphEditorCurves:
    """The channels of the graph editor, by number, and its range in seconds."""

    channels: tuple[int, ...]
    start: float
    stop: float
    samples: int


class EditView:
    """The view of the curves of one character. Arguments are seconds from the beginning of the clip."""

    def __init__(
        self,
        ground: RigCache,
        packer: FramePacker,
        curves: Curves,
        origin: float,
        seconds: float,
        with_keys: bool = True,
    ) -> None:
        self.packer, self.origin = packer, origin
        self.with_keys = with_keys  # whether motion curves mark their keys; not where every frame is one
        self._ground = ground
        self.curves = curves
        self.time = 0.0
        self.clock: Callable[[], float] | None = None  # the time of the stage, which a picture shows
        self.graphed: GraphEditorCurves | None = None
        self.ghosts: tuple[float, ...] = ()
        self._shown: list[tuple[int, Point]] = []
        self._now: tuple[Array, Array] | None = None  # (P, 3), (P, 4): the shown points at the current time, if known
        self._lock = threading.Lock()
        self.reset(curves, seconds)

    def reset(self, curves: Curves, seconds: float) -> None:
        """Replace the curves by any others, with another duration."""
        self.curves, self.rate, self.seconds = curves, float(curves.rate), seconds
        count = int(np.floor(seconds * self.rate + 1e-6)) + 1
        self._frames = self.origin + np.arange(count) / self.rate
        self._laying = ChannelLayout(self._ground.rig, curves.channels)
        self._aside: PointTracks | None = None  # of the point of the last `where`
        self.show_points(self._shown)

    @property
    def frame_count(self) -> int:
        """F."""
        return len(self._frames)

    def show_points(self, shown: Sequence[tuple[int, Point]]) -> None:
        """Set the motion curves to show, each with its number."""
        curves = self.curves
        self._tracks = PointTracks(self._ground, curves.channels, self._laying, [point for _, point in shown])
        self._shown, self._now = list(shown), None
        self._prepare()

    def _prepare(self) -> None:
        """Rebuild the table, with a row for every key of a shown point; after keys were added, removed or moved."""
        keys = [self._keys_of(p) for p in range(len(self._shown))]
        besides = np.unique(np.concatenate([np.zeros(0), *keys]))
        table = CurveTable(self.curves, self._frames, besides, self.origin + self.time)
        with self._lock:
            self._table = table
        numbers, points = [n for n, _ in self._shown], [p for _, p in self._shown]
        self._paths = MotionCurves(numbers, points, self._frames - self.origin)
        rows = [table.frames + np.searchsorted(besides, own) for own in keys]
        self._key_rows = np.concatenate([np.zeros(0, np.int64), *rows])  # of the keys of all points
        self._key_points = np.repeat(np.arange(len(keys)), [len(own) for own in keys])
        self._paths.set_keys([own - self.origin for own in keys])
        self._follow(CurveChange(0, table.frames, np.arange(len(table.times))))

    def _keys_of(self, number: int) -> Array:
        """(K,) the times of the keys that shape a point's path, without near duplicates; none without keys to mark."""
        if not self.with_keys:
            return np.zeros(0)
        columns = self._tracks.columns_moving_point(number)
        owners = np.unique(np.searchsorted(self.curves.channels.offsets, columns, side="right") - 1)
        times = np.sort(np.concatenate([np.zeros(0), *(self.curves.curves[i].times for i in owners)]))
        return times[np.concatenate([[True], np.diff(times) > KEY_TIME_TOLERANCE_SECONDS])[: len(times)]]

    def _follow(self, change: CurveChange) -> None:
        """Update the motion curves where the table has changed."""
        if not self._shown or not len(change.rows):
            return
        places, turns = self._tracks.sample_points(self._table.values[change.rows])
        frames = change.last - change.first
        self._paths.put(change.first, places[:, :frames], turns[:, :frames])
        at = np.full(len(self._table.times), -1)
        at[change.rows] = np.arange(len(change.rows))
        at = at[self._key_rows]
        which = np.flatnonzero(at >= 0)
        self._paths.put_keys(which, places[self._key_points[which], at[which]])
        if change.rows[-1] == len(self._table.times) - 1:
            self._now = places[:, -1], turns[:, -1]

    def show(self, curves: Curves, whole: bool = False, also: tuple[int, int] | None = None) -> CharacterView:
        """Replace the curves by others of the same channels.

        The picture has the changed frames of the motion curves and those of `also`, which a page may lack, or all.
        """
        others = [(old, new) for old, new in zip(self.curves.curves, curves.curves) if old is not new]
        moved = any(old.times is not new.times and not np.array_equal(old.times, new.times) for old, new in others)
        self.curves = curves
        if moved:
            self._prepare()
            return self.picture()
        with self._lock:
            change = self._table.update(curves)
        self._follow(change)
        if whole:
            return self.picture()
        if also is None or also[0] == also[1]:
            return self.picture(change.first, change.last)
        if change.first == change.last:
            return self.picture(*also)
        return self.picture(min(change.first, also[0]), max(change.last, also[1]))

    def seek(self, time: float) -> None:
        """Set the current time."""
        self.time = time
        if self.origin + time != self._table.moment:
            self._now = None
        with self._lock:
            self._table.look_at(self.origin + time)

    def picture(self, first: int = 0, last: int | None = None) -> CharacterView:
        """The picture of now, with some frames of the motion curves."""
        if self.clock is not None:
            self.seek(self.clock())
        last = self.frame_count if last is None else last
        paths = None
        if self._shown or last:
            paths = CurveBlock(len(self._shown), last - first, self._paths.pack_frames(first, last))
        stage = CurveBlock(*self.packer.pack(self._laying.rows(self._table.now[None])[0]))
        part = last - first < self.frame_count
        # ghosts as vertices are a megabyte: too slow during a drag
        ghosts = None if part and self.packer.form == VERTICES_FORM else self.ghost_payloads()
        return CharacterView(self.time, stage, paths, first, self.graph(), ghosts)

    def graph(self) -> CurveBlock | None:
        """The graph editor's curves."""
        shown = self.graphed
        if shown is None:
            return None
        times = self.origin + np.linspace(shown.start, shown.stop, shown.samples)
        columns, payload = pack_graph(self.curves, shown.channels, times, self.origin)
        return CurveBlock(columns, shown.samples, payload)

    def ghost_payloads(self) -> CurveBlock | None:
        """The ghosts: N times and N payloads of the stage's form."""
        if not self.ghosts:
            return None
        rows = self._laying.rows(self._table.rows(self.origin + np.array(self.ghosts)))
        payloads = [bytes(self.packer.pack(row)[2]) for row in rows]
        return CurveBlock(len(rows), len(payloads[0]) // 4, np.array(self.ghosts, "<f4").tobytes() + b"".join(payloads))

    def where(self, point: Point, time: float) -> tuple[Array, Array]:
        """Position (3,) and orientation (4,) of a point at a time on the file's clock."""
        table = self._table
        if self._now is not None and time == table.moment and point in self._tracks.points:
            number = self._tracks.points.index(point)
            return self._now[0][number], self._now[1][number]
        if self._aside is None or self._aside.points != (point,):
            self._aside = PointTracks(self._ground, self.curves.channels, self._laying, [point])
        values = table.now[None] if time == table.moment else table.rows(np.array([time]))
        places, turns = self._aside.sample_points(values)
        return places[0, 0], turns[0, 0]

    def rows(self, times: list[float]) -> Array:
        """(M, C) rows of the rig at times, seconds; from any thread."""
        with self._lock:
            return self._laying.rows(self._table.rows(self.origin + np.array(times)))
