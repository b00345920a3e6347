"""OBJ (Wavefront): one mesh, vertices in the file's own order and number, so that an index means the same everywhere.

Polygons are cut into triangles. A vertex may have several UVs or normals (a seam): they are then kept per corner.
Materials, groups and objects are kept for each triangle, the last two in `Mesh.extra`. The unit is unknown and left as
it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Asset, Character, Material, Mesh, Part, Skeleton, Skin
from understudy.checks import Array
from understudy.formats import polygons
from understudy.formats.obj_materials import read_materials
from understudy.formats.obj_parser import ObjText, parse

LARGEST_OBJ = 256 << 20  # bytes: about three million vertices
LIKELY_METRES = 10.0  # no face, body or animal is taller


def read(path: str | Path) -> Asset:
    """The mesh of an OBJ file, hung on one joint."""
    path = Path(path)
    text = parse(files.read_text(path, LARGEST_OBJ), path)
    notes = text.notes
    points = text.vertices[:, :3]
    triangles, face_of, folded = polygons.fans(points, text.corners[:, 0] - 1, text.sizes)
    if folded:
        notes.append(f"{folded} concave polygons could not be cut cleanly")
    if (text.sizes < 3).any():
        notes.append(f"{int((text.sizes < 3).sum())} faces of fewer than three corners were left out")
    corners = text.corners[triangles] - 1  # (T, 3, 3): vertex, uv and normal of each corner, -1 for none
    uvs = np.stack([text.uvs[:, 0], 1 - text.uvs[:, 1]], axis=1)  # v downwards
    uv, normal = (
        _attribute(uvs, corners, 1, len(points), notes),
        _attribute(text.normals, corners, 2, len(points), notes),
    )
    materials, material_of = _materials(text, face_of, path.parent, notes)
    mesh = Mesh(
        path.stem,
        points,
        corners[..., 0],
        normal,
        () if uv is None else (uv,),
        _colours(text.vertices, notes),
        materials,
        material_of,
        extra=_belongings(text, face_of),
    )
    height = float(np.ptp(points, axis=0).max())
    if height > LIKELY_METRES:
        notes.append(f"the mesh is {height:.4g} units across, perhaps centimetres: kept as it is")
    root = Skeleton(["root"], [-1], np.zeros((1, 3)))
    return Asset([Character(path.stem, root, [Part(path.stem, mesh, Skin.rigid(0, len(points)))])], notes=notes)


def _attribute(values: Array, corners: Array, column: int, vertices: int, notes: list[str]) -> Array | None:
    """UVs or normals: (V, n) where each vertex has one, (T, 3, n) where some have several, None where none."""
    which, vertex = corners[..., column].reshape(-1), corners[..., 0].reshape(-1)
    if not which.size or which.max() < 0:
        return None
    padded = np.concatenate([values, np.zeros((1, values.shape[1]))])  # index -1, none, is the last
    if which.min() < 0:
        noun = {1: "UVs", 2: "normals"}[column]
        notes.append(f"{int((which < 0).sum())} of {which.size} corners have no {noun}: zeros were put there")
    of_vertex = np.full(vertices, -1)
    of_vertex[vertex] = which
    if np.array_equal(padded[of_vertex[vertex]], padded[which]):
        return padded[of_vertex]
    return padded[which].reshape(*corners.shape[:2], -1)


def _colours(vertices: Array, notes: list[str]) -> Array | None:
    """(V, 4) where the file gives x y z r g b, which some writers count from 0 to 255."""
    if vertices.shape[1] < 6:
        return None
    colours = vertices[:, 3:6]
    if colours.max() > 1:
        colours = colours / 255
        notes.append("the vertices' colours were taken to go from 0 to 255")
    return np.concatenate([np.clip(colours, 0, 1), np.ones((len(colours), 1))], axis=1)


def _materials(text: ObjText, face_of: Array, folder: Path, notes: list[str]) -> tuple[list[Material], Array | None]:
    if not text.materials:
        return [], None
    known = read_materials(text.libraries, folder, notes)
    missing = [name for name in text.materials if name not in known]
    if missing and known:
        notes.append(f"{len(missing)} materials are not in the library, {missing[0]!r} first: they are plain")
    names = list(text.materials)
    of_face = text.owners[:, 0]
    if len(of_face) and of_face.min() < 0:  # faces before the first usemtl
        names.append("default" if "default" not in names else "default_2")
        of_face = np.where(of_face < 0, len(names) - 1, of_face)
    return [known.get(name, Material(name)) for name in names], of_face[face_of]


def _belongings(text: ObjText, face_of: Array) -> dict[str, Any]:
    """Names of groups and objects, and which each triangle belongs to, -1 for none."""
    extra: dict[str, Any] = {}
    for key, names, column in (("groups", text.groups, 1), ("objects", text.objects, 2)):
        if names:
            extra[key] = names
            extra[f"{key[:-1]}_of"] = text.owners[face_of, column]
    return extra
