"""Feet that hang on no leg: rigs with baked inverse kinematics animate foot and leg apart.

Such a foot is a small part of the body above which nothing weighs anything. It is moved rigidly to where its contact
points should be, by its own translation and rotation; its leg is the chain down to the joint in whose frame the foot
wanders least, and turns until the foot is as it was, seen from there (`leg_reach`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.retarget.body import Body
from understudy.retarget.leg_reach import world_rotations
from understudy.retarget.limbs import Limbs
from understudy.retarget.poses import Poses

SMALL = 0.15  # of the weight: all that hangs on a foot
WANDERS = 0.06  # of the height by which a foot may wander about its leg and still belong to it
SAMPLES = 64  # frames that are looked at


@dataclass(frozen=True)
class LooseFoot:
    """A foot and its leg."""

    joint: int  # the foot's first, which is placed
    contacts: tuple[int, ...]  # of the body, on it or below it
    shin: int  # the last joint of its leg


def loose_feet(poses: Poses, body: Body, limbs: Limbs) -> tuple[LooseFoot, ...]:
    """The feet of a figure that hang on no leg, with the legs that they belong to."""
    skeleton = poses.skeleton
    found: dict[int, list[int]] = {}
    for k, contact in enumerate(body.contacts):
        joint = _top(skeleton, body, contact.joint)
        if body.masses[_below(skeleton, joint)].sum() < SMALL * body.mass:
            found.setdefault(joint, []).append(k)
    feet = set().union(*(np.flatnonzero(_below(skeleton, joint)).tolist() for joint in found))
    picked = np.linspace(0, len(poses) - 1, min(SAMPLES, len(poses))).astype(np.int64)
    worlds = poses.world[picked]
    shins = {joint: _shin(skeleton, worlds, body, limbs, joint, feet) for joint in found}
    return tuple(
        LooseFoot(joint, tuple(contacts), shin)
        for joint, contacts in found.items()
        if (shin := shins[joint]) is not None
    )


def placed(poses: Poses, moved: Poses, feet: tuple[LooseFoot, ...], frames: Array) -> Poses:
    """`moved` with its feet where `poses` has them, moved rigidly by frames (F, n, 4, 4), one for each foot."""
    skeleton = poses.skeleton
    translations, rotations = np.array(moved.translations), np.array(moved.rotations)
    before, after = (world_rotations(skeleton, p.rotations) for p in (poses, moved))
    for n, foot in enumerate(feet):
        parent = int(skeleton.parents[foot.joint])
        places = transform.apply(frames[:, n], poses.world[:, foot.joint, :3, 3])
        turn = quaternion.multiply(quaternion.from_matrix(frames[:, n]), before[:, foot.joint])
        translations[:, foot.joint] = transform.apply(transform.invert(moved.world[:, parent]), places)
        rotations[:, foot.joint] = quaternion.multiply(quaternion.conjugate(after[:, parent]), turn)
    return Poses(skeleton, translations, quaternion.unroll(rotations), poses.rate)


def _top(skeleton: Skeleton, body: Body, joint: int) -> int:
    """The highest joint above, or itself, that weighs anything."""
    heavy = [j for j in skeleton.ancestors(joint) if body.masses[j] > 0]
    return int(heavy[-1]) if heavy else joint


def _below(skeleton: Skeleton, joint: int) -> Array:
    """(J,) whether a joint is this one or hangs on it."""
    result = np.zeros(len(skeleton), bool)
    for j, parent in enumerate(skeleton.parents):
        result[j] = j == joint or (parent >= 0 and result[parent])
    return result


def _shin(skeleton: Skeleton, worlds: Array, body: Body, limbs: Limbs, foot: int, feet: set[int]) -> int | None:
    """The joint of a limb in whose frame a foot wanders least, and little."""
    best, least = None, WANDERS * limbs.size
    for joint in np.flatnonzero((body.masses > 0) & ~limbs.trunk):
        if joint in feet:
            continue
        frames = worlds[:, joint]
        away = np.einsum("fji,fj->fi", frames[:, :3, :3], worlds[:, foot, :3, 3] - frames[:, :3, 3])
        away = away / np.maximum(np.linalg.norm(frames[:, :3, :3], axis=1), 1e-12)
        wanders = float(np.sqrt(away.var(axis=0).sum()))
        if wanders < least:
            best, least = int(joint), wanders
    return best
