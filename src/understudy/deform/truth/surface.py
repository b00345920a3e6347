"""The skin of a solved tube: its outer ring, twice as fine by cubic interpolation, closed by round caps on the bones.

The grid of the solver is smooth between its nodes; a cubic through them shows that surface rather than its facets. The
first and last station are rigid with their bones, so the caps are as well.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

CAP = 4  # rows of a cap, its pole not counted


def refined(grid: Array) -> Array:
    """(P, 2 S - 1, 2 A, 3) of (P, S, A, 3): each edge halved, by cubics, around (periodic) and then along."""
    before, after, far = np.roll(grid, 1, axis=2), np.roll(grid, -1, axis=2), np.roll(grid, -2, axis=2)
    middle = (9 * (grid + after) - (before + far)) / 16
    out = np.stack([grid, middle], axis=3).reshape(*grid.shape[:2], -1, 3)
    first, last = 2 * out[:, :1] - out[:, 1:2], 2 * out[:, -1:] - out[:, -2:-1]
    long = np.concatenate([first, out, last], axis=1)
    middle = (9 * (long[:, 1:-2] + long[:, 2:-1]) - (long[:, :-3] + long[:, 3:])) / 16
    result = np.empty((len(out), 2 * out.shape[1] - 1, *out.shape[2:]))
    result[:, ::2], result[:, 1::2] = out, middle
    return result


def cap_rows(ring: Array, bulge: float) -> tuple[Array, Array]:
    """Rows (CAP, A, 3) and the pole (3,) of a dome on a ring (A, 3) that rises `bulge` along X."""
    centre = ring.mean(axis=0)
    angle = 0.5 * np.pi * np.arange(1, CAP + 1) / (CAP + 1)
    rise = np.array([bulge, 0.0, 0.0])
    rows = centre + np.cos(angle)[:, None, None] * (ring - centre) + np.sin(angle)[:, None, None] * rise
    return rows, centre + rise


def closed(rest: Array, posed: Array, first: Array, last: Array, bulges: tuple[float, float]) -> tuple[Array, Array]:
    """Rest vertices (V, 3) and posed vertices (P, V, 3) of the surface with its caps, from refined grids (S, A, 3) and
    (P, S, A, 3); `first` and `last` (P, 4, 4) move the two ends."""
    near, near_pole = cap_rows(rest[0], -bulges[0])
    far, far_pole = cap_rows(rest[-1], bulges[1])
    starts = np.concatenate([near_pole[None], near[::-1].reshape(-1, 3)])
    ends = np.concatenate([far.reshape(-1, 3), far_pole[None]])

    def moved(points: Array, matrices: Array) -> Array:
        return np.einsum("pij,vj->pvi", matrices[:, :3, :3], points) + matrices[:, None, :3, 3]

    whole = np.concatenate([starts, rest.reshape(-1, 3), ends])
    return whole, np.concatenate([moved(starts, first), posed.reshape(len(posed), -1, 3), moved(ends, last)], axis=1)


def triangles(rows: int, around: int) -> Array:
    """(T, 3) of a pole, `rows` rows of `around` vertices and another pole, counter-clockwise from outside where rows
    go along +X and around from +Y to +Z."""
    ring = 1 + np.arange(rows * around).reshape(rows, around)
    following = np.roll(ring, -1, axis=1)
    a, b, c, d = ring[:-1], following[:-1], following[1:], ring[1:]
    sides = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    pole, last = np.zeros(around, np.int64), np.full(around, 1 + rows * around)
    near = np.stack([pole, following[0], ring[0]], axis=-1)
    far = np.stack([last, ring[-1], following[-1]], axis=-1)
    return np.concatenate([near, sides, far])


def volume(vertices: Array, faces: Array) -> Array:
    """(P,) enclosed by closed surfaces (P, V, 3): a sixth of the sum of a . (b x c)."""
    a, b, c = (vertices[:, faces[:, k]] for k in range(3))
    return np.einsum("pti,pti->p", a, np.cross(b, c)) / 6.0
