"""A person's motion on another humanoid, without pose pairs: the plain retarget, then one space-time solve.

The bodies that turn are those that have something to do: hips, back, neck, upper and lower arms, legs, feet and toes.
Knees, elbows and toes are hinges. Everything else rides on them, as the plain retarget has it.
"""

from __future__ import annotations

import numpy as np

from understudy.character.body.limbs import bone_ends
from understudy.character.body.mass import Body
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import transform
from understudy.transfer.bone_map import SIDES, BoneMap, descendants, line_to_root, sole_points
from understudy.transfer.physics.contact_schedule import ContactSchedule, centre_motion, find_schedule
from understudy.transfer.physics.figure import (
    BodySpec,
    Contacts,
    Figure,
    hinge_axis,
    lowest_skin,
    make_figure,
    sole_corners,
)
from understudy.transfer.physics.spacetime import MomentumGoals, SpacetimeResult, SpacetimeWeights, solve

CHANGE_RAD = 0.35  # of a joint from the reference
FOOT_SMOOTH_RATIO = 6.0  # of the deviation of their change's second differences over others': captured feet tremble
# Standard deviation of the world orientation of bones, radians: legs give way to contacts, the upper body keeps.
TRUNK_TRACKING_RAD, ARM_TRACKING_RAD, LEG_TRACKING_RAD, FOOT_TRACKING_RAD = 0.06, 0.04, 0.1, 0.25
SOLE_END_SHARE = 0.25  # of a sole's length: the ends that are averaged to toe and heel of a source


def solve_humanoid(
    reference: PoseSequence,
    target: BoneMap,
    body: Body,
    schedule: ContactSchedule,
    size: float,
    *,
    weights: SpacetimeWeights | None = None,
) -> SpacetimeResult:
    """A plain retarget with its contacts kept.

    Args:
        reference: The plain retarget, F poses of the target.
        target: The bones of the target.
        body: Its masses (`body_of`).
        schedule: Contacts of the source (`humanoid_schedule`).
        size: Ratio of the sizes, target over source.
        weights: Standard deviations; None: those of `SpacetimeWeights()`.

    Returns:
        The motion.
    """
    figure = humanoid_figure(reference, target, body)
    contacts = humanoid_contacts(reference, target, figure, schedule)
    motion = schedule.motion
    goals = MomentumGoals(size * motion.velocities, size**2 * motion.spins, size * schedule.falls)
    return solve(reference, figure, contacts, goals, weights=weights)


def humanoid_schedule(motion: PoseSequence, source: BoneMap, body: Body, height: float) -> ContactSchedule:
    """The schedule of heels, toes, hands and knees of a person, named `LeftFoot.heel`, `LeftHand`, `LeftKnee`."""
    names, points = [], []
    for side in SIDES:
        for role, joint, place in _source_soles(source, side):
            names.append(f"{side}Foot.{role}")
            points.append(_ride(motion, source, joint, place))
        ends = bone_ends(source.skeleton, source.rest)
        for name, bone in (("Hand", "Hand"), ("Knee", "LowerLeg")):
            if side + bone not in source.bones:
                continue
            joint = source.bones[side + bone]
            below = np.flatnonzero(descendants(source.parents, joint)).tolist() if name == "Hand" else []
            tips = [(j, ends.get(j, source.places[j])) for j in below] or [(joint, source.places[joint])]
            far = max(tips, key=lambda tip: float(np.linalg.norm(tip[1] - source.places[joint])))
            names.append(side + name)
            points.append(_ride(motion, source, far[0], far[1]))
    is_foot = np.array(["Foot." in name for name in names])
    return find_schedule(
        np.stack(points, axis=1), tuple(names), is_foot, centre_motion(motion, body), motion.rate, height
    )


def humanoid_figure(reference: PoseSequence, target: BoneMap, body: Body) -> Figure:
    """The bodies of a humanoid that the solver turns."""
    bones = target.bones
    specs = [BodySpec(bones["Hips"], TRUNK_TRACKING_RAD, CHANGE_RAD)]
    trunk = [target.spine[len(target.spine) // 2]] if target.spine else []
    neck = [target.neck[0]] if target.neck else [bones["Head"]] if "Head" in bones else []
    specs += [BodySpec(joint, TRUNK_TRACKING_RAD, CHANGE_RAD) for joint in (*trunk, *neck)]
    for side in SIDES:
        specs += _limb(reference, target, [side + b for b in ("UpperArm", "LowerArm", "Hand")], ARM_TRACKING_RAD)
        specs += _limb(reference, target, [side + b for b in ("UpperLeg", "LowerLeg", "Foot")], LEG_TRACKING_RAD)
        if side + "Foot" in bones:
            specs.append(BodySpec(bones[side + "Foot"], FOOT_TRACKING_RAD, CHANGE_RAD, smooth=FOOT_SMOOTH_RATIO))
        if side + "Toes" in bones:
            toe = bones[side + "Toes"]
            left = target.rest[toe, :3, :3].T @ target.axes[:, 0]
            axes = (left / np.linalg.norm(left))[None]
            specs.append(BodySpec(toe, FOOT_TRACKING_RAD, CHANGE_RAD, axes, smooth=FOOT_SMOOTH_RATIO))
    return make_figure(
        reference, target.character, body, specs, parents=target.parents, left_out=target.props, rest=target.rest
    )


def _limb(reference: PoseSequence, target: BoneMap, bones: list[str], tracking: float) -> list[BodySpec]:
    """The two bodies of an arm or a leg, the second of them a hinge."""
    if any(bone not in target.bones for bone in bones[:2]):
        return []
    upper, lower = (target.bones[bone] for bone in bones[:2])
    specs = [BodySpec(upper, tracking, CHANGE_RAD)]
    if bones[2] not in target.bones:
        return [*specs, BodySpec(lower, tracking, CHANGE_RAD)]
    hinge = (upper, lower, target.bones[bones[2]])
    axis = hinge_axis(reference, *hinge)
    if axis is None:
        return [*specs, BodySpec(lower, tracking, CHANGE_RAD)]
    return [*specs, BodySpec(lower, tracking, CHANGE_RAD, axis[None], hinge)]


def humanoid_contacts(reference: PoseSequence, target: BoneMap, figure: Figure, schedule: ContactSchedule) -> Contacts:
    """The corners of the soles, and where hands and knees come down the lowest skin of them."""
    phases, frames = schedule.phases, len(reference)
    column = {name: phases.down[:, k] for k, name in enumerate(phases.names)}
    names, bodies, offsets, down = [], [], [], []
    for side in SIDES:
        foot = target.bones.get(side + "Foot")
        if foot is not None:
            toe = target.bones.get(side + "Toes")
            for n, (role, joint, place) in enumerate(sole_corners(target, foot, toe)):
                names.append(f"{side}Foot.{role}.{n}")
                bodies.append(figure.body_of(joint))
                path = _ride(reference, target, joint, place)
                offsets.append(figure.ride(reference, np.array(bodies[-1:]), path[:, None])[:, 0])
                down.append(column.get(f"{side}Foot.{role}", column.get(f"{side}Foot.toe", np.zeros(frames, bool))))
        for name, bone in (("Hand", "LowerArm"), ("Knee", "LowerLeg")):
            if side + bone not in target.bones or side + name not in column or not column[side + name].any():
                continue
            candidates = figure.skin_bodies == figure.body_of(target.bones[side + bone])
            for n, (point, standing) in enumerate(lowest_skin(figure, reference, candidates, column[side + name])):
                names.append(f"{side}{name}.{n}")
                bodies.append(int(figure.skin_bodies[point]))
                offsets.append(figure.skin_offsets[:, point])
                down.append(standing)
    return Contacts(
        tuple(names),
        np.array(bodies, np.int64),
        np.stack(offsets, axis=1) if offsets else np.zeros((frames, 0, 3)),
        np.array(down).reshape(-1, frames).T.copy(),
        schedule.flight,
        schedule.known,
    )


def _source_soles(source: BoneMap, side: str) -> list[tuple[str, int, Array]]:
    """Heel and toe of one foot of a source: name, joint, and place (3,) at rest."""
    if side + "Foot" not in source.bones:
        return []
    foot = source.bones[side + "Foot"]
    soles = [
        (joint, place)
        for joint, places in sole_points(source).items()
        if foot in line_to_root(source.parents, joint)
        for place in places
    ]
    places = np.array([place for _, place in soles])
    along = places @ source.axes[:, 2]
    result = []
    for role, sign in (("heel", -1.0), ("toe", 1.0)):
        end = np.flatnonzero(sign * along >= (sign * along).max() - SOLE_END_SHARE * np.ptp(along))
        joints = [soles[k][0] for k in end]
        joint = max(set(joints), key=joints.count)
        result.append((role, joint, places[end].mean(axis=0)))
    return result


def _ride(motion: PoseSequence, source: BoneMap, joint: int, place: Array) -> Array:
    """(F, 3) where a place (3,) of the rest pose goes with a joint."""
    local = transform.apply(np.linalg.inv(source.rest[joint]), place)
    return np.asarray(transform.apply(motion.world[:, joint], local))
