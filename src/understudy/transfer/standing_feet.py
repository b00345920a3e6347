"""Feet on the floor: flat soles, static balance over the support polygon, and ballistic flights.

Soles. Heel and toe leave the rotation about their line open. A third point of each foot fixes it, beside that line. At
rest a foot is flat on the floor, and the point is as far to the side of the middle m of heel and toe as half of their
distance. While the foot is planted the point is wanted there again, level with them,

    m + w (up x u) / |up x u|,    u from heel to toe

and in flight where the foot's own pose has it.

Balance. A figure that stands still on all feet keeps its centre of mass over the support polygon. An actor crouches
with the hips low behind the feet and the chest over them; a penguin in the same crouch has most of its mass in head and
chest, ahead of its toes. Where the centre of mass c, at the height h, is outside the polygon of the contacts that are
down, the whole figure leans about s, the nearest point of the polygon, by

    |e| / h  radians towards it,    e = w (s - c),    w = 1 / (1 + (c' / BALANCE_SPEED)^2)

over feet that stay where they are. A moving figure need not be balanced, hence w, nor one that rears or steps; a lean
comes and goes slowly.

Flights. From the last frame on the floor, at c0, to the first on it again, at c1, T seconds later, the centre of mass
falls freely:

    c(t) = (1 - s) c0 + s c1 + g/2 T^2 s (1 - s) up,    s = t / T

whose second differences are those of gravity to rounding. A figure that is in the air for longer than a jump is carried
by something else, and left alone.
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
from understudy.maths.resample import gaussian_smooth
from understudy.transfer.contact_goals import FLIGHT_POINT_WEIGHT, FLOOR_AXES, rigid_fit
from understudy.transfer.physics.momentum import mass_motion
from understudy.transfer.standing_base import Stance

# Heights a second: a centre of mass that moves so fast is balanced by half.
BALANCE_SPEED_HEIGHTS_PER_S = 0.15
LEAN_SMOOTHING_SECONDS = 0.2  # in which a lean comes and goes
MAX_LEAN_RAD = 0.35  # a figure that would have to lean further was not meant to be balanced
MAX_FLIGHT_SECONDS = 1.0  # the longest jump: a person would jump higher than a metre
SOLE_WIDTH_RATIO = 0.5  # w over the distance from heel to toe
SOLE_WEIGHT = 0.1  # of a sole's point, beside 1 for contact points
MIN_FOOT_LENGTH_SIZE_RATIO = 1e-3  # of the size: a shorter foot has no direction


@dataclass(frozen=True, eq=False)
class FootFlattening:
    """The third points, beside the line from heel to toe, of n feet."""

    contacts: tuple[tuple[int, int], ...]  # heel and toe
    joints: Array  # (n,) that carry them, those of the heels
    offsets: Array  # (n, 3) in their frames
    widths: Array  # (n,) metres

    def positions(self, poses: PoseSequence) -> Array:
        """(F, n, 3) in the world."""
        return np.asarray(transform.apply(poses.world[:, self.joints], self.offsets))

    def rigid(self, body: Body, skeleton: Skeleton) -> Array:
        """(K,) the joints that carry contact points with toes fixed to their heels: a foot on two hinges would fold."""
        result = np.array([contact.joint for contact in body.contacts], np.int64)
        for heel, toe in self.contacts:
            if result[heel] in skeleton.ancestors(int(result[toe])):
                result[toe] = result[heel]
        return result

    def flatten(self, poses: PoseSequence, body: Body, holds: Array, goals: Array) -> PoseSequence:
        """Poses whose toes are as at rest where heel and toe are both planted: bent toes would sink into the floor.

        Where the toe alone is planted and the heel should be lower than it is, toes are the straighter the lower it is.
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
            pair = [heel, toe]
            moves = rigid_fit(points[:, pair], goals[:, pair], holds[:, pair])
            free = transform.apply(moves, sides[:, n])
            along = goals[:, toe] - goals[:, heel]
            across = np.stack([along[:, 2], np.zeros(len(along)), -along[:, 0]], axis=1)
            size = np.linalg.norm(across, axis=1, keepdims=True)
            flat = goals[:, pair].mean(axis=1) + self.widths[n] * across / np.maximum(size, 1e-9)
            hold = holds[:, pair].max(axis=1)
            planted = (hold - FLIGHT_POINT_WEIGHT) / (1 - FLIGHT_POINT_WEIGHT)
            share = (planted * (size[:, 0] > 0.2 * self.widths[n]))[:, None]
            wanted[:, n] = share * flat + (1 - share) * free
            firm[:, n] = SOLE_WEIGHT * hold
        return wanted, firm


def foot_flattening(body: Body, stance: Stance) -> FootFlattening:
    """The soles of a figure; a foot with one contact point has no sole."""
    limbs = stance.limbs
    points = body.contact_positions(limbs.world[None])[0]
    ahead = points @ limbs.front
    contacts, joints, offsets, widths = [], [], [], []
    for hip in np.unique(stance.hips):
        foot = np.flatnonzero(stance.hips == hip)
        heel, toe = int(foot[ahead[foot].argmin()]), int(foot[ahead[foot].argmax()])
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


def balance_over_feet(
    poses: PoseSequence, body: Body, phases: ContactPhases, points: Array, hips: Array
) -> PoseSequence:
    """Poses leaned as a whole about contacts planted at points (F, K, 3), on legs that begin with hips (K,)."""
    lean, pivots = lean_angles(poses, body, phases, points, hips)
    turn = quaternion.from_rotation_vector(np.stack([lean[:, 1], np.zeros(len(lean)), -lean[:, 0]], axis=1))
    moves = transform.compose(np.zeros(3), turn)
    moves[:, :3, 3] = pivots - transform.apply(moves, pivots)
    return poses.apply_transform(moves)


def lean_angles(
    poses: PoseSequence, body: Body, phases: ContactPhases, points: Array, hips: Array
) -> tuple[Array, Array]:
    """(F, 2) radians towards +X and +Z, and (F, 3) the points on the floor about which to lean."""
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
    """(F, 2) the points of the support polygon nearest to `place` (F, 2); `place` itself where no point is down.

    The polygon is the convex hull of the points (F, K, 2) that are `down` (F, K). Within a triangle of them the nearest
    point is the place itself, else it is on the line between two, or one of them.
    """
    best, result = np.full(len(place), np.inf), place.copy()
    for i, j in [*combinations(range(points.shape[1]), 2), *((k, k) for k in range(points.shape[1]))]:
        a, along = points[:, i], points[:, j] - points[:, i]
        share = np.einsum("fa,fa->f", place - a, along) / np.maximum(np.square(along).sum(axis=1), 1e-18)
        trial = a + np.clip(share, 0.0, 1.0)[:, None] * along
        far = np.where(down[:, i] & down[:, j], np.linalg.norm(trial - place, axis=1), np.inf)
        result = np.where((far < best)[:, None], trial, result)
        best = np.minimum(far, best)
    for corners in combinations(range(points.shape[1]), 3):
        away = points[:, corners] - place[:, None]
        side = np.stack([_cross(away[:, k], away[:, (k + 1) % 3]) for k in range(3)], axis=1)
        within = np.asarray((side > 0).all(axis=1) | (side < 0).all(axis=1)) & down[:, corners].all(axis=1)
        result = np.where(within[:, None], place, result)
    return result


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def ballistic_flight(centres: Array, air: Array, rate: float, gravity: float) -> Array:
    """(F, 3) displacements that put the centres of mass (F, 3) on parabolas while the body is in the air (F,)."""
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
