"""The objects of an FBX file under construction: nodes with properties, and the connections between them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.formats.conventions import CountedNotes
from understudy.formats.fbx.document import FbxNode

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
