"""FBX files made in the tests: nodes with any properties, curves with any keys, in binary and in ASCII."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from understudy.formats.fbx.document import FbxNode
from understudy.formats.fbx.scene import TICKS_PER_SECOND, SceneBuilder, encode, entry, leaf, properties

VERSION = 7400
USER, LINEAR, CONSTANT = 0x8 | 0x400 | 0x800, 0x4, 0x2
AUTO, TIME_INDEPENDENT, CLAMP, PROGRESSIVE = 0x8 | 0x100, 0x2000, 0x1000, 0x4000


class FbxFile(SceneBuilder):
    """A file under construction."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.settings = {"UnitScaleFactor": 100.0, "TimeMode": 11} | settings

    def model(self, name: str, parent: int = 0, kind: str = "LimbNode", **fields: Any) -> int:
        """A node; `T`, `R` and `S` are its local transform, other fields are properties by their name."""
        short = {"T": "Lcl Translation", "R": "Lcl Rotation", "S": "Lcl Scaling"}
        entries = [entry(short.get(key, key), *np.atleast_1d(value).tolist()) for key, value in fields.items()]
        if "InheritType" not in fields:
            entries.append(entry("InheritType", 1))
        number = self.add("Model", name, kind, [properties(*entries)])
        self.connect(number, parent)
        return number

    def stack(self, name: str, *layers: dict[str, Any]) -> list[int]:
        """A take with layers of these properties; returns the layers."""
        stack = self.add("AnimationStack", name, "", [properties()], "AnimStack")
        numbers = []
        for fields in layers or ({},):
            entries = [entry(key, value) for key, value in fields.items()]
            numbers.append(self.add("AnimationLayer", name, "", [properties(*entries)], "AnimLayer"))
            self.connect(numbers[-1], stack)
        return numbers

    def curves(self, layer: int, owner: int, place: str, columns: dict[str, list[FbxNode]], **defaults: float) -> None:
        """Curves (children of `AnimationCurve`) on a property, by the column ("X", "Y", "Z")."""
        entries = [entry(f"d|{name}", value) for name, value in defaults.items()]
        node = self.add("AnimationCurveNode", "", "", [properties(*entries)], "AnimCurveNode")
        self.connect(node, layer)
        self.connect(node, owner, place)
        for name, keys in columns.items():
            self.connect(self.add("AnimationCurve", "", "", keys, "AnimCurve"), node, f"d|{name}")

    def nodes(self) -> list[FbxNode]:
        """The whole tree."""
        settings = [entry(key, value) for key, value in self.settings.items()]
        return [
            FbxNode("FBXHeaderExtension", [], [leaf("FBXVersion", VERSION)]),
            FbxNode("GlobalSettings", [], [properties(*settings)]),
            FbxNode("Objects", [], self.objects),
            FbxNode("Connections", [], self.connections),
        ]

    def save(self, path: Path, ascii_text: bool = False) -> Path:
        """Write the file."""
        path.write_bytes(to_ascii(self.nodes()) if ascii_text else encode(self.nodes()))
        return path


def keys(times: Any, values: Any, flags: Any = LINEAR, data: Any = None) -> list[FbxNode]:
    """The children of an `AnimationCurve`: `data` (K, 4) are slopes, packed weights and velocity."""
    count = len(times)
    numbers = np.zeros((count, 4), np.float32) if data is None else np.asarray(data, np.float32)
    return [
        leaf("KeyTime", np.rint(np.asarray(times) * TICKS_PER_SECOND).astype(np.int64)),
        leaf("KeyValueFloat", np.asarray(values, np.float32)),
        leaf("KeyAttrFlags", np.broadcast_to(np.asarray(flags, np.int32), (count,)).copy()),
        leaf("KeyAttrDataFloat", numbers.reshape(-1)),
        leaf("KeyAttrRefCount", np.ones(count, np.int32)),
    ]


def to_ascii(nodes: list[FbxNode]) -> bytes:
    """The same tree as an ASCII file."""
    lines = ["; FBX 7.4.0 project file"]
    for node in nodes:
        _ascii(node, 0, lines)
    return "\n".join(lines).encode()


def _ascii(node: FbxNode, depth: int, lines: list[str]) -> None:
    pad = "\t" * depth
    words = []
    for value in node.properties:
        if isinstance(value, np.ndarray):
            bits = value.view(np.int32) if node.name == "KeyAttrDataFloat" else value
            numbers = ",".join(str(number.item()) for number in bits)
            lines.append(f"{pad}{node.name}: *{value.size} {{\n{pad}\ta: {numbers}\n{pad}}}")
            return
        if isinstance(value, str):
            name, mark, kind = value.partition("\0\1")
            words.append(f'"{kind}::{name}"' if mark else '"' + value.replace('"', "&quot;") + '"')
        else:
            words.append(str(int(value) if isinstance(value, bool) else value))
    head = f"{pad}{node.name}: {', '.join(words)}"
    if not node.children:
        lines.append(head)
        return
    lines.append(head + " {")
    for child in node.children:
        _ascii(child, depth + 1, lines)
    lines.append(pad + "}")
