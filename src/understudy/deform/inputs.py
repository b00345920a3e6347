"""What every skinning function takes, checked once, and the order in which the kernels want it.

A skinning function takes matrices and cannot know about animation: vertices (V, 3), or (F, V, 3) where they already
move; joints (V, K) and weights (V, K); matrices (F, B, 4, 4) or (F, B, 3, 4), each world_from_joint @ inverse_bind. One
frame may leave out the F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput


@dataclass(frozen=True)
class Skinning:
    """Checked inputs: everything float32 or int32, C-contiguous, with a frame axis (of one where nothing moves)."""

    vertices: Array  # (F or 1, V, 3) float32
    joints: Array  # (V, K) int32, all of them below B
    weights: Array  # (V, K) float32
    matrices: Array  # (F, B, 3 or 4, 4), as given
    out: Array  # (F, V, 3) float32
    single: bool  # one frame was given without its axis

    @property
    def result(self) -> Array:
        """What the caller gets: `out` without the frame axis where none was given."""
        return self.out[0] if self.single else self.out


def check(
    vertices: ArrayLike, joints: ArrayLike, weights: ArrayLike, matrices: ArrayLike, out: Array | None
) -> Skinning:
    """The inputs of a skinning function, or a sentence that says what is wrong with them."""
    v = np.ascontiguousarray(vertices, dtype=np.float32)
    j = np.ascontiguousarray(joints, dtype=np.int32)
    w = np.ascontiguousarray(weights, dtype=np.float32)
    m = np.asarray(matrices)
    single = m.ndim == 3 and v.ndim <= 2
    m = m[None] if m.ndim == 3 else m
    v = v[None] if v.ndim == 2 else v
    if m.ndim != 4 or m.shape[-2:] not in ((4, 4), (3, 4)):
        raise InvalidInput(f"matrices should have shape (F, B, 4, 4) or (F, B, 3, 4), but have shape {m.shape}")
    if v.ndim != 3 or v.shape[2] != 3:
        raise InvalidInput(f"vertices should have shape (V, 3) or (F, V, 3), but have shape {v.shape}")
    count = v.shape[1]
    if j.ndim != 2 or j.shape != w.shape or len(j) != count:
        raise InvalidInput(
            f"joints and weights should have shape ({count}, K), but have shapes {j.shape} and {w.shape}"
        )
    if len(v) > 1 and len(m) == 1:
        m = np.broadcast_to(m, (len(v), *m.shape[1:]))
    if len(v) not in (1, len(m)):
        raise InvalidInput(f"vertices have {len(v)} frames, but matrices have {len(m)}")
    checks.indices(j, "joints", m.shape[1])
    return Skinning(v, j, w, m, output(out, (len(m), count, 3), single), single)


def output(out: Array | None, shape: tuple[int, int, int], single: bool = False) -> Array:
    """A float32 array of that shape: a new one, or `out` (without the first axis where `single`) if it fits."""
    return checks.output(out, shape[1:] if single else shape, np.float32).reshape(shape)


def frames_innermost(values: Array, width: int) -> Array:
    """(F, B, C) -> (blocks, B, C * width) float32: in blocks of `width` frames, the frames of each number in one run.

    The last block is filled up with zeros.
    """
    frames, bones, numbers = values.shape
    blocks = -(-frames // width)
    result = np.zeros((blocks, bones, numbers, width), np.float32)
    for block in range(blocks):
        part = values[block * width : (block + 1) * width]
        result[block, :, :, : len(part)] = np.moveaxis(part, 0, -1)
    return result.reshape(blocks, bones, numbers * width)
