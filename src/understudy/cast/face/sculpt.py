"""The sculpted fields at points and as meshes. See `sculpt_kernels` for the sculpture; building needs numba."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import linear

Field = Callable[[Array], Array]  # points (M, 3) -> signed distances (M,)
SLAB = 400_000  # points of a grid that are evaluated at once


def _kernels() -> ModuleType:
    from understudy.cast.face import sculpt_kernels

    return sculpt_kernels


def distance(points: ArrayLike, field: str = "skin") -> Array:
    """(M,) signed distance to one of `sculpt_kernels.FIELDS` at points (M, 3)."""
    kernels = _kernels()
    result: Array = kernels.at_points(np.ascontiguousarray(points, dtype=float), kernels.FIELDS.index(field))
    return result


def field(name: str) -> Field:
    """One of `sculpt_kernels.FIELDS` as a function."""
    return lambda points: distance(points, name)


def hair_field(locks: Array) -> Field:
    """The hair of locks (N, P, 4): points and radii."""
    kernels = _kernels()

    def at(points: Array) -> Array:
        result: Array = kernels.hair_at_points(np.ascontiguousarray(points, dtype=float), locks)
        return result

    return at


def piece(name: str, points: Array) -> Array:
    """(M,) distance to one piece of the head (`upper_lip`, `lower_lip`, `concha`, `collar`) at left points (M, 3)."""
    result: Array = getattr(_kernels(), name)(*np.asarray(points, dtype=float).T)
    return result


def lip_line(points: ArrayLike) -> Array:
    """(M,) height at which the lips meet above or below points (M, 3)."""
    result: Array = _kernels().lip_line(np.abs(np.asarray(points, dtype=float)[:, 0]))
    return result


def gradient(points: Array, of: Field, step: float = 0.003) -> Array:
    """(M, 3) central differences."""
    moves = step * np.eye(3)
    return np.stack([(of(points + move) - of(points - move)) / (2 * step) for move in moves], axis=1)


def unit_gradient(points: Array, of: Field, step: float = 0.004) -> Array:
    """(M, 3) outward unit normals of the sculpture."""
    return linear.normalise(gradient(points, of, step), (0.0, 1.0, 0.0))


def onto(points: Array, of: Field, steps: int = 4, longest: float = 0.01) -> Array:
    """Points (M, 3) moved onto the zero set: Newton's p -= d g / |g|^2, no step longer than `longest`."""
    for _ in range(steps):
        d, g = of(points), gradient(points, of)
        move = (d / np.maximum(linear.dot(g, g), 0.2))[:, None] * g
        points = points - move * np.minimum(1.0, longest / np.maximum(linear.length(move), 1e-9))[:, None]
    return points


def along_rays(origin: ArrayLike, directions: ArrayLike, near: float, far: float) -> Array:
    """(M, 3) where rays leave the closed head between `near` (inside) and `far` (outside), by bisection."""
    origin, directions = np.broadcast_arrays(np.asarray(origin, float), np.asarray(directions, float))
    low, high = np.full(len(directions), near), np.full(len(directions), far)
    for _ in range(40):
        middle = 0.5 * (low + high)
        inside = distance(origin + middle[:, None] * directions, "closed") < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(origin + low[:, None] * directions)


def on_front(xy: ArrayLike) -> Array:
    """(M, 3) places on the closed head's front at (M, 2) x and y."""
    xy = np.asarray(xy, dtype=float)
    origin = np.concatenate([xy, np.zeros((len(xy), 1))], axis=1)
    return along_rays(origin, np.tile([0.0, 0.0, 1.0], (len(xy), 1)), 0.05, 0.55)


def isosurface(of: Field, low: ArrayLike, high: ArrayLike, step: float, smallest: int = 200) -> Any:
    """The zero set in a box as a mesh set of pymeshlab, without islands of fewer than `smallest` triangles."""
    import pymeshlab
    from skimage.measure import marching_cubes

    low, high = np.asarray(low, float), np.asarray(high, float)
    xs, ys, zs = (np.arange(a, b, step) for a, b in zip(low, high))
    grid = np.stack(np.meshgrid(xs, ys, zs, indexing="ij"), axis=-1).reshape(-1, 3)
    values = np.concatenate([of(grid[i : i + SLAB]) for i in range(0, len(grid), SLAB)])
    volume = values.astype(np.float32).reshape(len(xs), len(ys), len(zs))
    vertices, triangles, _, _ = marching_cubes(volume, 0.0, spacing=(step, step, step))
    work = pymeshlab.MeshSet()
    work.add_mesh(pymeshlab.Mesh(vertices.astype(float) + low, triangles))
    work.meshing_remove_connected_component_by_face_number(mincomponentsize=smallest)
    return work


def ambient(points: Array, of: Field, scale: float = 1.0, within: Array | float = 0.0) -> Array:
    """(M,) ambient light that reaches points (M, 3): four taps along the normal; `within` (M,) is depth forgiven."""
    normal = unit_gradient(points, of)
    light = np.ones(len(points))
    for tap, share in ((0.015, 0.7), (0.03, 0.7), (0.06, 0.6), (0.12, 0.45)):
        reach = tap * scale
        light -= 0.45 * share * np.clip(reach - of(points + reach * normal) - within, 0, reach) / reach
    return np.clip(light, 0.25, 1.0)
