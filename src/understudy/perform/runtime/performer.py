"""Performer: a character acts live, a frame at a time.

    performer = Performer(model)
    state = performer.init("neutral")
    state, row = performer.step(state, Transition("happy"))       # a command now and then, a pose every frame

Each frame the particle of each blend source moves (`step_sources`), its latent becomes features [Bailey 2016, eq. 8],
sources are mixed, the difference that a switch left is added and fades (`sequencer`), and the layers (feet, eyes,
breath) are applied on top. Particles of one label move together, of however many characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from understudy.character.rig import PosedRig, rig_of
from understudy.checks import Array
from understudy.maths import springs
from understudy.perform.commands import Command, Go, Idle, LookAt, TurnTo
from understudy.perform.features.root_motion import GroundFrame
from understudy.perform.layers.layer import Layer, LayerContext, apply_layer
from understudy.perform.model import PerformanceModel, check_character
from understudy.perform.runtime import latent_path, particle, sequencer
from understudy.perform.runtime.cycles import step_cycles
from understudy.perform.runtime.locomotion import (
    Locomote,
    LocomotionState,
    start_locomotion,
    travel_after,
    turn_seconds,
)
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
    RideCycle,
    SelfSteppingSegment,
    StillPose,
    mix_sources,
    replace_state,
)

if TYPE_CHECKING:
    from understudy.perform.pose_model import PoseModel

# Bounds of the idle radius, by liveliness: a tenth of it is no longer visible, and twice the radius leaves the pose.
MIN_RADIUS_RATIO, MAX_RADIUS_RATIO = 0.25, 2.0
# A particle that arrives faster than this at the point to hold would be thrown back by the constraint, so it brakes on
# a path first. The hover itself is slower.
MAX_ARRIVAL_RADII_PER_S = 2.0
# Streams of the random force: one for each source of a character.
STREAMS_PER_CHARACTER = 2


class Performer:
    """Performs a model frame by frame: commands in, one pose of the rig a frame out.

    A performer keeps nothing that changes; that is the state's, which `init` makes and `step` hands on. Several
    characters are several states: `step_all` moves them together, which is far faster than one by one.

    Args:
        model: A fitted `PoseModel`, or a `PerformanceModel`.
        rig: Rig of the character; None takes that of the model.
        rate: Frames a second of the performance; None takes that of the model.
        layers: Layers on top of the learnt motion. True: all that the character has controls for (breath, feet, gaze,
            blinks), False: none, or a list of them.
        seed: Seed of the random force.
        prepared: Whether to prepare for all commands now. Without it the first commands take longer.

    Raises:
        InvalidInput: If the rig is not that of the character which the model was learnt from.
        NotFitted: If the model was not fitted.

    Example:
        >>> performer = us.Performer(us.load("lamp.understudy"))
        >>> state = performer.init("curious")
        >>> state, row = performer.step(state, us.Transition("happy"))
        >>> while not performer.is_done(state):
        ...     state, row = performer.step(state)
        >>> state.label, row.shape == performer.rig.rest.shape
        ('happy', True)
    """

    def __init__(
        self,
        model: PoseModel | PerformanceModel,
        rig: PosedRig | None = None,
        rate: float | None = None,
        *,
        layers: bool | Sequence[Layer] = True,
        seed: int = 0,
        prepared: bool = True,
    ) -> None:
        learnt = model if isinstance(model, PerformanceModel) else model.model_
        if rig is None:
            rig = _rig_in_model(learnt) if isinstance(model, PerformanceModel) else model.rig
        check_character(learnt, rig.channels, rig.character.name)
        self.model, self.rig = learnt, rig
        self.layers = _layers_for(layers, rig, learnt)
        self.rate = learnt.rate if rate is None else float(rate)
        self.planner = Planner(learnt, self.rate, seed, rig)
        self._bound = VelocityLimit.from_model(learnt, rig)
        self._prepared = False
        if prepared:
            self.prepare()

    def prepare(self) -> None:
        """Make all that any command needs, once. It may run beside frames, in another thread."""
        if not self._prepared:
            self.planner.prepare()
            self._prepared = True

    def init(self, label: str | None = None, pose: str | None = None, seed: int = 0) -> PerformerState:
        """The state before the first frame: the character idles at a pose.

        Args:
            label: The label to begin in; None takes the first of the model, or one that has the pose.
            pose: The pose, as in `GoTo`; None takes the pose that shows the label best.
            seed: Seed of this character: two states of one performer differ by their seeds.

        Returns:
            The state.

        Raises:
            InvalidInput: If the label or the pose is unknown.
        """
        first = self.model.labels[0]
        label = label or (first if pose is None else self.planner.label_of(pose, first))
        runtime = self.planner.runtimes[self.model.space(label).label]
        x = runtime.home if pose is None else self.planner.latent(label, pose)
        features = runtime.space.features_of(x[None])[0]
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
        """Whether the last command has arrived, or has taken its time.

        Args:
            state: A state of this performer.

        Returns:
            False while the command runs.
        """
        if state.until is not None:
            return state.frame >= state.until
        return (
            isinstance(state.main_source.current_segment, HoldSegment)
            and state.main_source.current_segment.frames is None
        )

    def step(self, state: PerformerState, command: Command | None = None) -> tuple[PerformerState, Array]:
        """Go one frame on.

        Args:
            state: The state of the character.
            command: A command that takes over at once, whatever the character does; None goes on.

        Returns:
            The new state, and the pose (C,) of the rig.

        Raises:
            InvalidInput: If the command names what the model does not have.
        """
        (state,), rows = self.step_all([state], [command])
        return state, rows[0]

    def step_all(
        self, states: Sequence[PerformerState], commands: Sequence[Command | None] | None = None
    ) -> tuple[list[PerformerState], Array]:
        """Go one frame on with many characters at once.

        Args:
            states: The states of M characters.
            commands: A command or None for each of them; None: no command for any.

        Returns:
            The M new states, and the poses (M, C) of the rig.

        Raises:
            InvalidInput: If a command names what the model does not have.
        """
        commanded = [
            state if command is None else self.command(state, command)
            for state, command in zip(states, commands or [None] * len(states))
        ]
        ready = [sequencer.resolve_segments(self.planner, state) for state in commanded]
        moved = step_sources(self.planner, ready)
        after, shown = self._advance_states(ready, moved)
        grounds = np.array([(state.ground.x, state.ground.z, state.ground.heading) for state in ready])
        rows = self.planner.place(shown, grounds.reshape(-1, 3))
        if self._bound is not None:
            self._bound.enforce(self.planner, ready, after, rows)
            after = [replace_state(s, before=(*s.before[-1:], row.copy())) for s, row in zip(after, rows)]
        return apply_layers(self.layers, after, rows, self.rate) if self.layers else after, rows

    def command(self, state: PerformerState, command: Command) -> PerformerState:
        """Plan a command; nothing moves before the next step.

        Args:
            state: The state of the character.
            command: The command; it takes over whatever the character does.

        Returns:
            The state with the command planned.

        Raises:
            InvalidInput: If the command names what the model does not have.
        """
        settings = state.live_settings
        if command.liveliness is not None:
            settings = replace(settings, liveliness_to=command.liveliness)
        if command.stillness is not None:
            settings = replace(settings, stillness_to=command.stillness)
        seconds = getattr(command, "seconds", None)
        until = None if seconds is None else state.frame + self.planner.frames(seconds)
        state = replace(
            state,
            live_settings=settings,
            event=(*state.event, PerformanceEvent(state.frame, command.word, state.label)),
        )
        if isinstance(command, LookAt):
            return replace(state, look=command.at, look_until=until)
        state = self._select_source(state, getattr(command, "label", None))
        if isinstance(command, Go | TurnTo):
            return self._start_locomotion(state, command, until)
        source = state.main_source
        if _keeps_plan(command) and all(
            isinstance(segment, FollowPath | CrossBridge | HoldSegment) for segment in source.plan
        ):
            return replace(state, until=until)
        segments = self.planner.plan(command, source.label, source.x)
        if until is not None:  # a path that is too long for the given time takes longer
            until = max(
                until,
                state.frame + sum(len(segment.points) - 1 for segment in segments if isinstance(segment, FollowPath)),
            )
        state = replace(state, until=until, choices=state.choices + 1)
        if (
            source.is_replaying
            or self._is_too_fast_to_redirect(source)
            or self._is_too_short_to_brake(source, segments)
        ):
            return sequencer.start_crossfade(self.planner, state, segments)
        return replace(state, sources=(replace(source, plan=segments, cursor=0), *state.sources[1:]))

    def _start_locomotion(self, state: PerformerState, command: Go | TurnTo, until: int | None) -> PerformerState:
        """The state of a character that goes somewhere; the difference to what it did before decays."""
        going = isinstance(state.main_source.current_segment, Locomote)
        state = start_locomotion(self.planner, state, command)
        if isinstance(command, TurnTo) and until is None:
            until = state.frame + self.planner.frames(turn_seconds(self.planner.locomotion, state))
        state = replace(state, until=until, choices=state.choices + 1)
        return state if going else sequencer.inertialise(self.planner, state)

    def _is_too_fast_to_redirect(self, source: BlendSource) -> bool:
        """Whether a particle is too fast to be led onto another path; it is cross-faded instead."""
        runtime = self.planner.runtimes[source.label]
        return runtime.limit_velocity(source.velocity) is not source.velocity

    def _is_too_short_to_brake(self, source: BlendSource, segments: tuple[PlanSegment, ...]) -> bool:
        """Whether the first path of a new plan is too short to brake a moving particle."""
        first = segments[0]
        if not isinstance(source.current_segment, FollowPath) or not isinstance(first, FollowPath):
            return False
        return (len(first.points) - 1) / self.rate < latent_path.LAUNCH_SECONDS

    def _select_source(self, state: PerformerState, label: str | None) -> PerformerState:
        """Keep the source of the wanted label, or that of the largest weight; the others fade out where they are."""
        if len(state.sources) == 1:
            return state
        stays = [source.weight_to > 0 for source in state.sources]  # not those that fade out already
        weights = [source.weight(state.frame, self.rate) * stay for source, stay in zip(state.sources, stays)]
        named = (i for i, source in enumerate(state.sources) if source.label == label and stays[i])
        first = next(named, int(np.argmax(weights)))
        kept = state.sources[first].fade_to(1, state.frame, self.rate)
        others = (source for i, source in enumerate(state.sources) if i != first)
        return replace(
            state, sources=(kept, *(sequencer.fade_out_source(self.planner, source, state.frame) for source in others))
        )

    def _advance_states(
        self, states: Sequence[PerformerState], sources: Sequence[tuple[BlendSource, ...]]
    ) -> tuple[list[PerformerState], Array]:
        """The states of the next frame, with their ground, and the features (M, E) that are shown."""
        dt = 1 / self.rate
        travels = [travel_after(self.planner, state, mixed) for state, mixed in zip(states, sources)]
        meant = np.empty((len(states), len(self.model.encoder)))
        blends = []
        for pose, state, mixed in zip(meant, states, sources):
            frame, blend = state.frame + 1, state.blend
            pose[:], _ = mix_sources(mixed, frame, self.rate)
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
                sources=mixed,
                features=features,
                rate=(features - state.features) * self.rate,
                blend=blend,
                alone=state.alone + 1 if len(mixed) == 1 and state.blend is None else 0,
                live_settings=state.live_settings.step_to_targets(dt),
                travel=travel,
                ground=self.planner.ground_after(state, seen, travel),
            )
            for state, mixed, blend, features, seen, travel in zip(states, sources, blends, meant, shown, travels)
        ]
        return result, shown


def _rig_in_model(model: PerformanceModel) -> PosedRig:
    """The rig of the character that a model holds."""
    from understudy.cast import restore_character

    return rig_of(restore_character(model.cast, model.embedded))


def _layers_for(layers: bool | Sequence[Layer], rig: PosedRig, model: PerformanceModel) -> tuple[Layer, ...]:
    """All layers of the character, none, or those given."""
    from understudy.perform.layers import layers_of

    if isinstance(layers, bool):
        return layers_of(rig, model=model) if layers else ()
    return tuple(layers)


def _keeps_plan(command: Command) -> bool:
    """Whether a command only asks to idle where the character is, or is going."""
    return isinstance(command, Idle) and not command.poses and command.label is None and command.radius is None


def step_sources(planner: Planner, states: Sequence[PerformerState]) -> list[tuple[BlendSource, ...]]:
    """The sources of each state in the next frame.

    Particles of one label move together, and so do the sources on one cycle. Any other segment steps its own source.
    """
    moved = [[_launch_path(_next_segment(source), 1 / planner.rate) for source in state.sources] for state in states]
    by_label: dict[str, list[tuple[int, int]]] = {}
    by_cycle: dict[str, list[tuple[int, int]]] = {}
    for i, sources in enumerate(moved):
        for j, source in enumerate(sources):
            segment = source.current_segment
            if isinstance(segment, ReplayClip):
                sources[j] = _step_replay(source, segment, planner.rate)
            elif isinstance(segment, StillPose):
                sources[j] = replace_state(source, rate=np.zeros_like(source.rate), cursor=source.cursor + 1)
            elif isinstance(segment, SelfSteppingSegment):
                sources[j] = segment.step(planner, source, states[i])
            elif isinstance(segment, RideCycle):
                by_cycle.setdefault(segment.clip, []).append((i, j))
            else:
                by_label.setdefault(source.label, []).append((i, j))
    for groups, step in ((by_label, _step_particles), (by_cycle, _step_cycles)):
        for name, places in groups.items():
            sources = [moved[i][j] for i, j in places]
            streams = np.array([STREAMS_PER_CHARACTER * states[i].seed + j for i, j in places])
            for (i, j), source in zip(places, step(planner, name, sources, [states[i] for i, _ in places], streams)):
                moved[i][j] = source
    return [tuple(sources) for sources in moved]


def _step_cycles(
    planner: Planner, clip: str, sources: Sequence[BlendSource], states: Sequence[PerformerState], streams: Array
) -> list[BlendSource]:
    cycle = planner.cycle(clip)
    constants, runtime = planner.cycle_constants(clip), planner.runtimes[cycle.label]
    return step_cycles(cycle, runtime, constants, sources, states, streams, planner.seed, planner.rate)


def _next_segment(source: BlendSource) -> BlendSource:
    """The source with its next segment, where the first is over; a second source has only paths and holds."""
    return replace(source, plan=source.plan[1:], cursor=0) if source.is_segment_over else source


def _launch_path(source: BlendSource, dt: float) -> BlendSource:
    """A path begins with the velocity of the particle; a hold is preceded by a path that brakes it."""
    segment = source.current_segment
    if source.cursor or not isinstance(segment, FollowPath | HoldSegment):
        return source
    if isinstance(segment, FollowPath):
        launched = FollowPath(latent_path.launch_profile(segment.points, source.velocity, dt), segment.radius)
        return replace(source, plan=(launched, *source.plan[1:]))
    if np.linalg.norm(source.velocity) <= MAX_ARRIVAL_RADII_PER_S * segment.radius:
        return source
    points = np.tile(segment.point, (round(latent_path.LAUNCH_SECONDS / dt) + 1, 1))
    return replace(
        source, plan=(FollowPath(latent_path.launch_profile(points, source.velocity, dt), segment.radius), *source.plan)
    )


def _step_replay(source: BlendSource, segment: ReplayClip, rate: float) -> BlendSource:
    cursor = source.cursor + 1
    features = segment.features[cursor]
    rates = (features - segment.features[cursor - 1]) * rate
    return replace_state(source, x=segment.latents[cursor], features=features, rate=rates, cursor=cursor)


def _step_particles(
    planner: Planner, label: str, sources: Sequence[BlendSource], states: Sequence[PerformerState], streams: Array
) -> list[BlendSource]:
    """Sources of one label, moved by their particles [Bailey 2016, eqs. 9 to 12], and their poses [eq. 8]."""
    runtime, dt = planner.runtimes[label], 1 / planner.rate
    x = np.array([source.x for source in sources])
    places = np.full((len(sources), 3, x.shape[1]), np.nan)
    numbers = []  # radius, liveliness and stillness of each particle
    for m, (source, state) in enumerate(zip(sources, states)):
        segment, settings = source.plan[0], state.live_settings
        if isinstance(segment, FollowPath):
            places[m, source.cursor == 0 :] = segment.points[max(source.cursor - 1, 0) : source.cursor + 2]
        else:
            assert isinstance(segment, HoldSegment)
            places[m] = segment.point
        strays = segment.radius * min(max(settings.liveliness, MIN_RADIUS_RATIO), MAX_RADIUS_RATIO)
        stays, gain = 0.0, 1.0
        if isinstance(segment, HoldSegment):
            stays, gain = settings.stillness, runtime.hover_gain(source.cursor * dt)
        numbers.append((strays, gain * settings.liveliness * (1 - settings.stillness), stays))
    radius, lively, still = np.array(numbers).T
    times = dt * np.array([state.frame for state in states])
    substeps, smoothness = particle.SUBSTEPS_PER_FRAME, runtime.forces.smoothness
    force = particle.forces_at(planner.seed, streams, times, dt, substeps, smoothness, x.shape[1])
    force *= (runtime.forces.amplitude * lively)[:, None, None]
    velocity = np.array([source.velocity for source in sources])
    to, faster = particle.step(
        runtime.density,
        runtime.forces,
        x,
        velocity,
        places[:, 1],
        places[:, 2],
        radius,
        force,
        dt,
        substeps,
        places[:, 0],
    )
    to = x + (1 - still)[:, None] * (to - x)
    features = runtime.space.features_of(to)
    if planner.travel.size:
        features[:, planner.travel] *= runtime.progress(to, (to - x) / dt)[:, None]
    rates = np.array([source.features for source in sources])
    np.subtract(features, rates, out=rates)
    rates *= planner.rate
    return [
        replace_state(source, x=place, velocity=velocity, features=shown, rate=rate, cursor=source.cursor + 1)
        for source, place, velocity, shown, rate in zip(sources, to, faster, features, rates)
    ]


def apply_layers(
    layers: Sequence[Layer], states: Sequence[PerformerState], rows: Array, rate: float
) -> list[PerformerState]:
    """The states after the layers, in their order; the rows (M, C) are changed in place."""
    moments = [layer_context(state, rate) for state in states]
    before = [state.layers for state in states]
    after = [apply_layer(layer, [own[n] for own in before], rows, moments) for n, layer in enumerate(layers)]
    return [
        replace_state(state, layers=laid, look=moment.look) for state, moment, laid in zip(states, moments, zip(*after))
    ]


def layer_context(state: PerformerState, rate: float) -> LayerContext:
    """The context of one character's frame for its layers."""
    frame, settings, memory = state.frame, state.live_settings, state.main_source.memory
    return LayerContext(
        time=frame / rate,
        dt=1 / rate,
        look=None if state.look_until is not None and frame >= state.look_until else state.look,
        liveliness=settings.liveliness,
        stillness=settings.stillness,
        played=state.main_source.is_replaying,
        label=state.label,
        places=tuple((source.label, source.x, source.weight(frame, rate)) for source in state.sources),
        blending=state.blending,
        feet=memory.feet if isinstance(memory, LocomotionState) else None,
    )
