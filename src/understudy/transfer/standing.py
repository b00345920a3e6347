"""Contact correction: contact points are still and on the floor while they are down [Yamane 2010, 5.2].

The steps, in their order; phases are known before (`contacts`, `contact_goals`):

    stance_of            what the figure stands on: legs, detached feet, or a base (`standing_base`)
    fit_root_path        shift the figure smoothly to where its legs can reach, and place its feet (`contact_goals`)
    find_contact_goals   contacts at these positions while down, corrected by eq. 9 in flight
    balance_over_feet    lean until the centre of mass is over the support polygon (`standing_feet`; legs only)
    reach_goals          bring contacts to their goals:
      on legs            toes straight and soles flat (`foot_flattening`), each foot rigid (`make_feet_rigid`), legs
                         turned within their limits, hips displaced where legs are too short (`ik.reach_with_limbs`),
                         detached feet placed
      on a base          the base is held, the rest sways or leans over it (`lean_over_base`), and it hops by its own
                         joint (`hop_with_joint`)

The step after this one, `dynamics` (5.3), puts flights on parabolas (`ballistic_flight`), displaces the figure, and
calls `reach_goals` again.

Sliding base. A figure on one base that is on the floor in all of its pairs, as a snake, glides: it does not hop for
each step of the actor, only where the actor is in the air. While the actor's feet are planted, the base keeps its form
and position; while the actor steps, it glides from that position to the next, from a to b as in eq. 9,

    g(t) = (1 - w) a + w b,    w = h^2 (3 - 2 h),    h = (t - t0) / (t1 - t0)

as on a tread or on the foot of a snail: the part that touches the floor rests on it while the body goes on. So friction
acts against slip beside this glide, not against the glide. The base is first made rigid and flat and put on the floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character.body import ik
from understudy.character.body.contacts import ContactPhases, runs
from understudy.character.body.ik import solve_ik
from understudy.character.body.joint_limits import FreeJoints, Limits
from understudy.character.body.markers import Markers
from understudy.character.body.mass import Body
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.maths.resample import gaussian_smooth
from understudy.transfer import standing_base
from understudy.transfer.contact_goals import (
    FLIGHT_POINT_WEIGHT,
    contact_distances,
    contact_weights,
    find_contact_goals,
    fit_root_path,
    make_feet_rigid,
    rigid_fit,
)
from understudy.transfer.standing_base import DetachedFoot, Stance, place_detached_feet, stance_of
from understudy.transfer.standing_feet import FootFlattening, balance_over_feet, foot_flattening

FLOOR_SMOOTHING_SECONDS = 0.05  # time constant of the shift that puts a sliding base on the floor
LEG_STRIDE_LENGTH_RATIO = 0.15  # displacement that legs alone make up for, over their length
MAX_SINK_SIZE_RATIO = 1e-3  # depth over the size: a point in flight that is deeper is lifted
SUNK_POINT_WEIGHT = 0.5  # of such a point, beside 1 for points that are down
# Weight of the hips' own position beside 1 for contact points: legs bend first, and where they cannot reach, feet miss
# by a hundredth of the hips' displacement.
ROOT_HOLD_WEIGHT = 1e-2
LEG_IK_STIFFNESS = 1e-5  # feet miss their goals by a tenth of a millimetre for a radian of bend


@dataclass(frozen=True, eq=False)
class SlidingBase:
    """When the base of a figure is planted, and how far it is on the glide from one position to the next."""

    stands: Array  # (F,) bool
    spans: list[tuple[int, int]]  # S, frames in which it is planted: first, one after the last
    before: Array  # (F,) the last span begun by each frame; the first span before any
    after: Array  # (F,) the next span not yet over at each frame; the last span after all
    share: Array  # (F,) w, 0 where it is planted

    @classmethod
    def from_phases(cls, phases: ContactPhases) -> SlidingBase | None:
        """None where nothing glides, or the base is never planted."""
        if phases.gliding is None:
            return None
        stands = np.asarray(phases.down.any(axis=1) & ~phases.gliding)
        spans = runs(stands)
        if not spans:
            return None
        frames = np.arange(len(stands))
        starts, ends = (np.array(edge) for edge in zip(*spans))
        before = np.maximum(np.searchsorted(starts, frames, side="right") - 1, 0)
        after = np.minimum(np.searchsorted(ends, frames, side="right"), len(spans) - 1)
        gap = np.maximum(starts[after] - ends[before] + 1, 1)
        h = np.where(before < after, (frames - ends[before] + 1) / gap, 0.0)
        return cls(stands, spans, before, after, h * h * (3 - 2 * h))

    def contact_path(self, places: Array) -> Array:
        """(F, K, 3) g for the positions (S, K, 3) of K contacts."""
        w = self.share[:, None, None]
        return np.asarray((1 - w) * places[self.before] + w * places[self.after])

    def standing_phases(self, names: tuple[str, ...]) -> ContactPhases:
        """The phases of contacts that are all planted together."""
        return ContactPhases(names, np.repeat(self.stands[:, None], len(names), axis=1))


def plant_contacts(
    poses: PoseSequence, body: Body, phases: ContactPhases, limits: Limits | None = None
) -> PoseSequence:
    """Poses whose contact points are still and on the floor while they are down; the rest follows smoothly."""
    used = np.flatnonzero(phases.down.any(axis=0))
    if not used.size or not len(poses):
        return poses
    if phases.gliding is not None:
        return _plant_sliding_base(poses, body, phases, limits)
    stance = stance_of(poses, body, phases)
    path = fit_root_path(poses, body, phases, stance)
    moved = poses.apply_transform(_translation_frames(path.shifts))
    points = body.contact_positions(moved.world)
    goals = find_contact_goals(points, phases, contact_distances(body, stance), path.places)
    if stance.base is None:
        moved = balance_over_feet(moved, body, phases, goals, stance.hips)
    return reach_goals(moved, body, phases, goals, limits, stance)


def _plant_sliding_base(poses: PoseSequence, body: Body, phases: ContactPhases, limits: Limits | None) -> PoseSequence:
    """Poses on the floor whose base is planted while the actor's feet are, and glides while the actor steps."""
    glides, stance = SlidingBase.from_phases(phases), stance_of(poses, body, phases)
    if glides is None or stance.base is None:
        return place_on_floor(poses, body, phases)
    poses = place_on_floor(
        flatten_base(hold_base_shape(poses, body, stance.base, glides), body, stance.base), body, phases
    )
    path = fit_root_path(poses, body, glides.standing_phases(phases.names), stance)
    moved = poses.apply_transform(_translation_frames(path.shifts))
    points = body.contact_positions(moved.world)
    goals = glides.contact_path(np.swapaxes(path.places.reshape(len(phases.names), -1, 3), 0, 1))
    lowest = points[..., 1].min(axis=1, keepdims=True)
    goals[..., 1] = points[..., 1] - np.where(phases.down.any(axis=1, keepdims=True), lowest, np.minimum(lowest, 0.0))
    return reach_goals(moved, body, phases, goals, limits, stance)


def _translation_frames(moves: Array) -> Array:
    """(F, 4, 4) translations by moves (F, 3)."""
    result = np.broadcast_to(np.eye(4), (len(moves), 4, 4)).copy()
    result[:, :3, 3] = moves
    return result


def reach_goals(
    poses: PoseSequence,
    body: Body,
    phases: ContactPhases,
    goals: Array,
    limits: Limits | None = None,
    stance: Stance | None = None,
    softness: tuple[float, ...] = ik.ROUND_SOFTNESS_RATIOS,
) -> PoseSequence:
    """Poses whose contact points come to goals (F, K, 3), by their legs or, where there are none, as a whole.

    `softness` as in `ik.reach_with_limbs`: the last of it suffices for poses whose points are almost there.
    """
    stance = stance_of(poses, body, phases) if stance is None else stance
    used, holds = np.flatnonzero(phases.down.any(axis=0)), contact_weights(phases, poses.rate)
    if stance.base is None:
        poses = foot_flattening(body, stance).flatten(poses, body, holds, goals)
    points = body.contact_positions(poses.world)
    goals = make_feet_rigid(points, goals, phases, holds, stance.hips)
    partly = phases.down.any(axis=1, keepdims=True) & ~phases.down
    if stance.base is None:
        reached = _reach_with_legs(poses, body, goals, used, stance, limits, holds, softness)
        sunk = (body.contact_positions(reached.world)[..., 1] < -MAX_SINK_SIZE_RATIO * stance.limbs.size) & ~phases.down
        if not sunk[:, used].any():
            return reached
        holds = np.maximum(holds, SUNK_POINT_WEIGHT * contact_weights(ContactPhases(phases.names, sunk), poses.rate))
        return _reach_with_legs(reached, body, goals, used, stance, limits, holds, ik.ROUND_SOFTNESS_RATIOS[-2:])
    weights = np.where(partly, FLIGHT_POINT_WEIGHT**2, holds)[:, used]
    held = _lift_above_floor(poses.apply_transform(rigid_fit(points[:, used], goals[:, used], weights)), body)
    swayed = standing_base.lean_over_base(held, poses, body, stance.limbs, stance.base, limits)
    return standing_base.hop_with_joint(swayed, stance.limbs, stance.base)


def _lift_above_floor(poses: PoseSequence, body: Body) -> PoseSequence:
    """Poses raised where a contact point is below the floor: a base that is not quite flat."""
    shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
    shift[:, 1, 3] = np.maximum(0.0, -body.contact_positions(poses.world)[..., 1].min(axis=1))
    return poses.apply_transform(shift)


def _reach_with_legs(
    poses: PoseSequence,
    body: Body,
    goals: Array,
    used: Array,
    stance: Stance,
    limits: Limits | None,
    holds: Array,
    softness: tuple[float, ...],
) -> PoseSequence:
    """Turn the limbs of the contact points, move the root where they cannot reach, and place detached feet."""
    skeleton, feet = poses.skeleton, stance.feet
    soles = foot_flattening(body, stance)
    points, sides = body.contact_positions(poses.world), soles.positions(poses)
    flat, level = soles.goals(points, goals, sides, holds)
    detached = {k for foot in feet for k in foot.contacts}
    on_legs = np.array([k for k in used if k not in detached], np.int64)
    standing = [n for n, pair in enumerate(soles.contacts) if pair[0] in on_legs]
    moves = _detached_foot_frames((points, sides), (goals, flat), (holds, level), feet, soles)
    origins = poses.world[:, np.array([foot.joint for foot in feet], np.int64)][..., :3, 3]
    rigid = soles.rigid(body, skeleton)
    carriers = np.array([*rigid[on_legs], *soles.joints[standing], *(foot.shin for foot in feet)], np.int64)
    turning = np.zeros(len(skeleton), bool)
    for joint in carriers:
        chain = skeleton.ancestors(int(joint))
        turning[[j for j in chain if not stance.limbs.trunk[j] and skeleton.parents[j] >= 0]] = True
    firm = [holds[:, on_legs], level[:, standing], *(holds[:, foot.contacts].max(axis=1)[:, None] for foot in feet)]
    reached = ik.reach_with_limbs(
        poses,
        np.flatnonzero(turning),
        carriers,
        np.concatenate([points[:, on_legs], sides[:, standing], origins], axis=1),
        np.concatenate([goals[:, on_legs], flat[:, standing], transform.apply(moves, origins)], axis=1),
        limits,
        np.concatenate(firm, axis=1),
        softness=softness,
    )
    if reached is None:
        reached = _reach_with_ik(poses, body, goals, on_legs, turning, limits) if on_legs.size else poses
    return place_detached_feet(poses, reached, feet, moves) if feet else reached


def _detached_foot_frames(
    points: tuple[Array, Array],
    goals: tuple[Array, Array],
    holds: tuple[Array, Array],
    feet: tuple[DetachedFoot, ...],
    soles: FootFlattening,
) -> Array:
    """(F, n, 4, 4) rigid motions of the detached feet, which bring their points that are down to their goals.

    Points, goals and holds are those of contacts and of soles.
    """
    result = np.broadcast_to(np.eye(4), (len(points[0]), len(feet), 4, 4)).copy()
    for n, foot in enumerate(feet):
        contacts = list(foot.contacts)
        sides = [m for m, pair in enumerate(soles.contacts) if pair[0] in foot.contacts]
        start, end = (np.concatenate([both[0][:, contacts], both[1][:, sides]], axis=1) for both in (points, goals))
        weights = np.concatenate([holds[0][:, contacts], holds[1][:, sides]], axis=1)
        result[:, n] = rigid_fit(start, end, weights**2)
    return result


def _reach_with_ik(
    poses: PoseSequence, body: Body, goals: Array, used: Array, turning: Array, limits: Limits | None
) -> PoseSequence:
    """`_reach_with_legs` by the general solver, where there is no compiled code."""
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
    weights = np.concatenate([np.ones(len(used)), [ROOT_HOLD_WEIGHT * len(used)]])
    freedom = FreeJoints(turning, np.arange(len(poses.skeleton)) == root)
    return solve_ik(
        markers,
        poses.skeleton,
        points,
        start=poses,
        limits=limits,
        weights=weights,
        freedom=freedom,
        stiffness=LEG_IK_STIFFNESS,
        rate=poses.rate,
    )


def hold_base_shape(poses: PoseSequence, body: Body, base: int, glides: SlidingBase) -> PoseSequence:
    """Poses whose base keeps its form while planted: joints between it and its contacts turn only in a glide."""
    skeleton = poses.skeleton
    above = [skeleton.ancestors(contact.joint) for contact in body.contacts]
    joints = sorted({j for chain in above if base in chain for j in chain[: chain.index(base)]})
    if not joints:
        return poses
    turns = quaternion.unroll(poses.rotations[:, joints])
    mean = quaternion.normalise(np.array([turns[a:b].mean(axis=0) for a, b in glides.spans]))
    rotations = np.array(poses.rotations)
    rotations[:, joints] = quaternion.slerp(mean[glides.before], mean[glides.after], glides.share[:, None])
    return PoseSequence(skeleton, poses.translations, rotations, poses.rate)


def flatten_base(poses: PoseSequence, body: Body, base: int) -> PoseSequence:
    """Poses whose base lies as flat as its contacts can: the base alone is turned, about their middle."""
    points = body.contact_positions(poses.world)
    middle = points.mean(axis=1, keepdims=True)
    level = points * np.array([1.0, 0.0, 1.0]) + middle * np.array([0.0, 1.0, 0.0])
    moves = rigid_fit(points, level, np.ones(points.shape[:2]))
    parent = int(poses.skeleton.parents[base])
    if parent < 0:
        return poses.apply_transform(moves)
    translations, rotations = np.array(poses.translations), np.array(poses.rotations)
    local = transform.invert(poses.world[:, parent]) @ moves @ poses.world[:, base]
    translations[:, base], rotations[:, base], _ = transform.decompose(local)
    return PoseSequence(poses.skeleton, translations, quaternion.unroll(rotations), poses.rate)


def place_on_floor(poses: PoseSequence, body: Body, phases: ContactPhases) -> PoseSequence:
    """Poses raised and lowered as a whole, so that the lowest contact is on the floor, and never below it."""
    used = np.flatnonzero(phases.down.any(axis=0))
    lowest = body.contact_positions(poses.world)[:, used, 1].min(axis=1)
    wanted = np.where(phases.down.any(axis=1), -lowest, np.maximum(-lowest, 0.0))
    shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
    shift[:, 1, 3] = np.maximum(gaussian_smooth(wanted[:, None], FLOOR_SMOOTHING_SECONDS * poses.rate)[:, 0], -lowest)
    return poses.apply_transform(shift)


def never_airborne(heights: Array, near: float) -> bool:
    """Whether every pose has a contact lower than `near`, heights (N, K): a figure never posed in the air."""
    return bool(heights.size) and bool((heights.min(axis=1) < near).all())


def slide_velocities(points: Array, phases: ContactPhases, rate: float) -> Array:
    """(F - 1, K, 3) metres a second along the floor, the intended velocities of contacts (F, K, 3): g' in a glide."""
    level = points * np.array([1.0, 0.0, 1.0])
    steps = np.asarray(np.diff(level, axis=0) * rate)
    glides = SlidingBase.from_phases(phases)
    if glides is None:  # never planted: all motion is intended; never gliding: none is
        return steps if phases.gliding is not None else np.zeros(steps.shape)
    starts, ends = (np.array(edge) for edge in zip(*glides.spans))
    before, after = glides.before[:-1], glides.after[1:]
    arrived = np.where(glides.stands[1:] & (before < after), 1.0, glides.share[1:])
    far = level[starts[after]] - level[ends[before] - 1]
    return (rate * (arrived - glides.share[:-1]))[:, None, None] * far
