"""The coat: colour, normal and surface maps of the skin, painted per texel of one atlas that both halves share."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from understudy.cast.face import paint, sculpt
from understudy.cast.sculpting import atlas
from understudy.cast.sculpting.fields import onto, unit_gradient
from understudy.character import Image, Texture
from understudy.checks import Array

QUALITY = {"colour": 92, "normal": 90, "surface": 88}  # of the JPEG files


class Coat(NamedTuple):
    """UVs (T, 3, 2) of the corners of the whole skin, and the textures that belong to them."""

    uvs: Array
    textures: Mapping[str, Texture]


def coat(vertices: Array, triangles: Array) -> Coat:
    """For the unsealed skin (V, 3), whose triangles (T, 3) are the left half and then its mirror image."""
    left = triangles[: len(triangles) // 2]
    surfaces = [(vertices[: left.max() + 1], left)]
    uvs = atlas.unwrap(surfaces)
    texels = atlas.texels(surfaces, uvs)
    field = sculpt.field("skin")
    # painted where the sculpture is, not on the mesh's flat triangles: lips and rims get clean edges
    exact = onto(texels.points, field, steps=2, longest=0.004)
    place = paint.Place.of(exact)
    normals = atlas.bumped(texels, unit_gradient(exact, field, 0.0015), paint.pores(exact))
    # glTF's packing: red is the ambient light that arrives, green the roughness, blue the metal
    packed = np.stack([paint.occlusion(exact), paint.roughness(place), np.zeros(len(exact))], axis=1)
    surface = _image("surface", atlas.picture(texels, packed, coarser=2))
    textures = {
        "colour": Texture(_image("colour", atlas.picture(texels, paint.colours(place)))),
        "normal": Texture(_image("normal", atlas.picture(texels, normals))),
        "occlusion": Texture(surface),
        "metallic_roughness": Texture(surface),
    }
    return Coat(np.concatenate([uvs[0], uvs[0][:, ::-1]]), textures)


def _image(slot: str, picture: Array) -> Image:
    from PIL import Image as pillow

    data = io.BytesIO()
    pillow.fromarray(picture).save(data, "JPEG", quality=QUALITY[slot], subsampling=0, optimize=True)
    return Image(f"face_{slot}", "image/jpeg", data.getvalue())
