"""Performer: a character acts live, a frame at a time.

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

from understudy.checks import Array
from understudy.features.encoder import Ground
from understudy.live import motion, path, switching
from understudy.live.bounding import Bound
from understudy.live.commands import Command, Idle, Look
from understudy.live.layers.layer import Layer
from understudy.live.laying import lay_over
from understudy.live.legs import Cross, Follow, Hold, Leg
from understudy.live.planning import Planner
from understudy.live.state import Dials, Event, State, Voice, changed, mixed
from understudy.maths import inertial
from understudy.posespace import Model
from understudy.posespace.model import check_character
from understudy.rig import Rig


class Performer:
    """Performs a model on a rig at a fixed rate. It keeps nothing that changes: that is the state's.

    Several characters at once are several states: `step_all` moves them together, which is far faster than one by one.
    """

    def __init__(
        self,
        model: Model,
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
        self._bound = Bound.of(model, rig)
        self._prepared = False
        if prepared:
            self.prepare()

    def prepare(self) -> None:
        """Make all that any command needs, once; it may run beside frames, in another thread."""
        if not self._prepared:
            self.planner.prepare()
            self._prepared = True

    def init(self, label: str | None = None, pose: str | None = None, seed: int = 0) -> State:
        """The character at a pose (a label's most typical one by default), idling.

        Characters of one performer differ by the `seed` of their state.
        """
        first = self.model.labels[0]
        label = label or (first if pose is None else self.planner.label_of(pose, first))
        stage = self.planner.stages[self.model.space(label).label]
        x = stage.home if pose is None else self.planner.latent(label, pose)
        features = stage.space.features_of(x[None])[0]
        still = np.zeros_like(features)
        return State(
            frame=0,
            seed=seed,
            voices=(Voice(label, x, np.zeros_like(x), (self.planner.hold(label, x),), 0, features, still),),
            features=features,
            rate=still,
            dials=Dials(),
            ground=Ground(0.0, 0.0, 0.0),
            layers=tuple(layer.init(seed) for layer in self.layers),
        )

    def done(self, state: State) -> bool:
        """Whether the last command has got where it was going, or has taken its time."""
        if state.until is not None:
            return state.frame >= state.until
        return isinstance(state.voice.leg, Hold) and state.voice.leg.frames is None

    def step(self, state: State, command: Command | None = None) -> tuple[State, Array]:
        """One frame on: the new state, and the row (C,) of the rig. A command takes over at once."""
        (state,), rows = self.step_all([state], [command])
        return state, rows[0]

    def step_all(
        self, states: Sequence[State], commands: Sequence[Command | None] | None = None
    ) -> tuple[list[State], Array]:
        """One frame on for many characters: their new states, and their rows (M, C)."""
        told = [
            state if command is None else self.tell(state, command)
            for state, command in zip(states, commands or [None] * len(states))
        ]
        ready = [switching.settle(self.planner, state) for state in told]
        moved = motion.move(self.planner, ready)
        after, shown = self._shown(ready, moved)
        grounds = np.array([(state.ground.x, state.ground.z, state.ground.heading) for state in ready])
        rows = self.model.encoder.place(shown, grounds.reshape(-1, 3))
        if self._bound is not None:
            self._bound.keep(self.planner, ready, after, rows)
            after = [changed(s, before=(*s.before[-1:], row.copy())) for s, row in zip(after, rows)]
        return lay_over(self.layers, after, rows, self.rate) if self.layers else after, rows

    def tell(self, state: State, command: Command) -> State:
        """The state with a command planned, whatever it was doing; nothing moves yet."""
        dials = state.dials
        if command.liveliness is not None:
            dials = replace(dials, liveliness_to=command.liveliness)
        if command.stillness is not None:
            dials = replace(dials, stillness_to=command.stillness)
        seconds = getattr(command, "seconds", None)
        until = None if seconds is None else state.frame + self.planner.frames(seconds)
        state = replace(state, dials=dials, event=(*state.event, Event(state.frame, command.word, state.label)))
        if isinstance(command, Look):
            return replace(state, look=command.at, look_until=until)
        state = self._addressed(state, getattr(command, "label", None))
        voice = state.voice
        if _stays(command) and all(isinstance(leg, Follow | Cross | Hold) for leg in voice.legs):
            return replace(state, until=until)
        legs = self.planner.plan(command, voice.label, voice.x)
        if until is not None:  # a way that cannot be gone in the time that was asked for takes longer
            until = max(until, state.frame + sum(len(leg.points) - 1 for leg in legs if isinstance(leg, Follow)))
        state = replace(state, until=until, choices=state.choices + 1)
        if voice.replaying or self._runs(voice) or self._hurried(voice, legs):
            return switching.leave(self.planner, state, legs)
        return replace(state, voices=(replace(voice, legs=legs, cursor=0), *state.voices[1:]))

    def _runs(self, voice: Voice) -> bool:
        """Whether a particle is too fast to be led onto another path; its pose goes on in the blend instead."""
        stage = self.planner.stages[voice.label]
        return stage.bounded(voice.velocity) is not voice.velocity

    def _hurried(self, voice: Voice, legs: tuple[Leg, ...]) -> bool:
        """Whether a particle on its way has too short a leg before it to give up the velocity that it comes with."""
        first = legs[0]
        if not isinstance(voice.leg, Follow) or not isinstance(first, Follow):
            return False
        return (len(first.points) - 1) / self.rate < path.LAUNCH

    def _addressed(self, state: State, label: str | None) -> State:
        """Of several voices the one in the wanted label goes on, or the loudest; the others fade out where they are."""
        if len(state.voices) == 1:
            return state
        stays = [voice.weight_to > 0 for voice in state.voices]  # those that fade out have nothing to say any more
        weights = [voice.weight(state.frame, self.rate) * stay for voice, stay in zip(state.voices, stays)]
        named = (i for i, voice in enumerate(state.voices) if voice.label == label and stays[i])
        first = next(named, int(np.argmax(weights)))
        kept = state.voices[first].faded(1, state.frame, self.rate)
        others = (voice for i, voice in enumerate(state.voices) if i != first)
        return replace(state, voices=(kept, *(switching.leaving(self.planner, voice, state.frame) for voice in others)))

    def _shown(self, states: Sequence[State], voices: Sequence[tuple[Voice, ...]]) -> tuple[list[State], Array]:
        """The states a frame on, on the ground that follows it, and the features (M, E) that are shown."""
        dt, after = 1 / self.rate, self.model.encoder.ground_after
        meant = np.empty((len(states), len(self.model.encoder)))
        blends = []
        for pose, state, own in zip(meant, states, voices):
            frame, blend = state.frame + 1, state.blend
            pose[:], _ = mixed(own, frame, self.rate)
            if blend is not None:
                age = (frame - blend.start) / self.rate
                pose += inertial.evaluate(blend.decay, age)
                blend = None if age >= float(blend.decay.duration.max(initial=0.0)) else blend
            blends.append(blend)
        shown = self.planner.range.within(meant)
        result = [
            changed(
                state,
                frame=state.frame + 1,
                voices=own,
                features=features,
                rate=(features - state.features) * self.rate,
                blend=blend,
                alone=state.alone + 1 if len(own) == 1 and state.blend is None else 0,
                dials=state.dials.turned(dt),
                ground=after(seen, state.ground, self.rate),
            )
            for state, own, blend, features, seen in zip(states, voices, blends, meant, shown)
        ]
        return result, shown


def _stays(command: Command) -> bool:
    """Whether a command asks for nothing but to idle where it is, or where it is just going."""
    return isinstance(command, Idle) and not command.poses and command.label is None and command.radius is None
