"""Draco: compressed files equal their plain twins, and damage stays in the child process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree
from tests.data_folder import data_file, field_file
from tests.formats.gltf.minimal import TRIANGLE, Minimal, one_triangle

from understudy.character.rig import DirectRig
from understudy.errors import BadFile, MissingExtra
from understudy.formats import gltf, read
from understudy.formats.gltf import accessors
from understudy.formats.gltf.document import DRACO_EXTENSION

needs_library = pytest.mark.skipif(importlib.util.find_spec("DracoPy") is None, reason="DracoPy is not installed")
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)
CORNERS = np.array([[0, 1, 2], [2, 1, 3]])


def compressed(data: bytes, attributes: dict[str, int]) -> Minimal:
    """A square whose vertices and triangles are only in a Draco mesh."""
    made = Minimal(extensionsUsed=[DRACO_EXTENSION], extensionsRequired=[DRACO_EXTENSION])
    made.add("accessors", {"componentType": 5126, "type": "VEC3", "count": 4})
    made.add("accessors", {"componentType": 5123, "type": "SCALAR", "count": 6})
    extension = {DRACO_EXTENSION: {"bufferView": made.view(data), "attributes": attributes}}
    made.add("meshes", {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "extensions": extension}]})
    made.add("nodes", {"mesh": 0})
    return made


def encoded_square() -> bytes:
    import DracoPy

    return DracoPy.encode(SQUARE, CORNERS, quantization_bits=14)


@needs_library
def test_a_compressed_mesh_is_read(tmp_path: Path) -> None:
    character = gltf.read(compressed(encoded_square(), {"POSITION": 0}).save(tmp_path)).character()
    distance, nearest = cKDTree(SQUARE).query(character.parts[0].mesh.vertices)
    assert distance.max() < 1e-4
    assert sorted(map(sorted, nearest[character.triangles].tolist())) == sorted(map(sorted, CORNERS.tolist()))


@needs_library
@pytest.mark.parametrize("attributes", [{"POSITION": 5}, {"POSITION": "0"}])
def test_an_attribute_that_is_not_there_is_named(tmp_path: Path, attributes: dict) -> None:
    with pytest.raises(BadFile) as caught:
        gltf.read(compressed(encoded_square(), attributes).save(tmp_path))
    assert caught.value.place.endswith(f"extensions.{DRACO_EXTENSION}.attributes.POSITION")


@needs_library
def test_damaged_meshes_give_a_sentence(tmp_path: Path) -> None:
    sound = encoded_square()
    for data in (sound[: len(sound) // 2], b"DRACO" + bytes(60), b"not compressed at all"):
        with pytest.raises(BadFile, match="damaged") as caught:
            gltf.read(compressed(data, {"POSITION": 0}).save(tmp_path))
        assert "\n" not in str(caught.value)


@needs_library
def test_a_crash_of_the_library_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accessors, "DRACO_COMMAND", "import os; os.abort()")
    with pytest.raises(BadFile, match="the Draco library cannot get through"):
        gltf.read(compressed(encoded_square(), {"POSITION": 0}).save(tmp_path))


def test_without_the_library_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'understudy\[draco\]'"):
        gltf.read(compressed(b"DRACO", {"POSITION": 0}).save(tmp_path))


def test_optional_compression_beside_plain_data_is_not_needed(tmp_path: Path) -> None:
    made = one_triangle()
    made.root["extensionsUsed"] = [DRACO_EXTENSION]
    primitive = made.root["meshes"][0]["primitives"][0]
    primitive["extensions"] = {DRACO_EXTENSION: {"bufferView": 0, "attributes": {"POSITION": 0}}}
    assert (gltf.read(made.save(tmp_path)).character().parts[0].mesh.vertices == TRIANGLE).all()


@needs_library
@pytest.mark.parametrize("name", ["RiggedFigure", "RiggedSimple"])
def test_characters_equal_their_plain_twins(name: str) -> None:
    """Within the quantisation of the files, 11 bits: half a step is 2.4e-4 of the size along each axis."""
    packed, plain = read(field_file(f"compressed/{name}.draco.gltf")), read(data_file(f"gltf_khronos/{name}.glb"))
    assert len(packed.character().triangles) == len(plain.character().triangles)
    animation = plain.animations[0]
    for time in animation.start + animation.duration * np.linspace(0, 1, 5):
        ours, theirs = (
            rig.vertices(rig.pose(asset.animations[0], np.array([time])))[0]
            for asset in (packed, plain)
            for rig in [DirectRig(asset.character())]
        )
        size = np.ptp(theirs, axis=0).max()
        assert cKDTree(theirs).query(ours)[0].max() < 5e-4 * size
        assert cKDTree(ours).query(theirs)[0].max() < 5e-4 * size
