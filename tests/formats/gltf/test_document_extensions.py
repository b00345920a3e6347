"""Extensions: refused by name where they are needed, kept or noted where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.gltf.minimal import Minimal, one_triangle

from understudy.errors import BadFile, Unsupported
from understudy.formats import gltf


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("VENDOR_secret", "VENDOR_secret"),
        ("KHR_materials_variants", "KHR_materials_variants"),
    ],
)
def test_required_and_unknown_is_refused_by_name(tmp_path: Path, name: str, words: str) -> None:
    made = one_triangle()
    made.root |= {"extensionsUsed": [name], "extensionsRequired": [name]}
    with pytest.raises(Unsupported, match=name) as caught:
        gltf.read(made.save(tmp_path))
    assert words in str(caught.value) and caught.value.place == "extensionsRequired[0]"


@pytest.mark.parametrize(
    "name", ["KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit", "KHR_lights_punctual"]
)
def test_required_and_known_is_read(tmp_path: Path, name: str) -> None:
    made = one_triangle()
    made.root |= {"extensionsUsed": [name], "extensionsRequired": [name]}
    assert gltf.read(made.save(tmp_path)).notes == ()


def test_optional_and_unknown_is_noted_once(tmp_path: Path) -> None:
    made = one_triangle()
    made.root["extensionsUsed"] = ["VENDOR_secret", "KHR_materials_unlit", "VENDOR_secret"]
    assert gltf.read(made.save(tmp_path)).notes == ("the optional extension VENDOR_secret was left out",)


def test_meshopt_without_its_bytes_is_refused(tmp_path: Path) -> None:
    made = one_triangle()
    made.root["buffers"] = [{"byteLength": 36, "extensions": {"EXT_meshopt_compression": {"fallback": True}}}]
    made.root["bufferViews"][0]["extensions"] = {"EXT_meshopt_compression": {"buffer": 1}}
    made.data = b""
    with pytest.raises(BadFile, match=r"EXT_meshopt_compression\.buffer"):
        gltf.read(made.save(tmp_path))


def test_the_lists_must_hold_names(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="extensionsUsed"):
        gltf.read(Minimal(extensionsUsed=[3]).save(tmp_path))
