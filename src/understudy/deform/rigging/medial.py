"""The middle of a mesh: spheres that fill it, and the graph of those that touch.

Spheres are packed as in Baran and Popovic 2007, section 3.1: the deepest place first, then the deepest that is in no
sphere yet, and so on. Two spheres are linked where they overlap and the way between them is inside. Pieces that stand
apart (floating hands) are linked over the shortest gap, which counts several times, and that is noted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.automatic.solid import Solid

MOST = 400  # spheres; the embedding compares all pairs
THINNEST = 0.6  # cubes: half the width of a limb that is still seen
OVERLAP = 1.15  # times the sum of the radii: neighbours of a packing just touch
GAP = 3.0  # a way outside counts so many times
SHARE = 0.75  # of its radius, how much a sphere takes up: overlapping ones make a finer graph


@dataclass(frozen=True, eq=False)
class Medial:
    """N spheres, and the ways between all pairs of them."""

    solid: Solid
    depth: Array  # (X, Y, Z) distance to the skin from the middle of each cube, metres; 0 outside
    centres: Array  # (N, 3)
    radii: Array  # (N,)
    ways: Array  # (N, N) lengths of the shortest ways
    before: Array  # (N, N) the sphere before j on the way from i
    pieces: int  # how many stood apart

    @classmethod
    def of(cls, solid: Solid, most: int = MOST) -> Medial:
        """The spheres of a solid."""
        from scipy import ndimage
        from scipy.sparse.csgraph import dijkstra

        depth = np.asarray(ndimage.distance_transform_edt(solid.inside)) * solid.step
        cubes = np.argwhere(depth >= THINNEST * solid.step)
        value = depth[tuple(cubes.T)]
        order = np.argsort(-value, kind="stable")
        places = solid.origin + (cubes[order] + 0.5) * solid.step
        centres, radii = packed(places, value[order], most, solid.step)
        links, pieces = _links(solid, centres, radii)
        ways, before = dijkstra(links, directed=False, return_predecessors=True)
        return cls(solid, depth, centres, radii, ways, before, pieces)

    def way(self, start: int, end: int) -> Array:
        """(n, 3) the centres from one sphere to another."""
        chain = [end]
        while chain[-1] != start and len(chain) <= len(self.centres):
            chain.append(int(self.before[start, chain[-1]]))
        return self.centres[chain[::-1]]

    def depth_and_slope(self, points: Array) -> tuple[Array, Array]:
        """The distance to the skin at points (..., 3), linear between the cubes' middles, and its gradient (..., 3)."""
        place = np.clip((points - self.solid.origin) / self.solid.step - 0.5, 0, np.array(self.depth.shape) - 1.001)
        cube = np.floor(place).astype(np.int64)
        share = place - cube
        depth, slope = np.zeros(points.shape[:-1]), np.zeros(points.shape)
        for corner in np.ndindex(2, 2, 2):
            value = self.depth[tuple(np.moveaxis(cube + corner, -1, 0))]
            factor = np.where(corner, share, 1 - share)
            sign = np.where(corner, 1.0, -1.0)
            depth += value * factor.prod(axis=-1)
            for axis in range(3):
                slope[..., axis] += value * sign[axis] * np.delete(factor, axis, axis=-1).prod(axis=-1)
        return depth, slope / self.solid.step


def packed(places: Array, depths: Array, most: int, step: float) -> tuple[Array, Array]:
    """Centres (N, 3) and radii (N,): places (P, 3) sorted by depth (P,), each taken unless it lies in one taken."""
    free = np.ones(len(places), bool)
    chosen: list[int] = []
    at = 0
    while len(chosen) < most:
        left = np.flatnonzero(free[at:])
        if not left.size:
            break
        at += int(left[0])
        chosen.append(at)
        reach = max(SHARE * depths[at], 1.5 * step)
        free[at:] &= ((places[at:] - places[at]) ** 2).sum(axis=1) > reach * reach
    return places[chosen], depths[chosen]


def _links(solid: Solid, centres: Array, radii: Array) -> tuple[Array, int]:
    """(N, N) lengths of the links, 0 for none; and the number of pieces before they were linked over gaps."""
    from scipy.sparse.csgraph import connected_components

    length = np.linalg.norm(centres[:, None] - centres[None], axis=-1)
    near = length < OVERLAP * (radii[:, None] + radii[None]) + 2 * solid.step
    share = np.linspace(0, 1, 9)
    start, end = np.nonzero(np.triu(near, 1))
    way = centres[start, None] + share[:, None] * (centres[end] - centres[start])[:, None]
    within = solid.contains(way).all(axis=1)
    links = np.zeros_like(length)
    start, end = start[within], end[within]
    links[start, end] = links[end, start] = length[start, end]
    first, piece = connected_components(links, directed=False)
    count = first
    while count > 1:
        across = np.where(piece[:, None] != piece[None], length, np.inf)
        i, j = np.unravel_index(across.argmin(), across.shape)
        links[i, j] = links[j, i] = max(GAP * length[i, j], 1e-9)
        piece = np.where(piece == piece[j], piece[i], piece)
        count -= 1
    return links, int(first)
