"""The layer on a character that learned two stances: its feet step from one to the other; replay, crowds, no feet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.perform.layers.walker import RATE, posed, stance, steps, walker

from understudy.character import Asset, Clip
from understudy.character.rig import DirectRig
from understudy.perform.commands import Idle, PlayClip, Transition
from understudy.perform.layers import layers_of
from understudy.perform.layers.feet import Feet, FeetState
from understudy.perform.layers.layer import LayerContext
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState
from understudy.perform.training import FitSettings, fit_library

Walker = tuple[DirectRig, PerformanceModel]


def breathing(rig: DirectRig, feet: np.ndarray) -> np.ndarray:
    """Rows with something that moves besides the feet: hips that go up and down, or nothing would be learned."""
    return posed(rig, feet, np.outer(0.012 * np.sin(np.arange(len(feet)) / 6) - 0.04, [0, 1, 0]))


@pytest.fixture(scope="module", params=[False, True], ids=["attached", "loose"])
def learned(request: pytest.FixtureRequest) -> Walker:
    rig = walker(request.param)
    clips = {"narrow": stance(0.12), "wide": stance(0.32), "march": steps()}
    animations = [Clip(name, rig.channels, breathing(rig, feet), RATE) for name, feet in clips.items()]
    library = ClipLibrary.from_asset(Asset([rig.character], animations), RATE)
    hovered = replace(library, behaviours={})  # the stances are held, whatever kind their breathing looks like
    return rig, fit_library(hovered, FitSettings(iterations=40), workers=1)


def performed(learned: Walker, layers: tuple, seed: int = 0) -> tuple[np.ndarray, list[PerformerState]]:
    rig, model = learned
    performer = Performer(model, rig, RATE, layers=layers)
    state, rows, states = performer.init("narrow", seed=seed), [], []
    for command in (Idle(seconds=1.0), Transition("wide"), PlayClip("march"), Transition("narrow")):
        for frame in range(60):
            state, row = performer.step(state, command if frame == 0 else None)
            rows.append(row)
            states.append(state)
    return np.array(rows), states


def feet_of(rig: DirectRig, rows: np.ndarray) -> np.ndarray:
    joints = [rig.character.skeleton.names.index(name) for name in ("sole_a", "sole_b")]
    return np.asarray(rig.joints(rows)[..., :3, 3][:, joints])


def test_feet_step_instead_of_being_dragged(learned: Walker) -> None:
    rig, model = learned
    layers = layers_of(rig, model=model)
    assert Feet in [type(layer) for layer in layers]

    def dragged(rows: np.ndarray) -> float:
        """Heights, all in all, by which what is on the floor is moved over it."""
        feet = feet_of(rig, rows)
        low = (feet[..., 1] < 0.03 + 0.02 * 1.7)[1:]
        return float((np.linalg.norm(np.diff(feet[..., [0, 2]], axis=0), axis=-1)[low]).sum() / 1.7)

    bare, shown = performed(learned, ())[0], performed(learned, layers)[0]
    assert dragged(shown) < 0.4 * dragged(bare)
    assert feet_of(rig, shown)[..., 1].min() > 0.03 - 0.01 * 1.7
    # and they get there: near where the clips stand
    assert np.abs(feet_of(rig, shown)[118, :, 0] - [0.32, -0.32]).max() < 0.05


def test_velocity_goes_on(learned: Walker) -> None:
    rig, model = learned
    bare, shown = (performed(learned, layers)[0] for layers in ((), layers_of(rig, model=model)))
    places = [rig.joints(rows)[..., :3, 3] for rows in (bare, shown)]
    jumps = [np.linalg.norm(np.diff(p, 2, axis=0), axis=-1).max() * RATE for p in places]
    assert jumps[1] < jumps[0] + 1.5  # metres a second: a step that is lifted


def standing(states: list[PerformerState]) -> list[FeetState]:
    """The feet of the last state."""
    return [layer for layer in states[-1].layers if isinstance(layer, FeetState)]


def test_replays_and_is_the_same_in_a_crowd(learned: Walker) -> None:
    rig, model = learned
    layers = layers_of(rig, model=model)
    rows, states = performed(learned, layers, seed=4)
    again, same = performed(learned, layers, seed=4)
    assert np.array_equal(rows, again) and [s.feet for s in standing(states)] == [s.feet for s in standing(same)]
    performer = Performer(model, rig, RATE, layers=layers)
    crowd = [performer.init("narrow", seed=seed) for seed in (3, 4)]
    for frame in range(100):
        command = Transition("wide") if frame == 60 else Idle(seconds=1.0) if frame == 0 else None
        crowd, shown = performer.step_all(crowd, [command, command])
        assert np.array_equal(shown[1], rows[frame])


def test_a_clip_that_is_played_ends_as_it_was(learned: Walker) -> None:
    rig, model = learned
    performer = Performer(model, rig, RATE, layers=layers_of(rig, model=model))
    state = performer.init("march", pose="march@0")
    played = []
    for frame in range(96):
        state, row = performer.step(state, PlayClip("march") if frame == 0 else None)
        if not state.blending and state.main_source.is_replaying:
            own = model.encoder.decode(state.features[None])
            played.append(np.abs(feet_of(rig, row[None]) - feet_of(rig, own)).max())
    assert len(played) > 40 and np.median(played) < 1e-9 and max(played) < 0.02 * 1.7


def test_nothing_without_feet_or_model(learned: Walker, dragon: object) -> None:
    rig, model = learned
    assert Feet.from_model(rig, None) is None and Feet not in [type(layer) for layer in layers_of(rig)]
    assert Feet.from_model(dragon, model) is None  # a rig of controls


def test_a_gait_on_the_spot_alone_is_left_alone() -> None:
    rig = walker()
    feet = steps()
    feet[..., 2] += 0.3 * np.sin(np.arange(len(feet)) / 2)[:, None]
    library = ClipLibrary.from_asset(
        Asset([rig.character], [Clip("glide", rig.channels, breathing(rig, feet), RATE)]), RATE
    )
    model = fit_library(library, FitSettings(iterations=5), workers=1)
    layer = Feet.from_model(rig, model)  # for the case that the character goes somewhere
    assert layer is not None and not layer.labels
    row = library.takes[0].rows[3]
    moment = LayerContext(0.0, 1 / RATE, places=(("glide", model.spaces["glide"].latents[3], 1.0),))
    state, shown = layer.step(layer.init(0), row, moment)
    assert shown is row and state == layer.init(0)


def test_the_model_file_needs_nothing_more(learned: Walker, tmp_path: Path) -> None:
    rig, model = learned
    model.save(tmp_path / "walker.understudy")
    one, two = Feet.from_model(rig, model), Feet.from_model(rig, PerformanceModel.load(tmp_path / "walker.understudy"))
    assert one is not None and two is not None
    for label in model.labels:
        assert np.array_equal(one.labels[label].contact_features, two.labels[label].contact_features)
