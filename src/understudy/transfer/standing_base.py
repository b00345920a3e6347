"""What a figure stands on: legs, feet that hang on no leg, or a base; and how a figure sways over its base.

Detached feet. Rigs with baked inverse kinematics animate foot and leg apart. Such a foot is a small part of the body
with no mass above it in the tree. It is moved rigidly to where its contact points should be, by its own translation and
rotation; its leg is the chain down to the joint in whose frame the foot drifts least, and turns until the foot is where
it was in that joint's frame (`ik.reach_with_limbs`).

Base. The lamp stands on its base, which is its root. While the base is planted the head goes on along the path that the
actor's momentum asks for, as far as the arm lets it; before a jump it sinks, and after one it is caught. The joints
between, turned by t, minimise

    sum_p |p - p^|^2 / soft + |t|^2

for three points p of the heaviest link far from the base, and p^ where they would be if the whole figure moved without
its base being held (`ik.reach_with_limbs`, with the base in place of the hips), but not below the floor.

Rigs as the lamp's hop by a joint between the root and the base, and other parts of the root, as a cord, stay on the
floor. There the root moves along the floor, and that joint does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skeleton
from understudy.character.body import ik
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.ik import world_rotations
from understudy.character.body.joint_limits import Limits
from understudy.character.body.limbs import Limbs, limbs_of
from understudy.character.body.mass import Body
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.maths.resample import gaussian_smooth

MIN_SWAY_MASS_RATIO = 0.1  # of the body's mass: lighter links do not sway for balance
MIN_MOVE_SIZE_RATIO = 1e-3  # of the size: a joint whose translation changes by more is animated by the rig
# `soft` over the squared length: a tenth of the length costs as much as a radian of one joint.
SWAY_SOFTNESS_RATIO = 1e-2
MAX_LEAN_RATIO = 0.2  # over the distance from the base to the centre of the rest: 11 degrees, or as much stretch
LEAN_SMOOTHING_SECONDS = 0.15  # in which a lean beyond the limit is taken off
MAX_TWIST_RAD = 0.5  # about the vertical, of the rest over its base
HEAD_POINT_SPACING_RATIO = 0.2  # of the length: distance between the points that fix the head's direction
MAX_FOOT_MASS_RATIO = 0.15  # of the body's mass: a foot with all below it
MAX_FOOT_DRIFT_HEIGHT_RATIO = 0.06  # of the height: drift of a foot in the frame of its leg
SAMPLE_FRAMES = 64  # frames over which that drift is measured
MIN_LEG_HEIGHT_SIZE_RATIO = 0.05  # of the size: a limb that begins lower above the floor is no leg


@dataclass(frozen=True)
class DetachedFoot:
    """A foot that hangs on no leg, and the leg that it belongs to."""

    joint: int  # the first of the foot, which is placed
    contacts: tuple[int, ...]  # of the body, on it or below it
    shin: int  # the last joint of its leg


@dataclass(frozen=True, eq=False)
class Stance:
    """How a figure stands, for contact correction."""

    limbs: Limbs
    feet: tuple[DetachedFoot, ...]
    hips: Array  # (K,) the joint that each contact's leg begins with
    lengths: Array  # (K,) metres at rest from there to the contact
    base: int | None  # the joint on which a figure without legs stands
    carried: float = 1.0  # of the body's mass: all but the base

    @property
    def length(self) -> float:
        """Mean length from the contacts to the hips, or from the base to the top, metres."""
        return float(self.lengths.mean())


def stance_of(poses: PoseSequence, body: Body, phases: ContactPhases) -> Stance:
    """How a figure stands in a motion."""
    limbs = limbs_of(poses.skeleton)
    feet = find_detached_feet(poses, body, limbs)
    hips = limbs.top[np.array([contact.joint for contact in body.contacts], np.int64)]
    for foot in feet:
        hips[list(foot.contacts)] = limbs.top[foot.shin]
    points = body.contact_positions(limbs.world[None])[0]
    lengths = np.linalg.norm(points - limbs.world[hips, :3, 3], axis=1)
    low = limbs.world[hips, 1, 3] - points[:, 1] < MIN_LEG_HEIGHT_SIZE_RATIO * limbs.size
    glides = phases.gliding is not None
    if not glides and (feet or not (low.all() or has_no_legs(poses.skeleton, body, phases))):
        return Stance(limbs, feet, hips, lengths, None)
    base = body.contacts[int(np.flatnonzero(phases.down.any(axis=0))[0])].joint
    if glides:  # the first joint with mass: the whole of a winding tail
        base = [j for j in poses.skeleton.ancestors(base) if body.masses[j] > 0][-1]
    lengths = np.full(len(points), length_of(body, limbs, base))
    carried = 1 - float(body.masses[base] / body.mass)
    return Stance(limbs, feet, hips, lengths, base, carried)


def has_no_legs(skeleton: Skeleton, body: Body, phases: ContactPhases) -> bool:
    """Whether no joint with mass lies between the contacts that are ever down and the root."""
    used = np.flatnonzero(phases.down.any(axis=0))
    return not any(body.masses[skeleton.ancestors(body.contacts[k].joint)[1:]].any() for k in used)


def find_detached_feet(poses: PoseSequence, body: Body, limbs: Limbs) -> tuple[DetachedFoot, ...]:
    """The feet of a figure that hang on no leg, with their legs."""
    skeleton = poses.skeleton
    by_foot: dict[int, list[int]] = {}
    for k, contact in enumerate(body.contacts):
        joint = _highest_with_mass(skeleton, body, contact.joint)
        if body.masses[_subtree(skeleton, joint)].sum() < MAX_FOOT_MASS_RATIO * body.mass:
            by_foot.setdefault(joint, []).append(k)
    feet = set().union(*(np.flatnonzero(_subtree(skeleton, joint)).tolist() for joint in by_foot))
    picked = np.linspace(0, len(poses) - 1, min(SAMPLE_FRAMES, len(poses))).astype(np.int64)
    worlds = poses.world[picked]
    shins = {joint: _shin(skeleton, worlds, body, limbs, joint, feet) for joint in by_foot}
    return tuple(
        DetachedFoot(joint, tuple(contacts), shin)
        for joint, contacts in by_foot.items()
        if (shin := shins[joint]) is not None
    )


def place_detached_feet(
    poses: PoseSequence, moved: PoseSequence, feet: tuple[DetachedFoot, ...], frames: Array
) -> PoseSequence:
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
    return PoseSequence(skeleton, translations, quaternion.unroll(rotations), poses.rate)


def _highest_with_mass(skeleton: Skeleton, body: Body, joint: int) -> int:
    """The highest ancestor with mass, or the joint itself where there is none."""
    heavy = [j for j in skeleton.ancestors(joint) if body.masses[j] > 0]
    return int(heavy[-1]) if heavy else joint


def _subtree(skeleton: Skeleton, joint: int) -> Array:
    """(J,) whether a joint is this one or below it."""
    result = np.zeros(len(skeleton), bool)
    for j, parent in enumerate(skeleton.parents):
        result[j] = j == joint or (parent >= 0 and result[parent])
    return result


def _shin(skeleton: Skeleton, worlds: Array, body: Body, limbs: Limbs, foot: int, feet: set[int]) -> int | None:
    """The joint of a limb in whose frame a foot drifts least; None where it drifts too much in all."""
    best, least = None, MAX_FOOT_DRIFT_HEIGHT_RATIO * limbs.size
    for joint in np.flatnonzero((body.masses > 0) & ~limbs.trunk):
        if joint in feet:
            continue
        frames = worlds[:, joint]
        away = np.einsum("fji,fj->fi", frames[:, :3, :3], worlds[:, foot, :3, 3] - frames[:, :3, 3])
        away = away / np.maximum(np.linalg.norm(frames[:, :3, :3], axis=1), 1e-12)
        drift = float(np.sqrt(away.var(axis=0).sum()))
        if drift < least:
            best, least = int(joint), drift
    return best


def lean_over_base(
    poses: PoseSequence, wanted: PoseSequence, body: Body, limbs: Limbs, base: int, limits: Limits | None
) -> PoseSequence:
    """Poses whose base stays, and whose top is drawn to where `wanted` has it; unchanged without compiled code."""
    top = top_of(body, limbs, base)
    if top == base:
        return _lean_beside_base(poses, wanted, body, base)
    chain = [j for j in poses.skeleton.ancestors(top) if base in poses.skeleton.ancestors(j)[1:]]
    length = length_of(body, limbs, base)
    if not chain or length <= 0:
        return poses
    points, goals = (_top_points(p, body, limbs, top, HEAD_POINT_SPACING_RATIO * length) for p in (poses, wanted))
    lowest = np.minimum(points[:, 0, 1], _radius(body, limbs, top))
    goals[..., 1] += np.maximum(lowest - goals[:, 0, 1], 0.0)[:, None]
    carriers = np.full(points.shape[1], top)
    leaned = ik.reach_with_limbs(
        poses, np.array(chain), carriers, points, goals, limits, give=None, softness=(SWAY_SOFTNESS_RATIO,)
    )
    return poses if leaned is None else leaned


def _lean_beside_base(poses: PoseSequence, wanted: PoseSequence, body: Body, base: int) -> PoseSequence:
    """Poses whose base stays, while all joints beside it lean and turn over it to where `wanted` has them.

    The lean is about p, midway between the base and the nearest joint of the rest: of its centre c, wanted at c + d,
    with d made shorter than a share of r = c - p, the level part is reached by a rotation, the height by a shift.
    """
    skeleton, beside = poses.skeleton, _joints_beside(poses.skeleton, base)
    if body.masses[beside].sum() <= MIN_SWAY_MASS_RATIO * body.mass:
        return poses
    centres, goals = (_centres(p.world, body, beside) for p in (poses, wanted))
    heavy = np.flatnonzero(beside & (body.masses > 0))
    away = poses.world[:, heavy][..., :3, 3] - poses.world[:, [base]][..., :3, 3]
    near = heavy[np.linalg.norm(away, axis=2).mean(axis=0).argmin()]
    foot = 0.5 * (poses.world[:, base, :3, 3] + poses.world[:, near, :3, 3])
    arm = centres - foot
    far = np.linalg.norm(arm, axis=1, keepdims=True)
    lean = arm + _limit_moves(goals - centres, MAX_LEAN_RATIO * far, poses.rate)
    reached = lean.copy()
    reached[:, 1] = np.sqrt(np.maximum(np.square(far[:, 0]) - np.square(lean[:, [0, 2]]).sum(axis=1), 0.0))
    root = skeleton.roots[0]
    turned = wanted.world[:, root, :3, :3] @ np.linalg.inv(poses.world[:, root, :3, :3])
    yaw = np.arctan2(turned[:, 0, 2] - turned[:, 2, 0], turned[:, 0, 0] + turned[:, 2, 2])[:, None]
    twist = quaternion.from_rotation_vector(_limit_moves(yaw, MAX_TWIST_RAD, poses.rate) * np.array([0.0, 1.0, 0.0]))
    turn = quaternion.multiply(quaternion.from_two_vectors(arm, reached), twist)
    moves = transform.compose(np.zeros(3), turn)
    moves[:, :3, 3] = foot + lean - transform.apply(moves, centres)
    translations, rotations = np.array(poses.translations), np.array(poses.rotations)
    for joint in np.flatnonzero(beside):
        parent = int(skeleton.parents[joint])
        if parent >= 0 and not beside[parent]:
            local = transform.invert(poses.world[:, parent]) @ moves @ poses.world[:, joint]
            translations[:, joint], rotations[:, joint], _ = transform.decompose(local)
    return PoseSequence(skeleton, translations, quaternion.unroll(rotations), poses.rate)


def _limit_moves(moves: Array, most: Array | float, rate: float) -> Array:
    """Moves (F, n) made shorter than `most`, small ones hardly.

    The excess is taken off smoothly: the centre of mass follows the wanted path up to a slow difference. Otherwise the
    floor would have to push every tremor of the pose.
    """
    far = np.linalg.norm(moves, axis=1, keepdims=True)
    beyond = moves - moves / np.sqrt(1 + np.square(far / most))
    return np.asarray(moves - gaussian_smooth(beyond, LEAN_SMOOTHING_SECONDS * rate))


def hop_with_joint(poses: PoseSequence, limbs: Limbs, base: int) -> PoseSequence:
    """The same poses with a root that is level and as high as at rest; a joint between it and the base moves."""
    chain = poses.skeleton.ancestors(base)
    moving = [
        j for j in chain[1:-1] if np.ptp(poses.translations[:, j], axis=0).max() > MIN_MOVE_SIZE_RATIO * limbs.size
    ]
    if not moving:
        return poses
    root, lift = chain[-1], moving[-1]
    turn = poses.rotations[:, root]
    at_rest = quaternion.normalise(poses.skeleton.rotations[root])
    front = quaternion.rotate(quaternion.multiply(turn, quaternion.conjugate(at_rest)), limbs.front)
    yaw = np.arctan2(front[:, 0], front[:, 2]) - np.arctan2(limbs.front[0], limbs.front[2])
    level = quaternion.from_rotation_vector(yaw[:, None] * np.array([0.0, 1.0, 0.0]))
    translations, rotations = np.array(poses.translations), np.array(poses.rotations)
    translations[:, root, 1] = poses.skeleton.translations[root, 1]
    rotations[:, root] = quaternion.multiply(level, at_rest)
    eased = PoseSequence(poses.skeleton, translations, rotations, poses.rate)
    parent = poses.skeleton.parents[lift]
    local = transform.invert(eased.world[:, parent]) @ poses.world[:, lift]
    moved, turned, _ = transform.decompose(local)
    translations[:, lift], rotations[:, lift] = moved, turned
    return PoseSequence(poses.skeleton, translations, quaternion.unroll(rotations), poses.rate)


def top_of(body: Body, limbs: Limbs, base: int) -> int:
    """The heavy link below the base with the largest moment about it; the base itself where there is none."""
    skeleton = limbs.skeleton
    below = np.array([base in skeleton.ancestors(j)[1:] for j in range(len(skeleton))], bool)
    centres = transform.apply(limbs.world, body.centres)
    moments = body.masses * np.linalg.norm(centres - limbs.world[base, :3, 3], axis=1) * below
    top = int(moments.argmax())
    return top if below[top] and body.masses[top] > MIN_SWAY_MASS_RATIO * body.mass else base


def length_of(body: Body, limbs: Limbs, base: int) -> float:
    """Metres at rest from the base of a figure to the centre of its top."""
    top = top_of(body, limbs, base)
    beside = _joints_beside(limbs.skeleton, base)
    if top == base and body.masses[beside].sum() > MIN_SWAY_MASS_RATIO * body.mass:
        return float(np.linalg.norm(_centres(limbs.world[None], body, beside)[0] - limbs.world[base, :3, 3]))
    centre = transform.apply(limbs.world[top], body.centres[top])
    return float(np.linalg.norm(centre - limbs.world[base, :3, 3]))


def _joints_beside(skeleton: Skeleton, base: int) -> Array:
    """(J,) whether a joint is neither the base, nor above it, nor below it."""
    above = skeleton.ancestors(base)
    return np.array([j not in above and base not in skeleton.ancestors(j) for j in range(len(skeleton))], bool)


def _centres(world: Array, body: Body, joints: Array) -> Array:
    """(F, 3) the centres of mass of some joints' links."""
    heavy = np.flatnonzero(joints & (body.masses > 0))
    share = body.masses[heavy] / body.masses[heavy].sum()
    return np.asarray(np.einsum("j,fja->fa", share, transform.apply(world[:, heavy], body.centres[heavy])))


def _radius(body: Body, limbs: Limbs, joint: int) -> float:
    """Radius of a ball with the mass and the inertia of a link, metres: I = 2/5 m r^2 about each axis."""
    scale = np.linalg.norm(limbs.world[joint, :3, 0])
    return float(scale * np.sqrt(np.trace(body.inertias[joint]) / max(1.2 * body.masses[joint], 1e-12)))


def _top_points(poses: PoseSequence, body: Body, limbs: Limbs, top: int, away: float) -> Array:
    """(F, 3, 3) the centre of the top, and points to its side and ahead of it at rest."""
    at_rest = limbs.world[top]
    centre = transform.apply(at_rest, body.centres[top])
    places = centre + away * np.stack([np.zeros(3), limbs.left, limbs.front])
    return np.asarray(transform.apply(poses.world[:, [top] * 3], transform.apply(np.linalg.inv(at_rest), places)))
