"""Patches: the surfaces that a sculpted character's separate parts are made of.

A `Patch` is one surface with its paint and its hold on the joints. Sided ones are made for the left and mirrored;
those on the midline are made as a left half and welded to its mirror image. Either way the whole is symmetric to the
last bit, triangles included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.joints import twin
from understudy.cast.sculpting.meshing import mirrored
from understudy.checks import Array
from understudy.maths import linear

Hold = Mapping[str, Array]  # joint -> (V,) weights, summing to one
FLIP = np.array([-1.0, 1.0, 1.0])


@dataclass(frozen=True, eq=False)
class Patch:
    """One surface. `twin` is, of each vertex, the number of its mirror image in the patch on the other side."""

    name: str  # "Horn.L"; without a side it is its own mirror image
    vertices: Array  # (V, 3)
    triangles: Array  # (T, 3)
    colours: Array  # (V, 3) or (V, 4), sRGB
    hold: Hold
    twin: Array  # (V,)
    uvs: Array | None = None  # (T, 3, 2) of the corners


def held(name: str, surface: tuple[Array, Array], colours: ArrayLike, hold: str | Hold) -> Patch:
    """A patch whose mirror image has the same numbering: one of a pair."""
    vertices, triangles = surface
    ones = np.ones(len(vertices))
    colours = np.broadcast_to(np.asarray(colours, dtype=float), (len(vertices), np.shape(colours)[-1]))
    return Patch(
        name, vertices, triangles, colours, {hold: ones} if isinstance(hold, str) else hold, np.arange(len(vertices))
    )


def pair(left: Patch) -> tuple[Patch, Patch]:
    """The left patch, whose name ends in .L, and its mirror image, held by the joints of the other side."""
    hold = {other_side(joint): w for joint, w in left.hold.items()}
    right = replace(
        left,
        name=left.name.removesuffix(".L") + ".R",
        vertices=left.vertices * FLIP,
        triangles=left.triangles[:, ::-1],
        hold=hold,
        uvs=None if left.uvs is None else left.uvs[:, ::-1],
    )
    return left, right


def other_side(joint: str) -> str:
    """The right joint of a left one, `Lid.L` or `LeftHand`; any other stays."""
    return joint.removesuffix(".L") + ".R" if joint.endswith(".L") else twin(joint)


def midline(name: str, half: tuple[Array, Array], colours: ArrayLike, hold: str | Hold) -> Patch:
    """A patch welded from a left half, whose vertices at x = 0 are shared, with colours and weights of the half."""
    vertices, triangles = half
    whole = mirrored(vertices, triangles, vertices[:, 0] == 0.0)
    source = np.concatenate([np.arange(len(vertices)), whole.mirror[len(vertices) :]])
    colours = np.broadcast_to(np.asarray(colours, dtype=float), (len(vertices), np.shape(colours)[-1]))
    weights = {hold: np.ones(len(vertices))} if isinstance(hold, str) else hold
    return Patch(
        name,
        whole.vertices,
        whole.triangles,
        colours[source],
        {joint: w[source] for joint, w in weights.items()},
        whole.mirror,
    )


def grid(rows: int, columns: int, around: bool = False) -> Array:
    """(T, 3) triangles of a grid numbered row by row; `around` joins the last column to the first."""
    number = np.arange(rows * columns).reshape(rows, columns)
    a = number[:-1] if around else number[:-1, :-1]
    b = np.roll(number[:-1], -1, axis=1) if around else number[:-1, 1:]
    d = number[1:] if around else number[1:, :-1]
    c = np.roll(number[1:], -1, axis=1) if around else number[1:, 1:]
    return np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)], axis=-1).reshape(-1, 3)


def facing_out(vertices: Array, triangles: Array, centre: ArrayLike | None = None) -> tuple[Array, Array]:
    """The surface with its triangles turned so that, on the whole, they face away from `centre`."""
    corners = vertices[triangles]
    facing = linear.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    away = corners.mean(axis=1) - (vertices.mean(axis=0) if centre is None else np.asarray(centre))
    return vertices, triangles if (facing * away).sum() > 0 else triangles[:, ::-1]


def bezier(points: ArrayLike, t: Array) -> Array:
    """(N, 3) along the Bezier curve of control points (n, 3) at parameters (N,), by de Casteljau."""
    p = np.repeat(np.asarray(points, dtype=float)[:, None], len(t), axis=1)
    while len(p) > 1:
        p = p[:-1] + (p[1:] - p[:-1]) * t[:, None]
    return np.asarray(p[0])


def sweep(path: Array, radii: Array, sides: int, flat: float = 1.0, half: bool = False) -> tuple[Array, Array]:
    """Rings of `radii` (N,) along `path` (N, 3), closed by a point at the end and open at the beginning.

    `flat` squeezes the rings along x. With `half` only the left half is made, of sides / 2 + 1 columns, for a path in
    the plane x = 0.
    """
    tangent = linear.normalise(np.gradient(path, axis=0))
    x = np.array([1.0, 0.0, 0.0])
    side = linear.normalise(x - tangent * tangent[:, :1])
    up = linear.cross(tangent, side)
    angle: Array
    if half:
        angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, sides // 2 + 1)
    else:
        angle = np.arange(sides) * (2 * np.pi / sides)
    across = np.where(np.abs(np.cos(angle)) < 1e-12, 0.0, np.cos(angle))
    spokes = across[:, None] * (flat * side[:, None]) + np.sin(angle)[:, None] * up[:, None]
    rings = path[:, None] + radii[:, None, None] * spokes
    tip = path[-1] + tangent[-1] * radii[-1] * 0.6
    columns = len(angle)
    vertices = np.concatenate([rings.reshape(-1, 3), tip[None]])
    last = np.arange(len(vertices) - 1 - columns, len(vertices) - 1)
    end = np.full(columns, len(vertices) - 1)
    fan = np.stack([last, np.roll(last, -1), end], axis=1)
    triangles = np.concatenate([grid(len(path), columns, around=not half), fan[: columns - half]])
    return facing_out(vertices, triangles, None if not half else path.mean(axis=0))


def superellipsoid(centre: ArrayLike, radii: ArrayLike, power: float) -> tuple[Array, Array]:
    """A ball whose coordinates are raised to a power: below one it grows corners."""
    up, around = np.linspace(0, np.pi, 14), np.arange(20) * (np.pi / 10)
    theta, phi = np.meshgrid(up, around, indexing="ij")
    unit = np.stack([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)], axis=-1).reshape(-1, 3)
    vertices = np.asarray(centre) + np.sign(unit) * np.abs(unit) ** power * np.asarray(radii)
    return facing_out(vertices, grid(14, 20, around=True))


def joined(patches: Iterable[Patch]) -> tuple[Array, Array, Array, Array | None]:
    """Vertices (V, 3), triangles (T, 3), colours (V, 4) and, where all have any, UVs (T, 3, 2), numbered through."""
    patches = list(patches)
    starts = np.cumsum([0, *(len(patch.vertices) for patch in patches)])
    colours = [
        np.concatenate([patch.colours, np.ones((len(patch.vertices), 4 - patch.colours.shape[1]))], axis=1)
        for patch in patches
    ]
    uvs = [patch.uvs for patch in patches if patch.uvs is not None]
    return (
        np.concatenate([patch.vertices for patch in patches]),
        np.concatenate([patch.triangles + start for patch, start in zip(patches, starts)]),
        np.concatenate(colours),
        np.concatenate(uvs) if len(uvs) == len(patches) else None,
    )


def mix(a: ArrayLike, b: ArrayLike, share: ArrayLike) -> Array:
    """(..., 3) colours from a to b, with share (...)."""
    t = np.asarray(share, dtype=float)[..., None]
    return np.asarray(a) * (1 - t) + np.asarray(b) * t


def influences(group: Sequence[Patch], column: Mapping[str, int]) -> tuple[Array, Array]:
    """(V, K) columns and weights, heaviest first, K the most that any vertex of the part needs."""
    blocks = []
    for patch in group:
        dense = np.zeros((len(patch.vertices), len(column)))
        for joint, share in patch.hold.items():
            dense[:, column[joint]] = share
        blocks.append(dense)
    weights = np.concatenate(blocks)
    most = int((weights > 0).sum(axis=1).max())
    order = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    return order, np.take_along_axis(weights, order, axis=1)
