"""Automatic weights: heat where heat can go, a stated fallback elsewhere, no vertex left empty.

heat       the vertex is part of a surface, and the solve reached it
borrowed   a small loose piece with no bone in it (an eye, a button): all of it moves with the skin that it sits on
distance   no triangle, or nothing solved: shares that fall with the fourth power of the distance to the bones
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.deform.automatic.bones import Bones, bones_of
from understudy.deform.automatic.distance import distances
from understudy.deform.automatic.heat import STRENGTH, heat
from understudy.deform.automatic.solid import Solid
from understudy.deform.automatic.surface import Surface, extent
from understudy.errors import InvalidInput
from understudy.maths import linear

WAYS = ("heat", "borrowed", "distance")
SMALL = 0.1  # of the size: a larger piece bends with the bones that are nearest to it
MOST_VERTICES = 500_000  # the largest system that is solved in about a minute and 4 GB
FALL = 4.0  # power of the distance in the fallback
FAINT = 1e-4  # weights below this move nothing by a pixel, and are dropped


@dataclass(frozen=True, eq=False)
class AutomaticWeights:
    """At most K joints a vertex and their weights, which sum to 1; how each vertex came by them; what is to be said."""

    joints: Array  # (V, K) int32, into the joints given
    weights: Array  # (V, K) float32
    way: Array  # (V,) int8, into WAYS
    idle: dict[str, str]  # joints that move nothing by themselves, and why
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
    strength: float = STRENGTH,
) -> AutomaticWeights:
    """Weights of a mesh (V, 3), (T, 3) on B joints with transforms `binds` (B, 4, 4) in the mesh's space at rest.

    The mesh may be open, of several pieces, non-manifold or degenerate. `influences` is the most joints of a vertex.
    """
    mesh = checks.array(vertices, "vertices", ("V", 3))
    faces = checks.array(triangles, "triangles", ("T", 3), np.int64)
    rest = checks.array(binds, "transforms of the joints at rest", ("B", 4, 4))
    parent = checks.array(parents, "parents of the joints", (len(rest),), np.int64)
    checks.indices(faces, "triangles", len(mesh))
    depth_first(parent)  # refuses cycles
    words = checks.unique_names(names or [f"joint{j}" for j in range(len(rest))], "joint names")
    _check_sizes(mesh, rest, words, influences)
    surface = Surface.of(mesh, faces)
    solid = Solid.of(surface.points, surface.triangles)
    bones = bones_of(rest, parent, words, solid, extent(np.concatenate([surface.points, rest[:, :3, 3]])))
    distance = distances(surface, bones, solid, len(rest))
    weights = heat(surface, distance, checks.positive(strength, "strength"))
    way = np.where(np.isfinite(weights).all(axis=1), 0, 2).astype(np.int8)
    _borrow(surface, bones, weights, way)
    lost = way == 2
    weights[lost] = _by_distance(surface.points[lost], bones, len(rest))
    joints, kept = strongest(weights, influences)
    point = surface.point_of
    idle = {words[joint]: why for joint, why in bones.idle.items()}
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
    if len(mesh) > MOST_VERTICES:
        raise InvalidInput(f"automatic weights are found for at most {MOST_VERTICES:,} vertices, not {len(mesh):,}")
    if len(names) != len(rest):
        raise InvalidInput(f"there are {len(rest)} joints, but {len(names)} names for them")
    if influences < 1:
        raise InvalidInput(f"a vertex should have at least 1 joint, but {influences} were asked for")


def _borrow(surface: Surface, bones: Bones, weights: Array, way: Array) -> None:
    """Small pieces without a bone of their own take, all alike, the weights of the skin nearest to them; in place."""
    from scipy.spatial import cKDTree

    pieces = surface.pieces
    order = np.argsort(pieces, kind="stable")
    starts = np.flatnonzero(np.diff(pieces[order], prepend=-1))
    low, high = (f.reduceat(surface.points[order], starts, axis=0) for f in (np.minimum, np.maximum))
    small = linear.length(high - low) < SMALL * surface.size
    small &= surface.in_triangle[order[starts]]
    if not small.any() or small.all():
        return
    spots = bones.starts + np.linspace(0, 1, 9)[:, None, None] * (bones.ends - bones.starts)
    body = np.flatnonzero(~small[pieces] & (way == 0))
    if not body.size:
        return
    skin = cKDTree(surface.points[body])
    for piece in np.flatnonzero(small):
        # a box a little larger: the bone of an eyelid runs along it, not within
        room = 0.1 * (high[piece] - low[piece])
        if ((spots >= low[piece] - room) & (spots <= high[piece] + room)).all(axis=-1).any():
            continue
        members = order[starts[piece] : starts[piece + 1] if piece + 1 < len(starts) else None]
        _, nearest = skin.query(surface.points[members])
        weights[members] = weights[body[nearest]].mean(axis=0)
        way[members] = 1


def _by_distance(points: Array, bones: Bones, joints: int) -> Array:
    """(M, B) weights 1 / d^4 of the plain distances to the bones."""
    least = np.full((len(points), joints), np.inf)
    for bone, joint in enumerate(bones.joint_of):
        length = linear.length(points - bones.nearest(bone, points))
        least[:, joint] = np.minimum(least[:, joint], length)
    nearest = least.min(axis=1, keepdims=True, initial=np.inf)
    share = (np.maximum(nearest, 1e-12) / np.maximum(least, 1e-12)) ** FALL
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def strongest(weights: Array, influences: int) -> tuple[Array, Array]:
    """The largest `influences` weights of each row (N, B), made to sum to 1 again: joints (N, K) int32 and weights.

    The faint ones are dropped with the rest; a joint of weight 0 is joint 0.
    """
    count = min(influences, weights.shape[1])
    joints = np.argsort(-weights, axis=1, kind="stable")[:, :count]
    kept = np.take_along_axis(weights, joints, axis=1)
    kept = np.where(kept < FAINT, 0.0, kept)
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
