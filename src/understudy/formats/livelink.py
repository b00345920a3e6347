"""ARKit face capture as a table: Live Link Face's CSV, and other tables that have the ARKit weights as columns.

Live Link writes a row a frame: a timecode HH:MM:SS:FF.fff, the number of columns that follow, 52 weights, and nine
angles of head and eyes in radians. Rows are missing where the telephone was busy, and empty where it lost the face;
both are interpolated between their neighbours, so that the clip has a fixed rate. `write` writes the weights, head and
eye angles of one animation in the same form.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np

from understudy import files
from understudy.character import Asset, Channel, Clip, Curves
from understudy.checks import Array
from understudy.errors import BadFile, Unsupported
from understudy.formats import conventions
from understudy.formats.arkit_names import ANGLE_NAMES, SHAPE_NAMES, canonical_name

__all__ = ["read", "write"]

MAX_CSV_BYTES = 128 << 20  # bytes: three quarters of an hour at 60 frames a second
MIN_ARKIT_NAMES = 10  # of the 52; a table without timecodes and with fewer is something else
CLOCK_COLUMNS = ("timestamp", "time", "seconds", "timeseconds")  # titles, in lower case
DEFAULT_FRAME_RATE = 30.0  # frames a second, of tables without a clock
CAMERA_FRAME_RATES = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 100.0, 120.0)  # frames a second

TIMECODE_PATTERN = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})[:;](\d{1,3}(?:\.\d{0,12})?)")
TIMECODE_BASE = 60  # frames a second in Live Link's timecodes, at any rate of the camera
TIMECODE_BASES = (24, 25, 30, 48, 50, 60, 120)  # frames a second
DAY_SECONDS = 86400.0
# Filling a gap invents motion. Ten minutes at 60 frames a second is longer than any pause; more is a broken clock.
MAX_GAP_FRAMES = 36_000
MAX_FILLED_FRAMES_PER_ROW = 10  # of all gaps together


def read(path: str | Path) -> Asset:
    """The weights and angles of a face as one clip."""
    path = Path(path)
    header, rows, lines = _table(path)
    columns: dict[str, int] = {}
    for number, title in enumerate(header):
        name = canonical_name(title)
        if name is not None:
            columns.setdefault(name, number)
    weights = [name for name in SHAPE_NAMES if name in columns]
    angles = [name for name in ANGLE_NAMES if name in columns]
    plain = [title.lower() for title in header]
    if not weights or ("timecode" not in plain and len(weights) < MIN_ARKIT_NAMES):
        titles = ", ".join(repr(title[:30]) for title in header[:6])
        raise Unsupported(
            path, f"is a table of {titles} ...; the ARKit weights (eyeBlinkLeft, jawOpen, ...) were expected"
        )
    notes: list[str] = []
    if len(weights) < len(SHAPE_NAMES):
        absent = [name for name in SHAPE_NAMES if name not in columns]
        notes.append(f"{len(absent)} of the 52 ARKit weights are absent, {absent[0]} first")
    others = len(header) - len(columns) - sum(title in ("timecode", "blendshapecount") for title in plain)
    if others > 0:
        notes.append(f"{others} other columns were left out")

    values, seen = _cell_values(rows, lines, [columns[name] for name in weights + angles], path)
    if "timecode" in plain:
        times = _timecodes(rows, lines, plain.index("timecode"), path, notes)
    else:
        times, values, seen = _other_clock(rows, plain, values, seen, notes)
    if not seen.all():
        notes.append(f"{int((~seen).sum())} rows have no face: they were filled in between their neighbours")
    filled, rate = resample_uniformly(times[seen], values[seen], notes, times)
    channels = [Channel("", "weights", tuple(weights))]
    if angles:
        channels.append(Channel("", "controls", tuple(angles)))
    return Asset(clips=[Clip(path.stem, channels, filled, rate)], notes=notes)


def _table(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Column titles, rows of cells, and the line of each row."""
    text = files.read_text(path, MAX_CSV_BYTES)
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


def _cell_values(rows: list[list[str]], lines: list[int], columns: list[int], path: Path) -> tuple[Array, Array]:
    """(F, n) the cells of the wanted columns, and (F,) whether the row has them all."""
    last = max(columns)
    seen = np.ones(len(rows), bool)
    texts = [""] * lines[-1]  # one for each line of the file, so that errors name the right line
    for number, row in enumerate(rows):
        cells = [row[column].strip() for column in columns] if len(row) > last else [""]
        if all(cell and cell.lower() not in ("nan", "na") for cell in cells):
            texts[lines[number] - 1] = " ".join(cells)
        else:
            seen[number] = False
    if not seen.any():
        raise BadFile(path, f"no row has a number in all of its {len(columns)} face columns")
    flat = conventions.parse_numbers("\n".join(texts).encode("utf-8", "replace"), path)
    if flat.size != seen.sum() * len(columns):
        raise BadFile(path, "some cell holds more than one number")
    values = np.zeros((len(rows), len(columns)))
    values[seen] = flat.reshape(-1, len(columns))
    return values, seen


def _timecodes(rows: list[list[str]], lines: list[int], column: int, path: Path, notes: list[str]) -> Array:
    cells = [row[column] if len(row) > column else "" for row in rows]
    times = seconds_from_timecodes(cells, lines, path)
    notes.append(f"the take begins at timecode {cells[0].strip()}: the clip begins at 0 s")
    return times


def _other_clock(
    rows: list[list[str]], titles: list[str], values: Array, seen: Array, notes: list[str]
) -> tuple[Array, Array, Array]:
    """Times of a table without timecodes: a column of seconds that increase, else one row after the other."""
    for title in CLOCK_COLUMNS:
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
    notes.append(f"the table has no clock: {DEFAULT_FRAME_RATE:g} rows a second were assumed")
    return np.arange(len(values)) / DEFAULT_FRAME_RATE, values, seen


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan


def seconds_from_timecodes(cells: list[str], lines: list[int], path: str | Path) -> Array:
    """(F,) seconds from the first row on, increasing; also over midnight."""
    parts = np.empty((len(cells), 4))
    for number, cell in enumerate(cells):
        match = TIMECODE_PATTERN.fullmatch(cell.strip())
        if match is None:
            reason = f"a timecode such as 13:04:05:31.652 was expected, but {cell[:40]!r} was found"
            raise BadFile(path, reason, f"line {lines[number]}")
        parts[number] = [float(part) for part in match.groups()]
    times = parts[:, :3] @ [3600.0, 60.0, 1.0] + parts[:, 3] / _timecode_base(parts)
    steps = np.diff(times)
    midnight = steps < -0.5 * DAY_SECONDS
    times[1:] += DAY_SECONDS * np.cumsum(midnight)
    back = np.flatnonzero(np.diff(times) < 0)
    if back.size:
        raise BadFile(path, "the timecode goes back", f"line {lines[int(back[0]) + 1]}")
    return times - times[0]


def _timecode_base(parts: Array) -> int:
    """The frames a second that the last of (F, 4) parts counts: the base that makes the steps most even.

    Nearly always 60. A recording of a second or more that never comes near frame 60 may have another base.
    """
    highest, whole = parts[:, 3].max(), parts[:, :3] @ [3600.0, 60.0, 1.0]
    if highest >= 0.9 * TIMECODE_BASE or len(parts) < 24:
        return TIMECODE_BASE
    unevenness = {b: np.abs(np.diff(whole + parts[:, 3] / b, 2)).sum() for b in TIMECODE_BASES if b > highest}
    best = min(unevenness, key=lambda base: unevenness[base])
    return best if unevenness[best] < 0.5 * unevenness[TIMECODE_BASE] else TIMECODE_BASE


def resample_uniformly(
    times: Array, values: Array, notes: list[str], clock: Array | None = None
) -> tuple[Array, float]:
    """Rows at times (F,) increasing, values (F, C), as frames of a fixed rate, and the rate. `clock` (N,) are the times
    of all rows, also of those that have no values, from which the rate is taken.

    Where steps are whole multiples of the usual one, rows keep their values and only the gaps are filled in, linearly.
    Otherwise all frames are interpolated.
    """
    kept = np.concatenate([[True], np.diff(times) > 0])
    if not kept.all():
        notes.append(f"{int((~kept).sum())} rows repeat a time and were left out")
        times, values = times[kept], values[kept]
    if len(times) == 1:
        return values, DEFAULT_FRAME_RATE
    steps = np.diff(times if clock is None else clock)
    step = float(np.median(steps[steps > 0]))
    rate = _snap_rate(1 / step)
    gaps = np.diff(times) * rate
    # a quarter of a frame: clocks of telephones drift by a hundredth, and half a frame could round either way
    steady = np.abs(gaps - np.round(gaps)) < 0.25
    if gaps.max() > MAX_GAP_FRAMES or gaps.sum() > MAX_FILLED_FRAMES_PER_ROW * len(times) + MAX_GAP_FRAMES:
        gap = min(float(gaps.max()), 1e12)
        notes.append(f"pauses of up to {gap / rate:.3g} s were cut out: rows follow each other at {rate:g} a second")
        return values, rate
    if steady.all() and np.round(gaps).min() >= 1:
        place = np.concatenate([[0], np.cumsum(np.round(gaps))]).astype(np.int64)
        missing = int(place[-1] + 1 - len(place))
        if missing:
            notes.append(
                f"{missing} of {place[-1] + 1} frames are missing: they were filled in between their neighbours"
            )
        return _interpolate_rows(np.arange(place[-1] + 1), place, values), rate
    frames = int(np.floor((times[-1] - times[0]) * rate + 1e-6)) + 1
    uneven = int((~steady).sum())
    notes.append(f"{uneven} of {len(gaps)} steps are uneven: all frames were resampled at {rate:g} a second")
    return _interpolate_rows(times[0] + np.arange(frames) / rate, times, values), rate


def _interpolate_rows(wanted: Array, known: Array, values: Array) -> Array:
    left = np.clip(np.searchsorted(known, wanted, side="right") - 1, 0, len(known) - 2)
    share = (wanted - known[left]) / (known[left + 1] - known[left])
    share = np.clip(share, 0, 1)[:, None]
    return (1 - share) * values[left] + share * values[left + 1]


def _snap_rate(rate: float) -> float:
    """A camera's rate within 1 %, the error of telephone clocks and printed timecodes; else the rate itself."""
    near = min(CAMERA_FRAME_RATES, key=lambda usual: abs(usual - rate))
    if abs(near / rate - 1) < 0.01:
        return near
    return float(round(rate)) if rate > 1 and abs(round(rate) / rate - 1) < 1e-3 else min(rate, 1e6)


def write(asset: Asset, path: str | Path) -> list[str]:
    """Write the first animation that has ARKit weights; returns what the format could not hold."""
    notes: list[str] = []
    animation = next((a for a in asset.animations if _columns(a)), None)
    if animation is None:
        raise Unsupported(path, "Live Link CSV holds ARKit weights (eyeBlinkLeft, jawOpen, ...), but there are none")
    if len(asset.animations) > 1:
        notes.append(f"Live Link CSV holds one animation: {animation.name!r} was written, the others not")
    if asset.characters:
        notes.append("Live Link CSV holds no characters")
    clip = animation.clip() if isinstance(animation, Curves) else animation
    columns = _columns(clip)
    missing = [name for name in SHAPE_NAMES if name not in columns]
    if missing:
        notes.append(f"{len(missing)} of the 52 ARKit weights are absent and were written as 0, {missing[0]} first")
    lost = clip.channels.width - sum(len(places) for places in columns.values())
    if lost:
        notes.append(f"{lost} columns are no ARKit weights, head or eye angles, and were left out")
    titles = [*(name[0].upper() + name[1:] for name in SHAPE_NAMES), *ANGLE_NAMES]
    values = _clip_values(clip, columns, notes)
    row = ",".join(["%.10f"] * len(titles))
    lines = [",".join(["Timecode", "BlendShapeCount", *titles])]
    lines += [
        f"{format_timecode(time)},{len(titles)},{row % tuple(frame)}"
        for time, frame in zip(clip.times.tolist(), values.tolist())
    ]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return notes


def _columns(animation: Clip | Curves) -> dict[str, list[int]]:
    """The columns of an animation that the format holds, by canonical name; none without ARKit weights."""
    columns: dict[str, list[int]] = {}
    kinds = {"weights": set(SHAPE_NAMES), "controls": set(ANGLE_NAMES)}
    for channel, start in zip(animation.channels, animation.channels.offsets.tolist()):
        for column, title in enumerate(channel.columns, start):
            name = canonical_name(title)
            if name is not None and name in kinds.get(channel.kind, ()):
                columns.setdefault(name, []).append(column)
    return columns if columns.keys() & set(SHAPE_NAMES) else {}


def _clip_values(clip: Clip, columns: dict[str, list[int]], notes: list[str]) -> Array:
    """(F, 61) in the order of the format; of several parts with the same weight the first is taken."""
    values = np.zeros((len(clip), len(SHAPE_NAMES) + len(ANGLE_NAMES)))
    differ = 0
    for number, name in enumerate((*SHAPE_NAMES, *ANGLE_NAMES)):
        sources = clip.values[:, columns.get(name, [])]
        if sources.shape[1]:
            values[:, number] = sources[:, 0]
            differ += int(not np.allclose(sources, sources[:, :1]))
    if differ:
        notes.append(f"{differ} weights differ between parts of the character: those of the first part were written")
    return np.round(values, 10) + 0.0


def format_timecode(time: float, base: int = TIMECODE_BASE) -> str:
    """The timecode of a time in seconds, to a thousandth of a frame."""
    count = round(time * base * 1000) % round(DAY_SECONDS * base * 1000)
    frames, thousandths = divmod(count, 1000)
    whole, frame = divmod(frames, base)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}:{frame:02d}.{thousandths:03d}"
