"""From a motion to an animation of another body, all steps in their order [Yamane 2010, section 3].

    mapped       the static mapping and its joints: poses over the origin (section 4)
    apart        collisions with itself and the floor resolved, most where the mapping is least certain (`collisions`)
    placed       moved over the floor by the actor's momenta (5.1, `momentum`)
    solved       contacts kept, momentum kept, and forces that the floor can give, all in one solve (5.2 and 5.3,
                 `physics.spacetime`)
    final        with the limbs that the actor lacks (`spring_limbs`)

The poses of every step are kept, so that a user can see what each step did and stop at any of them. The report has the
inputs, the certainty of the mapping, what each step changed, and what to pose next.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from understudy.character import Character, Clip, Curves, Skeleton
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.feet import trailing_joints
from understudy.character.body.ik import solve_ik
from understudy.character.body.joint_limits import FreeJoints, Limits, find_free_joints
from understudy.character.body.mass import Body, body_of
from understudy.character.body.poses import PoseSequence, clip_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.resample import gaussian_smooth
from understudy.transfer.corrections import PoseCorrections
from understudy.transfer.creature import Creature, find_phases, solve_creature
from understudy.transfer.mapping import MappingResult, PoseMapping, RegressionMapping, fit_regression
from understudy.transfer.measures import measure_motion, size_ratio
from understudy.transfer.pairs import PosePairs
from understudy.transfer.physics.collisions import Capsules, capsules_of, excess_depths, resolve_collisions
from understudy.transfer.physics.contact_schedule import SMOOTHING_SECONDS
from understudy.transfer.physics.momentum import integrate_root_motion
from understudy.transfer.physics.spring_limbs import SpringLimb, apply_limb_keys, looseness, start_poses, swing
from understudy.transfer.pose_suggestions import PoseSuggestion, suggest_poses
from understudy.transfer.source import SourceMotion

# Cost of the squared steps of the latent point, at 30 frames a second. With it, sudden changes are a third to a seventh
# of those without, and key poses are missed by 0.2 % of the height more.
CONTINUITY_COST = 300.0
# Density of limbs on springs over that of the body: most of their volume is fur or feathers.
SPRING_LIMB_DENSITY_RATIO = 0.1
# Distance of the nearest contact point from the floor at rest, over the height: characters above it swim or fly.
MAX_GROUND_CLEARANCE_RATIO = 0.2
REPORTED_FRAMES = 5  # least certain frames, and suggested frames, in a report
HANGING_PATTERN = re.compile(r"cord|cable|cloth|scarf|rope", re.IGNORECASE)  # names of what carries nothing


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
    def free_limbs(self) -> tuple[SpringLimb, ...]:
        """The limbs without markers: the actor lacks them. Other limbs on springs are posed, and drag."""
        return _without_markers(self.limbs, self.target.skeleton, self.pairs)

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
    """Prepare a character. `springs` are limbs, most of them without markers (`markers_of(..., skip=...)`).

    The variance of the shared model (eq. 4) is that at a latent point, as if the point were certain; far from all pairs
    it stays small. The predictive variance comes from a regression on the actor's pose, without a latent point.
    """
    variance_model = mapping if isinstance(mapping, RegressionMapping) else fit_regression(pairs)
    free = _without_markers(springs, target.skeleton, pairs)
    return TransferTarget(
        target,
        pairs,
        mapping,
        lighten_spring_limbs(body_of(target) if body is None else body, target.skeleton, free),
        limits,
        tuple(springs),
        find_free_joints(pairs.poses),
        capsules_of(target, pairs) if collisions else None,
        variance_model,
        float(np.mean(variance_model.map(pairs.source).variance)),
    )


def _without_markers(limbs: Sequence[SpringLimb], skeleton: Skeleton, pairs: PosePairs) -> tuple[SpringLimb, ...]:
    marked = {skeleton.names[joint] for joint in pairs.markers.joints}
    return tuple(limb for limb in limbs if not marked.intersection(limb.joints))


def lighten_spring_limbs(body: Body, skeleton: Skeleton, springs: Sequence[SpringLimb]) -> Body:
    """The body with light spring limbs: tails carry no momentum of the actor."""
    share = np.ones(len(body))
    share[[skeleton.index(joint) for limb in springs for joint in limb.joints]] = SPRING_LIMB_DENSITY_RATIO
    return body.weighted(share)


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
    clock = Clock()
    mapped = stage.mapping.map(source.local, continuity * source.rate / 30)
    # Where a motion passes by a key pose, the mapping gives a jolt that neither the actor nor the animator made.
    flat = gaussian_smooth(mapped.points.reshape(len(source), -1), SMOOTHING_SECONDS * source.rate)
    mapped = replace(mapped, points=flat.reshape(mapped.points.shape))
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
        creature = _creature(stage)
        found, schedule = find_phases(source, source_body, creature, local, stages["placed"])
        phases = found if phases is None else phases
        # Gravity scales with size, so that the actor's timing is preserved.
        size = size_ratio(stages["placed"], stage.body, source, source_body)
        doubt = np.sqrt(np.maximum(variance, 0.0) / max(stage.variance_at_pairs, 1e-18))
        stages["solved"] = solve_creature(stages["placed"], creature, phases, schedule, size, doubt).poses
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


def _creature(stage: TransferTarget) -> Creature:
    """The character for the solve: what trails, and limbs on springs, carry no momentum of the actor."""
    skeleton = stage.target.skeleton
    left_out = trailing_joints(skeleton, HANGING_PATTERN)
    for limb in stage.free_limbs:
        left_out[[skeleton.index(joint) for joint in limb.joints]] = True
    return Creature(stage.target, stage.body, stage.pairs.poses, stage.freedom, stage.limits, left_out)


def _solve_joints(stage: TransferTarget, mapped: MappingResult, source: SourceMotion) -> PoseSequence:
    start = start_poses(stage.pairs, source.local, stage.free_limbs, source.rate)
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


class Clock:
    """Processor time of each step, seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def lap(self, name: str) -> None:
        """End a step."""
        now = time.process_time()
        self.seconds[name] = now - self._last
        self._last = now


def report_of(
    source: SourceMotion,
    stage: TransferTarget,
    done: TransferResult,
    source_body: Body | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The report of one motion, as plain values for JSON. Lengths in millimetres, times in seconds."""
    deviation = np.sqrt(np.maximum(done.predictive_variance, 0.0))
    return motion_report(source, stage.target, done.seconds, done.phases, notes) | {
        "mapping": stage.mapping.name,
        "pairs": len(stage.pairs),
        "left_out_mm": {name: _mm(error) for name, error in stage.left_out.items()},
        "uncertainty_mm": {
            "at_key_poses": _mm(np.sqrt(max(stage.variance_at_pairs, 0.0))),
            "mean": _mm(float(deviation.mean())),
            "most": _mm(float(deviation.max())),
        },
        "least_certain": [_frame_report(source, f, float(deviation[f])) for f in _peaks(deviation, source.rate)],
        "suggested": [
            suggestion_to_json(suggestion)
            for suggestion in suggest_poses({source.name: source}, stage.pairs, REPORTED_FRAMES)
        ],
        "collisions_mm": collision_report(stage, done),
        "physics": physics_report(source, stage, done, source_body),
    }


def motion_report(
    source: SourceMotion,
    character: Character,
    seconds: Mapping[str, float],
    phases: ContactPhases | None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """What every report says: the motion, the time that each step took, and the spans of contacts, in seconds."""
    spans = {} if phases is None else phases.spans(source.rate, source.start)
    return {
        "motion": source.name,
        "character": character.name,
        "frames": len(source),
        "rate": round(source.rate, 6),
        "duration": round(source.duration, 4),
        "seconds": {step: round(taken, 4) for step, taken in seconds.items()},
        "contacts": {name: [[round(a, 4), round(b, 4)] for a, b in rows] for name, rows in spans.items()},
        "notes": [*source.notes, *notes],
    }


def correction_report(corrections: PoseCorrections, source: SourceMotion, variance: Array) -> dict[str, Any]:
    """What the report of a transfer by bones says about its pairs: certainty, error, and what to pose next."""
    pairs, deviation = corrections.pairs_, np.sqrt(np.maximum(variance, 0.0))
    errors = {name: _mm(error) for name, error in corrections.left_out_.items() if np.isfinite(error)}
    return {
        "mapping": "bones, corrected by pairs",
        "pairs": len(pairs),
        "left_out_mm": errors,
        "uncertainty_mm": {"mean": _mm(float(deviation.mean())), "most": _mm(float(deviation.max()))},
        "least_certain": [_frame_report(source, f, float(deviation[f])) for f in _peaks(deviation, source.rate)],
        "suggested": [
            suggestion_to_json(suggestion)
            for suggestion in suggest_poses({source.name: source}, pairs, REPORTED_FRAMES)
        ],
    }


def collision_report(stage: TransferTarget, done: TransferResult) -> dict[str, dict[str, float]]:
    """Depth in itself and in the floor beyond that of the pairs, before and after collisions are resolved."""
    if stage.capsules is None:
        return {}
    result = {}
    for step in ("mapped", "apart"):
        itself, floor = excess_depths(stage.capsules, done.intermediate[step].world)
        result[step] = {"itself": _mm(float(itself.max(initial=0.0))), "floor": _mm(float(floor.max(initial=0.0)))}
    return result


def physics_report(
    source: SourceMotion, stage: TransferTarget, done: TransferResult, source_body: Body | None
) -> dict[str, Any]:
    """The measures of each step from the path over the floor on; empty without physics."""
    if done.phases is None:
        return {}
    steps = [step for step in done.intermediate if step in ("placed", "solved", "final")]
    return {
        step: measure_motion(done.intermediate[step], stage.body, done.phases, source, source_body) for step in steps
    }


def suggestion_to_json(suggestion: PoseSuggestion) -> dict[str, Any]:
    """A suggestion for JSON; lengths are left out where there were no pairs to measure them by."""
    row: dict[str, Any] = {
        "motion": suggestion.motion,
        "frame": suggestion.frame,
        "time": round(suggestion.time, 4),
        "gain": round(suggestion.gain, 4),
    }
    if np.isfinite(suggestion.uncertainty):
        row |= {"uncertainty_mm": _mm(suggestion.uncertainty), "error_after_mm": _mm(suggestion.error_after)}
    return row


def _peaks(deviation: Array, rate: float) -> list[int]:
    """The least certain frames, none within half a second of another."""
    left = np.array(deviation)
    frames: list[int] = []
    reach = max(1, round(0.5 * rate))
    while len(frames) < REPORTED_FRAMES and np.isfinite(left).any():
        frame = int(np.nanargmax(np.where(np.isfinite(left), left, np.nan)))
        frames.append(frame)
        left[max(0, frame - reach) : frame + reach + 1] = -np.inf
    return frames


def _frame_report(source: SourceMotion, frame: int, deviation: float) -> dict[str, Any]:
    return {"frame": frame, "time": round(source.start + frame / source.rate, 4), "uncertainty_mm": _mm(deviation)}


def _mm(metres: float) -> float:
    return round(1000 * float(metres), 3)
