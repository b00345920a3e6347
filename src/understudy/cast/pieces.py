"""Pieces: the solid bits that a cast member is assembled from, and their assembly into a character.

A piece is modelled in world space in the rest pose. Assembly gathers all pieces of one material into one part (one draw
call, one glTF primitive) and skins every part to the same list of joints, those that carry something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.cast import geometry
from understudy.character import Character, Material, Mesh, Part, Skeleton, Skin
from understudy.character.kinematics import world_transforms_numpy
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex, to_linear

Weights = Mapping[str, Array]  # joint -> (V,), summing to one


@dataclass(frozen=True, eq=False)
class Piece:
    """One surface with its paint and its hold on the skeleton.

    `shell` names the closed surface that the piece is, or belongs to: a shade is painted outside and glows inside, two
    pieces of one shell.
    """

    shell: str
    material: str
    surface: geometry.Surface
    colours: Array  # (3,) or (V, 3), linear
    hold: str | Weights  # the joint that carries it, or weights on several


def paint(colour: str) -> Array:
    """Linear RGB (3,) of a colour written #rrggbb."""
    return to_linear(from_hex(colour))


def blend(a: Array, b: Array, share: Array) -> Array:
    """(V, 3) colours running from a (3,) to b (3,) with share (V,)."""
    return a + (b - a) * np.asarray(share)[:, None]


def ramp(low: float, high: float, x: Array) -> Array:
    """Smoothstep 3 u^2 - 2 u^3, u = (x - low) / (high - low) held in [0, 1]: from 0 at `low` to 1 at `high`."""
    u = np.clip((x - low) / (high - low), 0.0, 1.0)
    return u * u * (3 - 2 * u)


def assemble(name: str, skeleton: Skeleton, pieces: Sequence[Piece], materials: Mapping[str, Material]) -> Character:
    """A character of the pieces, one part a material, in the order of `materials`."""
    held = {joint for piece in pieces for joint in ([piece.hold] if isinstance(piece.hold, str) else piece.hold)}
    joints = sorted(skeleton.index(joint) for joint in held)
    joint_from_mesh = np.linalg.inv(_rest(skeleton)[joints])
    column = {skeleton.names[joint]: number for number, joint in enumerate(joints)}
    parts = []
    for label, material in materials.items():
        chosen = [piece for piece in pieces if piece.material == label]
        if not chosen:
            raise InvalidInput(f"no piece of {name!r} has the material {label!r}")
        influences, weights = _influences([_weights(piece, column) for piece in chosen])
        skin = Skin(joints, joint_from_mesh, influences, weights)
        parts.append(Part(label, _mesh(label, material, chosen), skin))
    return Character(name, skeleton, parts)


def _rest(skeleton: Skeleton) -> Array:
    """(J, 4, 4) world_from_joint at rest. One pose is not worth the second that loading the compiled kernels takes."""
    return world_transforms_numpy(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)


def _weights(piece: Piece, column: Mapping[str, int]) -> Array:
    """(V, B) dense weights of one piece."""
    vertices = piece.surface[0]
    dense = np.zeros((len(vertices), len(column)))
    if isinstance(piece.hold, str):
        dense[:, column[piece.hold]] = 1.0
    else:
        for joint, share in piece.hold.items():
            dense[:, column[joint]] += share
    return dense


def _influences(dense: Sequence[Array]) -> tuple[Array, Array]:
    """(V, K) joints and weights, heaviest first, K the most that any vertex needs."""
    weights = np.concatenate(dense)
    most = int((weights > 0).sum(axis=1).max())
    order = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    return order, np.take_along_axis(weights, order, axis=1)


def _mesh(name: str, material: Material, pieces: Sequence[Piece]) -> Mesh:
    starts = np.cumsum([0, *(len(piece.surface[0]) for piece in pieces)])
    vertices = np.concatenate([piece.surface[0] for piece in pieces])
    triangles = np.concatenate([piece.surface[1] + start for piece, start in zip(pieces, starts)])
    colours = np.ones((len(vertices), 4))
    for piece, start, end in zip(pieces, starts, starts[1:]):
        colours[start:end, :3] = piece.colours
    normals = geometry.normals(vertices, triangles)
    return Mesh(name, vertices, triangles, normals=normals, colours=colours, materials=[material])
