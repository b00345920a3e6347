"""Links and limbs of a body at rest: which joints carry something, which chains leave the trunk, on which side.

A link is a joint with its bone: its reach, and with the others the direction that the body faces. A trunk joint carries
two limbs or more. A limb that is shorter than a tenth of the body (a finger, a toe) does not make the joint that
carries it a trunk.

**Reach** (`reach_chain`) is in closed form. Hinges first bend until the tip is as far from the first joint as the goal
is, then the first joint swings it there. With the joint p of a hinge of axis a, k = p - first, w = tip - p, a bend by t
changes the distance as

    d^2 = |k|^2 + |w|^2 + 2 (A + B cos t + C sin t),   A = (k.a)(a.w),   B = k.w - A,   C = k.(a x w)

which is solved for t. Of the two solutions the given side is taken: a knee never flips over, and one that is bent to
the wrong side by more than it may returns to the right one. Near a straight chain t grows as the root of the distance
asked for, and a knee would jump: there the first hundredth of the length is met in part only, the less the smaller it
is. Several hinges share the bend; each stays within its range. Bones keep their lengths: where a goal is too far or too
near, the tip is on the line to it, as close as it gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Character, Skeleton, kinematics
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit, vector

MIN_BONE_SIZE_RATIO = 0.01  # of the body's size: shorter bones are helpers and corrections, not limbs
MIN_LINK_WEIGHT = 0.3  # skin weight of a vertex on its link: vertices below it belong more to the neighbour
MAJOR_LIMB_SIZE_RATIO = 0.1  # of the body's size: a longer limb makes its parent a trunk joint
KERNELS = "understudy.character.body.ik_kernels"
HINGE_ROUNDS = 2  # the first shares the bend among hinges, the second makes up for those at the end of their range
MIN_HINGE_EFFECT_RATIO = 1e-12  # of the squared length of a chain: a smaller effect of a hinge is none
# Range over which a knee that was bent to the wrong side comes to be bent as far to the right one.
WRONG_BEND_BLEND_RAD = 0.3
# Of the length: a chain that could be longer by less than the first is straight; it meets a change of distance in full
# above the second.
STRAIGHT_SLACK_RATIO, STRAIGHT_REACH_RATIO = 0.01, 0.012
CENTRAL_SIZE_RATIO = 0.03  # of the body's size: a limb nearer to the middle plane is on neither side


@dataclass(frozen=True, eq=False)
class Links:
    """L links of a body at rest."""

    skeleton: Skeleton
    world: Array  # (J, 4, 4) world_from_joint at rest
    joints: Array  # (L,)
    bones: Array  # (L, 3) from the joint to the link's tip, world metres
    root: int  # the lowest common ancestor of all links

    @property
    def sides(self) -> Array:
        """(L, 3) a direction at right angles to each bone."""
        return vector.perpendicular(self.bones)

    def front(self) -> Array:
        """(3,) where the body faces at rest: level, at right angles to right-to-left; +Z where no names give them."""
        places = self.world[:, :3, 3]
        across = np.zeros(3)
        by_name = {name.lower(): i for i, name in enumerate(self.skeleton.names)}
        for name, left in by_name.items():
            right = next((by_name[other] for other in mirror_names(name) if other in by_name), None)
            if right is not None:
                across += places[left] - places[right]
        across[1] = 0.0
        size = float(np.ptp(places, axis=0).max(initial=0.0))
        if np.linalg.norm(across) < 0.05 * size or size == 0:
            return np.array([0.0, 0.0, 1.0])
        return vector.normalise(np.cross(across, [0.0, 1.0, 0.0]))


@dataclass(frozen=True, eq=False)
class Limbs:
    """Trunk and limbs of a skeleton at rest, joint by joint."""

    skeleton: Skeleton
    world: Array  # (J, 4, 4) world_from_joint at rest
    size: float  # metres, the largest extent at rest
    trunk: Array  # (J,) bool
    top: Array  # (J,) the first joint of the limb that a joint is part of; a trunk joint itself
    reach: Array  # (J,) metres from a joint to the furthest end below it, along the bones
    front: Array  # (3,) unit, level

    @property
    def left(self) -> Array:
        """(3,) unit, level."""
        return vector.cross([0.0, 1.0, 0.0], self.front)

    def sides(self, places: Array) -> Array:
        """(M,) 1 left, -1 right, 0 in the middle, of places (M, 3) in the world at rest."""
        middle = self.world[self.trunk] if self.trunk.any() else self.world[:1]
        across = (places - middle[:, :3, 3].mean(axis=0)) @ self.left
        return np.where(np.abs(across) < CENTRAL_SIZE_RATIO * self.size, 0, np.sign(across)).astype(np.int64)


def links_of(body: Character | Skeleton, skip: Iterable[str] = ()) -> Links:
    """The links of a body; `skip` names joints that are left out with all below them."""
    skeleton = body if isinstance(body, Skeleton) else body.skeleton
    world = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    left_out = _descendants(skeleton, [skeleton.index(name) for name in skip])
    carrying = joints_with_skin(body) if isinstance(body, Character) else np.ones(len(skeleton), bool)
    bones = _bones(skeleton, world, body)
    length = np.linalg.norm(bones, axis=1)
    size = float(np.ptp(world[:, :3, 3], axis=0).max(initial=0.0)) or float(length.max(initial=0.0)) or 1.0
    joints = np.flatnonzero(carrying & ~left_out & (length > MIN_BONE_SIZE_RATIO * size))
    if not joints.size:
        joints = np.flatnonzero(~left_out)[:1]
        if not joints.size:
            raise InvalidInput("a body should have at least one joint that is not left out, but has none")
        bones[joints] = np.where(length[joints, None] > 0, bones[joints], [0.0, 0.1 * size, 0.0])
    return Links(skeleton, world, checks.freeze(joints), bones[joints], _lowest_common(skeleton, joints))


def limbs_of(skeleton: Skeleton) -> Limbs:
    """The limbs of a skeleton at rest."""
    links = links_of(skeleton)
    parents, places = skeleton.parents, links.world[:, :3, 3]
    size = float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
    count = len(skeleton)
    reach, majors, trunk = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, bool)
    length = np.zeros(count)
    length[links.joints] = np.linalg.norm(links.bones, axis=1)
    has_child = np.zeros(count, bool)
    has_child[parents[parents >= 0]] = True
    reach[~has_child] = length[~has_child]
    for j in range(count - 1, -1, -1):
        trunk[j] |= majors[j] > 1
        p = parents[j]
        if p >= 0:
            below = float(reach[j] + np.linalg.norm(places[j] - places[p]))
            reach[p] = max(reach[p], below)
            majors[p] += below > MAJOR_LIMB_SIZE_RATIO * size
            trunk[p] |= trunk[j]
    top = np.arange(count)
    for j in range(count):
        if parents[j] >= 0 and not trunk[j] and not trunk[parents[j]]:
            top[j] = top[parents[j]]
    return Limbs(skeleton, links.world, size, trunk, top, reach, links.front())


def mirror_names(name: str) -> list[str]:
    """The names that a left joint's partner may have, lower case; none where the name is not of a left joint."""
    names = [re.sub("left", "right", name)] if "left" in name else []
    names += [
        name[: m.start(1)] + "r" + name[m.end(1) :] for m in re.finditer(r"(?:^|[._:\- ])(l)(?=$|[._:\- ])", name)
    ]
    if re.match(r"l(?=[a-z]{3,})", name):
        names.append("r" + name[1:])
    return [other for other in names if other != name]


def _descendants(skeleton: Skeleton, joints: list[int]) -> Array:
    """(J,) whether a joint is one of `joints`, or below one."""
    result = np.zeros(len(skeleton), bool)
    result[joints] = True
    for j, parent in enumerate(skeleton.parents):
        result[j] |= parent >= 0 and result[parent]
    return result


def joints_with_skin(character: Character) -> Array:
    """(J,) whether a joint carries something: skin, or without any mesh, a bone."""
    result = np.zeros(len(character.skeleton), bool)
    for part in character.parts:
        heavy = part.skin.influences[part.skin.weights > MIN_LINK_WEIGHT]
        result[part.skin.joints[np.unique(heavy)]] = True
    if not result.any():
        result[character.joints] = True
    return result


def _bones(skeleton: Skeleton, world: Array, body: Character | Skeleton) -> Array:
    """(J, 3) from each joint to its tip at rest: the middle of its children, or at the ends an End Site or its skin."""
    places = world[:, :3, 3]
    total, count = np.zeros((len(skeleton), 3)), np.zeros(len(skeleton))
    child = np.flatnonzero(skeleton.parents >= 0)
    away = places[child] - places[skeleton.parents[child]]
    real = np.linalg.norm(away, axis=1) > 0
    np.add.at(total, skeleton.parents[child[real]], away[real])
    np.add.at(count, skeleton.parents[child[real]], 1)
    bones = total / np.maximum(count, 1)[:, None]
    ends = bone_ends(skeleton, world)
    clouds = _clouds(body) if isinstance(body, Character) else {}
    for j in map(int, np.flatnonzero(np.linalg.norm(bones, axis=1) < 1e-9)):
        if j in ends:
            bones[j] = ends[j] - places[j]
        elif j in clouds:
            bones[j] = 2 * (clouds[j] - places[j])  # the middle of the skin is half-way to the tip
        elif skeleton.parents[j] >= 0 and count[j] == 0:
            bones[j] = 0.5 * (places[j] - places[skeleton.parents[j]])
    return bones


def bone_ends(skeleton: Skeleton, world: Array) -> dict[int, Array]:
    """The tips that a BVH file names (End Site), joint -> (3,) in the world at rest."""
    kept = skeleton.extra.get("bvh", {})
    ends = kept.get("ends", {}) if isinstance(kept, dict) else {}
    return {
        skeleton.index(name): world[skeleton.index(name), :3, :3] @ np.asarray(offset)
        + world[skeleton.index(name), :3, 3]
        for name, offset in ends.items()
        if name in skeleton
    }


def _clouds(character: Character) -> dict[int, Array]:
    """The middle of the skin that each joint carries, joint -> (3,) in the world at rest."""
    world = kinematics.world_transforms(
        character.skeleton.parents,
        character.skeleton.translations,
        character.skeleton.rotations,
        character.skeleton.scales,
    )
    total, count = np.zeros((len(world), 3)), np.zeros(len(world))
    for part in character.parts:
        skin = part.skin
        vertex, slot = np.nonzero(skin.weights > MIN_LINK_WEIGHT)
        local = skin.influences[vertex, slot]
        joint = skin.joints[local]
        world_from_mesh = world[skin.joints] @ skin.inverse_binds
        points = np.einsum("vij,vj->vi", world_from_mesh[local, :3, :3], part.mesh.vertices[vertex].astype(np.float64))
        np.add.at(total, joint, points + world_from_mesh[local, :3, 3])
        np.add.at(count, joint, 1)
    return {int(j): total[j] / count[j] for j in np.flatnonzero(count)}


def _lowest_common(skeleton: Skeleton, joints: Array) -> int:
    """The lowest common ancestor of `joints`; in a forest, that of the tree with the most of them."""
    counts = np.bincount(joints, minlength=len(skeleton))
    for j in range(len(skeleton) - 1, -1, -1):
        if skeleton.parents[j] >= 0:
            counts[skeleton.parents[j]] += counts[j]
    top = counts[skeleton.roots].max()
    return int(np.flatnonzero(counts == top)[-1])


def reach_chain(
    parent: Array, chain: Array, tip: Array, goal: Array, hinges: Array, sides: Array, room: Array
) -> tuple[Array, Array]:
    """Local rotations (n, 4) of the joints of a chain whose tip comes as near to `goal` (3,) as it can, and the tip.

    `parent` (4, 4) and `chain` (n, 4, 4) are world_from_joint of the first joint's parent and of the joints, `tip` (3,)
    is in the world. `hinges` (n, 3) are unit axes in the frames of the joints, zeros where a joint does not turn; the
    first is not read. `sides` (n, 2) is 1 or -1, whether a hinge bends the chain by turning on from straight or
    back, and the radians that it may be bent the other way. `room` (n, 2) is the range of each hinge from its current
    angle, radians.
    """
    turns, reached = np.empty((len(chain), 4)), np.empty(3)
    jit.kernels(KERNELS).reach_chain(
        parent,
        chain,
        tip,
        goal,
        hinges,
        sides,
        room,
        HINGE_ROUNDS,
        (MIN_HINGE_EFFECT_RATIO, WRONG_BEND_BLEND_RAD, STRAIGHT_SLACK_RATIO, STRAIGHT_REACH_RATIO),
        turns,
        reached,
    )
    return turns, reached


def straight_angle(first: Array, joint: Array, tip: Array, axis: Array) -> Array:
    """(...,) the angle about an axis (..., 3) through `joint` at which `tip` is furthest from `first`."""
    k, w = joint - first, tip - joint
    a = (k * axis).sum(axis=-1) * (axis * w).sum(axis=-1)
    return np.asarray(np.arctan2((k * np.cross(axis, w)).sum(axis=-1), (k * w).sum(axis=-1) - a))
