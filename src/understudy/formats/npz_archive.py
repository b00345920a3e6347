"""NumPy archives from elsewhere: never unpickled, and every array's size is known before memory is taken.

An .npz is a zip of .npy members, each a short header (type and shape) and raw numbers. A zip may claim any size and
unpack to a thousand times its own, so the header, the zip's directory and the bounds below must agree before data is
read.
"""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile

LARGEST_ARRAYS = 4 << 30  # bytes, of all arrays read from one file
LARGEST_HEADER = 10_000  # bytes; that of a plain array has 118
MOST_MEMBERS = 10_000
# Repetitive animation packs 50 to 1 or so. Up to a quarter of a gigabyte anything goes, beyond it no more than this.
LARGEST_RATIO = 200
FREE_SIZE = 1 << 28

DAMAGE = (
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
    NotImplementedError,  # a way of packing that Python does not know
    RuntimeError,  # locked with a password
    OverflowError,
    MemoryError,
    RecursionError,
)


class Archive:
    """An opened .npz; `names` are those of its arrays."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise BadFile(path, "there is no such file")
        try:
            self._zip = zipfile.ZipFile(self.path)
            members = self._zip.infolist()
        except DAMAGE as error:
            raise BadFile(path, f"is not a sound NumPy archive ({error})") from None
        if len(members) > MOST_MEMBERS:
            self._zip.close()
            raise BadFile(path, f"has {len(members)} members, but at most {MOST_MEMBERS} are read")
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
        except DAMAGE as error:
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
        most = min(LARGEST_ARRAYS, max(FREE_SIZE, LARGEST_RATIO * self.path.stat().st_size))
        if self._taken > most:
            raise BadFile(self.path, f"unpacks to more than {most:,} bytes with the array {name!r}")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream, max_header_size=LARGEST_HEADER)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(stream, max_header_size=LARGEST_HEADER)
    raise ValueError(f"unknown version {version} of the array format")
