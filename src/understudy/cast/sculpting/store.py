"""A character's file: it as arrays and a JSON header in one compressed NumPy archive, without pickle.

Rest vertices, weights and UVs are kept to the last bit. Deltas of shapes become 16-bit steps of their shape's largest
(`STEPS`): an error below a hundredth of a millimetre where a shape moves 30 cm, and the same for left and right. That
holds for shapes of layers and for those of a mesh.
Normals are computed anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.cast import geometry
from understudy.cast.sculpting import store_layers
from understudy.character import Character, Image, Material, Mesh, Part, Shapes, Skeleton, Skin, SparseShapes, Texture
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats.npz_archive import Archive

VERSION = 1


def write(character: Character, path: str | Path) -> None:
    """The character into one file; the same character always gives the same bytes."""
    arrays: dict[str, Array] = {}
    joints = character.skeleton
    header: dict[str, Any] = {
        "version": VERSION,
        "name": character.name,
        "joints": list(joints.names),
        "parts": [_pack_part(part, f"part{i}", arrays) for i, part in enumerate(character.parts)],
    }
    arrays["joints.parents"] = joints.parents
    for name in ("translations", "rotations", "scales"):
        arrays[f"joints.{name}"] = getattr(joints, name)
    if character.layers is not None:
        header["layers"] = store_layers.pack(character.layers, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with files.written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read(path: str | Path) -> Character:
    """The character of a file that `write` made."""
    with Archive(path) as archive:
        if "header" not in archive:
            raise BadFile(path, "holds no header, but a character's file begins with one")
        arrays = {name: archive.read(name) for name in archive.names}
    try:
        header = json.loads(arrays["header"].tobytes())
        if header["version"] != VERSION:
            raise BadFile(path, f"is of version {header['version']}, but {VERSION} is read")
        joints = Skeleton(
            header["joints"],
            arrays["joints.parents"],
            arrays["joints.translations"],
            arrays["joints.rotations"],
            arrays["joints.scales"],
        )
        parts = [_unpack_part(entry, f"part{i}", arrays) for i, entry in enumerate(header["parts"])]
        layers = store_layers.unpack(header["layers"], arrays) if "layers" in header else None
    except (KeyError, ValueError, TypeError) as error:
        raise BadFile(path, f"is not a character's file ({error!r})") from error
    return Character(header["name"], joints, parts, layers=layers)


def _pack_part(part: Part, key: str, arrays: dict[str, Array]) -> dict[str, Any]:
    mesh, skin = part.mesh, part.skin
    arrays[f"{key}.vertices"] = mesh.vertices
    arrays[f"{key}.triangles"] = _narrow(mesh.triangles)
    arrays[f"{key}.skin_joints"] = skin.joints
    arrays[f"{key}.inverse_binds"] = skin.inverse_binds
    arrays[f"{key}.influences"] = _narrow(skin.influences)
    arrays[f"{key}.weights"] = skin.weights
    if mesh.colours is not None:
        arrays[f"{key}.colours"] = mesh.colours
    for number, uv in enumerate(mesh.uvs):
        arrays[f"{key}.uv{number}"] = uv
    materials = [_pack_material(m, arrays) for m in mesh.materials]
    entry = {"name": part.name, "mesh": mesh.name, "method": skin.method, "uvs": len(mesh.uvs), "materials": materials}
    if mesh.shapes is not None:
        entry["shapes"] = list(mesh.shapes.names)
        moved = [np.flatnonzero(delta.any(axis=1)) for delta in mesh.shapes.deltas]
        sparse = {name: (at, delta[at]) for name, at, delta in zip(mesh.shapes.names, moved, mesh.shapes.deltas)}
        store_layers.pack_shapes(SparseShapes.gathered(sparse), arrays, f"{key}.shapes")
    return entry


def _unpack_part(entry: Mapping[str, Any], key: str, arrays: Mapping[str, Array]) -> Part:
    vertices, triangles = arrays[f"{key}.vertices"], arrays[f"{key}.triangles"].astype(np.int32)
    mesh = Mesh(
        entry["mesh"],
        vertices,
        triangles,
        normals=geometry.normals(vertices.astype(float), triangles),
        uvs=[arrays[f"{key}.uv{number}"] for number in range(entry["uvs"])],
        colours=arrays.get(f"{key}.colours"),
        materials=[_unpack_material(m, arrays) for m in entry["materials"]],
        shapes=_unpack_shapes(entry["shapes"], f"{key}.shapes", arrays, len(vertices)) if "shapes" in entry else None,
    )
    skin = Skin(
        arrays[f"{key}.skin_joints"],
        arrays[f"{key}.inverse_binds"],
        arrays[f"{key}.influences"],
        arrays[f"{key}.weights"],
        entry["method"],
    )
    return Part(entry["name"], mesh, skin)


def _unpack_shapes(names: list[str], key: str, arrays: Mapping[str, Array], vertices: int) -> Shapes:
    sparse = store_layers.unpack_shapes(names, arrays, key)
    return Shapes(names, [sparse.dense(shape, vertices) for shape in range(len(names))])


def _pack_material(material: Material, arrays: dict[str, Array]) -> dict[str, Any]:
    plain = ("name", "colour", "metallic", "roughness", "emissive", "alpha_mode", "alpha_cutoff", "double_sided")
    entry: dict[str, Any] = {name: getattr(material, name) for name in plain}
    entry["extra"] = dict(material.extra)
    entry["textures"] = {}
    for slot, texture in material.textures.items():
        # the same picture on several parts is kept once
        image = f"image.{texture.image.name}"
        arrays[image] = np.frombuffer(texture.image.data, np.uint8)
        entry["textures"][slot] = {
            "image": {"name": texture.image.name, "mime": texture.image.mime},
            "uv_set": texture.uv_set,
            "sampler": dict(texture.sampler),
            "extra": dict(texture.extra),
        }
    return entry


def _unpack_material(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> Material:
    textures = {
        slot: Texture(
            Image(**kept["image"], data=arrays[f"image.{kept['image']['name']}"].tobytes()),
            kept["uv_set"],
            kept["sampler"],
            kept["extra"],
        )
        for slot, kept in entry["textures"].items()
    }
    tuples = {name: tuple(entry[name]) for name in ("colour", "emissive")}
    return Material(**{**entry, **tuples, "textures": textures})


def _narrow(numbers: Array) -> Array:
    """Indices in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
