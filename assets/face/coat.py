"""The face's palette, and its coat: colour, normal and surface maps of the skin on one atlas that both halves share.

Colours are sRGB; light brightens a lot, so they are a quarter darker than what is meant to be seen. They are functions
of the place on the skin: warm and a little blotched, blush on cheeks, nose, ears and chin, freckles, and below the
locks a scalp in the hair's colour, so that no skin shows between them.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from assets.face import sculpt
from assets.face.measures import CORNER_X, EYE, EYE_RADIUS
from assets.face.sculpt import field
from assets.sculpting.coat import bumped_normals, covered_texels, mix, texel_picture, unwrap, waves
from assets.sculpting.fields import ambient, onto, ramp, unit_gradient
from understudy.character import Image, Texture
from understudy.checks import Array
from understudy.maths.colour import from_hex

PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "skin": "#C98266",
        "shade": "#A75D45",
        "warm": "#D9986F",
        "light": "#E7B184",
        "blush": "#D9644F",
        "freckle": "#8C4A34",
        "lip": "#B2604F",
        "lip_light": "#DC9480",
        "lip_line": "#8A3A36",
        "lip_inside": "#8E3B3C",
        "mouth": "#6A2230",
        "gum": "#B5525A",
        "tongue": "#DE7C78",
        "tooth": "#FFF7E8",
        "tooth_back": "#E9C9B8",
        "nostril": "#4A1C20",
        "socket": "#8A4A38",
        "sclera": "#FFF6EA",
        "sclera_edge": "#D9B3A2",
        "iris": "#A8652E",
        "iris_dark": "#4A2412",
        "iris_light": "#E8B060",
        "limbus": "#2A1410",
        "pupil": "#150B10",
        "lash": "#3A1E2A",
        "brow": "#4A2836",
        "hair": "#40232F",
        "hair_light": "#733A46",
        "shirt": "#1F807E",
        "shirt_dark": "#155C63",
    }.items()
}


FRECKLES = (  # x, y, radius
    (0.098, -0.094, 0.0056),
    (0.108, -0.120, 0.0058),
    (0.132, -0.103, 0.0072),
    (0.160, -0.128, 0.0060),
    (0.186, -0.108, 0.0066),
    (0.212, -0.132, 0.0050),
)
HAIRLINE = ((-0.45, -0.30, -0.05, 0.06, 0.14, 0.22, 0.32), (-0.10, -0.06, 0.06, 0.10, 0.24, 0.31, 0.345))  # z, y
NOSTRIL = (0.027, -0.15, 0.395)


@dataclass(frozen=True, eq=False)
class Place:
    """Points on the skin, folded onto the left, with what the paint asks about them."""

    points: Array  # (M, 3), x >= 0
    depth: Array  # (M,) distance to the closed head, negative inside
    above_lips: Array  # (M,) y over the lips' line
    from_eye: Array  # (M,) in radii of the eye

    @classmethod
    def of(cls, points: ArrayLike) -> Place:
        p = np.asarray(points, dtype=float) * 1.0
        p[:, 0] = np.abs(p[:, 0])
        away = np.linalg.norm(p - EYE, axis=1) / EYE_RADIUS
        return cls(p, sculpt.distance(p, "closed"), p[:, 1] - sculpt.lip_line(p), away)

    def near(self, centre: ArrayLike, reach: ArrayLike) -> Array:
        """(M,) exp(-|d|^2), d the way from a centre in units of `reach`."""
        return np.asarray(np.exp(-(((self.points - np.asarray(centre)) / np.asarray(reach)) ** 2).sum(axis=1)))

    def lip(self) -> Array:
        """(M,) 1 on the red of the lips."""
        upper = ramp(0.0130, 0.0070, sculpt.piece("upper_lip", self.points))
        lower = ramp(0.0120, 0.0050, sculpt.piece("lower_lip", self.points))
        return np.where(self.above_lips > 0, upper, lower) * (self.points[:, 2] > 0.24)

    def inside_mouth(self) -> Array:
        """(M,) 1 behind the lips."""
        x, _, z = self.points.T
        near = (np.abs(self.above_lips) < 0.11) & (z > 0) & (x < 0.16) & (self.from_eye > 1.12)
        return ramp(-0.016, -0.034, self.depth) * near


def skin_colours(place: Place) -> Array:
    """(M, 3) sRGB."""
    x, y, z = place.points.T
    c = np.tile(PALETTE["skin"], (len(x), 1))
    c = mix(c, PALETTE["warm"], 0.35 * ramp(-0.2, 0.6, waves(place.points, 8.0, 1)))
    c = mix(c, PALETTE["shade"], 0.10 * ramp(0, 0.6, waves(place.points, 22.0, 2)))
    c = mix(c, PALETTE["blush"], 0.62 * place.near([0.205, -0.125, 0.26], [0.085, 0.06, 0.12]))
    c = mix(c, PALETTE["blush"], 0.40 * place.near([0, -0.118, 0.45], [0.055, 0.045, 0.06]))
    c = mix(c, PALETTE["blush"], 0.45 * ramp(0.335, 0.40, x) * (z < 0.1))
    c = mix(c, PALETTE["blush"], 0.22 * place.near([0, -0.385, 0.30], [0.08, 0.05, 0.08]))
    c = mix(c, PALETTE["light"], 0.35 * place.near([0, 0.22, 0.32], [0.20, 0.12, 0.2]))
    c = mix(c, PALETTE["light"], 0.30 * place.near([0, -0.02, 0.38], [0.03, 0.08, 0.1]))
    c = mix(c, PALETTE["shade"], 0.38 * ramp(1.37, 1.154, place.from_eye) * (z > 0.12))
    for across, height, radius in FRECKLES:
        spot = ramp(1.2, 0.7, np.hypot(x - across, y - height) / radius)
        c = mix(c, PALETTE["freckle"], 0.55 * spot * (z > 0.2) * (place.depth > -0.01))
    c = mix(c, PALETTE["hair"], ramp(-0.012, 0.012, y - np.interp(z, *HAIRLINE)) * (x < 0.372))
    c = mix(c, PALETTE["shade"], 0.65 * ramp(0.014, -0.004, sculpt.piece("concha", place.points)) * (x > 0.35))
    return _carved_colours(place, _mouth_colours(place, c))


def _mouth_colours(place: Place, c: Array) -> Array:
    """Lips, the line between them, and what lies behind."""
    x, _, z = place.points.T
    lip = place.lip()
    c = mix(c, PALETTE["lip"], 0.78 * lip)
    c = mix(c, PALETTE["lip_light"], 0.4 * place.near([0.028, -0.288, 0.378], [0.03, 0.010, 0.05]) * lip)
    inner = (np.abs(place.above_lips) < 0.03) & (x < CORNER_X + 0.01) & (z > 0.2)
    c = mix(c, PALETTE["lip_inside"], 0.8 * ramp(-0.004, -0.016, place.depth) * inner)
    c = mix(c, PALETTE["mouth"], place.inside_mouth())
    line = ramp(0.0085, 0.0045, np.abs(place.above_lips)) * ramp(CORNER_X + 0.008, CORNER_X - 0.002, x) * (z > 0.22)
    return mix(c, PALETTE["lip_line"], 0.80 * line)


def _carved_colours(place: Place, c: Array) -> Array:
    """Nostrils, and the sockets behind the lids."""
    from_nostril = np.linalg.norm(place.points - NOSTRIL, axis=1)
    c = mix(c, PALETTE["nostril"], ramp(-0.004, -0.014, place.depth) * (from_nostril < 0.05))
    return mix(c, PALETTE["socket"], ramp(1.12, 1.06, place.from_eye) * (place.depth < -0.012))


def occlusion(points: Array) -> Array:
    """(M,) ambient light that reaches points (M, 3) of the skin; in the mouth it is darkened by depth instead."""
    place = Place.of(points)
    light = ambient(points, sculpt.field("without_mouth"), within=np.maximum(-place.depth, 0.0))
    return light * (1 - 0.75 * ramp(0.008, 0.09, -place.depth) * ramp(1.2, 1.5, place.from_eye))


def roughness(place: Place) -> Array:
    """(M,): skin is dull, lips and mouth are wet, the nose shines a little."""
    wet = np.maximum(0.55 * place.lip(), place.inside_mouth())
    return 0.60 - 0.24 * wet - 0.06 * place.near([0, -0.11, 0.45], [0.05, 0.05, 0.06])


def pore_slope(points: Array) -> Array:
    """(M, 3) slope of the skin's fine grain, height in units per unit."""
    rng = np.random.default_rng(5)
    directions, phases = rng.normal(size=(6, 3)) * 210.0, rng.uniform(0, 2 * np.pi, 6)
    return 0.00012 * (np.cos(points @ directions.T + phases) @ directions) / 6


QUALITY = {"colour": 92, "normal": 90, "surface": 88}  # of the JPEG files


class Coat(NamedTuple):
    """UVs (T, 3, 2) of the corners of the whole skin, and the textures that belong to them."""

    uvs: Array
    textures: Mapping[str, Texture]


def coat(vertices: Array, triangles: Array) -> Coat:
    """For the unsealed skin (V, 3), whose triangles (T, 3) are the left half and then its mirror image."""
    left = triangles[: len(triangles) // 2]
    surfaces = [(vertices[: left.max() + 1], left)]
    uvs = unwrap(surfaces)
    texels = covered_texels(surfaces, uvs)
    skin_field = field("skin")
    # painted where the sculpture is, not on the mesh's flat triangles: lips and rims get clean edges
    exact = onto(texels.points, skin_field, steps=2, longest=0.004)
    place = Place.of(exact)
    normals = bumped_normals(texels, unit_gradient(exact, skin_field, 0.0015), pore_slope(exact))
    # glTF's packing: red is the ambient light that arrives, green the roughness, blue the metal
    packed = np.stack([occlusion(exact), roughness(place), np.zeros(len(exact))], axis=1)
    surface = _image("surface", texel_picture(texels, packed, coarser=2))
    textures = {
        "colour": Texture(_image("colour", texel_picture(texels, skin_colours(place)))),
        "normal": Texture(_image("normal", texel_picture(texels, normals))),
        "occlusion": Texture(surface),
        "metallic_roughness": Texture(surface),
    }
    return Coat(np.concatenate([uvs[0], uvs[0][:, ::-1]]), textures)


def _image(slot: str, picture: Array) -> Image:
    from PIL import Image as pillow

    data = io.BytesIO()
    pillow.fromarray(picture).save(data, "JPEG", quality=QUALITY[slot], subsampling=0, optimize=True)
    return Image(f"face_{slot}", "image/jpeg", data.getvalue())
