"""Surfaces from formulas: lathes, tubes, springs, boxes, grids, sweeps and balls, as vertices and triangles.

A `Surface` is vertices (V, 3) float64 and triangles (T, 3) int64, counter-clockwise seen from outside. A profile that
names a point twice in a row makes a hard edge there: the ring is doubled and nothing is drawn between the two, so
smooth normals do not run across it. Such rings coincide exactly, and a surface is closed once they are welded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import quaternion, vector

Surface = tuple[Array, Array]

ON_AXIS = 1e-9  # metres; a radius below is a pole: one vertex instead of a ring


def smooth(points: ArrayLike, count: int) -> Array:
    """(count, n) points along the Catmull-Rom spline through `points` (N, n), evenly spaced by length.

    Centripetal parametrisation [Yuksel 2011]: knots t_(i+1) = t_i + |p_(i+1) - p_i|^0.5, which makes neither cusps nor
    loops where points lie unevenly. The end points are repeated by reflection, so the spline starts and ends in them.
    """
    p = np.asarray(points, dtype=float)
    p = np.concatenate([[2 * p[0] - p[1]], p, [2 * p[-1] - p[-2]]])
    knots = np.concatenate([[0.0], np.cumsum(np.sqrt(vector.length(np.diff(p, axis=0))))])
    fine = np.linspace(knots[1], knots[-2], 24 * count)
    i = np.clip(np.searchsorted(knots, fine, side="right") - 1, 1, len(p) - 3)
    t = [knots[i + k] for k in (-1, 0, 1, 2)]
    q = [p[i + k] for k in (-1, 0, 1, 2)]

    def mix(a: Array, b: Array, ta: Array, tb: Array) -> Array:
        return (a * (tb - fine)[:, None] + b * (fine - ta)[:, None]) / (tb - ta)[:, None]

    a = [mix(q[k], q[k + 1], t[k], t[k + 1]) for k in range(3)]
    b = [mix(a[k], a[k + 1], t[k], t[k + 2]) for k in range(2)]
    curve = mix(b[0], b[1], t[1], t[2])
    length = np.concatenate([[0.0], np.cumsum(vector.length(np.diff(curve, axis=0)))])
    even = np.linspace(0.0, length[-1], count)
    result = np.stack([np.interp(even, length, column) for column in curve.T], axis=1)
    result[0], result[-1] = p[1], p[-2]
    return result


def lathe(profile: ArrayLike, segments: int) -> Surface:
    """A profile (N, 2) of (radius, height) turned about the Y axis.

    Read upwards along the outside: with the axis on its left the surface faces out. Points on the axis become poles; a
    profile that begins and ends there, or whose last point is its first, gives a closed surface.
    """
    profile = np.asarray(profile, dtype=float)
    angle = 2 * np.pi * np.arange(segments) / segments
    ring = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    # quarter turns exactly on the axes: rims that stand on the ground are pivots there
    ring = np.where(np.abs(ring) < 1e-12, 0.0, ring)
    pole = profile[:, 0] < ON_AXIS
    vertices = np.empty((len(profile), segments, 3))
    vertices[..., 0::2] = np.where(pole, 0.0, profile[:, 0])[:, None, None] * ring
    vertices[..., 1] = profile[:, 1, None]
    used = np.ones((len(profile), segments), dtype=bool)
    used[pole, 1:] = False
    number = np.cumsum(used.ravel()).reshape(used.shape) - 1
    number[pole] = number[pole, :1]
    drawn = np.any(profile[1:] != profile[:-1], axis=1) & ~(pole[1:] & pole[:-1])
    below, above = number[:-1][drawn], number[1:][drawn]
    return vertices[used], _bands(below, above)


def _bands(below: Array, above: Array) -> Array:
    """(T, 3) between rings of vertex numbers (N, S), counter-clockwise seen from outside; poles leave no slivers."""
    a, b = below, np.roll(below, -1, axis=1)
    c, d = np.roll(above, -1, axis=1), above
    triangles = np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)], axis=1).reshape(-1, 3)
    distinct = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return triangles[distinct]


def tube(path: ArrayLike, radii: ArrayLike, sides: int, up: ArrayLike) -> Surface:
    """A round tube along `path` (N, 3) with `radii` (N,) or one number, closed by flat ends with hard edges.

    `up` (3,) or (N, 3) is any direction that never lies along the path: it fixes how the rings are turned.
    """
    path = np.asarray(path, dtype=float)
    radii = np.broadcast_to(np.asarray(radii, dtype=float), (len(path),))
    tangent = vector.normalise(np.gradient(path, axis=0))
    side = vector.normalise(vector.cross(np.broadcast_to(np.asarray(up, dtype=float), path.shape), tangent))
    normal = vector.cross(tangent, side)
    angle = 2 * np.pi * np.arange(sides) / sides
    spokes = np.cos(angle)[:, None] * side[:, None] + np.sin(angle)[:, None] * normal[:, None]
    rings = path[:, None] + radii[:, None, None] * spokes
    vertices = np.concatenate([rings.reshape(-1, 3), rings[0], rings[-1], path[:1], path[-1:]])
    count = len(path) * sides
    number = np.arange(count).reshape(len(path), sides)
    first, last = count + np.arange(sides), count + sides + np.arange(sides)
    start, end = np.full(sides, len(vertices) - 2), np.full(sides, len(vertices) - 1)
    below = np.concatenate([number[:-1], [start, last]])
    above = np.concatenate([number[1:], [first, end]])
    return vertices, _bands(below, above)


def along(stations: ArrayLike, sides: int) -> Array:
    """(V,) for each vertex of `tube`, which of the path's `stations` (N,) its ring belongs to."""
    stations = np.asarray(stations, dtype=float)
    first, last = stations[:1], stations[-1:]
    return np.concatenate([np.repeat(stations, sides), first.repeat(sides), last.repeat(sides), first, last])


def helix(start: ArrayLike, end: ArrayLike, radius: float, turns: float, count: int) -> tuple[Array, Array]:
    """A coil's centre line (count, 3) between two points, and (count, 3) the direction away from its axis, for `tube`.

    Over the first and last turn the coil closes in to half its radius, as a spring's ends do where they are hooked in.
    """
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    axis = vector.normalise(end - start)
    u = vector.perpendicular(axis)
    v = vector.cross(axis, u)
    t = np.linspace(0.0, 1.0, count)
    away = np.cos(2 * np.pi * turns * t)[:, None] * u + np.sin(2 * np.pi * turns * t)[:, None] * v
    near_end = np.clip(np.minimum(t, 1 - t) * turns, 0.0, 1.0)
    envelope = 0.5 + 0.5 * near_end * near_end * (3 - 2 * near_end)
    return start + t[:, None] * (end - start) + (radius * envelope)[:, None] * away, away


def box(size: ArrayLike, centre: ArrayLike = (0.0, 0.0, 0.0)) -> Surface:
    """A box of `size` (3,) with hard edges: four vertices of their own for each of the six faces."""
    u, v = np.array([[-1, 1, 1, -1], [-1, -1, 1, 1]])
    faces = [
        np.roll(np.stack([np.full(4, sign), u * sign, v], axis=1), axis, axis=1)
        for axis in range(3)
        for sign in (-1, 1)
    ]
    vertices = 0.5 * np.concatenate(faces) * np.asarray(size, dtype=float) + np.asarray(centre, dtype=float)
    first = 4 * np.arange(6)[:, None]
    return vertices, (first[..., None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)


def placed(surface: Surface, axis: ArrayLike, degrees: float, offset: ArrayLike) -> Surface:
    """The surface turned by `degrees` about `axis` (3,) through the origin, then moved by `offset` (3,)."""
    vertices, triangles = surface
    turn = quaternion.from_axis_angle(axis, np.radians(degrees))
    return quaternion.rotate(turn, vertices) + np.asarray(offset, dtype=float), triangles


def signed_volume(vertices: Array, triangles: Array) -> float:
    """V = 1/6 sum a . (b x c) over the triangles: positive where a closed surface faces out."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return float(vector.dot(a, vector.cross(b, c)).sum() / 6)


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
    facing = vector.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
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
    tangent = vector.normalise(np.gradient(path, axis=0))
    x = np.array([1.0, 0.0, 0.0])
    side = vector.normalise(x - tangent * tangent[:, :1])
    up = vector.cross(tangent, side)
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


TUBE_TIP = 0.6  # of the last ring's half height: how far the closing point stands off


def oval_tube(path: Array, high: Array, deep: Array, sides: int, up: ArrayLike) -> Array:
    """(N sides + 2, 3) rings along `path` (N, 3) with half axes `high` (N,) along `up` and `deep` (N,) across.

    Ring r has the vertices r sides ... , the first of them on its top; the last two close the ends.
    """
    tangent = vector.normalise(np.gradient(path, axis=0))
    upwards = np.broadcast_to(np.asarray(up, dtype=float), path.shape)
    top = vector.normalise(upwards - tangent * vector.dot(upwards, tangent)[:, None])
    side = vector.cross(tangent, top)
    angle = np.arange(sides) * (2 * np.pi / sides)
    rings = (
        path[:, None]
        + high[:, None, None] * np.cos(angle)[None, :, None] * top[:, None]
        + deep[:, None, None] * np.sin(angle)[None, :, None] * side[:, None]
    )
    ends = [path[0] - tangent[0] * high[0] * TUBE_TIP, path[-1] + tangent[-1] * high[-1] * TUBE_TIP]
    return np.concatenate([rings.reshape(-1, 3), ends])


def oval_tube_triangles(rings: int, sides: int) -> Array:
    """(T, 3) of such a tube."""
    count = rings * sides
    first, last = np.arange(sides), np.arange(count - sides, count)
    fans = [
        np.stack([np.roll(first, -1), first, np.full(sides, count)], axis=1),
        np.stack([last, np.roll(last, -1), np.full(sides, count + 1)], axis=1),
    ]
    return np.concatenate([grid(rings, sides, around=True), *fans])
