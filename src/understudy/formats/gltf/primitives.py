"""Primitives: triangles out of lists, strips and fans, and the attributes of their vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.formats.gltf.accessors import FLOAT, Accessors
from understudy.formats.gltf.document import Document
from understudy.formats.gltf.entry import Entry

TRIANGLES, STRIP, FAN = 4, 5, 6
INDEX_TYPES = (5125, 5123, 5121)
# Quantised files (KHR_mesh_quantization) may use every integer type; floats are the rule.
ANY_SMALL = (FLOAT, 5120, 5121, 5122, 5123)
FRACTIONS = (FLOAT, 5121, 5123)


def triangles_of(document: Document, accessors: Accessors, primitive: Entry, vertices: int) -> Array | None:
    """(T, 3) int32 vertex numbers, or None for points and lines."""
    mode = primitive.integer("mode", default=TRIANGLES, below=7)
    if mode < TRIANGLES:
        document.count("primitives of points or lines were left out ({})")
        return None
    number = document.reference(primitive, "indices", "accessors")
    if number is None:
        document.take(16 * vertices, primitive.place)
        corners = np.arange(vertices, dtype=np.int32)
    else:
        place = (*primitive.place, "indices")
        stored, _ = accessors.raw(number, ("SCALAR",), INDEX_TYPES, place)
        document.take(16 * len(stored), place)
        if stored.max() >= vertices:
            raise primitive.bad("indices", f"hold vertex {stored.max()}, but there are {vertices} vertices")
        corners = stored[:, 0].astype(np.int32)  # below the number of vertices, which fits
    return assemble(document, corners, mode)


def assemble(document: Document, corners: Array, mode: int) -> Array:
    """(T, 3) triangles from a list of corners [glTF 2.0, 3.7.2.1].

    Strip: {v_i, v_(i+1+i%2), v_(i+2-i%2)}; fan: {v_(i+1), v_(i+2), v_0}. A strip turns with triangles of no area, which
    are left out.
    """
    if mode == TRIANGLES:
        spare = len(corners) % 3
        if spare:
            document.count("triangles with fewer than three corners were left out ({})")
        return corners[: len(corners) - spare].reshape(-1, 3)
    i = np.arange(max(len(corners) - 2, 0))
    document.take(64 * len(i), ())
    if mode == FAN:
        return np.stack([corners[i + 1], corners[i + 2], corners[np.zeros_like(i)]], axis=1)
    odd = i % 2
    result = np.stack([corners[i], corners[i + 1 + odd], corners[i + 2 - odd]], axis=1)
    a, b, c = result.T
    return result[(a != b) & (b != c) & (c != a)]


def attribute(
    document: Document,
    accessors: Accessors,
    attributes: Entry,
    key: str,
    vertices: int | None,
    kinds: tuple[str, ...] = ("VEC3",),
    components: tuple[int, ...] = ANY_SMALL,
    exact: bool = False,
) -> Array | None:
    """(V, n) float32 of one vertex attribute, or None where it is absent.

    Positions (`exact`) must be finite; elsewhere NaN and infinity, which exporters write for normals and UVs of
    triangles without area, become zero with a note.
    """
    number = document.reference(attributes, key, "accessors")
    if number is None:
        return None
    place = (*attributes.place, key)
    if exact:
        values = accessors.floats(number, kinds, place, components)
    else:
        values = accessors.loose_floats(number, kinds, place, components)
        broken = ~np.isfinite(values)
        if broken.any():
            document.count(f"values of {key} that are not finite were set to zero ({{}})", int(broken.sum()))
            values[broken] = 0
    if vertices is not None and len(values) != vertices:
        raise attributes.bad(key, f"has {len(values)} elements, but there are {vertices} vertices")
    return values


def surface(document: Document, accessors: Accessors, attributes: Entry, vertices: int) -> dict[str, Any]:
    """Normals, tangents, UVs and colours of a primitive, as arguments of `Mesh`; the rest is noted."""

    def get(key: str, kinds: tuple[str, ...] = ("VEC3",), components: tuple[int, ...] = ANY_SMALL) -> Array | None:
        return attribute(document, accessors, attributes, key, vertices, kinds, components)

    uvs: list[Array] = []
    while (uv := get(f"TEXCOORD_{len(uvs)}", ("VEC2",))) is not None:
        uvs.append(uv)
    colours = get("COLOR_0", ("VEC3", "VEC4"), FRACTIONS)
    if colours is not None and colours.shape[1] == 3:
        colours = np.concatenate([colours, np.ones((vertices, 1), np.float32)], axis=1)
    known = {"POSITION", "NORMAL", "TANGENT", "COLOR_0", *(f"TEXCOORD_{i}" for i in range(len(uvs)))}
    for key in attributes.value:
        if key not in known and not key.startswith(("JOINTS_", "WEIGHTS_")):
            document.note(f"the vertex attribute {key[:40]} was left out")
    return {"normals": get("NORMAL"), "tangents": get("TANGENT", ("VEC4",)), "uvs": uvs, "colours": colours}
