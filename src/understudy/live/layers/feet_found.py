"""Which joints of a character are feet, and which legs carry them: measured in its clips, whatever they are called.

A foot is what is low and touches the ground in much of the clips, has a leg above it, and is one of a pair. The leg is
the chain of joints between the foot and the joint that carries other feet as well. Where a rig was animated with IK the
feet often hang on no leg at all but on the ground; such a foot belongs to the joint in whose frame it moves least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Skeleton
from understudy.checks import Array
from understudy.maths import quaternion

NEAR = 0.03  # of the height: what is nearer to the ground touches it
SHARE = 0.3  # of the frames in which a foot touches the ground, on average over the clips
LOW, ANKLE = 0.25, 0.14  # of the height: no foot is usually higher; a joint above a sole that is lower is its ankle
HIP = 0.12  # of the height that a leg begins above its foot
LONGEST = 3  # joints of a leg that turn, the foot not counted
STEEP = 0.3  # of its length that the first bone of a leg goes down: a pelvis goes sideways
STILL = 0.01  # radians from its mean: a joint that turns less does not turn
LOOSE = 0.06  # of the height by which a foot may wander about its leg and still belong to it
PAIR = 0.05  # of the height that two feet of a pair may differ in how high they stand
POINTS = 6  # of a sole that are watched, for each joint, besides those that are lowest when it is tilted
TILT = np.radians(40)


@dataclass(frozen=True, eq=False)
class FoundFoot:
    """A foot and its leg."""

    joint: int  # that the foot hangs on; all below it is foot
    leg: tuple[int, ...]  # joints from the hip down
    attached: bool  # the foot hangs on the leg
    owners: Array  # (P,) int, the joints of the points of the sole
    points: Array  # (P, 3) in the frames of those


def find_feet(character: Character, worlds: Sequence[Array], size: float) -> tuple[FoundFoot, ...]:
    """The feet of a character whose clips have world_from_joint (F, J, 4, 4), and which is `size` metres high."""
    skeleton = character.skeleton
    soles = _lowest_points(character, np.concatenate(worlds))
    lows = [_heights(soles, world) for world in worlds]  # (F, J) each, infinite where a joint has nothing to stand on
    ground = float(np.median([np.quantile(low.min(axis=1), 0.1) for low in lows]))
    places = np.concatenate(worlds)[..., :3, 3]
    usual = np.median(places[..., 1], axis=0) - ground
    share = np.mean([(low < ground + NEAR * size).mean(axis=0) for low in lows], axis=0)
    highest = usual.copy()  # of all that hangs on a joint: no foot carries the body, though the ground may
    for joint in range(len(skeleton) - 1, 0, -1):
        above = skeleton.parents[joint]
        if above >= 0:
            highest[above] = max(highest[above], highest[joint])
    touching = set(np.flatnonzero((share >= SHARE) & (highest < LOW * size)).tolist())
    lines = [skeleton.ancestors(j) for j in sorted(touching)]
    tops = [line for line in lines if not touching.intersection(line[1:])]
    paths = [_own(line, [other for other in tops if other is not line]) for line in tops]
    every = np.concatenate(worlds)
    loose = [path for path in paths if path and usual[path[-1]] - usual[path[0]] <= HIP * size]
    found = _loose(skeleton, every, loose, set(soles), size)
    legs = {joint for _, leg, _ in found for joint in leg}
    for path in paths:
        if path in loose or legs.intersection(skeleton.ancestors(path[0])):  # a shin that comes low is no foot
            continue
        lifted = next(i for i in range(len(path)) if i + 1 == len(path) or usual[path[i + 1]] > ANKLE * size)
        found.append((path[lifted], path[lifted + 1 :], True))
    feet = []
    for joint, leg, attached in found:
        chain = _leg(every, skeleton, leg)
        if chain:
            feet.append(_with_sole(skeleton, soles, joint, tuple(chain[::-1]), attached))
    return _paired(feet, usual, size)


def _loose(
    skeleton: Skeleton, worlds: Array, paths: list[list[int]], skinned: set[int], size: float
) -> list[tuple[int, list[int], bool]]:
    """Feet that hang on no leg, and the legs that they belong to."""
    owners = []
    for path in paths:
        owner = _carrier(skeleton, worlds, path[-1], {j for p in paths for j in p}, skinned, size)
        while owner is not None and not _turns(worlds, skeleton, owner):
            owner = int(skeleton.parents[owner]) if skeleton.parents[owner] >= 0 else None
        owners.append(owner)
    lines = [[] if owner is None else skeleton.ancestors(owner) for owner in owners]
    found = []
    for i, path in enumerate(paths):
        leg = _own(lines[i], [line for j, line in enumerate(lines) if j != i])
        if leg:
            found.append((path[-1], leg, False))
    return found


def _own(line: list[int], others: list[list[int]]) -> list[int]:
    """The joints of a line to the root, from its lower end on, that are on no other line."""
    shared = {joint for other in others for joint in other}
    return [joint for joint in line if joint not in shared]


def _lowest_points(character: Character, worlds: Array) -> dict[int, Array]:
    """Joint -> points (P, 3) in its frame that are ever the lowest of what it carries; of a bare skeleton, itself."""
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
        tilted = (_tilted(ups.mean(axis=0)) @ points.T).argmin(axis=1)
        result[joint] = points[np.union1d(often[np.argsort(-counts, kind="stable")[:POINTS]], tilted)]
    return result


def _tilted(up: Array) -> Array:
    """(8, 3) directions all around one (3,), TILT away from it: a foot of a blend is turned as in no clip."""
    up = up / max(float(np.linalg.norm(up)), 1e-12)
    side = np.cross(up, np.eye(3)[int(np.abs(up).argmin())])
    side /= np.linalg.norm(side)
    angles = np.arange(8) * np.pi / 4
    around = np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(up, side))
    return np.asarray(np.cos(TILT) * up + np.sin(TILT) * around)


def _heights(soles: dict[int, Array], world: Array) -> Array:
    """(F, J) how high the lowest point of each joint is."""
    result = np.full(world.shape[:2], np.inf)
    for joint, points in soles.items():
        result[:, joint] = (world[:, joint, 1, :3] @ points.T).min(axis=1) + world[:, joint, 1, 3]
    return result


def _carrier(
    skeleton: Skeleton, worlds: Array, foot: int, feet: set[int], skinned: set[int], size: float
) -> int | None:
    """The joint in whose frame a foot moves least, and little."""
    excluded = {*feet, *skeleton.ancestors(foot)}
    best, least = None, LOOSE * size
    for joint in sorted(skinned - excluded):
        if foot in skeleton.ancestors(joint):
            continue
        frames = worlds[:, joint]
        away = np.einsum("fji,fj->fi", frames[:, :3, :3], worlds[:, foot, :3, 3] - frames[:, :3, 3])
        away = away / np.maximum(np.linalg.norm(frames[:, :3, :3], axis=1), 1e-12)  # metres along the axes of the joint
        wanders = float(np.sqrt(away.var(axis=0).sum()))
        if wanders < least:
            best, least = joint, wanders
    return best


def _leg(worlds: Array, skeleton: Skeleton, leg: list[int]) -> list[int]:
    """Those joints of a leg, from its lower end up, that turn: without a pelvis, and no more than a leg has."""
    kept = list(leg)
    while len(kept) > 2:
        above, below = worlds[:, kept[-1], :3, 3], worlds[:, kept[-2], :3, 3]
        down = np.median((above - below)[:, 1]) / max(float(np.median(np.linalg.norm(above - below, axis=1))), 1e-12)
        if len(kept) <= LONGEST and down > STEEP and _turns(worlds, skeleton, kept[-1]):
            break
        kept.pop()
    return kept if len(kept) >= 2 else []


def _turns(worlds: Array, skeleton: Skeleton, joint: int) -> bool:
    local = quaternion.normalise(local_turns(worlds, skeleton, joint))
    return bool(np.abs(quaternion.log(quaternion.multiply(quaternion.conjugate(local[0]), local))).max() > STILL)


def local_turns(worlds: Array, skeleton: Skeleton, joint: int) -> Array:
    """(F, 4) how a joint is turned within its parent."""
    above = skeleton.parents[joint]
    own = worlds[:, joint, :3, :3] / np.linalg.norm(worlds[:, joint, :3, :3], axis=1, keepdims=True)
    if above < 0:
        return quaternion.from_matrix(own)
    frame = worlds[:, above, :3, :3] / np.linalg.norm(worlds[:, above, :3, :3], axis=1, keepdims=True)
    return quaternion.from_matrix(np.swapaxes(frame, 1, 2) @ own)


def _with_sole(
    skeleton: Skeleton, soles: dict[int, Array], joint: int, leg: tuple[int, ...], attached: bool
) -> FoundFoot:
    below = [j for j in soles if joint in skeleton.ancestors(j)]
    owners = np.concatenate([np.full(len(soles[j]), j) for j in below])
    return FoundFoot(joint, leg, attached, owners, np.concatenate([soles[j] for j in below]))


def _paired(feet: list[FoundFoot], usual: Array, size: float) -> tuple[FoundFoot, ...]:
    """Those that have a fellow: a tail that lies on the ground has none."""

    def alike(a: FoundFoot, b: FoundFoot) -> bool:
        same = len(a.leg) == len(b.leg) and a.attached == b.attached
        return same and abs(usual[a.joint] - usual[b.joint]) < PAIR * size

    return tuple(foot for foot in feet if any(alike(foot, other) for other in feet if other is not foot))
