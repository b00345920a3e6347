"""The description of a character: everything that the page needs to build and skin it, in one binary.

    u32 length of the header | header, JSON, padded with spaces to 4 bytes | float32 and uint32 buffers, little-endian

The header gives each buffer as `[offset, length, width, type]`: bytes from the end of the header, number of rows,
numbers a row, and "f" or "u". Drawn vertices (V') are those of all parts after seams were split, numbered through. The
lists of influences and of shape targets have variable lengths: row v of `influenceFirst` and `targetFirst` is where
those of vertex v begin, and the next row where they end. Textures are fetched separately, by number. If the vertices
are streamed, `corners` and `seams` let the page compute the normals of a frame.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.character import Clip, Curves, Image, Material, Mesh, Part
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.render.surfaces import finish_of
from understudy.render.viewport.surface import (
    VERTICES_FORM,
    FramePacker,
    InfluenceLists,
    SurfacePart,
    corners_and_seams,
    influences_of,
    normals_of,
    split_parts,
    targets_of,
)

BROWSER_IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp")
DEFAULT_MATERIAL = Material()  # of a mesh without materials
MAX_DEFAULT_ALBEDO = 0.6  # linear; the default white would leave no room for shading
DESCRIPTION_VERSION = 2
MAX_VERTEX_ALBEDO = 0.85  # linear; limit of vertex colours without a texture
BOUNDS_SAMPLE_COUNT = 12  # frames of an animation from which its bounding box is taken


def describe(
    rig: PosedRig,
    animation: Clip | Curves | None = None,
    packer: FramePacker | None = None,
    box: list[list[float]] | None = None,
) -> bytes:
    """The description of a rig's character, with the bounds of an animation, of a given box, or of the rest pose."""
    packer = packer or FramePacker(rig)
    pieces, palette, buffers = split_parts(packer.parts), MaterialTable(packer.parts), DescriptionBuffers()
    skeleton = rig.character.skeleton
    corners, seams = corners_and_seams(rig.character.parts if packer.form == VERTICES_FORM else ())
    header = {
        "version": DESCRIPTION_VERSION,
        "name": rig.character.name,
        "form": packer.form,
        "vertices": rig.character.vertex_count,
        "joints": list(skeleton.names),
        "parents": skeleton.parents.tolist(),
        "bones": packer.bones.joints.tolist(),
        "binds": buffers.add(packer.bones.inverse_binds[:, :3].reshape(-1, 12)),
        "weights": packer.weight_count,
        "bounds": box or bounds(rig, animation),
        "parts": [_part(piece, palette, buffers) for piece in pieces],
        "materials": palette.entries,
        **_surface(pieces, palette, buffers),
        **_lists("influence", influences_of(pieces, packer.bones), buffers),
        **_lists("target", targets_of(pieces, packer.offsets), buffers),
        "corners": buffers.add(corners, "u"),
        "seams": buffers.add(seams, "u"),
        "rest": buffers.add(np.frombuffer(packer.pack(rig.rest)[2], np.float32)),
    }
    return buffers.after(header)


def images(rig: PosedRig) -> tuple[Image, ...]:
    """The images of a character's materials, in the order of its description's numbers."""
    return tuple(MaterialTable(rig.character.parts).images)


def bounds(rig: PosedRig, animation: Clip | Curves | None = None) -> list[list[float]]:
    """The corners of the bounding box of a character in an animation, or at rest."""
    rows = rig.rest[None]
    if animation is not None and rig.is_moved_by(animation):
        times = animation.frame_times()
        rows = rig.pose(
            animation, times[np.unique(np.linspace(0, len(times) - 1, BOUNDS_SAMPLE_COUNT).round().astype(int))]
        )
    points = rig.vertices(rows).reshape(-1, 3) if rig.character.parts else rig.joints(rows)[..., :3, 3].reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return [[-0.5, 0.0, -0.5], [0.5, 1.0, 0.5]]
    return [points.min(axis=0).astype(float).tolist(), points.max(axis=0).astype(float).tolist()]


class MaterialTable:
    """The distinct materials and images of some parts, numbered."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.images: list[Image] = []
        self.entries: list[dict[str, Any]] = []
        self._images: dict[bytes, int] = {}
        self._materials: dict[tuple[int, bool], int] = {}
        self._parts = parts  # keeps the materials alive, since they are known by id()
        for part in parts:
            for material in part.mesh.materials or (DEFAULT_MATERIAL,):
                self.number(material, part.mesh.colours is not None)

    def number(self, material: Material, painted: bool) -> int:
        """The number of a material, for a mesh with or without vertex colours."""
        key = id(material), painted
        if key not in self._materials:
            self._materials[key] = len(self.entries)
            self.entries.append(self._entry(material, painted))
        return self._materials[key]

    def _entry(self, material: Material, painted: bool) -> dict[str, Any]:
        finish = finish_of(material)
        textures = {slot: self._texture(texture) for slot, texture in material.textures.items()}
        textures = {slot: entry for slot, entry in textures.items() if entry is not None}
        colour = [float(x) for x in material.colour]
        if "colour" not in textures and not finish.unlit and not painted:
            colour[:3] = [min(x, MAX_DEFAULT_ALBEDO) for x in colour[:3]]
        return {
            "name": material.name,
            "colour": colour,
            "metallic": finish.metallic,
            "roughness": finish.roughness,
            "emissive": list(finish.emissive),
            "alphaMode": material.alpha_mode,
            "alphaCutoff": float(np.clip(material.alpha_cutoff, 0, 1)),
            "doubleSided": material.double_sided,
            "unlit": finish.unlit,
            "specular": finish.specular,
            "softness": finish.softness,
            "clearcoat": finish.clearcoat,
            "clearcoatRoughness": finish.clearcoat_roughness,
            "sheen": list(finish.sheen),
            "translucency": finish.translucency,
            "castsShadow": _mapping(material.extra.get("extras")).get("casts_shadow") is not False,
            "textures": textures,
        }

    def _texture(self, texture: Any) -> dict[str, Any] | None:
        image: Image = texture.image
        if not image.data or image.mime not in BROWSER_IMAGE_TYPES:
            return None
        if image.data not in self._images:
            self._images[image.data] = len(self.images)
            self.images.append(image)
        moved = _mapping(_mapping(texture.extra.get("extensions")).get("KHR_texture_transform"))
        return {
            "image": self._images[image.data],
            "uv": int(texture.uv_set),
            "wrap": [int(texture.sampler.get(key, 10497)) for key in ("wrapS", "wrapT")],
            "nearest": texture.sampler.get("magFilter") == 9728,
            "scale": _number(texture.extra.get("scale", texture.extra.get("strength")), 1.0),
            "offset": _pair(moved.get("offset"), 0.0),
            "stretch": _pair(moved.get("scale"), 1.0),
            "turn": _number(moved.get("rotation"), 0.0),
        }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any, default: float) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
    return float(value) if known else default


def _pair(value: Any, default: float) -> list[float]:
    pair = value if isinstance(value, list | tuple) and len(value) == 2 else (default, default)
    return [_number(each, default) for each in pair]


class DescriptionBuffers:
    """Arrays in one buffer, and the offset of each."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, array: Array, kind: str = "f") -> list[Any]:
        """Append an array (N,) or (N, n); returns its header entry."""
        data = np.ascontiguousarray(array, "<f4" if kind == "f" else "<u4")
        place = [self._size, len(data), 1 if data.ndim == 1 else data.shape[1], kind]
        self._chunks.append(data.tobytes())
        self._size += data.nbytes
        return place

    def after(self, header: dict[str, Any]) -> bytes:
        """Header and buffers as bytes."""
        text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        return b"".join((struct.pack("<I", len(text)), text, *self._chunks))


def _part(piece: SurfacePart, palette: MaterialTable, buffers: DescriptionBuffers) -> dict[str, Any]:
    """The header entry of a part: name, vertex range, skinning method, triangles by material."""
    mesh = piece.mesh
    draws = []
    for number, own in triangles_by_material(mesh):
        material = mesh.materials[number] if mesh.materials else DEFAULT_MATERIAL
        draws.append(
            {
                "material": palette.number(material, mesh.colours is not None),
                "triangles": buffers.add(mesh.triangles[own].reshape(-1, 3) + piece.start, "u"),
            }
        )
    return {
        "name": piece.part.name,
        "start": piece.start,
        "count": piece.count,
        "dual": piece.part.skin.method == "dual",
        "uvs": [buffers.add(uv) for uv in mesh.uvs[:2]],
        "colours": None if mesh.colours is None else buffers.add(_paint(mesh.colours, mesh.materials)),
        "draws": draws,
    }


def triangles_by_material(mesh: Mesh) -> list[tuple[int, Array]]:
    """The number of each used material, and the mask (T,) of its triangles."""
    if mesh.material_of is None:
        return [(0, np.ones(len(mesh.triangles), bool))]
    return [(number, mesh.material_of == number) for number in np.unique(mesh.material_of).tolist()]


def _paint(colours: Array, materials: tuple[Any, ...]) -> Array:
    """Vertex colours (V, 4); without texture they are scaled to `MAX_VERTEX_ALBEDO`, so that their hue stays."""
    if any("colour" in material.textures or "KHR_materials_unlit" in str(material.extra) for material in materials):
        return colours
    result = colours.copy()
    result[:, :3] *= np.minimum(1.0, MAX_VERTEX_ALBEDO / np.maximum(colours[:, :3].max(axis=1, keepdims=True), 1e-6))
    return result


def _surface(pieces: list[SurfacePart], palette: MaterialTable, buffers: DescriptionBuffers) -> dict[str, Any]:
    """Position, normal and original number of each drawn vertex."""
    none = np.zeros((0, 3), np.float32)
    return {
        "positions": buffers.add(np.concatenate([none, *(piece.mesh.vertices for piece in pieces)])),
        "normals": buffers.add(np.concatenate([none, *(normals_of(piece.mesh) for piece in pieces)])),
        "origins": buffers.add(np.concatenate([np.zeros(0, np.int64), *(p.origin + p.first for p in pieces)]), "u"),
    }


def _lists(name: str, lists: InfluenceLists, buffers: DescriptionBuffers) -> dict[str, Any]:
    return {
        f"{name}First": buffers.add(lists.first, "u"),
        f"{name}Number": buffers.add(lists.number, "u"),
        f"{name}Value": buffers.add(lists.value),
    }
