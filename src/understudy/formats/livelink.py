"""ARKit face capture as a table: Live Link Face's CSV, and other tables that have the ARKit weights as columns.

Live Link writes a row a frame: a timecode HH:MM:SS:FF.fff, the number of columns that follow, 52 weights, and nine
angles of head and eyes in radians. Rows are missing where the telephone was busy, and empty where it lost the face;
both are filled in between their neighbours, so that the clip has a fixed rate.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from understudy import files
from understudy.character import Asset, Channel, Clip
from understudy.checks import Array
from understudy.errors import BadFile, Unsupported
from understudy.formats import numbers, timecode
from understudy.formats.arkit_names import ANGLES, WEIGHTS, canonical
from understudy.formats.livelink_writer import write

__all__ = ["read", "write"]

LARGEST_CSV = 128 << 20  # bytes: three quarters of an hour at 60 fps
FEW_NAMES = 10  # of the 52, below which a table without timecodes is something else
NO_CLOCK = 30.0  # frames a second, where a table has none
CLOCKS = ("timestamp", "time", "seconds", "timeseconds")


def read(path: str | Path) -> Asset:
    """The weights and angles of a face as one clip."""
    path = Path(path)
    header, rows, lines = _table(path)
    columns: dict[str, int] = {}
    for number, title in enumerate(header):
        name = canonical(title)
        if name is not None:
            columns.setdefault(name, number)
    weights = [name for name in WEIGHTS if name in columns]
    angles = [name for name in ANGLES if name in columns]
    plain = [title.lower() for title in header]
    if not weights or ("timecode" not in plain and len(weights) < FEW_NAMES):
        found = ", ".join(repr(title[:30]) for title in header[:6])
        raise Unsupported(
            path, f"is a table of {found} ...; the ARKit weights (eyeBlinkLeft, jawOpen, ...) were expected"
        )
    notes: list[str] = []
    if len(weights) < len(WEIGHTS):
        absent = [name for name in WEIGHTS if name not in columns]
        notes.append(f"{len(absent)} of the 52 ARKit weights are absent, {absent[0]} first")
    others = len(header) - len(columns) - sum(title in ("timecode", "blendshapecount") for title in plain)
    if others > 0:
        notes.append(f"{others} other columns were left out")

    values, seen = _values(rows, lines, [columns[name] for name in weights + angles], path)
    if "timecode" in plain:
        times = _timecodes(rows, lines, plain.index("timecode"), path, notes)
    else:
        times, values, seen = _other_clock(rows, plain, values, seen, notes)
    if not seen.all():
        notes.append(f"{int((~seen).sum())} rows have no face: they were filled in between their neighbours")
    filled, rate = timecode.uniform(times[seen], values[seen], notes, times)
    channels = [Channel("", "weights", tuple(weights))]
    if angles:
        channels.append(Channel("", "controls", tuple(angles)))
    return Asset(clips=[Clip(path.stem, channels, filled, rate)], notes=notes)


def _table(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Column titles, rows of cells, and the line of each row."""
    text = files.read_text(path, LARGEST_CSV)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, lines = [], []
    try:
        header = [title.strip() for title in next(reader, [])]
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise BadFile(path, f"is not a table: {error}", f"line {reader.line_num}") from None
    if not rows:
        raise BadFile(path, "should have a row of titles and at least one row of values, but has none")
    return header, rows, lines


def _values(rows: list[list[str]], lines: list[int], columns: list[int], path: Path) -> tuple[Array, Array]:
    """(F, n) the cells of the wanted columns, and (F,) whether the row has them all."""
    last = max(columns)
    seen = np.ones(len(rows), bool)
    texts = [""] * lines[-1]  # one for each line of the file, so that an error has its line
    for number, row in enumerate(rows):
        cells = [row[column].strip() for column in columns] if len(row) > last else [""]
        if all(cell and cell.lower() not in ("nan", "na") for cell in cells):
            texts[lines[number] - 1] = " ".join(cells)
        else:
            seen[number] = False
    if not seen.any():
        raise BadFile(path, f"no row has a number in all of its {len(columns)} face columns")
    found = numbers.parse("\n".join(texts).encode("utf-8", "replace"), path)
    if found.size != seen.sum() * len(columns):
        raise BadFile(path, "some cell holds more than one number")
    values = np.zeros((len(rows), len(columns)))
    values[seen] = found.reshape(-1, len(columns))
    return values, seen


def _timecodes(rows: list[list[str]], lines: list[int], column: int, path: Path, notes: list[str]) -> Array:
    cells = [row[column] if len(row) > column else "" for row in rows]
    times = timecode.seconds(cells, lines, path)
    notes.append(f"the take begins at timecode {cells[0].strip()}: here at 0 s")
    return times


def _other_clock(
    rows: list[list[str]], titles: list[str], values: Array, seen: Array, notes: list[str]
) -> tuple[Array, Array, Array]:
    """Times of a table without timecodes: a column of seconds that increase, else one row after the other."""
    for title in CLOCKS:
        if title in titles:
            column = titles.index(title)
            times = np.array([_number(row[column]) if len(row) > column else np.nan for row in rows])
            if np.isfinite(times).all() and (np.diff(times) > 0).all() and np.abs(times).max() < 1e9:
                return times, values, seen
    if "frame" in titles:
        frames = [row[titles.index("frame")].strip() if len(row) > titles.index("frame") else "" for row in rows]
        first = np.array([i == 0 or frame != frames[i - 1] for i, frame in enumerate(frames)])
        if not first.all():
            notes.append(f"{int((~first).sum())} rows are of other faces in the same frame and were left out")
            values, seen = values[first], seen[first]
    notes.append(f"the table has no clock: {NO_CLOCK:g} rows a second were assumed")
    return np.arange(len(values)) / NO_CLOCK, values, seen


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
