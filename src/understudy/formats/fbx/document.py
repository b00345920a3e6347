"""An FBX file as a tree of nodes: a name, a list of properties, children.

**Binary.** After a header of 27 bytes each node is a record: where it ends, how many properties it has, their bytes,
its name, the properties, the children, and a record of zeros where there are children. Offsets have 32 bits before
version 7500 and 64 from there on. A property is a letter and a value: numbers (Y C I F D L), text or bytes (S R), or an
array (f d l i b c) of a count, an encoding (1: zlib), a size and the data.

**ASCII.** `Name: value, value { children }`, text in quotes, and arrays as `*count { a: numbers }`.

Nothing that a file claims is trusted: ends lie within the node above, arrays are unpacked only when they are used and
never to more than they claim, and all that is unpacked comes out of one budget.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, files
from understudy.checks import Array
from understudy.errors import BadFile, Unsupported
from understudy.formats import conventions
from understudy.formats.conventions import CountedNotes

BINARY_MAGIC = b"Kaydara FBX Binary  \x00"
HEADER_BYTES = 27
WIDE_OFFSETS_VERSION = 7500  # from here on, offsets have 64 bits
BITS_AS_INTEGERS_VERSION = 7200  # from here on, ASCII files print the bits of KeyAttrDataFloat as integers
OLDEST_VERSION, NEWEST_VERSION = 7000, 7999
MAX_DEPTH = 64  # levels of nodes; the SDK writes seven
MAX_NODES = 4_000_000  # an animation of ten minutes for a hundred joints has a hundredth of that
BASE_BUDGET_BYTES, BUDGET_PER_FILE_BYTE = 1 << 28, 16  # of what is unpacked and made; zlib packs to a third or less

SCALARS = {kind: struct.Struct("<" + code) for kind, code in zip(b"YCBIFDLZ", "hBBifdqb")}
ARRAY_TYPES = {ord("f"): "<f4", ord("d"): "<f8", ord("l"): "<i8", ord("i"): "<i4", ord("b"): "u1", ord("c"): "u1"}
SIZE = struct.Struct("<I")
ARRAY_HEAD = struct.Struct("<III")

ASCII_TOKEN = re.compile(
    rb"""\s+|;[^\n]*|(?P<text>"[^"]*")|(?P<name>[A-Za-z_][\w\-|.]*)[ \t]*:|\*(?P<count>\d{1,18})|(?P<mark>[{},])"""
    rb"""|(?P<word>[^\s,{};"]+)"""
)


@dataclass(slots=True)
class PackedArray:
    """An array as the file holds it: `data` is packed by zlib where `encoding` is 1."""

    kind: int
    count: int
    encoding: int
    data: memoryview


@dataclass(slots=True)
class FbxNode:
    """One node; a property is a number, text, bytes, a `PackedArray`, or the numbers (N,) of an ASCII array."""

    name: str
    properties: list[Any] = field(default_factory=list)
    children: list[FbxNode] = field(default_factory=list)

    def first(self, name: str) -> FbxNode | None:
        """The first child of that name."""
        return next((child for child in self.children if child.name == name), None)

    def all(self, name: str) -> Iterator[FbxNode]:
        """The children of that name."""
        return (child for child in self.children if child.name == name)

    def value(self, name: str) -> Any:
        """The first property of the first child of that name, or None."""
        child = self.first(name)
        return child.properties[0] if child is not None and child.properties else None

    def text(self, name: str) -> str:
        """The same, as text; empty where it is something else."""
        value = self.value(name)
        return value if isinstance(value, str) else ""


class FbxDocument(CountedNotes):
    """The tree of a file, its version, notes on what was dropped, and what may still be unpacked from it."""

    def __init__(self, path: Path, root: FbxNode, version: int, is_ascii: bool, size: int) -> None:
        super().__init__()
        self.path, self.root, self.version, self.is_ascii = path, root, version, is_ascii
        self._left = BASE_BUDGET_BYTES + BUDGET_PER_FILE_BYTE * size

    def take(self, size: int) -> None:
        """Take bytes from the budget; `BadFile` where the file asks for more than a file of its size can need."""
        self._left -= size
        if self._left < 0:
            raise BadFile(self.path, "asks for far more memory than a file of its size can need")

    def bad(self, node: FbxNode, reason: str) -> BadFile:
        """An error at a node."""
        label = next((p.partition("\0")[0] for p in node.properties if isinstance(p, str) and p), "")
        return BadFile(self.path, reason, f"{node.name} {label[:60]!r}" if label else node.name)

    def array(self, node: FbxNode, name: str) -> Array | None:
        """(N,) float64 or int64 numbers of the child of that name; None where there is none."""
        child = node.first(name)
        if child is None or not child.properties:
            return None
        value = child.properties[0]
        if isinstance(value, np.ndarray):
            return value
        if isinstance(value, PackedArray):
            return self._unpack(child, value)
        if all(type(number) in (int, float) for number in child.properties):
            return np.array(child.properties, np.float64)
        raise self.bad(node, f"{name} should be an array of numbers")

    def floats(self, node: FbxNode, name: str, width: int) -> Array | None:
        """(N, width) finite float64 numbers of a child; None where there are none."""
        values = self.array(node, name)
        if values is None or not len(values):
            return None
        if len(values) % width:
            raise self.bad(node, f"{name} should hold a multiple of {width} numbers, but holds {len(values)}")
        self.take(8 * len(values))
        values = np.asarray(values, np.float64).reshape(-1, width)
        if not np.abs(values).max() <= checks.LARGEST_NUMBER:  # also true of NaN
            raise self.bad(node, f"{name} should hold finite numbers")
        return values

    def integers(self, node: FbxNode, name: str) -> Array | None:
        """(N,) int64 numbers of a child; None where there are none."""
        values = self.array(node, name)
        if values is None or not len(values):
            return None
        self.take(8 * len(values))
        if values.dtype.kind == "f" and not np.abs(values).max() < 2**62:
            raise self.bad(node, f"{name} should hold integers")
        return values.astype(np.int64)

    def float_bits(self, node: FbxNode, name: str) -> Array | None:
        """(N,) float32: `KeyAttrDataFloat`, some of whose numbers are really bits."""
        values = self.array(node, name)
        if values is None:
            return None
        self.take(4 * len(values))
        if self.is_ascii and self.version >= BITS_AS_INTEGERS_VERSION:
            return values.astype(np.int64).astype(np.uint32).view(np.float32)
        return np.ascontiguousarray(values, np.float32)

    def matrix(self, node: FbxNode, name: str) -> Array | None:
        """(4, 4) of a child, for column vectors; None where there is none."""
        values = self.floats(node, name, 16)
        if values is None:
            return None
        return values[0].reshape(4, 4).T.copy()

    def _unpack(self, node: FbxNode, packed: PackedArray) -> Array:
        dtype = np.dtype(ARRAY_TYPES[packed.kind])
        size = packed.count * dtype.itemsize
        self.take(size)
        if packed.encoding == 0:
            data: Any = packed.data
        elif packed.encoding == 1:
            try:
                data = zlib.decompressobj().decompress(packed.data, size) if size else b""
            except zlib.error:
                raise self.bad(node, "holds a damaged array") from None
        else:
            raise self.bad(node, f"holds an array with the unknown encoding {packed.encoding}")
        if len(data) != size:
            raise self.bad(node, f"claims {packed.count} numbers, but holds {len(data) // dtype.itemsize}")
        return np.frombuffer(data, dtype)


def load(path: str | Path) -> FbxDocument:
    """The tree of an FBX file. Files that are damaged, or not FBX 7.x, are refused."""
    path = Path(path)
    return parse(path, files.read_bytes(path))


def parse(path: Path, data: bytes) -> FbxDocument:
    """The tree of the content of an FBX file; `path` is for messages, and for what lies beside the file."""
    is_ascii = not data.startswith(BINARY_MAGIC)
    if is_ascii:
        root, version = _parse_ascii(path, data)
    elif len(data) < HEADER_BYTES:
        raise BadFile(path, "ends within its header")
    else:
        version = SIZE.unpack_from(data, HEADER_BYTES - 4)[0]
        _check_version(path, version)
        root = _parse_binary(path, data, version)
    return FbxDocument(path, root, version, is_ascii, len(data))


def _check_version(path: Path, version: int) -> None:
    if not OLDEST_VERSION <= version <= NEWEST_VERSION:
        raise Unsupported(
            path, f"is FBX version {version}, but versions 7.0 to 7.7 are read; save it again as FBX 2011 or later"
        )


def _parse_binary(path: Path, data: bytes, version: int) -> FbxNode:
    head = struct.Struct("<QQQB" if version >= WIDE_OFFSETS_VERSION else "<IIIB")
    view = memoryview(data)
    root = FbxNode("")
    stack = [(root, len(data))]
    at, nodes = HEADER_BYTES, 0
    while stack:
        above, end = stack[-1]
        if at == end:
            stack.pop()
            continue
        if at + head.size > end:
            raise BadFile(path, "ends in the middle of a node", f"byte {at}")
        stop, count, length, letters = head.unpack_from(data, at)
        if stop == 0:  # the record of zeros that ends a list of children
            if above is root:
                break
            at = end
            continue
        first = at + head.size + letters
        if not first + length <= stop <= end:
            raise BadFile(path, f"a node ends at byte {stop}, outside the one that holds it", f"byte {at}")
        nodes += 1
        if nodes > MAX_NODES or len(stack) > MAX_DEPTH:
            raise BadFile(path, f"has more than {MAX_NODES:,} nodes, or more than {MAX_DEPTH} levels of them")
        node = FbxNode(data[at + head.size : first].decode("ascii", "replace"))
        node.properties = _properties(path, data, view, first, first + length, count)
        above.children.append(node)
        at = first + length
        stack.append((node, stop))
    return root


def _properties(path: Path, data: bytes, view: memoryview, at: int, end: int, count: int) -> list[Any]:
    """The properties between two places; a property is at least two bytes, so that `count` cannot lie far."""
    values: list[Any] = []
    try:
        for _ in range(count):
            kind = data[at]
            at += 1
            scalar = SCALARS.get(kind)
            if scalar is not None:
                values.append(scalar.unpack_from(data, at)[0])
                at += scalar.size
            elif kind in b"SR":
                size = SIZE.unpack_from(data, at)[0]
                at += SIZE.size
                raw = data[at : at + size] if at + size <= end else b""
                values.append(raw.decode("utf-8", "replace") if kind == ord("S") else raw)
                at += size
            elif kind in ARRAY_TYPES:
                length, encoding, size = ARRAY_HEAD.unpack_from(data, at)
                at += ARRAY_HEAD.size
                values.append(PackedArray(kind, length, encoding, view[at : at + size]))
                at += size
            else:
                raise BadFile(path, f"a property has the unknown type {chr(kind)!r}", f"byte {at - 1}")
            if at > end:
                raise BadFile(path, "a property is longer than its node", f"byte {at}")
    except (struct.error, IndexError):
        raise BadFile(path, "ends in the middle of a property", f"byte {at}") from None
    return values


def _parse_ascii(path: Path, data: bytes) -> tuple[FbxNode, int]:
    if b"FBXHeaderExtension" not in data[:100_000] or b"\0" in data[:1000]:
        raise BadFile(path, "is not an FBX file: neither the binary nor the ASCII header is there")
    root = FbxNode("")
    stack = [root]
    current: FbxNode | None = None
    at, nodes = 0, 0
    while at < len(data):
        match = ASCII_TOKEN.match(data, at)
        if match is None:  # a quote without an end
            raise BadFile(path, "a text in quotes does not end", _line(data, at))
        at = match.end()
        kind = match.lastgroup
        if kind == "name":
            nodes += 1
            if nodes > MAX_NODES:
                raise BadFile(path, f"has more than {MAX_NODES:,} nodes")
            current = FbxNode(match["name"].decode("ascii", "replace"))
            stack[-1].children.append(current)
        elif kind == "count" and current is not None:
            at = _ascii_array(path, data, at, current)
        elif kind == "mark" and match["mark"] == b"{":
            if current is None or len(stack) > MAX_DEPTH:
                raise BadFile(path, "a bracket opens without a node, or too deep", _line(data, at))
            stack.append(current)
            current = None
        elif kind == "mark" and match["mark"] == b"}":
            if len(stack) == 1:
                raise BadFile(path, "a bracket closes that was never opened", _line(data, at))
            stack.pop()
            current = None
        elif kind in ("text", "word") and current is not None:
            current.properties.append(_ascii_value(match[kind]))
    if len(stack) > 1:
        raise BadFile(path, f"ends within {stack[-1].name}")
    header = root.first("FBXHeaderExtension")
    version = header.value("FBXVersion") if header is not None else None
    if not isinstance(version, int):
        raise BadFile(path, "does not say which version of FBX it is")
    _check_version(path, version)
    return root, version


def _ascii_array(path: Path, data: bytes, at: int, node: FbxNode) -> int:
    """Read `{ a: 1,2,3 }` into a node; returns where it ends."""
    opening, closing = data.find(b"{", at, at + 64), data.find(b"}", at)
    if opening < 0 or closing < opening:
        raise BadFile(path, f"the array of {node.name} has no brackets", _line(data, at))
    body = data[opening + 1 : closing].partition(b":")[2].replace(b",", b" ")
    try:
        node.properties.append(conventions.parse_numbers(body, path))
    except BadFile as error:
        raise BadFile(path, f"in the array of {node.name}, {error.reason}", _line(data, opening)) from None
    return closing + 1


def _ascii_value(word: bytes) -> Any:
    if word.startswith(b'"'):
        return word[1:-1].decode("utf-8", "replace").replace("&quot;", '"').replace("&cr;", "\r").replace("&lf;", "\n")
    try:
        number = float(word)
    except ValueError:
        return word.decode("latin-1")
    return int(word) if word.lstrip(b"+-").isdigit() and len(word) < 20 else number


def _line(data: bytes, at: int) -> str:
    lines = data.count(b"\n", 0, at)
    return f"line {lines + 1}"
