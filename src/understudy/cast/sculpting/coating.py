"""The coat of a body: its colour, relief and shade, painted per texel of one atlas that left and right share.

Paint is a function of the place alone, and is evaluated on the sculpture itself, not on the mesh's flat triangles: so
borders of colour are crisp on a mesh of few vertices.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.cast.sculpting import atlas
from understudy.cast.sculpting.fields import Field, ambient, onto, unit_gradient
from understudy.cast.sculpting.patches import Patch, pair
from understudy.character import Image, Texture
from understudy.checks import Array

QUALITY = {"colour": 88, "normal": 82}  # of the JPEG files
FINE = 4096  # UVs are multiples of 1/FINE, a quarter of a texel, which keeps the file small
Paint = Callable[[Array], Array]  # places (M, 3) on the left -> (M, 3)


@dataclass(frozen=True, eq=False)
class Coated:
    """A patch to be painted. Its triangles (T, 3) are, if `halves`, the left half and then its mirror image; if
    `paired`, the left one of two."""

    patch: Patch
    of: Field
    colours: Paint  # sRGB
    shade: Field  # what keeps light from it
    relief: Paint | None = None  # the slope of the bump
    halves: bool = False
    paired: bool = False


def coat(name: str, pieces: Sequence[Coated], size: int) -> tuple[list[Patch], dict[str, Texture]]:
    """The patches with UVs and, as colours, the light that reaches them; and their textures."""
    surfaces = []
    for piece in pieces:
        triangles = piece.patch.triangles
        left = triangles[: len(triangles) // 2] if piece.halves else triangles
        surfaces.append((piece.patch.vertices[: left.max() + 1], left))
    uvs = [np.round(FINE * uv) / FINE for uv in atlas.unwrap(surfaces, size)]
    texels = atlas.texels(surfaces, uvs, size)
    colours, normals = np.empty_like(texels.points), texels.normals.copy()
    slope = np.zeros_like(colours)
    for number, piece in enumerate(pieces):
        own = texels.surface == number
        exact = onto(texels.points[own], piece.of, steps=2, longest=0.004)
        colours[own] = piece.colours(exact)
        normals[own] = unit_gradient(exact, piece.of, 0.0015)
        if piece.relief is not None:
            slope[own] = piece.relief(exact)
    textures = {
        "colour": Texture(_image(name, "colour", atlas.picture(texels, colours))),
        "normal": Texture(_image(name, "normal", atlas.picture(texels, atlas.bumped(texels, normals, slope)))),
    }
    patches: list[Patch] = []
    for piece, uv in zip(pieces, uvs):
        light = np.round(256 * _light(piece.patch.vertices, piece.shade)) / 256
        whole = np.concatenate([uv, uv[:, ::-1]]) if piece.halves else uv
        patch = replace(piece.patch, uvs=whole, colours=light)
        patches += pair(patch) if piece.paired else [patch]
    return patches, textures


def _light(points: Array, shade: Field) -> Array:
    """(V, 3) linear factors: shade on fur and cloth is warm, so red falls off least."""
    return ambient(points, shade, 1.2)[:, None] ** np.array([0.75, 0.95, 1.0])


def _image(name: str, slot: str, picture: Array) -> Image:
    from PIL import Image as pillow

    data = io.BytesIO()
    pillow.fromarray(picture).save(data, "JPEG", quality=QUALITY[slot], subsampling=0, optimize=True)
    return Image(f"{name}_{slot}", "image/jpeg", data.getvalue())
