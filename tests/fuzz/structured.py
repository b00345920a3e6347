"""Damage below the surface of a container: the JSON in a glTF or GLB, the arrays in an npz, the nodes of an FBX file.

A flipped byte in these files is mostly caught by a length or a checksum. Here the container stays sound, and what it
says is wrong.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.fuzz.mutations import BYTES, TEXT, damage

from understudy.formats.fbx.document import BINARY_MAGIC, FbxDocument, FbxNode, PackedArray, parse
from understudy.formats.fbx.scene import encode

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        "",
        "x",
        "../x",
        [],
        {},
        [[]],
        [None],
        {"x": {}},
        0,
        1,
        -1,
        0.5,
        3,
        16,
        255,
        5120,
        5126,
        70000,
    ),
    *(10**9, 2**31 - 1, 2**31, 2**32, 2**53, 2**63, 10**30, 1e308, -1e308, 1e-320, float("nan"), float("inf")),
    *(
        "data:application/octet-stream;base64,",
        "data:;base64,!!!!",
        "data:,",
        "http://x",
        "file:///dev/zero",
        "MAT4",
        "VEC3",
    ),
)
SIZES = ("count", "byteLength", "byteOffset", "byteStride", "componentType", "bufferView", "target")
HEADER = struct.Struct("<4sII")
CHUNK = struct.Struct("<II")
JSON_CHUNK, BIN_CHUNK = 0x4E4F534A, 0x004E4942


def damaged_json(text: bytes, rng: Random) -> bytes:
    """One to four wrong values, missing keys or misplaced items."""
    document = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        places = _places(document)
        if not places:
            break
        sizes = [place for place in places if place[1] in SIZES]
        holder, key = rng.choice(sizes if sizes and rng.random() < 0.3 else places)
        blow = rng.random()
        if blow < 0.15:
            del holder[key]
        elif blow < 0.3:
            other_holder, other_key = rng.choice(places)
            _copy(other_holder[other_key], holder, key)
        elif blow < 0.5 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] = rng.choice(
                (holder[key] + 1, holder[key] - 1, -holder[key], holder[key] * 1000, holder[key] / 3)
            )
        elif blow < 0.6 and isinstance(holder, list):
            holder[key:key] = [holder[key]] * rng.choice((1, 2, 100))
        else:
            holder[key] = rng.choice(VALUES)
    return json.dumps(document).encode()


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every (holder, key) of the document."""
    places, stack = [], [document]
    while stack:
        holder = stack.pop()
        if not isinstance(holder, dict | list):
            continue
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            places.append((holder, key))
            stack.append(holder[key])
    return places


def _copy(value: Any, holder: Any, key: Any) -> None:
    """A copy, not the thing itself, which might come to hold itself; large ones are too slow to copy."""
    text = json.dumps(value)
    holder[key] = json.loads(text) if len(text) < 2000 else None


def damaged_glb(data: bytes, rng: Random) -> bytes:
    """A sound container with wrong JSON or wrong numbers in its binary part, and sometimes a wrong container."""
    if rng.random() < 0.25:
        return damage(data, rng, BYTES)
    length = CHUNK.unpack_from(data, 12)[0]
    text, binary = data[20 : 20 + length], data[20 + length + 8 :]
    if rng.random() < 0.8:
        text = damaged_json(text, rng)
    else:
        binary = damage(binary, rng, BYTES)
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    whole = CHUNK.pack(len(text), JSON_CHUNK) + text + CHUNK.pack(len(binary), BIN_CHUNK) + binary
    return HEADER.pack(b"glTF", 2, HEADER.size + len(whole)) + whole


def damaged_gltf(data: bytes, rng: Random) -> bytes:
    """Wrong JSON that still is JSON, and sometimes not."""
    return damaged_json(data, rng) if rng.random() < 0.8 else damage(data, rng, BYTES)


def damaged_npz(data: bytes, rng: Random) -> bytes:
    """A sound zip whose arrays are wrong: missing, reshaped, retyped, not finite, or with a header that lies."""
    if rng.random() < 0.3:
        return damage(data, rng, BYTES)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(sorted(members))
        blow = rng.random()
        if name.endswith(".json") and blow < 0.85:
            members[name] = damaged_json(members[name], rng)
        elif blow < 0.15:
            del members[name]
        elif blow < 0.25:
            members[rng.choice(("x.npy", "x", "../x.npy", name.upper()))] = members[name]
        elif blow < 0.55:
            members[name] = _wrong_array(members[name], rng)
        elif blow < 0.85:
            members[name] = _lying_header(members[name], rng)
        else:
            members[name] = damage(members[name], rng, BYTES)
        if not members:
            break
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _wrong_array(member: bytes, rng: Random) -> bytes:
    try:
        array = np.atleast_1d(np.load(io.BytesIO(member), allow_pickle=False))
    except Exception:  # it was damaged before, and NumPy has many ways to say so
        return b""
    choice = rng.randrange(8)
    with np.errstate(all="ignore"):
        if choice == 0:
            array = array[..., None]
        elif choice == 1:
            array = array.reshape(-1)
        elif choice == 2:
            array = array[:0]
        elif choice == 3:
            array = array[1:]
        elif choice == 4 and array.dtype.kind in "fiu" and array.size:
            array = array.astype(np.float64)
            array.reshape(-1)[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, 1e308, -1, 10**9))
        elif choice == 5:
            array = array.astype("U8")
        elif choice == 6:
            array = np.zeros((), np.int8)
        elif array.dtype.kind in "fiu":
            array = array.astype(rng.choice(("c8", "?", "u1", "f2", "i8")))
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _lying_header(member: bytes, rng: Random) -> bytes:
    """The array's header claims another shape or type."""
    shape = rng.choice(
        ("(10**9,)", "(1000000000, 3)", "(2, 3)", "(-1,)", "()", "(9223372036854775807, 2)", "(0, 5)", "x")
    )
    kind = rng.choice(("'<f8'", "'|O'", "'<U1000000000'", "'|V0'", "[('a', '<f8')]", "'<M8[s]'", "'q'", "'>f4'", "1"))
    header = (
        f"{{'descr': {kind}, 'fortran_order': {rng.choice(('True', 'False', '0'))}, 'shape': {shape}, }}\n".encode()
    )
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + member[80:]


FBX_VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 255, 2**31 - 1, -(2**31), 0.0, -1.0, 1e30, 1e308, 1e-320, float("nan"), float("inf"), True),
    *("", "x", "Model", "Mesh", "Cluster", "ByPolygon", "IndexToDirect", "../x.png", b"", b"\x00", np.zeros(0)),
    *(np.array([-1, 10**9, 0], np.int32), np.array([np.nan, 1e308]), np.full(5, 2**62, np.int64)),
)


def damaged_fbx(data: bytes, rng: Random) -> bytes:
    """A sound tree whose nodes are wrong: missing, repeated, with other values or other numbers in their arrays."""
    if not data.startswith(BINARY_MAGIC):
        return damage(data, rng, TEXT)
    if rng.random() < 0.3:
        return damage(data, rng, BYTES)
    document = parse(Path("seed.fbx"), data)
    holders = [document.root]
    for holder in holders:  # grows while it is walked
        _unpack(document, holder)
        holders.extend(holder.children)
    full = [holder for holder in holders if holder.children]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        holder = rng.choice(full)
        at = rng.randrange(len(holder.children))
        blow = rng.random()
        if blow < 0.1:
            del holder.children[at]
            full = [holder for holder in full if holder.children]
            if not full:
                break
        elif blow < 0.2:
            holder.children[at:at] = [holder.children[at]] * rng.choice((1, 2, 30))
        else:
            _damage_properties(holder.children[at], rng)
    return encode(document.root.children)


def _unpack(document: FbxDocument, node: FbxNode) -> None:
    """Arrays as numbers, and integers in the width that they need."""
    for i, value in enumerate(node.properties):
        if isinstance(value, PackedArray):
            node.properties[i] = np.array(document.array(FbxNode("", [], [FbxNode("x", [value])]), "x"))
            if node.properties[i].dtype == np.uint8:
                node.properties[i] = node.properties[i].astype(np.int32)
        elif type(value) is int and not -(2**31) <= value < 2**31:
            node.properties[i] = np.int64(value)


def _damage_properties(node: FbxNode, rng: Random) -> None:
    if not node.properties:
        node.name = rng.choice(("", "x", "Model", "Properties70", "Objects"))
        return
    at = rng.randrange(len(node.properties))
    value = node.properties[at]
    blow = rng.random()
    if isinstance(value, np.ndarray) and value.size and blow < 0.75:
        if blow < 0.3:
            node.properties[at] = np.repeat(value, rng.choice((0, 2, 3)))[: rng.choice((1, 10**6))]
        else:
            wrong = value.copy()
            kind = np.iinfo(wrong.dtype) if wrong.dtype.kind == "i" else None
            choices = (-1, 0, 1, 10**6, kind.max, kind.min) if kind else (np.nan, np.inf, -1.0, 0.0, 1e30, 1e-30)
            wrong[rng.randrange(len(wrong))] = rng.choice(choices)
            node.properties[at] = wrong
    elif blow < 0.15:
        del node.properties[at]
    elif type(value) is int and blow < 0.5:
        node.properties[at] = max(min(value + rng.choice((1, -1, 5)), 2**31 - 1), -(2**31))
    else:
        node.properties[at] = rng.choice(FBX_VALUES)
