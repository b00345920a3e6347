"""Files of landmarks: tables, NumPy archives, and folders with a file for each picture.

Tables have a title over each column, as trackers write them. OpenFace has `x_0` to `y_67` in pixels and `X_0` to `Z_67`
in millimetres before the camera, a `timestamp` and, in `success`, whether it saw a face. py-feat has `x_0` to `y_67` in
pixels and the number of the video's `frame`, of which it may skip some. Others: `chin.x`, `chin_y` and so on, in their
own units. In pictures and before OpenFace's camera y runs down. A `Recording` has y up, and metres.

Archives hold `points` or `landmarks` (F, L, D), with `time` (F,) or `rate`, and `names` (L,).

Folders have a file for each picture, as in the Cohn-Kanade database and in 300-W. A file has a line for each landmark,
x and y in pixels with y down; 300-W's `.pts` have a header and braces around the lines. Files are sorted by name.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy import files
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, Unsupported
from understudy.express.recording import Recording, nearest_common_rate
from understudy.express.sequence import landmark_names
from understudy.storage import Archive

MAX_TABLE_BYTES = 256 << 20  # bytes: OpenFace writes 5 kB a frame, so half an hour
EMPTY_CELLS = ("", "nan", "na", "none", "null")
NUMBERED_TITLE = re.compile(r"([xyzXYZ])_(\d{1,4})")
NAMED_TITLE = re.compile(r"(.+)[._ ]([xyz])")
CLOCK_TITLES = ("timestamp", "time", "seconds")
DEFAULT_FRAME_RATE = 30.0  # frames a second, where a file has no clock
MAX_FRAME_RATE = 240.0  # frames a second; above it the clock does not count in seconds
MAX_FRAMES = 1_000_000
POINT_KEYS, TIME_KEYS = ("points", "landmarks"), ("time", "times")
LANDMARK_SUFFIXES = (".txt", ".pts")
MAX_FILE_BYTES = 1 << 20  # bytes; 68 landmarks take 2,300
MAX_FILES = 100_000


@dataclass(frozen=True)
class NumberTable:
    """A table as text; numbers are parsed column by column on request."""

    path: Path
    titles: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]  # (F,) line of the file that each row stands in

    def __contains__(self, title: object) -> bool:
        return title in self.titles

    def column(self, title: str) -> list[str]:
        """The cells of one column."""
        index = self.titles.index(title)
        return [row[index].strip() if index < len(row) else "" for row in self.rows]

    def numbers(self, titles: Sequence[str]) -> Array:
        """(F, n) the numbers of the columns; NaN where a cell is empty or says so."""
        indexes = [self.titles.index(title) for title in titles]
        values = np.full((len(self.rows), len(indexes)), np.nan)
        for number, row in enumerate(self.rows):
            for place, index in enumerate(indexes):
                cell = row[index].strip() if index < len(row) else ""
                if cell.lower() in EMPTY_CELLS:
                    continue
                try:
                    values[number, place] = float(cell)
                except ValueError:
                    where = f"line {self.lines[number]}, column {titles[place]!r}"
                    raise BadFile(self.path, f"a number was expected, but {cell[:30]!r} was found", where) from None
        return np.where(np.isfinite(values), values, np.nan)


def read_table(path: str | Path) -> NumberTable:
    """A table with commas, semicolons or tabs, its titles in the first line."""
    path = Path(path)
    text = files.read_text(path, MAX_TABLE_BYTES)
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, lines = [], []
    try:
        titles = tuple(title.strip() for title in next(reader, []))
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise BadFile(path, f"is not a table: {error}", f"line {reader.line_num}") from None
    if not rows:
        raise BadFile(path, "should have a line of titles and at least one of numbers, but has none")
    return NumberTable(path, titles, rows, lines)


def has_landmarks(table: NumberTable) -> bool:
    """Whether a table has numbered landmarks, or named ones in two dimensions or more."""
    return bool(_titles_by_number(table, "xy")) or len(_axes_by_name(table)) > 1


def read_landmark_table(table: NumberTable, dimensions: int | None = None, rate: float | None = None) -> Recording:
    """The landmarks of a table: in 3 dimensions where it has them, unless 2 are asked for.

    `rate` overrides the table's own clock.
    """
    notes: list[str] = []
    names, titles = _landmark_columns(table, dimensions)
    points = table.numbers([title for row in titles for title in row]).reshape(len(table.rows), len(names), -1)
    if NUMBERED_TITLE.fullmatch(titles[0][0]):
        points = points * [1, -1] if points.shape[2] == 2 else points * [1e-3, -1e-3, -1e-3]
    points[_rows_without_face(table)] = np.nan
    places, clock_rate = _clock(table, notes)
    points = _place_rows(points, places, table, notes)
    return Recording(table.path.stem, points, clock_rate if rate is None else rate, names, notes)


def _titles_by_number(table: NumberTable, axes: str) -> list[tuple[str, ...]]:
    """The titles of the numbered landmarks, a tuple each; empty where there are none. All numbers must be there."""
    counts = [int(m[2]) for m in map(NUMBERED_TITLE.fullmatch, table.titles) if m and m[1] in axes]
    if not counts:
        return []
    titles = [tuple(f"{axis}_{number}" for axis in axes) for number in range(max(counts) + 1)]
    for title in (title for row in titles for title in row):
        if title not in table:
            raise BadFile(table.path, f"has landmarks up to number {max(counts)}, but lacks the column {title!r}")
    return titles


def _axes_by_name(table: NumberTable) -> dict[str, set[str]]:
    axes_by_name: dict[str, set[str]] = {}
    for match in map(NAMED_TITLE.fullmatch, table.titles):
        if match:
            axes_by_name.setdefault(match[1], set()).add(match[2])
    return {name: axes for name, axes in axes_by_name.items() if {"x", "y"} <= axes}


def _landmark_columns(table: NumberTable, dimensions: int | None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The names of the landmarks, and the titles of the columns of each."""
    for axes in ("XYZ", "xyz", "xy"):
        present = any(f"{axes[-1]}_{number}" in table for number in range(2))
        if present and dimensions in (None, len(axes)):
            titles = _titles_by_number(table, axes)
            names = landmark_names() if len(titles) == 68 else tuple(f"p{number}" for number in range(len(titles)))
            return names, titles
    named = _axes_by_name(table)
    spatial = all("z" in axes for axes in named.values())
    wanted = dimensions or (3 if spatial else 2)
    if not named or wanted == 3 > (3 if spatial else 2):
        first = ", ".join(repr(title[:20]) for title in table.titles[:5])
        raise Unsupported(
            table.path,
            f"landmarks in {dimensions or 'two or three'} dimensions were expected, but its columns are {first} ...",
        )
    by_name: dict[tuple[str, str], str] = {}
    for match in map(NAMED_TITLE.fullmatch, table.titles):
        if match:
            by_name.setdefault((match[1], match[2]), match[0])
    return tuple(named), [tuple(by_name[name, axis] for axis in "xyz"[:wanted]) for name in named]


def _rows_without_face(table: NumberTable) -> Array:
    """(F,) bool: the rows in which the tracker saw no face."""
    if "success" in table:
        return ~(table.numbers(["success"])[:, 0] > 0)
    return np.zeros(len(table.rows), bool)


def _clock(table: NumberTable, notes: list[str]) -> tuple[Array, float]:
    """(F,) int the frame number of each row, counted from 0 in steps of one, and frames a second."""
    frames = table.numbers(["frame"])[:, 0] if "frame" in table else np.arange(len(table.rows), dtype=float)
    frames = np.where(np.isfinite(frames), frames, np.arange(len(frames)))
    steps = np.diff(frames)
    step = float(steps[steps > 0].min()) if (steps > 0).any() else 1.0
    places = np.round((frames - frames[0]) / step).astype(np.int64)
    clock = next((title for title in table.titles if title.lower() in CLOCK_TITLES), None)
    if clock is not None:
        times = table.numbers([clock])[:, 0]
        moved = (np.diff(times) > 0) & (np.diff(places) > 0)
        if moved.any():
            rate = 1 / float(np.median(np.diff(times)[moved] / np.diff(places)[moved]))
            if rate <= MAX_FRAME_RATE:
                return places, nearest_common_rate(rate)
            notes.append(
                f"its clock tells {rate:.0f} frames a second, which no camera has: {DEFAULT_FRAME_RATE:g} is taken"
            )
            return places, DEFAULT_FRAME_RATE
    rate = DEFAULT_FRAME_RATE / step
    every = "" if step == 1 else f", of which it has one in {step:g}"
    notes.append(f"it has no clock: a video of {DEFAULT_FRAME_RATE:g} frames a second{every}, is assumed")
    return places, rate


def _place_rows(points: Array, places: Array, table: NumberTable, notes: list[str]) -> Array:
    """(F', L, D) the rows at their frames: NaN where a frame is missing, the first row where a frame has several."""
    if places.min() < 0 or places.max() >= min(MAX_FRAMES, 100 * len(places)):
        raise BadFile(table.path, "the numbers of its frames should rise from the first, but jump or fall")
    result = np.full((int(places.max()) + 1, *points.shape[1:]), np.nan)
    result[places[::-1]] = points[::-1]  # in reverse, so that the first row of a frame wins
    if len(np.unique(places)) < len(places):
        notes.append(f"{len(places) - len(np.unique(places))} rows of other faces in the same frames were left out")
    return result


def read_landmark_archive(path: str | Path, rate: float | None = None) -> Recording:
    """The landmarks (D 2 or 3) or weights (D = 1, or (F, L) with names) of an archive, in its own units."""
    path = Path(path)
    notes: list[str] = []
    with Archive(path) as archive:
        arrays = {name: archive.read(name) for name in (*POINT_KEYS, *TIME_KEYS, "rate", "names") if name in archive}
    points = next((arrays[name] for name in POINT_KEYS if name in arrays), None)
    if points is None:
        raise BadFile(path, f"an array 'points' or 'landmarks' was expected, but its arrays are {archive.names}")
    if points.dtype.kind not in "fiu" or points.ndim not in (2, 3):
        raise BadFile(path, f"landmarks (F, L, D) were expected, but {points.dtype} of shape {points.shape} was found")
    points = points[..., None] if points.ndim == 2 else points
    times = next((arrays[name] for name in TIME_KEYS if name in arrays), None)
    if rate is None:
        rate = _archive_rate(path, arrays.get("rate"), times, len(points), notes)
    try:
        return Recording(path.stem, points, rate, _archive_names(path, arrays.get("names"), points.shape[1]), notes)
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None


def _archive_names(path: Path, names: Array | None, count: int) -> tuple[str, ...]:
    if names is None:
        return landmark_names() if count == 68 else tuple(f"p{number}" for number in range(count))
    if names.shape != (count,) or names.dtype.kind not in "US":
        raise BadFile(path, f"{count} names were expected, as many as landmarks, but {names.shape} was found")
    return tuple(map(str, names.astype(str)))


def _archive_rate(path: Path, rate: Array | None, times: Array | None, frames: int, notes: list[str]) -> float:
    if rate is not None and rate.size == 1:
        return float(rate.reshape(()))
    if times is None:
        notes.append(f"it has neither 'time' nor 'rate': {DEFAULT_FRAME_RATE:g} frames a second are taken")
        return DEFAULT_FRAME_RATE
    if times.shape != (frames,) or times.dtype.kind not in "fiu":
        raise BadFile(path, f"{frames} times were expected, as many as frames, but {times.shape} was found")
    steps = np.diff(times.astype(np.float64))
    if not (steps > 0).all():
        raise BadFile(path, "its times should rise from frame to frame, but do not")
    return nearest_common_rate(float(1 / np.median(steps))) if len(steps) else DEFAULT_FRAME_RATE


def read_landmark_folder(folder: str | Path, rate: float | None = None) -> Recording:
    """The landmarks (F, L, 2) of a folder's files, at `rate` pictures a second, by default `DEFAULT_FRAME_RATE`."""
    folder = Path(folder)
    paths = sorted((path for path in folder.iterdir() if path.suffix.lower() in LANDMARK_SUFFIXES), key=_natural_order)
    if not paths:
        raise BadFile(folder, "is a folder without landmark files (.txt or .pts)")
    if len(paths) > MAX_FILES:
        raise BadFile(folder, f"has {len(paths):,} landmark files, but at most {MAX_FILES:,} are read")
    frames = [_read_landmark_file(path) for path in paths]
    for path, frame in zip(paths, frames):
        if len(frame) != len(frames[0]):
            raise BadFile(path, f"has {len(frame)} landmarks, but {paths[0].name} has {len(frames[0])}")
    count = len(frames[0])
    names = landmark_names() if count == 68 else tuple(f"p{number}" for number in range(count))
    notes = [] if rate else [f"pictures in a folder have no clock: {DEFAULT_FRAME_RATE:g} frames a second are assumed"]
    return Recording(folder.name, np.stack(frames) * [1, -1], rate or DEFAULT_FRAME_RATE, names, notes)


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """The name with its numbers as numbers, so that frame 10 comes after frame 9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name.lower())]


def _read_landmark_file(path: Path) -> Array:
    """(L, 2) the pairs of numbers in a file."""
    text = files.read_text(path, MAX_FILE_BYTES)
    inside = re.search(r"\{([^}]*)\}", text)
    first = text[: inside.start(1)].count("\n") + 1 if inside else 1
    rows = []
    for number, line in enumerate((inside[1] if inside else text).splitlines(), first):
        words = line.replace(",", " ").split()
        if not words:
            continue
        try:
            x, y = map(float, words)
        except ValueError:
            raise BadFile(
                path, f"x and y were expected, but {line.strip()[:40]!r} was found", f"line {number}"
            ) from None
        rows.append((x, y))
    if not rows:
        raise BadFile(path, "should have a line for each landmark, but has none")
    points = np.array(rows)
    return np.where(np.isfinite(points), points, np.nan)
