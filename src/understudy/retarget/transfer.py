"""From a motion to an animation of another body, all steps in their order [Yamane 2010, section 3].

    mapped       the static mapping and its joints: poses over the origin (section 4)
    apart        out of itself and the floor, where the mapping was least certain (`collisions`)
    placed       on its way over the floor, by the actor's momenta (5.1)
    standing     with what stands on the floor kept where it stands (5.2)
    realistic    with weight: the forces that the motion needs are those that the floor can give (5.3)
    final        with the limbs that the actor lacks (`spring_limbs`)

Each step's poses are kept, so that people can see what each did, and stop where they like.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.character import Character, Clip, Curves, Skeleton
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.retarget.baselines.gaussian_process import GaussianProcess
from understudy.retarget.body import Body, body_of
from understudy.retarget.collisions import Capsules, apart, capsules_of
from understudy.retarget.contact_correction import corrected
from understudy.retarget.contacts import Phases, held, phases_of
from understudy.retarget.correspondence import corresponding, follow
from understudy.retarget.freedom import Freedom, Limits, freedom_of
from understudy.retarget.glide import stays_down
from understudy.retarget.global_motion import travel
from understudy.retarget.height import body_height
from understudy.retarget.ik import solve_ik
from understudy.retarget.limb_poses import start_poses
from understudy.retarget.mapping import Mapped, Mapping
from understudy.retarget.measures import size_ratio
from understudy.retarget.pairs import Pairs
from understudy.retarget.poses import Poses, clip_of
from understudy.retarget.realism import GRAVITY, realistic
from understudy.retarget.source import Source
from understudy.retarget.spring_limbs import SpringLimb, keyed, looseness, swing

# What the squared steps of the latent point cost, at 30 frames a second: sudden changes are a third to a seventh of
# what they are without, and key poses are missed by 0.2 % of the height more.
CONTINUITY = 300.0
# Of the character's height: a contact of a mapped pose that is lower is meant to stand, one that is higher is not.
# Mapped feet float or sink by some hundredths, which is what the correction is for; steps lift them by a tenth or more.
NEAR, FAR = 0.06, 0.1
FUR = 0.1  # of what their volume would weigh: limbs that swing on springs, most of which are fur or feathers
OFF_FLOOR = 0.2  # of the height: whose contact points are all further from the floor at rest swims or flies


@dataclass(frozen=True, eq=False)
class Stage:
    """A character made ready for transfers: what all motions have in common."""

    target: Character
    pairs: Pairs
    mapping: Mapping
    body: Body
    limits: Limits | None
    limbs: tuple[SpringLimb, ...]
    freedom: Freedom
    capsules: Capsules | None
    doubt: GaussianProcess  # how far poses are from what was posed: see `Transferred.doubt`
    sure: float  # square metres, the doubt at the key poses

    @property
    def height(self) -> float:
        """Metres, of the character as it was posed."""
        return float(np.ptp(self.pairs.target[..., 1]))


@dataclass(frozen=True, eq=False)
class Transferred:
    """The animation, and how it came about."""

    poses: Poses
    clip: Clip
    stages: dict[str, Poses]  # in the order of the steps
    mapped: Mapped
    doubt: Array  # (F,) square metres: the variance of a regression from the actor's pose alone
    phases: Phases | None  # None: without physics
    seconds: dict[str, float] = field(default_factory=dict)  # each step took, of the processor
    report: dict[str, Any] = field(default_factory=dict)


def stage_of(
    target: Character,
    pairs: Pairs,
    mapping: Mapping,
    *,
    body: Body | None = None,
    limits: Limits | None = None,
    springs: Sequence[SpringLimb] = (),
    collisions: bool = True,
) -> Stage:
    """A character made ready. `springs` are limbs that have no markers (`markers_of(..., skip=...)`).

    The shared model's own variance (eq. 4) is that at a latent point, as if the point were certain; far from all pairs
    it stays small. What is far is told by a regression from the actor's pose, which has no such point between.
    """
    doubt = GaussianProcess.learn(pairs)
    return Stage(
        target,
        pairs,
        mapping,
        lighter(body_of(target), target.skeleton, springs) if body is None else body,
        limits,
        tuple(springs),
        freedom_of(pairs.poses),
        capsules_of(target, pairs) if collisions else None,
        doubt,
        float(np.mean(doubt.map(pairs.source).variance)),
    )


def lighter(body: Body, skeleton: Skeleton, springs: Sequence[SpringLimb]) -> Body:
    """The body with limbs that weigh little: the momentum that an actor gives is not in a tail that he has not got."""
    share = np.ones(len(body))
    share[[skeleton.index(joint) for limb in springs for joint in limb.joints]] = FUR
    return Body(share * body.masses, body.centres, share[:, None, None] * body.inertias, body.contacts)


def transfer(
    source: Source,
    stage: Stage,
    *,
    source_body: Body | None = None,
    phases: Phases | None = None,
    physics: bool = True,
    keys: Clip | Curves | None = None,
    continuity: float = CONTINUITY,
) -> Transferred:
    """The motion on the character. `phases` of its contacts, found without them; `keys` turn its spring limbs."""
    check(source, stage, physics)
    clock = _Clock()
    mapped = stage.mapping.map(source.local, continuity * source.rate / 30)
    doubt = stage.doubt.map(source.local).variance
    clock.lap("mapping")
    stages = {"mapped": _joints(stage, mapped, source)}
    clock.lap("joints")
    if stage.capsules is not None:
        stages["apart"] = _apart(stage, stages["mapped"], doubt)
        clock.lap("collisions")
    local = list(stages.values())[-1]
    way = travel(source, source_body, local, stage.body, stage.pairs.markers)
    stages["placed"] = local.moved(way.frames)
    clock.lap("way")
    if physics:
        phases = found_phases(source, source_body, stage, local) if phases is None else phases
        # who keeps the actor's timing at half his size falls half as far in a second
        gravity = GRAVITY * size_ratio(stages["placed"], stage.body, source, source_body)
        stages["standing"] = corrected(stages["placed"], stage.body, phases, limits=stage.limits)
        stages["realistic"] = realistic(
            stages["standing"], stage.body, phases, mapped.variance, gravity=gravity, limits=stage.limits
        )
        clock.lap("physics")
    poses = list(stages.values())[-1]
    if stage.limbs:
        poses = poses if keys is None else keyed(poses, stage.limbs, stage.target, keys)
        loose = [looseness(limb, keys, len(poses), poses.rate) for limb in stage.limbs]
        poses = stages["final"] = swing(poses, stage.limbs, loose)
        clock.lap("springs")
    clip = clip_of(poses, source.name, source.start)
    return Transferred(poses, clip, stages, mapped, doubt, phases if physics else None, clock.seconds)


def check(source: Source, stage: Stage, physics: bool) -> None:
    """Refuse what cannot be transferred, with the reason."""
    if len(source) < 2:
        raise InvalidInput(f"a motion should have at least two frames, but {source.name!r} has {len(source)}")
    wanted = stage.pairs.source.shape[1]
    if source.points.shape[1] != wanted:
        raise InvalidInput(
            f"the motion {source.name!r} should be of the actor of the pairs, who has {wanted} points, "
            f"but it has {source.points.shape[1]}"
        )
    if physics:
        check_ground(stage)


def check_ground(stage: Stage) -> None:
    """Refuse a character that does not stand on the floor at rest: nobody knows what its feet are."""
    rest = Poses.rest(stage.target.skeleton).world
    heights = stage.body.contact_positions(rest)[..., 1]
    lowest = float(np.abs(heights).min(initial=np.inf))
    if lowest > OFF_FLOOR * stage.height:
        where = f"its lowest part is {heights.min():.2g} m high" if heights.size else "no part of it is low"
        raise InvalidInput(
            f"{stage.target.name!r} has nothing to stand on: at rest {where}, and the floor is at 0; "
            "name contact points that are there, or transfer without physics (--no-physics)"
        )


def found_phases(source: Source, source_body: Body | None, stage: Stage, local: Poses) -> Phases:
    """When the character's contacts are down: while the actor's are, and its `local` poses have them near the floor.

    A horse that rears has its forefeet in the air though the actor who plays it stands. What stands on one base and is
    on the floor in all pairs glides where the actor steps; else it hops. Without a skeleton of the actor
    the character's own heights and speeds decide.
    """
    places = stage.body.contact_positions(local.world)
    if source_body is None or source.poses is None or not source_body.contacts:
        return phases_of(places, source.rate, stage.height, stage.body.names)
    # who raises arms or jumps is no taller for it
    height = body_height(source_body, source.poses)
    actor = phases_of(source_body.contact_positions(source.poses.world), source.rate, height, source_body.names)
    groups = corresponding(stage.body, stage.target.skeleton, source_body, source.poses.skeleton, phases=actor)
    posed = stage.body.contact_positions(stage.pairs.poses.world)[..., 1] / stage.height
    followed = follow(actor, groups, stage.body.names, source.rate, hops=not stays_down(posed, NEAR))
    above = places[..., 1] / stage.height
    return Phases(followed.names, followed.down & held(above < NEAR, above > FAR), followed.gliding)


def _joints(stage: Stage, mapped: Mapped, source: Source) -> Poses:
    start = start_poses(stage.pairs, source.local, stage.limbs, source.rate)
    skeleton = stage.target.skeleton
    return solve_ik(
        stage.pairs.markers, skeleton, mapped.points, start=start, limits=stage.limits, freedom=stage.freedom
    )


def _apart(stage: Stage, poses: Poses, doubt: Array) -> Poses:
    assert stage.capsules is not None  # asked before

    def solver(points: Array, start: Poses) -> Poses:
        markers, skeleton = stage.pairs.markers, stage.target.skeleton
        return solve_ik(markers, skeleton, points, start=start, limits=stage.limits, freedom=stage.freedom)

    return apart(poses, stage.capsules, stage.pairs.markers, doubt, stage.sure, solver)


class _Clock:
    """Seconds of the processor that each step took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def lap(self, name: str) -> None:
        now = time.process_time()
        self.seconds[name] = now - self._last
        self._last = now
