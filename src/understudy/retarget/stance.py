"""How a figure stands: on legs, on feet that hang on no leg, or on something that is its root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.retarget import contact_sway
from understudy.retarget.body import Body
from understudy.retarget.contacts import Phases
from understudy.retarget.limbs import Limbs, limbs_of
from understudy.retarget.loose_feet import LooseFoot, loose_feet
from understudy.retarget.poses import Poses

FLAT = 0.05  # of the size: what begins no higher than this above the floor is no leg


@dataclass(frozen=True, eq=False)
class Stance:
    """What contact correction knows of a figure."""

    limbs: Limbs
    feet: tuple[LooseFoot, ...]  # those that hang on no leg
    hips: Array  # (K,) the joint that each contact's leg begins with
    lengths: Array  # (K,) metres at rest from there to the contact
    base: int | None  # what a figure without legs stands on
    carried: float = 1.0  # of the weight: what is not in the base

    @property
    def length(self) -> float:
        """Metres between what stands on the floor and what it carries."""
        return float(self.lengths.mean())


def stance_of(poses: Poses, body: Body, phases: Phases) -> Stance:
    """How a figure stands in a motion."""
    limbs = limbs_of(poses.skeleton)
    feet = loose_feet(poses, body, limbs)
    hips = limbs.top[np.array([contact.joint for contact in body.contacts], np.int64)]
    for foot in feet:
        hips[list(foot.contacts)] = limbs.top[foot.shin]
    points = body.contact_positions(limbs.world[None])[0]
    lengths = np.linalg.norm(points - limbs.world[hips, :3, 3], axis=1)
    low = limbs.world[hips, 1, 3] - points[:, 1] < FLAT * limbs.size
    glides = phases.gliding is not None
    if not glides and (feet or not (low.all() or has_no_legs(poses.skeleton, body, phases))):
        return Stance(limbs, feet, hips, lengths, None)
    base = body.contacts[int(np.flatnonzero(phases.down.any(axis=0))[0])].joint
    if glides:  # all of a tail that winds
        base = [j for j in poses.skeleton.ancestors(base) if body.masses[j] > 0][-1]
    lengths = np.full(len(points), contact_sway.length_of(body, limbs, base))
    carried = 1 - float(body.masses[base] / body.mass)
    return Stance(limbs, feet, hips, lengths, base, carried)


def has_no_legs(skeleton: Skeleton, body: Body, phases: Phases) -> bool:
    """Whether nothing that weighs anything stands between the contacts that are ever down and the root."""
    used = np.flatnonzero(phases.down.any(axis=0))
    return not any(body.masses[skeleton.ancestors(body.contacts[k].joint)[1:]].any() for k in used)
