"""Volume of the skin: volume, centre and second moments of every link of a character.

The surface is cut into one patch a joint, each triangle going to the joint that holds most of it. Patches are open
where they meet: each seam is closed by a fan of triangles from its middle, once for the one side and turned round for
the other, so that no volume is lost or counted twice. A closed surface is a sum of tetrahedra from the origin to its
triangles (a, b, c), with s = a + b + c and

    V = a . (b x c) / 6,    int x dV = V s / 4,    int x x^T dV = V / 20 (a a^T + b b^T + c c^T + s s^T)

Holes are closed in the same way. A piece that then encloses almost nothing (a sheet of paper) is taken as a thin shell.
A link that is no solid (seams that cross a thin ear, a shoe of several sheets) is taken as its convex hull. Copies of a
vertex, which files make along seams of colour or texture, are welded first, across parts as well.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Character, kinematics
from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array

WELD_GRID_SIZE_RATIO = 1e-5  # of the size: far above the rounding of float32, far below any modelled edge
SHEET_THICKNESS_SIZE_RATIO = 0.004  # thickness of sheets over the size: four millimetres on a figure of one metre


def link_moments(character: Character) -> Array:
    """(J, 4, 4) int X X^T dV over each joint's link at rest, X = (x, y, z, 1) in the world; zeros without volume."""
    vertices, triangles, owners = rest_surface(character)
    moments = np.zeros((len(character.skeleton), 4, 4))
    if len(triangles):
        patches = patch_moments(vertices, triangles, owners)
        moments[: len(patches)] = patches
    for joint in np.unique(owners):
        surface = vertices[np.unique(triangles[owners == joint])]
        if not _is_solid(moments[joint], surface):
            moments[joint] = _hull_moments(surface)
    return moments


def _is_solid(moments: Array, surface: Array) -> bool:
    """Whether moments (4, 4) may be those of a solid within its surface (P, 3): seams across thin parts give others."""
    volume, first = moments[3, 3], moments[:3, 3]
    if volume <= 0:
        return False
    central = moments[:3, :3] - np.outer(first, first) / volume
    centre = first / volume
    inside = (surface.min(axis=0) <= centre).all() and (centre <= surface.max(axis=0)).all()
    return bool(inside and np.linalg.eigvalsh(central)[0] > -1e-9 * np.trace(central))


def _hull_moments(points: Array) -> Array:
    """(4, 4) moments of the convex hull of points (P, 3); zeros where they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        faces = ConvexHull(points).simplices
    except (QhullError, ValueError):
        return np.zeros((4, 4))
    shift = np.eye(4)
    shift[:3, 3] = points.mean(axis=0)  # inside: every tetrahedron from it to a face counts, whichever way it is turned
    moments = _tetrahedra(points[faces] - shift[:3, 3])
    moments *= np.where(moments[:, 3, 3] < 0, -1.0, 1.0)[:, None, None]
    return np.asarray(shift @ moments.sum(axis=0) @ shift.T)


def rest_surface(character: Character) -> tuple[Array, Array, Array]:
    """Vertices (V, 3) of all parts at rest, triangles (T, 3), and the joint (T,) that each triangle belongs to."""
    owners = [
        p.skin.joints[_dominant_joints(p.skin.influences[p.mesh.triangles], p.skin.weights[p.mesh.triangles])]
        for p in character.parts
    ]
    return rest_vertices(character), character.triangles.astype(np.int64), np.concatenate([np.zeros(0, int), *owners])


def rest_vertices(character: Character, world: Array | None = None) -> Array:
    """(V, 3) vertices of all parts at rest, or with joints as in `world` (J, 4, 4), world_from_joint."""
    s = character.skeleton
    if world is None:
        world = kinematics.world_transforms(s.parents, s.translations, s.rotations, s.scales)
    blocks = [np.zeros((0, 3))]
    for part in character.parts:
        skin = part.skin
        matrices = (world[skin.joints] @ skin.inverse_binds)[skin.influences, :3]  # (V, K, 3, 4)
        blend = np.einsum("vk,vkij->vij", skin.weights.astype(np.float64), matrices)
        blocks.append(np.einsum("vij,vj->vi", blend[..., :3], part.mesh.vertices.astype(np.float64)) + blend[..., 3])
    return np.concatenate(blocks)


def bind_worlds(character: Character) -> Array:
    """(J, 4, 4) world_from_joint of the pose that the skin was bound in; joints without skin keep to their parents.

    The transforms of a file's nodes may be those of any frame, with the arms raised or in mid-stride. The pose in which
    the skin was bound is the one in which the body was modelled. A skin is placed by the joint that stands straightest:
    the one whose transform from the bind pose to the nodes' is nearest to a turn by quarters.
    """
    s = character.skeleton
    rest = kinematics.world_transforms(s.parents, s.translations, s.rotations, s.scales)
    bound: dict[int, Array] = {}
    for part in character.parts:
        skin = part.skin
        if skin.is_rigid or len(skin.joints) < 2:
            continue
        offsets = rest[skin.joints] @ skin.inverse_binds
        axes = offsets[:, :3, :3] / np.maximum(np.linalg.norm(offsets[:, :3, :3], axis=1, keepdims=True), 1e-12)
        straight = np.abs(axes).max(axis=1).min(axis=1)
        first = int(np.flatnonzero(straight >= straight.max() - 1e-3)[0])
        binds = offsets[first] @ np.linalg.inv(skin.inverse_binds)
        for joint, world in zip(skin.joints.tolist(), binds):
            bound.setdefault(joint, world)
    result = rest.copy()
    for joint, parent in enumerate(s.parents.tolist()):
        if joint in bound:
            result[joint] = bound[joint]
        elif parent >= 0:
            result[joint] = result[parent] @ np.linalg.inv(rest[parent]) @ rest[joint]
    return result


def skin_positions(character: Character, world: Array, vertices: Array | None = None) -> Array:
    """(F, V, 3) the skin of all parts for world_from_joint (F, J, 4, 4), or (F, S, 3) of some vertices (S,), ascending.

    Vertices are numbered over all parts.
    """
    blocks, first = [np.zeros((len(world), 0, 3), np.float32)], 0
    for part in character.parts:
        count = len(part.mesh.vertices)
        rows = slice(None) if vertices is None else vertices[(vertices >= first) & (vertices < first + count)] - first
        matrices = world[:, part.skin.joints] @ part.skin.inverse_binds
        skin = part.skin
        blocks.append(linear_blend(part.mesh.vertices[rows], skin.influences[rows], skin.weights[rows], matrices))
        first += count
    return np.concatenate(blocks, axis=1)


def vertex_owners(character: Character) -> Array:
    """(V,) the joint that holds most of each vertex."""
    owners = [
        p.skin.joints[_dominant_joints(p.skin.influences[:, None], p.skin.weights[:, None])] for p in character.parts
    ]
    return np.concatenate([np.zeros(0, np.int64), *owners])


def patch_moments(vertices: Array, triangles: Array, owners: Array) -> Array:
    """(max owner + 1, 4, 4) moments of the volume in the triangles (T, 3) of each owner (T,), seams closed."""
    count = int(owners.max(initial=-1)) + 1
    size = float(np.ptp(vertices, axis=0).max())
    points, triangles = _weld_points(vertices, triangles, WELD_GRID_SIZE_RATIO * size)
    middle = points.mean(axis=0)  # near the figure, so that large tetrahedra do not cancel
    points = points - middle
    piece = _pieces(len(points), triangles)
    lo, hi, owner, net, apex = _caps(points, triangles, owners)
    corners = np.concatenate([points[triangles], np.stack([apex, points[lo], points[hi]], axis=1)])
    owner = np.concatenate([owners, owner])
    factor = np.concatenate([np.ones(len(triangles)), -net])
    piece = np.concatenate([piece[triangles[:, 0]], piece[lo]])
    moments = factor[:, None, None] * _tetrahedra(corners)
    volume = np.bincount(piece, moments[:, 3, 3])
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    area[len(triangles) :] = 0.0
    # both faces of a thin plate count half
    sheet = np.abs(volume) < SHEET_THICKNESS_SIZE_RATIO * size * np.bincount(piece, area) / 2
    moments *= np.where(sheet, 0.0, np.sign(volume))[piece][:, None, None]  # pieces inside out are inverted
    moments += (np.where(sheet[piece], area, 0.0) * SHEET_THICKNESS_SIZE_RATIO * size)[:, None, None] * _mean_square(
        corners
    )
    total = np.zeros((count, 16))
    np.add.at(total, owner, moments.reshape(-1, 16))
    shift = np.eye(4)
    shift[:3, 3] = middle
    return np.asarray(shift @ total.reshape(count, 4, 4) @ shift.T)


def _dominant_joints(influences: Array, weights: Array) -> Array:
    """(T,) the influence with the largest sum of weights over the corners (T, C, K)."""
    joint = influences.reshape(len(influences), -1)
    weight = weights.reshape(len(weights), -1).astype(np.float64)
    total = np.einsum("tab,tb->ta", joint[:, :, None] == joint[:, None, :], weight)
    return np.asarray(np.take_along_axis(joint, total.argmax(axis=1)[:, None], axis=1)[:, 0])


def _weld_points(vertices: Array, triangles: Array, grid: float) -> tuple[Array, Array]:
    """Merge points within a cell of the grid; triangles that lose a corner stay, they enclose nothing."""
    cells = np.round(vertices / max(grid, 1e-12)).astype(np.int64)
    _, first, inverse = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    return vertices[first], inverse.reshape(-1)[triangles]


def _pieces(count: int, triangles: Array) -> Array:
    """(V,) the number of the connected piece that each point belongs to."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a = np.concatenate([triangles[:, 0], triangles[:, 1]])
    b = np.concatenate([triangles[:, 1], triangles[:, 2]])
    graph = coo_matrix((np.ones(len(a)), (a, b)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])


def _caps(points: Array, triangles: Array, owners: Array) -> tuple[Array, Array, Array, Array, Array]:
    """The caps of each patch: edges lo -> hi (E,), their owner, how often each is passed, and the fan's middle (E, 3).

    The middle depends on the seam alone, not on the side, so that the caps of two neighbours leave no gap.
    """
    start = triangles.reshape(-1)
    end = np.roll(triangles, -1, axis=1).reshape(-1)
    lo, hi = np.minimum(start, end), np.maximum(start, end)
    rows = np.stack([lo, hi, np.repeat(owners, 3)], axis=1)
    rows, inverse = np.unique(rows, axis=0, return_inverse=True)
    net = np.bincount(inverse.reshape(-1), np.sign(end - start), minlength=len(rows))
    rows, net = rows[net != 0], net[net != 0]
    lo, hi, owner = rows.T
    if not len(rows):
        return lo, hi, owner, net, np.zeros((0, 3))
    edge = np.unique(rows[:, :2], axis=0, return_inverse=True)[1].reshape(-1)
    low, high = np.full(edge.max() + 1, owner.max() + 1), np.full(edge.max() + 1, -1)
    np.minimum.at(low, edge, owner)
    np.maximum.at(high, edge, owner)
    # A seam is a connected run of edges between the same two patches; rows of one edge share its seam.
    pair = np.unique(np.stack([low[edge], high[edge]], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    ends, at = np.unique(np.stack([np.tile(pair, 2), np.concatenate([lo, hi])], 1), axis=0, return_inverse=True)
    at = at.reshape(2, -1)
    seam = _pieces(len(ends), np.stack([at[0], at[1], at[1]], axis=1))[at[0]]
    weight = np.linalg.norm(points[hi] - points[lo], axis=1)
    sums = np.stack([np.bincount(seam, weight * axis) for axis in ((points[lo] + points[hi]) / 2).T], axis=1)
    middles = sums / np.maximum(np.bincount(seam, weight), 1e-300)[:, None]
    return lo, hi, owner, net, middles[seam]


def _tetrahedra(corners: Array) -> Array:
    """(T, 4, 4) int X X^T dV over the tetrahedra from the origin to triangles (T, 3, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    volume = np.einsum("ti,ti->t", a, np.cross(b, c)) / 6
    s = a + b + c
    result = np.empty((len(corners), 4, 4))
    result[:, :3, :3] = (np.einsum("tpi,tpj->tij", corners, corners) + s[:, :, None] * s[:, None, :]) / 20
    result[:, :3, 3] = result[:, 3, :3] = s / 4
    result[:, 3, 3] = 1.0
    return result * volume[:, None, None]


def _mean_square(corners: Array) -> Array:
    """(T, 4, 4) the mean of X X^T over triangles (T, 3, 3)."""
    s = corners.sum(axis=1)
    result = np.empty((len(corners), 4, 4))
    result[:, :3, :3] = (np.einsum("tpi,tpj->tij", corners, corners) + s[:, :, None] * s[:, None, :]) / 12
    result[:, :3, 3] = result[:, 3, :3] = s / 3
    result[:, 3, 3] = 1.0
    return result
