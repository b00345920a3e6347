"""Shapes, skinning and a lattice in one pass, for a character with very many shapes.

    p = r + sum_s w_s d_s                      r the vertex at rest in the world, d_s the shapes there
    x = p + sum_j a_j E_j p                    E_j = M_j - 1, M_j = world_from_joint(t) @ joint_from_world(rest)
    y = x + L d(L^-1 x)                        L = M of the lattice's joint; d the free-form deformation below

All steps are displacements from rest, and a joint that has not moved has E = 0 exactly: at rest the vertices are
reproduced to the last bit.

`prepare` sorts the vertices along a space-filling curve and cuts them into blocks of 32. A block keeps the shapes and
the joints that reach it, dense: 32 numbers a row, x, y and z apart, so that every step is straight vector arithmetic on
numbers in the first-level cache. Shapes without weight, joints at rest and cells of the lattice without offsets are
skipped.

**The lattice** is a free-form deformation by a uniform quadratic B-spline (`displacement`),

    d(x) = sum_ijk B(u_x - i) B(u_y - j) B(u_z - k) o_ijk,        u = (x - low) / h,  h = (high - low) / (n + 2)

(Sederberg and Parry 1986, "Free-form deformation of solid geometric models", with B-splines for Bernstein polynomials
as in Griessmair and Purgathofer 1989). Each of the n points along an axis reaches three cells of size h,

    B(t) = t^2 / 2,  (-2 t^2 + 6 t - 3) / 2,  (3 - t)^2 / 2        for t in [0, 1), [1, 2), [2, 3), and 0 elsewhere,

and the box is n + 2 cells wide, so that point i is at low + (i + 3/2) h and its support ends within the box.
Displacement and slope are therefore zero on the faces of the box and outside: a mesh half inside does not tear.
The weights of the points sum to one only in the inner n - 2 cells; towards the faces the deformation fades out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array, freeze
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.character.skinning.layer_kernels"
VERTICES_PER_BLOCK = 32  # as in the kernels, where it is a constant of the compiled code
MIN_DETERMINANT = 1e-6  # of a blend: skins stretch by a few times, float32 leaves 1e-7 of a collapsed blend
MIN_PARALLEL_FRAMES = 4  # below, waking a second thread does not pay
MIN_PARALLEL_POINTS = 20_000  # points x frames: below, waking a second thread (about 20 us) does not pay


class VertexBlocks(NamedTuple):
    """V vertices in blocks of L = VERTICES_PER_BLOCK; a row of a block is x of all its vertices, then y, then z."""

    place: Array  # (V,) int64, index of x of each vertex in a frame's blocks; y and z follow at + L and + 2 L
    rest: Array  # (blocks, 3 L) float32
    shape_first: Array  # (blocks + 1,) int64: the shape rows of block b are shape_first[b]:shape_first[b + 1]
    shape_of: Array  # (N,) int64
    shape_rows: Array  # (N, 3 L) float32
    joint_first: Array  # (blocks + 1,) int64
    joint_of: Array  # (M,) int64
    joint_rows: Array  # (M, L) float32: the weight of the joint on each vertex


class LatticeBend(NamedTuple):
    """The lattice over F frames."""

    offsets: Array  # (F, nx, ny, nz, 3), metres along the world's axes at rest
    low: Array  # (3,) corners of the box in the world at rest
    high: Array  # (3,)
    motion: Array  # (F, 4, 4) L


class FrameBlock(NamedTuple):
    """The inputs of the deformation in F frames."""

    weights: Array  # (F, S), of the shapes
    motions: Array  # (F, J, 4, 4), E
    moved: Array  # (F, J) bool, where E is not zero
    bend: LatticeBend | None  # the lattice, where any frame uses it


class PoseBlock(NamedTuple):
    """The inputs of the deformation in F frames, as the kernels read them."""

    weights: Array  # (F, S) float32, of the shapes
    motions: Array  # (F, J, 12) float32, rows of E
    moved: Array  # (F, J) bool, where E is not zero
    bent: Array  # (F,) bool, where the lattice has offsets
    counts: Array  # (3,) int64, its points
    tables: Array  # (F, N) float32, `pad_lattice` of the offsets
    u_from_world: Array  # (F, 12) float32, rows of the map into its cells
    reach: Array  # (F, 6) float32, `support_boxes`
    turns: Array  # (F, 9) float32, rows of L's linear part


def prepare(
    rest: Array, joints: Array, weights: Array, shape_of: Array, vertex_of: Array, deltas: Array, parts: Array
) -> VertexBlocks:
    """Blocks of `rest` (V, 3) with influences `joints` (V, K), `weights` (V, K) that sum to 1, and N deltas (N, 3) of
    shape `shape_of` (N,) at vertex `vertex_of` (N,). Vertices of different `parts` (V,) are not mixed in the order.
    """
    order = np.lexsort((_morton_numbers(rest), parts))
    slot = np.empty(len(order), np.int64)
    slot[order] = np.arange(len(order))
    blocks = -(-len(order) // VERTICES_PER_BLOCK)
    place = (slot // VERTICES_PER_BLOCK) * (3 * VERTICES_PER_BLOCK) + slot % VERTICES_PER_BLOCK
    rows = np.zeros((blocks, 3 * VERTICES_PER_BLOCK), np.float32)
    for c in range(3):
        rows.reshape(-1)[place + c * VERTICES_PER_BLOCK] = rest[:, c]
    used = np.nonzero(weights)
    shape_first, shapes, shape_row = _rows_of(slot[vertex_of] // VERTICES_PER_BLOCK, shape_of, blocks)
    joint_first, joint_list, joint_row = _rows_of(slot[used[0]] // VERTICES_PER_BLOCK, joints[used], blocks)
    shape_rows = np.zeros((len(shapes), 3, VERTICES_PER_BLOCK), np.float32)
    shape_rows[shape_row, :, slot[vertex_of] % VERTICES_PER_BLOCK] = deltas
    joint_rows = np.zeros((len(joint_list), VERTICES_PER_BLOCK))
    np.add.at(joint_rows, (joint_row, slot[used[0]] % VERTICES_PER_BLOCK), weights[used])
    arrays = (
        *(place, rows, shape_first, shapes, shape_rows.reshape(-1, 3 * VERTICES_PER_BLOCK)),
        *(joint_first, joint_list, joint_rows.astype(np.float32)),
    )
    return VertexBlocks(*(freeze(array) for array in arrays))


def _rows_of(block: Array, item: Array, blocks: int) -> tuple[Array, Array, Array]:
    """The (block, item) pairs that occur: the first of each block (blocks + 1,), the items (N,), and the row of each
    entry."""
    width = int(item.max(initial=0)) + 1
    pairs, row = np.unique(block * width + item, return_inverse=True)
    first = np.searchsorted(pairs, np.arange(blocks + 1) * width)
    return first.astype(np.int64), (pairs % width).astype(np.int64), row.reshape(-1)


def _morton_numbers(points: Array) -> Array:
    """(V,) the Morton number of each point: neighbours in space mostly have neighbouring numbers."""
    span = np.ptp(points, axis=0).max(initial=0) or 1.0
    cell = ((points - points.min(axis=0, initial=np.inf)) / span * 1023).astype(np.int64)
    number = np.zeros(len(points), np.int64)
    for bit in range(10):
        for axis in range(3):
            number |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return number


def deform(blocks: VertexBlocks, frames: FrameBlock) -> Array:
    """(F, V, 3) float32 vertices."""
    result = np.empty((len(frames.weights), len(blocks.place), 3), np.float32)
    if result.size:
        kernels, poses = jit.kernels(KERNELS), _pose_block(frames)
        if len(result) < MIN_PARALLEL_FRAMES:
            kernels.deform(blocks, poses, result)
        else:
            with jit.LOCK:
                kernels.deform_parallel(blocks, poses, result)
    return result


def undo_skinning(blocks: VertexBlocks, frames: FrameBlock, moves: Array) -> Array:
    """(F, V, 3) float32: displacements before skinning that move the vertices by `moves` (F, V, 3) after it.

    (1 + sum_j a_j E_j) d = move, without the translations. Where a vertex's blend is singular there is no solution,
    and d is zero.
    """
    result = np.zeros(moves.shape, np.float32)
    if result.size:
        kernels, poses = jit.kernels(KERNELS), _pose_block(frames._replace(bend=None))
        with jit.LOCK:
            kernels.undo_skinning(blocks, poses, np.ascontiguousarray(moves, np.float32), result)
    return result


def _pose_block(given: FrameBlock) -> PoseBlock:
    frames, joints = given.moved.shape
    bend = given.bend
    matrices = np.ascontiguousarray(given.motions[:, :, :3, :], np.float32).reshape(frames, joints, 12)
    moving = (np.ascontiguousarray(given.weights, np.float32), matrices, np.ascontiguousarray(given.moved, np.bool_))
    if bend is None:
        none = np.zeros((frames, 0), np.float32)
        return PoseBlock(*moving, np.zeros(frames, np.bool_), np.ones(3, np.int64), none, none, none, none)
    counts = bend.offsets.shape[1:4]
    u_from_rest = np.eye(4)
    u_from_rest[:3] = cell_transform(bend.low, cell_size(bend.low, bend.high, counts))
    u_from_world = u_from_rest @ np.linalg.inv(bend.motion)
    return PoseBlock(
        *moving,
        np.asarray(bend.offsets.reshape(frames, -1).any(axis=1)),
        np.array(counts, np.int64),
        pad_lattice(bend.offsets),
        np.ascontiguousarray(u_from_world[:, :3], np.float32).reshape(frames, 12),
        support_boxes(bend.offsets),
        np.ascontiguousarray(bend.motion[:, :3, :3], np.float32).reshape(frames, 9),
    )


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
