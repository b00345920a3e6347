"""Writing: an asset as one .glb, or as one .gltf with everything embedded."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

from understudy import __version__
from understudy.character import Asset
from understudy.errors import Unsupported
from understudy.formats.gltf.builder import Builder
from understudy.formats.gltf.container import BINARY_CHUNK, JSON_CHUNK, MAGIC
from understudy.formats.gltf.write_animations import AnimationWriter
from understudy.formats.gltf.write_nodes import NodeWriter

# The order in which people look for things in a file.
ORDER = (
    *("scenes", "nodes", "skins", "meshes", "materials", "textures", "images", "samplers", "animations"),
    *("accessors", "bufferViews", "buffers"),
)


def write(asset: Asset, path: str | Path) -> list[str]:
    """Write characters, clips and curves; the path's ending decides between .glb and .gltf. Returns what was lost."""
    path = Path(path)
    if asset.animations and not asset.characters:
        raise Unsupported(path, "glTF holds animation only on the nodes of a character, but there is no character here")
    builder = Builder()
    nodes = NodeWriter(builder)
    roots = [root for character in asset.characters for root in nodes.character(character)]
    animations = AnimationWriter(builder, nodes)
    for animation in asset.animations:
        animations.animation(animation)
    animations.finish()
    if roots:
        named = {"name": asset.characters[0].name} if len(asset.characters) == 1 else {}
        builder.add("scenes", named | {"nodes": roots})
    data = builder.buffer()
    if path.suffix.lower() == ".gltf":
        path.write_bytes(_text(_document(builder, data, embed=True)))
    else:
        path.write_bytes(_container(_text(_document(builder, data, embed=False)), data))
    return builder.notes


def _document(builder: Builder, data: bytes, embed: bool) -> dict[str, Any]:
    if data:
        buffer: dict[str, Any] = {"byteLength": len(data)}
        if embed:
            buffer["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        builder.add("buffers", buffer)
    root: dict[str, Any] = {"asset": {"version": "2.0", "generator": f"understudy {__version__}"}}
    if builder.extensions:
        root["extensionsUsed"] = sorted(builder.extensions)
    if "scenes" in builder.lists:
        root["scene"] = 0
    return root | {name: builder.lists[name] for name in ORDER if builder.lists.get(name)}


def _text(root: dict[str, Any]) -> bytes:
    try:
        return json.dumps(root, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, kept in some `extras`: JSON can spell it, UTF-8 cannot
        return json.dumps(root, separators=(",", ":"), allow_nan=False).encode()


def _container(text: bytes, data: bytes) -> bytes:
    """Header and chunks, each filled up to a multiple of four bytes: JSON with spaces, binary with zeros."""
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), JSON_CHUNK) + text
    if data:
        data += b"\0" * (-len(data) % 4)
        chunks += struct.pack("<II", len(data), BINARY_CHUNK) + data
    return MAGIC + struct.pack("<II", 2, 12 + len(chunks)) + chunks
