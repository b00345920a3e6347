"""glTF files made by hand, as small as the specification lets them be, for one feature each."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

CODES = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)


class Minimal:
    """A document under construction: `root` is its JSON, and bytes are collected into buffer 0."""

    def __init__(self, **root: Any) -> None:
        self.root: dict[str, Any] = {"asset": {"version": "2.0"}, **root}
        self.data = b""

    def add(self, name: str, item: Any) -> int:
        """Append to a list at the top and return the index."""
        self.root.setdefault(name, []).append(item)
        return len(self.root[name]) - 1

    def view(self, data: bytes, **fields: Any) -> int:
        """A buffer view on these bytes."""
        self.data += b"\0" * (-len(self.data) % 4)
        start = len(self.data)
        self.data += data
        return self.add("bufferViews", {"buffer": 0, "byteOffset": start, "byteLength": len(data), **fields})

    def accessor(self, values: Any, kind: str, dtype: Any = np.float32, **fields: Any) -> int:
        """An accessor for an array."""
        values = np.ascontiguousarray(values, dtype)
        item = {"componentType": CODES[values.dtype.name], "count": len(values), "type": kind}
        return self.add("accessors", item | {"bufferView": self.view(values.tobytes())} | fields)

    def mesh(self, positions: Any = TRIANGLE, targets: list[Any] | None = None, **fields: Any) -> int:
        """A mesh of one primitive with these positions, morph targets and other fields of the mesh."""
        primitive: dict[str, Any] = {"attributes": {"POSITION": self.accessor(positions, "VEC3")}}
        if targets:
            primitive["targets"] = [{"POSITION": self.accessor(target, "VEC3")} for target in targets]
        return self.add("meshes", {"primitives": [primitive], **fields})

    def skinned(self, joints: list[int], weights: Any, influences: Any = None, **fields: Any) -> tuple[int, int]:
        """A mesh with weights (V, 4) on joints, and its skin."""
        mesh = self.mesh()
        influences = np.zeros((3, 4)) if influences is None else influences
        attributes = self.root["meshes"][mesh]["primitives"][0]["attributes"]
        attributes["JOINTS_0"] = self.accessor(influences, "VEC4", np.uint8)
        attributes["WEIGHTS_0"] = self.accessor(weights, "VEC4")
        return mesh, self.add("skins", {"joints": joints, **fields})

    def sampler(
        self, times: Any, values: Any, kind: str, interpolation: str = "LINEAR", dtype: Any = np.float32
    ) -> Any:
        """A sampler with new accessors."""
        normalised = {"normalized": True} if np.dtype(dtype).kind != "f" else {}
        return {
            "input": self.accessor(times, "SCALAR"),
            "output": self.accessor(values, kind, dtype, **normalised),
            "interpolation": interpolation,
        }

    def animate(self, node: int, path: str, sampler: Any, **fields: Any) -> int:
        """An animation of one channel."""
        channel = {"sampler": 0, "target": {"node": node, "path": path}}
        return self.add("animations", {"channels": [channel], "samplers": [sampler], **fields})

    def save(self, folder: Path, name: str = "made.gltf") -> Path:
        """Write as .gltf with the buffer embedded, or as .glb."""
        path = folder / name
        if self.data and "buffers" not in self.root:
            self.root["buffers"] = [{"byteLength": len(self.data)}]
        if name.endswith(".gltf"):
            if self.data and "uri" not in self.root["buffers"][0]:
                encoded = base64.b64encode(self.data).decode()
                self.root["buffers"][0]["uri"] = "data:application/octet-stream;base64," + encoded
            path.write_text(json.dumps(self.root))
        else:
            path.write_bytes(container(json.dumps(self.root).encode(), self.data))
        return path


def container(text: bytes, data: bytes) -> bytes:
    """A .glb of two chunks."""
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    if data:
        chunks += struct.pack("<II", len(data), 0x004E4942) + data
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def one_triangle() -> Minimal:
    """A node with a triangle."""
    made = Minimal()
    made.add("nodes", {"name": "thing", "mesh": made.mesh()})
    made.add("scenes", {"nodes": [0]})
    return made
