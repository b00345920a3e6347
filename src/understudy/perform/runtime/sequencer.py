"""Sequencer: everything that happens between two frames, and a limit on sudden changes.

**Switches.** A segment is over, a bridge is crossed, a clip begins, a second source fades in. At any switch the shown
pose and its velocity are continuous: the difference of the old motion and the new one decays along a polynomial
(`maths.springs`). The paper blends the poses of two idling particles instead [Bailey 2016, section 5.3], which needs
the motion to come to rest; this does not, so a command may come at any moment.

**Velocity limit.** No joint changes its velocity more suddenly than in some clip. A blend of two motions can be harsher
than either: the clip that begins turns while the one that is left still brakes. So the change is measured in the world,
and where it is too large, other features are shown:

    y = p + s (y - p),      p = y1 + b (y1 - y2),

y being the features of this frame and y1, y2 those shown before. Of a few s and b the first within the clips' largest
change is taken: as much of the new pose as possible, else coasting, else braking, since what swings at full speed turns
suddenly by itself. Where none of them is, the gentlest is changed as little as brings its joints within the limit (a
few Newton steps). The rest of the difference is blended away from there on, as after any switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.character.rig import DirectRig, Rig
from understudy.checks import Array
from understudy.maths import springs
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.planner import Planner
from understudy.perform.runtime.state import (
    FADE_SECONDS,
    Blend,
    BlendSource,
    ChooseBranch,
    CrossBridge,
    FollowPath,
    HoldSegment,
    JoinSource,
    PerformanceEvent,
    PerformerState,
    PlanSegment,
    ReplayClip,
    SelfSteppingSegment,
    mix_sources,
    replace_state,
)

# The paper's 12 frames are 0.5 s. A wider gap takes longer, so that it moves no faster than the clips do; beyond the
# longest blend the old motion would still be visible under the new one.
MIN_BLEND_SECONDS, MAX_BLEND_SECONDS = 0.5, 1.5
# A velocity that decays within T changes by 6 / T of itself a second at first. This share of the clips' largest change
# is left to it, the rest to the motion beneath.
BLEND_VELOCITY_CHANGE_RATIO = 0.5
MIN_BRAKE_SECONDS = 0.25  # shortest decay of a velocity
BRIDGE_EVENT = "bridge"  # name of the event of crossing a bridge
SAME_BRIDGE_RADII = 1.0  # idle radii from the end of the bridge within which a better match is still the same bridge
MAX_CUT_RATIO = 0.99  # of the clips' largest change of velocity, for limited features
# Pairs of s and b, from the most of the wanted pose to the least.
CUT_CANDIDATES = np.array([(s, b) for s in (0.9, 0.75, 0.6, 0.45, 0.3, 0.15, 0.0) for b in (1.0, 0.85, 0.6, 0.3)])
WATCHED_JOINT_RATIO = 0.9  # of the clips' largest change: joints above it take part in the Newton steps
NEWTON_STEPS = 4
PROBE_STEP_FEATURES = 1e-4  # finite difference of a feature
CUT_RETURN_SECONDS = 0.4  # in which the difference to the wanted pose is blended away


def resolve_segments(planner: Planner, state: PerformerState) -> PerformerState:
    """The state after all segments that take no time, ready for the next frame."""
    if state.event:
        state = replace(state, event=tuple(event for event in state.event if event.frame == state.frame))
    if len(state.sources) > 1:
        others = (source for source in state.sources[1:] if not source.has_faded_out(state.frame, planner.rate))
        state = replace(state, sources=(state.main_source, *others))
    while True:
        segment = state.main_source.current_segment
        if isinstance(segment, CrossBridge):
            state = _cross(planner, state, segment)
        elif isinstance(segment, ChooseBranch):
            state = _choose(planner, state, segment)
        elif isinstance(segment, JoinSource):
            state = _join(planner, state, segment)
        elif state.main_source.is_segment_over:
            state = _next_segment(planner, state)
        elif isinstance(segment, ReplayClip) and state.main_source.cursor == 0:
            return _begin_replay(planner, state, segment)
        else:
            return state


def _cross(planner: Planner, state: PerformerState, segment: CrossBridge) -> PerformerState:
    """Cross a bridge. The latent beyond is searched once more, for the pose that the source has reached."""
    runtime = planner.runtimes[segment.label]
    matches, _ = runtime.space.latent_of(state.main_source.features[None], segment.latent[None, None])
    near = np.linalg.norm(matches[0] - segment.latent) <= SAME_BRIDGE_RADII * runtime.forces.radius
    latent = matches[0] if near else segment.latent
    return _restart_source(planner, _drop_segment(state), segment.label, latent, BRIDGE_EVENT)


def _choose(planner: Planner, state: PerformerState, segment: ChooseBranch) -> PerformerState:
    """Choose another point at random, and a random time to stay there."""
    source, random = state.main_source, state.generator()
    away = np.linalg.norm(segment.points - source.x, axis=1)
    others = np.flatnonzero(away > min(segment.radius, 0.999 * away.max()))
    target = segment.points[random.choice(others if len(others) else len(segment.points))]
    hold = HoldSegment(target, segment.radius, planner.frames(segment.hover * random.uniform(0.6, 1.4)))
    segments = (*planner.plan_route(source.label, source.x, source.label, target), hold, segment)
    source = replace(source, plan=segments, cursor=0)
    return replace(state, sources=(source, *state.sources[1:]), choices=state.choices + 1)


def _join(planner: Planner, state: PerformerState, segment: JoinSource) -> PerformerState:
    """Fade in a second source, from the pose of its label that is most like the shown one."""
    state = _drop_segment(state)
    frame, rate = state.frame, planner.rate
    joined = next(
        (source for source in state.sources[1:] if source.label == segment.label and not source.is_replaying), None
    )
    if joined is None:
        space = planner.runtimes[segment.label].space
        x = space.latent_of(state.features[None])[0][0]
        features = space.features_of(x[None])[0]
        joined = BlendSource(segment.label, x, np.zeros_like(x), (), 0, features, np.zeros_like(features), 0.0, 0.0)
    segments = (
        *planner.plan_route(segment.label, joined.x, segment.label, segment.point),
        planner.hold(segment.label, segment.point),
    )
    others = (source for source in state.sources[1:] if source is not joined)
    joined = replace(joined.fade_to(segment.weight, frame, rate), plan=segments, cursor=0)
    return replace(state, sources=(state.main_source.fade_to(1 - segment.weight, frame, rate), joined, *others))


def _next_segment(planner: Planner, state: PerformerState) -> PerformerState:
    replaying = state.main_source.is_replaying
    state = _drop_segment(state)
    return stop_source(planner, state) if replaying else state


def _drop_segment(state: PerformerState) -> PerformerState:
    source = replace(state.main_source, plan=state.main_source.plan[1:], cursor=0)
    return replace(state, sources=(source, *state.sources[1:]))


def stop_source(planner: Planner, state: PerformerState) -> PerformerState:
    """The state at the end of a replayed clip: the particle starts there, with a limited velocity."""
    source = state.main_source
    return _restart_source(planner, state, source.label, source.x, "particle")


def _begin_replay(planner: Planner, state: PerformerState, segment: ReplayClip) -> PerformerState:
    """Fade in the clip over the particle, which holds where it is."""
    source, frame = state.main_source, state.frame
    rate = (segment.features[min(1, len(segment.features) - 1)] - segment.features[0]) * planner.rate
    stays = replace(source, plan=(planner.hold(source.label, source.x),), cursor=0)
    started = replace(
        source, x=segment.latents[0], features=segment.features[0], rate=rate, weight_from=0.0, weight_to=0.0
    )
    started = replace(started, weight_rate=0.0, fade_start=frame).fade_to(
        source.weight_to, frame, planner.rate, MIN_BLEND_SECONDS
    )
    event = PerformanceEvent(
        frame, f"play {segment.clip}", state.label, float(planner.model.distance(state.features, started.features))
    )
    sources = (started, fade_out_source(planner, stays, frame, MIN_BLEND_SECONDS), *state.sources[1:])
    return replace(state, sources=sources, event=(*state.event, event))


def _restart_source(planner: Planner, state: PerformerState, label: str, x: Array, what: str) -> PerformerState:
    """Move the main source to a latent of a label.

    Beyond a bridge it takes the velocity of its next path, else a velocity as near as possible to that of its pose.
    """
    runtime, segment = planner.runtimes[label], state.main_source.current_segment
    if what == BRIDGE_EVENT and isinstance(segment, FollowPath):
        velocity = (segment.points[1] - segment.points[0]) * planner.rate
    else:
        velocity = runtime.limit_velocity(runtime.space.latent_velocity_of(x, state.main_source.rate))
    features = runtime.space.features_of(x[None])[0]
    rate = runtime.space.velocity_of(x[None], velocity[None])[0]
    source = replace(state.main_source, label=label, x=x, velocity=velocity, features=features, rate=rate)
    return _inertialise_with_event(planner, replace(state, sources=(source, *state.sources[1:])), what)


def _inertialise_with_event(planner: Planner, state: PerformerState, what: str) -> PerformerState:
    """`inertialise`, and an event with the gap in metres."""
    features, _ = mix_sources(state.sources, state.frame, planner.rate)
    event = PerformanceEvent(state.frame, what, state.label, float(planner.model.distance(state.features, features)))
    return replace(inertialise(planner, state), event=(*state.event, event))


def inertialise(planner: Planner, state: PerformerState, seconds: float | None = None) -> PerformerState:
    """Start a decay of the difference between the shown features and the mixed sources, and of its rate.

    It takes `seconds`, or a time by the size of the difference.
    """
    features, rate = mix_sources(state.sources, state.frame, planner.rate)
    offset, velocity = state.features - features, state.rate - rate
    gap = float(planner.model.difference(state.features, features))
    kick = float(planner.model.difference(state.rate, rate))
    hardest = BLEND_VELOCITY_CHANGE_RATIO * planner.max_velocity_change * planner.model.rate
    # a single limb with a large offset needs time, too: x0 h0(t / T) accelerates by up to 6 x0 / T^2
    alone = np.abs(offset) * planner.model.weights / (planner.max_feature_velocity_changes * planner.model.rate)
    needed = max(
        2 * gap / planner.speed,
        6 * kick / hardest,
        float(np.sqrt(6 * alone.max(initial=0.0) / BLEND_VELOCITY_CHANGE_RATIO)),
    )
    duration = float(np.clip(needed, MIN_BLEND_SECONDS, MAX_BLEND_SECONDS)) if seconds is None else seconds
    decay = springs.init_decay(offset, velocity, duration, MIN_BRAKE_SECONDS)
    return replace(state, blend=Blend(decay, state.frame))


def start_crossfade(planner: Planner, state: PerformerState, segments: tuple[PlanSegment, ...]) -> PerformerState:
    """Interrupt a fast main source: it goes on as it was and fades out, and another starts from there.

    To stop it would throw its limbs beyond their stride: what moves fast is about to turn by itself.
    """
    source, frame = state.main_source, state.frame
    features = planner.runtimes[source.label].space.features_of(source.x[None])[0]
    still = np.zeros_like(features)
    started = BlendSource(
        source.label, source.x, np.zeros_like(source.x), segments, 0, features, still, 0.0, 0.0, 0.0, frame
    )
    started = started.fade_to(source.weight_to, frame, planner.rate, MIN_BLEND_SECONDS)
    return replace(
        state, sources=(started, fade_out_source(planner, source, frame, MIN_BLEND_SECONDS), *state.sources[1:])
    )


def fade_out_source(planner: Planner, source: BlendSource, frame: int, seconds: float = FADE_SECONDS) -> BlendSource:
    """A source that fades out: it ends its current segment, and then holds."""
    if source.weight_to == 0:
        return source  # it is leaving already
    now, last = source.plan[:1], source.x
    if isinstance(source.current_segment, FollowPath):
        last = source.current_segment.points[-1]
    elif isinstance(source.current_segment, ReplayClip):
        now = (_extend_replay(source.current_segment, planner.rate),)
    elif not isinstance(source.current_segment, HoldSegment | SelfSteppingSegment):
        now = ()
    return replace(source.fade_to(0, frame, planner.rate, seconds), plan=(*now, planner.hold(source.label, last)))


def _extend_replay(segment: ReplayClip, rate: float) -> ReplayClip:
    """A clip that is extended by the time of a fade, in which it comes to rest."""
    count = round(FADE_SECONDS * rate) + 1
    speed = segment.features[-1] - segment.features[max(len(segment.features) - 2, 0)]
    u = np.arange(1, count + 1) / count
    beyond = np.outer(count * u * (1 + u * u * (u * (8 - 3 * u) - 6)), speed)
    latents = np.repeat(segment.latents[-1:], count, axis=0)
    return ReplayClip(
        segment.clip,
        np.concatenate([segment.latents, latents]),
        np.concatenate([segment.features, (segment.features[-1] + beyond).astype(segment.features.dtype)]),
    )


@dataclass(frozen=True, eq=False)
class VelocityLimit:
    """The joints of a character, and the largest acceleration of any of them in its clips."""

    rig: DirectRig
    joints: Array  # (J,) those of the skin
    max_acceleration: float  # metres a second squared

    @classmethod
    def from_model(cls, model: PerformanceModel, rig: Rig) -> VelocityLimit | None:
        """The limit of a model's clips; None where nothing moves, or the rig is not one of joints."""
        if not isinstance(rig, DirectRig):
            return None
        most, joints = 0.0, np.asarray(rig.character.joints)
        for space in model.spaces.values():
            for segment in space.segments:
                rows = model.encoder.decode(space.features[segment.start : segment.stop])
                turns = np.linalg.norm(np.diff(_places(rig, rows, joints), 2, axis=0), axis=-1)
                most = max(most, float(turns.max(initial=0.0)) * model.rate**2)
        return cls(rig, joints, most) if most > 0 else None

    def excess(self, before: Array, rows: Array, rate: float) -> Array:
        """(M,) acceleration over the clips' largest, of rows (M, C) that follow the two rows `before` (2, C)."""
        past, last = _places(self.rig, before, self.joints)
        turn = _places(self.rig, rows, self.joints) - 2 * last + past
        return np.asarray(np.linalg.norm(turn, axis=-1).max(axis=-1) * rate**2 / self.max_acceleration)

    def enforce(
        self, planner: Planner, ready: Sequence[PerformerState], after: list[PerformerState], rows: Array
    ) -> None:
        """Change the states `after` a frame and their rows (M, C), in place, where they exceed the limit."""
        for i, (previous, state) in enumerate(zip(ready, after)):
            source = state.main_source
            rests = isinstance(source.current_segment, HoldSegment) and source.cursor > planner.rate
            goes = isinstance(source.current_segment, SelfSteppingSegment)
            if len(state.before) < 2 or (state.alone > 2 and (rests or goes or source.is_replaying)):
                continue  # clips as they are, for the three frames of an acceleration, or hardly a motion
            before = np.stack(state.before)
            if self.excess(before, rows[i : i + 1], planner.rate)[0] <= 1:
                continue
            s, b = CUT_CANDIDATES.T[..., None]
            ahead = previous.features + b * previous.rate / planner.rate
            features = ahead + s * (state.features - ahead)
            excess = self.excess(before, _rows(planner, previous, features), planner.rate)
            shown = features[(excess <= MAX_CUT_RATIO).argmax() if (excess <= MAX_CUT_RATIO).any() else excess.argmin()]
            if excess.min() > MAX_CUT_RATIO:
                shown = self._solve_within_limit(planner, previous, before, shown)
            rows[i] = _rows(planner, previous, shown[None])[0]
            after[i] = _cut_to_features(planner, previous, state, shown)

    def _solve_within_limit(self, planner: Planner, previous: PerformerState, before: Array, features: Array) -> Array:
        """Features (E,) changed as little as brings all joints within the limit."""
        past, last = _places(self.rig, before, self.joints)
        probes = PROBE_STEP_FEATURES * np.vstack([np.zeros(len(features)), np.eye(len(features))])
        for _ in range(NEWTON_STEPS):
            places = _places(self.rig, _rows(planner, previous, features + probes), self.joints)
            turns = (places - 2 * last + past) * planner.rate**2 / self.max_acceleration
            length = np.linalg.norm(turns[0], axis=-1)
            if length.max() <= MAX_CUT_RATIO:
                break
            watched = length > WATCHED_JOINT_RATIO
            wanted = turns[0, watched] * (np.minimum(MAX_CUT_RATIO**2 / length[watched], 1) - 1)[:, None]
            slopes = (turns[1:, watched] - turns[0, watched]).reshape(len(features), -1) / PROBE_STEP_FEATURES
            features = features + np.linalg.lstsq(slopes.T, wanted.ravel(), rcond=1e-3)[0]
        return features


def _rows(planner: Planner, previous: PerformerState, features: Array) -> Array:
    """(K, C) rows of features (K, E), clamped to the clips' range, on the ground of the state."""
    ground, shown = previous.ground, planner.range.soft_clamp(features)
    return planner.place(shown, np.tile((ground.x, ground.z, ground.heading), (len(shown), 1)))


def _places(rig: DirectRig, rows: Array, joints: Array) -> Array:
    """(F, J, 3) positions of joints in rows (F, C)."""
    return np.asarray(rig.joints(rows)[..., :3, 3][:, joints])


def _cut_to_features(
    planner: Planner, before: PerformerState, state: PerformerState, features: Array
) -> PerformerState:
    """The state with other features (E,); the difference decays."""
    ground = planner.ground_after(before, planner.range.soft_clamp(features), state.travel)
    rate = (features - before.features) * planner.rate
    return inertialise(planner, replace_state(state, features=features, rate=rate, ground=ground), CUT_RETURN_SECONDS)
