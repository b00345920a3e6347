"""The dragon as it is shipped, its rig, and what the laws need: mirror images of vertices, corners of triangles."""

from __future__ import annotations

from functools import cache

import numpy as np

from assets.dragon import measures
from understudy import cast
from understudy.cast import archive
from understudy.character import Character, RigLayers
from understudy.character.controls import Controls
from understudy.character.rig.layered import LayeredRig


@cache
def rig() -> LayeredRig:
    return LayeredRig(archive.read(cast.arrays_file("dragon")).character())


def dragon() -> Character:
    return rig().character


def layers() -> RigLayers:
    return rig().layers


def controls() -> Controls:
    return layers().controls


@cache
def rest() -> np.ndarray:
    """(V, 3) metres."""
    return np.concatenate([part.mesh.vertices for part in dragon().parts])


@cache
def part_of() -> dict[str, slice]:
    """Where the vertices of each part are among all."""
    ends = np.cumsum([0, *(len(part.mesh.vertices) for part in dragon().parts)])
    return {part.name: slice(int(a), int(b)) for part, a, b in zip(dragon().parts, ends, ends[1:])}


@cache
def mirror() -> np.ndarray:
    """(V,) the vertex of the same part at the mirror image of each; highlights, which have none, are themselves."""
    from scipy.spatial import cKDTree

    result = np.arange(len(rest()))
    for name, place in part_of().items():
        if name != "Highlights":
            points = rest()[place].astype(float)
            result[place] = place.start + cKDTree(points).query(points * [-1, 1, 1])[1]
    return result


def has_image() -> np.ndarray:
    """(V,) bool: all but the highlights, which are on the same side of both eyes."""
    result = np.ones(len(rest()), bool)
    result[part_of()["Highlights"]] = False
    return result


def row(**values: float) -> np.ndarray:
    """(C,) the rest but for some controls, with __ for the dots in their names."""
    result = controls().rest.copy()
    for name, value in values.items():
        result[controls().index(name.replace("__", "."))] = value
    return result


def posed(**values: float) -> np.ndarray:
    """(V, 3) head lengths of a pose."""
    return measures.head_lengths(rig().vertices(row(**values)[None])[0])


def point(name: str) -> int:
    return layers().points[name]
