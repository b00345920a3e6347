"""Discrete embedding: spheres that fill a mesh, and which of them holds which joint of a template.

Spheres are packed as in Baran and Popovic 2007, section 3.1: the deepest point first, then the deepest that is in no
sphere yet, and so on. Two spheres are linked where they overlap and the segment between them is inside. Pieces that are
separate (floating hands) are linked over the shortest gap, which counts several times, and that is noted.

Only key joints (root, forks, ends) are searched for. The cost of an embedding is a sum over joints and over the paths
between them, so the best of all of them is found exactly, by dynamic programming from the ends to the root:

    best(j, u) = place(j, u) + sum over key children c of  min over v of  [ best(c, v) + way(j, u, c, v) ]

place  squared distance from where the template's box has the joint; the wrong side; an end that is not at an end;
       a fork that is not deep within the mesh
way    direction against the template's, length against the template's, both relative; a detour of the path

(Baran and Popovic 2007, section 3.3, search with A* because their penalties tie together more than two joints; here the
two sides are distinguished by their positions.) Left and right share their costs where the mesh is symmetric, so that
they come out as mirror images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.rigging.surface import VoxelSolid
from understudy.deform.rigging.template import FOOT_HEIGHT_RATIO, Template
from understudy.maths import vector

MAX_SPHERES = 400  # the embedding compares all pairs
MIN_RADIUS_VOXELS = 0.6  # half the width of the thinnest limb, in cubes
LINK_RADIUS_RATIO = 1.15  # distance of linked spheres, of the sum of their radii: neighbours just touch
GAP_COST = 3.0  # cost of a length outside, in lengths inside
SPHERE_SPACING_RATIO = 0.75  # distance of centres, of the radius: overlapping spheres make a finer graph
POSITION_COST = 3.0  # for a joint as far off as the box is large
WRONG_SIDE_COST = 4.0  # for a joint a quarter of the width over the middle
OFF_CENTRE_COST = 6.0  # for a middle joint as far off the middle as the box is wide
UNFINISHED_END_COST = 1.0  # for an end from which the mesh continues by a tenth of the size
FOOT_HEIGHT_COST = 8.0  # for a foot as high as the head

# For a fork in a limb of zero width; 0 from half the largest radius on, which may be the head's.
SHALLOW_FORK_COST = 0.3
DIRECTION_COST = 1.0  # for opposite directions (1 - cos) / 2
LENGTH_COST = 0.35  # for a path that is e times as long or short
DETOUR_COST = 0.6  # for a path twice as long as the straight line
MIN_PATH_SIZE_RATIO = 0.03  # of the size: shorter paths count as this long


@dataclass(frozen=True, eq=False)
class MedialSpheres:
    """N spheres that fill a solid, and the shortest paths between all pairs of them."""

    solid: VoxelSolid
    depth: Array  # (X, Y, Z) distance to the skin from the middle of each cube, metres; 0 outside
    centres: Array  # (N, 3)
    radii: Array  # (N,)
    lengths: Array  # (N, N) lengths of the shortest paths
    before: Array  # (N, N) the sphere before j on the path from i
    pieces: int  # separate ones before they were linked

    @classmethod
    def from_solid(cls, solid: VoxelSolid, most: int = MAX_SPHERES) -> MedialSpheres:
        """The spheres of a solid."""
        from scipy import ndimage
        from scipy.sparse.csgraph import dijkstra

        depth = np.asarray(ndimage.distance_transform_edt(solid.inside)) * solid.step
        cubes = np.argwhere(depth >= MIN_RADIUS_VOXELS * solid.step)
        value = depth[tuple(cubes.T)]
        order = np.argsort(-value, kind="stable")
        places = solid.origin + (cubes[order] + 0.5) * solid.step
        centres, radii = pack_spheres(places, value[order], most, solid.step)
        links, pieces = _links(solid, centres, radii)
        lengths, before = dijkstra(links, directed=False, return_predecessors=True)
        return cls(solid, depth, centres, radii, lengths, before, pieces)

    def path(self, start: int, end: int) -> Array:
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


def pack_spheres(places: Array, depths: Array, most: int, step: float) -> tuple[Array, Array]:
    """Centres (N, 3) and radii (N,): of places (P, 3), sorted by depth (P,), those that lie in no earlier sphere."""
    free = np.ones(len(places), bool)
    chosen: list[int] = []
    at = 0
    while len(chosen) < most:
        left = np.flatnonzero(free[at:])
        if not left.size:
            break
        at += int(left[0])
        chosen.append(at)
        reach = max(SPHERE_SPACING_RATIO * depths[at], 1.5 * step)
        free[at:] &= ((places[at:] - places[at]) ** 2).sum(axis=1) > reach * reach
    return places[chosen], depths[chosen]


def _links(solid: VoxelSolid, centres: Array, radii: Array) -> tuple[Array, int]:
    """(N, N) lengths of the links, 0 for none; and the number of pieces before they were linked over gaps."""
    from scipy.sparse.csgraph import connected_components

    length = np.linalg.norm(centres[:, None] - centres[None], axis=-1)
    near = length < LINK_RADIUS_RATIO * (radii[:, None] + radii[None]) + 2 * solid.step
    share = np.linspace(0, 1, 9)
    start, end = np.nonzero(np.triu(near, 1))
    samples = centres[start, None] + share[:, None] * (centres[end] - centres[start])[:, None]
    within = solid.contains(samples).all(axis=1)
    links = np.zeros_like(length)
    start, end = start[within], end[within]
    links[start, end] = links[end, start] = length[start, end]
    first, piece = connected_components(links, directed=False)
    count = first
    while count > 1:
        across = np.where(piece[:, None] != piece[None], length, np.inf)
        i, j = np.unravel_index(across.argmin(), across.shape)
        links[i, j] = links[j, i] = max(GAP_COST * length[i, j], 1e-9)
        piece = np.where(piece == piece[j], piece[i], piece)
        count -= 1
    return links, int(first)


@dataclass(frozen=True, eq=False)
class Embedding:
    """An embedding of a template."""

    sphere_of: dict[int, int]  # key joint -> sphere
    cost: float  # mean over the key joints


@dataclass(frozen=True, eq=False)
class ShortestPaths:
    """The part of the cost of paths that does not depend on the template, for all pairs of spheres."""

    straight: Array  # (N, N) lengths of straight lines, at least `MIN_PATH_SIZE_RATIO` of the size
    log: Array  # (N, N) logarithms of the paths' lengths
    detour: Array  # (N, N) cost of their detours
    centres: Array  # (N, 3)
    size: float

    @classmethod
    def from_medial(cls, medial: MedialSpheres, size: float) -> ShortestPaths:
        """The paths of a mesh of this size."""
        straight = np.maximum(vector.length(medial.centres[None] - medial.centres[:, None]), MIN_PATH_SIZE_RATIO * size)
        length = np.maximum(np.where(np.isfinite(medial.lengths), medial.lengths, 10 * size), straight)
        return cls(straight, np.log(length), DETOUR_COST * (length / straight - 1), medial.centres, size)

    def cost(self, wanted: Array, joint: int, child: int) -> Array:
        """(N, N) cost of the path from a joint at u to its key child at v, for template positions `wanted` (J, 3)."""
        ideal = wanted[child] - wanted[joint]
        length = float(vector.length(ideal))
        along = self.centres @ vector.normalise(ideal)
        cosine = (along[None] - along[:, None]) / self.straight
        stretch = self.log - np.log(max(length, MIN_PATH_SIZE_RATIO * self.size))
        weight = min(1.0, length / (0.2 * self.size))  # the direction of a short path says little
        return 0.5 * weight * DIRECTION_COST * (1 - cosine) + LENGTH_COST * stretch * stretch + self.detour


def embed(template: Template, medial: MedialSpheres, points: Array, paths: ShortestPaths | None = None) -> Embedding:
    """The cheapest embedding into the spheres of a mesh with vertices `points` (N, 3), with its `paths` if known."""
    wanted = fit_to_box(template, points)
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    paths = paths or ShortestPaths.from_medial(medial, size)
    keys = template.keys
    best: dict[int, Array] = {}
    choice: dict[int, Array] = {}
    for joint in keys[::-1]:  # children come after their parents
        best[joint] = _sphere_costs(template, medial, points, wanted, int(joint), size)
        for child in keys:
            if template.key_ancestor(child) == joint:
                total = paths.cost(wanted, int(joint), int(child)) + best[child]
                choice[child] = total.argmin(axis=1)
                best[joint] = best[joint] + total.min(axis=1)
    sphere_of: dict[int, int] = {}
    cost = 0.0
    for joint in keys:
        above = template.key_ancestor(joint)
        if above < 0:
            sphere_of[int(joint)] = int(best[joint].argmin())
            cost += float(best[joint].min())
        else:
            sphere_of[int(joint)] = int(choice[joint][sphere_of[above]])
    return Embedding(sphere_of, cost / len(keys))


def fit_to_box(template: Template, points: Array) -> Array:
    """(J, 3) the template's positions in the box around points (N, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    place = template.places
    return np.stack(
        [middle[0] + half[0] * place[:, 0], low[1] + 2 * half[1] * place[:, 1], middle[2] + half[2] * place[:, 2]], 1
    )


def _sphere_costs(
    template: Template, medial: MedialSpheres, points: Array, wanted: Array, joint: int, size: float
) -> Array:
    """(N,) the cost of each sphere for a joint by itself."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = max(high[0] - low[0], 1e-9 * size)
    offset = (medial.centres - wanted[joint]) / size
    cost = POSITION_COST * (offset**2).sum(axis=1)
    across = (medial.centres[:, 0] - 0.5 * (low[0] + high[0])) / width
    side = template.side[joint]
    cost += WRONG_SIDE_COST * np.maximum(-4 * side * across, 0) ** 2 if side else OFF_CENTRE_COST * across**2
    if len(template.children[joint]):
        return cost + SHALLOW_FORK_COST * (1 - np.minimum(medial.radii / (0.5 * medial.radii.max()), 1))
    if template.places[joint, 1] < FOOT_HEIGHT_RATIO:
        cost += FOOT_HEIGHT_COST * ((medial.centres[:, 1] - low[1]) / max(high[1] - low[1], 1e-9 * size)) ** 2
    # an end: no sphere further out within reach
    span = 0.1 * size
    near = medial.lengths < span + medial.radii[:, None]
    out = medial.lengths[medial.radii.argmax()]  # from the deepest sphere
    further = np.where(near, out[None] - out[:, None], 0).max(axis=1)
    return cost + UNFINISHED_END_COST * (further / span) ** 2
