"""The dragon's coat: colour, normal and surface maps of skin and lids, painted per texel of one atlas.

Colours and scales are functions of the place on the skin. Dark above, cream below, as on a fawn: crown and nape are
darker, the belly is light, dapples mark a young animal, and sea green appears in the eyes only.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assets.dragon import paint, sculpt
from assets.dragon.measures import EYE, EYE_RADIUS
from assets.dragon.paint import PALETTE
from assets.dragon.parts import Lid, lid_coat
from assets.dragon.sculpt import onto_skin, unit_gradient
from assets.sculpting.coat import bumped_normals, covered_texels, mix, texel_picture, unwrap, waves
from assets.sculpting.fields import ramp
from understudy.character import Image, Texture
from understudy.checks import Array

NOSTRIL = (0.077, -0.016, 0.555)
FRECKLES = (
    ((0.128, 0.012, 0.42), 0.011),
    ((0.158, -0.018, 0.40), 0.009),
    ((0.150, 0.030, 0.375), 0.008),
    ((0.178, -0.045, 0.40), 0.007),
)
DAPPLE = 0.078  # HL, cell of the noise
FINE_PEBBLE, COARSE_PEBBLE = 0.015, 0.023


@dataclass(frozen=True, eq=False)
class Place:
    """Points on the skin, folded onto the left, with what the paint asks about them."""

    points: Array  # (M, 3) HL, x >= 0
    depth: Array  # (M,) distance to the closed skin, negative inside
    above_lips: Array  # (M,) y over the lips' sheet
    from_eye: Array  # (M,)
    from_nostril: Array  # (M,)
    noise: Array  # (M, 2) coarse and fine, about -1 .. 1

    @classmethod
    def of(cls, points: ArrayLike) -> Place:
        p = np.abs(np.asarray(points, dtype=float) * [1.0, 0.0, 0.0]) + np.asarray(points, dtype=float) * [
            0.0,
            1.0,
            1.0,
        ]
        return cls(
            p,
            sculpt.distance(p, "closed"),
            p[:, 1] - sculpt.lip_sheet(p),
            np.linalg.norm(p - EYE, axis=1),
            np.linalg.norm(p - NOSTRIL, axis=1),
            np.stack([waves(p, 9.0, 1), waves(p, 24.0, 2)], axis=1),
        )

    def inside_mouth(self) -> Array:
        """(M,) 1 behind the lips. Rims of the lids are carved as well, hence the bounds by height and eye."""
        z = self.points[:, 2]
        near = (self.above_lips < 0.060) & (self.above_lips > -0.095) & (z > -0.07)
        near &= (self.from_eye > 0.190) | (self.above_lips < 0.022)
        near &= ~((self.from_nostril < 0.06) & (self.points[:, 1] > -0.07))
        return ramp(-0.014, -0.034, self.depth) * near

    def lip(self) -> Array:
        """(M,) 1 on the red of the lips."""
        near = (np.abs(self.above_lips) < 0.03) & (self.points[:, 2] > 0.05) & (self.from_nostril > 0.06)
        near &= (self.from_eye > 0.190) | (self.above_lips < 0.02)
        return ramp(-0.003, -0.014, self.depth) * near

    def around_neck(self) -> Array:
        """(M,) degrees from the front about the neck's own axis."""
        x, y, z = self.points.T
        axis = np.interp(y, [-1.1, -0.72, -0.36, -0.2], [-0.09, -0.22, -0.255, -0.22])
        return np.degrees(np.arctan2(x, z - axis))

    def belly(self) -> tuple[Array, Array]:
        """(M,) the light underside, and of it the throat."""
        y, z = self.points[:, 1], self.points[:, 2]
        jaw = ramp(-0.165, -0.200, y + 0.02 * self.noise[:, 1]) * ramp(0.02, 0.12, z)
        throat = ramp(62, 46, self.around_neck() + 4 * self.noise[:, 1]) * ramp(-0.20, -0.26, y)
        return np.maximum(jaw, throat), throat


def dapples(place: Place) -> Array:
    """(M,) 1 in a dapple, on crown, temples and nape."""
    from scipy.spatial import cKDTree

    centres = paint.cells_on_skin(DAPPLE, 3, 0.30, 0.3)
    radii = np.random.default_rng(4).choice([0.010, 0.015, 0.021, 0.028], len(centres))
    distance, which = cKDTree(centres).query(place.points, k=3)
    inside = ramp(1.15, 0.80, (distance / radii[which]).min(axis=1))
    _, y, z = place.points.T
    where = np.maximum(ramp(0.02, 0.14, y - 0.75 * z), ramp(-0.10, -0.20, z) * ramp(30, 60, place.around_neck()))
    return inside * where * (1 - place.belly()[0])


@dataclass(frozen=True, eq=False)
class Reliefs:
    """The bumps of the skin at M places, and how much of each there is."""

    pebbles: paint.Relief
    pebbled: Array  # (M,)
    throat: paint.Relief
    plated: Array  # (M,)
    brow: paint.Relief
    browed: Array  # (M,)

    @classmethod
    def of(cls, place: Place) -> Reliefs:
        """Fine pebbles on the face, coarser ones towards crown and nape; none on rims, lips and in the mouth."""
        p = place.points
        _, y, z = p.T
        fine = paint.pebble_relief(p, paint.cells_on_skin(FINE_PEBBLE, 7), FINE_PEBBLE)
        coarse = paint.pebble_relief(p, paint.cells_on_skin(COARSE_PEBBLE, 8), COARSE_PEBBLE)
        behind = ramp(0.16, -0.10, z - 0.35 * np.maximum(y - 0.1, 0.0))
        belly, throat = place.belly()
        brow, browed = paint.brow_relief(p)
        browed = browed * ramp(-0.012, -0.006, place.depth) * ramp(0.170, 0.186, place.from_eye)
        smooth = (1 - place.inside_mouth()) * ramp(0.160, 0.185, place.from_eye)
        smooth = smooth * ramp(0.008, 0.030, np.abs(place.above_lips) + 0.1 * (z < 0.05))
        smooth = smooth * (0.38 + 0.62 * behind) * ramp(0.035, 0.06, place.from_nostril)
        plated = throat * ramp(-0.26, -0.36, y)
        pebbled = smooth * (1 - 0.65 * belly) * (1 - 0.85 * plated) * (1 - browed)
        return cls(fine.blended(coarse, behind), pebbled, paint.throat_relief(p), plated, brow, browed)

    def slope(self) -> Array:
        """(M, 3) of all bumps together, HL per HL."""
        return (
            (paint.PEBBLE_HEIGHT * self.pebbled)[:, None] * self.pebbles.slope
            + (paint.THROAT_HEIGHT * self.plated)[:, None] * self.throat.slope
            + (paint.BROW_HEIGHT * self.browed)[:, None] * self.brow.slope
        )


def skin_colours(place: Place, reliefs: Reliefs) -> Array:
    """(M, 3) sRGB."""
    x, y, z = place.points.T
    coarse, fine = place.noise.T
    c = np.tile(PALETTE["skin"], (len(x), 1))
    c = mix(c, PALETTE["shade"], 0.22 * ramp(-0.3, 0.5, fine))
    c = mix(c, PALETTE["warm"], 0.25 * ramp(0, 0.5, coarse))
    c = mix(c, PALETTE["crown"], 0.72 * ramp(0.14, 0.46, y - 0.35 * z + 0.03 * coarse))
    c = mix(c, PALETTE["nape"], 0.62 * ramp(-0.24, -0.44, z + 0.10 * x + 0.02 * coarse) * ramp(0.25, -0.1, y))
    belly, _ = place.belly()
    c = mix(c, PALETTE["belly"], belly)
    c = mix(c, PALETTE["scute"], 0.70 * reliefs.plated * ramp(0.45, 0.0, reliefs.throat.height))
    c = mix(c, PALETTE["belly"], 0.40 * np.exp(-((x / 0.12) ** 2) - ((y + 0.115) / 0.05) ** 2) * ramp(0.38, 0.5, z))
    blush = np.exp(-(((x - 0.27) / 0.085) ** 2) - ((y + 0.085) / 0.06) ** 2)
    c = mix(c, PALETTE["blush"], 0.55 * blush * ramp(-0.02, 0.1, z))
    for centre, radius in FRECKLES:
        away = np.linalg.norm((place.points - centre) * [1.0, 1.0, 0.35], axis=1)
        c = mix(c, PALETTE["freckle"], 0.65 * ramp(1.25, 0.7, away / radius))
    c = mix(c, PALETTE["dapple"], 0.50 * dapples(place))
    c = c * (1 + reliefs.pebbled * (0.045 * reliefs.pebbles.tone - 0.13 * (1 - reliefs.pebbles.height)))[:, None]
    c = mix(c, PALETTE["brow"], reliefs.browed * (0.66 + 0.04 * reliefs.brow.tone - 0.30 * (1 - reliefs.brow.height)))
    c = mix(c, PALETTE["shade"], 0.55 * ramp(0.205, 0.172, place.from_eye))
    c = mix(c, PALETTE["lip"], 0.7 * place.lip())
    gum = np.exp(-(((place.depth + 0.030) / 0.010) ** 2)) * ramp(0.05, 0.03, np.abs(place.above_lips))
    c = mix(c, PALETTE["mouth"], place.inside_mouth())
    c = mix(c, PALETTE["gum"], 0.55 * gum * place.inside_mouth())
    c = mix(c, 0.55 * PALETTE["aubergine"], ramp(-0.008, -0.018, place.depth) * ramp(0.07, 0.05, place.from_nostril))
    behind_lids = ramp(-0.010, -0.020, place.depth) * ramp(1.105, 1.06, place.from_eye / EYE_RADIUS)
    return mix(c, PALETTE["socket"], behind_lids * (place.above_lips > 0.012))


def occlusion(vertices: Array) -> Array:
    """(V,) ambient light that reaches vertices (V, 3): four taps along the normal through the head without its mouth.

    In the mouth it is darkened by depth instead: shade from the carved field would smear over the lips when they open.
    """
    normal = sculpt.unit_gradient(vertices)
    depth = sculpt.distance(vertices, "closed")
    light = np.ones(len(vertices))
    for tap, share in ((0.015, 0.7), (0.03, 0.7), (0.06, 0.6), (0.12, 0.45)):
        free = sculpt.distance(vertices + tap * normal, "without_mouth")
        light -= 0.45 * share * np.clip(tap - free - np.maximum(-depth, 0), 0, tap) / tap
    return np.clip(light, 0.25, 1) * (1 - 0.60 * ramp(0.008, 0.098, -depth))


def roughness(place: Place) -> Array:
    """(M,): skin is dull, lips and mouth are wet."""
    wet = np.maximum(0.8 * place.lip(), place.inside_mouth())
    return 0.64 - 0.26 * wet + 0.04 * place.belly()[0]


QUALITY = {"colour": 92, "normal": 93, "surface": 90}  # of the JPEG files; below 90 blocks begin to show in highlights


@dataclass(frozen=True, eq=False)
class Coat:
    """UVs (T, 3, 2) of the corners of the whole skin and of each left lid, and the textures that belong to them."""

    skin: Array
    lids: Mapping[str, Array]
    textures: Mapping[str, Texture]


def coat(vertices: Array, triangles: Array, shells: Mapping[str, Lid]) -> Coat:
    """For the unsealed skin (V, 3) in HL, whose triangles (T, 3) are the left half and then its mirror image."""
    left = triangles[: len(triangles) // 2]
    surfaces = [(vertices[: left.max() + 1], left)]
    surfaces += [(lid.patch.vertices, lid.patch.triangles) for lid in shells.values()]
    uvs = unwrap(surfaces)
    texels = covered_texels(surfaces, uvs)
    colour, slope = np.empty((len(texels.where), 3)), np.empty((len(texels.where), 3))
    skin = texels.surface == 0
    # painted where the sculpture is, not on the mesh's flat triangles: round lips and rims get clean edges
    exact = onto_skin(texels.points[skin], steps=2, longest=0.004)
    true_normals = texels.normals.copy()
    true_normals[skin] = unit_gradient(exact, 0.0015)
    place = Place.of(exact)
    reliefs = Reliefs.of(place)
    colour[skin], slope[skin] = skin_colours(place, reliefs), reliefs.slope()
    # glTF's packing: red is the ambient light that arrives, green the roughness, blue the metal
    surface = np.tile([1.0, 0.6, 0.0], (len(skin), 1))
    surface[skin, 0], surface[skin, 1] = occlusion(exact), roughness(place)
    for number, which in enumerate(shells, 1):
        lid = texels.surface == number
        colour[lid], slope[lid] = lid_coat(which, texels.points[lid])
    pictures = {
        "colour": texel_picture(texels, colour),
        "normal": texel_picture(texels, bumped_normals(texels, true_normals, slope)),
    }
    textures = {slot: Texture(_image(slot, picture)) for slot, picture in pictures.items()}
    packed = _image("surface", texel_picture(texels, surface, coarser=2))
    textures |= {"occlusion": Texture(packed), "metallic_roughness": Texture(packed)}
    return Coat(np.concatenate([uvs[0], uvs[0][:, ::-1]]), dict(zip(shells, uvs[1:])), textures)


def _image(slot: str, picture: Array) -> Image:
    """JPEG with full colour resolution: a third of PNG's size, and the error stays below the paint's own grain."""
    from PIL import Image as pillow

    data = io.BytesIO()
    pillow.fromarray(picture).save(data, "JPEG", quality=QUALITY[slot], subsampling=0, optimize=True)
    return Image(f"dragon_{slot}", "image/jpeg", data.getvalue())
