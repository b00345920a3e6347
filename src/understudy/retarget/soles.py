"""Soles stand flat: a third point of each foot, beside the line from heel to toe, which those two leave open.

At rest a foot is flat on the floor, and the point is as far to the side of the middle m of heel and toe as half of
their distance. While the foot stands it is wanted there again, level with them,

    m + w (up x u) / |up x u|,    u from heel to toe

and in flight where the foot's own pose has it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.retarget.body import Body
from understudy.retarget.contact_goals import LOOSE, rigid_fit
from understudy.retarget.poses import Poses
from understudy.retarget.stance import Stance

WIDE = 0.5  # of the distance from heel to toe
LEVEL = 0.1  # beside the 1 of contact points: how much a sole has to say
SHORT = 1e-3  # of the size: a foot that is shorter has no direction


@dataclass(frozen=True, eq=False)
class Soles:
    """The third points of n feet."""

    contacts: tuple[tuple[int, int], ...]  # heel and toe
    joints: Array  # (n,) that carry them, those of the heels
    offsets: Array  # (n, 3) in their frames
    widths: Array  # (n,) metres

    def positions(self, poses: Poses) -> Array:
        """(F, n, 3) in the world."""
        return np.asarray(transform.apply(poses.world[:, self.joints], self.offsets))

    def rigid(self, body: Body, skeleton: Skeleton) -> Array:
        """(K,) the joints that carry contact points if toes are bent as they are: a foot on two hinges folds."""
        result = np.array([contact.joint for contact in body.contacts], np.int64)
        for heel, toe in self.contacts:
            if result[heel] in skeleton.ancestors(int(result[toe])):
                result[toe] = result[heel]
        return result

    def straightened(self, poses: Poses, body: Body, holds: Array, goals: Array) -> Poses:
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
            stands = (holds[:, [heel, toe]] - LOOSE) / (1 - LOOSE)
            lifted, wanted = (np.maximum(p[:, heel, 1] - p[:, toe, 1], 1e-9) for p in (points, goals))
            share = np.maximum(stands.prod(axis=1), stands[:, 1] * np.clip(1 - wanted / lifted, 0.0, 1.0))
            for joint in chain[: chain.index(first)]:
                rest = np.broadcast_to(skeleton.rotations[joint], rotations[:, joint].shape)
                rotations[:, joint] = quaternion.slerp(rotations[:, joint], rest, share)
        return Poses(skeleton, poses.translations, rotations, poses.rate)

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
            share = (((hold - LOOSE) / (1 - LOOSE)) * (size[:, 0] > 0.2 * self.widths[n]))[:, None]
            wanted[:, n] = share * flat + (1 - share) * free
            firm[:, n] = LEVEL * hold
        return wanted, firm


def soles_of(body: Body, stance: Stance) -> Soles:
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
        if size < SHORT * limbs.size:
            continue
        side = 0.5 * (points[heel] + points[toe]) + WIDE * np.array([along[2], 0.0, -along[0]])
        joint = body.contacts[heel].joint
        contacts.append((heel, toe))
        joints.append(joint)
        offsets.append(transform.apply(np.linalg.inv(limbs.world[joint]), side))
        widths.append(WIDE * size)
    return Soles(
        tuple(contacts), np.array(joints, np.int64), np.array(offsets).reshape(-1, 3), np.array(widths, np.float64)
    )
