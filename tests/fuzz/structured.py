"""Damage below the surface of a container: the JSON inside a glTF or GLB, the arrays inside an npz.

A flipped byte in these files is mostly caught by a length or a checksum. Here the container stays sound, and what it
says is wrong.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from random import Random
from typing import Any

import numpy as np
from tests.fuzz.mutations import BYTES, damage

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
        if blow < 0.15:
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
