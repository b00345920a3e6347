"""A character's parts as surfaces that a renderer draws: a surface for each material, seams split, normals welded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Material, Mesh
from understudy.checks import Array
from understudy.render.normals import smooth_normals
from understudy.render.scene import Surface

WHITEST = 0.55  # linear; fresh snow is 0.8, but untold materials are 1, which leaves no room for light and form
LARGEST_TEXTURE = 4096  # pixels a side; larger ones are reduced, since no picture here shows more of them


@dataclass(frozen=True, eq=False)
class DrawnPart:
    """A surface, and where its vertices come from: rows `first` to `first + count` of the character, then `origin`."""

    surface: Surface
    first: int
    count: int
    origin: Array  # (V',) the vertex of the part that each drawn vertex copies
    weld: Array  # (V',) drawn vertices with one number share their normal
    lead: Array  # (W,) for each such number, one vertex that has it
    welded_triangles: Array  # (T', 3) the whole part's triangles, in the numbers of `weld`

    def normals(self, vertices: Array) -> Array:
        """Smooth normals (V', 3) of drawn vertices (V', 3), continuous over seams and broken at hard edges."""
        return smooth_normals(vertices[self.lead], self.welded_triangles)[self.weld]


def drawn_parts(character: Character) -> list[DrawnPart]:
    """Everything that is drawn of a character, in the order of its parts."""
    result, first = [], 0
    for part in character.parts:
        mesh, origin = part.mesh.per_vertex()
        weld = _weld(mesh)
        _, lead = np.unique(weld, return_index=True)
        for number in np.unique(mesh.material_of) if mesh.material_of is not None else [None]:
            chosen = slice(None) if number is None else mesh.material_of == number
            material = mesh.material() if number is None else mesh.materials[int(number)]
            surface = _surface(mesh, material, mesh.triangles[chosen])
            count = len(part.mesh.vertices)
            result.append(DrawnPart(surface, first, count, origin, weld, lead, weld[mesh.triangles].astype(np.int32)))
        first += len(part.mesh.vertices)
    return result


def _weld(mesh: Mesh) -> Array:
    """(V,) a number for each vertex; copies made at a seam get the same, copies made at a hard edge do not.

    The file tells them apart: both lie in one place, but only those of a hard edge have different normals. Where it
    gives no normals every vertex is its own.
    """
    if mesh.normals is None or not len(mesh.vertices):
        return np.arange(len(mesh.vertices))
    size = max(float(np.ptp(mesh.vertices, axis=0).max()), 1e-12)
    # one part in a million joins copies that rounding has parted; a hundredth of a normal is half a degree
    key = np.concatenate([np.round(mesh.vertices / size * 1e6), np.round(mesh.normals * 100.0)], axis=1)
    return np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)


def _surface(mesh: Mesh, material: Material, triangles: Array) -> Surface:
    colours = np.array(material.colour, np.float32)
    if mesh.colours is not None:
        colours = mesh.colours * colours
    if "colour" not in material.textures:
        colours[..., :3] = np.minimum(colours[..., :3], WHITEST)
    texture = uvs = None
    found = material.textures.get("colour")
    if found is not None and found.uv_set < len(mesh.uvs):
        texture = _decoded(found.image.data)
        uvs = mesh.uvs[found.uv_set] if texture is not None else None
    return Surface(
        triangles,
        colours,
        uvs=uvs,
        texture=texture,
        roughness=float(np.clip(material.roughness, 0, 1)),
        metallic=float(np.clip(material.metallic, 0, 1)),
        emissive=np.array(material.emissive),
        softness=0.0 if material.metallic > 0.5 else 0.4,
        double_sided=True,
        alpha_mode=material.alpha_mode.lower(),
        alpha_cutoff=float(np.clip(material.alpha_cutoff, 0, 1)),
    )


def _decoded(data: bytes) -> Array | None:
    """(H, W, 4) uint8 of an encoded image; None where it cannot be decoded, and the surface is drawn without it."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            image.thumbnail((LARGEST_TEXTURE, LARGEST_TEXTURE))
            return np.asarray(image.convert("RGBA"))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return None
