"""The `.understudy` file, and NumPy archives from elsewhere.

**`.understudy`**: a JSON header and arrays, in a zip. `header.json` names the format and its version; every array is an
.npy member. Nothing is pickled. Members are stored as they are, so that 15 MB are read in the time of a copy, or
deflated where a writer asks for a small file. Version 2 adds packed arrays; files of version 1 are read as before.

**Packed arrays** hold motion, frames x columns, in two bytes a number: 65,535 steps from the least value of a column to
its greatest. Motion is smooth, so second differences in time are small; their low and high bytes apart, deflated, are a
twelfth of the float32 frames. A value is off by half a step at most, and packing what was unpacked changes nothing.

**Archives** (.npz) are a zip of .npy members, each a short header (type and shape) and raw numbers. A zip may claim any
size and unpack to a thousand times its own, so the header, the zip's directory and the bounds below must agree before
data is read. A file from elsewhere is never trusted: nothing is unpickled, sizes are known before memory is allocated
(`Archive`), and arrays are checked against a declaration (`Field`, `check_arrays`).
"""

from __future__ import annotations

import json
import math
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import numpy as np

from understudy import checks, files
from understudy.checks import Array, freeze
from understudy.errors import BadFile, InvalidInput

FORMAT = "understudy"
FORMAT_VERSION = 2
HEADER = "header.json"
CHARACTER_KIND = "character"  # of a character with a deformer (`understudy.deform.character_file`)
MEMBER_DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that equal content gives equal files
NOT_OURS = "is not an understudy file, or is cut short"

MAX_HEADER_BYTES = 64 << 20  # 10,000 controls are half a megabyte
MAX_ARRAYS_BYTES = 4 << 30  # of all arrays read from one file
MAX_ARRAY_HEADER_BYTES = 10_000  # that of a plain array has 118
MAX_MEMBERS = 10_000
MAX_COMPRESSION_RATIO = 200  # repetitive animation has about 50
UNCHECKED_RATIO_BYTES = 1 << 28  # unpacked size up to which any ratio is allowed
PACKED_STEPS = 65_535  # from the least value of a column to its greatest
DEFLATE_LEVEL = 9

DAMAGE_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    SyntaxError,
    tokenize.TokenError,
    NotImplementedError,  # a compression method that Python does not know
    RuntimeError,  # locked with a password
    OverflowError,
    MemoryError,
    RecursionError,
)


class Field(NamedTuple):
    """Declaration of an array: the kind of its numbers (`f`, `i`, `b`, `u`) and its shape, letters for free sizes."""

    kind: str
    shape: tuple[int | str, ...]


def write(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Array], compressed: bool = False) -> None:
    """Write a header of plain values and arrays by name, atomically; `compressed` deflates every member."""
    text = json.dumps({**header, "format": FORMAT, "version": FORMAT_VERSION}, ensure_ascii=False, allow_nan=False)
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with files.write_atomically(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, MEMBER_DATE), text.encode(), method, DEFLATE_LEVEL)
        for name, value in arrays.items():
            value = np.asarray(value)
            if value.dtype.hasobject:
                raise InvalidInput(f"the array {name!r} should hold plain numbers, but holds objects")
            member = BytesIO()
            np.lib.format.write_array(member, np.asarray(value, order="C"), version=(1, 0), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", MEMBER_DATE)
            archive.writestr(info, member.getbuffer(), method, DEFLATE_LEVEL)


def pack_frames(frames: Array) -> dict[str, Array]:
    """The arrays of packed frames (N, E): the `range` (2, E) of their columns, and `codes` (2, E, N) for deflating.

    Frames should be finite. `unpack_frames` returns them as float32, each off by half a step at most.
    """
    low, step, high = _packing(np.asarray(frames, np.float32))
    codes = np.rint((frames - low) / step).astype(np.uint16).T
    for _ in range(2):  # modulo 65,536
        codes = np.diff(codes, axis=1, prepend=np.zeros((len(codes), 1), np.uint16))
    planes = np.stack([codes & 0xFF, codes >> 8]).astype(np.uint8)
    return {"range": np.stack([low, high]).astype(np.float32), "codes": planes}


def unpack_frames(arrays: Mapping[str, Array]) -> Array:
    """The frames (N, E), float32, of arrays that `pack_frames` made; `InvalidInput` where they do not fit."""
    ends = checks.array(arrays["range"], "range of packed frames", (2, "E"), np.float32)
    planes = arrays["codes"]
    if planes.dtype != np.uint8 or planes.ndim != 3 or planes.shape[:2] != ends.shape:
        raise InvalidInput(f"packed frames should be bytes {(*ends.shape, 'N')}, but are {planes.dtype} {planes.shape}")
    codes = planes[0] | planes[1].astype(np.uint16) << 8
    for _ in range(2):
        codes = np.cumsum(codes, axis=1, dtype=np.uint16)
    low, step, _ = _packing(ends)
    return freeze(np.ascontiguousarray((low[:, None] + step[:, None] * codes).T, np.float32))


def _packing(frames: Array) -> tuple[Array, Array, Array]:
    """(E,) the least value, the step and the greatest value of columns (N, E); 1 is the step of a constant column."""
    low, high = (end.astype(np.float64) for end in (frames.min(axis=0), frames.max(axis=0)))
    return low, np.where(high > low, (high - low) / PACKED_STEPS, 1.0), high


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the read-only arrays of a file that `write` wrote; `BadFile` for any other."""
    header = read_header(path)
    with Archive(path) as archive:
        return header, {name: freeze(archive.read(name)) for name in archive.names}


def read_header(path: str | Path) -> dict[str, Any]:
    """The header alone, without `format` and `version`, which are checked here."""
    path = Path(path)
    if path.is_dir():
        raise BadFile(path, "is a folder, but a file was expected")
    if not path.is_file():
        raise BadFile(path, "there is no such file")
    try:
        with zipfile.ZipFile(path) as archive:
            size = archive.getinfo(HEADER).file_size
            if size > MAX_HEADER_BYTES:
                raise BadFile(path, f"has a header of {size:,} bytes, but at most {MAX_HEADER_BYTES:,} are read")
            text = archive.read(HEADER)
            header = json.loads(text, parse_float=_finite, parse_int=_finite_integer, parse_constant=_finite)
    except BadFile:
        raise
    except DAMAGE_ERRORS:  # the directory of a zip is at its end: without it no member can be found
        raise BadFile(path, NOT_OURS) from None
    if not isinstance(header, dict) or header.pop("format", None) != FORMAT:
        raise BadFile(path, NOT_OURS)
    version = header.pop("version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise BadFile(path, f"should have a version of 1 to {FORMAT_VERSION}, but has {version!r}")
    if version > FORMAT_VERSION:
        raise BadFile(
            path, f"was written by a newer understudy (version {version}; this one reads up to {FORMAT_VERSION})"
        )
    return header


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} is not finite")
    return number


def _finite_integer(text: str) -> int:
    _finite(text)
    return int(text)


def holds_character(path: str | Path) -> bool:
    """Whether a file holds a character with its deformer; other files of this ending hold something learnt."""
    try:
        return read_header(path).get("kind") == CHARACTER_KIND
    except BadFile:
        return False


def check_arrays(
    path: str | Path, arrays: Mapping[str, Array], fields: Mapping[str, Field], sizes: Mapping[str, int] | None = None
) -> dict[str, Array]:
    """The arrays that `fields` declares, each of its kind and shape, floats finite; else `BadFile`.

    A letter in a shape stands for the same size in all arrays of the call; `sizes` gives those that are known before.
    """
    letters = dict(sizes or {})
    checked = {}
    for name, (kind, shape) in fields.items():
        if name not in arrays:
            raise BadFile(path, f"should have the array {name!r}, but has not")
        value = arrays[name]
        if value.dtype.kind != kind:
            raise BadFile(path, f"the array {name!r} should hold numbers of kind {kind!r}, but holds {value.dtype}")
        wanted = [size if isinstance(size, int) else letters.get(size) for size in shape]
        if value.ndim != len(shape) or any(w is not None and w != have for w, have in zip(wanted, value.shape)):
            known = ", ".join(letter if size is None else str(size) for letter, size in zip(map(str, shape), wanted))
            raise BadFile(path, f"the array {name!r} should have shape ({known}), but has {value.shape}")
        for letter, size in zip(shape, value.shape):
            if isinstance(letter, str) and letters.setdefault(letter, size) != size:
                raise BadFile(path, f"the array {name!r} should have one size for {letter}, but has {value.shape}")
        if kind == "f" and not np.isfinite(value).all():
            raise BadFile(path, f"the array {name!r} should be finite, but is not")
        checked[name] = value
    return checked


class Archive:
    """An opened .npz; `names` are those of its arrays."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise BadFile(path, "there is no such file")
        try:
            self._zip = zipfile.ZipFile(self.path)
            members = self._zip.infolist()
        except DAMAGE_ERRORS as error:
            raise BadFile(path, f"is not a sound NumPy archive ({error})") from None
        if len(members) > MAX_MEMBERS:
            self._zip.close()
            raise BadFile(path, f"has {len(members)} members, but at most {MAX_MEMBERS} are read")
        self._members = {m.filename.removesuffix(".npy"): m for m in members if m.filename.endswith(".npy")}
        self.names = tuple(self._members)
        self._taken = 0

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._zip.close()

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def read(self, name: str, first: int | None = None) -> Array:
        """The array of that name, or its `first` entries along the first axis."""
        member = self._members[name]
        try:
            with self._zip.open(member) as stream:
                shape, fortran, dtype = _header(stream)
                self._check(name, member, shape, dtype)
                if first is not None and shape and not fortran:
                    shape = (min(first, shape[0]), *shape[1:])
                size = math.prod(shape) * dtype.itemsize
                self._charge(name, size)
                data = stream.read(size)
            if len(data) != size:
                raise BadFile(self.path, f"the array {name!r} ends after {len(data):,} of {size:,} bytes")
            flat = np.frombuffer(data, dtype) if size else np.zeros(math.prod(shape), dtype)
            array = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
            return array[:first] if first is not None and array.ndim else array
        except BadFile:
            raise
        except DAMAGE_ERRORS as error:
            raise BadFile(self.path, f"the array {name!r} cannot be read ({error})") from None

    def _check(self, name: str, member: zipfile.ZipInfo, shape: tuple[int, ...], dtype: Any) -> None:
        if dtype.hasobject or dtype.kind not in "biufUS":
            raise BadFile(self.path, f"the array {name!r} should hold plain numbers or text, but holds {dtype}")
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or len(shape) > 8 or size > member.file_size:
            raise BadFile(
                self.path, f"the array {name!r} claims {size:,} bytes {shape}, but holds {member.file_size:,}"
            )

    def _charge(self, name: str, size: int) -> None:
        self._taken += size
        most = min(MAX_ARRAYS_BYTES, max(UNCHECKED_RATIO_BYTES, MAX_COMPRESSION_RATIO * self.path.stat().st_size))
        if self._taken > most:
            raise BadFile(self.path, f"unpacks to more than {most:,} bytes with the array {name!r}")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream, max_header_size=MAX_ARRAY_HEADER_BYTES)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(stream, max_header_size=MAX_ARRAY_HEADER_BYTES)
    raise ValueError(f"unknown version {version} of the array format")
