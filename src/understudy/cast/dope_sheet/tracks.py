"""From the tracks of a dope sheet to the keys of each column, and from columns to curves.

A track is written in poses and names, a curve needs columns. The columns that a track moves are known only when all of
it has been read: a pose of a face returns to rest the columns that it does not name and other keys of the track use.
Columns of a joint get common key times, exactly; each control keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from understudy.cast.dope_sheet import spline
from understudy.cast.dope_sheet.sheet import Key, Pose, Sheet, Vocabulary, Words
from understudy.cast.dope_sheet.spline import UNBOUNDED_RANGE, Column, ColumnRange
from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER
from understudy.errors import BadFile

ARC_HANDLE_RATIO = 1 / 3  # handle at the lowest point of an arc, as a part of half its duration


@dataclass
class Entry:
    """One key as written."""

    line: str  # "line 12"
    place: str  # "line 12, key 42>52"
    departure: float | None
    frame: float
    words: Words
    delays: Mapping[str, float]  # frames by part


@dataclass
class Track:
    """One line of keys, with all that continue it."""

    title: str
    name: str
    still: bool = False
    entries: list[Entry] = field(default_factory=list)


def spread_tracks(sheet: Sheet, tracks: Iterable[Track], vocabulary: Vocabulary) -> None:
    """Fill in the sheet's keys by column. A column belongs to one track only."""
    written = list(tracks)
    keyed: dict[str, Track] = {}
    for track in written:
        left = [
            columns
            for name, columns in vocabulary.private.items()
            if name != track.name and any(other.name == name for other in written)
        ]
        spreader = _TrackSpreader(sheet, track, vocabulary, frozenset().union(*left))
        for column, place in spreader.used.items():
            other = keyed.setdefault(column, track)
            if other is not track:
                raise BadFile(sheet.path, f"{column} is already keyed by the track {other.title!r}", place)
            if track.still or column in vocabulary.still:
                sheet.still.add(column)
        spreader.run()


class _TrackSpreader:
    """Turns one track into the keys of its columns."""

    def __init__(self, sheet: Sheet, track: Track, vocabulary: Vocabulary, left: frozenset[str]) -> None:
        self.sheet, self.track, self.vocabulary = sheet, track, vocabulary
        # keys may be written in any order; those of one column follow each other in time
        self.entries = sorted(track.entries, key=lambda entry: entry.frame)
        self.named: list[Pose] = []
        self.used: dict[str, str] = {}  # column -> the first line that uses it
        for entry in self.entries:
            named = entry.words.column_values(vocabulary)
            for column in left.intersection(named) - entry.words.values.keys():
                del named[column]
            self.named.append(named)
            for column in named:
                self.used.setdefault(column, entry.line)
            if entry.words.arc is not None:
                self.used.setdefault(vocabulary.arc, entry.line)
        self.last: Pose = {}  # the value of the last key
        self.since: dict[str, float] = {}  # frame of the last pose that returned a resting column to rest

    def run(self) -> None:
        for entry, named in zip(self.entries, self.named):
            if entry.words.uses and self.vocabulary.whole:
                self._rest_other_columns(entry, named)
            arc = self.vocabulary.arc if entry.words.arc is not None else None
            if arc is not None:
                self._key_arc(entry, arc, named)
            for column, value in named.items():
                if column != arc:
                    self._key(entry, column, value)

    def _rest_other_columns(self, entry: Entry, named: Pose) -> None:
        """Return to rest the columns that a pose does not name; a column at rest needs no key."""
        for column in self.used:
            if column not in named:
                rest = self.vocabulary.rests[column]
                if self.last.get(column, rest) == rest:
                    self.since[column] = entry.frame + self._delay(entry, column)
                else:
                    named[column] = rest

    def _delay(self, entry: Entry, column: str) -> float:
        return entry.delays.get(self.vocabulary.parts.get(column, ""), 0.0) if entry.frame > 0 else 0.0

    def _key(self, entry: Entry, column: str, value: float) -> None:
        delay = self._delay(entry, column)
        departure = self.since.get(column) if entry.departure is None else entry.departure + delay
        self._add(column, Key(entry.place, departure, entry.frame + delay, value, entry.words.interpolation))

    def _key_arc(self, entry: Entry, column: str, named: Pose) -> None:
        """Key `column` so that half-way of a move it is off the straight line by the arc."""
        if entry.departure is None:
            raise BadFile(self.sheet.path, "a key with arc= should say when it leaves, as in 22>27", entry.line)
        start = self.last.get(column, self.vocabulary.rests[column])
        end = named.get(column, start)
        assert entry.words.arc is not None  # `run` has checked it
        interpolation = entry.words.interpolation
        lowest = 0.5 * (start + end) + entry.words.arc
        half, place = 0.5 * (entry.departure + entry.frame), entry.place
        into, out = (interpolation.handles[0], ARC_HANDLE_RATIO), (ARC_HANDLE_RATIO, interpolation.handles[1])
        first = interpolation._replace(handles=into, overshoot=None)
        self._add(column, Key(place, entry.departure, half, lowest, first))
        last = interpolation._replace(handles=out, overshoot=interpolation.overshoot if column in named else None)
        self._add(column, Key(place, None, entry.frame, end, last))

    def _add(self, column: str, key: Key) -> None:
        reason = range_error(self.vocabulary, column, key.value)
        if reason:
            raise BadFile(self.sheet.path, reason, key.place)
        self.sheet.tracks.setdefault(column, []).append(key)
        self.last[column] = key.value
        self.since.pop(column, None)


def range_error(vocabulary: Vocabulary, column: str, value: float) -> str:
    """The error for a value outside its column's range; "" where it is inside."""
    low, high = vocabulary.ranges.get(column, (value, value))
    if low - 1e-9 <= value <= high + 1e-9:  # sums of products of decimals are off by 1e-16 or so
        return ""
    return f"{column} should lie between {low:g} and {high:g}, but is {value:g}"


def sheet_columns(sheet: Sheet, vocabulary: Vocabulary | None = None) -> dict[str, Column]:
    """Each column of the sheet ("Head.ry") that ever leaves its rest, in the units of the sheet."""
    moving = {}
    for name, keys in sheet.tracks.items():
        within = UNBOUNDED_RANGE if vocabulary is None else column_range(vocabulary, name)
        nodes = spline.nodes(keys, sheet.frames, name in sheet.still, sheet.path, within)
        if vocabulary is None or any(node.value != within.rest for node in nodes):
            moving[name] = nodes
    return dict(zip(moving, spline.columns(list(moving.values()), sheet.rate))) if moving else {}


def column_range(vocabulary: Vocabulary, column: str) -> ColumnRange:
    """The rest and the range of a column; without one it is free."""
    low, high = vocabulary.ranges.get(column, (-np.inf, np.inf))
    return ColumnRange(column, vocabulary.rests[column], low, high, column in vocabulary.clamped)


def joint_curves(sheet: Sheet, skeleton: Skeleton) -> Curves:
    """The animation that a sheet of joints describes, in radians and metres, joints in the order of the skeleton.

    All columns of a curve share their key times. Where one of them has no key of its own, its segment is cut in two
    there, which changes nothing of its shape.
    """
    _check_complete(sheet)
    columns, rest = sheet_columns(sheet), _rest_column(sheet)
    result = []
    for joint in skeleton.names:
        keyed = {name.partition(".")[2][0] for name in columns if name.partition(".")[0] == joint}
        if "r" in keyed:
            angles = [columns.get(f"{joint}.r{axis}", rest) for axis in sheet.order]
            result.append(columns_curve(Channel(joint, "euler", tuple(sheet.order)), angles, np.radians(1.0)))
        if "t" in keyed:
            offsets = [columns.get(f"{joint}.t{axis}", rest) for axis in "xyz"]
            position = skeleton.translations[skeleton.index(joint)]
            result.append(columns_curve(Channel(joint, "translation"), offsets, 1.0, position))
    return _sheet_curves(sheet, result)


def control_curves(sheet: Sheet, vocabulary: Vocabulary) -> Curves:
    """The animation that a sheet of controls describes: a curve for each control that ever leaves its rest."""
    _check_complete(sheet)
    columns = sheet_columns(sheet, vocabulary)
    if not columns:
        raise BadFile(sheet.path, "nothing in this sheet ever leaves its rest")
    order = {name: number for number, name in enumerate(vocabulary.rests)}
    names = sorted(columns, key=order.__getitem__)
    return _sheet_curves(sheet, [_control_curve(name, columns[name]) for name in names])


def _check_complete(sheet: Sheet) -> None:
    if not sheet.name or not sheet.frames or not sheet.tracks:
        raise BadFile(sheet.path, "a sheet should have a clip name, frames and at least one track")


def _sheet_curves(sheet: Sheet, curves: list[Curve]) -> Curves:
    moments = {name: frame / sheet.rate for name, frame in sheet.moments.items()}
    return Curves(sheet.name, curves, sheet.labels, sheet.rate, sheet.about, moments)


def _rest_column(sheet: Sheet) -> Column:
    return spline.column(spline.nodes([], sheet.frames, True, sheet.path), sheet.rate)


def columns_curve(channel: Channel, columns: list[Column], unit: float, offset: object = 0.0) -> Curve:
    """One curve of several columns, which get common key times; values become `unit` times theirs, plus `offset`."""
    times = np.unique(np.concatenate([c.times for c in columns]))
    split = [c.split(times) for c in columns]
    scale = np.array([1.0, unit])  # a handle's time stays in seconds
    return Curve(
        channel,
        times,
        unit * np.stack([c.values for c in split], axis=1) + np.asarray(offset),
        BEZIER,
        np.stack([c.before for c in split], axis=1) * scale,
        np.stack([c.after for c in split], axis=1) * scale,
    )


@lru_cache(maxsize=4096)
def control_channel(name: str) -> Channel:
    """The channel of one control."""
    return Channel(name, "controls", ("value",))


def _control_curve(name: str, column: Column) -> Curve:
    return Curve.bezier_from_checked_arrays(
        control_channel(name), column.times, column.values[:, None], column.before[:, None], column.after[:, None]
    )
