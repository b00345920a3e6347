"""Which squares of the picture a figure can touch: only those are shaded.

A bounding rectangle of a figure is half empty, and to a processor an empty pixel costs as much as any other.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from understudy.checks import Array
from understudy.maths import accelerate
from understudy.render.camera import Camera
from understudy.render.frame import Part

KERNELS = "understudy.render.tiles_kernels"
TILE = 8  # pixels a side; half of 16 leaves a twentieth fewer to shade


def touched_tiles(parts: Iterable[Part], camera: Camera, size: tuple[int, int]) -> Array:
    """(N, 2) column and row, from the lower left, of each tile that the box of some triangle on the screen touches.

    All tiles, where a triangle reaches behind the eye.
    """
    touched = np.zeros([-(-extent // TILE) for extent in size[::-1]], bool)
    matrix = camera.clip_from_world.astype(np.float32)[(0, 1, 3), :]
    half = 0.5 * np.array(size, np.float32)
    kernels = accelerate.kernels(KERNELS)
    mark = mark_numpy if kernels is None else kernels.mark
    for part in parts:
        if not len(part.surface.triangles):
            continue
        homogeneous = part.vertices @ matrix[:, :3].T + matrix[:, 3]
        if homogeneous[:, 2].min() < camera.near:
            touched[:] = True
            break
        place = (homogeneous[:, :2] / homogeneous[:, 2:] + 1.0) * half
        # A pixel more on each side, since vertices are rounded to parts of one; far outside is as good as outside.
        place = np.clip(place, -1e6, 1e6)
        low, high = (np.floor((place + margin) * np.float32(1.0 / TILE)).astype(np.int32) for margin in (-1.0, 1.0))
        mark(low, high, part.surface.triangles, touched)
    return np.argwhere(touched)[:, ::-1]


def mark_numpy(low: Array, high: Array, triangles: Array, touched: Array) -> None:
    """Set touched (rows, columns) where a triangle's box, from its corners' lowest to highest tile (V, 2), lies.

    A box adds one to its rectangle of tiles: its corners are written into a table of differences, and summing the table
    up along both axes gives the count for each tile.
    """
    rows, columns = touched.shape
    limit = np.array([columns, rows])
    first = np.clip(low[triangles].min(axis=1), 0, limit)
    last = np.clip(high[triangles].max(axis=1) + 1, 0, limit)
    table = np.zeros((rows + 1, columns + 1), np.int64)
    for x, y, sign in ((first, first, 1), (last, first, -1), (first, last, -1), (last, last, 1)):
        np.add.at(table, (y[:, 1], x[:, 0]), sign)
    touched |= table.cumsum(axis=0).cumsum(axis=1)[:rows, :columns] > 0
