"""The feet of a character: feet and legs measured in its clips, and contact points found at rest.

Feet in clips. Which joints are feet, and which legs carry them, is measured, whatever their names. A foot is low and
touches the ground in much of the clips, has a leg above it, and is one of a pair. The leg is the chain of joints
between the foot and the joint that carries other feet as well. Where a rig was animated with IK the feet often hang on
no leg but on the ground; such a foot belongs to the joint in whose frame it moves least.

Contact points at rest are toe and heel of every limb that stands on the floor. A body that stands on one limb only, as
the lamp on its base, gets four: its front, back, left and right. Skeletons without a mesh have no soles: their ankles
are dropped to the height of the toes, and their hands may touch the floor too, because people go on all fours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.body.limbs import Limbs, limbs_of, links_of, mirror_names
from understudy.character.body.volume import bind_worlds, rest_vertices, vertex_owners
from understudy.checks import Array
from understudy.maths import quaternion, transform

TOUCH_HEIGHT_RATIO = 0.03  # of the height: points nearer to the ground touch it
MIN_TOUCH_FRAME_SHARE = 0.3  # of the frames: a foot touches the ground in more, on average over the clips
# Of the height: the median height of a foot is below the first; a joint above a sole below the second is its ankle.
MAX_FOOT_HEIGHT_RATIO, ANKLE_HEIGHT_RATIO = 0.25, 0.14
MIN_LEG_RISE_RATIO = 0.12  # of the height, from a foot to the start of its leg
MAX_LEG_JOINTS = 3  # that turn, without the foot
MIN_THIGH_DROP_RATIO = 0.3  # of its length, that the first bone of a leg goes down: a pelvis goes sideways
STILL_TURN_RAD = 0.01  # from its first frame: a joint that turns less is still
MAX_DETACHED_DRIFT_RATIO = 0.06  # of the height: drift of a detached foot in the frame of its leg
SAME_DRIFT_RATIO = 1e-3  # of the height: drifts that differ by less are the same, but for rounding
MAX_PAIR_HEIGHT_RATIO = 0.05  # of the height: difference of the median heights of two feet of a pair
SOLE_POINTS_PER_JOINT = 6  # points of a sole, besides those that are lowest when it is tilted
SOLE_TILT_RAD = np.radians(40)  # of these tilts
# Of the height: vertices, and joints (ankles are higher), that are lower stand on the floor.
FLOOR_BAND_HEIGHT_RATIO, JOINT_FLOOR_BAND_HEIGHT_RATIO = 0.03, 0.07
FOOT_EDGE_LENGTH_RATIO = 0.1  # of a foot's length: the ends that are averaged to its toe and to its heel
MIN_FOOT_LENGTH_HEIGHT_RATIO = 0.03  # of the height: a shorter foot has one contact point (a hoof, a spider's leg)
MIN_FOOT_GAP_HEIGHT_RATIO = 0.1  # of the height: limbs of one side that are nearer to each other are one foot
MIN_HAND_REACH_SIZE_RATIO = 0.2  # of the size: a limb of a longer reach may touch the floor
# Limbs that lie on the floor and carry nothing.
TRAILING_LIMB_PATTERN = re.compile(r"tail|cord|cable|hair|cloth|scarf|rope", re.IGNORECASE)
ContactLocation = tuple[str, int, Array]
"""Name, joint, and offset (3,) in the joint's frame."""


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot and its leg."""

    joint: int  # the first of the foot; all below it is foot
    leg: tuple[int, ...]  # joints from the hip down
    attached: bool  # the foot hangs on the leg
    owners: Array  # (P,) int, the joints of the points of the sole
    points: Array  # (P, 3) in the frames of those

    def sole(self, worlds: Array) -> Array:
        """(..., P, 3) the points of the sole in the world, for world_from_joint (..., J, 4, 4)."""
        frames = worlds[..., self.owners, :3, :]
        return np.asarray((frames[..., :3] @ self.points[:, :, None])[..., 0] + frames[..., 3])


def find_feet(character: Character, worlds: Sequence[Array], size: float) -> tuple[Foot, ...]:
    """The feet of a character `size` metres high whose clips have world_from_joint (F, J, 4, 4) each."""
    skeleton = character.skeleton
    soles = _lowest_points(character, np.concatenate(worlds))
    lows = [_heights(soles, world) for world in worlds]  # (F, J) each, infinite where a joint carries no points
    ground = float(np.median([np.quantile(low.min(axis=1), 0.1) for low in lows]))
    places = np.concatenate(worlds)[..., :3, 3]
    usual = np.median(places[..., 1], axis=0) - ground
    share = np.mean([(low < ground + TOUCH_HEIGHT_RATIO * size).mean(axis=0) for low in lows], axis=0)
    highest = usual.copy()  # of a joint and all below it: no foot carries the body, though a ground joint may
    for joint in range(len(skeleton) - 1, 0, -1):
        above = skeleton.parents[joint]
        if above >= 0:
            highest[above] = max(highest[above], highest[joint])
    touching = set(np.flatnonzero((share >= MIN_TOUCH_FRAME_SHARE) & (highest < MAX_FOOT_HEIGHT_RATIO * size)).tolist())
    lines = [skeleton.ancestors(j) for j in sorted(touching)]
    tops = [line for line in lines if not touching.intersection(line[1:])]
    paths = [_joints_off_other_lines(line, [other for other in tops if other is not line]) for line in tops]
    every = np.concatenate(worlds)
    detached = [path for path in paths if path and usual[path[-1]] - usual[path[0]] <= MIN_LEG_RISE_RATIO * size]
    candidates = _find_detached(skeleton, every, detached, set(soles), size)
    legs = {joint for _, leg, _ in candidates for joint in leg}
    for path in paths:
        if path in detached or legs.intersection(skeleton.ancestors(path[0])):  # a shin that comes low is no foot
            continue
        lifted = next(
            i for i in range(len(path)) if i + 1 == len(path) or usual[path[i + 1]] > ANKLE_HEIGHT_RATIO * size
        )
        candidates.append((path[lifted], path[lifted + 1 :], True))
    feet = []
    for joint, leg, attached in candidates:
        chain = _leg(every, skeleton, leg)
        if chain:
            feet.append(_make_foot(skeleton, soles, joint, tuple(chain[::-1]), attached))
    return _keep_pairs(feet, usual, size)


def _find_detached(
    skeleton: Skeleton, worlds: Array, paths: list[list[int]], skinned: set[int], size: float
) -> list[tuple[int, list[int], bool]]:
    """Feet that hang on no leg, with the legs that they belong to."""
    owners = []
    for path in paths:
        owner = _carrier(skeleton, worlds, path[-1], {j for p in paths for j in p}, skinned, size)
        while owner is not None and not _is_turning(worlds, skeleton, owner):
            owner = int(skeleton.parents[owner]) if skeleton.parents[owner] >= 0 else None
        owners.append(owner)
    lines = [[] if owner is None else skeleton.ancestors(owner) for owner in owners]
    feet = []
    for i, path in enumerate(paths):
        leg = _joints_off_other_lines(lines[i], [line for j, line in enumerate(lines) if j != i])
        if leg:
            feet.append((path[-1], leg, False))
    return feet


def _joints_off_other_lines(line: list[int], others: list[list[int]]) -> list[int]:
    """The joints of a line to the root, from its lower end on, that are on no other line."""
    shared = {joint for other in others for joint in other}
    return [joint for joint in line if joint not in shared]


def _lowest_points(character: Character, worlds: Array) -> dict[int, Array]:
    """Joint -> points (P, 3) in its frame that are ever the lowest of its skin; of a bare skeleton, its origin."""
    carried: dict[int, list[Array]] = {}
    for part in character.parts:
        skin = part.skin
        main = skin.weights.argmax(axis=1)
        sure = np.take_along_axis(skin.weights, main[:, None], axis=1)[:, 0] >= 0.5
        slot = np.take_along_axis(skin.influences, main[:, None], axis=1)[:, 0]
        for number in np.unique(slot[sure]):
            own = part.mesh.vertices[sure & (slot == number)].astype(float)
            bind = skin.inverse_binds[number]
            carried.setdefault(int(skin.joints[number]), []).append(own @ bind[:3, :3].T + bind[:3, 3])
    if not carried:
        return {joint: np.zeros((1, 3)) for joint in range(len(character.skeleton))}
    sampled = worlds[:: max(1, len(worlds) // 100)]
    result = {}
    for joint, lists in carried.items():
        points = np.concatenate(lists)
        ups = sampled[:, joint, 1, :3]
        often, counts = np.unique((ups @ points.T).argmin(axis=1), return_counts=True)
        tilted = (_tilt_directions(ups.mean(axis=0)) @ points.T).argmin(axis=1)
        result[joint] = points[np.union1d(often[np.argsort(-counts, kind="stable")[:SOLE_POINTS_PER_JOINT]], tilted)]
    return result


def _tilt_directions(up: Array) -> Array:
    """(8, 3) directions around `up` (3,), SOLE_TILT_RAD away: a foot of a blend is turned as in no clip."""
    up = up / max(float(np.linalg.norm(up)), 1e-12)
    side = np.cross(up, np.eye(3)[int(np.abs(up).argmin())])
    side /= np.linalg.norm(side)
    angles = np.arange(8) * np.pi / 4
    around = np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(up, side))
    return np.asarray(np.cos(SOLE_TILT_RAD) * up + np.sin(SOLE_TILT_RAD) * around)


def _heights(soles: dict[int, Array], world: Array) -> Array:
    """(F, J) height of the lowest point of each joint."""
    result = np.full(world.shape[:2], np.inf)
    for joint, points in soles.items():
        result[:, joint] = (world[:, joint, 1, :3] @ points.T).min(axis=1) + world[:, joint, 1, 3]
    return result


def _carrier(
    skeleton: Skeleton, worlds: Array, foot: int, feet: set[int], skinned: set[int], size: float
) -> int | None:
    """The joint in whose frame a foot drifts least; None where it drifts too much in all."""
    excluded = {*feet, *skeleton.ancestors(foot)}
    best, least = None, MAX_DETACHED_DRIFT_RATIO * size
    for joint in sorted(skinned - excluded):
        if foot in skeleton.ancestors(joint):
            continue
        frames = worlds[:, joint]
        away = np.einsum("fji,fj->fi", frames[:, :3, :3], worlds[:, foot, :3, 3] - frames[:, :3, 3])
        away = away / np.maximum(np.linalg.norm(frames[:, :3, :3], axis=1), 1e-12)  # metres along the axes of the joint
        drift = float(np.sqrt(away.var(axis=0).sum()))
        if drift < least - SAME_DRIFT_RATIO * size:  # of a shin and what hangs on it rigidly, the shin comes first
            best, least = joint, drift
    return best


def _leg(worlds: Array, skeleton: Skeleton, leg: list[int]) -> list[int]:
    """The joints of a leg, from its lower end up, that turn: without a pelvis, and at most MAX_LEG_JOINTS."""
    kept = list(leg)
    while len(kept) > 2:
        above, below = worlds[:, kept[-1], :3, 3], worlds[:, kept[-2], :3, 3]
        down = np.median((above - below)[:, 1]) / max(float(np.median(np.linalg.norm(above - below, axis=1))), 1e-12)
        if len(kept) <= MAX_LEG_JOINTS and down > MIN_THIGH_DROP_RATIO and _is_turning(worlds, skeleton, kept[-1]):
            break
        kept.pop()
    return kept if len(kept) >= 2 else []


def _is_turning(worlds: Array, skeleton: Skeleton, joint: int) -> bool:
    """Whether a joint turns within its parent."""
    local = quaternion.normalise(local_turns(worlds, skeleton, joint))
    return bool(
        np.abs(quaternion.log(quaternion.multiply(quaternion.conjugate(local[0]), local))).max() > STILL_TURN_RAD
    )


def local_turns(worlds: Array, skeleton: Skeleton, joint: int) -> Array:
    """(F, 4) rotations of a joint relative to its parent."""
    above = skeleton.parents[joint]
    rotation = worlds[:, joint, :3, :3] / np.linalg.norm(worlds[:, joint, :3, :3], axis=1, keepdims=True)
    if above < 0:
        return quaternion.from_matrix(rotation)
    frame = worlds[:, above, :3, :3] / np.linalg.norm(worlds[:, above, :3, :3], axis=1, keepdims=True)
    return quaternion.from_matrix(np.swapaxes(frame, 1, 2) @ rotation)


def _make_foot(skeleton: Skeleton, soles: dict[int, Array], joint: int, leg: tuple[int, ...], attached: bool) -> Foot:
    below = [j for j in soles if joint in skeleton.ancestors(j)]
    owners = np.concatenate([np.full(len(soles[j]), j) for j in below])
    return Foot(joint, leg, attached, owners, np.concatenate([soles[j] for j in below]))


def _keep_pairs(feet: list[Foot], usual: Array, size: float) -> tuple[Foot, ...]:
    """The feet that are one of a pair: a tail that lies on the ground is not."""

    def alike(a: Foot, b: Foot) -> bool:
        same = len(a.leg) == len(b.leg) and a.attached == b.attached
        return same and abs(usual[a.joint] - usual[b.joint]) < MAX_PAIR_HEIGHT_RATIO * size

    return tuple(foot for foot in feet if any(alike(foot, other) for other in feet if other is not foot))


def find_contacts(character: Character, joints: Sequence[int] | None = None) -> list[ContactLocation]:
    """The contact points of a character, named after their joints.

    The body is looked at in the pose that its skin was bound in: the nodes of a file may be in mid-stride. Where a limb
    stands on the floor and its mirror image does not, both do.

    Args:
        character: The character.
        joints: The joints that stand on the floor; None: those whose limbs are low.
    """
    limbs = limbs_of(character.skeleton)
    if character.vertex_count:
        world = bind_worlds(character)
        limbs = replace(limbs, world=world)
        places, owners = rest_vertices(character, world), vertex_owners(character)
        low = FLOOR_BAND_HEIGHT_RATIO
    else:
        places, owners = _nodes(character)
        low = JOINT_FLOOR_BAND_HEIGHT_RATIO
    if not len(places):
        return []
    height = float(np.ptp(places[:, 1]))
    if joints is not None:
        groups = [
            _near_floor(places, np.flatnonzero(_below(character.skeleton, j)[owners]), low, height) for j in joints
        ]
        groups = [numbers for numbers in groups if len(numbers)]
    else:
        groups = _standing_groups(limbs, places, owners, low, height)
    contacts = []
    for numbers in groups:
        points = places[numbers].copy()
        points[:, 1] = places[:, 1].min() if character.vertex_count == 0 else points[:, 1]
        contacts += _foot_contacts(limbs, points, owners[numbers], height, alone=len(groups) == 1)
    if not character.vertex_count and joints is None:
        contacts += _hands(limbs, places, owners, {int(limbs.top[owners[numbers[0]]]) for numbers in groups})
    return contacts


def _standing_groups(limbs: Limbs, places: Array, owners: Array, low: float, height: float) -> list[Array]:
    """The points near the floor of each limb that stands there, with those of the mirror image of a limb."""
    near = _near_floor(places, np.arange(len(places)), low, height)
    carries = ~trailing_joints(limbs.skeleton)[owners[near]]
    near = near[carries] if carries.any() else near  # a snake is all tail
    stands = _standing_limbs(limbs, places[near], limbs.top[owners[near]], height)
    groups = {top: near[limbs.top[owners[near]] == top] for top in stands}
    partners = {mirror: top for top in stands for mirror in [_mirror_limb(limbs, top)] if mirror is not None}
    for partner in partners:
        if partner not in groups:
            numbers = _near_floor(places, np.flatnonzero(limbs.top[owners] == partner), low, height)
            if len(numbers):
                groups[partner] = numbers
    return [groups[top] for top in sorted(groups)]


def _near_floor(places: Array, numbers: Array, low: float, height: float) -> Array:
    """Those of the numbered places that are near to the lowest of them."""
    if not len(numbers):
        return numbers
    return np.asarray(numbers[places[numbers, 1] <= places[numbers, 1].min() + low * height])


def _mirror_limb(limbs: Limbs, top: int) -> int | None:
    """The first joint of the limb on the other side whose name differs only in the side."""
    names = [name.lower() for name in limbs.skeleton.names]
    for joint, name in enumerate(names):
        for other in mirror_names(name):
            if other in names:
                pair = {joint, names.index(other)}
                if top in pair:
                    partner = (pair - {top}).pop()
                    return partner if limbs.top[partner] == partner and not limbs.trunk[partner] else None
    return None


def _below(skeleton: Skeleton, top: int) -> Array:
    """(J,) whether a joint is `top` or below it."""
    below = np.zeros(len(skeleton), bool)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        below[joint] = joint == top or (parent >= 0 and below[parent])
    return below


def _nodes(character: Character) -> tuple[Array, Array]:
    """Positions (M, 3) of the joints and of the ends of the last bones at rest, and the joint (M,) of each."""
    links = links_of(character)
    parents = character.skeleton.parents
    last = np.isin(links.joints, parents, invert=True)
    ends = links.world[links.joints[last], :3, 3] + links.bones[last]
    return np.concatenate([links.world[:, :3, 3], ends]), np.concatenate([np.arange(len(parents)), links.joints[last]])


def trailing_joints(skeleton: Skeleton, pattern: re.Pattern[str] = TRAILING_LIMB_PATTERN) -> Array:
    """(J,) whether a joint, or one above it, is a tail or the like."""
    result = np.array([pattern.search(name) is not None for name in skeleton.names])
    for j, parent in enumerate(skeleton.parents):
        result[j] |= parent >= 0 and result[parent]
    return result


def _standing_limbs(limbs: Limbs, places: Array, tops: Array, height: float) -> list[int]:
    """The limbs that a body stands on: none of the trunk where there are others, and one where two are in one place.

    Many rigs for games have feet that hang on no leg, so that shin and foot are two limbs on the same floor.
    """
    candidates = np.unique(tops[~limbs.trunk[tops]]) if (~limbs.trunk[tops]).any() else np.unique(tops)
    kept: list[int] = []
    for top in sorted(candidates.tolist(), key=lambda top: -np.count_nonzero(tops == top)):
        points = places[tops == top]
        side = limbs.sides(points.mean(axis=0)[None])[0]
        others = [places[tops == other] for other in kept]
        if all(
            side != limbs.sides(o.mean(axis=0)[None])[0] or _gap(points, o) > MIN_FOOT_GAP_HEIGHT_RATIO * height
            for o in others
        ):
            kept.append(top)
    return sorted(kept)


def _gap(a: Array, b: Array) -> float:
    """Metres between two clouds of points (A, 3) and (B, 3)."""
    from scipy.spatial import cKDTree

    return float(cKDTree(a).query(b)[0].min())


def _foot_contacts(limbs: Limbs, places: Array, owners: Array, height: float, alone: bool) -> list[ContactLocation]:
    """Toe and heel of one limb, or four points around it where the body stands on it alone."""
    if np.ptp(places, axis=0)[[0, 2]].max() < MIN_FOOT_LENGTH_HEIGHT_RATIO * height:
        return [_contact(limbs, places, owners, np.ones(len(places), bool), "foot")]
    wanted = [("toe", limbs.front), ("heel", -limbs.front)]
    if alone:
        left = limbs.left
        wanted = [("front", limbs.front), ("back", -limbs.front), ("left", left), ("right", -left)]
    result = []
    for name, direction in wanted:
        along = places @ direction
        result.append(
            _contact(limbs, places, owners, along >= along.max() - FOOT_EDGE_LENGTH_RATIO * np.ptp(along), name)
        )
    return result


def _contact(limbs: Limbs, places: Array, owners: Array, chosen: Array, role: str) -> ContactLocation:
    """The mean of the chosen places, at the height of the lowest, on the joint that has most of them."""
    point = places[chosen].mean(axis=0)
    point[1] = places[chosen, 1].min()
    joint = int(np.bincount(owners[chosen]).argmax())
    offset = transform.apply(np.linalg.inv(limbs.world[joint]), point)
    return f"{limbs.skeleton.names[joint]}.{role}", joint, offset


def _hands(limbs: Limbs, places: Array, owners: Array, taken: set[int]) -> list[ContactLocation]:
    """The ends of the other limbs beside the middle plane: arms, but not heads and tails."""
    result = []
    for top in np.unique(limbs.top[~limbs.trunk]):
        if top in taken or limbs.reach[top] < MIN_HAND_REACH_SIZE_RATIO * limbs.size:
            continue
        numbers = np.flatnonzero(limbs.top[owners] == top)
        far = np.linalg.norm(places[numbers] - limbs.world[top, :3, 3], axis=1).argmax()
        if limbs.sides(places[numbers[far]][None])[0]:
            result.append(_contact(limbs, places[numbers], owners[numbers], np.arange(len(numbers)) == far, "hand"))
    return result
