"""Painting: the colours of a picture on a surface as colours of its vertices."""

from __future__ import annotations

import io
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from understudy.character import Material, Mesh, Texture
from understudy.checks import Array
from understudy.maths.colour import to_linear

SIZE = 512  # pixels: finer ones than vertices can show only cost time
ROUGH = 0.62  # where a map said how rough


def unwrapped(mesh: Mesh, place: Array) -> Mesh:
    """A mesh with attributes per vertex, without UVs and pictures; vertices of one `place` (V,) get one colour."""
    material = mesh.material(0)
    colours = np.ones((len(mesh.vertices), 4)) if mesh.colours is None else mesh.colours.astype(np.float64)
    texture = material.textures.get("colour")
    if texture is not None and texture.uv_set < len(mesh.uvs):
        colours[:, :3] *= _mean(_sampled(texture, mesh.uvs[texture.uv_set]), place)
    told = (mesh.name, mesh.vertices, mesh.triangles, mesh.normals, (), colours, [_plain(material)])
    return Mesh(*told)


def _sampled(texture: Texture, uv: Array) -> Array:
    """(V, 3) linear colours of a picture at UVs (V, 2); white where it cannot be read."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(texture.image.data)) as image:
            pixels = np.asarray(image.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BOX), np.float64) / 255
    except (OSError, ValueError):
        return np.ones((len(uv), 3))
    column, row = (np.floor(uv % 1.0 * SIZE).astype(int).clip(0, SIZE - 1)).T
    return np.asarray(to_linear(pixels[row, column]))


def _mean(colours: Array, place: Array) -> Array:
    count = np.bincount(place)
    mean = np.stack([np.bincount(place, colours[:, c]) / np.maximum(count, 1) for c in range(3)], axis=1)
    return mean[place]


def _plain(material: Material) -> Material:
    rough = ROUGH if "metallic_roughness" in material.textures else material.roughness
    return replace(material, roughness=rough, textures=MappingProxyType({}))
