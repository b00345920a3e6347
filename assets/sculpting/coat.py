"""The coat of a body: colour, relief and shade, painted per texel of one atlas that left and right share.

Paint is a function of the place alone, and is evaluated on the sculpture itself, not on the mesh's flat triangles: so
borders of colour are crisp on a mesh of few vertices, and borders of charts do not show. What is baked into the normal
map, in glTF's terms:

    n' = normalise(s - grad h),   texel = (n' . t, n' . b, n' . n) / 2 + 1/2

with s the sculpture's own normal, h the bump, n the mesh's smooth normal, t the direction in which u grows and b that
in which v falls (up in the picture, glTF's +Y). Mirrored triangles have mirrored t and b, so a renderer that derives
both from the UVs gets the mirrored bump; one that stores a tangent must give the right side the other handedness.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assets.sculpting.fields import Field, ambient, onto, unit_gradient
from assets.sculpting.meshing import Patch, pair
from understudy.cast.archive import area_normals
from understudy.character import Image, Material, Texture
from understudy.checks import Array
from understudy.maths import vector


def waves(points: Array, frequency: float, seed: int) -> Array:
    """(M,) a smooth noise: the mean of six plane waves of random directions."""
    rng = np.random.default_rng(seed)
    directions, phases = rng.normal(size=(6, 3)) * frequency, rng.uniform(0, 2 * np.pi, 6)
    return np.sin(points @ directions.T + phases).mean(axis=1)


def tinted(light: Array) -> Array:
    """(V, 3) linear factors of ambient light (V,): shade on skin is red, so red falls off least.

    A part of the shade only: the rest is in the occlusion map, which darkens what light from all around adds.
    """
    return light[:, None] ** np.array([0.45, 0.75, 0.8])


def mix(a: ArrayLike, b: ArrayLike, share: ArrayLike) -> Array:
    """(..., 3) colours from a to b, with share (...)."""
    t = np.asarray(share, dtype=float)[..., None]
    return np.asarray(a) * (1 - t) + np.asarray(b) * t


def material_extra(softness: float, casts_shadow: bool = True, **extensions: dict[str, Any]) -> dict[str, Any]:
    """Extensions by the end of their names, and what glTF has no extension for."""
    extras: dict[str, Any] = {"softness": softness}
    if not casts_shadow:
        extras["casts_shadow"] = False
    return {"extensions": {f"KHR_materials_{name}": value for name, value in extensions.items()}, "extras": extras}


WET = {"clearcoatFactor": 1.0, "clearcoatRoughnessFactor": 0.04}

# of the eyes of every body
EYE_MATERIALS = {
    "Lids": Material("lids", roughness=0.6, double_sided=True, extra=material_extra(0.8)),
    "Eyes": Material(
        "eyes",
        roughness=0.5,
        # all shine is the tear film's, and the shadow that counts is the lid's own strip
        extra=material_extra(0.0, False, specular={"specularFactor": 0.2}, clearcoat=WET),
    ),
    "LidShadow": Material("lid shadow", roughness=1.0, alpha_mode="BLEND", extra=material_extra(0.0, False, unlit={})),
    "Highlights": Material("highlights", extra=material_extra(0.0, False, unlit={})),
}


ATLAS_SIZE = 1024
ATLAS_PADDING = 3  # texels between charts, for smaller mip levels


@dataclass(frozen=True, eq=False)
class Texels:
    """The N covered texels of the atlas, and their surface."""

    where: Array  # (N,) flat numbers of the texels
    surface: Array  # (N,) which of the unwrapped surfaces
    points: Array  # (N, 3)
    normals: Array  # (N, 3)
    across: Array  # (N, 3) t, unit
    up: Array  # (N, 3) b, unit
    size: int  # texels a side of the atlas


def unwrap(surfaces: Sequence[tuple[Array, Array]], size: int = ATLAS_SIZE) -> list[Array]:
    """(T, 3, 2) UVs of the corners of each surface, v downwards, all packed into one square."""
    import xatlas

    atlas = xatlas.Atlas()
    for vertices, triangles in surfaces:
        atlas.add_mesh(vertices.astype(np.float32), triangles.astype(np.uint32))
    charts, packing = xatlas.ChartOptions(), xatlas.PackOptions()
    charts.fix_winding = True
    charts.max_cost = 6.0  # larger than usual: fewer charts, hence fewer seams, stretched a little more
    packing.resolution, packing.padding, packing.bilinear, packing.bruteForce = size, ATLAS_PADDING, True, True
    atlas.generate(charts, packing)
    result = []
    for number in range(len(surfaces)):
        _, corners, uvs = atlas.get_mesh(number)
        result.append(uvs[corners].astype(float))
    return result


def covered_texels(surfaces: Sequence[tuple[Array, Array]], uvs: Sequence[Array], size: int = ATLAS_SIZE) -> Texels:
    """What every covered texel shows, for surfaces (V, 3), (T, 3) and the UVs of their corners (T, 3, 2)."""
    from assets.sculpting.kernels import cover_texels

    triangle = np.empty((size, size), np.int64)
    weights = np.zeros((size, size, 3))
    cover_texels(np.concatenate(uvs), size, triangle, weights)
    where = np.flatnonzero(triangle.ravel() >= 0)
    t, w = triangle.ravel()[where], weights.reshape(-1, 3)[where][:, :, None]
    corners = np.concatenate([vertices[faces] for vertices, faces in surfaces])
    smooth = np.concatenate([area_normals(vertices, faces)[faces] for vertices, faces in surfaces])
    normals = vector.normalise((smooth[t] * w).sum(axis=1))
    along_u, along_v = _directions(corners, np.concatenate(uvs))
    across = vector.normalise(along_u[t] - normals * vector.dot(along_u[t], normals)[:, None])
    up = -along_v[t]
    up = up - normals * vector.dot(up, normals)[:, None]
    up = vector.normalise(up - across * vector.dot(up, across)[:, None])
    owner = np.repeat(np.arange(len(surfaces)), [len(faces) for _, faces in surfaces])
    return Texels(where, owner[t], (corners[t] * w).sum(axis=1), normals, across, up, size)


def _directions(corners: Array, uvs: Array) -> tuple[Array, Array]:
    """(T, 3) dp/du and dp/dv of each triangle: e_i = du_i dp/du + dv_i dp/dv for both edges e_1, e_2."""
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    d1, d2 = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    area = np.where(np.abs(area) < 1e-14, 1e-14, area)[:, None]
    return (e1 * d2[:, 1:] - e2 * d1[:, 1:]) / area, (e2 * d1[:, :1] - e1 * d2[:, :1]) / area


def bumped_normals(cover: Texels, normals: Array, slope: Array) -> Array:
    """(N, 3) tangent-space normals in 0 .. 1: true normals (N, 3) of what the mesh approximates, and on top the slope
    grad h (N, 3), length per length, of the bump.

    Where the true normal leaves the mesh's by more than 60 degrees, as in the mouth's slit, it is not to be trusted.
    """
    trust = np.clip(2 * vector.dot(normals, cover.normals), 0, 1)[:, None]
    normals = vector.normalise(cover.normals + trust * (normals - cover.normals))
    slope = slope - normals * vector.dot(slope, normals)[:, None]
    normal = vector.normalise(normals - slope)
    axes = (cover.across, cover.up, cover.normals)
    return 0.5 + 0.5 * np.stack([vector.dot(normal, axis) for axis in axes], axis=1)


def texel_picture(cover: Texels, values: Array, coarser: int = 1) -> Array:
    """(size, size, 3) uint8 of values (N, 3) in 0 .. 1; the gaps between charts take the nearest texel's value.

    `coarser` 2 gives half the size, each texel the mean of four.
    """
    from scipy.ndimage import distance_transform_edt

    size = cover.size
    canvas = np.zeros((size * size, 3))
    canvas[cover.where] = values
    empty = np.ones(size * size, dtype=bool)
    empty[cover.where] = False
    rows, columns = distance_transform_edt(empty.reshape(size, size), return_distances=False, return_indices=True)
    filled = canvas.reshape(size, size, 3)[rows, columns]
    small = size // coarser
    filled = filled.reshape(small, coarser, small, coarser, 3).mean(axis=(1, 3))
    return np.asarray(np.round(255 * np.clip(filled, 0, 1)).astype(np.uint8))


QUALITY = {"colour": 88, "normal": 82}  # of the JPEG files
UV_STEPS = 4096  # UVs are multiples of 1/FINE, a quarter of a texel, which keeps the file small
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
    uvs = [np.round(UV_STEPS * uv) / UV_STEPS for uv in unwrap(surfaces, size)]
    texels = covered_texels(surfaces, uvs, size)
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
        "colour": Texture(_image(name, "colour", texel_picture(texels, colours))),
        "normal": Texture(_image(name, "normal", texel_picture(texels, bumped_normals(texels, normals, slope)))),
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
