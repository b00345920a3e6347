"""The `.understudy` file: a JSON header and arrays, in a zip whose members are stored as they are.

`header.json` names the format and its version; every array is an .npy member. Nothing is packed, so that 15 MB are
read in the time of a copy, and nothing is pickled. A file from elsewhere is never trusted: sizes are known before
memory is taken (`formats.npz_archive`), numbers are checked by whoever asks for them (`Field`).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from understudy import files
from understudy.checks import Array, freeze
from understudy.errors import BadFile, InvalidInput
from understudy.formats.npz_archive import DAMAGE, Archive

FORMAT = "understudy"
VERSION = 1
HEADER = "header.json"
LARGEST_HEADER = 64 << 20  # bytes; 10,000 controls are half a megabyte
NOT_OURS = "is not an understudy file, or is cut short"
DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that the same content is the same file


class Field(NamedTuple):
    """What an array should be: the kind of its numbers (`f`, `i`, `b`, `u`) and its shape, letters for free sizes."""

    kind: str
    shape: tuple[int | str, ...]


def write(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a header of plain values and arrays by name, whole or not at all."""
    text = json.dumps({**header, "format": FORMAT, "version": VERSION}, ensure_ascii=False, allow_nan=False)
    with files.written_whole(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, DATE), text.encode())
        for name, value in arrays.items():
            value = np.asarray(value)
            if value.dtype.hasobject:
                raise InvalidInput(f"the array {name!r} should hold plain numbers, but holds objects")
            member = BytesIO()
            np.lib.format.write_array(member, np.asarray(value, order="C"), version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", DATE), member.getbuffer())


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays, read-only, of a file that `write` wrote; any other is refused in one sentence."""
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
            if size > LARGEST_HEADER:
                raise BadFile(path, f"has a header of {size:,} bytes, but at most {LARGEST_HEADER:,} are read")
            header = json.loads(archive.read(HEADER))
    except BadFile:
        raise
    except DAMAGE:  # the directory of a zip is its end: where that is cut off, nothing of it can be found
        raise BadFile(path, NOT_OURS) from None
    if not isinstance(header, dict) or header.pop("format", None) != FORMAT:
        raise BadFile(path, NOT_OURS)
    version = header.pop("version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise BadFile(path, f"should have a version of 1 to {VERSION}, but has {version!r}")
    if version > VERSION:
        raise BadFile(path, f"was written by a newer understudy (version {version}; this one reads up to {VERSION})")
    return header


def checked(
    path: str | Path, arrays: Mapping[str, Array], fields: Mapping[str, Field], sizes: Mapping[str, int] | None = None
) -> dict[str, Array]:
    """The arrays that `fields` declares, each of its kind and shape, floats finite; else a sentence says what is wrong.

    A letter in a shape stands for the same size in all arrays of the call; `sizes` gives those that are known before.
    """
    letters = dict(sizes or {})
    found = {}
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
        found[name] = value
    return found
