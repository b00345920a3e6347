"""From a motion to an animation of another body, all steps in their order [Yamane 2010, section 3].

    mapped       the static mapping and its joints: poses over the origin (section 4)
    apart        collisions with itself and the floor resolved, most where the mapping is least certain (`collisions`)
    placed       moved over the floor by the actor's momenta (5.1, `momentum`)
    standing     contacts kept where they are planted (5.2, `standing`)
    realistic    displaced until the floor can give the forces that the motion needs (5.3, `dynamics`)
    final        with the limbs that the actor lacks (`spring_limbs`)

The poses of every step are kept, so that a user can see what each step did and stop at any of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.character import Character, Clip, Curves, Skeleton
from understudy.character.body.contacts import ContactPhases, find_contact_phases, hysteresis
from understudy.character.body.ik import solve_ik
from understudy.character.body.joint_limits import FreeJoints, Limits, find_free_joints
from understudy.character.body.mass import Body, body_height, body_of
from understudy.character.body.poses import PoseSequence, clip_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.transfer.contact_goals import follow_phases, match_contacts
from understudy.transfer.mapping import MappingResult, PoseMapping, RegressionMapping, fit_regression
from understudy.transfer.measures import size_ratio
from understudy.transfer.pairs import PosePairs
from understudy.transfer.physics.collisions import Capsules, capsules_of, resolve_collisions
from understudy.transfer.physics.dynamics import correct_dynamics
from understudy.transfer.physics.momentum import GRAVITY_M_S2, integrate_root_motion
from understudy.transfer.physics.spring_limbs import SpringLimb, apply_limb_keys, looseness, start_poses, swing
from understudy.transfer.source import SourceMotion
from understudy.transfer.standing import never_airborne, plant_contacts

# Cost of the squared steps of the latent point, at 30 frames a second. With it, sudden changes are a third to a seventh
# of those without, and key poses are missed by 0.2 % of the height more.
CONTINUITY_COST = 300.0
# Height of a contact of a mapped pose, over the character's height: below the first it is meant to be in contact, above
# the second it is not. Mapped feet float or sink by some hundredths, which the contact correction removes; steps lift
# feet by a tenth or more.
FLOOR_HEIGHT_RATIO_ON, FLOOR_HEIGHT_RATIO_OFF = 0.06, 0.1
# Density of limbs on springs over that of the body: most of their volume is fur or feathers.
SPRING_LIMB_DENSITY_RATIO = 0.1
# Distance of the nearest contact point from the floor at rest, over the height: characters above it swim or fly.
MAX_GROUND_CLEARANCE_RATIO = 0.2


@dataclass(frozen=True, eq=False)
class TransferTarget:
    """A character prepared for transfers: everything that does not depend on the motion."""

    target: Character
    pairs: PosePairs
    mapping: PoseMapping
    body: Body
    limits: Limits | None
    limbs: tuple[SpringLimb, ...]
    freedom: FreeJoints
    capsules: Capsules | None
    variance_model: RegressionMapping  # predicts `TransferResult.predictive_variance`
    variance_at_pairs: float  # square metres, the mean predictive variance at the key poses

    @property
    def left_out(self) -> dict[str, float]:
        """Metres that a pair that is left out is missed by, of the methods that the mapping was chosen from."""
        return dict(getattr(self.mapping, "left_out", {}))

    @property
    def height(self) -> float:
        """Height of the character in the pairs, metres."""
        return float(np.ptp(self.pairs.target[..., 1]))


@dataclass(frozen=True, eq=False)
class TransferResult:
    """The animation, with the poses of every step."""

    poses: PoseSequence
    clip: Clip
    intermediate: dict[str, PoseSequence]  # in the order of the steps
    mapped: MappingResult | None = None  # None: without pairs
    predictive_variance: Array = field(default_factory=lambda: np.zeros(0))
    """(F,) square metres: the variance of a regression from the actor's pose alone; (0,) without pairs."""
    phases: ContactPhases | None = None  # None: without physics
    seconds: dict[str, float] = field(default_factory=dict)  # processor time of each step
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def uncertainty(self) -> Array:
        """(F,) metres: the standard deviation of a marker's coordinate, large far from all pairs."""
        return np.sqrt(np.maximum(self.predictive_variance, 0.0))


def prepare_target(
    target: Character,
    pairs: PosePairs,
    mapping: PoseMapping,
    *,
    body: Body | None = None,
    limits: Limits | None = None,
    springs: Sequence[SpringLimb] = (),
    collisions: bool = True,
) -> TransferTarget:
    """Prepare a character. `springs` are limbs that have no markers (`markers_of(..., skip=...)`).

    The variance of the shared model (eq. 4) is that at a latent point, as if the point were certain; far from all pairs
    it stays small. The predictive variance comes from a regression on the actor's pose, without a latent point.
    """
    variance_model = mapping if isinstance(mapping, RegressionMapping) else fit_regression(pairs)
    return TransferTarget(
        target,
        pairs,
        mapping,
        lighten_spring_limbs(body_of(target), target.skeleton, springs) if body is None else body,
        limits,
        tuple(springs),
        find_free_joints(pairs.poses),
        capsules_of(target, pairs) if collisions else None,
        variance_model,
        float(np.mean(variance_model.map(pairs.source).variance)),
    )


def lighten_spring_limbs(body: Body, skeleton: Skeleton, springs: Sequence[SpringLimb]) -> Body:
    """The body with light spring limbs: tails carry no momentum of the actor."""
    share = np.ones(len(body))
    share[[skeleton.index(joint) for limb in springs for joint in limb.joints]] = SPRING_LIMB_DENSITY_RATIO
    return Body(share * body.masses, body.centres, share[:, None, None] * body.inertias, body.contacts)


def transfer(
    source: SourceMotion,
    stage: TransferTarget,
    *,
    source_body: Body | None = None,
    phases: ContactPhases | None = None,
    physics: bool = True,
    keys: Clip | Curves | None = None,
    continuity: float = CONTINUITY_COST,
) -> TransferResult:
    """The motion on the character.

    `phases` are those of its contacts; None finds them. `keys` animate its spring limbs.
    """
    check_transfer(source, stage, physics)
    clock = _Clock()
    mapped = stage.mapping.map(source.local, continuity * source.rate / 30)
    variance = stage.variance_model.map(source.local).variance
    clock.lap("mapping")
    stages = {"mapped": _solve_joints(stage, mapped, source)}
    clock.lap("joints")
    if stage.capsules is not None:
        stages["apart"] = _separate_limbs(stage, stages["mapped"], variance)
        clock.lap("collisions")
    local = list(stages.values())[-1]
    root_motion = integrate_root_motion(source, source_body, local, stage.body, stage.pairs.markers)
    stages["placed"] = local.apply_transform(root_motion.frames)
    clock.lap("way")
    if physics:
        phases = find_target_phases(source, source_body, stage, local) if phases is None else phases
        # Gravity scales with size, so that the actor's timing is preserved.
        gravity = GRAVITY_M_S2 * size_ratio(stages["placed"], stage.body, source, source_body)
        stages["standing"] = plant_contacts(stages["placed"], stage.body, phases, limits=stage.limits)
        stages["realistic"] = correct_dynamics(
            stages["standing"], stage.body, phases, mapped.variance, gravity=gravity, limits=stage.limits
        )
        clock.lap("physics")
    poses = list(stages.values())[-1]
    if stage.limbs:
        poses = poses if keys is None else apply_limb_keys(poses, stage.limbs, stage.target, keys)
        loose = [looseness(limb, keys, len(poses), poses.rate) for limb in stage.limbs]
        poses = stages["final"] = swing(poses, stage.limbs, loose)
        clock.lap("springs")
    clip = clip_of(poses, source.name, source.start)
    return TransferResult(poses, clip, stages, mapped, variance, phases if physics else None, clock.seconds)


def check_transfer(source: SourceMotion, stage: TransferTarget, physics: bool) -> None:
    """Raise InvalidInput where the motion cannot be transferred, with the reason."""
    if len(source) < 2:
        raise InvalidInput(f"a motion should have at least two frames, but {source.name!r} has {len(source)}")
    points = stage.pairs.source.shape[1]
    if source.points.shape[1] != points:
        raise InvalidInput(
            f"the motion {source.name!r} should be of the actor of the pairs with {points} points, "
            f"but it has {source.points.shape[1]}"
        )
    if physics:
        check_ground(stage)


def check_ground(stage: TransferTarget) -> None:
    """Raise InvalidInput for a character with no contact point near the floor at rest."""
    rest = PoseSequence.rest(stage.target.skeleton).world
    heights = stage.body.contact_positions(rest)[..., 1]
    lowest = float(np.abs(heights).min(initial=np.inf))
    if lowest > MAX_GROUND_CLEARANCE_RATIO * stage.height:
        where = f"its lowest part is {heights.min():.2g} m high" if heights.size else "no part of it is low"
        raise InvalidInput(
            f"{stage.target.name!r} has nothing to stand on: at rest {where}, and the floor is at 0; "
            "name contact points that are there, or transfer without physics (--no-physics)"
        )


def find_target_phases(
    source: SourceMotion, source_body: Body | None, stage: TransferTarget, local: PoseSequence
) -> ContactPhases:
    """When the character's contacts are down: while the actor's are, and its `local` poses have them near the floor.

    A rearing horse has its forefeet in the air though both feet of the actor are planted. A character on one base hops
    where the actor steps; if the base is on the floor in all pairs, it glides instead. Without a skeleton of the actor,
    the heights and speeds of the character's contacts decide.
    """
    positions = stage.body.contact_positions(local.world)
    if source_body is None or source.poses is None or not source_body.contacts:
        return find_contact_phases(positions, source.rate, stage.height, stage.body.names)
    # The height of the body: raised arms or a jump do not add to it.
    height = body_height(source_body, source.poses)
    actor = find_contact_phases(
        source_body.contact_positions(source.poses.world), source.rate, height, source_body.names
    )
    groups = match_contacts(stage.body, stage.target.skeleton, source_body, source.poses.skeleton, phases=actor)
    posed = stage.body.contact_positions(stage.pairs.poses.world)[..., 1] / stage.height
    followed = follow_phases(
        actor, groups, stage.body.names, source.rate, hops=not never_airborne(posed, FLOOR_HEIGHT_RATIO_ON)
    )
    heights = positions[..., 1] / stage.height
    return ContactPhases(
        followed.names,
        followed.down & hysteresis(heights < FLOOR_HEIGHT_RATIO_ON, heights > FLOOR_HEIGHT_RATIO_OFF),
        followed.gliding,
    )


def _solve_joints(stage: TransferTarget, mapped: MappingResult, source: SourceMotion) -> PoseSequence:
    start = start_poses(stage.pairs, source.local, stage.limbs, source.rate)
    skeleton = stage.target.skeleton
    return solve_ik(
        stage.pairs.markers, skeleton, mapped.points, start=start, limits=stage.limits, freedom=stage.freedom
    )


def _separate_limbs(stage: TransferTarget, poses: PoseSequence, variance: Array) -> PoseSequence:
    assert stage.capsules is not None  # checked by the caller

    def solver(points: Array, start: PoseSequence) -> PoseSequence:
        markers, skeleton = stage.pairs.markers, stage.target.skeleton
        return solve_ik(markers, skeleton, points, start=start, limits=stage.limits, freedom=stage.freedom)

    return resolve_collisions(poses, stage.capsules, stage.pairs.markers, variance, stage.variance_at_pairs, solver)


class _Clock:
    """Processor time of each step, seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def lap(self, name: str) -> None:
        now = time.process_time()
        self.seconds[name] = now - self._last
        self._last = now
