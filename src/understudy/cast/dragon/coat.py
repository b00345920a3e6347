"""The coat: colour and normal map of skin and lids, painted per texel of one atlas."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.cast.dragon import lids, paint, sculpt
from understudy.cast.sculpting import atlas
from understudy.character import Image, Texture
from understudy.checks import Array

QUALITY = {"colour": 92, "normal": 93, "surface": 90}  # of the JPEG files; below 90 blocks begin to show in highlights


@dataclass(frozen=True, eq=False)
class Coat:
    """UVs (T, 3, 2) of the corners of the whole skin and of each left lid, and the textures that belong to them."""

    skin: Array
    lids: Mapping[str, Array]
    textures: Mapping[str, Texture]


def coat(vertices: Array, triangles: Array, shells: Mapping[str, lids.Lid]) -> Coat:
    """For the unsealed skin (V, 3) in HL, whose triangles (T, 3) are the left half and then its mirror image."""
    left = triangles[: len(triangles) // 2]
    surfaces = [(vertices[: left.max() + 1], left)]
    surfaces += [(lid.patch.vertices, lid.patch.triangles) for lid in shells.values()]
    uvs = atlas.unwrap(surfaces)
    texels = atlas.texels(surfaces, uvs)
    colour, slope = np.empty((len(texels.where), 3)), np.empty((len(texels.where), 3))
    skin = texels.surface == 0
    # painted where the sculpture is, not on the mesh's flat triangles: round lips and rims get clean edges
    exact = sculpt.onto_skin(texels.points[skin], steps=2, longest=0.004)
    true_normals = texels.normals.copy()
    true_normals[skin] = sculpt.unit_gradient(exact, 0.0015)
    place = paint.Place.of(exact)
    reliefs = paint.Reliefs.of(place)
    colour[skin], slope[skin] = paint.colours(place, reliefs), reliefs.slope()
    # glTF's packing: red is the ambient light that arrives, green the roughness, blue the metal
    surface = np.tile([1.0, 0.6, 0.0], (len(skin), 1))
    surface[skin, 0], surface[skin, 1] = paint.occlusion(exact), paint.roughness(place)
    for number, which in enumerate(shells, 1):
        lid = texels.surface == number
        colour[lid], slope[lid] = lids.coat(which, texels.points[lid])
    pictures = {
        "colour": atlas.picture(texels, colour),
        "normal": atlas.picture(texels, atlas.bumped(texels, true_normals, slope)),
    }
    textures = {slot: Texture(_image(slot, picture)) for slot, picture in pictures.items()}
    packed = _image("surface", atlas.picture(texels, surface, coarser=2))
    textures |= {"occlusion": Texture(packed), "metallic_roughness": Texture(packed)}
    return Coat(np.concatenate([uvs[0], uvs[0][:, ::-1]]), dict(zip(shells, uvs[1:])), textures)


def _image(slot: str, picture: Array) -> Image:
    """JPEG with full colour resolution: a third of PNG's size, and the error stays below the paint's own grain."""
    from PIL import Image as pillow

    data = io.BytesIO()
    pillow.fromarray(picture).save(data, "JPEG", quality=QUALITY[slot], subsampling=0, optimize=True)
    return Image(f"dragon_{slot}", "image/jpeg", data.getvalue())
