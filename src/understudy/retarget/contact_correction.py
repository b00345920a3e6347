"""Feet that stand: poses corrected so that contact points are still and on the floor while down [Yamane 2010, 5.2].

All that is done for it, in this order; phases are known before (`contacts`, `correspondence`):

    stance_of       what it stands on: legs, feet that hang on no leg (`loose_feet`), or a base
    spanned_way     the figure shifted smoothly to where its legs can span, and places for its feet (`contact_path`)
    contact_goals   contacts at these places while down, corrected by eq. 9 in flight
    balanced        who stands still leans until the weight is above the feet (`balance`; legs only)
    reaching        brings contacts to their goals:
      on legs       toes straight and soles flat (`soles`), one foot moves as one (`as_feet`), legs turn within their
                    limits and hips give way where they are too short (`leg_reach`), loose feet are placed
      on a base     it is held, what it carries sways or leans over it, and it hops by its own joint (`contact_sway`)

What glides (`glide`) has its base made firm and flat and put on the floor first, and its goals go from place to place
instead. The step after this one, `realism` (5.3), puts flights on parabolas (`flights`), displaces the figure, and
calls `reaching` again.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import transform
from understudy.retarget import contact_sway, leg_reach
from understudy.retarget.balance import balanced
from understudy.retarget.body import Body
from understudy.retarget.contact_goals import LOOSE, as_feet, contact_goals, distances, firmness, rigid_fit
from understudy.retarget.contact_path import spanned_way
from understudy.retarget.contacts import Phases
from understudy.retarget.freedom import Freedom, Limits
from understudy.retarget.glide import Glides, firm, flat, on_floor
from understudy.retarget.ik import solve_ik
from understudy.retarget.loose_feet import LooseFoot, placed
from understudy.retarget.markers import Markers
from understudy.retarget.poses import Poses
from understudy.retarget.soles import Soles, soles_of
from understudy.retarget.stance import Stance, stance_of

STRIDE = 0.15  # of a leg's length: what legs alone make up for
DEEP = 1e-3  # of the size: a point in flight that is lower is lifted
CLEAR = 0.5  # beside the 1 of points that are down: how much such a point has to say
# Beside contact points that weigh 1: hips hold their place with this, so that legs bend first, and where they cannot
# reach, feet miss by a hundredth of what the hips give way.
HOLD = 1e-2
STIFFNESS = 1e-5  # feet miss their goals by a tenth of a millimetre for a radian that a leg is bent


def corrected(poses: Poses, body: Body, phases: Phases, limits: Limits | None = None) -> Poses:
    """Poses whose contact points stand still on the floor while they are down; all of the rest follows smoothly."""
    used = np.flatnonzero(phases.down.any(axis=0))
    if not used.size or not len(poses):
        return poses
    if phases.gliding is not None:
        return _gliding(poses, body, phases, limits)
    stance = stance_of(poses, body, phases)
    way = spanned_way(poses, body, phases, stance)
    moved = poses.moved(_shifts(way.shifts))
    goals = contact_goals(body.contact_positions(moved.world), phases, distances(body, stance), way.places)
    if stance.base is None:
        moved = balanced(moved, body, phases, goals, stance.hips)
    return reaching(moved, body, phases, goals, limits, stance)


def _gliding(poses: Poses, body: Body, phases: Phases, limits: Limits | None) -> Poses:
    """Poses on the floor whose base stands where the actor does, and glides from place to place while he steps."""
    glides, stance = Glides.of(phases), stance_of(poses, body, phases)
    if glides is None or stance.base is None:
        return on_floor(poses, body, phases)
    poses = on_floor(flat(firm(poses, body, stance.base, glides), body, stance.base), body, phases)
    way = spanned_way(poses, body, glides.standing(phases.names), stance)
    moved = poses.moved(_shifts(way.shifts))
    points = body.contact_positions(moved.world)
    goals = glides.way(np.swapaxes(way.places.reshape(len(phases.names), -1, 3), 0, 1))
    lowest = points[..., 1].min(axis=1, keepdims=True)
    goals[..., 1] = points[..., 1] - np.where(phases.down.any(axis=1, keepdims=True), lowest, np.minimum(lowest, 0.0))
    return reaching(moved, body, phases, goals, limits, stance)


def _shifts(moves: Array) -> Array:
    """(F, 4, 4) motions of the whole by moves (F, 3)."""
    result = np.broadcast_to(np.eye(4), (len(moves), 4, 4)).copy()
    result[:, :3, 3] = moves
    return result


def reaching(
    poses: Poses,
    body: Body,
    phases: Phases,
    goals: Array,
    limits: Limits | None = None,
    stance: Stance | None = None,
    softness: tuple[float, ...] = leg_reach.SOFT,
) -> Poses:
    """Poses whose contact points come to goals (F, K, 3), by their legs or, where there are none, as a whole.

    `softness` as in `leg_reach`: the last of it suffices for poses whose points are almost there.
    """
    stance = stance_of(poses, body, phases) if stance is None else stance
    used, holds = np.flatnonzero(phases.down.any(axis=0)), firmness(phases, poses.rate)
    if stance.base is None:
        poses = soles_of(body, stance).straightened(poses, body, holds, goals)
    points = body.contact_positions(poses.world)
    goals = as_feet(points, goals, phases, holds, stance.hips)
    partly = phases.down.any(axis=1, keepdims=True) & ~phases.down
    if stance.base is None:
        found = _with_legs(poses, body, goals, used, stance, limits, holds, softness)
        sunk = (body.contact_positions(found.world)[..., 1] < -DEEP * stance.limbs.size) & ~phases.down
        if not sunk[:, used].any():
            return found
        holds = np.maximum(holds, CLEAR * firmness(Phases(phases.names, sunk), poses.rate))
        return _with_legs(found, body, goals, used, stance, limits, holds, leg_reach.SOFT[-2:])
    weights = np.where(partly, LOOSE**2, holds)[:, used]
    held = _lifted(poses.moved(rigid_fit(points[:, used], goals[:, used], weights)), body)
    swayed = contact_sway.swayed(held, poses, body, stance.limbs, stance.base, limits)
    return contact_sway.hopping(swayed, stance.limbs, stance.base)


def _lifted(poses: Poses, body: Body) -> Poses:
    """Raised where a contact point is below the floor: a base that was said to be flat, and is not."""
    shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
    shift[:, 1, 3] = np.maximum(0.0, -body.contact_positions(poses.world)[..., 1].min(axis=1))
    return poses.moved(shift)


def _with_legs(
    poses: Poses,
    body: Body,
    goals: Array,
    used: Array,
    stance: Stance,
    limits: Limits | None,
    holds: Array,
    softness: tuple[float, ...],
) -> Poses:
    """The limbs of the contact points turn, and the root moves where they cannot reach. Loose feet are placed."""
    skeleton, feet = poses.skeleton, stance.feet
    soles = soles_of(body, stance)
    points, sides = body.contact_positions(poses.world), soles.positions(poses)
    flat, level = soles.goals(points, goals, sides, holds)
    loose = {k for foot in feet for k in foot.contacts}
    on_legs = np.array([k for k in used if k not in loose], np.int64)
    standing = [n for n, mine in enumerate(soles.contacts) if mine[0] in on_legs]
    moves = _moves((points, sides), (goals, flat), (holds, level), feet, soles)
    origins = poses.world[:, np.array([foot.joint for foot in feet], np.int64)][..., :3, 3]
    rigid = soles.rigid(body, skeleton)
    carriers = np.array([*rigid[on_legs], *soles.joints[standing], *(foot.shin for foot in feet)], np.int64)
    turning = np.zeros(len(skeleton), bool)
    for joint in carriers:
        chain = skeleton.ancestors(int(joint))
        turning[[j for j in chain if not stance.limbs.trunk[j] and skeleton.parents[j] >= 0]] = True
    firm = [holds[:, on_legs], level[:, standing], *(holds[:, foot.contacts].max(axis=1)[:, None] for foot in feet)]
    found = leg_reach.reach(
        poses,
        np.flatnonzero(turning),
        carriers,
        np.concatenate([points[:, on_legs], sides[:, standing], origins], axis=1),
        np.concatenate([goals[:, on_legs], flat[:, standing], transform.apply(moves, origins)], axis=1),
        limits,
        np.concatenate(firm, axis=1),
        softness=softness,
    )
    if found is None:
        found = _by_ik(poses, body, goals, on_legs, turning, limits) if on_legs.size else poses
    return placed(poses, found, feet, moves) if feet else found


def _moves(
    points: tuple[Array, Array],
    goals: tuple[Array, Array],
    holds: tuple[Array, Array],
    feet: tuple[LooseFoot, ...],
    soles: Soles,
) -> Array:
    """(F, n, 4, 4) how each loose foot is moved: what is down of it goes to its goal, as far as it is rigid.

    Points, goals and holds are those of contacts and of soles.
    """
    result = np.broadcast_to(np.eye(4), (len(points[0]), len(feet), 4, 4)).copy()
    for n, foot in enumerate(feet):
        mine, sides = list(foot.contacts), [m for m, pair in enumerate(soles.contacts) if pair[0] in foot.contacts]
        here, there = (np.concatenate([both[0][:, mine], both[1][:, sides]], axis=1) for both in (points, goals))
        result[:, n] = rigid_fit(here, there, np.concatenate([holds[0][:, mine], holds[1][:, sides]], axis=1) ** 2)
    return result


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
