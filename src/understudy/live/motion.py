"""Motion: the particles of all voices, a frame on. Those of one label move together, of however many characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from understudy.checks import Array
from understudy.live import noise, particle, path
from understudy.live.legs import Follow, Hold, Replay
from understudy.live.planning import Planner
from understudy.live.state import State, Voice, changed

# How far the liveliness dial widens or narrows what a particle may stray: a tenth of the idle radius is no longer seen,
# and twice the radius leaves the pose that was asked for.
NARROWEST, WIDEST = 0.25, 2.0
# Radii a second: a particle that comes faster than this to where it is to stay would be thrown back by the constraint,
# so it runs out first. The hover itself is slower.
RUN = 2.0


def move(planner: Planner, states: Sequence[State]) -> list[tuple[Voice, ...]]:
    """The voices of each state, one frame on."""
    moved = [[_set_off(_on_its_leg(voice), 1 / planner.rate) for voice in state.voices] for state in states]
    by_label: dict[str, list[tuple[int, int]]] = {}
    for i, voices in enumerate(moved):
        for j, voice in enumerate(voices):
            if isinstance(voice.leg, Replay):
                voices[j] = _replayed(voice, voice.leg, planner.rate)
            else:
                by_label.setdefault(voice.label, []).append((i, j))
    for label, places in by_label.items():
        voices = [moved[i][j] for i, j in places]
        streams = np.array([2 * states[i].seed + j for i, j in places])
        for (i, j), voice in zip(places, _led(planner, label, voices, [states[i] for i, _ in places], streams)):
            moved[i][j] = voice
    return [tuple(voices) for voices in moved]


def _on_its_leg(voice: Voice) -> Voice:
    """A second voice has only paths and holds before it, which follow each other without ado."""
    return replace(voice, legs=voice.legs[1:], cursor=0) if voice.leg_over else voice


def _set_off(voice: Voice, dt: float) -> Voice:
    """A path begins with the velocity that the particle has; a hold lets it run out first."""
    leg = voice.leg
    if voice.cursor or not isinstance(leg, Follow | Hold):
        return voice
    if isinstance(leg, Follow):
        begun = Follow(path.launched(leg.points, voice.velocity, dt), leg.radius)
        return replace(voice, legs=(begun, *voice.legs[1:]))
    if np.linalg.norm(voice.velocity) <= RUN * leg.radius:
        return voice
    points = np.tile(leg.point, (round(path.LAUNCH / dt) + 1, 1))
    return replace(voice, legs=(Follow(path.launched(points, voice.velocity, dt), leg.radius), *voice.legs))


def _replayed(voice: Voice, leg: Replay, rate: float) -> Voice:
    cursor = voice.cursor + 1
    features = leg.features[cursor]
    rates = (features - leg.features[cursor - 1]) * rate
    return changed(voice, x=leg.latents[cursor], features=features, rate=rates, cursor=cursor)


def _led(planner: Planner, label: str, voices: Sequence[Voice], states: Sequence[State], streams: Array) -> list[Voice]:
    """Voices of one label, led by their particles [Bailey 2016, eqs. 9 to 12], and their poses [eq. 8]."""
    stage, dt = planner.stages[label], 1 / planner.rate
    x = np.array([voice.x for voice in voices])
    places = np.full((len(voices), 3, x.shape[1]), np.nan)
    numbers = []  # radius, liveliness and stillness of each
    for m, (voice, state) in enumerate(zip(voices, states)):
        leg, dials = voice.legs[0], state.dials
        if isinstance(leg, Follow):
            places[m, voice.cursor == 0 :] = leg.points[max(voice.cursor - 1, 0) : voice.cursor + 2]
        else:
            assert isinstance(leg, Hold)
            places[m] = leg.point
        strays = leg.radius * min(max(dials.liveliness, NARROWEST), WIDEST)
        stays = dials.stillness if isinstance(leg, Hold) else 0.0
        numbers.append((strays, dials.liveliness * (1 - dials.stillness), stays))
    radius, lively, still = np.array(numbers).T
    times = dt * np.array([state.frame for state in states])
    substeps, smoothness = particle.SUBSTEPS, stage.forces.smoothness
    force = noise.forces_at(planner.seed, streams, times, dt, substeps, smoothness, x.shape[1])
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
        changed(voice, x=place, velocity=velocity, features=shown, rate=rate, cursor=voice.cursor + 1)
        for voice, place, velocity, shown, rate in zip(voices, to, faster, features, rates)
    ]
