"""The objects of an FBX file, their properties and connections, and its settings.

An object has a number, a class (the node's name, as `Model`), a name, a subclass (`LimbNode`) and typed properties
(`Properties70`), whose defaults stand in a template of the class (`Definitions`). Connections go from a source to a
destination, either to the object (OO) or to one of its properties (OP): a bone to the bone above, a texture to the
`DiffuseColor` of a material.

**Space.** The file says which of its axes point right, up and to the front, and how many centimetres its unit has.
Characters stand in metres, y up: see `SceneSpace`.

**Writing.** `SceneBuilder` is a file under construction: objects, the connections between them, and the bytes.
**Bytes.** Nodes become a binary file of version 7.4, the inverse of `document`. The type of a property follows from its
Python type: bool (C), int (I), np.int64 (L), float (D), str (S), bytes (R), and arrays of int32 (i), int64 (l), float32
(f) and float64 (d). Arrays are packed by zlib. The file's identifier, its time and the footer are the constant ones
that Blender writes: readers compare the three, and equal input gives equal files.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.formats.conventions import CountedNotes
from understudy.formats.fbx.document import BINARY_MAGIC, FbxDocument, FbxNode
from understudy.maths import quaternion

TICKS_PER_SECOND = 46_186_158_000
# Frames a second of each TimeMode; 0 is the default, 14 is custom.
TIME_MODE_RATES = {
    **{1: 120.0, 2: 100.0, 3: 60.0, 4: 50.0, 5: 48.0, 6: 30.0, 7: 30.0, 8: 30000 / 1001, 9: 30000 / 1001, 10: 25.0},
    **{11: 24.0, 12: 1000.0, 13: 24000 / 1001, 15: 96.0, 16: 72.0, 17: 60000 / 1001, 18: 120000 / 1001},
}
CUSTOM_TIME_MODE = 14
DEFAULT_RATE_FPS = 30.0
MAX_RATE_FPS = 1000.0
CENTIMETRES_PER_METRE = 100.0
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


@dataclass(eq=False, slots=True)
class FbxObject:
    """One object: `sources` are the objects connected to it and `owners` those that it is connected to, each with the
    name of the property, empty for the object itself."""

    number: int
    kind: str
    name: str
    subclass: str
    node: FbxNode
    own: dict[str, list[Any]]
    template: dict[str, list[Any]]
    sources: list[tuple[FbxObject, str]] = field(default_factory=list)
    owners: list[tuple[FbxObject, str]] = field(default_factory=list)

    def property(self, name: str) -> list[Any]:
        """The values of a property, or of its template; empty where there is none."""
        values = self.own.get(name)
        return self.template.get(name, []) if values is None else values

    def number_of(self, name: str, default: float) -> float:
        """A property of one number."""
        values = self.property(name)
        return float(values[0]) if values and _is_number(values[0]) else default

    def integer(self, name: str, default: int) -> int:
        """A property of one integer: an enumeration or a flag."""
        return int(self.number_of(name, float(default)))

    def vector(self, name: str, default: tuple[float, float, float]) -> Array:
        """A property of three numbers (3,)."""
        values = self.property(name)[:3]
        usable = len(values) == 3 and all(map(_is_number, values))
        return np.array(values if usable else default, np.float64)

    def text(self, name: str) -> str:
        """A property of text."""
        values = self.property(name)
        return values[0] if values and isinstance(values[0], str) else ""

    def sources_of(self, kind: str, subclass: str = "") -> list[FbxObject]:
        """The objects of a class that are connected to this one, in the order of the file."""
        return [o for o, _ in self.sources if o.kind == kind and (not subclass or o.subclass == subclass)]


@dataclass(frozen=True)
class SceneSpace:
    """From the file's space to metres, y up: first `axes` (3, 3), a rotation, then the factor `metres`."""

    axes: Array
    metres: float
    rate: float  # frames a second

    @property
    def turn(self) -> Array:
        """(4,) the rotation as a quaternion."""
        return quaternion.from_matrix(self.axes)

    @property
    def is_turned(self) -> bool:
        """Whether the file's axes differ from ours."""
        return not bool((self.axes == np.eye(3)).all())


class FbxScene:
    """All objects of a document, connected, and its space."""

    def __init__(self, document: FbxDocument) -> None:
        self.document = document
        self.templates = _templates(document.root)
        self.objects: dict[int, FbxObject] = {}
        self._read_objects()
        self.root = self._add(0, "Model", "RootNode", "Root", FbxNode("RootNode"))
        self._connect()
        self.space = _space(document)

    def all(self, kind: str) -> list[FbxObject]:
        """All objects of a class, in the order of the file."""
        return [o for o in self.objects.values() if o.kind == kind and o is not self.root]

    def _read_objects(self) -> None:
        for section in self.document.root.all("Objects"):
            for node in section.children:
                values = node.properties
                if len(values) < 2 or type(values[0]) is not int:
                    continue
                label = values[1] if isinstance(values[1], str) else ""
                subclass = values[2] if len(values) > 2 and isinstance(values[2], str) else ""
                self._add(values[0], node.name, object_name(label), subclass, node)

    def _add(self, number: int, kind: str, name: str, subclass: str, node: FbxNode) -> FbxObject:
        entry = FbxObject(number, kind, name, subclass, node, properties70(node), self.templates.get(kind, {}))
        self.objects[number] = entry
        return entry

    def _connect(self) -> None:
        """Connect all objects; a connection that is repeated counts once."""
        known: set[tuple[int, int, str]] = set()
        for section in self.document.root.all("Connections"):
            for node in section.children:
                values = node.properties
                if len(values) < 3 or type(values[1]) is not int or type(values[2]) is not int:
                    continue
                source, owner = self.objects.get(values[1]), self.objects.get(values[2])
                if source is None or owner is None or source is owner:
                    continue
                place = values[3] if len(values) > 3 and isinstance(values[3], str) else ""
                if (source.number, owner.number, place) in known:
                    continue
                known.add((source.number, owner.number, place))
                owner.sources.append((source, place))
                source.owners.append((owner, place))


def object_name(label: str) -> str:
    """The name in `Name\\0\\1Class` (binary) or `Class::Name` (ASCII)."""
    name, mark, _ = label.partition("\0\1")
    if mark:
        return name
    kind, mark, name = label.partition("::")
    return name if mark else kind


def properties70(node: FbxNode) -> dict[str, list[Any]]:
    """The values of each property of an object, by name."""
    block = node.first("Properties70")
    if block is None:
        return {}
    return {
        p.properties[0]: p.properties[4:] for p in block.children if p.properties and isinstance(p.properties[0], str)
    }


def _templates(root: FbxNode) -> dict[str, dict[str, list[Any]]]:
    """The defaults of each class. A class with several templates, as materials, gets the first of each property."""
    templates: dict[str, dict[str, list[Any]]] = {}
    for section in root.all("Definitions"):
        for kind in section.all("ObjectType"):
            if not kind.properties or not isinstance(kind.properties[0], str):
                continue
            known = templates.setdefault(kind.properties[0], {})
            for template in kind.all("PropertyTemplate"):
                for name, values in properties70(template).items():
                    known.setdefault(name, values)
    return templates


def _space(document: FbxDocument) -> SceneSpace:
    node = document.root.first("GlobalSettings") or FbxNode("GlobalSettings")
    settings = FbxObject(0, "GlobalSettings", "", "", node, properties70(node), {})
    axes = np.zeros((3, 3))
    for row, (name, default) in enumerate((("CoordAxis", 0), ("UpAxis", 1), ("FrontAxis", 2))):
        column = settings.integer(name, default)
        sign = settings.integer(f"{name}Sign", 1)
        if 0 <= column < 3:
            axes[row, column] = -1.0 if sign < 0 else 1.0
    determinant = round(float(np.linalg.det(axes)))
    if determinant == 0:
        document.note("the axes in the file's settings are not three different ones; y is taken to be up")
        axes = np.eye(3)
    elif determinant < 0:
        document.note("the file's axes are left-handed; it is read with the front axis turned round")
        axes[2] *= -1
    unit = settings.number_of("UnitScaleFactor", 1.0)
    if not 1e-6 < unit < 1e6:
        document.note(f"the file's unit of {unit:g} cm is not usable; centimetres are taken")
        unit = 1.0
    return SceneSpace(axes, unit / CENTIMETRES_PER_METRE, _frame_rate(settings))


def _frame_rate(settings: FbxObject) -> float:
    mode = settings.integer("TimeMode", 0)
    rate = TIME_MODE_RATES.get(mode, DEFAULT_RATE_FPS)
    if mode == CUSTOM_TIME_MODE:
        rate = settings.number_of("CustomFrameRate", DEFAULT_RATE_FPS)
    return rate if 0 < rate <= MAX_RATE_FPS else DEFAULT_RATE_FPS


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) <= checks.LARGEST_NUMBER


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
