"""An FBX file under construction: objects with properties, the connections between them, and the bytes of the file.

**Bytes.** Nodes become a binary file of version 7.4, the inverse of `document`. The type of a property follows from its
Python type: bool (C), int (I), np.int64 (L), float (D), str (S), bytes (R), and arrays of int32 (i), int64 (l), float32
(f) and float64 (d). Arrays are packed by zlib. The file's identifier, its time and the footer are the constant ones
that Blender writes: readers compare the three, and equal input gives equal files.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.formats.conventions import CountedNotes
from understudy.formats.fbx.document import BINARY_MAGIC, FbxNode

VERSION = 7400
FILE_ID = bytes.fromhex("28b32aebb624ccc2bfc8b02aa92bfcf1")
FILE_TIME = "1970-01-01 10:00:00:000"
FOOTER_ID = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
FOOTER_MAGIC = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
HEAD = struct.Struct("<IIIB")
ZERO_RECORD = bytes(HEAD.size)
MIN_PACKED_BYTES = 128  # shorter arrays do not get smaller
PACKING_LEVEL = 1  # zlib; higher levels take several times as long for a few percent
ARRAY_LETTERS = {"<i4": b"i", "<i8": b"l", "<f4": b"f", "<f8": b"d"}

FIRST_NUMBER = 1_000_000
UNIT_CENTIMETRES = 100.0  # a metre; files are written in centimetres, which every tool expects

# Types of properties: the type and the label that `P` nodes carry.
PROPERTY_TYPES = {
    "Lcl Translation": ("Lcl Translation", "", "A"),
    "Lcl Rotation": ("Lcl Rotation", "", "A"),
    "Lcl Scaling": ("Lcl Scaling", "", "A"),
    "RotationOrder": ("enum", "", ""),
    "RotationActive": ("bool", "", ""),
    "InheritType": ("enum", "", ""),
    "DefaultAttributeIndex": ("int", "Integer", ""),
    "DeformPercent": ("Number", "", "A"),
    "TimeMode": ("enum", "", ""),
}
VALUE_TYPES = {
    "text": ("KString", "", ""),
    "integer": ("int", "Integer", ""),
    "number": ("double", "Number", ""),
    "time": ("KTime", "Time", ""),
    "colour": ("Color", "", "A"),
    "user": ("KString", "", "U"),
}


class SceneBuilder(CountedNotes):
    """Collects objects and connections; `count` and `note` collect what the format cannot hold."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: list[FbxNode] = []
        self.connections: list[FbxNode] = []
        self.kinds: Counter[str] = Counter()
        self._next = FIRST_NUMBER

    def add(
        self, kind: str, name: str, subclass: str, children: list[FbxNode] | None = None, label: str | None = None
    ) -> int:
        """Add an object of a class; returns its number. `label` is the class in its name where that differs."""
        number, self._next = self._next, self._next + 1
        title = f"{name.replace(chr(0), '')}\0\1{label or kind}"
        self.objects.append(FbxNode(kind, [np.int64(number), title, subclass], children or []))
        self.kinds[kind] += 1
        return number

    def connect(self, source: int, owner: int, place: str | None = None) -> None:
        """Connect an object to another (0: the scene), or to one of its properties."""
        kind = "OO" if place is None else "OP"
        values: list[Any] = [kind, np.int64(source), np.int64(owner)]
        self.connections.append(FbxNode("C", values if place is None else [*values, place]))


def leaf(name: str, *values: Any) -> FbxNode:
    """A node without children."""
    return FbxNode(name, list(values))


def properties(*entries: FbxNode) -> FbxNode:
    """The `Properties70` of an object."""
    return FbxNode("Properties70", [], list(entries))


def entry(name: str, *values: Any, kind: str = "number") -> FbxNode:
    """One property; `kind` is one of `VALUE_TYPES` where the name does not decide its type."""
    declared, label, flags = PROPERTY_TYPES.get(name, VALUE_TYPES[kind])
    return FbxNode("P", [name, declared, label, flags, *values])


def matrix(name: str, values: Array) -> FbxNode:
    """A matrix (4, 4) for column vectors, as FBX stores it."""
    return FbxNode(name, [np.ascontiguousarray(np.asarray(values, np.float64).T).reshape(-1)])


def to_centimetres(transform: Array) -> Array:
    """A transform (..., 4, 4) with its translation in centimetres."""
    result = np.array(transform, np.float64)
    result[..., :3, 3] *= UNIT_CENTIMETRES
    return result


def encode(nodes: list[FbxNode]) -> bytes:
    """A whole file of these top-level nodes; `InvalidInput` where it would exceed four gigabytes."""
    chunks = [BINARY_MAGIC, b"\x1a\x00", struct.pack("<I", VERSION)]
    at = sum(map(len, chunks))
    for node in nodes:
        chunk = _record(node, at)
        chunks.append(chunk)
        at += len(chunk)
    chunks += [ZERO_RECORD, FOOTER_ID, bytes(4)]
    at += len(ZERO_RECORD) + len(FOOTER_ID) + 4
    chunks += [bytes(16 - at % 16), struct.pack("<I", VERSION), bytes(120), FOOTER_MAGIC]
    return b"".join(chunks)


def _record(node: FbxNode, at: int) -> bytes:
    name = node.name.encode()
    properties = b"".join(map(_property, node.properties))
    chunks = [name, properties]
    end = at + HEAD.size + len(name) + len(properties)
    for child in node.children:
        chunk = _record(child, end)
        chunks.append(chunk)
        end += len(chunk)
    if node.children or not node.properties:
        chunks.append(ZERO_RECORD)
        end += len(ZERO_RECORD)
    try:
        head = HEAD.pack(end, len(node.properties), len(properties), len(name))
    except struct.error:
        raise InvalidInput("an FBX file of version 7.4 holds at most 4 GB, but this would be larger") from None
    return head + b"".join(chunks)


def _property(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"C" + struct.pack("<B", value)
    if isinstance(value, np.int64):
        return b"L" + struct.pack("<q", value)
    if isinstance(value, int):
        return b"I" + struct.pack("<i", value)
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    if isinstance(value, np.ndarray):
        return _array(value)
    raw = value.encode("utf-8", "replace") if isinstance(value, str) else value
    return (b"S" if isinstance(value, str) else b"R") + struct.pack("<I", len(raw)) + raw


def _array(values: np.ndarray) -> bytes:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    data = little.tobytes()
    encoding = int(len(data) >= MIN_PACKED_BYTES)
    packed = zlib.compress(data, PACKING_LEVEL) if encoding else data
    return ARRAY_LETTERS[little.dtype.str] + struct.pack("<III", values.size, encoding, len(packed)) + packed
