"""Switching: everything that happens between two frames.

A leg is over, a bridge is crossed, a clip begins, a second voice comes in. Whatever is switched, the pose shown and its
velocity go on: the difference of the old motion and the new one, at the switch, decays along a polynomial
(`maths.inertial`). The paper blends the poses of two idling particles instead [Bailey 2016, section 5.3], which needs
the motion to come to rest; this does not, so a command may come at any moment.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.checks import Array
from understudy.live.legs import Choose, Cross, Follow, Hold, Join, Leg, Replay
from understudy.live.planning import Planner
from understudy.live.state import FADE, Blend, Event, State, Voice, mixed
from understudy.maths import inertial

# The paper's 12 frames are 0.5 s. A wider gap takes longer, so that it moves no faster than the clips do; beyond the
# longest the old motion would still be seen under the new one.
SHORTEST_BLEND, LONGEST_BLEND = 0.5, 1.5
# A velocity that decays within T changes by 6 / T of itself a second at first; this part of the clips' own largest
# change is left to it, the rest to the motion that goes on beneath.
GENTLE = 0.5
BRAKES = 0.25  # seconds, in which any velocity is given up at the soonest
BRIDGE = "bridge"  # the event of crossing one
ON_THE_BRIDGE = 1.0  # idle radius from the end of the bridge within which a better match is still the same bridge


def settle(planner: Planner, state: State) -> State:
    """The state with nothing left to do before the next frame."""
    if state.event:
        state = replace(state, event=tuple(event for event in state.event if event.frame == state.frame))
    if len(state.voices) > 1:
        others = (voice for voice in state.voices[1:] if not voice.has_left(state.frame, planner.rate))
        state = replace(state, voices=(state.voice, *others))
    while True:
        leg = state.voice.leg
        if isinstance(leg, Cross):
            state = _cross(planner, state, leg)
        elif isinstance(leg, Choose):
            state = _choose(planner, state, leg)
        elif isinstance(leg, Join):
            state = _join(planner, state, leg)
        elif state.voice.leg_over:
            state = _next_leg(planner, state)
        elif isinstance(leg, Replay) and state.voice.cursor == 0:
            return _begin_replay(planner, state, leg)
        else:
            return state


def turn_off(planner: Planner, state: State) -> State:
    """Training frames have ended: the particle sets off from there, slowly if need be."""
    voice = state.voice
    return _take_over(planner, state, voice.label, voice.x, "particle")


def leave(planner: Planner, state: State, legs: tuple[Leg, ...]) -> State:
    """The first voice is interrupted in full swing: it goes on as it was and fades out, another sets off from there.

    To stop it would throw its limbs beyond their stride: whatever moves fast is about to turn by itself.
    """
    voice, frame = state.voice, state.frame
    features = planner.stages[voice.label].space.features_of(voice.x[None])[0]
    still = np.zeros_like(features)
    begun = Voice(voice.label, voice.x, np.zeros_like(voice.x), legs, 0, features, still, 0.0, 0.0, 0.0, frame)
    begun = begun.faded(voice.weight_to, frame, planner.rate, SHORTEST_BLEND)
    return replace(state, voices=(begun, leaving(planner, voice, frame, SHORTEST_BLEND), *state.voices[1:]))


def leaving(planner: Planner, voice: Voice, frame: int, seconds: float = FADE) -> Voice:
    """A voice that fades out: it ends what takes time, and has nothing else before it."""
    if voice.weight_to == 0:
        return voice  # it is leaving already
    now, last = voice.legs[:1], voice.x
    if isinstance(voice.leg, Follow):
        last = voice.leg.points[-1]
    elif isinstance(voice.leg, Replay):
        now = (_run_out(voice.leg, planner.rate),)
    elif not isinstance(voice.leg, Hold):
        now = ()
    return replace(voice.faded(0, frame, planner.rate, seconds), legs=(*now, planner.hold(voice.label, last)))


def _run_out(leg: Replay, rate: float) -> Replay:
    """A clip that does not end at once: it runs on for as long as a voice takes to fade, and comes to rest."""
    count = round(FADE * rate) + 1
    speed = leg.features[-1] - leg.features[max(len(leg.features) - 2, 0)]
    u = np.arange(1, count + 1) / count
    beyond = np.outer(count * u * (1 + u * u * (u * (8 - 3 * u) - 6)), speed)
    latents = np.repeat(leg.latents[-1:], count, axis=0)
    return Replay(
        leg.clip,
        np.concatenate([leg.latents, latents]),
        np.concatenate([leg.features, (leg.features[-1] + beyond).astype(leg.features.dtype)]),
    )


def _next_leg(planner: Planner, state: State) -> State:
    replaying = state.voice.replaying
    state = _without_leg(state)
    return turn_off(planner, state) if replaying else state


def _without_leg(state: State) -> State:
    voice = replace(state.voice, legs=state.voice.legs[1:], cursor=0)
    return replace(state, voices=(voice, *state.voices[1:]))


def _cross(planner: Planner, state: State, leg: Cross) -> State:
    """The latent beyond the bridge is searched once more, for the pose that the voice has reached just now."""
    stage = planner.stages[leg.label]
    found, _ = stage.space.latent_of(state.voice.features[None], leg.latent[None, None])
    near = np.linalg.norm(found[0] - leg.latent) <= ON_THE_BRIDGE * stage.forces.radius
    return _take_over(planner, _without_leg(state), leg.label, found[0] if near else leg.latent, BRIDGE)


def _take_over(planner: Planner, state: State, label: str, x: Array, what: str) -> State:
    """The first voice goes on at a latent of a label: on the run along a path beyond a bridge, else as nearly as it can
    with the velocity that its pose had."""
    stage, leg = planner.stages[label], state.voice.leg
    if what == BRIDGE and isinstance(leg, Follow):
        velocity = (leg.points[1] - leg.points[0]) * planner.rate
    else:
        velocity = stage.bounded(stage.space.latent_velocity_of(x, state.voice.rate))
    features = stage.space.features_of(x[None])[0]
    rate = stage.space.velocity_of(x[None], velocity[None])[0]
    voice = replace(state.voice, label=label, x=x, velocity=velocity, features=features, rate=rate)
    return _blended(planner, replace(state, voices=(voice, *state.voices[1:])), what)


def _begin_replay(planner: Planner, state: State, leg: Replay) -> State:
    """The clip fades in over the particle, which stays where it is."""
    voice, frame = state.voice, state.frame
    rate = (leg.features[min(1, len(leg.features) - 1)] - leg.features[0]) * planner.rate
    stays = replace(voice, legs=(planner.hold(voice.label, voice.x),), cursor=0)
    begun = replace(voice, x=leg.latents[0], features=leg.features[0], rate=rate, weight_from=0.0, weight_to=0.0)
    begun = replace(begun, weight_rate=0.0, fade_start=frame).faded(
        voice.weight_to, frame, planner.rate, SHORTEST_BLEND
    )
    event = Event(frame, f"play {leg.clip}", state.label, float(planner.model.distance(state.features, begun.features)))
    voices = (begun, leaving(planner, stays, frame, SHORTEST_BLEND), *state.voices[1:])
    return replace(state, voices=voices, event=(*state.event, event))


def _blended(planner: Planner, state: State, what: str) -> State:
    """The same, and the event of it."""
    features, _ = mixed(state.voices, state.frame, planner.rate)
    event = Event(state.frame, what, state.label, float(planner.model.distance(state.features, features)))
    return replace(blended(planner, state), event=(*state.event, event))


def blended(planner: Planner, state: State, seconds: float | None = None) -> State:
    """What is shown now minus what the voices say now, and its rate, from here on to nothing, in its time or so many
    seconds."""
    features, rate = mixed(state.voices, state.frame, planner.rate)
    offset, velocity = state.features - features, state.rate - rate
    gap = float(planner.model.difference(state.features, features))
    kick = float(planner.model.difference(state.rate, rate))
    hardest = GENTLE * planner.jolt * planner.model.rate
    # a lone limb that has far to go takes its time, too: x0 h0(t / T) accelerates by up to 6 x0 / T^2
    alone = np.abs(offset) * planner.model.weights / (planner.jolts * planner.model.rate)
    needed = max(2 * gap / planner.speed, 6 * kick / hardest, float(np.sqrt(6 * alone.max(initial=0.0) / GENTLE)))
    duration = float(np.clip(needed, SHORTEST_BLEND, LONGEST_BLEND)) if seconds is None else seconds
    decay = inertial.init(offset, velocity, duration, BRAKES)
    return replace(state, blend=Blend(decay, state.frame))


def _choose(planner: Planner, state: State, leg: Choose) -> State:
    """Another point than the one it is at, and a while there that is never quite the same."""
    voice, random = state.voice, state.generator()
    away = np.linalg.norm(leg.points - voice.x, axis=1)
    others = np.flatnonzero(away > min(leg.radius, 0.999 * away.max()))
    target = leg.points[random.choice(others if len(others) else len(leg.points))]
    hold = Hold(target, leg.radius, planner.frames(leg.hover * random.uniform(0.6, 1.4)))
    legs = (*planner.way(voice.label, voice.x, voice.label, target), hold, leg)
    voice = replace(voice, legs=legs, cursor=0)
    return replace(state, voices=(voice, *state.voices[1:]), choices=state.choices + 1)


def _join(planner: Planner, state: State, leg: Join) -> State:
    """A second voice fades in, from the pose of its label that is most like what is shown."""
    state = _without_leg(state)
    frame, rate = state.frame, planner.rate
    joined = next((voice for voice in state.voices[1:] if voice.label == leg.label and not voice.replaying), None)
    if joined is None:
        space = planner.stages[leg.label].space
        x = space.latent_of(state.features[None])[0][0]
        features = space.features_of(x[None])[0]
        joined = Voice(leg.label, x, np.zeros_like(x), (), 0, features, np.zeros_like(features), 0.0, 0.0)
    legs = (*planner.way(leg.label, joined.x, leg.label, leg.point), planner.hold(leg.label, leg.point))
    others = (voice for voice in state.voices[1:] if voice is not joined)
    joined = replace(joined.faded(leg.weight, frame, rate), legs=legs, cursor=0)
    return replace(state, voices=(state.voice.faded(1 - leg.weight, frame, rate), joined, *others))
