"""A character's parts as surfaces for a renderer: one for each material, with decoded maps, split seams and welded
normals.

A material may say more than its factors and textures, in the form of glTF files (`Material.extra`):

    {"extensions": {"KHR_materials_unlit": {}}}                                    highlights, shadows, labels
    {"extensions": {"KHR_materials_clearcoat": {"clearcoatFactor": 1.0}}}          wet eyes, lips, varnish
    {"extensions": {"KHR_materials_specular": {"specularFactor": 0.6}}}            skin shines less than plastic
    {"extensions": {"KHR_materials_sheen": {"sheenColorFactor": [r, g, b]}}}       down and velvet
    {"extensions": {"KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.5}}}     thin ears, leaves
    {"extras": {"softness": 1.0}}           skin: light wraps around the form, terminator and shadow edges are warm
    {"extras": {"casts_shadow": false}}     eyeballs, which lie deep in their sockets

Extensions of one material stand side by side. Softness has no extension, so it is in the extras: 0 for metal, stone and
teeth, 0.4 by default, 1 for skin.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.character import Character, Material, Mesh, Texture
from understudy.character.skinning.linear import smooth_normals
from understudy.checks import Array, freeze
from understudy.render.scene import Surface, SurfaceFinish

MAX_TEXTURE_PIXELS = 4096  # a side; larger textures are reduced
# Linear; fresh snow is 0.8, but the default of materials is 1, which leaves no room for shading.
MAX_DEFAULT_ALBEDO = 0.55
MAX_VERTEX_ALBEDO = 0.85  # of vertex colours, which are chosen and so need less dimming


@dataclass(frozen=True, eq=False)
class PartSurfaces:
    """The surfaces of a part, one for each material, all with the same vertices, and the origin of these.

    A drawn vertex is row `first + origin[v]` of the character's vertices; the part has `count` of them.
    """

    surfaces: list[Surface]
    first: int
    count: int
    origin: Array  # (V',) vertex of the part that each drawn vertex copies
    weld: Array  # (V',) group number; vertices of one group share their normal
    lead: Array  # (W,) one vertex of each group
    triangles: Array  # (T', 3) triangles of the whole part, in group numbers

    def normals(self, vertices: Array) -> Array:
        """Smooth normals (V', 3) of drawn vertices (V', 3), continuous over seams and broken at hard edges."""
        return smooth_normals(vertices[self.lead], self.triangles)[self.weld]


def surfaces_of(character: Character) -> list[PartSurfaces]:
    """The surfaces of a character, in the order of its parts."""
    result, first, maps = [], 0, MaterialMaps()
    for part in character.parts:
        mesh, origin = part.mesh.per_vertex()
        weld = _weld(mesh)
        _, lead = np.unique(weld, return_index=True)
        closed = _is_closed(_places(mesh)[mesh.triangles])
        numbers = [None] if mesh.material_of is None else np.unique(mesh.material_of)
        surfaces = []
        for number in numbers:
            chosen = slice(None) if number is None else mesh.material_of == number
            material = mesh.material() if number is None else mesh.materials[int(number)]
            surfaces.append(_surface(mesh, material, mesh.triangles[chosen], maps, closed))
        count = len(part.mesh.vertices)
        result.append(PartSurfaces(surfaces, first, count, origin, weld, lead, weld[mesh.triangles]))
        first += count
    return result


def _weld(mesh: Mesh) -> Array:
    """(V,) a group number for each vertex: the same for copies at a seam, different for copies at a hard edge.

    Both kinds have equal positions, but only those of a hard edge have different normals. Without normals in the file
    every vertex is its own group.
    """
    if mesh.normals is None or not len(mesh.vertices):
        return np.arange(len(mesh.vertices))
    # 0.01 of a normal is half a degree
    key = np.concatenate([_places(mesh)[:, None], np.round(mesh.normals * 100.0)], axis=1)
    return np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)


def _places(mesh: Mesh) -> Array:
    """(V,) a number for each position; positions within one millionth of the size are equal."""
    size = max(float(np.ptp(mesh.vertices, axis=0).max()), 1e-12) if len(mesh.vertices) else 1.0
    return np.unique(np.round(mesh.vertices / size * 1e6), axis=0, return_inverse=True)[1].reshape(-1)


def _surface(mesh: Mesh, material: Material, triangles: Array, maps: MaterialMaps, closed: bool) -> Surface:
    uv_set, images = maps.load_maps(material, len(mesh.uvs))
    finish = finish_of(material)
    colours = np.array(material.colour, np.float32)
    if mesh.colours is not None:
        colours = mesh.colours * colours
    if "texture" not in images and not finish.unlit:
        colours[..., :3] = _dim_colours(colours[..., :3], mesh.colours is not None)
    normal = material.textures.get("normal")
    return Surface(
        triangles,
        colours,
        finish,
        uvs=mesh.uvs[uv_set] if images else None,
        **images,
        normal_scale=_number(normal.extra.get("scale"), 1.0, -10.0, 10.0) if normal is not None else 1.0,
        double_sided=not closed,
        casts_shadow=_mapping(material.extra, "extras").get("casts_shadow") is not False,
        alpha_mode=material.alpha_mode.lower(),
        alpha_cutoff=float(np.clip(material.alpha_cutoff, 0, 1)),
    )


def _dim_colours(colours: Array, painted: bool) -> Array:
    """Colours (..., 3) that leave room for shading; vertex colours are scaled as a whole, so that their hue stays."""
    if not painted:
        return np.minimum(colours, MAX_DEFAULT_ALBEDO)
    brightest = colours.max(axis=-1, keepdims=True)
    return colours * np.minimum(1.0, MAX_VERTEX_ALBEDO / np.maximum(brightest, 1e-6))


def _is_closed(triangles: Array) -> bool:
    """Whether triangles (T, 3) bound a solid: each edge is shared by exactly two of them, once in each direction.

    From outside such a surface shows no triangle from behind.
    """
    a, b, c = triangles.T
    whole = triangles[(a != b) & (b != c) & (c != a)]  # some are degenerate at a pole
    edges = whole[:, ((0, 1), (1, 2), (2, 0))].reshape(-1, 2).astype(np.int64)
    count = int(edges.max(initial=0)) + 1
    forth, back = edges @ (count, 1), edges @ (1, count)
    return len(np.unique(forth)) == len(forth) and np.array_equal(np.sort(forth), np.sort(back))


def finish_of(material: Material) -> SurfaceFinish:
    """The finish of a material: its factors, the known glTF extensions, and our own extras."""
    extensions, extras = _mapping(material.extra, "extensions"), _mapping(material.extra, "extras")
    coat = _mapping(extensions, "KHR_materials_clearcoat")
    sheen = _mapping(extensions, "KHR_materials_sheen")
    glow = _number(_mapping(extensions, "KHR_materials_emissive_strength").get("emissiveStrength"), 1.0, high=1e4)
    through = _mapping(extensions, "KHR_materials_diffuse_transmission")
    metallic = float(np.clip(material.metallic, 0, 1))
    soft = 0.0 if metallic > 0.5 else 0.8 if sheen else 0.4
    return SurfaceFinish(
        roughness=float(np.clip(material.roughness, 0, 1)),
        metallic=metallic,
        specular=_number(_mapping(extensions, "KHR_materials_specular").get("specularFactor"), 1.0),
        softness=_number(extras.get("softness"), soft),
        clearcoat=_number(coat.get("clearcoatFactor"), 0.0),
        clearcoat_roughness=_number(coat.get("clearcoatRoughnessFactor"), 0.0),
        sheen=_colour(sheen.get("sheenColorFactor")),
        translucency=_number(through.get("diffuseTransmissionFactor"), 0.0),
        emissive=_times(glow, material.emissive),
        unlit="KHR_materials_unlit" in extensions,
    )


class MaterialMaps:
    """The images of one character, each decoded once, so that surfaces share the arrays."""

    def __init__(self) -> None:
        self._decoded: dict[int, tuple[bytes, Array | None]] = {}
        self._packed: dict[tuple[int, int, float], Array] = {}

    def load_maps(self, material: Material, uv_sets: int) -> tuple[int, dict[str, Array]]:
        """The UV set of the material's maps, and those of `texture`, `normal_map`, `detail_map` that it has.

        All maps of a surface share one UV set: that of the colour, or else of the first map.
        """
        usable = {slot: t for slot, t in material.textures.items() if t.uv_set < uv_sets}
        order = [usable[slot] for slot in ("colour", "normal", "metallic_roughness", "occlusion") if slot in usable]
        if not order:
            return 0, {}
        uv_set = order[0].uv_set
        same = {slot: t for slot, t in usable.items() if t.uv_set == uv_set}
        maps = {
            "texture": self._picture(same.get("colour")),
            "normal_map": self._picture(same.get("normal")),
            "detail_map": self._detail(same.get("occlusion"), same.get("metallic_roughness")),
        }
        return uv_set, {name: picture for name, picture in maps.items() if picture is not None}

    def _picture(self, texture: Texture | None) -> Array | None:
        """(H, W, 4) uint8; None if there is no image or it cannot be decoded: the surface is drawn without it."""
        if texture is None:
            return None
        data = texture.image.data
        if id(data) not in self._decoded:
            self._decoded[id(data)] = (data, decode_image(data))  # the bytes stay referenced, so that id() is unique
        return self._decoded[id(data)][1]

    def _detail(self, occlusion: Texture | None, surface: Texture | None) -> Array | None:
        """Occlusion in red, roughness in green, metallic in blue; 1 for a missing map."""
        hollow, rough = self._picture(occlusion), self._picture(surface)
        if hollow is None and rough is None:
            return None
        strength = _finite_number(occlusion.extra.get("strength"), 1.0) if occlusion is not None else 1.0
        key = (id(hollow), id(rough), strength)
        if key not in self._packed:
            larger = max((p for p in (hollow, rough) if p is not None), key=lambda p: p.size)
            packed = np.full((*larger.shape[:2], 4), 255, np.uint8)
            if hollow is not None:
                shade = _resize_like(hollow, larger)[..., 0].astype(np.float32)
                packed[..., 0] = np.round(255.0 + strength * (shade - 255.0))
            if rough is not None:
                packed[..., 1:3] = _resize_like(rough, larger)[..., 1:3]
            self._packed[key] = freeze(packed)
        return self._packed[key]


def decode_image(data: bytes) -> Array | None:
    """(H, W, 4) uint8 of an encoded image; None if it cannot be decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            image.thumbnail((MAX_TEXTURE_PIXELS, MAX_TEXTURE_PIXELS))
            return freeze(np.array(image.convert("RGBA")))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return None


def _resize_like(picture: Array, like: Array) -> Array:
    if picture.shape == like.shape:
        return picture
    from PIL import Image

    return np.asarray(Image.fromarray(picture).resize((like.shape[1], like.shape[0]), Image.Resampling.BILINEAR))


def _finite_number(value: Any, default: float) -> float:
    ok = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
    return float(np.clip(value, 0.0, 1.0)) if ok else default


def _mapping(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _number(value: Any, default: float, low: float = 0.0, high: float = 1.0) -> float:
    ok = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
    return float(np.clip(value, low, high)) if ok else default


def _times(factor: float, colour: tuple[float, float, float]) -> tuple[float, float, float]:
    red, green, blue = (factor * max(float(x), 0.0) for x in colour)
    return red, green, blue


def _colour(value: Any) -> tuple[float, float, float]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        return (0.0, 0.0, 0.0)
    red, green, blue = (_number(x, 0.0) for x in value)
    return red, green, blue
