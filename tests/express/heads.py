"""Small heads of several meshes, and characters with the shape names of other makers."""

from __future__ import annotations

import numpy as np

from understudy.character import Character, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.character.asset import Avatar, Expression, ShapeBind

BOX = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
TRIANGLES = [[0, 1, 2], [1, 2, 3], [4, 5, 6], [5, 6, 7]]


def box(name: str, joint: int, size: float, centre: tuple[float, float, float], shapes: Shapes | None = None) -> Part:
    """A box as a rigid part of a joint; `centre` is in the joint's space."""
    mesh = Mesh(name, BOX * size + centre, TRIANGLES, shapes=shapes)
    return Part(name, mesh, SkinBinding.rigid(joint, len(BOX)))


def shapes_named(*names: str) -> Shapes:
    """Shapes that each move all corners of a box a little, each another way."""
    return Shapes(names, np.random.default_rng(0).normal(size=(len(names), len(BOX), 3)) * 0.1)


def scattered_head(*names: str) -> Character:
    """A head whose mesh, eyes and teeth are neighbours below one node, as exporters write them; sides swapped."""
    joints = ["root", "group", "eyeLeft", "eyeRight", "head", "teeth"]
    places = [[0, 0, 0], [0, 0.5, 0], [-0.3, 0.3, 0.8], [0.3, 0.3, 0.8], [0, 0, 0], [0, 0, 0]]
    skeleton = Skeleton(joints, [-1, 0, 1, 1, 1, 1], places)
    parts = [
        box("eye_a", 2, 0.2, (0, 0, 0)),
        box("eye_b", 3, 0.2, (0, 0, 0)),
        box("face", 4, 1.0, (0, 0, 0), shapes_named(*(names or ("jawOpen", "eyeLookOut_L", "eyeLookIn_R")))),
        box("teeth", 5, 0.3, (0, -0.3, 0.6)),
    ]
    return Character("scattered", skeleton, parts)


def named_head(*names: str, avatar: Avatar | None = None) -> Character:
    """A skull with a head joint and shapes of these names."""
    skeleton = Skeleton(["Hips", "Head"], [-1, 0], [[0, 1, 0], [0, 1, 0]])
    return Character("named", skeleton, [box("Face", 1, 0.3, (0, 0.2, 0), shapes_named(*names))], avatar=avatar)


def avatar_head() -> Character:
    """A VRM avatar whose angry expression is made of two shapes."""
    names = ("brow_a", "lip_b", "wink_c")
    angry = Expression("angry", (ShapeBind("Face", "brow_a", 1.0), ShapeBind("Face", "lip_b", 0.25)))
    blink = Expression("blink", (ShapeBind("Face", "wink_c", 1.0),))
    avatar = Avatar("1.0", {"Hips": "Hips", "Head": "Head"}, (angry, blink))
    return named_head(*names, avatar=avatar)
