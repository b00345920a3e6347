"""Clay: a body as a list of solids, each with a tag that names the joint to which it belongs.

The same list makes the shape, the weights of its skin and much of its paint. Solids are blended in order; the surface
swells by up to a quarter of the blend k where two meet, so k is about half the smaller radius for flesh, and a quarter
of it where a crease should be seen. Places are metres, turns are degrees (Ry Rx Rz).

Weights come from the tags. With d_j the distance to the nearest solid of joint j and b_j the width of its border,

    w_j = S(1 - (d_j - min d) / b_j),   S the smoothstep,

which is then diffused over the mesh, so that nothing leaks across air. At most four joints hold a vertex: the fifth
largest weight is taken off all, which stays continuous; cutting it off would draw wrinkles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from assets.sculpting import geometry
from assets.sculpting.fields import average, ramp, unit_gradient
from assets.sculpting.geometry import bezier, facing_out
from assets.sculpting.joints import twin
from assets.sculpting.meshing import Skinned
from understudy.checks import Array


def turn(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Array:
    """(3, 3) Ry Rx Rz of degrees."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians([x, y, z])), np.sin(np.radians([x, y, z]))
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return np.asarray(about_y @ about_x @ about_z)


def eye_frame(yaw: float, pitch: float) -> Array:
    """(3, 3) rows: a left eye's outer corner axis, its up, and where it looks, for degrees outwards and up."""
    a, b = np.radians(yaw), np.radians(pitch)
    gaze = np.array([np.sin(a) * np.cos(b), np.sin(b), np.cos(a) * np.cos(b)])
    corner = np.array([np.cos(a), 0.0, -np.sin(a)])
    return np.stack([corner, np.cross(gaze, corner), gaze])


Vector = Sequence[float]
WIDTH = 22
SHAPES = ("ellipsoid", "bar", "ring", "half space")
WAYS = ("add", "carve", "cut", "join")
NO_TURN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Solid:
    """One solid: its numbers, and how it meets those before it."""

    tag: str
    shape: str
    numbers: tuple[float, ...]
    blend: float
    way: str = "add"
    mirrored: bool = True

    def row(self) -> Array:
        """(WIDTH,) for the kernels."""
        row = np.zeros(WIDTH)
        row[:4] = SHAPES.index(self.shape), WAYS.index(self.way), self.blend, self.mirrored
        row[4 : 4 + len(self.numbers)] = self.numbers
        return row


def ellipsoid(
    tag: str, centre: Vector, radii: Vector, blend: float = 0.05, turned: Vector = NO_TURN, way: str = "add"
) -> Solid:
    """Half-axes `radii` (3,) along axes that are turned."""
    axes = turn(*turned).T.ravel()
    return Solid(tag, "ellipsoid", (*centre, *radii, *axes), blend, way)


def bar(tag: str, a: Vector, b: Vector, thick: float, thin: float, blend: float = 0.05) -> Solid:
    """A round bar from a to b whose radius runs from `thick` to `thin`."""
    return Solid(tag, "bar", (*a, *b, thick, thin), blend)


def ring(
    tag: str, centre: Vector, large: float, small: float, blend: float, turned: Vector = NO_TURN, tall: float = 1.0
) -> Solid:
    """A torus about its y axis, `tall` times as high as round."""
    return Solid(tag, "ring", (*centre, large, small, tall, *turn(*turned).T.ravel()), blend)


def above(height: float, blend: float) -> Solid:
    """All below this height is cut off: what stands on the ground has a flat sole."""
    return below((0.0, height, 0.0), blend, (180.0, 0.0, 0.0))


def below(place: Vector, blend: float, turned: Vector = NO_TURN) -> Solid:
    """All above this place, along a y axis that is turned, is cut off."""
    return Solid("", "half space", (*place, 1.0, 1.0, 1.0, *turn(*turned).T.ravel()), blend, "cut")


def chain(tag: str, points: ArrayLike, radii: ArrayLike, blend: float = 0.03) -> list[Solid]:
    """Bars through points (N, 3) with radii (N,), which melt with the rest as one."""
    p, r = np.asarray(points, dtype=float).tolist(), np.asarray(radii, dtype=float).tolist()
    bars = [bar(tag, *ends) for ends in zip(p, p[1:], r, r[1:])]
    return [replace(solid, blend=blend, way="join" if number else "add") for number, solid in enumerate(bars)]


def lopsided(solids: Iterable[Solid]) -> list[Solid]:
    """The same solids on their own side alone."""
    return [replace(solid, mirrored=False) for solid in solids]


@dataclass(frozen=True, eq=False)
class Clay:
    """A sculpture; called with points (M, 3) it gives signed distances (M,)."""

    solids: tuple[Solid, ...]

    @cached_property
    def rows(self) -> Array:
        """(N, WIDTH)."""
        return np.array([solid.row() for solid in self.solids])

    def __call__(self, points: ArrayLike) -> Array:
        from assets.sculpting import kernels

        result: Array = kernels.clay_at_points(self.rows, np.ascontiguousarray(points, dtype=float))
        return result

    def near(self, points: ArrayLike, *tags: str) -> Array:
        """(M,) distance to the nearest solid that has one of these tags."""
        from assets.sculpting import kernels

        rows = np.array([solid.row() for solid in self.solids if solid.tag in tags])
        result: Array = kernels.solids_at_points(rows, np.ascontiguousarray(points, dtype=float)).min(axis=1)
        return result

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of solids that add something, each once."""
        return tuple(dict.fromkeys(solid.tag for solid in self.solids if solid.way in ("add", "join")))

    def on_front(self, xy: ArrayLike, near: float, far: float) -> Array:
        """(M, 3) places on the front at (M, 2) x and y, by bisection between z = near (inside) and z = far."""
        xy = np.asarray(xy, dtype=float)
        low, high = np.full(len(xy), near), np.full(len(xy), far)
        for _ in range(40):
            middle = 0.5 * (low + high)
            inside = self(np.column_stack([xy, middle])) < 0
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return np.column_stack([xy, low])


MOST_JOINTS = 4  # joints a vertex: what every viewer of glTF must support
DIFFUSION_KEPT = 0.4  # of a vertex's own weights in each round of diffusion


def border_weights(clay: Clay, points: Array, widths: Mapping[str, float], usual: float) -> dict[str, Array]:
    """Joint -> (M,) weights of points (M, 3) before diffusion, not yet of sum one; `widths` are metres by joint."""
    left = points[:, 0] >= 0
    away: dict[str, Array] = {}
    for tag in clay.tags:
        d = clay.near(points, tag)
        if twin(tag) == tag:
            away[tag] = d
        else:
            away[tag], away[twin(tag)] = np.where(left, d, 9.0), np.where(left, 9.0, d)
    nearest = np.min(list(away.values()), axis=0)
    return {
        joint: ramp(0.0, 1.0, 1 - (d - nearest) / widths.get(joint, widths.get(_left_of(joint), usual)))
        for joint, d in away.items()
    }


def _left_of(joint: str) -> str:
    return joint.replace("Right", "Left", 1) if joint.startswith("Right") else joint.replace("RThumb", "LThumb")


def skin_weights(
    clay: Clay, mesh: Skinned, usual: float, widths: Mapping[str, float] | None = None, rounds: int = 12
) -> dict[str, Array]:
    """Joint -> (V,) weights of the skin, at most MOST a vertex, summing to one, the same on both sides."""
    dense = border_weights(clay, mesh.vertices, widths or {}, usual)
    joints = list(dense)
    table = np.stack(list(dense.values()), axis=1)
    mean = average(mesh.triangles, len(table))
    for _ in range(rounds):
        table = DIFFUSION_KEPT * table + (1 - DIFFUSION_KEPT) * (mean @ table)
    if (mesh.mirror != np.arange(len(table))).any():
        other = [joints.index(_other_side_of(joint)) for joint in joints]
        table = 0.5 * (table + table[:, other][mesh.mirror])  # the same sums in the same order on both sides
    return {joint: share for joint, share in zip(joints, fewest_weights(table).T) if share.any()}


def _other_side_of(joint: str) -> str:
    return twin(joint) if twin(joint) != joint else _left_of(joint)


def fewest_weights(table: Array) -> Array:
    """Weights (V, J) with at most MOST a row, of sum one, in steps of 1/1024 that keep the file small."""
    if table.shape[1] > MOST_JOINTS:
        table = np.maximum(table - np.sort(table, axis=1)[:, [-MOST_JOINTS - 1]], 0.0)
    table = np.round(1024 * table / table.sum(axis=1, keepdims=True))
    row = np.arange(len(table))
    table[row, table.argmax(axis=1)] += 1024 - table.sum(axis=1)
    return table / 1024


LINE_RINGS, LINE_SIDES = 22, 8
FRONT_DEPTH = (0.0, 0.6)  # z between which the front of a sculpture is looked for


def line_on_front(
    clay: Clay, points: ArrayLike, radius: float, lift: float = 0.0, flat: float = 0.6
) -> tuple[Array, Array]:
    """Vertices and triangles along the Bezier curve of `points` (n, 2), x and y, on the front, raised by `lift`.

    `radius` is half the line's breadth in the middle, `flat` its thickness in relation to that.
    """
    t = np.linspace(0.0, 1.0, LINE_RINGS)
    xy = bezier(points, t)
    path = clay.on_front(xy, *FRONT_DEPTH)
    path = path + lift * unit_gradient(path, clay)
    broad = radius * np.sqrt(np.clip(1 - (2 * t - 1) ** 2, 0.04, 1))
    return facing_out(
        geometry.oval_tube(path, broad, flat * broad, LINE_SIDES, (0, 1, 0.01)),
        geometry.oval_tube_triangles(LINE_RINGS, LINE_SIDES),
    )
