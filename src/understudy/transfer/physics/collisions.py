"""Collisions of a body with itself and with the floor, resolved where the mapping is least certain.

Every link is a capsule: its bone, as thick as the skin around it. Two links may come as close as they do at rest or in
any pose of the pairs: the animator meant those poses. Deeper links are pushed apart along the shortest path, the floor
likewise, and the joints are solved for the pushed markers.

The push is shared by uncertainty: each of two links takes the part u_a / (u_a + u_b), u the variance of its markers
over the pairs (a trunk that never moves is certain, a hand that is everywhere is not); and frames near a key pose keep
its pose,

    push = depth * v / (v + v_0)

with v the mapping's variance at the frame and v_0 that at the key poses [cf. Yamane 2010, section 7: "modifying less
confident poses for collision avoidance"]. Pushes are smoothed over time, so that nothing pops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from understudy.character import Character
from understudy.character.body.ik import solve_ik
from understudy.character.body.limbs import Links, links_of
from understudy.character.body.markers import Markers
from understudy.character.body.poses import PoseSequence
from understudy.character.body.volume import rest_vertices, vertex_owners
from understudy.checks import Array
from understudy.maths import jit, vector
from understudy.transfer.pairs import PosePairs

KERNELS = "understudy.transfer.physics.physics_kernels"
PUSH_ROUNDS = 6  # of pushing and solving; each about halves the depth that is left
MIN_PUSH_RADIUS_RATIO = 0.02  # of a link's radius: less is not visible
PUSH_SMOOTHING_SECONDS = 0.06  # standard deviation of a push in time
DEFAULT_RADIUS_BONE_RATIO = 0.08  # radius over the bone's length, where a skeleton has no skin
Solver = Callable[[Array, PoseSequence], PoseSequence]  # markers (F, Q, 3) in the world, and where to begin


@dataclass(frozen=True, eq=False)
class Capsules:
    """L links as capsules, and the C pairs of them that may collide."""

    joints: Array  # (L,)
    tips: Array  # (L, 3) in the joint's frame; the other end is the joint
    radii: Array  # (L,) metres
    first: Array  # (C,) into the links
    second: Array  # (C,)
    allowed: Array  # (C,) metres, how deep two of them may be in each other
    floor: Array  # (L,) metres, how deep a link may be below the floor
    certainty: Array  # (L,) square metres, the variance of the link's markers over the pairs


@dataclass(frozen=True, eq=False)
class CapsuleContacts:
    """Depths of capsules in each other and in the floor, negative where they are apart."""

    depth: Array  # (F, C) metres
    normal: Array  # (F, C, 3) from the second to the first
    below: Array  # (F, L) metres


def capsules_of(character: Character, pairs: PosePairs) -> Capsules:
    """The capsules of a character's links that have markers; depths in poses of the pairs are allowed."""
    links = links_of(character)
    marked = np.isin(links.joints, pairs.markers.joints)
    links = replace(links, joints=links.joints[marked], bones=links.bones[marked])
    radii = _radii(character, links)
    joint_from_world = np.linalg.inv(links.world[links.joints, :3, :3])
    tips = np.einsum("lij,lj->li", joint_from_world, links.bones)
    first, second = _collidable_pairs(links)
    spread = np.zeros(len(character.skeleton))
    variance = pairs.target.var(axis=0).sum(axis=-1)  # (Q,)
    np.maximum.at(spread, pairs.markers.joints, variance)
    bare = Capsules(links.joints, tips, radii, first, second, np.zeros(len(first)), np.zeros(len(radii)), np.ones(1))
    poses = [PoseSequence.rest(character.skeleton).world, pairs.poses.world]
    met = [find_capsule_contacts(bare, world) for world in poses]
    return Capsules(
        links.joints,
        tips,
        radii,
        first,
        second,
        np.maximum(0.0, np.concatenate([m.depth for m in met]).max(axis=0)),
        np.maximum(0.0, np.concatenate([m.below for m in met]).max(axis=0)),
        np.maximum(spread[links.joints], 1e-9),
    )


def find_capsule_contacts(capsules: Capsules, world: Array) -> CapsuleContacts:
    """The contacts of poses with world_from_joint (F, J, 4, 4)."""
    frames = world[:, capsules.joints]
    start = np.ascontiguousarray(frames[..., :3, 3])
    end = np.ascontiguousarray(np.einsum("flij,lj->fli", frames[..., :3, :3], capsules.tips) + start)
    distance = np.empty((len(world), len(capsules.first)))
    normal = np.empty((*distance.shape, 3))
    jit.kernels(KERNELS).distances(start, end, capsules.first, capsules.second, distance, normal)
    depth = capsules.radii[capsules.first] + capsules.radii[capsules.second] - distance
    below = capsules.radii - np.minimum(start[..., 1], end[..., 1])
    return CapsuleContacts(depth, normal, below)


def excess_depths(capsules: Capsules, world: Array) -> tuple[Array, Array]:
    """(F, C) and (F, L) metres beyond the allowed depth, zero within it: in each other, and in the floor."""
    met = find_capsule_contacts(capsules, world)
    return np.maximum(0.0, met.depth - capsules.allowed), np.maximum(0.0, met.below - capsules.floor)


def resolve_collisions(
    poses: PoseSequence,
    capsules: Capsules,
    markers: Markers,
    variance: Array,
    sure: float,
    solver: Solver | None = None,
) -> PoseSequence:
    """Poses without collisions. `variance` (F,) of the mapping, `sure` that at the key poses, square metres."""

    def solve(points: Array, start: PoseSequence) -> PoseSequence:
        return solve_ik(markers, poses.skeleton, points, start=start)

    solver = solve if solver is None else solver
    unsure = variance / np.maximum(variance + sure, 1e-18)
    for _ in range(PUSH_ROUNDS):
        push = _pushes(capsules, poses.world, unsure)
        push = _smooth_pushes(push, PUSH_SMOOTHING_SECONDS * poses.rate)
        frames = np.flatnonzero(np.abs(push).max(axis=(1, 2)) > MIN_PUSH_RADIUS_RATIO * float(capsules.radii.min()))
        if not frames.size:
            break
        some = poses.rows(frames)
        points = markers.positions(some.world) + push[frames][:, _link_of(capsules, markers)]
        solved = solver(points, some)
        translations, rotations = np.array(poses.translations), np.array(poses.rotations)
        translations[frames], rotations[frames] = solved.translations, solved.rotations
        poses = PoseSequence(poses.skeleton, translations, rotations, poses.rate)
    return poses


def _pushes(capsules: Capsules, world: Array, unsure: Array) -> Array:
    """(F, L, 3) metres by which each link should move: the sum of its pushes."""
    met = find_capsule_contacts(capsules, world)
    least = MIN_PUSH_RADIUS_RATIO * capsules.radii
    deep = np.maximum(0.0, met.depth - capsules.allowed - np.minimum(least[capsules.first], least[capsules.second]))
    u = capsules.certainty
    share = u[capsules.first] / (u[capsules.first] + u[capsules.second])
    push = np.zeros((len(world), len(capsules.joints), 3))
    for c in np.flatnonzero(deep.max(axis=0, initial=0.0) > 0):
        away = deep[:, c, None] * met.normal[:, c]
        push[:, capsules.first[c]] += share[c] * away
        push[:, capsules.second[c]] -= (1 - share[c]) * away
    push[..., 1] += np.maximum(0.0, met.below - capsules.floor - least)
    return push * unsure[:, None, None]


def _smooth_pushes(push: Array, spread: float) -> Array:
    """Pushes (F, L, 3) averaged over neighbouring frames with Gaussian weights."""
    reach = int(np.ceil(2 * spread))
    if reach < 1 or len(push) < 2:
        return push
    offsets = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (offsets / spread) ** 2)
    padded = np.concatenate([np.repeat(push[:1], reach, 0), push, np.repeat(push[-1:], reach, 0)])
    total = np.zeros_like(push)
    for weight, offset in zip(weights, offsets):
        total += weight * padded[reach + offset : reach + offset + len(push)]
    return total / weights.sum()


def _link_of(capsules: Capsules, markers: Markers) -> Array:
    """(Q,) the link that each marker rides on; the first link for markers on no link."""
    number = {int(joint): i for i, joint in enumerate(capsules.joints)}
    return np.array([number.get(int(joint), 0) for joint in markers.joints])


def _radii(character: Character, links: Links) -> Array:
    """(L,) metres: 0.8 of the median distance of a link's skin from its bone, because limbs are not round."""
    length = np.linalg.norm(links.bones, axis=1)
    radii = DEFAULT_RADIUS_BONE_RATIO * length
    if not character.parts:
        return radii
    vertices, owners = rest_vertices(character), vertex_owners(character)
    for i, joint in enumerate(links.joints):
        skin = vertices[owners == joint]
        if len(skin) < 4:
            continue
        start, bone = links.world[joint, :3, 3], links.bones[i]
        along = np.clip((skin - start) @ bone / max(length[i] ** 2, 1e-18), 0.0, 1.0)
        radii[i] = 0.8 * np.percentile(vector.length(skin - start - along[:, None] * bone), 50)
    return np.asarray(np.maximum(radii, 1e-6))


def _collidable_pairs(links: Links) -> tuple[Array, Array]:
    """Pairs of links that are not neighbours: neither is within two joints of the other, and they are no siblings."""
    parents = links.skeleton.parents
    near = [set(links.skeleton.ancestors(int(j))[:3]) for j in links.joints]
    first, second = [], []
    for a in range(len(links.joints)):
        for b in range(a + 1, len(links.joints)):
            ja, jb = int(links.joints[a]), int(links.joints[b])
            if ja not in near[b] and jb not in near[a] and parents[ja] != parents[jb]:
                first.append(a)
                second.append(b)
    return np.array(first, np.int64), np.array(second, np.int64)
