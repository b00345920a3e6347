"""The tree of nodes: binary and ASCII files say the same, and damage gives one sentence."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import BadFile, FileError, Unsupported
from understudy.formats.fbx.document import BINARY_MAGIC, FbxNode, load
from understudy.formats.fbx.scene import encode, leaf

from tests.formats.fbx.scenes import to_ascii  # isort: skip

LONG = np.arange(1000, dtype=np.float64) / 7


def tree() -> list[FbxNode]:
    header = FbxNode("FBXHeaderExtension", [], [leaf("FBXVersion", 7400)])
    values = leaf("Values", 7, np.int64(1) << 40, -2.5, 'a "quoted" text', "ü")
    arrays = [leaf("Vertices", LONG), leaf("Indexes", np.arange(-3, 4, dtype=np.int32)), leaf("Empty", np.zeros(0))]
    return [header, FbxNode("Objects", [], [values, FbxNode("Deep", [1], [FbxNode("Deeper", [2], arrays)])])]


@pytest.mark.parametrize("write", (encode, to_ascii))
def test_a_tree_survives(write, tmp_path: Path) -> None:
    path = tmp_path / "tree.fbx"
    path.write_bytes(write(tree()))
    document = load(path)
    objects = document.root.first("Objects")
    assert objects is not None and document.version == 7400
    assert objects.children[0].properties == [7, 1 << 40, -2.5, 'a "quoted" text', "ü"]
    deeper = objects.children[1].children[0]
    floats, integers = document.floats(deeper, "Vertices", 1), document.integers(deeper, "Indexes")
    assert floats is not None and (floats[:, 0] == LONG).all()
    assert integers is not None and integers.tolist() == list(range(-3, 4))
    assert document.floats(deeper, "Empty", 3) is None


def wide_record(name: bytes, properties: list[bytes], children: list[bytes], at: int) -> bytes:
    """A node of version 7500, whose offsets have 64 bits; children must have been made for their place."""
    body = b"".join(properties)
    end = at + 25 + len(name) + len(body) + sum(map(len, children)) + (25 if children else 0)
    tail = b"".join(children) + (bytes(25) if children else b"")
    return struct.pack("<QQQB", end, len(properties), len(body), len(name)) + name + body + tail


def test_offsets_of_64_bits(tmp_path: Path) -> None:
    inner = wide_record(b"Inner", [b"I" + struct.pack("<i", 5)], [], 27 + 25 + 5)
    data = BINARY_MAGIC + b"\x1a\x00" + struct.pack("<I", 7500) + wide_record(b"Outer", [], [inner], 27) + bytes(25)
    (tmp_path / "wide.fbx").write_bytes(data)
    outer = load(tmp_path / "wide.fbx").root.first("Outer")
    assert outer is not None and outer.value("Inner") == 5


def damaged_files() -> dict[str, tuple[bytes, str]]:
    """Files with one fault each, and what the sentence about it says."""
    sound, text = encode(tree()), to_ascii(tree())
    packed = zlib.compress(LONG.tobytes(), 1)
    start = sound.index(packed)
    head = start - 12
    version = BINARY_MAGIC + b"\x1a\x00" + struct.pack("<I", 6100)
    return {
        "empty": (b"", "is not an FBX file"),
        "other": (b"glTF" + bytes(100), "is not an FBX file"),
        "header only": (sound[:25], "ends within its header"),
        "cut": (sound[: len(sound) // 2], "outside the one that holds it"),
        "old": (version + sound[27:], "is FBX version 6100"),
        "end before start": (sound[:27] + struct.pack("<I", 28) + sound[31:], "outside the one that holds it"),
        "damaged array": (sound[:start] + b"\xff" * 8 + sound[start + 8 :], "damaged array"),
        "array that claims more": (sound[:head] + struct.pack("<I", 5000) + sound[head + 4 :], "claims 5000 numbers"),
        "encoding": (sound[: head + 4] + struct.pack("<I", 9) + sound[head + 8 :], "unknown encoding 9"),
        "ASCII cut": (text[: text.index(b"Deeper")], "ends within"),
        "ASCII quote": (text.replace(b'"\xc3\xbc"', b'"'), "does not end"),
        "ASCII bracket": (text + b"\n}", "never opened"),
        "ASCII word": (text.replace(b"a: 0.0,", b"a: zero,"), "not a usable number"),
        "ASCII version": (text.replace(b"FBXVersion: 7400", b"FBXVersion: x"), "which version"),
    }


@pytest.mark.parametrize("name", damaged_files())
def test_damage_gives_one_sentence(name: str, tmp_path: Path) -> None:
    data, words = damaged_files()[name]
    path = tmp_path / "damaged.fbx"
    path.write_bytes(data)
    with pytest.raises(FileError, match=words) as caught:
        document = load(path)
        objects = document.root.first("Objects")
        assert objects is not None
        document.floats(objects.children[1].children[0], "Vertices", 1)
    assert isinstance(caught.value, BadFile | Unsupported) and "\n" not in str(caught.value)


def test_an_array_cannot_unpack_to_more_than_its_file_may_need(tmp_path: Path) -> None:
    path = tmp_path / "bomb.fbx"
    path.write_bytes(encode([FbxNode("Objects", [], [leaf("Vertices", np.zeros(50_000_000))])]))
    document = load(path)
    objects = document.root.first("Objects")
    assert objects is not None and path.stat().st_size < 3_000_000
    with pytest.raises(BadFile, match="more memory"):
        document.array(objects, "Vertices")
