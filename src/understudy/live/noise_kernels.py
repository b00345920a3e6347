"""Compiled twin of `noise.forces_numpy`: one frame of one character draws its grid places once."""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.live.noise import REACH, SCALE
from understudy.maths.accelerate import FAST, compiled

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
FIRST, SECOND = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL0, WEYL1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
TURN = 2 * np.pi
FALL = np.exp(-0.5)
PIECE = 16  # streams that one thread takes at a time


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def normals(key: Array, index: int, stream: int, block: int, z: Array) -> None:
    """Fills z (4,) with the standard normal numbers of the counter (index, block, stream)."""
    own = np.uint64(stream)
    a, b, c, d = np.uint64(index) & LOW, np.uint64(block), own & LOW, own >> HALF
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    for _ in range(10):
        first, second = FIRST * a, SECOND * c
        a, b, c, d = (second >> HALF) ^ b ^ k0, second & LOW, (first >> HALF) ^ d ^ k1, first & LOW
        k0, k1 = (k0 + WEYL0) & LOW, (k1 + WEYL1) & LOW
    radius = np.sqrt(-2.0 * np.log((np.float64(a) + 0.5) * 2.0**-32))
    angle = TURN * ((np.float64(b) + 0.5) * 2.0**-32)
    z[0], z[1] = radius * np.cos(angle), radius * np.sin(angle)
    radius = np.sqrt(-2.0 * np.log((np.float64(c) + 0.5) * 2.0**-32))
    angle = TURN * ((np.float64(d) + 0.5) * 2.0**-32)
    z[2], z[3] = radius * np.cos(angle), radius * np.sin(angle)


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def forces(key: Array, streams: Array, places: Array, out: Array, first: int, last: int) -> None:
    """Fills out (M, T, Q) from `first` to `last` with the forces of streams (M,) at grid places (M, T).

    A place is drawn once for all times that hear it: those of one frame lie within one or two steps of the grid; times
    further apart start anew. Neighbouring values of the window, exp(-(u - i)^2 / 4), have ratios that change by
    exp(-1/2) from one to the next.
    """
    count, dims = out.shape[1:]
    near = 2 * REACH
    z, drawn = np.empty(4), np.empty((2 * near, dims))
    for m in range(first, last):
        start, have = np.int64(0), 0
        for t in range(count):
            place = places[m, t]
            low = np.int64(np.floor(place)) - REACH + 1
            if have == 0 or low < start or low > start + near:
                start, have = low, 0
            while start + have < low + near:
                for block in range(0, dims, 4):
                    normals(key, start + have, streams[m], block // 4, z)
                    for q in range(block, min(block + 4, dims)):
                        drawn[have, q] = z[q - block]
                have += 1
            away = place - np.float64(low)
            window, ratio = SCALE * np.exp(-0.25 * away * away), np.exp(0.5 * away - 0.25)
            for q in range(dims):
                out[m, t, q] = 0.0
            for i in range(low - start, low - start + near):
                for q in range(dims):
                    out[m, t, q] += window * drawn[i, q]
                window *= ratio
                ratio *= FALL


@compiled(parallel=True)
def forces_shared(key: Array, streams: Array, places: Array, out: Array) -> None:
    """`forces` of all streams, on all threads."""
    for piece in numba.prange((len(streams) + PIECE - 1) // PIECE):
        forces(key, streams, places, out, piece * PIECE, min((piece + 1) * PIECE, len(streams)))
