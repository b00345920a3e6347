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
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.character.rig import PosedRig, rig_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import springs
from understudy.perform.commands import Command, Go, Idle, LookAt, Mix, PlayClip, Transition, TurnTo
from understudy.perform.features.encoder import mask_features
from understudy.perform.features.root_motion import GroundFrame
from understudy.perform.layers.feet import Feet
from understudy.perform.layers.layer import Layer, LayerContext, apply_layer
from understudy.perform.model import PerformanceModel, check_character
from understudy.perform.runtime import latent_path, particle, sequencer
from understudy.perform.runtime.changes import SHORTEST_SECONDS, URGENCIES
from understudy.perform.runtime.cycles import CycleState, step_cycles
from understudy.perform.runtime.locomotion import (
    Locomote,
    LocomotionState,
    start_locomotion,
    travel_after,
    turn_seconds,
)
from understudy.perform.runtime.planner import Planner
from understudy.perform.runtime.state import (
    CYCLE_EVENT,
    FOOT_EVENT,
    BlendSource,
    ChooseBranch,
    FollowPath,
    HoldSegment,
    LiveSettings,
    PerformanceEvent,
    PerformerState,
    ReplayClip,
    ReturnMotion,
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
# What a performer of another model of the same clips can go on with.
KEPT_FIELDS = ("frame", "features", "rate", "live_settings", "ground", "travel", "look", "look_until")
FEET_FADE_SECONDS = 0.4  # of the feet where no blend of the body says how long
# Streams of the random force: one for each source of a character.
STREAMS_PER_CHARACTER = 64


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
        label = self.model.space(label).label
        segment = self.planner.steady_segment(label)
        if pose is not None:
            segment = self.planner.hold(label, self.planner.latent(label, pose))
        space = self.model.space(label)
        x, still = space.latents[space.home], np.zeros(len(self.model.encoder))
        source = BlendSource(label, x, np.zeros_like(x), (segment,), 0, still, still)
        state = PerformerState(
            frame=0,
            seed=seed,
            sources=(source,),
            features=still,
            rate=still,
            live_settings=LiveSettings(),
            ground=GroundFrame(0.0, 0.0, 0.0),
            layers=tuple(layer.init(seed) for layer in self.layers),
        )
        if isinstance(segment, HoldSegment):
            source = replace(source, x=segment.point)
        source = sequencer.begin_segment(self.planner, state, source, label, segment)
        return replace(state, sources=(source,), features=source.features, rate=source.rate)

    def take_over(self, state: PerformerState) -> PerformerState:
        """Go on where another model of the same clips is, without a jump: a draft, when the model is learnt.

        Args:
            state: A state of the other model's performer, at the same rate.

        Returns:
            The state of this performer: the same pose and velocity, idling in the same label.

        Raises:
            InvalidInput: If the other model has other labels, or other features.
        """
        if state.features.shape != self.planner.range.low.shape:
            raise InvalidInput("the state is of a model of other clips, so this model cannot take it over")
        fresh = self.init(state.label, seed=state.seed)
        source = fresh.main_source
        if isinstance(source.current_segment, HoldSegment):
            space = self.planner.runtimes[source.label].space
            x = space.latent_of(state.features[None])[0][0]
            plan = (self.planner.hold(source.label, x),)
            source = replace(source, x=x, features=space.features_of(x[None])[0], plan=plan)
        same_layers = [type(layer) for layer in state.layers] == [type(layer) for layer in fresh.layers]
        kept = {name: getattr(state, name) for name in KEPT_FIELDS}
        kept["layers"] = state.layers if same_layers else fresh.layers
        return sequencer.inertialise(self.planner, replace(fresh, sources=(source,), **kept))

    def is_done(self, state: PerformerState) -> bool:
        """Whether the last command has arrived, or has taken its time.

        Args:
            state: A state of this performer.

        Returns:
            False while the command runs.
        """
        if state.until is not None:
            return state.frame >= state.until
        return state.main_source.is_steady and state.blend is None

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
        if isinstance(command, Transition | PlayClip) and command.mask is not None:
            return self._mask_command(state, command)
        state = self._select_source(state, command)
        if isinstance(command, Go | TurnTo):
            return self._start_locomotion(state, command, until)
        if _keeps_plan(command) and not any(
            isinstance(segment, ReturnMotion | ChooseBranch) or (isinstance(segment, ReplayClip) and segment.as_made)
            for segment in state.main_source.plan
        ):
            return replace(state, until=until)
        segments, done = self.planner.plan(command, state)
        if until is None and done is not None:
            until = state.frame + round(done * self.rate)
        if until is not None:  # a path that is too long for the given time takes longer
            frames = sum(len(segment.points) - 1 for segment in segments if isinstance(segment, FollowPath))
            until = max(until, state.frame + frames)
        source = state.main_source
        goes_on = bool(segments) and segments[0] is source.current_segment
        source = replace(source, plan=segments, cursor=source.cursor if goes_on else 0)
        return replace(state, sources=(source, *state.sources[1:]), until=until, choices=state.choices + 1)

    def _start_locomotion(self, state: PerformerState, command: Go | TurnTo, until: int | None) -> PerformerState:
        """The state of a character that goes somewhere; the difference to what it did before decays."""
        going = isinstance(state.main_source.current_segment, Locomote)
        state = start_locomotion(self.planner, state, command)
        if isinstance(command, TurnTo) and until is None:
            until = state.frame + self.planner.frames(turn_seconds(self.planner.locomotion, state))
        state = replace(state, until=until, choices=state.choices + 1)
        return state if going else sequencer.inertialise(self.planner, state)

    def _mask_command(self, state: PerformerState, command: Transition | PlayClip) -> PerformerState:
        """A command for some joints alone: it gets a source of its own, laid over the others."""
        assert command.mask is not None
        planner, mask = self.planner, mask_features(self.model.encoder, self.rig.character.skeleton, command.mask)
        label, segments = planner.plan_for_joints(command)
        seconds = command.seconds if isinstance(command, Transition) else None
        seconds = seconds or float(np.interp(command.urgency, URGENCIES, SHORTEST_SECONDS))
        state = sequencer.mask_source(planner, state, segments, label, mask, seconds)
        first = segments[0]
        length = len(first.features) if isinstance(first, ReplayClip) else planner.frames(seconds)
        asked = command.seconds if isinstance(command, PlayClip) else None
        return replace(state, until=state.frame + (length if asked is None else planner.frames(asked)))

    def _select_source(self, state: PerformerState, command: Command) -> PerformerState:
        """The state with one source for the whole body, but for a `Mix`: that of the wanted label or the heaviest.

        Of a `Mix` the labels that it does not name fade out.
        """
        bodies = [source for source in state.sources if source.mask is None]
        masked = tuple(source for source in state.sources if source.mask is not None)
        if len(bodies) == 1:
            return state
        if isinstance(command, Mix):
            rest = (
                source if source.label in command.labels else source.fade_to(0.0, state.frame, self.rate)
                for source in bodies
            )
            return replace(state, sources=(*rest, *masked))
        if isinstance(command, Idle) and _keeps_plan(command):
            return state
        weights = [source.weight(state.frame, self.rate) for source in bodies]
        wanted = getattr(command, "label", None)
        named = (i for i, source in enumerate(bodies) if source.label == wanted and source.weight_to > 0)
        main = bodies[next(named, int(np.argmax(weights)))]
        main = replace(main, weight_from=1.0, weight_to=1.0, weight_rate=0.0)
        return sequencer.inertialise(self.planner, replace(state, sources=(main, *masked)))

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
                live_settings=state.live_settings.step_to_targets(dt),
                travel=travel,
                ground=self.planner.ground_after(state, seen, travel),
                event=_cycle_events(state, mixed[0]),
            )
            for state, mixed, blend, features, seen, travel in zip(states, sources, blends, meant, shown, travels)
        ]
        return result, shown


def _cycle_events(state: PerformerState, source: BlendSource) -> tuple[PerformanceEvent, ...]:
    """The events of a frame, with one more where the main cycle begins again."""
    before, after = state.main_source.memory, source.memory
    if not isinstance(before, CycleState) or not isinstance(after, CycleState) or after.phase >= before.phase:
        return state.event
    segment = source.current_segment
    clip = segment.clip if isinstance(segment, RideCycle) else ""
    return (*state.event, PerformanceEvent(state.frame, CYCLE_EVENT, source.label, clip=clip))


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
    events = _foot_events(layers, states, after)
    return [
        replace_state(state, layers=laid, look=moment.look, event=event)
        for state, moment, laid, event in zip(states, moments, zip(*after), events)
    ]


def _foot_events(
    layers: Sequence[Layer], states: Sequence[PerformerState], after: Sequence[Sequence[Any]]
) -> list[tuple[PerformanceEvent, ...]]:
    """The events of each state, with one more for each foot that lands in this frame."""
    events = [state.event for state in states]
    for n, layer in enumerate(layers):
        if isinstance(layer, Feet):
            for m, state in enumerate(states):
                for joint in layer.landings(state.layers[n], after[n][m]):
                    landing = PerformanceEvent(state.frame - 1, FOOT_EVENT, state.label, joint=joint)
                    events[m] = (*events[m], landing)
    return events


def layer_context(state: PerformerState, rate: float) -> LayerContext:
    """The context of one character's frame for its layers."""
    frame, settings, source, blend = state.frame, state.live_settings, state.main_source, state.blend
    duration = FEET_FADE_SECONDS if blend is None else float(blend.decay.duration.max())
    goes = isinstance(source.current_segment, Locomote) and isinstance(source.memory, LocomotionState)
    return LayerContext(
        time=frame / rate,
        dt=1 / rate,
        look=None if state.look_until is not None and frame >= state.look_until else state.look,
        liveliness=settings.liveliness,
        stillness=settings.stillness,
        played=state.main_source.plays_as_made,
        label=state.label,
        places=tuple((source.label, source.x, source.weight(frame, rate)) for source in state.sources),
        blending=state.blending and (blend is None or (frame - blend.start) / rate < 0.5 * duration),
        blend_seconds=0.5 * duration,
        switched=blend is not None and state.frame == blend.start + 1,
        cycles=isinstance(state.main_source.current_segment, RideCycle),
        feet=source.memory.feet if goes else None,
    )
