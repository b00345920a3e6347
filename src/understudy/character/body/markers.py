"""Markers: the feature points that describe a pose, three on each link [Yamane 2010, 4.1].

A link is a joint that carries something: skin, or where there is no mesh, bones. Joints that only drive others (the
rims of the lamp, an `Armature` node above the hips) have no markers; the links that they move show what they do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Character, Skeleton
from understudy.character.body import poses
from understudy.character.body.limbs import Links, links_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import transform


@dataclass(frozen=True, eq=False)
class Markers:
    """P points that ride on joints, and the root joint with its front and up for the local frame."""

    names: tuple[str, ...]  # (P,)
    joints: Array  # (P,) int
    offsets: Array  # (P, 3) in the joint's frame, metres
    root: int
    front: Array  # (3,) in the root joint's frame
    up: Array  # (3,)

    def __len__(self) -> int:
        return len(self.names)

    def positions(self, world: Array) -> Array:
        """(F, P, 3) world positions of the markers, for world_from_joint (F, J, 4, 4)."""
        return transform.apply(world[:, self.joints], self.offsets)

    def frames(self, world: Array) -> Array:
        """world_from_local (F, 4, 4), for world_from_joint (F, J, 4, 4)."""
        root = world[:, self.root]
        return poses.frames_of(root[:, :3, 3], root[:, :3, :3] @ self.front, root[:, :3, :3] @ self.up)

    def local(self, world: Array) -> Array:
        """(F, P, 3) positions of the markers in the local frame, for world_from_joint (F, J, 4, 4)."""
        return poses.to_local(self.frames(world), self.positions(world))


def markers_of(
    body: Character | Skeleton,
    *,
    front: Array | None = None,
    up: Array | None = None,
    root: str | int | None = None,
    skip: Iterable[str] = (),
) -> Markers:
    """Three markers on every link of a body, except those of `skip` and all below them.

    `front` and `up` are directions of the world at rest; by default up is +Y, and front is given by the names of left
    and right joints where there are any, else +Z. `root` is the common ancestor of all links.
    """
    links = links_of(body, skip)
    skeleton = links.skeleton
    if root is None:
        base = links.root
    else:
        base = skeleton.index(root) if isinstance(root, str) else int(root)
    ups = poses.UP if up is None else checks.array(up, "up", (3,))
    fronts = links.front() if front is None else checks.array(front, "front", (3,))
    if np.linalg.norm(np.cross(fronts, ups)) < 1e-6 * np.linalg.norm(fronts) * np.linalg.norm(ups):
        raise InvalidInput(f"front and up should be different directions, but are {fronts} and {ups}")
    linear_part = links.world[base, :3, :3]
    joint_from_world = np.linalg.inv(linear_part)
    joints = np.repeat(links.joints, 3)
    names = tuple(f"{skeleton.names[j]}.{i}" for j in links.joints for i in range(3))
    return Markers(
        names,
        checks.freeze(joints),
        checks.freeze(_marker_offsets(links)),
        base,
        checks.freeze(_unit(joint_from_world @ fronts)),
        checks.freeze(_unit(joint_from_world @ ups)),
    )


def _marker_offsets(links: Links) -> Array:
    """(3 L, 3) offsets in the joints' frames: a triangle around the bone, from near its joint to near its tip.

    The three are not in line, so that they show a twist about the bone; their distance to the side is a quarter of the
    bone, about the thickness of limbs.
    """
    along, side = links.bones, links.sides  # (L, 3) world metres at rest
    length = np.linalg.norm(along, axis=1, keepdims=True)
    other = np.cross(along, side) / np.maximum(length, 1e-12)
    wide = 0.25 * length
    places = np.stack(
        [
            0.1 * along + wide * side,
            0.5 * along + wide * (-0.5 * side + np.sqrt(0.75) * other),
            0.9 * along + wide * (-0.5 * side - np.sqrt(0.75) * other),
        ],
        axis=1,
    )
    joint_from_world = np.linalg.inv(links.world[links.joints, :3, :3])
    return np.einsum("lij,lpj->lpi", joint_from_world, places).reshape(-1, 3)


def _unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)
