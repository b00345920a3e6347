"""From the tracks of a dope sheet to the keys of each column.

A track is written in poses and names, a curve needs columns. Which columns a track moves is known only when all of it
has been read: a pose of a face brings those columns to rest that other keys of the track use and it does not name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from understudy.cast.keys import Key, Pose, Sheet
from understudy.cast.vocabulary import Vocabulary
from understudy.cast.words import Words
from understudy.errors import BadFile

MIDDLE = 1 / 3  # handle at the lowest point of an arc, as a part of its half


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


def spread(sheet: Sheet, tracks: Iterable[Track], vocabulary: Vocabulary) -> None:
    """Fill in the sheet's keys by column. A column belongs to one track only."""
    written = list(tracks)
    keyed: dict[str, Track] = {}
    for track in written:
        left = [
            columns
            for name, columns in vocabulary.private.items()
            if name != track.name and any(other.name == name for other in written)
        ]
        spreading = _Spreading(sheet, track, vocabulary, frozenset().union(*left))
        for column, place in spreading.used.items():
            other = keyed.setdefault(column, track)
            if other is not track:
                raise BadFile(sheet.path, f"{column} is already keyed by the track {other.title!r}", place)
            if track.still or column in vocabulary.still:
                sheet.still.add(column)
        spreading.run()


class _Spreading:
    """One track on its way to columns."""

    def __init__(self, sheet: Sheet, track: Track, vocabulary: Vocabulary, left: frozenset[str]) -> None:
        self.sheet, self.track, self.vocabulary = sheet, track, vocabulary
        # keys may be written in any order; those of one column follow each other in time
        self.entries = sorted(track.entries, key=lambda entry: entry.frame)
        self.named: list[Pose] = []
        self.used: dict[str, str] = {}  # column -> the first line that uses it
        for entry in self.entries:
            named = entry.words.meant(vocabulary)
            for column in left.intersection(named) - entry.words.values.keys():
                del named[column]
            self.named.append(named)
            for column in named:
                self.used.setdefault(column, entry.line)
            if entry.words.arc is not None:
                self.used.setdefault(vocabulary.arc, entry.line)
        self.last: Pose = {}  # the value of the last key
        self.since: dict[str, float] = {}  # where a column at rest was last told to rest

    def run(self) -> None:
        for entry, named in zip(self.entries, self.named):
            if entry.words.uses and self.vocabulary.whole:
                self._rest_the_others(entry, named)
            arc = self.vocabulary.arc if entry.words.arc is not None else None
            if arc is not None:
                self._dip(entry, arc, named)
            for column, value in named.items():
                if column != arc:
                    self._key(entry, column, value)

    def _rest_the_others(self, entry: Entry, named: Pose) -> None:
        """A pose says of what it does not name that it rests; what does so already needs no key."""
        for column in self.used:
            if column not in named:
                rest = self.vocabulary.rests[column]
                if self.last.get(column, rest) == rest:
                    self.since[column] = entry.frame + self._late(entry, column)
                else:
                    named[column] = rest

    def _late(self, entry: Entry, column: str) -> float:
        return entry.delays.get(self.vocabulary.parts.get(column, ""), 0.0) if entry.frame > 0 else 0.0

    def _key(self, entry: Entry, column: str, value: float) -> None:
        late = self._late(entry, column)
        departure = self.since.get(column) if entry.departure is None else entry.departure + late
        self._add(column, Key(entry.place, departure, entry.frame + late, value, entry.words.how))

    def _dip(self, entry: Entry, column: str, named: Pose) -> None:
        """Half-way of a move `column` is off the straight way by the arc."""
        if entry.departure is None:
            raise BadFile(self.sheet.path, "a key with arc= should say when it leaves, as in 22>27", entry.line)
        start = self.last.get(column, self.vocabulary.rests[column])
        end = named.get(column, start)
        assert entry.words.arc is not None  # or there would be nothing to dip
        how = entry.words.how
        lowest = 0.5 * (start + end) + entry.words.arc
        half, place = 0.5 * (entry.departure + entry.frame), entry.place
        into, out = (how.handles[0], MIDDLE), (MIDDLE, how.handles[1])
        self._add(column, Key(place, entry.departure, half, lowest, how._replace(handles=into, overshoot=None)))
        last = how._replace(handles=out, overshoot=how.overshoot if column in named else None)
        self._add(column, Key(place, None, entry.frame, end, last))

    def _add(self, column: str, key: Key) -> None:
        reason = beyond(self.vocabulary, column, key.value)
        if reason:
            raise BadFile(self.sheet.path, reason, key.place)
        self.sheet.tracks.setdefault(column, []).append(key)
        self.last[column] = key.value
        self.since.pop(column, None)


def beyond(vocabulary: Vocabulary, column: str, value: float) -> str:
    """What is wrong with a value outside its column's range; nothing where it is inside."""
    low, high = vocabulary.ranges.get(column, (value, value))
    if low - 1e-9 <= value <= high + 1e-9:  # sums of products of decimals are off by 1e-16 or so
        return ""
    return f"{column} should lie between {low:g} and {high:g}, but is {value:g}"
