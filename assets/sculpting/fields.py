"""What can be asked of any distance field: gradients, normals, the way onto its surface, a mesh, the light on it.

Beside them two helpers of all masks, paint and weights: the soft step, and smoothing over a mesh, in which values move
towards the mean of their neighbours and never leak across air.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.maths import vector


def ramp(low: ArrayLike, high: ArrayLike, x: ArrayLike) -> Array:
    """Smoothstep 3 u^2 - 2 u^3, u = (x - low) / (high - low) held in [0, 1]; low may be above high."""
    start, end = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    u = np.clip((np.asarray(x, dtype=float) - start) / (end - start), 0.0, 1.0)
    return u * u * (3 - 2 * u)


Field = Callable[[Array], Array]  # points (M, 3) -> signed distances (M,)
SLAB = 400_000  # points of a grid that are evaluated at once


def gradient(points: Array, of: Field, step: float = 0.003) -> Array:
    """(M, 3) central differences."""
    moves = step * np.eye(3)
    return np.stack([(of(points + move) - of(points - move)) / (2 * step) for move in moves], axis=1)


def unit_gradient(points: Array, of: Field, step: float = 0.004) -> Array:
    """(M, 3) outward unit normals of the sculpture."""
    return vector.normalise(gradient(points, of, step), (0.0, 1.0, 0.0))


def onto(points: Array, of: Field, steps: int = 4, longest: float = 0.01) -> Array:
    """Points (M, 3) moved onto the zero set: Newton's p -= d g / |g|^2, no step longer than `longest`."""
    for _ in range(steps):
        d, g = of(points), gradient(points, of)
        move = (d / np.maximum(vector.dot(g, g), 0.2))[:, None] * g
        points = points - move * np.minimum(1.0, longest / np.maximum(vector.length(move), 1e-9))[:, None]
    return points


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


def average(triangles: Array, count: int) -> Any:
    """(V, V) sparse: A @ f is, at each vertex, the mean of f over its neighbours."""
    from scipy import sparse

    edges = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    both = np.concatenate([edges, edges[:, ::-1]])
    near = sparse.coo_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), (count, count)).tocsr()
    near.data[:] = 1.0
    return sparse.diags(1.0 / np.asarray(near.sum(axis=1)).ravel()) @ near


def smoothed(values: Array, mean: Any, rounds: int, fixed: Array | None = None) -> Array:
    """Values (V, ...) after `rounds` of moving half-way to the mean of the neighbours, but for those `fixed` (V,)."""
    result = values
    for _ in range(rounds):
        result = 0.5 * result + 0.5 * (mean @ result)
        if fixed is not None:
            result[fixed] = values[fixed]
    return result
