"""Laying layers over a performance: what each layer is told of the frame, and the states and rows that come of it.

Motion: the particles of all voices, a frame on. Those of one label move together, of however many characters.

Performer: a character acts live, a frame at a time.

    performer = Performer(model, rig)
    state = performer.init("neutral")
    state, row = performer.step(state, Transition("happy"))       # a command now and then, a pose every frame

Each frame the particle of each voice moves (`motion`), its latent becomes features [Bailey 2016, eq. 8], voices are
mixed, the difference that a switch left is added and fades (`switching`), and the layers (eyes, breath) lie on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from understudy.character.rig import Rig
from understudy.checks import Array
from understudy.maths import springs
from understudy.perform import PoseModel
from understudy.perform.commands import Command, Idle, LookAt
from understudy.perform.features.root_motion import GroundFrame
from understudy.perform.layers.layer import Layer, LayerContext, apply_layer
from understudy.perform.model import check_character
from understudy.perform.runtime import latent_path, particle, sequencer
from understudy.perform.runtime.planner import Planner
from understudy.perform.runtime.sequencer import VelocityLimit
from understudy.perform.runtime.state import (
    BlendSource,
    CrossBridge,
    FollowPath,
    HoldSegment,
    LiveSettings,
    PerformanceEvent,
    PerformerState,
    PlanSegment,
    ReplayClip,
    mix_sources,
    replace_state,
)


def apply_layers(
    layers: Sequence[Layer], states: Sequence[PerformerState], rows: Array, rate: float
) -> list[PerformerState]:
    """The states with the layers on top, in their order; they are laid over the rows (M, C) in place."""
    moments = [layer_context(state, rate) for state in states]
    own = [state.layers for state in states]
    after = [apply_layer(layer, [each[n] for each in own], rows, moments) for n, layer in enumerate(layers)]
    return [
        replace_state(state, layers=laid, look=moment.look) for state, moment, laid in zip(states, moments, zip(*after))
    ]


def layer_context(state: PerformerState, rate: float) -> LayerContext:
    """What the layers of one character know of its frame."""
    frame, dials = state.frame, state.live_settings
    return LayerContext(
        time=frame / rate,
        dt=1 / rate,
        look=None if state.look_until is not None and frame >= state.look_until else state.look,
        liveliness=dials.liveliness,
        stillness=dials.stillness,
        played=state.main_source.is_replaying,
        label=state.label,
        places=tuple((voice.label, voice.x, voice.weight(frame, rate)) for voice in state.sources),
        blending=state.blending,
    )


# How far the liveliness dial widens or narrows what a particle may stray: a tenth of the idle radius is no longer seen,
# and twice the radius leaves the pose that was asked for.
MIN_RADIUS_RATIO, MAX_RADIUS_RATIO = 0.25, 2.0
# Radii a second: a particle that comes faster than this to where it is to stay would be thrown back by the constraint,
# so it runs out first. The hover itself is slower.
MAX_ARRIVAL_RADII_PER_S = 2.0


def step_sources(planner: Planner, states: Sequence[PerformerState]) -> list[tuple[BlendSource, ...]]:
    """The voices of each state, one frame on."""
    moved = [[_launch_path(_next_segment(voice), 1 / planner.rate) for voice in state.sources] for state in states]
    by_label: dict[str, list[tuple[int, int]]] = {}
    for i, voices in enumerate(moved):
        for j, voice in enumerate(voices):
            if isinstance(voice.current_segment, ReplayClip):
                voices[j] = _step_replay(voice, voice.current_segment, planner.rate)
            else:
                by_label.setdefault(voice.label, []).append((i, j))
    for label, places in by_label.items():
        voices = [moved[i][j] for i, j in places]
        streams = np.array([2 * states[i].seed + j for i, j in places])
        for (i, j), voice in zip(
            places, _step_particles(planner, label, voices, [states[i] for i, _ in places], streams)
        ):
            moved[i][j] = voice
    return [tuple(voices) for voices in moved]


def _next_segment(voice: BlendSource) -> BlendSource:
    """A second voice has only paths and holds before it, which follow each other without ado."""
    return replace(voice, plan=voice.plan[1:], cursor=0) if voice.is_segment_over else voice


def _launch_path(voice: BlendSource, dt: float) -> BlendSource:
    """A path begins with the velocity that the particle has; a hold lets it run out first."""
    leg = voice.current_segment
    if voice.cursor or not isinstance(leg, FollowPath | HoldSegment):
        return voice
    if isinstance(leg, FollowPath):
        begun = FollowPath(latent_path.launch_profile(leg.points, voice.velocity, dt), leg.radius)
        return replace(voice, plan=(begun, *voice.plan[1:]))
    if np.linalg.norm(voice.velocity) <= MAX_ARRIVAL_RADII_PER_S * leg.radius:
        return voice
    points = np.tile(leg.point, (round(latent_path.LAUNCH_SECONDS / dt) + 1, 1))
    return replace(
        voice, plan=(FollowPath(latent_path.launch_profile(points, voice.velocity, dt), leg.radius), *voice.plan)
    )


def _step_replay(voice: BlendSource, leg: ReplayClip, rate: float) -> BlendSource:
    cursor = voice.cursor + 1
    features = leg.features[cursor]
    rates = (features - leg.features[cursor - 1]) * rate
    return replace_state(voice, x=leg.latents[cursor], features=features, rate=rates, cursor=cursor)


def _step_particles(
    planner: Planner, label: str, voices: Sequence[BlendSource], states: Sequence[PerformerState], streams: Array
) -> list[BlendSource]:
    """Voices of one label, led by their particles [Bailey 2016, eqs. 9 to 12], and their poses [eq. 8]."""
    stage, dt = planner.runtimes[label], 1 / planner.rate
    x = np.array([voice.x for voice in voices])
    places = np.full((len(voices), 3, x.shape[1]), np.nan)
    numbers = []  # radius, liveliness and stillness of each
    for m, (voice, state) in enumerate(zip(voices, states)):
        leg, dials = voice.plan[0], state.live_settings
        if isinstance(leg, FollowPath):
            places[m, voice.cursor == 0 :] = leg.points[max(voice.cursor - 1, 0) : voice.cursor + 2]
        else:
            assert isinstance(leg, HoldSegment)
            places[m] = leg.point
        strays = leg.radius * min(max(dials.liveliness, MIN_RADIUS_RATIO), MAX_RADIUS_RATIO)
        stays = dials.stillness if isinstance(leg, HoldSegment) else 0.0
        numbers.append((strays, dials.liveliness * (1 - dials.stillness), stays))
    radius, lively, still = np.array(numbers).T
    times = dt * np.array([state.frame for state in states])
    substeps, smoothness = particle.SUBSTEPS_PER_FRAME, stage.forces.smoothness
    force = particle.forces_at(planner.seed, streams, times, dt, substeps, smoothness, x.shape[1])
    force *= (stage.forces.amplitude * lively)[:, None, None]
    velocity = np.array([voice.velocity for voice in voices])
    to, faster = particle.step(
        stage.density, stage.forces, x, velocity, places[:, 1], places[:, 2], radius, force, dt, substeps, places[:, 0]
    )
    to = x + (1 - still)[:, None] * (to - x)
    features = stage.space.features_of(to)
    if planner.travel.size:
        features[:, planner.travel] *= stage.progress(to, (to - x) / dt)[:, None]
    rates = np.array([voice.features for voice in voices])
    np.subtract(features, rates, out=rates)
    rates *= planner.rate
    return [
        replace_state(voice, x=place, velocity=velocity, features=shown, rate=rate, cursor=voice.cursor + 1)
        for voice, place, velocity, shown, rate in zip(voices, to, faster, features, rates)
    ]


class Performer:
    """Performs a model on a rig at a fixed rate. It keeps nothing that changes: that is the state's.

    Several characters at once are several states: `step_all` moves them together, which is far faster than one by one.
    """

    def __init__(
        self,
        model: PoseModel,
        rig: Rig,
        rate: float | None = None,
        seed: int = 0,
        layers: Sequence[Layer] = (),
        prepared: bool = True,
    ) -> None:
        """What is not `prepared` performs at once, and its first commands wait for what `prepare` would have made."""
        check_character(model, rig.channels, getattr(getattr(rig, "character", None), "name", "the rig"))
        self.model, self.rig, self.layers = model, rig, tuple(layers)
        self.rate = model.rate if rate is None else float(rate)
        self.planner = Planner(model, self.rate, seed)
        self._bound = VelocityLimit.from_model(model, rig)
        self._prepared = False
        if prepared:
            self.prepare()

    def prepare(self) -> None:
        """Make all that any command needs, once; it may run beside frames, in another thread."""
        if not self._prepared:
            self.planner.prepare()
            self._prepared = True

    def init(self, label: str | None = None, pose: str | None = None, seed: int = 0) -> PerformerState:
        """The character at a pose (a label's most typical one by default), idling.

        Characters of one performer differ by the `seed` of their state.
        """
        first = self.model.labels[0]
        label = label or (first if pose is None else self.planner.label_of(pose, first))
        stage = self.planner.runtimes[self.model.space(label).label]
        x = stage.home if pose is None else self.planner.latent(label, pose)
        features = stage.space.features_of(x[None])[0]
        still = np.zeros_like(features)
        return PerformerState(
            frame=0,
            seed=seed,
            sources=(BlendSource(label, x, np.zeros_like(x), (self.planner.hold(label, x),), 0, features, still),),
            features=features,
            rate=still,
            live_settings=LiveSettings(),
            ground=GroundFrame(0.0, 0.0, 0.0),
            layers=tuple(layer.init(seed) for layer in self.layers),
        )

    def is_done(self, state: PerformerState) -> bool:
        """Whether the last command has got where it was going, or has taken its time."""
        if state.until is not None:
            return state.frame >= state.until
        return (
            isinstance(state.main_source.current_segment, HoldSegment)
            and state.main_source.current_segment.frames is None
        )

    def step(self, state: PerformerState, command: Command | None = None) -> tuple[PerformerState, Array]:
        """One frame on: the new state, and the row (C,) of the rig. A command takes over at once."""
        (state,), rows = self.step_all([state], [command])
        return state, rows[0]

    def step_all(
        self, states: Sequence[PerformerState], commands: Sequence[Command | None] | None = None
    ) -> tuple[list[PerformerState], Array]:
        """One frame on for many characters: their new states, and their rows (M, C)."""
        told = [
            state if command is None else self.command(state, command)
            for state, command in zip(states, commands or [None] * len(states))
        ]
        ready = [sequencer.resolve_segments(self.planner, state) for state in told]
        moved = step_sources(self.planner, ready)
        after, shown = self._advance_states(ready, moved)
        grounds = np.array([(state.ground.x, state.ground.z, state.ground.heading) for state in ready])
        rows = self.model.encoder.place(shown, grounds.reshape(-1, 3))
        if self._bound is not None:
            self._bound.enforce(self.planner, ready, after, rows)
            after = [replace_state(s, before=(*s.before[-1:], row.copy())) for s, row in zip(after, rows)]
        return apply_layers(self.layers, after, rows, self.rate) if self.layers else after, rows

    def command(self, state: PerformerState, command: Command) -> PerformerState:
        """The state with a command planned, whatever it was doing; nothing moves yet."""
        dials = state.live_settings
        if command.liveliness is not None:
            dials = replace(dials, liveliness_to=command.liveliness)
        if command.stillness is not None:
            dials = replace(dials, stillness_to=command.stillness)
        seconds = getattr(command, "seconds", None)
        until = None if seconds is None else state.frame + self.planner.frames(seconds)
        state = replace(
            state, live_settings=dials, event=(*state.event, PerformanceEvent(state.frame, command.word, state.label))
        )
        if isinstance(command, LookAt):
            return replace(state, look=command.at, look_until=until)
        state = self._select_source(state, getattr(command, "label", None))
        voice = state.main_source
        if _keeps_plan(command) and all(isinstance(leg, FollowPath | CrossBridge | HoldSegment) for leg in voice.plan):
            return replace(state, until=until)
        legs = self.planner.plan(command, voice.label, voice.x)
        if until is not None:  # a way that cannot be gone in the time that was asked for takes longer
            until = max(until, state.frame + sum(len(leg.points) - 1 for leg in legs if isinstance(leg, FollowPath)))
        state = replace(state, until=until, choices=state.choices + 1)
        if voice.is_replaying or self._is_too_fast_to_redirect(voice) or self._is_too_short_to_brake(voice, legs):
            return sequencer.start_crossfade(self.planner, state, legs)
        return replace(state, sources=(replace(voice, plan=legs, cursor=0), *state.sources[1:]))

    def _is_too_fast_to_redirect(self, voice: BlendSource) -> bool:
        """Whether a particle is too fast to be led onto another path; its pose goes on in the blend instead."""
        stage = self.planner.runtimes[voice.label]
        return stage.limit_velocity(voice.velocity) is not voice.velocity

    def _is_too_short_to_brake(self, voice: BlendSource, legs: tuple[PlanSegment, ...]) -> bool:
        """Whether a particle on its way has too short a leg before it to give up the velocity that it comes with."""
        first = legs[0]
        if not isinstance(voice.current_segment, FollowPath) or not isinstance(first, FollowPath):
            return False
        return (len(first.points) - 1) / self.rate < latent_path.LAUNCH_SECONDS

    def _select_source(self, state: PerformerState, label: str | None) -> PerformerState:
        """Of several voices the one in the wanted label goes on, or the loudest; the others fade out where they are."""
        if len(state.sources) == 1:
            return state
        stays = [voice.weight_to > 0 for voice in state.sources]  # those that fade out have nothing to say any more
        weights = [voice.weight(state.frame, self.rate) * stay for voice, stay in zip(state.sources, stays)]
        named = (i for i, voice in enumerate(state.sources) if voice.label == label and stays[i])
        first = next(named, int(np.argmax(weights)))
        kept = state.sources[first].fade_to(1, state.frame, self.rate)
        others = (voice for i, voice in enumerate(state.sources) if i != first)
        return replace(
            state, sources=(kept, *(sequencer.fade_out_source(self.planner, voice, state.frame) for voice in others))
        )

    def _advance_states(
        self, states: Sequence[PerformerState], voices: Sequence[tuple[BlendSource, ...]]
    ) -> tuple[list[PerformerState], Array]:
        """The states a frame on, on the ground that follows it, and the features (M, E) that are shown."""
        dt, after = 1 / self.rate, self.model.encoder.ground_after
        meant = np.empty((len(states), len(self.model.encoder)))
        blends = []
        for pose, state, own in zip(meant, states, voices):
            frame, blend = state.frame + 1, state.blend
            pose[:], _ = mix_sources(own, frame, self.rate)
            if blend is not None:
                age = (frame - blend.start) / self.rate
                pose += springs.evaluate(blend.decay, age)
                blend = None if age >= float(blend.decay.duration.max(initial=0.0)) else blend
            blends.append(blend)
        shown = self.planner.range.soft_clamp(meant)
        result = [
            replace_state(
                state,
                frame=state.frame + 1,
                sources=own,
                features=features,
                rate=(features - state.features) * self.rate,
                blend=blend,
                alone=state.alone + 1 if len(own) == 1 and state.blend is None else 0,
                live_settings=state.live_settings.step_to_targets(dt),
                ground=after(seen, state.ground, self.rate),
            )
            for state, own, blend, features, seen in zip(states, voices, blends, meant, shown)
        ]
        return result, shown


def _keeps_plan(command: Command) -> bool:
    """Whether a command asks for nothing but to idle where it is, or where it is just going."""
    return isinstance(command, Idle) and not command.poses and command.label is None and command.radius is None
