"""A mapped motion of any character, made to stand: its contact schedule, its bodies, and the space-time solve.

The reference is the mapped motion, moved over the floor by the actor's momenta (`physics.momentum`). Its poses are kept
as closely as the mapping is sure of them: the standard deviation of orientations grows with the predictive one.

Contacts follow those of the actor by side, limb and role (`match_contacts`): a left toe follows the left toe, a
forefoot follows the hand where the actor's hands are contact points, and else the foot of its side. A figure on one
base follows both feet. It hops where the actor jumps or travels further than the base reaches; where the actor steps or
turns on the spot it tilts and pivots on the edge of its base, and else it leans over it. A figure that is never posed
in the air glides instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Character, Skeleton
from understudy.character.body.contacts import ContactPhases, hysteresis, runs
from understudy.character.body.joint_limits import FreeJoints, Limits, limit_boxes
from understudy.character.body.limbs import limbs_of
from understudy.character.body.mass import Body, body_height
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.transfer.bone_map import descendants
from understudy.transfer.physics.contact_schedule import ContactSchedule, centre_motion, find_schedule
from understudy.transfer.physics.figure import (
    BodySpec,
    Contacts,
    Figure,
    find_detached_feet,
    make_figure,
)
from understudy.transfer.physics.momentum import GRAVITY_M_S2
from understudy.transfer.physics.spacetime import MomentumGoals, SpacetimeResult, SpacetimeWeights, solve
from understudy.transfer.source import SourceMotion

Groups = tuple[tuple[int, ...], ...]
"""For each limb that is followed, its contacts: the limb is down while at least one of them is."""

MIN_FORE_HIND_SIZE_RATIO = 0.15  # of the size: least distance of fore and hind limbs
# Height of a contact of a mapped pose, over the character's height: below the first it is meant to be in contact, above
# the second it is not. Mapped feet float or sink by some hundredths, steps lift feet by a tenth or more.
FLOOR_HEIGHT_RATIO_ON, FLOOR_HEIGHT_RATIO_OFF = 0.06, 0.1
TRUNK_TRACKING_RAD, LEG_TRACKING_RAD = 0.06, 0.15  # standard deviation of world orientations at the key poses
TILT_CHANGE_RAD, HEADING_CHANGE_RAD = 0.2, 0.5  # of the whole figure
MIN_CHANGE_RAD, MAX_CHANGE_RAD = 0.02, 0.35  # of an axis: how much it is used in the pairs, within these
MIN_BODY_MASS_SHARE = 0.01  # of the whole, with all below: lighter joints (a jaw) ride on what carries them
UNCERTAINTY_RANGE = (0.7, 2.0)  # of the deviation of a frame, over that at the key poses
VELOCITY_DEVIATION_HEIGHTS_S = 0.02  # of the centre of mass: the reference was moved by the actor's momentum
HOP_REACH_RADII = 1.6  # of the base: steps that lead further are hops
SHUFFLE_REACH_RADII, SHUFFLE_TURN_RAD = 0.15, 0.1  # smaller steps are leant over
# Duration of a hop, in seconds and over that of the actor's step.
HOP_SECONDS, MAX_HOP_STEP_RATIO = 0.22, 0.7


@dataclass(frozen=True, eq=False)
class Creature:
    """What does not depend on the motion: the character, its masses, and how its joints are used in the pairs."""

    character: Character
    body: Body
    poses: PoseSequence  # of the pairs
    freedom: FreeJoints
    limits: Limits | None
    left_out: Array  # (J,) bool: limbs on springs and what trails

    @property
    def height(self) -> float:
        """Metres at rest."""
        return body_height(self.body, self.poses)


def solve_creature(
    placed: PoseSequence,
    creature: Creature,
    phases: ContactPhases,
    schedule: ContactSchedule | None,
    size: float,
    uncertainty: Array | None = None,
) -> SpacetimeResult:
    """The motion `placed` with its contacts kept.

    Args:
        placed: F mapped poses, moved over the floor.
        creature: The character.
        phases: When its contacts are down.
        schedule: Contacts and flights of the actor; None: unknown.
        size: Ratio of the sizes, character over actor.
        uncertainty: (F,) the deviation of the mapping over that at the key poses.

    Returns:
        The motion.
    """
    figure = creature_figure(placed, creature)
    flight = np.asarray(~phases.down.any(axis=1))
    contacts = _contacts(placed, creature, figure, phases, flight, schedule)
    factor = None if uncertainty is None else np.clip(uncertainty, *UNCERTAINTY_RANGE)
    goals = _goals(placed, creature, flight, schedule, size)
    weights = SpacetimeWeights(velocity=VELOCITY_DEVIATION_HEIGHTS_S)
    return solve(placed, figure, contacts, goals, uncertainty=factor, weights=weights)


def creature_figure(placed: PoseSequence, creature: Creature) -> Figure:
    """The bodies that turn in the pairs; the lowest joint that carries all of them is the first, and moves."""
    skeleton, body = creature.character.skeleton, creature.body
    parents = np.array(skeleton.parents)
    limbs = limbs_of(skeleton)
    for foot, shin in find_detached_feet(placed, body, limbs).items():
        parents[foot] = shin
    mass = np.where(creature.left_out, 0.0, body.masses)
    carried = np.stack([descendants(parents, j) for j in range(len(parents))])  # (J, J) by the first
    below = carried @ mass
    contact_joints = {contact.joint for contact in body.contacts}
    carries = np.asarray(carried[:, sorted(contact_joints)].any(axis=1))
    heavy = below > MIN_BODY_MASS_SHARE * mass.sum()
    turning = creature.freedom.turning & ~creature.left_out & (heavy | carries)
    everything = below >= (1 - 1e-9) * mass.sum()
    root = next((j for j in np.flatnonzero(everything).tolist() if creature.freedom.moving[j]), None)
    root = int(np.flatnonzero(everything)[0]) if root is None else root
    rest = PoseSequence.rest(skeleton).world[0]
    tilt = np.array([TILT_CHANGE_RAD, HEADING_CHANGE_RAD, TILT_CHANGE_RAD])
    specs = [BodySpec(root, TRUNK_TRACKING_RAD, tilt, transform.unscale(rest[root, :3, :3]))]
    for j in np.flatnonzero(turning & ~everything).tolist():
        if mass[j] <= 0 and j not in contact_joints:
            continue
        axes, change = _used_axes(creature, rest, j)
        if len(axes):
            is_leg = carries[j] and not limbs.trunk[j]
            specs.append(BodySpec(j, LEG_TRACKING_RAD if is_leg else TRUNK_TRACKING_RAD, change, axes))
    return make_figure(
        placed, creature.character, body, specs, parents=parents, left_out=creature.left_out, limits=creature.limits
    )


def find_phases(
    source: SourceMotion,
    source_body: Body | None,
    creature: Creature,
    local: PoseSequence,
    placed: PoseSequence,
) -> tuple[ContactPhases, ContactSchedule | None]:
    """When the character's contacts are down, and the schedule of the actor that they follow.

    A rearing horse has its forefeet in the air though both feet of the actor are planted: a contact is down while the
    actor's is, and the mapped pose has it near the floor. Without a skeleton of the actor, the character's own heights
    and speeds decide.
    """
    body, height = creature.body, creature.height
    positions = body.contact_positions(local.world)
    if source_body is None or source.poses is None or not source_body.contacts:
        motion = centre_motion(placed, body)
        own = find_schedule(
            positions, body.names, np.ones(len(body.names), bool), motion, source.rate, height,
        )  # fmt: skip
        return own.phases, None
    schedule = find_schedule(
        source_body.contact_positions(source.poses.world),
        source_body.names,
        np.array([not name.endswith(".hand") for name in source_body.names]),
        centre_motion(source.poses, source_body),
        source.rate,
        body_height(source_body, source.poses),
    )
    skeleton = creature.character.skeleton
    groups = match_contacts(body, skeleton, source_body, source.poses.skeleton, phases=schedule.phases)
    posed = body.contact_positions(creature.poses.world)[..., 1] / height
    heights = positions[..., 1] / height
    if groups and all(len(limbs) > 1 for limbs in groups):
        if bool((posed.min(axis=1) < FLOOR_HEIGHT_RATIO_ON).all()):
            return _gliding_phases(schedule, groups[0], body.names), schedule
        return _base_phases(schedule, groups[0], body, placed), schedule
    down = np.stack([_any_down(schedule, limbs) for limbs in groups], axis=1)
    down &= hysteresis(heights < FLOOR_HEIGHT_RATIO_ON, heights > FLOOR_HEIGHT_RATIO_OFF)
    lost = ~down.any(axis=1) & ~schedule.flight  # the actor stands: the lowest of its contacts does, too
    down[lost, heights[lost].argmin(axis=1)] = True
    return ContactPhases(body.names, down), schedule


def _any_down(schedule: ContactSchedule, limbs: Groups) -> Array:
    """(F,) whether any contact of any limb is down."""
    columns = [k for limb in limbs for k in limb]
    return np.asarray(schedule.phases.down[:, columns].any(axis=1))


def _gliding_phases(schedule: ContactSchedule, limbs: Groups, names: tuple[str, ...]) -> ContactPhases:
    """A figure that never leaves the floor: it is planted while all limbs of the actor are, and glides in steps."""
    planted = np.asarray(np.array([schedule.phases.down[:, list(limb)].any(axis=1) for limb in limbs]).all(axis=0))
    down = np.ones((len(planted), len(names)), bool)
    return ContactPhases(names, down, ~planted)


def _base_phases(schedule: ContactSchedule, limbs: Groups, body: Body, placed: PoseSequence) -> ContactPhases:
    """A figure on one base: up in flights; in a step of the actor it hops, or turns on the edge of its base, or stands.

    Which of them depends on how far the way and the heading lead from the stance before the step to that after it.
    """
    rate, frames = placed.rate, len(placed)
    points = body.contact_positions(placed.world)
    middle = points.mean(axis=1, keepdims=True)
    radius = float(np.linalg.norm((points - middle)[0][:, [0, 2]], axis=1).max())
    ahead = points[:, 0] - points[:, 1]
    heading = np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2]))
    across = np.stack([np.cos(heading), np.zeros(frames), -np.sin(heading)], axis=1)  # to the left
    sides = np.einsum("fkx,fx->fk", points - middle, across).mean(axis=0)
    down = np.repeat(~schedule.flight[:, None], len(body.names), axis=1)
    feet = [schedule.phases.down[:, list(limb)].any(axis=1) for limb in limbs]
    lefts = [_is_left(schedule.phases.names[limb[0]]) for limb in limbs]
    steps = sorted((a, b, left) for foot, left in zip(feet, lefts) for a, b in runs(~foot & ~schedule.flight))
    since = 0
    for number, (a, b, left) in enumerate(steps):
        if a == 0 or b >= frames or schedule.flight[max(a - 2, 0) : b + 2].any():
            since = b
            continue
        since = max(since, *(end for _, end in runs(schedule.flight) if end <= a), 0)
        until = next((start for start, _, _ in steps[number + 1 :] if start > b), frames - 1)
        before, after = slice(since, a + 1), slice(b, until + 1)
        far = float(np.linalg.norm((middle[after, 0].mean(axis=0) - middle[before, 0].mean(axis=0))[[0, 2]])) / radius
        turn = abs(float(heading[after].mean() - heading[before].mean()))
        if far > HOP_REACH_RADII:
            length = max(round(min(HOP_SECONDS * rate, MAX_HOP_STEP_RATIO * (b - a))), 3)
            first = (a + b - length) // 2
            down[first : first + length] = False
        elif far > SHUFFLE_REACH_RADII or turn > SHUFFLE_TURN_RAD:
            edge = np.abs(sides).max() * 0.5
            down[a:b] &= sides < -edge if left else sides > edge  # it stands on the side of the foot that stands
        else:
            continue
        since = b
    return ContactPhases(body.names, down)


def _is_left(name: str) -> bool:
    return name.lower().startswith("l")


def _used_axes(creature: Creature, rest: Array, joint: int) -> tuple[Array, Array]:
    """(k, 3) the axes of a joint in its frame, and (k,) how much each is used: of its limits, or of the pairs."""
    skeleton = creature.character.skeleton
    turns = quaternion.multiply(quaternion.conjugate(skeleton.rotations[joint]), creature.poses.rotations[:, joint])
    vectors = quaternion.to_rotation_vector(quaternion.unroll(turns[:, None])[:, 0])
    low, high, limited = limit_boxes(skeleton, creature.limits)
    if limited[joint]:
        axes = transform.unscale(rest[joint, :3, :3])[
            high[joint] > low[joint]
        ]  # rows: axes of the world in the joint's frame
        used = np.sqrt(np.square(vectors @ axes.T).mean(axis=0))
        return axes, np.clip(used, MIN_CHANGE_RAD, MAX_CHANGE_RAD)
    squares, axes = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    used = np.sqrt(np.maximum(squares, 0.0))
    kept = used > MIN_CHANGE_RAD
    return axes.T[kept], np.minimum(used[kept], MAX_CHANGE_RAD)


def _contacts(
    placed: PoseSequence,
    creature: Creature,
    figure: Figure,
    phases: ContactPhases,
    flight: Array,
    schedule: ContactSchedule | None,
) -> Contacts:
    bodies = np.array([max(figure.body_of(contact.joint), 0) for contact in creature.body.contacts], np.int64)
    offsets = figure.ride(placed, bodies, creature.body.contact_positions(placed.world))
    known = np.ones(len(placed), bool) if schedule is None else schedule.known | flight
    return Contacts(phases.names, bodies, offsets, np.array(phases.down), flight, known, phases.gliding)


def _goals(
    placed: PoseSequence, creature: Creature, flight: Array, schedule: ContactSchedule | None, size: float
) -> MomentumGoals:
    """The momentum of the reference; in flights of the actor its fall, scaled, and in other hops a parabola."""
    rate, gravity = placed.rate, size * GRAVITY_M_S2
    velocities = np.array(centre_motion(placed, creature.body.weighted(~creature.left_out)).velocities)
    falls = np.full(len(placed), gravity)
    for a, b in runs(flight):
        if schedule is not None and schedule.flight[a:b].mean() > 0.5:
            velocities[a:b, 1] = size * schedule.motion.velocities[a:b, 1]
            falls[a:b] = size * schedule.falls[a:b]
        else:
            times = (np.arange(b - a) - 0.5 * (b - a - 1)) / rate
            velocities[a:b, 1] = -gravity * times
    return MomentumGoals(velocities, None, falls, vertical_weight=1.0)


@dataclass(frozen=True, eq=False)
class _ContactRoles:
    """Side, limb and role of the K contact points of a body."""

    side: Array  # (K,) 1 left, -1 right, 0 middle
    limb: Array  # (K,) number of the limb
    fore: Array  # (K,) bool: the limb is ahead of another of its side, or is a hand
    along: Array  # (K,) metres ahead of the middle of the limb
    hand: Array  # (K,) bool


def match_contacts(
    target: Body,
    target_skeleton: Skeleton,
    source: Body,
    source_skeleton: Skeleton,
    given: Mapping[str, Iterable[str]] | None = None,
    phases: ContactPhases | None = None,
) -> tuple[Groups, ...]:
    """For each contact of the target the contacts of the source that it follows; `given` sets some, name -> names.

    With the `phases` of the source, hands that never touch the floor are not followed.
    """
    roles, source_roles = _roles(target, target_skeleton), _roles(source, source_skeleton)
    hands = source_roles.hand if phases is None else source_roles.hand & phases.down.any(axis=0)
    result = [_match(roles, k, source_roles, hands) for k in range(len(target.contacts))]
    for name, others in (given or {}).items():
        checks.one_of(name, "contact point", target.names)
        known = source.names
        picked = tuple(known.index(checks.one_of(other, "contact point of the source", known)) for other in others)
        result[target.names.index(name)] = (picked,) if picked else ()
    return tuple(result)


def _roles(body: Body, skeleton: Skeleton) -> _ContactRoles:
    limbs = limbs_of(skeleton)
    points = body.contact_positions(limbs.world[None])[0]
    joints = np.array([c.joint for c in body.contacts], np.int64)
    tops = limbs.top[joints]
    limb = np.unique(tops, return_inverse=True)[1].reshape(-1) if len(tops) else tops
    middles = np.array([points[limb == n].mean(axis=0) for n in range(limb.max(initial=-1) + 1)]).reshape(-1, 3)
    middle = middles[limb]
    side = limbs.sides(middle)
    hand = np.array([name.endswith(".hand") for name in body.names], bool)
    ahead = middle @ limbs.front
    hind = np.array([ahead[side == s].min() for s in side])
    fore = hand | (ahead > hind + MIN_FORE_HIND_SIZE_RATIO * limbs.size)
    return _ContactRoles(side, limb, fore, (points - middle) @ limbs.front, hand)


def _match(roles: _ContactRoles, k: int, source: _ContactRoles, hands: Array) -> Groups:
    wanted = hands if roles.fore[k] and hands.any() else ~source.hand
    if not wanted.any():
        wanted = np.ones(len(wanted), bool)
    side = roles.side[k]
    same = wanted & (source.side == side)
    if side == 0 or not same.any():  # in the middle, or the source has no such contact on this side: all of its limbs
        limbs = np.unique(source.limb[wanted])
        return tuple(tuple(np.flatnonzero(wanted & (source.limb == n)).tolist()) for n in limbs)
    alone = np.count_nonzero(roles.limb == roles.limb[k]) == 1
    if not alone:
        role = same & (np.sign(source.along) == np.sign(roles.along[k]))
        same = role if role.any() else same
    return (tuple(np.flatnonzero(same).tolist()),)
