"""Balance: who stands still on all feet has the weight above them, or would fall over.

An actor crouches with his hips low behind his feet and his chest over them. A penguin in the same crouch has most of
its weight in head and chest, ahead of its toes. Where the centre of mass c, at the height h, is beside all that stands,
the whole figure leans about s, the nearest place of what the contacts that are down span, by

    |e| / h  radians towards it,    e = w (s - c),    w = 1 / (1 + (c' / SLOW)^2)

over feet that stay where they are. Whoever moves need not be above his feet, hence w, nor who rears or steps; a lean
comes and goes slowly.

Flights: between leaving the floor and coming back to it the centre of mass moves as thrown things do.

From the last frame on the floor, at c0, to the first on it again, at c1, T seconds later,

    c(t) = (1 - s) c0 + s c1 + g/2 T^2 s (1 - s) up,    s = t / T

whose second differences are those of gravity to rounding. What is in the air for longer than a jump is carried by
something else, and left alone.

Soles stand flat: a third point of each foot, beside the line from heel to toe, which those two leave open.

At rest a foot is flat on the floor, and the point is as far to the side of the middle m of heel and toe as half of
their distance. While the foot stands it is wanted there again, level with them,

    m + w (up x u) / |up x u|,    u from heel to toe

and in flight where the foot's own pose has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from understudy.character import Skeleton
from understudy.character.body.contacts import ContactPhases, runs
from understudy.character.body.mass import Body, body_height
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.maths.smoothing import gaussian_smooth
from understudy.transfer.contact_goals import FLIGHT_POINT_WEIGHT, rigid_fit
from understudy.transfer.physics.momentum import mass_motion
from understudy.transfer.standing_base import Stance

BALANCE_SPEED_HEIGHTS_PER_S = (
    0.15  # of the height a second: a weight that moves so fast is half as much in need of balance
)
LEAN_SMOOTHING_SECONDS = 0.2  # seconds in which a lean comes
MAX_LEAN_RAD = 0.35  # radians: a figure that would have to lean further was not meant to stand
FLOOR_AXES = [0, 2]


def balance_over_feet(
    poses: PoseSequence, body: Body, phases: ContactPhases, points: Array, hips: Array
) -> PoseSequence:
    """Poses leaned as a whole about contacts that stand at points (F, K, 3), on legs that begin with hips (K,)."""
    lean, pivots = lean_angles(poses, body, phases, points, hips)
    turn = quaternion.from_rotation_vector(np.stack([lean[:, 1], np.zeros(len(lean)), -lean[:, 0]], axis=1))
    moves = transform.compose(np.zeros(3), turn)
    moves[:, :3, 3] = pivots - transform.apply(moves, pivots)
    return poses.apply_transform(moves)


def lean_angles(
    poses: PoseSequence, body: Body, phases: ContactPhases, points: Array, hips: Array
) -> tuple[Array, Array]:
    """(F, 2) radians towards +X and +Z, and (F, 3) the places on the floor about which to lean."""
    centres, height = mass_motion(poses.world, body, poses.rate).centres, body_height(body, poses)
    level, used = centres[:, FLOOR_AXES], np.flatnonzero(phases.down.any(axis=0))
    place = nearest_support_point(level, points[:, used][..., FLOOR_AXES], phases.down[:, used])
    feet = np.array([phases.down[:, used[hips[used] == hip]].any(axis=1) for hip in np.unique(hips[used])])
    speed = np.linalg.norm(
        np.gradient(gaussian_smooth(level, LEAN_SMOOTHING_SECONDS * poses.rate), 1 / poses.rate, axis=0), axis=1
    )
    share = feet.all(axis=0) / (1 + np.square(speed / (BALANCE_SPEED_HEIGHTS_PER_S * height)))
    angles = share[:, None] * (place - level) / np.maximum(centres[:, 1:2], 0.1 * height)
    angles = angles / np.sqrt(1 + np.square(np.linalg.norm(angles, axis=1, keepdims=True) / MAX_LEAN_RAD))
    pivots = np.zeros((len(poses), 3))
    pivots[:, FLOOR_AXES] = place
    return gaussian_smooth(angles, LEAN_SMOOTHING_SECONDS * poses.rate), pivots


def nearest_support_point(place: Array, points: Array, down: Array) -> Array:
    """(F, 2) of what points (F, K, 2) that are down (F, K) span, the nearest to places (F, 2); those where none is.

    Within a triangle of points it is the place itself, else it is on the line between two, or one of them.
    """
    best, found = np.full(len(place), np.inf), place.copy()
    for i, j in [*combinations(range(points.shape[1]), 2), *((k, k) for k in range(points.shape[1]))]:
        a, along = points[:, i], points[:, j] - points[:, i]
        share = np.einsum("fa,fa->f", place - a, along) / np.maximum(np.square(along).sum(axis=1), 1e-18)
        trial = a + np.clip(share, 0.0, 1.0)[:, None] * along
        far = np.where(down[:, i] & down[:, j], np.linalg.norm(trial - place, axis=1), np.inf)
        found = np.where((far < best)[:, None], trial, found)
        best = np.minimum(far, best)
    for corners in combinations(range(points.shape[1]), 3):
        away = points[:, corners] - place[:, None]
        side = np.stack([_cross(away[:, k], away[:, (k + 1) % 3]) for k in range(3)], axis=1)
        within = np.asarray((side > 0).all(axis=1) | (side < 0).all(axis=1)) & down[:, corners].all(axis=1)
        found = np.where(within[:, None], place, found)
    return found


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


MAX_FLIGHT_SECONDS = 1.0  # seconds: a person would jump higher than a metre


def ballistic_flight(centres: Array, air: Array, rate: float, gravity: float) -> Array:
    """(F, 3) by how far the centres of mass (F, 3) are from where they would fly, where a body is in the air (F,)."""
    result = np.zeros(centres.shape)
    for a, b in runs(np.asarray(air)):
        if a == 0 or b == len(centres) or b - a > MAX_FLIGHT_SECONDS * rate:
            continue
        count = b - a + 1
        share = np.arange(1, count)[:, None] / count
        line = (1 - share) * centres[a - 1] + share * centres[b]
        line[:, 1] += 0.5 * gravity * (count / rate) ** 2 * (share * (1 - share))[:, 0]
        result[a:b] = line - centres[a:b]
    return result


SOLE_WIDTH_RATIO = 0.5  # of the distance from heel to toe
SOLE_WEIGHT = 0.1  # beside the 1 of contact points: how much a sole has to say
MIN_FOOT_LENGTH_SIZE_RATIO = 1e-3  # of the size: a foot that is shorter has no direction


@dataclass(frozen=True, eq=False)
class FootFlattening:
    """The third points of n feet."""

    contacts: tuple[tuple[int, int], ...]  # heel and toe
    joints: Array  # (n,) that carry them, those of the heels
    offsets: Array  # (n, 3) in their frames
    widths: Array  # (n,) metres

    def positions(self, poses: PoseSequence) -> Array:
        """(F, n, 3) in the world."""
        return np.asarray(transform.apply(poses.world[:, self.joints], self.offsets))

    def rigid(self, body: Body, skeleton: Skeleton) -> Array:
        """(K,) the joints that carry contact points if toes are bent as they are: a foot on two hinges folds."""
        result = np.array([contact.joint for contact in body.contacts], np.int64)
        for heel, toe in self.contacts:
            if result[heel] in skeleton.ancestors(int(result[toe])):
                result[toe] = result[heel]
        return result

    def flatten(self, poses: PoseSequence, body: Body, holds: Array, goals: Array) -> PoseSequence:
        """Poses whose toes are as at rest where heel and toe both stand: bent ones would be pressed into the floor.

        Where the toe alone stands and the heel should be lower than it is, they are the straighter the lower it is.
        """
        skeleton, rotations = poses.skeleton, np.array(poses.rotations)
        points = body.contact_positions(poses.world)
        for heel, toe in self.contacts:
            first, last = body.contacts[heel].joint, body.contacts[toe].joint
            chain = skeleton.ancestors(last)
            if first == last or first not in chain:
                continue
            stands = (holds[:, [heel, toe]] - FLIGHT_POINT_WEIGHT) / (1 - FLIGHT_POINT_WEIGHT)
            lifted, wanted = (np.maximum(p[:, heel, 1] - p[:, toe, 1], 1e-9) for p in (points, goals))
            share = np.maximum(stands.prod(axis=1), stands[:, 1] * np.clip(1 - wanted / lifted, 0.0, 1.0))
            for joint in chain[: chain.index(first)]:
                rest = np.broadcast_to(skeleton.rotations[joint], rotations[:, joint].shape)
                rotations[:, joint] = quaternion.slerp(rotations[:, joint], rest, share)
        return PoseSequence(skeleton, poses.translations, rotations, poses.rate)

    def goals(self, points: Array, goals: Array, sides: Array, holds: Array) -> tuple[Array, Array]:
        """(F, n, 3) where `sides` (F, n, 3) should be, and (F, n) how firmly, of contact points (F, K, 3)."""
        wanted, firm = np.array(sides), np.zeros(sides.shape[:2])
        for n, (heel, toe) in enumerate(self.contacts):
            mine = [heel, toe]
            moves = rigid_fit(points[:, mine], goals[:, mine], holds[:, mine])
            free = transform.apply(moves, sides[:, n])
            along = goals[:, toe] - goals[:, heel]
            across = np.stack([along[:, 2], np.zeros(len(along)), -along[:, 0]], axis=1)
            size = np.linalg.norm(across, axis=1, keepdims=True)
            flat = goals[:, mine].mean(axis=1) + self.widths[n] * across / np.maximum(size, 1e-9)
            hold = holds[:, mine].max(axis=1)
            share = (((hold - FLIGHT_POINT_WEIGHT) / (1 - FLIGHT_POINT_WEIGHT)) * (size[:, 0] > 0.2 * self.widths[n]))[
                :, None
            ]
            wanted[:, n] = share * flat + (1 - share) * free
            firm[:, n] = SOLE_WEIGHT * hold
        return wanted, firm


def foot_flattening(body: Body, stance: Stance) -> FootFlattening:
    """The soles of a figure; a foot with one contact point has none."""
    limbs = stance.limbs
    points = body.contact_positions(limbs.world[None])[0]
    ahead = points @ limbs.front
    contacts, joints, offsets, widths = [], [], [], []
    for hip in np.unique(stance.hips):
        mine = np.flatnonzero(stance.hips == hip)
        heel, toe = int(mine[ahead[mine].argmin()]), int(mine[ahead[mine].argmax()])
        along = points[toe] - points[heel]
        size = float(np.hypot(along[0], along[2]))
        if size < MIN_FOOT_LENGTH_SIZE_RATIO * limbs.size:
            continue
        side = 0.5 * (points[heel] + points[toe]) + SOLE_WIDTH_RATIO * np.array([along[2], 0.0, -along[0]])
        joint = body.contacts[heel].joint
        contacts.append((heel, toe))
        joints.append(joint)
        offsets.append(transform.apply(np.linalg.inv(limbs.world[joint]), side))
        widths.append(SOLE_WIDTH_RATIO * size)
    return FootFlattening(
        tuple(contacts), np.array(joints, np.int64), np.array(offsets).reshape(-1, 3), np.array(widths, np.float64)
    )
