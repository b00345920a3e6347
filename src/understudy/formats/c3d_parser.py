"""The bytes of a C3D file: header, parameters and marker positions, in the file's own units.

A file is made of blocks of 512 bytes. The first is the header; parameters are records in groups (POINT:LABELS); then
each frame holds x, y, z and a residual for every marker, and the analog samples. Numbers are those of the processor
that wrote them: Intel, DEC (whose floats have their halves swapped and are four times too large), or MIPS (big-endian).
Positions are 16-bit integers times a scale, or floats where the scale is negative.

This reader exists beside ezc3d because files are not trusted: of sixty damaged files two crashed the interpreter inside
ezc3d 1.7, and two asked for all memory; it also refuses a sound file whose ANALOG:OFFSET is a float. In the tests it is
the judge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile

BLOCK = 512
KEY = 0x50
PROCESSORS = {84: "Intel", 85: "DEC", 86: "MIPS"}
MOST_PARAMETERS = 20_000
EVENT_LABELS = 12345  # the key in the header that says that its events have labels


@dataclass
class Numbers:
    """How a processor writes numbers."""

    processor: str

    @property
    def order(self) -> str:
        return ">" if self.processor == "MIPS" else "<"

    def integers(self, data: bytes) -> Array:
        """16-bit integers (n,)."""
        return np.frombuffer(data, f"{self.order}i2")

    def floats(self, data: bytes) -> Array:
        """32-bit floats (n,)."""
        if self.processor != "DEC":
            return np.frombuffer(data, f"{self.order}f4")
        halves = np.frombuffer(data, "<u2").astype(np.uint32).reshape(-1, 2)
        with np.errstate(invalid="ignore", over="ignore"):
            return ((halves[:, 0] << 16) | halves[:, 1]).view(np.float32) / np.float32(4)


@dataclass
class C3dFile:
    """Markers (F, P, 3) in the file's unit, NaN where not seen; parameters by group and name, both upper case."""

    points: Array
    labels: list[str]
    rate: float
    first_frame: int
    analog: int  # channels left out
    parameters: dict[str, dict[str, Any]]
    events: list[tuple[str, float]]
    notes: list[str] = field(default_factory=list)

    def text(self, group: str, name: str) -> str:
        """The (first) text of a parameter, "" where it is absent."""
        value = self.parameters.get(group, {}).get(name, "")
        value = value[0] if isinstance(value, list) and value else value
        return value if isinstance(value, str) else ""


def parse(data: bytes, path: str | Path) -> C3dFile:
    """Read a whole file; what it claims is compared with what it holds before memory is taken."""
    if len(data) < 2 * BLOCK or data[1] != KEY or data[0] < 2:
        raise BadFile(
            path, "is not a C3D file: it should have at least two blocks and begin with a block number and 80"
        )
    start = (data[0] - 1) * BLOCK
    if start + 4 > len(data):
        raise BadFile(path, f"the parameters should begin at byte {start:,}, but the file has {len(data):,} bytes")
    notes: list[str] = []
    processor = PROCESSORS.get(data[start + 3])
    if processor is None:
        notes.append(f"the processor {data[start + 3]} is unknown: Intel was assumed")
    codec = Numbers(processor or "Intel")
    parameters = _parameters(data, start + 4, codec, notes)
    return _frames(data, path, codec, parameters, start, notes)


def _parameters(data: bytes, position: int, codec: Numbers, notes: list[str]) -> dict[str, dict[str, Any]]:
    groups: dict[int, str] = {}
    found: dict[int, dict[str, Any]] = {}
    for _ in range(MOST_PARAMETERS):
        if position + 2 > len(data):
            notes.append("the parameters end with the file")
            break
        length, number = np.frombuffer(data, np.int8, 2, position).tolist()
        name_end = position + 2 + abs(length)
        if length == 0 or name_end + 2 > len(data):
            break
        name = data[position + 2 : name_end].decode("latin-1").strip().upper()
        step = int(codec.integers(data[name_end : name_end + 2])[0])
        if number < 0:
            groups[-number] = name
        elif step:
            value = _value(data[name_end + 2 : name_end + step if step > 0 else None], codec)
            if value is None:
                notes.append(f"the parameter {name[:40]!r} is damaged and was left out")
            else:
                found.setdefault(number, {})[name] = value
        if step <= 0:
            break
        position = name_end + step
    return {groups.get(number, str(number)): values for number, values in found.items()}


def _value(record: bytes, codec: Numbers) -> Any:
    """The value of a parameter: texts as str or list, numbers as an array; None where the record does not hold it."""
    if len(record) < 2:
        return None
    kind, dimensions = np.frombuffer(record, np.int8, 1)[0], record[1]
    sizes = list(record[2 : 2 + dimensions])
    count, width = math.prod(sizes), abs(int(kind))
    content = record[2 + dimensions : 2 + dimensions + count * width]
    if width not in (1, 2, 4) or len(sizes) != dimensions or len(content) != count * width:
        return None
    if kind == -1:
        text = content.decode("latin-1")
        if dimensions < 2:
            return text.strip("\0 \t\r\n")
        size = sizes[0]
        return [text[i * size : (i + 1) * size].strip("\0 \t\r\n") for i in range(math.prod(sizes[1:]))]
    if width == 1:
        return np.frombuffer(content, np.uint8)
    return codec.integers(content) if width == 2 else codec.floats(content)


def _number(parameters: dict[str, dict[str, Any]], group: str, name: str) -> float:
    """The first number of a parameter, NaN where there is none; 16-bit counts are unsigned in practice."""
    value = parameters.get(group, {}).get(name)
    if not isinstance(value, np.ndarray) or not value.size:
        return math.nan
    first = value.flat[0]
    return float(int(first) & 0xFFFF) if value.dtype.itemsize == 2 else float(first)


def _frames(
    data: bytes, path: str | Path, codec: Numbers, parameters: dict[str, dict[str, Any]], start: int, notes: list[str]
) -> C3dFile:
    header = codec.integers(data[:BLOCK]).astype(np.int64) & 0xFFFF  # word w of the format's manual is header[w - 1]
    scale, header_rate = (float(codec.floats(data[at : at + 4])[0]) for at in (12, 20))
    if not math.isfinite(scale) or scale == 0:
        scale = _number(parameters, "POINT", "SCALE")
        notes.append("the header has no scale: that of the parameters was taken")
    if not math.isfinite(scale) or scale == 0:
        raise BadFile(path, "the scale should be a number other than 0, but neither header nor POINT:SCALE says one")
    points = _agreed("markers", int(header[1]), _number(parameters, "POINT", "USED"), notes)
    analog = int(header[2])
    if points == 0:
        raise BadFile(path, "holds no markers")
    real = scale < 0
    frame_size = (4 * points + analog) * (4 if real else 2)
    first_block = _data_start(int(header[8]), _number(parameters, "POINT", "DATA_START"), notes) or _after(data, start)
    begin = (first_block - 1) * BLOCK
    available = (len(data) - begin) // frame_size
    frames = _frame_count(header, parameters, available, path, notes)
    raw = np.frombuffer(data, np.uint8, frames * frame_size, begin).reshape(frames, frame_size)
    block = np.ascontiguousarray(raw[:, : points * (16 if real else 8)]).tobytes()
    values = (codec.floats(block) if real else codec.integers(block)).reshape(frames, points, 4)
    with np.errstate(invalid="ignore"):  # rubbish may hold NaNs that signal
        positions = values[..., :3].astype(np.float64)
        positions[values[..., 3] < 0] = np.nan
    if not real:
        positions *= scale
    rate = _number(parameters, "POINT", "RATE")
    rate = rate if math.isfinite(rate) and rate > 0 else header_rate
    labels = _labels(parameters.get("POINT", {}), points)
    return C3dFile(positions, labels, rate, int(header[3]), analog, parameters, _events(data, codec, parameters), notes)


def _agreed(noun: str, header: int, parameter: float, notes: list[str]) -> int:
    if math.isfinite(parameter) and int(parameter) != header:
        notes.append(f"the header says {header} {noun}, the parameters {parameter:g}: the header was believed")
    return header


def _data_start(header: int, parameter: float, notes: list[str]) -> int:
    """The block where frames begin, or 0; what the header says, since every other reader goes by it."""
    known = int(parameter) if math.isfinite(parameter) else 0
    if header and not known:
        notes.append("POINT:DATA_START is 0 or absent: the header's was taken")
    elif header != known:
        notes.append(f"frames begin at block {header} by the header, at {known} by the parameters")
    return header if header > 1 else known


def _after(data: bytes, start: int) -> int:
    """The first block behind the parameters."""
    return start // BLOCK + 1 + max(data[start + 2], 1)


def _frame_count(
    header: Array, parameters: dict[str, dict[str, Any]], available: int, path: str | Path, notes: list[str]
) -> int:
    """How many frames to read: of what header and parameters claim, the first that the file can hold."""
    claims = [_long_claim(parameters), int(header[4] - header[3]) + 1, _number(parameters, "POINT", "FRAMES")]
    sound = [int(claim) for claim in claims if math.isfinite(claim) and claim > 0]
    if available < 1:
        raise BadFile(path, "the frames should begin within the file, but it ends before the first")
    if not sound:
        notes.append(f"the number of frames is not said: all {available} were read")
        return available
    fitting = [claim for claim in sound if claim <= available]
    if fitting:
        if len(set(sound)) > 1:
            notes.append(f"{' or '.join(map(str, dict.fromkeys(sound)))} frames are claimed: {fitting[0]} were read")
        return fitting[0]
    if min(sound) > 10 * available + 1000:
        raise BadFile(path, f"claims {min(sound):,} frames, but holds {available:,}")
    notes.append(f"the file says {min(sound)} frames, but holds {available}, all of which were read")
    return available


def _long_claim(parameters: dict[str, dict[str, Any]]) -> float:
    """Takes of more than 65,535 frames count in two words each."""
    ends = [parameters.get("TRIAL", {}).get(f"ACTUAL_{end}_FIELD") for end in ("START", "END")]
    words = [np.asarray(e).astype(np.int64) & 0xFFFF for e in ends if isinstance(e, np.ndarray) and e.dtype.kind == "i"]
    if len(words) != 2 or any(word.size < 2 for word in words):
        return math.nan
    first, last = (int(word[0] + (word[1] << 16)) for word in words)
    return float(last - first + 1)


def _labels(group: dict[str, Any], points: int) -> list[str]:
    """POINT:LABELS, and LABELS2, LABELS3 and so on, which hold those beyond 255."""
    labels: list[str] = []
    for number in range(1, 300):
        more = group.get("LABELS" if number == 1 else f"LABELS{number}")
        if more is None:
            break
        labels += more if isinstance(more, list) else [more] if isinstance(more, str) else []
    return (labels + [""] * points)[:points]


def _events(data: bytes, codec: Numbers, parameters: dict[str, dict[str, Any]]) -> list[tuple[str, float]]:
    """Named moments, in seconds: those of the EVENT group, else those of the header."""
    group = parameters.get("EVENT", {})
    names, times = group.get("LABELS"), group.get("TIMES")
    if isinstance(names, list) and isinstance(times, np.ndarray) and times.size >= 2 * len(names):
        minutes = times.astype(np.float64)[: 2 * len(names)].reshape(-1, 2)
        moments = 60 * minutes[:, 0] + minutes[:, 1]
        contexts = group.get("CONTEXTS")
        contexts = contexts if isinstance(contexts, list) and len(contexts) == len(names) else [""] * len(names)
        return [(f"{c} {n}".strip(), float(t)) for c, n, t in zip(contexts, names, moments) if math.isfinite(t)]
    words = codec.integers(data[:BLOCK]).tolist()
    count = min(max(words[150], 0), 18) if words[149] == EVENT_LABELS else 0
    moments = codec.floats(data[304 : 304 + 72]).astype(np.float64)[:count]
    header_names = [data[396 + 4 * i : 400 + 4 * i].decode("latin-1").strip("\0 ") for i in range(count)]
    return [(name, float(t)) for name, t in zip(header_names, moments) if math.isfinite(t)]
