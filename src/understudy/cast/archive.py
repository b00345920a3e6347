"""A character's file: body and animation as arrays and a JSON header in one compressed NumPy archive, without pickle.

Rest vertices, weights, UVs, clips and keys are kept to the last bit. Deltas of shapes become 16-bit steps of their
shape's largest delta (`SHAPE_STEPS`): an error below a hundredth of a millimetre where a shape moves 30 cm, and the
same for left and right. That holds for shapes of layers and for those of a mesh. Vertex numbers of shapes are kept as
differences, which compress well.

Normals are computed from the vertices, and are in the file only where they differ from that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.character import (
    Asset,
    Channel,
    Character,
    Clip,
    Controls,
    Curve,
    Curves,
    Image,
    Lattice,
    Material,
    Mesh,
    Part,
    RigLayers,
    Shapes,
    Skeleton,
    SkinBinding,
    SparseShapes,
    Texture,
)
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.maths import vector
from understudy.storage import Archive

VERSION = 1
SHAPE_STEPS = 32767  # steps of the largest delta of a shape
CONTROL_TEXTS = ("names", "regions", "layers", "units", "about")
CONTROL_NUMBERS = ("low", "rest", "high", "odd")
LATTICE_NUMBERS = ("low", "high", "point", "axis", "control", "gain")
LAYER_NUMBERS = (
    "drive_parameter",
    "drive_control",
    "drive_gain",
    "corrective_parameter",
    "corrective_a",
    "corrective_b",
    "corrective_gain",
    "toward_parameter",
    "toward_control",
    "toward_target",
    "low",
    "high",
)
CURVE_NUMBERS = ("times", "values", "before", "after", "segments")


def write(asset: Asset, path: str | Path) -> None:
    """Write the asset's one character and its animation; the same asset always gives the same bytes."""
    arrays: dict[str, Array] = {}
    character = asset.character()
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
        header["layers"] = _pack_layers(character.layers, arrays)
    _pack_animation(header, arrays, asset.clips, asset.curves)
    _save(header, arrays, path)


def write_animation(path: str | Path, clips: Iterable[Clip] = (), curves: Iterable[Curves] = ()) -> None:
    """Replace the animation in a file that `write` made; the character's arrays stay as they are."""
    header, arrays = _open(path)
    arrays = {name: array for name, array in arrays.items() if not name.startswith(("clip", "curves"))}
    _pack_animation(header, arrays, clips, curves)
    _save(header, arrays, path)


def read(path: str | Path) -> Asset:
    """The character and the animation of a file that `write` made."""
    header, arrays = _open(path)
    try:
        joints = Skeleton(
            header["joints"],
            arrays["joints.parents"],
            arrays["joints.translations"],
            arrays["joints.rotations"],
            arrays["joints.scales"],
        )
        parts = [_unpack_part(entry, f"part{i}", arrays) for i, entry in enumerate(header["parts"])]
        layers = _unpack_layers(header["layers"], arrays) if "layers" in header else None
        clips = [_unpack_clip(entry, f"clip{i}", arrays) for i, entry in enumerate(header.get("clips", []))]
        curves = [_unpack_curves(entry, f"curves{i}", arrays) for i, entry in enumerate(header.get("curves", []))]
    except (KeyError, ValueError, TypeError) as error:
        raise BadFile(path, f"is not a character's file ({error!r})") from error
    return Asset([Character(header["name"], joints, parts, layers=layers)], clips, curves, format="cast")


def read_controls(path: str | Path) -> Controls:
    """The controls of a character with layers, without the rest of its file."""
    header, arrays = _open(path, "controls.")
    if "layers" not in header:
        raise BadFile(path, "holds a character without layers, so it has no controls")
    return _unpack_controls(header["layers"]["controls"], arrays)


def area_normals(vertices: Array, triangles: Array) -> Array:
    """(V, 3) unit normals: the mean of the triangles around each vertex, weighted by area.

    As `character.skinning.linear.vertex_normals` with weights by area, but in float64 and without loading compiled
    kernels, which takes longer than reading a character.
    """
    corners = vertices[triangles]
    face = vector.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(face[:, k], 3), len(vertices)) for k in range(3)], axis=1
    )
    return vector.normalise(total)


def _open(path: str | Path, prefix: str = "") -> tuple[dict[str, Any], dict[str, Array]]:
    """The header of a file, and its arrays, or those whose names begin with `prefix`."""
    with Archive(path) as archive:
        if "header" not in archive:
            raise BadFile(path, "holds no header, but a character's file begins with one")
        wanted = [name for name in archive.names if name.startswith(prefix) and name != "header"]
        text, arrays = archive.read("header").tobytes(), {name: archive.read(name) for name in wanted}
    try:
        header: dict[str, Any] = json.loads(text)
        if header["version"] != VERSION:
            raise BadFile(path, f"is of version {header['version']}, but {VERSION} is read")
    except (KeyError, ValueError, TypeError) as error:
        raise BadFile(path, f"is not a character's file ({error!r})") from error
    return header, arrays


def _save(header: Mapping[str, Any], arrays: dict[str, Array], path: str | Path) -> None:
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with files.write_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _pack_part(part: Part, key: str, arrays: dict[str, Array]) -> dict[str, Any]:
    mesh, skin = part.mesh, part.skin
    arrays[f"{key}.vertices"] = mesh.vertices
    arrays[f"{key}.triangles"] = _narrow(mesh.triangles)
    arrays[f"{key}.skin_joints"] = skin.joints
    arrays[f"{key}.inverse_binds"] = skin.inverse_binds
    arrays[f"{key}.influences"] = _narrow(skin.influences)
    arrays[f"{key}.weights"] = skin.weights
    if mesh.normals is not None and not np.array_equal(mesh.normals, _mesh_normals(mesh.vertices, mesh.triangles)):
        arrays[f"{key}.normals"] = mesh.normals
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
        _pack_shapes(SparseShapes.from_named_deltas(sparse), arrays, f"{key}.shapes")
    return entry


def _unpack_part(entry: Mapping[str, Any], key: str, arrays: Mapping[str, Array]) -> Part:
    vertices, triangles = arrays[f"{key}.vertices"], arrays[f"{key}.triangles"].astype(np.int32)
    kept = arrays.get(f"{key}.normals")
    mesh = Mesh(
        entry["mesh"],
        vertices,
        triangles,
        normals=_mesh_normals(vertices, triangles) if kept is None else kept,
        uvs=[arrays[f"{key}.uv{number}"] for number in range(entry["uvs"])],
        colours=arrays.get(f"{key}.colours"),
        materials=[_unpack_material(m, arrays) for m in entry["materials"]],
        shapes=_unpack_mesh_shapes(entry["shapes"], f"{key}.shapes", arrays, len(vertices))
        if "shapes" in entry
        else None,
    )
    skin = SkinBinding(
        arrays[f"{key}.skin_joints"],
        arrays[f"{key}.inverse_binds"],
        arrays[f"{key}.influences"],
        arrays[f"{key}.weights"],
        entry["method"],
    )
    return Part(entry["name"], mesh, skin)


def _mesh_normals(vertices: Array, triangles: Array) -> Array:
    return area_normals(vertices.astype(float), triangles).astype(np.float32)


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


def _pack_shapes(shapes: SparseShapes, arrays: dict[str, Array], key: str = "shapes") -> None:
    """Add the arrays of shapes to `arrays`, under names that begin with `key`."""
    largest = np.zeros(len(shapes))
    of = shapes.shape_of
    np.maximum.at(largest, of, np.abs(shapes.deltas).max(axis=1, initial=0))
    scale = np.where(largest > 0, largest / SHAPE_STEPS, 1.0)
    arrays[f"{key}.first"] = shapes.first
    arrays[f"{key}.differences"] = np.diff(shapes.vertices, prepend=np.int32(0)).astype(np.int32)
    arrays[f"{key}.scale"] = scale
    arrays[f"{key}.steps"] = np.round(shapes.deltas / scale[of][:, None]).astype(np.int16).T


def _unpack_shapes(names: list[str], arrays: Mapping[str, Array], key: str = "shapes") -> SparseShapes:
    first = arrays[f"{key}.first"]
    scale = np.repeat(arrays[f"{key}.scale"], np.diff(first))
    vertices = np.cumsum(arrays[f"{key}.differences"], dtype=np.int64)
    return SparseShapes(names, first, vertices, arrays[f"{key}.steps"].T * scale[:, None])


def _unpack_mesh_shapes(names: list[str], key: str, arrays: Mapping[str, Array], vertices: int) -> Shapes:
    sparse = _unpack_shapes(names, arrays, key)
    return Shapes(names, [sparse.dense(shape, vertices) for shape in range(len(names))])


def _pack_layers(layers: RigLayers, arrays: dict[str, Array]) -> dict[str, Any]:
    """The header's part of the layers; their arrays are added to `arrays`."""
    header: dict[str, Any] = {
        "controls": {name: list(getattr(layers.controls, name)) for name in CONTROL_TEXTS},
        "components": [list(component) for component in layers.components],
        "shapes": list(layers.shapes.names),
        "masks": list(layers.masks),
        "points": dict(layers.points),
    }
    for name in CONTROL_NUMBERS:
        arrays[f"controls.{name}"] = getattr(layers.controls, name)
    for name in LAYER_NUMBERS:
        arrays[f"layers.{name}"] = getattr(layers, name)
    for number, mask in enumerate(layers.masks.values()):
        arrays[f"mask{number}"] = np.round(255 * mask).astype(np.uint8)
    _pack_shapes(layers.shapes, arrays)
    if layers.lattice is not None:
        header["lattice"] = {"joint": layers.lattice.joint, "counts": list(layers.lattice.counts)}
        for name in LATTICE_NUMBERS:
            arrays[f"lattice.{name}"] = getattr(layers.lattice, name)
    return header


def _unpack_layers(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> RigLayers:
    lattice = None
    if "lattice" in header:
        numbers: dict[str, Any] = {name: arrays[f"lattice.{name}"] for name in LATTICE_NUMBERS}
        lattice = Lattice(**header["lattice"], **numbers)
    return RigLayers(
        _unpack_controls(header["controls"], arrays),
        [(joint, component) for joint, component in header["components"]],
        _unpack_shapes(header["shapes"], arrays),
        **{name: arrays[f"layers.{name}"] for name in LAYER_NUMBERS},
        lattice=lattice,
        masks={name: arrays[f"mask{n}"].astype(np.float32) / 255 for n, name in enumerate(header["masks"])},
        points=header["points"],
    )


def _unpack_controls(texts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Controls:
    return Controls(
        **{name: tuple(texts[name]) for name in CONTROL_TEXTS},
        **{name: arrays[f"controls.{name}"] for name in CONTROL_NUMBERS},
    )


def _pack_animation(
    header: dict[str, Any], arrays: dict[str, Array], clips: Iterable[Clip], curves: Iterable[Curves]
) -> None:
    """Add clips and curves to the header and to `arrays`; a file without any has no such entry."""
    header.pop("clips", None)
    header.pop("curves", None)
    packed_clips = [_pack_clip(clip, f"clip{i}", arrays) for i, clip in enumerate(clips)]
    packed_curves = [_pack_curves(animation, f"curves{i}", arrays) for i, animation in enumerate(curves)]
    if packed_clips:
        header["clips"] = packed_clips
    if packed_curves:
        header["curves"] = packed_curves


def _pack_clip(clip: Clip, key: str, arrays: dict[str, Array]) -> dict[str, Any]:
    arrays[f"{key}.values"] = clip.values
    return {**_about(clip), "start": clip.start, "channels": [_pack_channel(channel) for channel in clip.channels]}


def _unpack_clip(entry: Mapping[str, Any], key: str, arrays: Mapping[str, Array]) -> Clip:
    channels = [_unpack_channel(channel) for channel in entry["channels"]]
    about = {name: entry[name] for name in ("rate", "start", "labels", "about", "moments")}
    return Clip(entry["name"], channels, arrays[f"{key}.values"], **about)


def _pack_curves(curves: Curves, key: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """The keys of all curves one after the other; the header says how many each has."""
    for name in CURVE_NUMBERS:
        arrays[f"{key}.{name}"] = np.concatenate([getattr(curve, name).ravel() for curve in curves.curves])
    entries = [
        {"channel": _pack_channel(curve.channel), "keys": len(curve), "extrapolation": list(curve.extrapolation)}
        for curve in curves.curves
    ]
    return {**_about(curves), "curves": entries}


def _unpack_curves(entry: Mapping[str, Any], key: str, arrays: Mapping[str, Array]) -> Curves:
    taken = dict.fromkeys(CURVE_NUMBERS, 0)
    curves = []
    for item in entry["curves"]:
        channel, keys = _unpack_channel(item["channel"]), int(item["keys"])
        shapes = {
            "times": (keys,),
            "values": (keys, len(channel)),
            "before": (keys, len(channel), 2),
            "after": (keys, len(channel), 2),
            "segments": (keys - 1,),
        }
        numbers = {}
        for name, shape in shapes.items():
            start, taken[name] = taken[name], taken[name] + int(np.prod(shape))
            numbers[name] = arrays[f"{key}.{name}"][start : taken[name]].reshape(shape)
        before, after = item["extrapolation"]
        curves.append(Curve(channel, extrapolation=(before, after), **numbers))
    return Curves(entry["name"], curves, entry["labels"], entry["rate"], entry["about"], entry["moments"])


def _about(animation: Clip | Curves) -> dict[str, Any]:
    return {
        "name": animation.name,
        "rate": animation.rate,
        "labels": list(animation.labels),
        "about": animation.about,
        "moments": dict(animation.moments),
    }


def _pack_channel(channel: Channel) -> list[Any]:
    return [channel.target, channel.kind, list(channel.columns)]


def _unpack_channel(entry: list[Any]) -> Channel:
    target, kind, columns = entry
    return Channel(target, kind, tuple(columns))


def _narrow(numbers: Array) -> Array:
    """Indices in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
