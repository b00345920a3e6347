"""No joint changes its velocity more suddenly than in some clip, whoever asks for what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.perform.layers.walker import RATE, posed, stance, steps, walker

from understudy.character import Asset, Clip
from understudy.character.rig import DirectRig, Rig
from understudy.perform.commands import Idle, PlayClip, Transition
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.sequencer import VelocityLimit
from understudy.perform.runtime.state import BlendSource
from understudy.perform.training import FitSettings, fit_library

Walker = tuple[DirectRig, PerformanceModel]
CLIPS = {"narrow": stance(0.12), "wide": stance(0.32), "march": steps()}


@pytest.fixture(scope="module")
def learned() -> Walker:
    rig = walker(False)
    moved = {
        name: posed(rig, feet, np.outer(0.012 * np.sin(np.arange(len(feet)) / 6) - 0.04, [0, 1, 0]))
        for name, feet in CLIPS.items()
    }
    animations = [Clip(name, rig.channels, rows, RATE) for name, rows in moved.items()]
    return rig, fit_library(
        ClipLibrary.from_asset(Asset([rig.character], animations), RATE), FitSettings(iterations=20), workers=1
    )


def turns(rig: DirectRig, rows: np.ndarray) -> float:
    """Metres a second squared, the largest change of any joint's velocity."""
    places = rig.joints(rows)[..., :3, 3]
    return float(np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).max()) * RATE**2


def test_the_bound_is_that_of_the_clips(learned: Walker) -> None:
    rig, model = learned
    bound = VelocityLimit.from_model(model, rig)
    assert bound is not None
    rows = [model.encoder.decode(s.features[p.start : p.stop]) for s in model.spaces.values() for p in s.segments]
    assert bound.max_acceleration == pytest.approx(max(turns(rig, clip) for clip in rows))
    for clip in rows:
        each = [bound.excess(clip[i - 2 : i], clip[i : i + 1], RATE)[0] for i in range(2, len(clip))]
        assert max(each) <= 1 + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_interrupted_at_any_moment_nothing_turns_more_suddenly(learned: Walker, seed: int) -> None:
    rig, model = learned
    performer, random = Performer(model, rig, RATE, layers=False), np.random.default_rng(seed)
    state, rows = performer.init("narrow", seed=seed), []
    labels = list(CLIPS)
    for _ in range(25):
        label = labels[random.integers(3)]
        command = (Transition(label), Idle(label=label), PlayClip(label))[random.integers(3)]
        for frame in range(int(random.integers(2, 14))):
            state, row = performer.step(state, command if frame == 0 else None)
            rows.append(row)
    bound = VelocityLimit.from_model(model, rig)
    assert bound is not None
    assert turns(rig, np.array(rows)) <= 1.0001 * bound.max_acceleration


def test_without_it_something_would(learned: Walker) -> None:
    """A motion that leaps: what is shown does not."""
    rig, model = learned
    performer = Performer(model, rig, RATE, layers=False)
    state = performer.init("narrow")
    rows = []
    for frame in range(30):
        state, row = performer.step(state, Transition("wide") if frame == 0 else None)
        rows.append(row)
    other = model.space("march")
    leaps = BlendSource(
        "march",
        other.latents[40],
        state.main_source.velocity,
        (performer.planner.hold("march", other.latents[40]),),
        0,
        other.features[40].astype(float),
        state.main_source.rate,
    )
    state = replace(state, sources=(leaps,), blend=None)
    jumped = turns(rig, np.array([*rows[-2:], model.encoder.decode(leaps.features[None])[0]]))
    bound = VelocityLimit.from_model(model, rig)
    assert bound is not None and jumped > bound.max_acceleration
    for _ in range(40):
        state, row = performer.step(state)
        rows.append(row)
    assert turns(rig, np.array(rows)) <= 1.0001 * bound.max_acceleration


def test_rigs_of_controls_have_none(learned: Walker, dragon: Rig) -> None:
    assert VelocityLimit.from_model(learned[1], dragon) is None


def test_who_fades_out_is_not_spoken_to(learned: Walker) -> None:
    """A second command at once speaks to the voice that came in with the first, however faint it still is."""
    rig, model = learned
    performer = Performer(model, rig, RATE, layers=False)
    state = performer.init("march")
    for command in (PlayClip("march"), Transition("narrow"), Idle(radius=0.1)):
        for frame in range(30 if isinstance(command, PlayClip) else 2):
            state, _ = performer.step(state, command if frame == 0 else None)
    assert state.sources[0].weight_to == 1 and all(voice.weight_to == 0 for voice in state.sources[1:])
    assert len(state.sources) > 1 and state.blending
    for _ in range(int(2 * RATE)):
        state, _ = performer.step(state)
    assert len(state.sources) == 1
