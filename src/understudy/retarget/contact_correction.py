"""Feet that stand: poses corrected so that contact points are still and on the floor while down [Yamane 2010, 5.2].

The figure is first moved as a whole, smoothly, by what all contact points have in common; then the legs reach for the
goals of `contact_goals` by inverse kinematics, within their limits. The hips give way only as far as legs are too
short. A figure whose contact points hang on its root, with no leg between, is held there and sways (`contact_sway`).
"""

from __future__ import annotations

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.retarget import contact_sway, leg_reach
from understudy.retarget.body import Body
from understudy.retarget.contact_goals import LOOSE, as_feet, contact_goals, distances, firmness, rigid_fit
from understudy.retarget.contact_path import spanned_way
from understudy.retarget.contacts import Phases
from understudy.retarget.freedom import Freedom, Limits
from understudy.retarget.ik import solve_ik
from understudy.retarget.limbs import Limbs, limbs_of
from understudy.retarget.markers import Markers
from understudy.retarget.poses import Poses

STRIDE = 0.15  # of a leg's length: what legs alone make up for
# Beside contact points that weigh 1: hips hold their place with this, so that legs bend first, and where they cannot
# reach, feet miss by a hundredth of what the hips give way.
HOLD = 1e-2
STIFFNESS = 1e-5  # feet miss their goals by a tenth of a millimetre for a radian that a leg is bent


def corrected(poses: Poses, body: Body, phases: Phases, limits: Limits | None = None) -> Poses:
    """Poses whose contact points stand still on the floor while they are down; all of the rest follows smoothly."""
    used = np.flatnonzero(phases.down.any(axis=0))
    if not used.size or not len(poses):
        return poses
    limbs = limbs_of(poses.skeleton)
    way = spanned_way(poses, body, phases, limbs, _length(body, phases, limbs))
    moved = poses.moved(_shifts(way.shifts))
    goals = contact_goals(body.contact_positions(moved.world), phases, distances(body, limbs), way.places)
    return reaching(moved, body, phases, goals, limits)


def _length(body: Body, phases: Phases, limbs: Limbs) -> float | None:
    """Metres, of a figure that stands on no legs."""
    if not has_no_legs(limbs.skeleton, body, phases):
        return None
    return contact_sway.length_of(body, limbs, _base(body, phases))


def leg_length(skeleton: Skeleton, body: Body, phases: Phases) -> float:
    """Metres at rest between what stands on the floor and what it carries."""
    limbs = limbs_of(skeleton)
    length = _length(body, phases, limbs)
    if length is not None:
        return length
    tops = limbs.top[[contact.joint for contact in body.contacts]]
    points = body.contact_positions(limbs.world[None])[0]
    return float(np.linalg.norm(points - limbs.world[tops, :3, 3], axis=1).mean())


def _base(body: Body, phases: Phases) -> int:
    """What a figure without legs stands on."""
    return body.contacts[int(np.flatnonzero(phases.down.any(axis=0))[0])].joint


def _shifts(moves: Array) -> Array:
    """(F, 4, 4) motions of the whole by moves (F, 3)."""
    result = np.broadcast_to(np.eye(4), (len(moves), 4, 4)).copy()
    result[:, :3, 3] = moves
    return result


def reaching(poses: Poses, body: Body, phases: Phases, goals: Array, limits: Limits | None = None) -> Poses:
    """Poses whose contact points come to goals (F, K, 3), by their legs or, where there are none, as a whole."""
    used = np.flatnonzero(phases.down.any(axis=0))
    points, holds = body.contact_positions(poses.world), firmness(phases, poses.rate)
    limbs = limbs_of(poses.skeleton)
    tops = limbs.top[[contact.joint for contact in body.contacts]]
    goals = as_feet(points, goals, phases, holds, tops)
    if not has_no_legs(poses.skeleton, body, phases):
        return _with_legs(poses, body, goals, used, limbs, limits, holds)
    partly = phases.down.any(axis=1, keepdims=True) & ~phases.down
    weights = np.where(partly, LOOSE**2, holds)[:, used]
    held = _lifted(poses.moved(rigid_fit(points[:, used], goals[:, used], weights)), body)
    return contact_sway.swayed(held, poses, body, limbs, _base(body, phases), limits)


def has_no_legs(skeleton: Skeleton, body: Body, phases: Phases) -> bool:
    """Whether nothing that weighs anything stands between the contacts that are ever down and the root."""
    used = np.flatnonzero(phases.down.any(axis=0))
    return not any(body.masses[skeleton.ancestors(body.contacts[k].joint)[1:]].any() for k in used)


def _lifted(poses: Poses, body: Body) -> Poses:
    """Raised where a contact point is below the floor: a base that was said to be flat, and is not."""
    shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
    shift[:, 1, 3] = np.maximum(0.0, -body.contact_positions(poses.world)[..., 1].min(axis=1))
    return poses.moved(shift)


def _with_legs(
    poses: Poses, body: Body, goals: Array, used: Array, limbs: Limbs, limits: Limits | None, holds: Array
) -> Poses:
    """The limbs of the contact points turn, and the root moves where they cannot reach."""
    skeleton = poses.skeleton
    joints = np.array([body.contacts[k].joint for k in used], np.int64)
    turning = np.zeros(len(skeleton), bool)
    for joint in joints:
        chain = skeleton.ancestors(int(joint))
        turning[[j for j in chain if not limbs.trunk[j] and skeleton.parents[j] >= 0]] = True
    points = body.contact_positions(poses.world)[:, used]
    found = leg_reach.reach(poses, np.flatnonzero(turning), joints, points, goals[:, used], limits, holds[:, used])
    return _by_ik(poses, body, goals, used, turning, limits) if found is None else found


def _by_ik(poses: Poses, body: Body, goals: Array, used: Array, turning: Array, limits: Limits | None) -> Poses:
    """The same by the general solver, where there is no compiled code."""
    joints = np.array([body.contacts[k].joint for k in used], np.int64)
    root = poses.skeleton.ancestors(int(joints[0]))[-1]
    markers = Markers(
        (*(body.contacts[k].name for k in used), "root"),
        np.concatenate([joints, [root]]),
        np.concatenate([[body.contacts[k].offset for k in used], np.zeros((1, 3))]),
        root,
        np.array([0.0, 0.0, 1.0]),
        np.array([0.0, 1.0, 0.0]),
    )
    points = np.concatenate([goals[:, used], poses.world[:, root, None, :3, 3]], axis=1)
    weights = np.concatenate([np.ones(len(used)), [HOLD * len(used)]])
    freedom = Freedom(turning, np.arange(len(poses.skeleton)) == root)
    return solve_ik(
        markers,
        poses.skeleton,
        points,
        start=poses,
        limits=limits,
        weights=weights,
        freedom=freedom,
        stiffness=STIFFNESS,
        rate=poses.rate,
    )
