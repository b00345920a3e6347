"""Edited curves as content files of the project: named by what they hold, never changed, kept to the last bit.

One file has all arrays of an animation end to end, and a header that says which are whose. The name is a digest of the
bytes, so that undo, which goes back to an earlier name, goes back to the very same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Channel, Curve, Curves
from understudy.errors import BadFile, InvalidInput
from understudy.keyframes.plain import about

VERSION = 1
ENDING = ".npz"
LARGEST = 1 << 30  # bytes
ARRAYS = ("times", "values", "segments", "before", "after")


def packed(curves: Curves) -> bytes:
    """The bytes of an animation; the same for the same animation."""
    told = [
        {
            "target": curve.channel.target,
            "kind": curve.channel.kind,
            "columns": list(curve.channel.columns),
            "keys": len(curve),
            "extrapolation": list(curve.extrapolation),
        }
        for curve in curves.curves
    ]
    header = json.dumps({"version": VERSION, **about(curves), "curves": told})
    arrays = {name: np.concatenate([getattr(c, name).reshape(-1) for c in curves.curves]) for name in ARRAYS}
    stream = io.BytesIO()
    np.savez(stream, **{"header": np.array(header), **arrays})  # type: ignore[arg-type]
    return stream.getvalue()


def unpacked(data: bytes, name: str) -> Curves:
    """The animation of `packed`, checked; `name` is what errors call it."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            header = json.loads(str(found["header"]))
            flat = {each: found[each] for each in ARRAYS}
        return _made(header, flat)
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, InvalidInput) as error:
        raise BadFile(name, f"the edited curves are damaged: {str(error).splitlines()[0]}") from None


def _made(header: Any, flat: dict[str, Any]) -> Curves:
    if header["version"] != VERSION:
        raise InvalidInput(f"they are of version {header['version']}, and {VERSION} is expected")
    at = dict.fromkeys(ARRAYS, 0)

    def take(name: str, *shape: int) -> Any:
        count = int(np.prod(shape))
        part = flat[name][at[name] : at[name] + count]
        at[name] += count
        return part.reshape(shape)

    made = []
    for told in header["curves"]:
        channel = Channel(str(told["target"]), str(told["kind"]), tuple(told["columns"]))
        keys, n = int(told["keys"]), len(channel)
        arrays = take("times", keys), take("values", keys, n), take("segments", keys - 1)
        first, last = told["extrapolation"]
        made.append(Curve(channel, *arrays, take("before", keys, n, 2), take("after", keys, n, 2), (first, last)))
    return Curves(header["name"], made, header["labels"], header["rate"], header["about"], header["moments"])


def write(curves: Curves, folder: Path) -> str:
    """Keep an animation in a folder, whole or not at all; returns the name of its file."""
    data = packed(curves)
    name = hashlib.sha256(data).hexdigest()[:24] + ENDING
    if not (folder / name).exists():
        with files.written_whole(folder / name) as temporary:
            temporary.write_bytes(data)
    return name


def read(place: Path, name: str) -> Curves:
    """The animation of a file that `write` made; `name` is what errors call it."""
    try:
        if place.stat().st_size > LARGEST:
            raise BadFile(name, "is larger than curves can be")
        data = place.read_bytes()
    except OSError:
        raise BadFile(name, "the edited curves are gone") from None
    return unpacked(data, name)
