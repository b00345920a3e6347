"""Automatic weights by heat: heat where heat can flow, a stated fallback elsewhere, no vertex without weights.

heat       the vertex is part of a surface, and the solve reached it
borrowed   a small loose piece with no bone in it (an eye, a button): all of it moves with the skin nearest to it
distance   no triangle, or nothing solved: shares that fall with the fourth power of the distance to the bones

Heat. Every bone is at temperature 1 in its own system and all others at 0; a vertex's weight is its temperature:

    (L + A H) w_j = A H p_j,      H_i = c / d_i^2

(Baran and Popovic 2007, section 4; -L their Laplacian, A the areas). p_ij is 1 where bone j is the nearest to vertex i,
shared where several are; d_i is the distance to it. Heat flows along the skin, and in from the nearest bone. The rows
of L sum to zero and those of p to one, so the weights sum to one without normalisation; L + A H is an M-matrix
(`surface.laplacian`), so they are never negative.

Distance. The plain distance |v - q| to the nearest point q of a bone picks the wrong bone wherever two limbs are close:
a hand on the hip, a chin above a shoulder. Two terms separate them:

    d = |v - q| (1 + A o) / ((1.001 + cos) / 2)

cos is that of the angle between the outward normal at v and v - q: a bone that is before the skin and not behind it is
up to two thousand times as far (as in Blender's bone heat). o is the share of the segment that lies outside the mesh,
which replaces the visibility test of Baran and Popovic and does not fail at holes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.deform.rigging.bones import BoneSegments, bones_of
from understudy.deform.rigging.surface import VoxelSolid, WeldedSurface, extent
from understudy.errors import InvalidInput
from understudy.maths import vector

# A: a segment outside counts four times; 2 to 8 give the same weights to three digits on real characters.
OUTSIDE_PATH_COST = 3.0
SAMPLES_PER_SEGMENT = 12  # for o
FACING_COSINE_OFFSET = 1.001  # cos = -1 must not divide by zero
POINTS_PER_BLOCK = 8192  # the samples of a block are some megabytes

# c. The paper has 1, which is soft over twice the radius of a limb; artists of real characters paint half as soft: over
# 19 of them c = 1, 2, 4, 8 leave a median error of 0.50, 0.45, 0.41, 0.45 % of the size.
HEAT_STRENGTH = 4.0

# Distances that differ by less than this share are equal: both bones of a joint, on its plane.
EQUAL_DISTANCE_RATIO = 1e-4
MIN_DISTANCE_SIZE_RATIO = 1e-4  # of the size: H of a vertex on a bone would be infinite
WEIGHT_SOURCES = ("heat", "borrowed", "distance")  # how a vertex gets its weights
SMALL_PIECE_SIZE_RATIO = 0.1  # of the size: a larger piece bends with its nearest bones
MAX_VERTICES = 500_000  # solved in about a minute and 4 GB
DISTANCE_FALLOFF_POWER = 4.0  # of the distance in the fallback
MIN_WEIGHT = 1e-4  # smaller weights move nothing by a pixel, and are dropped


@dataclass(frozen=True, eq=False)
class AutomaticWeights:
    """At most K joints a vertex and their weights, which sum to 1, the source of each, and notes."""

    joints: Array  # (V, K) int32, indexes of the joints
    weights: Array  # (V, K) float32
    way: Array  # (V,) int8, index into WEIGHT_SOURCES
    idle: dict[str, str]  # joints without skin of their own, and why
    notes: tuple[str, ...]

    def dense(self, joints: int) -> Array:
        """(V, B) float64."""
        result = np.zeros((len(self.weights), joints))
        np.add.at(result, (np.arange(len(self.weights))[:, None], self.joints), self.weights)
        return result


def automatic_weights(
    vertices: Any,
    triangles: Any,
    binds: Any,
    parents: Any,
    names: Sequence[str] = (),
    influences: int = 4,
    strength: float = HEAT_STRENGTH,
) -> AutomaticWeights:
    """Weights of a mesh (V, 3), (T, 3) on B joints with transforms `binds` (B, 4, 4) in the mesh's space at rest.

    The mesh may be open, of several pieces, non-manifold or degenerate. `influences` is the most joints of a vertex,
    `strength` the c of the heat.
    """
    mesh = checks.array(vertices, "vertices", ("V", 3))
    faces = checks.array(triangles, "triangles", ("T", 3), np.int64)
    rest = checks.array(binds, "transforms of the joints at rest", ("B", 4, 4))
    parent = checks.array(parents, "parents of the joints", (len(rest),), np.int64)
    checks.indices(faces, "triangles", len(mesh))
    depth_first(parent)  # refuses cycles
    joint_names = checks.unique_names(names or [f"joint{j}" for j in range(len(rest))], "joint names")
    _check_sizes(mesh, rest, joint_names, influences)
    surface = WeldedSurface.from_mesh(mesh, faces)
    solid = VoxelSolid.from_surface(surface.points, surface.triangles)
    bones = bones_of(rest, parent, joint_names, solid, extent(np.concatenate([surface.points, rest[:, :3, 3]])))
    distance = inside_distances(surface, bones, solid, len(rest))
    weights = solve_heat(surface, distance, checks.positive(strength, "strength"))
    way = np.where(np.isfinite(weights).all(axis=1), 0, 2).astype(np.int8)
    _borrow_weights(surface, bones, weights, way)
    lost = way == 2
    weights[lost] = _distance_weights(surface.points[lost], bones, len(rest))
    joints, kept = strongest_weights(weights, influences)
    point = surface.point_of
    idle = {joint_names[joint]: why for joint, why in bones.idle.items()}
    return AutomaticWeights(
        checks.freeze(joints[point]),
        checks.freeze(kept[point]),
        checks.freeze(way[point]),
        idle,
        tuple(_notes(way[point], idle)),
    )


def _check_sizes(mesh: Array, rest: Array, names: tuple[str, ...], influences: int) -> None:
    if not len(mesh) or not len(rest):
        raise InvalidInput(f"weights need vertices and joints, but there are {len(mesh)} and {len(rest)}")
    if len(mesh) > MAX_VERTICES:
        raise InvalidInput(f"automatic weights are found for at most {MAX_VERTICES:,} vertices, not {len(mesh):,}")
    if len(names) != len(rest):
        raise InvalidInput(f"there are {len(rest)} joints, but {len(names)} names for them")
    if influences < 1:
        raise InvalidInput(f"a vertex should have at least 1 joint, but {influences} were asked for")


def inside_distances(surface: WeldedSurface, bones: BoneSegments, solid: VoxelSolid, joints: int) -> Array:
    """(N, B) from each point to each of `joints` joints; infinite for joints without bones."""
    result = np.full((len(surface.points), joints), np.inf)
    share = (np.arange(SAMPLES_PER_SEGMENT) + 0.5) / SAMPLES_PER_SEGMENT
    for first in range(0, len(surface.points), POINTS_PER_BLOCK):
        rows = slice(first, first + POINTS_PER_BLOCK)
        points, normals = surface.points[rows], surface.normals[rows]
        for bone, joint in enumerate(bones.joint_of):
            nearest = bones.nearest(bone, points)
            offset = points - nearest
            length = vector.length(offset)
            cosine = vector.dot(offset, normals) / np.maximum(length, vector.MIN_LENGTH)
            samples = nearest[:, None] + share[:, None] * offset[:, None]
            outside = 1 - solid.contains(samples).mean(axis=1)
            seen = length * (1 + OUTSIDE_PATH_COST * outside) / (0.5 * (FACING_COSINE_OFFSET + cosine))
            result[rows, joint] = np.minimum(result[rows, joint], seen)
    return result


def solve_heat(surface: WeldedSurface, distance: Array, strength: float = HEAT_STRENGTH) -> Array:
    """(N, B) weights of distances (N, B); NaN for points without triangles or without a bone at a finite distance."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import splu

    least = distance.min(axis=1)
    solvable = surface.in_triangle & np.isfinite(least)
    result = np.full(distance.shape, np.nan)
    if not solvable.any():
        return result
    nearest = np.zeros(distance.shape)
    nearest[solvable] = distance[solvable] <= least[solvable, None] * (1 + EQUAL_DISTANCE_RATIO)
    nearest[solvable] /= nearest[solvable].sum(axis=1, keepdims=True)
    warmth = np.zeros(len(least))
    warmth[solvable] = strength / np.maximum(least[solvable], MIN_DISTANCE_SIZE_RATIO * surface.size) ** 2
    inflow = surface.areas * warmth
    rows = np.flatnonzero(solvable)
    system = (surface.laplacian() + diags(inflow)).tocsr()[rows][:, rows].tocsc()
    # symmetric and positive definite: no pivoting needed, and an ordering that keeps it sparse
    factor = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    used = np.flatnonzero(nearest.any(axis=0))
    weights = np.zeros((len(rows), distance.shape[1]))
    weights[:, used] = np.maximum(factor.solve((nearest[rows] * inflow[rows, None])[:, used]), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        result[rows] = weights / weights.sum(axis=1, keepdims=True)
    return result


def _borrow_weights(surface: WeldedSurface, bones: BoneSegments, weights: Array, way: Array) -> None:
    """Give small pieces without a bone inside the mean weights of the skin nearest to them, in place."""
    from scipy.spatial import cKDTree

    pieces = surface.pieces
    order = np.argsort(pieces, kind="stable")
    starts = np.flatnonzero(np.diff(pieces[order], prepend=-1))
    low, high = (f.reduceat(surface.points[order], starts, axis=0) for f in (np.minimum, np.maximum))
    small = vector.length(high - low) < SMALL_PIECE_SIZE_RATIO * surface.size
    small &= surface.in_triangle[order[starts]]
    if not small.any() or small.all():
        return
    spots = bones.starts + np.linspace(0, 1, 9)[:, None, None] * (bones.ends - bones.starts)
    body = np.flatnonzero(~small[pieces] & (way == 0))
    if not body.size:
        return
    skin = cKDTree(surface.points[body])
    for piece in np.flatnonzero(small):
        # a slightly larger box: the bone of an eyelid runs beside it, not within
        room = 0.1 * (high[piece] - low[piece])
        if ((spots >= low[piece] - room) & (spots <= high[piece] + room)).all(axis=-1).any():
            continue
        members = order[starts[piece] : starts[piece + 1] if piece + 1 < len(starts) else None]
        _, nearest = skin.query(surface.points[members])
        weights[members] = weights[body[nearest]].mean(axis=0)
        way[members] = 1


def _distance_weights(points: Array, bones: BoneSegments, joints: int) -> Array:
    """(M, B) weights 1 / d^4 of the plain distances to the bones."""
    least = np.full((len(points), joints), np.inf)
    for bone, joint in enumerate(bones.joint_of):
        length = vector.length(points - bones.nearest(bone, points))
        least[:, joint] = np.minimum(least[:, joint], length)
    nearest = least.min(axis=1, keepdims=True, initial=np.inf)
    share = (np.maximum(nearest, 1e-12) / np.maximum(least, 1e-12)) ** DISTANCE_FALLOFF_POWER
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def strongest_weights(weights: Array, influences: int) -> tuple[Array, Array]:
    """The largest `influences` weights of each row (N, B), normalised to sum to 1: joints (N, K) int32 and weights.

    Weights below `MIN_WEIGHT` are dropped; the joint of a weight 0 is joint 0.
    """
    count = min(influences, weights.shape[1])
    joints = np.argsort(-weights, axis=1, kind="stable")[:, :count]
    kept = np.take_along_axis(weights, joints, axis=1)
    kept = np.where(kept < MIN_WEIGHT, 0.0, kept)
    kept /= kept.sum(axis=1, keepdims=True)
    return np.where(kept > 0, joints, 0).astype(np.int32), kept.astype(np.float32)


def _notes(way: Array, idle: dict[str, str]) -> list[str]:
    notes = []
    borrowed, lost = int((way == 1).sum()), int((way == 2).sum())
    if borrowed:
        notes.append(f"{borrowed} vertices of small loose pieces move with the skin nearest to them")
    if lost:
        first = ", ".join(map(str, np.flatnonzero(way == 2)[:5]))
        more = ", ..." if lost > 5 else ""
        notes.append(f"{lost} vertices belong to no sound triangle and are weighted by distance alone ({first}{more})")
    for why in dict.fromkeys(idle.values()):
        names = [name for name, reason in idle.items() if reason == why]
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        notes.append(f"no skin moves with {shown}: {why}")
    return notes
