"""Accessors: plain, strided, sparse, normalised, quantised, without data; and what they may not claim."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.formats.gltf.minimal import TRIANGLE, Minimal, one_triangle

from understudy.character import Mesh
from understudy.errors import BadFile
from understudy.formats import gltf


def mesh_of(made: Minimal, folder: Path) -> Mesh:
    return gltf.read(made.save(folder)).character().parts[0].mesh


def with_position(accessor: int, made: Minimal, **attributes: int) -> Minimal:
    made.add("meshes", {"primitives": [{"attributes": {"POSITION": accessor, **attributes}}]})
    made.add("nodes", {"mesh": 0})
    return made


def test_strided_and_interleaved(tmp_path: Path) -> None:
    made = Minimal()
    both = np.concatenate([TRIANGLE, TRIANGLE[::-1] + 5], axis=1).astype(np.float32)
    view = made.view(both.tobytes(), byteStride=24)
    common = {"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3"}
    position, normal = made.add("accessors", common), made.add("accessors", common | {"byteOffset": 12})
    mesh = mesh_of(with_position(position, made, NORMAL=normal), tmp_path)
    assert (mesh.vertices == TRIANGLE).all()
    assert mesh.normals is not None and (mesh.normals == TRIANGLE[::-1] + 5).all()


@pytest.mark.parametrize("based", [True, False])
@pytest.mark.parametrize("index_type", [np.uint8, np.uint16, np.uint32])
def test_sparse(tmp_path: Path, based: bool, index_type: Any) -> None:
    made = Minimal()
    rows, values = np.array([0, 2], index_type), np.array([[7, 8, 9], [1, 2, 3]], np.float32)
    sparse = {
        "count": 2,
        "indices": {
            "bufferView": made.view(rows.tobytes()),
            "componentType": {1: 5121, 2: 5123, 4: 5125}[rows.itemsize],
        },
        "values": {"bufferView": made.view(values.tobytes())},
    }
    if based:
        position = made.accessor(TRIANGLE, "VEC3", sparse=sparse)
    else:
        position = made.add("accessors", {"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse})
    expected = TRIANGLE.copy() if based else np.zeros((3, 3), np.float32)
    expected[rows] = values
    assert (mesh_of(with_position(position, made), tmp_path).vertices == expected).all()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"count": 4}, "accessors[0].sparse.count"),
        ({"indices": {"componentType": 5126, "bufferView": 0}}, "accessors[0].sparse.indices.componentType"),
        ({"indices": {"componentType": 5121}}, "accessors[0].sparse.indices.bufferView"),
        ({"values": {"bufferView": 9}}, "accessors[0].sparse.values.bufferView"),
        ({"indices": {"componentType": 5121, "bufferView": 1, "byteOffset": 1}}, "accessors[0].sparse.indices"),
        ({"values": {"bufferView": 0}}, "accessors[0].sparse.values.count"),
    ],
)
def test_bad_sparse_is_named(tmp_path: Path, change: dict, place: str) -> None:
    made = Minimal()
    made.view(bytes([0, 2]))
    made.view(bytes([0, 2, 1]))
    sparse = {"count": 2, "indices": {"bufferView": 0, "componentType": 5121}, "values": {"bufferView": 2}}
    made.view(bytes(24))
    position = made.accessor(TRIANGLE, "VEC3", sparse=sparse | change)
    with pytest.raises(BadFile) as caught:
        mesh_of(with_position(position, made), tmp_path)
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("dtype", "stored", "expected"),
    [
        (np.uint8, [[0, 255], [51, 102], [255, 0]], [[0, 1], [0.2, 0.4], [1, 0]]),
        (np.uint16, [[0, 65535], [13107, 0], [1, 2]], [[0, 1], [0.2, 0], [1 / 65535, 2 / 65535]]),
        (np.int8, [[-128, 127], [-127, 0], [64, 1]], [[-1, 1], [-1, 0], [64 / 127, 1 / 127]]),
        (np.int16, [[-32768, 32767], [-32767, 0], [1, -1]], [[-1, 1], [-1, 0], [1 / 32767, -1 / 32767]]),
    ],
)
def test_normalised_integers(tmp_path: Path, dtype: Any, stored: list, expected: list) -> None:
    made = Minimal(extensionsUsed=["KHR_mesh_quantization"], extensionsRequired=["KHR_mesh_quantization"])
    uv = made.accessor(stored, "VEC2", dtype, normalized=True)
    mesh = mesh_of(with_position(made.accessor(TRIANGLE, "VEC3"), made, TEXCOORD_0=uv), tmp_path)
    np.testing.assert_allclose(mesh.uvs[0], expected, atol=1e-7)


def test_quantised_positions_keep_their_integers(tmp_path: Path) -> None:
    made = Minimal(extensionsRequired=["KHR_mesh_quantization"])
    stored = np.array([[0, 0, 0, 0], [-1000, 2000, 30000, 0], [5, 6, 7, 0]], np.int16)  # padded to four bytes
    view = made.view(stored.tobytes(), byteStride=8)
    position = made.add("accessors", {"bufferView": view, "componentType": 5122, "count": 3, "type": "VEC3"})
    assert mesh_of(with_position(position, made), tmp_path).vertices[1].tolist() == [-1000, 2000, 30000]


def test_without_data_all_is_zero(tmp_path: Path) -> None:
    made = Minimal()
    position = made.add("accessors", {"componentType": 5126, "count": 6, "type": "VEC3"})
    mesh = mesh_of(with_position(position, made), tmp_path)
    assert len(mesh.vertices) == 6 and not mesh.vertices.any()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"count": 4}, "accessors[0].count"),
        ({"count": 10**12}, "accessors[0].count"),
        ({"count": 10**9}, "accessors[0].count"),
        ({"count": 0}, "accessors[0].count"),
        ({"count": -1}, "accessors[0].count"),
        ({"count": 2.5}, "accessors[0].count"),
        ({"count": True}, "accessors[0].count"),
        ({"count": None}, "accessors[0].count"),
        ({"byteOffset": 4}, "accessors[0].count"),
        ({"byteOffset": -4}, "accessors[0].byteOffset"),
        ({"bufferView": 5}, "accessors[0].bufferView"),
        ({"bufferView": "0"}, "accessors[0].bufferView"),
        ({"componentType": 5124}, "accessors[0].componentType"),
        ({"componentType": [5126]}, "accessors[0].componentType"),
        ({"type": "VEC5"}, "accessors[0].type"),
        ({"type": None}, "accessors[0].type"),
        ({"type": "VEC2"}, "meshes[0].primitives[0].attributes.POSITION"),
        ({"componentType": 5125}, "meshes[0].primitives[0].attributes.POSITION"),
        ({"normalized": 1}, "accessors[0].normalized"),
    ],
)
def test_bad_accessors_are_named(tmp_path: Path, change: dict, place: str) -> None:
    made = one_triangle()
    made.root["accessors"][0].update(change)
    with pytest.raises(BadFile) as caught:
        gltf.read(made.save(tmp_path))
    assert caught.value.place == place
    assert str(caught.value).count("\n") == 0


def test_whole_numbers_may_be_written_as_floats(tmp_path: Path) -> None:
    made = one_triangle()
    made.root["accessors"][0]["count"] = 3.0
    assert gltf.read(made.save(tmp_path)).character().vertex_count == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_positions_must_be_finite(tmp_path: Path, bad: float) -> None:
    made = Minimal()
    positions = TRIANGLE.copy()
    positions[1, 2] = bad
    with pytest.raises(BadFile, match=r"accessors\[0\].*no triangle"):
        mesh_of(with_position(made.accessor(positions, "VEC3"), made), tmp_path)


@pytest.mark.parametrize("backed_by_sparse", [False, True])
def test_a_billion_vertices_are_refused_before_memory_is_taken(tmp_path: Path, backed_by_sparse: bool) -> None:
    made = Minimal()
    claim = {"componentType": 5126, "count": 10**9, "type": "VEC3"}
    if backed_by_sparse:
        view = made.view(bytes(12))
        claim["sparse"] = {
            "count": 1,
            "indices": {"bufferView": view, "componentType": 5121},
            "values": {"bufferView": view},
        }
    path = with_position(made.add("accessors", claim), made).save(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match="far more memory"):
            gltf.read(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def test_many_small_claims_add_up(tmp_path: Path) -> None:
    """Each of a thousand morph targets without data is small; together they are not."""
    made = Minimal()
    zeros = made.add("accessors", {"componentType": 5126, "count": 200_000, "type": "VEC3"})
    primitive = {"attributes": {"POSITION": zeros}, "targets": [{"POSITION": zeros}] * 1000}
    made.add("meshes", {"primitives": [primitive]})
    made.add("nodes", {"mesh": 0})
    path = made.save(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match="far more memory"):
            gltf.read(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 29
    finally:
        tracemalloc.stop()
