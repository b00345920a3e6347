"""C3D: markers of an optical capture, as a clip with one channel a marker.

Positions come out in metres and, where the file says which axis of the laboratory points up on the screen, with Y up. A
marker that was not seen is NaN. Analog channels (force plates, muscles) are left out.

**The bytes** (`parse`). A file is made of blocks of 512 bytes. The first is the header; parameters are records in
groups (POINT:LABELS); then each frame holds x, y, z and a residual for every marker, and the analog samples. Numbers
are those of the processor that wrote them: Intel, DEC (whose floats have their halves swapped and are four times too
large), or MIPS (big-endian). Positions are 16-bit integers times a scale, or floats where the scale is negative.

This reader exists beside ezc3d because files are not trusted: of sixty damaged files two crashed the interpreter inside
ezc3d 1.7, and two asked for all memory; it also refuses a sound file whose ANALOG:OFFSET is a float. The tests compare
with ezc3d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Asset, Channel, Clip
from understudy.checks import Array
from understudy.errors import BadFile, Unsupported
from understudy.formats.conventions import make_distinct

MAX_C3D_BYTES = 256 << 20  # bytes: an hour of a hundred markers at 100 frames a second has 230 million
MAX_PARAMETERS = 20_000
MAX_FRAME_RATE = 20_000.0  # frames a second; the fastest cameras in use reach a tenth of that
MAX_POSITION_METRES = 1e6  # metres; a coordinate beyond it is damage

BLOCK_BYTES = 512  # bytes
C3D_MAGIC = 0x50
PROCESSOR_NAMES = {84: "Intel", 85: "DEC", 86: "MIPS"}
EVENT_LABELS_KEY = 12345  # header value that says that the events in the header have labels
METRES_PER_UNIT = {"mm": 0.001, "cm": 0.01, "m": 1.0, "dm": 0.1, "in": 0.0254, "inch": 0.0254, "ft": 0.3048, "um": 1e-6}
# POINT parameters that list results of a gait model: stored among the markers, but not positions.
MODEL_RESULT_GROUPS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")


@dataclass
class NumberCodec:
    """Decodes the numbers of one kind of processor."""

    processor: str

    @property
    def order(self) -> str:
        """The byte order, as NumPy spells it."""
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
    analog: int  # analog samples a frame, which are left out
    parameters: dict[str, dict[str, Any]]
    events: list[tuple[str, float]]
    notes: list[str] = field(default_factory=list)

    def text(self, group: str, name: str) -> str:
        """The (first) text of a parameter, "" where it is absent."""
        value = self.parameters.get(group, {}).get(name, "")
        value = value[0] if isinstance(value, list) and value else value
        return value if isinstance(value, str) else ""


def read(path: str | Path) -> Asset:
    """The markers of a C3D file."""
    path = Path(path)
    content = parse(files.read_bytes(path, MAX_C3D_BYTES), path)
    notes = content.notes
    if not 0 < content.rate <= MAX_FRAME_RATE:
        raise BadFile(
            path, f"the rate should be above 0 and at most {MAX_FRAME_RATE:g} frames a second, but is {content.rate:g}"
        )
    labels = _marker_labels(content, notes)
    kept = _marker_indices(content, notes)
    if not kept:
        raise Unsupported(path, "holds results of a model only, and no markers")
    positions = content.points[:, kept] * _metres(content, notes)
    with np.errstate(invalid="ignore"):
        absurd = (np.abs(positions) > MAX_POSITION_METRES).any(axis=2)
    if absurd.any():
        notes.append(f"{int(absurd.sum())} positions are infinite or absurd: taken as not seen")
    positions[absurd | np.isnan(positions).any(axis=2)] = np.nan
    positions = _turn_y_up(content, positions, notes)
    _note_omissions(content, notes)
    channels = [Channel(labels[i], "marker") for i in kept]
    start = (content.first_frame - 1) / content.rate if content.first_frame > 1 else 0.0
    clip = Clip(path.stem, channels, positions.reshape(len(positions), -1), content.rate, start)
    return Asset(clips=[clip], notes=notes)


def _marker_labels(content: C3dFile, notes: list[str]) -> tuple[str, ...]:
    labels = [" ".join(label.replace("\0", " ").split()) for label in content.labels]
    prefixes = {label.partition(":")[0] for label in labels if label}
    if len(prefixes) == 1 and all(":" in label for label in labels if label):
        prefix = prefixes.pop()
        notes.append(f"the subject {prefix!r} was taken off the markers' names")
        labels = [label.partition(":")[2].strip() for label in labels]
    return make_distinct(labels, "marker", notes)


def _marker_indices(content: C3dFile, notes: list[str]) -> list[int]:
    """The numbers of the points that are positions."""
    group = content.parameters.get("POINT", {})
    others = {name: set(group[name]) for name in MODEL_RESULT_GROUPS if isinstance(group.get(name), list)}
    kept = []
    for number, label in enumerate(content.labels):
        if not any(label in names for names in others.values() if label):
            kept.append(number)
    if len(kept) < len(content.labels):
        notes.append(
            f"{len(content.labels) - len(kept)} results of a model (angles, forces and the like) were left out"
        )
    return kept


def _metres(content: C3dFile, notes: list[str]) -> float:
    unit = content.text("POINT", "UNITS").lower().strip(". ")
    if unit in METRES_PER_UNIT:
        return METRES_PER_UNIT[unit]
    notes.append(
        f"the unit {unit[:20]!r} is unknown: millimetres were assumed" if unit else "no unit: millimetres were assumed"
    )
    return METRES_PER_UNIT["mm"]


def _turn_y_up(content: C3dFile, positions: Array, notes: list[str]) -> Array:
    """Rotate so that the laboratory axis that points up on the screen becomes Y, and the one to the right X."""
    right, up = (_axis(content.text("POINT", name)) for name in ("X_SCREEN", "Y_SCREEN"))
    if up is None:
        notes.append("the file does not say which way is up: axes were kept as they are")
        return positions
    if right is None or abs(right @ up) > 0:
        right = np.eye(3)[1 if up[0] else 0]
    turn = np.stack([right, up, np.cross(right, up)])
    if not np.array_equal(turn, np.eye(3)):
        up_name = content.text("POINT", "Y_SCREEN")
        notes.append(f"up is {up_name} in the file: axes were turned to Y up, +X_SCREEN to the right")
    return positions @ turn.T


def _axis(text: str) -> Array | None:
    """The direction that a name such as +X or -z stands for."""
    sign = -1.0 if text.startswith("-") else 1.0
    letter = text.lstrip("+- ").upper()
    return sign * np.eye(3)["XYZ".index(letter)] if len(letter) == 1 and letter in "XYZ" else None


def _note_omissions(content: C3dFile, notes: list[str]) -> None:
    if content.analog:
        notes.append(f"analog samples ({content.analog} a frame) were left out")
    if content.events:
        shown = ", ".join(f"{name or 'unnamed'} at {time:.3g} s" for name, time in content.events[:8])
        notes.append(f"events: {shown}{' and more' if len(content.events) > 8 else ''}")
    unseen = np.isnan(content.points).any(axis=2)
    if unseen.any():
        share = 100 * unseen.mean()
        notes.append(f"markers are not seen in {share:.3g} % of the frames ({int(unseen.any(axis=0).sum())} markers)")


def parse(data: bytes, path: str | Path) -> C3dFile:
    """Read a whole file; the sizes that it claims are compared with its bytes before memory is taken."""
    if len(data) < 2 * BLOCK_BYTES or data[1] != C3D_MAGIC or data[0] < 2:
        raise BadFile(
            path, "is not a C3D file: it should have at least two blocks and begin with a block number and 80"
        )
    start = (data[0] - 1) * BLOCK_BYTES
    if start + 4 > len(data):
        raise BadFile(path, f"the parameters should begin at byte {start:,}, but the file has {len(data):,} bytes")
    notes: list[str] = []
    processor = PROCESSOR_NAMES.get(data[start + 3])
    if processor is None:
        notes.append(f"the processor {data[start + 3]} is unknown: Intel was assumed")
    codec = NumberCodec(processor or "Intel")
    parameters = _parameters(data, start + 4, codec, notes)
    return _frames(data, path, codec, parameters, start, notes)


def _parameters(data: bytes, position: int, codec: NumberCodec, notes: list[str]) -> dict[str, dict[str, Any]]:
    groups: dict[int, str] = {}
    records: dict[int, dict[str, Any]] = {}
    for _ in range(MAX_PARAMETERS):
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
                records.setdefault(number, {})[name] = value
        if step <= 0:
            break
        position = name_end + step
    return {groups.get(number, str(number)): values for number, values in records.items()}


def _value(record: bytes, codec: NumberCodec) -> Any:
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
    data: bytes,
    path: str | Path,
    codec: NumberCodec,
    parameters: dict[str, dict[str, Any]],
    start: int,
    notes: list[str],
) -> C3dFile:
    # word w of the format's manual is header[w - 1]
    header = codec.integers(data[:BLOCK_BYTES]).astype(np.int64) & 0xFFFF
    scale, header_rate = (float(codec.floats(data[at : at + 4])[0]) for at in (12, 20))
    if not math.isfinite(scale) or scale == 0:
        scale = _number(parameters, "POINT", "SCALE")
        notes.append("the header has no scale: that of the parameters was taken")
    if not math.isfinite(scale) or scale == 0:
        raise BadFile(path, "the scale should be a number other than 0, but neither header nor POINT:SCALE says one")
    points = _header_value("markers", int(header[1]), _number(parameters, "POINT", "USED"), notes)
    analog = int(header[2])
    if points == 0:
        raise BadFile(path, "holds no markers")
    real = scale < 0
    frame_size = (4 * points + analog) * (4 if real else 2)
    first_block = _data_start(
        int(header[8]), _number(parameters, "POINT", "DATA_START"), notes
    ) or _block_after_parameters(data, start)
    begin = (first_block - 1) * BLOCK_BYTES
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
    labels = _point_labels(parameters.get("POINT", {}), points)
    return C3dFile(positions, labels, rate, int(header[3]), analog, parameters, _events(data, codec, parameters), notes)


def _header_value(noun: str, header: int, parameter: float, notes: list[str]) -> int:
    if math.isfinite(parameter) and int(parameter) != header:
        notes.append(f"the header says {header} {noun}, the parameters {parameter:g}: the header was believed")
    return header


def _data_start(header: int, parameter: float, notes: list[str]) -> int:
    """The block where frames begin, or 0. The header has precedence, as in every other reader."""
    known = int(parameter) if math.isfinite(parameter) else 0
    if header and not known:
        notes.append("POINT:DATA_START is 0 or absent: the header's was taken")
    elif header != known:
        notes.append(f"frames begin at block {header} by the header, at {known} by the parameters")
    return header if header > 1 else known


def _block_after_parameters(data: bytes, start: int) -> int:
    """The first block behind the parameters."""
    return start // BLOCK_BYTES + 1 + max(data[start + 2], 1)


def _frame_count(
    header: Array, parameters: dict[str, dict[str, Any]], available: int, path: str | Path, notes: list[str]
) -> int:
    """How many frames to read: the first count claimed by parameters and header that the file can hold."""
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
    """The number of frames by TRIAL, which counts beyond 65,535 in two words; NaN where it is absent."""
    ends = [parameters.get("TRIAL", {}).get(f"ACTUAL_{end}_FIELD") for end in ("START", "END")]
    words = [np.asarray(e).astype(np.int64) & 0xFFFF for e in ends if isinstance(e, np.ndarray) and e.dtype.kind == "i"]
    if len(words) != 2 or any(word.size < 2 for word in words):
        return math.nan
    first, last = (int(word[0] + (word[1] << 16)) for word in words)
    return float(last - first + 1)


def _point_labels(group: dict[str, Any], points: int) -> list[str]:
    """POINT:LABELS, and LABELS2, LABELS3 and so on, which hold those beyond 255."""
    labels: list[str] = []
    for number in range(1, 300):
        more = group.get("LABELS" if number == 1 else f"LABELS{number}")
        if more is None:
            break
        labels += more if isinstance(more, list) else [more] if isinstance(more, str) else []
    return (labels + [""] * points)[:points]


def _events(data: bytes, codec: NumberCodec, parameters: dict[str, dict[str, Any]]) -> list[tuple[str, float]]:
    """Named moments, in seconds: those of the EVENT group, else those of the header."""
    group = parameters.get("EVENT", {})
    names, times = group.get("LABELS"), group.get("TIMES")
    if isinstance(names, list) and isinstance(times, np.ndarray) and times.size >= 2 * len(names):
        minutes = times.astype(np.float64)[: 2 * len(names)].reshape(-1, 2)
        moments = 60 * minutes[:, 0] + minutes[:, 1]
        contexts = group.get("CONTEXTS")
        contexts = contexts if isinstance(contexts, list) and len(contexts) == len(names) else [""] * len(names)
        return [(f"{c} {n}".strip(), float(t)) for c, n, t in zip(contexts, names, moments) if math.isfinite(t)]
    words = codec.integers(data[:BLOCK_BYTES]).tolist()
    count = min(max(words[150], 0), 18) if words[149] == EVENT_LABELS_KEY else 0
    moments = codec.floats(data[304 : 304 + 72]).astype(np.float64)[:count]
    header_names = [data[396 + 4 * i : 400 + 4 * i].decode("latin-1").strip("\0 ") for i in range(count)]
    return [(name, float(t)) for name, t in zip(header_names, moments) if math.isfinite(t)]
