"""The two containers: a .glb with its chunks, or a .gltf that is all JSON. Which one it is, the first bytes tell."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from understudy import files
from understudy.errors import BadFile, Unsupported
from understudy.formats.gltf.entry import shown

MAGIC = b"glTF"
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942


def unpack(path: Path) -> tuple[Any, memoryview | None, int]:
    """The JSON of a file, the binary chunk that a .glb may carry, and the size of the file in bytes."""
    data = files.read_bytes(path)
    if data[:4] == MAGIC:
        text, binary = _chunks(path, data)
    else:
        text, binary = data, None
    return _parse(path, text), binary, len(data)


def _chunks(path: Path, data: bytes) -> tuple[bytes, memoryview | None]:
    if len(data) < 12:
        raise BadFile(path, f"ends after {len(data)} bytes, within the header of 12")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise Unsupported(path, f"is a glTF container of version {version}, but only version 2 is read")
    if length > len(data):
        raise BadFile(path, f"is cut short: it should have {length:,} bytes, but has {len(data):,}")
    text, binary, at, number = None, None, 12, 0
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > length:
            raise BadFile(path, f"has {size:,} bytes, but only {length - at - 8:,} are left", f"chunk {number}")
        content = memoryview(data)[at + 8 : at + 8 + size]
        if number == 0 and kind != JSON_CHUNK:
            raise BadFile(path, f"should be JSON, but is of kind {kind:#010x}", "chunk 0")
        if number == 0:
            text = bytes(content)
        elif kind == BINARY_CHUNK and binary is None:
            binary = content
        at, number = at + 8 + size, number + 1
    if text is None:
        raise BadFile(path, "has no JSON chunk")
    return text, binary


def _parse(path: Path, text: bytes) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not a number in JSON")

    try:
        root = json.loads(text.decode("utf-8-sig"), parse_constant=refuse)
    except UnicodeDecodeError as error:
        raise BadFile(path, f"is neither a .glb nor JSON in UTF-8: byte {error.start} cannot be decoded") from None
    except json.JSONDecodeError as error:
        if error.pos == 0:  # not even the beginning of any JSON: empty, or a file of another kind
            raise BadFile(path, "is not valid JSON, nor a .glb, from its first byte on") from None
        raise BadFile(path, f"is not valid JSON: {error.msg}", f"line {error.lineno} column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition(";")[0]
        raise BadFile(path, f"is not valid JSON: {reason}") from None
    if not isinstance(root, dict):
        raise BadFile(path, f"should hold a JSON object, but holds {shown(root)}")
    return root
