"""The face as it is shipped, its rig, and what the laws need: rest, deltas of shapes, pieces."""

from __future__ import annotations

from functools import cache

import numpy as np

from assets.face import measures
from understudy import cast
from understudy.character import Asset, Character, Mesh
from understudy.character.rig import DirectRig
from understudy.formats.arkit_names import SHAPE_NAMES


@cache
def asset() -> Asset:
    return cast.load("face")


def face() -> Character:
    return asset().character()


@cache
def rig() -> DirectRig:
    return DirectRig(face())


@cache
def rest() -> np.ndarray:
    """(V, 3) in the units that the face is sculpted in."""
    return measures.units(np.concatenate([part.mesh.vertices for part in face().parts]))


@cache
def deltas() -> np.ndarray:
    """(52, V, 3) in the units that the face is sculpted in."""
    blocks = []
    for part in face().parts:
        shapes = part.mesh.shapes
        blocks.append(np.zeros((52, len(part.mesh.vertices), 3)) if shapes is None else shapes.deltas)
    return np.concatenate(blocks, axis=1) / measures.SCALE


def mesh(name: str) -> Mesh:
    return next(part.mesh for part in face().parts if part.mesh.name == name)


@cache
def piece(name: str) -> slice:
    """Where the vertices of a mesh are among all."""
    start = 0
    for part in face().parts:
        if part.mesh.name == name:
            return slice(start, start + len(part.mesh.vertices))
        start += len(part.mesh.vertices)
    raise KeyError(name)


def marks_moved(**weights: float) -> np.ndarray:
    """(68,) how far each landmark goes."""
    moved = sum(weight * deltas()[SHAPE_NAMES.index(name)][cast.FACE_LANDMARKS] for name, weight in weights.items())
    return np.linalg.norm(moved, axis=1)
