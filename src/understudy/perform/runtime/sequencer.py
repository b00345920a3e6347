"""Switching: everything that happens between two frames.

A leg is over, a bridge is crossed, a clip begins, a second voice comes in. Whatever is switched, the pose shown and its
velocity go on: the difference of the old motion and the new one, at the switch, decays along a polynomial
(`maths.inertial`). The paper blends the poses of two idling particles instead [Bailey 2016, section 5.3], which needs
the motion to come to rest; this does not, so a command may come at any moment.

Bounding: whatever is asked for when, no joint changes its velocity more suddenly than in some clip.

A blend of two motions can be harsher than either: the clip that begins turns while the one that is left still brakes.
So the change is measured in the world, and where it is too much, something else is shown:

    y = p + s (y - p),      p = y1 + b (y1 - y2),

y being the features of this frame and y1, y2 those shown before. Of a few s and b the first is taken that is within
the clips' largest change: as much of the new pose as goes, else coasting, else braking, since what swings at full speed
turns suddenly by itself. Where none of them is, the gentlest is changed as little as brings its joints within (a few
Newton steps). What is left out is blended away from there on, as after any switch (`switching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.character.rig import DirectRig, Rig
from understudy.checks import Array
from understudy.maths import springs
from understudy.perform import PoseModel
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
    mix_sources,
    replace_state,
)

# The paper's 12 frames are 0.5 s. A wider gap takes longer, so that it moves no faster than the clips do; beyond the
# longest the old motion would still be seen under the new one.
MIN_BLEND_SECONDS, MAX_BLEND_SECONDS = 0.5, 1.5
# A velocity that decays within T changes by 6 / T of itself a second at first; this part of the clips' own largest
# change is left to it, the rest to the motion that goes on beneath.
BLEND_VELOCITY_CHANGE_RATIO = 0.5
MIN_BRAKE_SECONDS = 0.25  # seconds, in which any velocity is given up at the soonest
BRIDGE_EVENT = "bridge"  # the event of crossing one
SAME_BRIDGE_RADII = 1.0  # idle radius from the end of the bridge within which a better match is still the same bridge


def resolve_segments(planner: Planner, state: PerformerState) -> PerformerState:
    """The state with nothing left to do before the next frame."""
    if state.event:
        state = replace(state, event=tuple(event for event in state.event if event.frame == state.frame))
    if len(state.sources) > 1:
        others = (voice for voice in state.sources[1:] if not voice.has_faded_out(state.frame, planner.rate))
        state = replace(state, sources=(state.main_source, *others))
    while True:
        leg = state.main_source.current_segment
        if isinstance(leg, CrossBridge):
            state = _cross(planner, state, leg)
        elif isinstance(leg, ChooseBranch):
            state = _choose(planner, state, leg)
        elif isinstance(leg, JoinSource):
            state = _join(planner, state, leg)
        elif state.main_source.is_segment_over:
            state = _next_segment(planner, state)
        elif isinstance(leg, ReplayClip) and state.main_source.cursor == 0:
            return _begin_replay(planner, state, leg)
        else:
            return state


def stop_source(planner: Planner, state: PerformerState) -> PerformerState:
    """Training frames have ended: the particle sets off from there, slowly if need be."""
    voice = state.main_source
    return _restart_source(planner, state, voice.label, voice.x, "particle")


def start_crossfade(planner: Planner, state: PerformerState, legs: tuple[PlanSegment, ...]) -> PerformerState:
    """The first voice is interrupted in full swing: it goes on as it was and fades out, another sets off from there.

    To stop it would throw its limbs beyond their stride: whatever moves fast is about to turn by itself.
    """
    voice, frame = state.main_source, state.frame
    features = planner.runtimes[voice.label].space.features_of(voice.x[None])[0]
    still = np.zeros_like(features)
    begun = BlendSource(voice.label, voice.x, np.zeros_like(voice.x), legs, 0, features, still, 0.0, 0.0, 0.0, frame)
    begun = begun.fade_to(voice.weight_to, frame, planner.rate, MIN_BLEND_SECONDS)
    return replace(
        state, sources=(begun, fade_out_source(planner, voice, frame, MIN_BLEND_SECONDS), *state.sources[1:])
    )


def fade_out_source(planner: Planner, voice: BlendSource, frame: int, seconds: float = FADE_SECONDS) -> BlendSource:
    """A voice that fades out: it ends what takes time, and has nothing else before it."""
    if voice.weight_to == 0:
        return voice  # it is leaving already
    now, last = voice.plan[:1], voice.x
    if isinstance(voice.current_segment, FollowPath):
        last = voice.current_segment.points[-1]
    elif isinstance(voice.current_segment, ReplayClip):
        now = (_extend_replay(voice.current_segment, planner.rate),)
    elif not isinstance(voice.current_segment, HoldSegment):
        now = ()
    return replace(voice.fade_to(0, frame, planner.rate, seconds), plan=(*now, planner.hold(voice.label, last)))


def _extend_replay(leg: ReplayClip, rate: float) -> ReplayClip:
    """A clip that does not end at once: it runs on for as long as a voice takes to fade, and comes to rest."""
    count = round(FADE_SECONDS * rate) + 1
    speed = leg.features[-1] - leg.features[max(len(leg.features) - 2, 0)]
    u = np.arange(1, count + 1) / count
    beyond = np.outer(count * u * (1 + u * u * (u * (8 - 3 * u) - 6)), speed)
    latents = np.repeat(leg.latents[-1:], count, axis=0)
    return ReplayClip(
        leg.clip,
        np.concatenate([leg.latents, latents]),
        np.concatenate([leg.features, (leg.features[-1] + beyond).astype(leg.features.dtype)]),
    )


def _next_segment(planner: Planner, state: PerformerState) -> PerformerState:
    replaying = state.main_source.is_replaying
    state = _drop_segment(state)
    return stop_source(planner, state) if replaying else state


def _drop_segment(state: PerformerState) -> PerformerState:
    voice = replace(state.main_source, plan=state.main_source.plan[1:], cursor=0)
    return replace(state, sources=(voice, *state.sources[1:]))


def _cross(planner: Planner, state: PerformerState, leg: CrossBridge) -> PerformerState:
    """The latent beyond the bridge is searched once more, for the pose that the voice has reached just now."""
    stage = planner.runtimes[leg.label]
    found, _ = stage.space.latent_of(state.main_source.features[None], leg.latent[None, None])
    near = np.linalg.norm(found[0] - leg.latent) <= SAME_BRIDGE_RADII * stage.forces.radius
    return _restart_source(planner, _drop_segment(state), leg.label, found[0] if near else leg.latent, BRIDGE_EVENT)


def _restart_source(planner: Planner, state: PerformerState, label: str, x: Array, what: str) -> PerformerState:
    """The first voice goes on at a latent of a label: on the run along a path beyond a bridge, else as nearly as it can
    with the velocity that its pose had."""
    stage, leg = planner.runtimes[label], state.main_source.current_segment
    if what == BRIDGE_EVENT and isinstance(leg, FollowPath):
        velocity = (leg.points[1] - leg.points[0]) * planner.rate
    else:
        velocity = stage.limit_velocity(stage.space.latent_velocity_of(x, state.main_source.rate))
    features = stage.space.features_of(x[None])[0]
    rate = stage.space.velocity_of(x[None], velocity[None])[0]
    voice = replace(state.main_source, label=label, x=x, velocity=velocity, features=features, rate=rate)
    return _inertialise_with_event(planner, replace(state, sources=(voice, *state.sources[1:])), what)


def _begin_replay(planner: Planner, state: PerformerState, leg: ReplayClip) -> PerformerState:
    """The clip fades in over the particle, which stays where it is."""
    voice, frame = state.main_source, state.frame
    rate = (leg.features[min(1, len(leg.features) - 1)] - leg.features[0]) * planner.rate
    stays = replace(voice, plan=(planner.hold(voice.label, voice.x),), cursor=0)
    begun = replace(voice, x=leg.latents[0], features=leg.features[0], rate=rate, weight_from=0.0, weight_to=0.0)
    begun = replace(begun, weight_rate=0.0, fade_start=frame).fade_to(
        voice.weight_to, frame, planner.rate, MIN_BLEND_SECONDS
    )
    event = PerformanceEvent(
        frame, f"play {leg.clip}", state.label, float(planner.model.distance(state.features, begun.features))
    )
    voices = (begun, fade_out_source(planner, stays, frame, MIN_BLEND_SECONDS), *state.sources[1:])
    return replace(state, sources=voices, event=(*state.event, event))


def _inertialise_with_event(planner: Planner, state: PerformerState, what: str) -> PerformerState:
    """The same, and the event of it."""
    features, _ = mix_sources(state.sources, state.frame, planner.rate)
    event = PerformanceEvent(state.frame, what, state.label, float(planner.model.distance(state.features, features)))
    return replace(inertialise(planner, state), event=(*state.event, event))


def inertialise(planner: Planner, state: PerformerState, seconds: float | None = None) -> PerformerState:
    """What is shown now minus what the voices say now, and its rate, from here on to nothing, in its time or so many
    seconds."""
    features, rate = mix_sources(state.sources, state.frame, planner.rate)
    offset, velocity = state.features - features, state.rate - rate
    gap = float(planner.model.difference(state.features, features))
    kick = float(planner.model.difference(state.rate, rate))
    hardest = BLEND_VELOCITY_CHANGE_RATIO * planner.max_velocity_change * planner.model.rate
    # a lone limb that has far to go takes its time, too: x0 h0(t / T) accelerates by up to 6 x0 / T^2
    alone = np.abs(offset) * planner.model.weights / (planner.max_feature_velocity_changes * planner.model.rate)
    needed = max(
        2 * gap / planner.speed,
        6 * kick / hardest,
        float(np.sqrt(6 * alone.max(initial=0.0) / BLEND_VELOCITY_CHANGE_RATIO)),
    )
    duration = float(np.clip(needed, MIN_BLEND_SECONDS, MAX_BLEND_SECONDS)) if seconds is None else seconds
    decay = springs.init_decay(offset, velocity, duration, MIN_BRAKE_SECONDS)
    return replace(state, blend=Blend(decay, state.frame))


def _choose(planner: Planner, state: PerformerState, leg: ChooseBranch) -> PerformerState:
    """Another point than the one it is at, and a while there that is never quite the same."""
    voice, random = state.main_source, state.generator()
    away = np.linalg.norm(leg.points - voice.x, axis=1)
    others = np.flatnonzero(away > min(leg.radius, 0.999 * away.max()))
    target = leg.points[random.choice(others if len(others) else len(leg.points))]
    hold = HoldSegment(target, leg.radius, planner.frames(leg.hover * random.uniform(0.6, 1.4)))
    legs = (*planner.plan_route(voice.label, voice.x, voice.label, target), hold, leg)
    voice = replace(voice, plan=legs, cursor=0)
    return replace(state, sources=(voice, *state.sources[1:]), choices=state.choices + 1)


def _join(planner: Planner, state: PerformerState, leg: JoinSource) -> PerformerState:
    """A second voice fades in, from the pose of its label that is most like what is shown."""
    state = _drop_segment(state)
    frame, rate = state.frame, planner.rate
    joined = next((voice for voice in state.sources[1:] if voice.label == leg.label and not voice.is_replaying), None)
    if joined is None:
        space = planner.runtimes[leg.label].space
        x = space.latent_of(state.features[None])[0][0]
        features = space.features_of(x[None])[0]
        joined = BlendSource(leg.label, x, np.zeros_like(x), (), 0, features, np.zeros_like(features), 0.0, 0.0)
    legs = (*planner.plan_route(leg.label, joined.x, leg.label, leg.point), planner.hold(leg.label, leg.point))
    others = (voice for voice in state.sources[1:] if voice is not joined)
    joined = replace(joined.fade_to(leg.weight, frame, rate), plan=legs, cursor=0)
    return replace(state, sources=(state.main_source.fade_to(1 - leg.weight, frame, rate), joined, *others))


MAX_CUT_RATIO = 0.99  # of the clips' own, which what is cut may reach
# Pairs of s and b, from as much as possible of what was to be shown to as little.
CUT_CANDIDATES = np.array([(s, b) for s in (0.9, 0.75, 0.6, 0.45, 0.3, 0.15, 0.0) for b in (1.0, 0.85, 0.6, 0.3)])
WATCHED_JOINT_RATIO = 0.9  # of the clips' own: joints that turn so suddenly are watched while others are brought within
NEWTON_STEPS = 4  # of Newton
PROBE_STEP_FEATURES = 1e-4  # of a feature, to find how joints answer
CUT_RETURN_SECONDS = 0.4  # seconds in which what was cut comes back


@dataclass(frozen=True, eq=False)
class VelocityLimit:
    """The joints of a character, and how suddenly they turn in its clips."""

    rig: DirectRig
    joints: Array  # (J,) those of the skin
    max_acceleration: float  # metres a second squared

    @classmethod
    def from_model(cls, model: PoseModel, rig: Rig) -> VelocityLimit | None:
        """The bound of a model's clips; None where nothing moves, or where places of joints do not tell the look."""
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
        """(M,) how many times the clips' largest change of velocity rows (M, C) are after the two before (2, C)."""
        past, last = _places(self.rig, before, self.joints)
        turn = _places(self.rig, rows, self.joints) - 2 * last + past
        return np.asarray(np.linalg.norm(turn, axis=-1).max(axis=-1) * rate**2 / self.max_acceleration)

    def enforce(
        self, planner: Planner, ready: Sequence[PerformerState], after: list[PerformerState], rows: Array
    ) -> None:
        """Change states `after` a frame and their rows (M, C), in place, where they turn too suddenly."""
        for i, (told, state) in enumerate(zip(ready, after)):
            voice = state.main_source
            rests = isinstance(voice.current_segment, HoldSegment) and voice.cursor > planner.rate
            if len(state.before) < 2 or (state.alone > 2 and (rests or voice.is_replaying)):
                continue  # a clip as it is, for the three frames that tell how it turns, or hardly a motion
            before = np.stack(state.before)
            if self.excess(before, rows[i : i + 1], planner.rate)[0] <= 1:
                continue
            s, b = CUT_CANDIDATES.T[..., None]
            ahead = told.features + b * told.rate / planner.rate
            features = ahead + s * (state.features - ahead)
            excess = self.excess(before, _rows(planner, told, features), planner.rate)
            shown = features[(excess <= MAX_CUT_RATIO).argmax() if (excess <= MAX_CUT_RATIO).any() else excess.argmin()]
            if excess.min() > MAX_CUT_RATIO:
                shown = self._solve_within_limit(planner, told, before, shown)
            rows[i] = _rows(planner, told, shown[None])[0]
            after[i] = _cut_to_features(planner, told, state, shown)

    def _solve_within_limit(self, planner: Planner, told: PerformerState, before: Array, features: Array) -> Array:
        """Features (E,) changed as little as makes no joint turn more suddenly than it may."""
        past, last = _places(self.rig, before, self.joints)
        probes = PROBE_STEP_FEATURES * np.vstack([np.zeros(len(features)), np.eye(len(features))])
        for _ in range(NEWTON_STEPS):
            places = _places(self.rig, _rows(planner, told, features + probes), self.joints)
            turns = (places - 2 * last + past) * planner.rate**2 / self.max_acceleration
            length = np.linalg.norm(turns[0], axis=-1)
            if length.max() <= MAX_CUT_RATIO:
                break
            watched = length > WATCHED_JOINT_RATIO
            wanted = turns[0, watched] * (np.minimum(MAX_CUT_RATIO**2 / length[watched], 1) - 1)[:, None]
            slopes = (turns[1:, watched] - turns[0, watched]).reshape(len(features), -1) / PROBE_STEP_FEATURES
            features = features + np.linalg.lstsq(slopes.T, wanted.ravel(), rcond=1e-3)[0]
        return features


def _rows(planner: Planner, told: PerformerState, features: Array) -> Array:
    """(K, C) rows of features (K, E) as they are shown, where the character stands."""
    ground, shown = told.ground, planner.range.soft_clamp(features)
    return planner.model.encoder.place(shown, np.tile((ground.x, ground.z, ground.heading), (len(shown), 1)))


def _places(rig: DirectRig, rows: Array, joints: Array) -> Array:
    """(F, J, 3) of rows (F, C)."""
    return np.asarray(rig.joints(rows)[..., :3, 3][:, joints])


def _cut_to_features(
    planner: Planner, before: PerformerState, state: PerformerState, features: Array
) -> PerformerState:
    """The state with other features (E,); the difference is blended away."""
    ground = planner.model.encoder.ground_after(planner.range.soft_clamp(features), before.ground, planner.rate)
    rate = (features - before.features) * planner.rate
    return inertialise(planner, replace_state(state, features=features, rate=rate, ground=ground), CUT_RETURN_SECONDS)
