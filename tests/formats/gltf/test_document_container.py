"""Containers: .glb and .gltf by their content, and every way in which they can be cut or bent."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.formats.gltf.minimal import container, one_triangle

from understudy.errors import BadFile, FileError, Unsupported
from understudy.formats import gltf


@pytest.mark.parametrize("name", ["made.glb", "made.gltf"])
def test_both_containers_hold_the_same(tmp_path: Path, name: str) -> None:
    asset = gltf.read(one_triangle().save(tmp_path, name))
    assert asset.format == name.split(".")[1]
    assert asset.character().parts[0].mesh.vertices[1].tolist() == [1, 0, 0]


def test_the_content_decides_not_the_ending(tmp_path: Path) -> None:
    binary = one_triangle().save(tmp_path, "made.glb").rename(tmp_path / "other.gltf")
    assert gltf.read(binary).character().vertex_count == 3


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = one_triangle().save(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert gltf.read(path).character().vertex_count == 3


def test_unknown_chunks_are_skipped(tmp_path: Path) -> None:
    path = one_triangle().save(tmp_path, "made.glb")
    data = path.read_bytes() + struct.pack("<II", 4, 0x12345678) + b"\0\0\0\0"
    path.write_bytes(data[:8] + struct.pack("<I", len(data)) + data[12:])
    assert gltf.read(path).character().vertex_count == 3


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not valid JSON"),
        (b"HIERARCHY\nROOT hips", "nor a .glb"),
        (b"glTF", "within the header"),
        (b"glTF" + struct.pack("<II", 2, 12), "no JSON chunk"),
        (b"glTF" + struct.pack("<II", 2, 999) + b"\0" * 20, "cut short"),
        (b"glTF" + struct.pack("<IIII", 2, 20, 99, 0x4E4F534A), "chunk 0: has 99 bytes"),
        (b"glTF" + struct.pack("<IIII", 2, 20, 0, 7), "should be JSON"),
        (container(b"[1, 2]", b""), "should hold a JSON object"),
        (b"\xff\xfe\x00", "neither a .glb nor JSON"),
        (b'{"asset": ', "line 1 column"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"asset": {"version": "2.0"}, "scene": NaN}', "NaN is not a number"),
        (b'{"asset": {"version": "2.0"}, "scene": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"scene": 0}', "asset.version: is missing"),
        (b'{"asset": 3}', "asset: should be an object"),
    ],
)
def test_damage_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "bad.glb"
    path.write_bytes(data)
    with pytest.raises(BadFile, match=r"bad\.glb") as caught:
        gltf.read(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "version", ['{"version": "1.0"}', '{"version": "3.0"}', '{"version": "2.1", "minVersion": "3.0"}']
)
def test_other_versions_are_unsupported(tmp_path: Path, version: str) -> None:
    path = tmp_path / "old.gltf"
    path.write_text(f'{{"asset": {version}}}')
    with pytest.raises(Unsupported, match=r"only version 2\.0"):
        gltf.read(path)


def test_a_binary_of_version_one_is_unsupported(tmp_path: Path) -> None:
    path = tmp_path / "old.glb"
    path.write_bytes(b"glTF" + struct.pack("<II", 1, 12))
    with pytest.raises(Unsupported, match="version 1"):
        gltf.read(path)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = one_triangle().save(tmp_path, "made.glb").read_bytes()
    path = tmp_path / "cut.glb"
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        with pytest.raises(FileError):
            gltf.read(path)


def test_an_empty_document_is_an_empty_asset(tmp_path: Path) -> None:
    path = tmp_path / "empty.gltf"
    path.write_text('{"asset": {"version": "2.0"}}')
    asset = gltf.read(path)
    assert asset.characters == () and asset.animations == ()
