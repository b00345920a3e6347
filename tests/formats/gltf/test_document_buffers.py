"""Buffers: embedded, in the chunk, in files beside; and nothing from anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.gltf.minimal import Minimal, one_triangle

from understudy.errors import BadFile, FileError, Unsupported
from understudy.formats import gltf


def external(folder: Path, uri: str) -> Path:
    made = one_triangle()
    made.root["buffers"] = [{"byteLength": len(made.data), "uri": uri}]
    (folder / "the data.bin").write_bytes(made.data)
    return made.save(folder)


@pytest.mark.parametrize("uri", ["the data.bin", "the%20data.bin", "./the%20data.bin"])
def test_a_file_beside_is_read(tmp_path: Path, uri: str) -> None:
    assert gltf.read(external(tmp_path, uri)).character().vertex_count == 3


@pytest.mark.parametrize(
    "uri",
    [
        "../the data.bin",
        "%2e%2e/the data.bin",
        "inner/../../x.bin",
        "..\\x.bin",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://example.com/x.bin",
        "C:\\x.bin",
        "~/x.bin",
    ],
)
def test_nothing_outside_the_folder_is_touched(tmp_path: Path, uri: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "the data.bin").write_bytes(bytes(64))
    with pytest.raises(Unsupported, match=r"buffers\[0\]\.uri"):
        gltf.read(external(inner, uri))


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    (inner / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(Unsupported, match="outside its own folder"):
        gltf.read(external(inner, "link.bin"))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"uri": "missing.bin"}, "buffers[0].uri"),
        ({"uri": "a\0b"}, "buffers[0].uri"),
        ({"uri": "data:application/octet-stream;base64,@@@" + "x" * 60}, "buffers[0].uri"),
        ({"uri": "data:nothing" + "x" * 60}, "buffers[0].uri"),
        ({"uri": 7}, "buffers[0].uri"),
        ({"uri": "data:,abc"}, "buffers[0].byteLength"),
        ({"byteLength": 10**9}, "buffers[0].byteLength"),
        ({"byteLength": 0}, "buffers[0].byteLength"),
        ({"byteLength": "36"}, "buffers[0].byteLength"),
    ],
)
def test_bad_buffers_are_named(tmp_path: Path, change: dict, place: str) -> None:
    made = one_triangle()
    made.save(tmp_path)
    made.root["buffers"][0].update(change)
    with pytest.raises(BadFile) as caught:
        gltf.read(made.save(tmp_path))
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"buffer": 4}, "bufferViews[0].buffer"),
        ({"buffer": None}, "bufferViews[0].buffer"),
        ({"byteOffset": -4}, "bufferViews[0].byteOffset"),
        ({"byteLength": 4000}, "bufferViews[0].byteLength"),
        ({"byteStride": 3}, "bufferViews[0].byteStride"),
        ({"byteStride": 8}, "accessors[0].bufferView"),
    ],
)
def test_bad_views_are_named(tmp_path: Path, change: dict, place: str) -> None:
    made = one_triangle()
    made.root["bufferViews"][0].update(change)
    with pytest.raises(BadFile) as caught:
        gltf.read(made.save(tmp_path))
    assert caught.value.place == place


def test_a_gltf_without_its_buffer_is_refused(tmp_path: Path) -> None:
    made = one_triangle()
    made.save(tmp_path)
    del made.root["buffers"][0]["uri"]
    made.data = b""
    with pytest.raises(BadFile, match="no binary chunk"):
        gltf.read(made.save(tmp_path))


def test_data_that_is_not_base64_is_percent_decoded(tmp_path: Path) -> None:
    made = one_triangle()
    made.root["buffers"] = [{"byteLength": 36, "uri": "data:," + "".join(f"%{byte:02x}" for byte in made.data)}]
    assert gltf.read(made.save(tmp_path)).character().parts[0].mesh.vertices[2].tolist() == [0, 1, 0]


def test_one_external_file_in_many_buffers_is_read_once_and_bounded(tmp_path: Path) -> None:
    made = Minimal(buffers=[{"byteLength": 8, "uri": "big.bin"}] * 1000)
    (tmp_path / "big.bin").write_bytes(bytes(1 << 16))
    made.add("nodes", {"mesh": 0})
    primitives = []
    for i in range(1000):
        made.add("bufferViews", {"buffer": i, "byteLength": 8})
        primitives.append({"attributes": {"POSITION": i}})
        made.add("accessors", {"bufferView": i, "componentType": 5126, "count": 1, "type": "VEC3"})
    made.add("meshes", {"primitives": primitives})
    with pytest.raises(FileError, match=r"accessors\[0\]\.count"):
        gltf.read(made.save(tmp_path))
