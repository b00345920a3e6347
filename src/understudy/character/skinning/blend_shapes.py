"""Blend shapes.

    v' = v + sum_s w_s d_s

A face has many shapes, each moves few vertices, and few have weight in a frame. `prepare` therefore cuts the vertices
into blocks and keeps, for each block, only the shapes that move it; `add_shapes` then skips the shapes whose weight is
zero in a frame. Weights are used as given: below zero and above one as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.linear import output
from understudy.checks import Array, freeze
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.character.skinning.layer_kernels"
FLOATS_PER_SHAPE_BLOCK = 96  # 32 vertices; as in the kernels, where it is a constant of the compiled code
MIN_PARALLEL_FLOATS = 400_000  # numbers x frames: below, waking a second thread (about 20 us) does not pay


@dataclass(frozen=True, eq=False)
class ShapeBlocks:
    """Deltas (S, V, 3) cut into blocks of 32 vertices. The rows of block b are starts[b]:starts[b + 1]."""

    shapes: int  # S
    vertices: int  # V
    starts: Array  # (blocks + 1,) int64
    shape_of: Array  # (N,) int64, the shape of each row
    rows: Array  # (N, 96) float32, the deltas of one shape in one block; numbers beyond the last vertex are zero

    @property
    def density(self) -> float:
        """The share of all deltas that is stored, 0 to 1."""
        return len(self.rows) / max(1, self.shapes * (len(self.starts) - 1))


def prepare(deltas: ArrayLike) -> ShapeBlocks:
    """Deltas (S, V, 3) in the form that `add_shapes` evaluates fast; done once for a mesh."""
    d = np.ascontiguousarray(deltas, dtype=np.float32)
    if d.ndim != 3 or d.shape[2] != 3:
        raise InvalidInput(f"deltas should have shape (S, V, 3), but have shape {d.shape}")
    shapes, count = d.shape[:2]
    blocks = -(-3 * count // FLOATS_PER_SHAPE_BLOCK)
    padded = np.zeros((shapes, blocks * FLOATS_PER_SHAPE_BLOCK), np.float32)
    padded[:, : 3 * count] = d.reshape(shapes, 3 * count)
    padded = padded.reshape(shapes, blocks, FLOATS_PER_SHAPE_BLOCK)
    block, shape = np.nonzero((padded != 0).any(axis=2).T)
    starts = np.searchsorted(block, np.arange(blocks + 1))
    arrays = (starts.astype(np.int64), shape.astype(np.int64), np.ascontiguousarray(padded[shape, block]))
    return ShapeBlocks(shapes, count, *(freeze(a) for a in arrays))


def add_shapes(
    vertices: ArrayLike, deltas: ArrayLike | ShapeBlocks, weights: ArrayLike, out: Array | None = None
) -> Array:
    """(F, V, 3) float32 of `vertices` (V, 3) or (F, V, 3), `deltas` prepared or (S, V, 3), `weights` (F, S).

    One frame of weights (S,) gives (V, 3). Reusing `out` (float32, C-contiguous) saves most of the time of a long clip.
    """
    prepared, v, w, single = _check(vertices, deltas, weights)
    result = output(out, (len(w), prepared.vertices, 3), single)
    if result.size:
        kernels = jit.kernels(KERNELS)
        flat, rest = result.reshape(len(w), -1), v.reshape(len(v), -1)
        arrays = (rest, prepared.starts, prepared.shape_of, prepared.rows, w, flat)
        if flat.size < MIN_PARALLEL_FLOATS:
            kernels.add_shape_blocks(*arrays)
        else:
            with jit.LOCK:
                kernels.add_shape_blocks_parallel(*arrays)
    return result[0] if single else result


def _check(
    vertices: ArrayLike, deltas: ArrayLike | ShapeBlocks, weights: ArrayLike
) -> tuple[ShapeBlocks, Array, Array, bool]:
    prepared = deltas if isinstance(deltas, ShapeBlocks) else prepare(deltas)
    v = np.ascontiguousarray(vertices, dtype=np.float32)
    w = np.ascontiguousarray(weights, dtype=np.float32)
    single = w.ndim == 1 and v.ndim <= 2
    w = w[None] if w.ndim == 1 else w
    v = v[None] if v.ndim == 2 else v
    if v.ndim != 3 or v.shape[1:] != (prepared.vertices, 3):
        raise InvalidInput(
            f"vertices should have shape ({prepared.vertices}, 3), as the deltas have, but have {v.shape}"
        )
    if w.ndim != 2 or w.shape[1] != prepared.shapes:
        raise InvalidInput(f"weights should have shape (F, {prepared.shapes}), but have shape {w.shape}")
    if len(w) == 1 and len(v) > 1:
        w = np.repeat(w, len(v), axis=0)
    if len(v) not in (1, len(w)):
        raise InvalidInput(f"vertices have {len(v)} frames, but weights have {len(w)}")
    return prepared, v, w, single
