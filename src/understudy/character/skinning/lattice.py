"""Free-form deformation by a uniform quadratic B-spline.

    d(x) = sum_ijk B(u_x - i) B(u_y - j) B(u_z - k) o_ijk,        u = (x - low) / h,  h = (high - low) / (n + 2)

(Sederberg and Parry 1986, "Free-form deformation of solid geometric models", with B-splines for Bernstein polynomials
as in Griessmair and Purgathofer 1989). Each of the n points along an axis reaches three cells of size h,

    B(t) = t^2 / 2,  (-2 t^2 + 6 t - 3) / 2,  (3 - t)^2 / 2        for t in [0, 1), [1, 2), [2, 3), and 0 elsewhere,

and the box is n + 2 cells wide, so that point i is at low + (i + 3/2) h and its support ends within the box.
Displacement and slope are therefore zero on the faces of the box and outside: a mesh half inside does not tear.
The weights of the points sum to one only in the inner n - 2 cells; towards the faces the deformation fades out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.character.skinning.layer_kernels"
MIN_PARALLEL_POINTS = 20_000  # points x frames: below, waking a second thread (about 20 us) does not pay


def displacement(points: ArrayLike, low: ArrayLike, high: ArrayLike, offsets: ArrayLike) -> Array:
    """d (F, N, 3) float32 at `points` (N, 3) or (F, N, 3) in a box from `low` (3,) to `high` (3,).

    `offsets` (F, nx, ny, nz, 3) or, for all frames, (nx, ny, nz, 3). Without any frame axis the result is (N, 3).
    """
    p, o, start, size, single = _check(points, low, high, offsets)
    result = np.empty((len(o) if len(p) == 1 else len(p), *p.shape[1:]), np.float32)
    if result.size:
        kernels = jit.kernels(KERNELS)
        matrix = cell_transform(start, size).astype(np.float32).reshape(12)
        counts = np.array(o.shape[1:4], np.int64)
        arguments = (p.astype(np.float32), matrix, support_boxes(o), counts, pad_lattice(o), result)
        if result.size < 3 * MIN_PARALLEL_POINTS:
            kernels.displace(*arguments)
        else:
            with jit.LOCK:
                kernels.displace_parallel(*arguments)
    return result[0] if single else result


def basis(u: Array, count: int) -> Array:
    """(..., count) the weight B(u - i) of each point at u (...), in cells from the face."""
    t = np.asarray(u)[..., None] - np.arange(count)
    inside = [(t >= 0) & (t < 1), (t >= 1) & (t < 2), (t >= 2) & (t < 3)]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.select(inside, [t * t / 2, (-2 * t * t + 6 * t - 3) / 2, (3 - t) ** 2 / 2], 0.0)


def lattice_points(low: ArrayLike, high: ArrayLike, counts: tuple[int, int, int]) -> Array:
    """(nx, ny, nz, 3) positions of the points: the middle of their support."""
    start, size = np.asarray(low, np.float64), cell_size(low, high, counts)
    axes = [start[a] + (np.arange(n) + 1.5) * size[a] for a, n in enumerate(counts)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def cell_size(low: ArrayLike, high: ArrayLike, counts: tuple[int, int, int]) -> Array:
    """h (3,), the size of a cell."""
    return (np.asarray(high, np.float64) - np.asarray(low, np.float64)) / (np.asarray(counts) + 2)


def pad_lattice(offsets: Array) -> Array:
    """(F, (nx + 5) (ny + 5) (nz + 6) 4) float32: the table for the kernels, with zeros around the points.

    A cell, and the one beyond the last, then always has three points along each axis. Along z four points of four
    numbers are read, two vectors.
    """
    frames, nx, ny, nz = offsets.shape[:4]
    table = np.zeros((frames, nx + 5, ny + 5, nz + 6, 4), np.float32)
    table[:, 2 : nx + 2, 2 : ny + 2, 2 : nz + 2, :3] = offsets
    return table.reshape(frames, -1)


def support_boxes(offsets: Array) -> Array:
    """(F, 6) float32: the box, in cells, outside of which the offsets (F, nx, ny, nz, 3) move nothing."""
    result = np.zeros((len(offsets), 6), np.float32)
    used = np.asarray(offsets.any(axis=4))
    for axis, others in enumerate(((2, 3), (1, 3), (1, 2))):
        along = np.asarray(used.any(axis=others))
        result[:, axis] = along.argmax(axis=1)
        result[:, 3 + axis] = along.shape[1] + 2 - along[:, ::-1].argmax(axis=1)
    result[~used.any(axis=(1, 2, 3))] = 0
    return result


def cell_transform(low: Array, size: Array) -> Array:
    """(3, 4) u from x, as an affine map."""
    return np.concatenate([np.diag(1 / size), -(low / size)[:, None]], axis=1)


def _check(
    points: ArrayLike, low: ArrayLike, high: ArrayLike, offsets: ArrayLike
) -> tuple[Array, Array, Array, Array, bool]:
    p, o = np.asarray(points, np.float64), np.asarray(offsets, np.float64)
    single = p.ndim == 2 and o.ndim == 4
    p = p[None] if p.ndim == 2 else p
    o = o[None] if o.ndim == 4 else o
    if p.ndim != 3 or p.shape[2] != 3:
        raise InvalidInput(f"points should have shape (N, 3) or (F, N, 3), but have shape {p.shape}")
    if o.ndim != 5 or o.shape[4] != 3 or 0 in o.shape[1:4]:
        raise InvalidInput(f"offsets should have shape (nx, ny, nz, 3) or (F, nx, ny, nz, 3), but have {o.shape}")
    if 1 not in (len(p), len(o)) and len(p) != len(o):
        raise InvalidInput(f"points have {len(p)} frames, but offsets have {len(o)}")
    start, stop = checks.array(low, "lower corner", (3,)), checks.array(high, "upper corner", (3,))
    if np.any(start >= stop):
        raise InvalidInput(f"the lattice's box should have a size, but goes from {start} to {stop}")
    return p, o, start, cell_size(start, stop, o.shape[1:4]), single
