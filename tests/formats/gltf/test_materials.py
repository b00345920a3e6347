"""Materials, textures and pictures: everything kept, also what only glTF knows."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from tests.formats.gltf.minimal import Minimal

from understudy.character import Material, Texture
from understudy.formats import gltf

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def surfaced(material: dict, **root: object) -> Minimal:
    made = Minimal(materials=[material], **root)
    mesh = made.mesh()
    primitive = made.root["meshes"][mesh]["primitives"][0]
    primitive["material"] = 0
    primitive["attributes"] |= {f"TEXCOORD_{i}": made.accessor(np.zeros((3, 2)), "VEC2") for i in range(2)}
    made.add("nodes", {"mesh": mesh})
    return made


def material_of(path: Path) -> Material:
    return gltf.read(path).character().parts[0].mesh.materials[0]


FULL = {
    "name": "skin",
    "pbrMetallicRoughness": {
        "baseColorFactor": [0.5, 0.25, 0.125, 0.75],
        "metallicFactor": 0.25,
        "roughnessFactor": 0.5,
        "baseColorTexture": {
            "index": 0,
            "texCoord": 1,
            "extensions": {"KHR_texture_transform": {"offset": [0.5, 0.5], "scale": [2, 2]}},
        },
        "metallicRoughnessTexture": {"index": 1},
    },
    "normalTexture": {"index": 0, "scale": 0.5},
    "occlusionTexture": {"index": 1, "strength": 0.75},
    "emissiveTexture": {"index": 0},
    "emissiveFactor": [0.5, 0, 1],
    "alphaMode": "MASK",
    "alphaCutoff": 0.25,
    "doubleSided": True,
    "extensions": {
        "KHR_materials_clearcoat": {"clearcoatFactor": 0.5, "clearcoatTexture": {"index": 1, "texCoord": 1}},
        "KHR_materials_unlit": {},
    },
    "extras": {"rating": 5},
}


def full(folder: Path) -> Path:
    made = surfaced(
        FULL,
        extensionsUsed=["KHR_texture_transform", "KHR_materials_clearcoat", "KHR_materials_unlit"],
        textures=[{"source": 0, "sampler": 0}, {"source": 1}],
        samplers=[{"magFilter": 9728, "wrapS": 33071}],
    )
    made.add("images", {"name": "one", "mimeType": "image/png", "bufferView": made.view(PNG)})
    made.add("images", {"uri": "two.png"})
    (folder / "two.png").write_bytes(PNG + b"2")
    return made.save(folder)


def check_full(material: Material) -> None:
    assert material.name == "skin" and material.colour == (0.5, 0.25, 0.125, 0.75)
    assert (material.metallic, material.roughness, material.emissive) == (0.25, 0.5, (0.5, 0, 1))
    assert (material.alpha_mode, material.alpha_cutoff, material.double_sided) == ("MASK", 0.25, True)
    assert set(material.textures) == {"colour", "normal", "metallic_roughness", "occlusion", "emissive"}
    colour = material.textures["colour"]
    assert colour.image.data == PNG and colour.image.mime == "image/png" and colour.image.name == "one"
    assert colour.uv_set == 1 and dict(colour.sampler) == {"magFilter": 9728, "wrapS": 33071}
    assert colour.extra["extensions"]["KHR_texture_transform"]["scale"] == [2, 2]
    assert material.textures["normal"].extra["scale"] == 0.5
    assert material.textures["occlusion"].extra["strength"] == 0.75
    assert material.textures["occlusion"].image.data == PNG + b"2"
    clearcoat = material.extra["extensions"]["KHR_materials_clearcoat"]
    assert clearcoat["clearcoatFactor"] == 0.5
    assert isinstance(clearcoat["clearcoatTexture"], Texture) and clearcoat["clearcoatTexture"].uv_set == 1
    assert "KHR_materials_unlit" in material.extra["extensions"] and material.extra["extras"] == {"rating": 5}


def test_everything_is_kept(tmp_path: Path) -> None:
    check_full(material_of(full(tmp_path)))


@pytest.mark.parametrize("name", ["again.glb", "again.gltf"])
def test_everything_is_kept_through_a_round_trip(tmp_path: Path, name: str) -> None:
    again = tmp_path / name
    assert gltf.write(gltf.read(full(tmp_path)), again) == []
    (tmp_path / "two.png").unlink()
    check_full(material_of(again))


def test_defaults_are_those_of_the_specification(tmp_path: Path) -> None:
    material = material_of(surfaced({}).save(tmp_path))
    assert material == Material("material_0", metallic=1.0, roughness=1.0)


@pytest.mark.parametrize("uri", ["missing.png", "../outside.png", "http://example.com/x.png"])
def test_a_missing_picture_is_noted_not_refused(tmp_path: Path, uri: str) -> None:
    made = surfaced({"emissiveTexture": {"index": 0}}, textures=[{"source": 0}], images=[{"uri": uri}])
    asset = gltf.read(made.save(tmp_path))
    assert any(note.startswith("picture ") and "was left out" in note for note in asset.notes)
    assert asset.character().parts[0].mesh.materials[0].textures["emissive"].image.data == b""


@pytest.mark.parametrize(
    ("material", "place"),
    [
        ({"alphaMode": "GLASS"}, "materials[0].alphaMode"),
        ({"doubleSided": 1}, "materials[0].doubleSided"),
        ({"emissiveFactor": [1, 1]}, "materials[0].emissiveFactor"),
        ({"emissiveTexture": {"index": 3}}, "materials[0].emissiveTexture.index"),
        ({"emissiveTexture": {"texCoord": 0}}, "materials[0].emissiveTexture.index"),
        ({"pbrMetallicRoughness": []}, "materials[0].pbrMetallicRoughness"),
        ({"pbrMetallicRoughness": {"metallicFactor": "1"}}, "materials[0].pbrMetallicRoughness.metallicFactor"),
        ({"emissiveTexture": {"index": 0}}, "textures[0].source"),
        ({"emissiveTexture": {"index": 1}}, "images[0]"),
    ],
)
def test_damaged_materials_are_noted_and_replaced(tmp_path: Path, material: dict, place: str) -> None:
    made = surfaced(material, textures=[{"source": 5}, {"source": 0}], images=[{}])
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().parts[0].mesh.material() == Material()
    assert any(note.startswith(f"materials that cannot be read were left out (1): {place} ") for note in asset.notes), (
        asset.notes
    )


def test_extras_with_half_a_surrogate_pair_are_written(tmp_path: Path) -> None:
    path = surfaced({"extras": {"odd": "\ud800"}}).save(tmp_path)
    gltf.write(gltf.read(path), tmp_path / "again.glb")
    assert material_of(tmp_path / "again.glb").extra["extras"] == {"odd": "\ud800"}
