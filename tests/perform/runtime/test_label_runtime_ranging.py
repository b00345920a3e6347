"""What is shown stays within what the clips show, or nearly; what is within is shown as it is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.character.rig import LayeredRig
from understudy.maths import springs
from understudy.perform.commands import PlayClip, Transition
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.label_runtime import OVERSHOOT_RANGE_RATIO, PoseRange
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import Blend

RATE = 24.0


@cache
def own() -> PoseRange:
    return PoseRange.from_model(lamp_model())


def every_frame(model: PerformanceModel) -> np.ndarray:
    return np.concatenate([space.features for space in model.spaces.values()]).astype(float)


def test_the_range_is_that_of_the_clips() -> None:
    frames = every_frame(lamp_model())
    assert np.array_equal(own().low, frames.min(axis=0)) and np.array_equal(own().high, frames.max(axis=0))
    assert np.array_equal(own().soft_clamp(frames), frames), "to the last bit"


def test_within_nothing_changes(seed: int = 0) -> None:
    random = np.random.default_rng(seed)
    inside = own().low + random.random((200, len(own().low))) * (own().high - own().low)
    assert np.array_equal(own().soft_clamp(inside), np.clip(inside, own().low, own().high))


def test_beyond_it_is_less_and_never_more_than_a_part() -> None:
    e = np.concatenate([np.logspace(-6, 6, 400), [0.0]])[:, None] * (own().high - own().low)
    for shown, towards in (
        (own().soft_clamp(own().high + e) - own().high, 1),
        (own().soft_clamp(own().low - e) - own().low, -1),
    ):
        outwards = towards * shown
        assert (outwards >= 0).all() and (outwards <= np.maximum(e, 0) + 1e-12).all()
        assert (outwards <= own().beyond + 1e-9).all() and (
            own().beyond <= OVERSHOOT_RANGE_RATIO * (own().high - own().low) + 1e-9
        ).all()


def test_it_is_smooth() -> None:
    """Slope and curvature go on where the range ends, the slope is never more than 1 and never turns round."""
    width = own().high - own().low
    moved = own().low - 0.3 * width + np.linspace(0, 1.6, 4001)[:, None] * width
    steps = np.diff(own().soft_clamp(moved), axis=0) / np.diff(moved, axis=0)
    assert (steps > 0).all() and (steps < 1 + 1e-6).all()
    assert np.abs(np.diff(steps, axis=0)).max() < 5e-3 and np.abs(np.diff(steps, 2, axis=0)).max() < 1e-4


def test_many_are_as_each() -> None:
    random = np.random.default_rng(3)
    values = own().low + random.normal(0.5, 0.8, (40, len(own().low))) * (own().high - own().low)
    values[::3] = np.clip(values[::3], own().low, own().high)
    together = own().soft_clamp(values)
    assert all(np.array_equal(together[i], own().soft_clamp(values[i : i + 1])[0]) for i in range(len(values)))
    assert own().soft_clamp(values[:0]).shape == (0, values.shape[1])


def performed(performer: Performer, kick: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is meant (F, E), what is shown (F, E) and the rows (F, C) after a swing of so many ranges a second."""
    width = performer.planner.range.high - performer.planner.range.low
    state = performer.init(performer.model.labels[0])
    for _ in range(3):
        state, _ = performer.step(state)
    decay = springs.init_decay(np.zeros_like(width), kick * width, 1.0)
    state = replace(state, blend=Blend(decay, state.frame))
    meant, rows = [], []
    for _ in range(30):
        state, row = performer.step(state)
        meant.append(state.features)
        rows.append(row)
    return np.array(meant), performer.planner.range.soft_clamp(np.array(meant)), np.array(rows)


def check_a_swing(performer: Performer) -> None:
    meant, shown, rows = performed(performer, 8.0)
    own = performer.planner.range
    beyond = np.maximum(meant - own.high, own.low - meant)
    assert beyond.max() > 0.2 * (own.high - own.low)[np.unravel_index(beyond.argmax(), beyond.shape)[1]], (
        "it does swing"
    )
    assert (shown <= own.high + own.beyond).all() and (shown >= own.low - own.beyond).all()
    again = performer.model.encoder.place(shown, np.zeros((len(shown), 3)))
    if performer.model.encoder.root is None:
        assert np.array_equal(rows, again), "that is what the rig is told"


def test_a_swing_of_the_lamp_ends_softly() -> None:
    check_a_swing(Performer(lamp_model(), lamp_rig(), RATE, seed=3, layers=False))


def test_a_swing_of_a_rig_with_layers_ends_softly(dragon: LayeredRig) -> None:
    from understudy import cast
    from understudy.perform.library import ClipLibrary
    from understudy.perform.training import FitSettings, fit_library

    asset = cast.load("dragon")
    library = ClipLibrary.from_asset(asset, RATE, source="dragon")
    takes = [take for label in library.labels[:2] for take in library.of_label(label)[:1]]
    model = fit_library(replace(library, takes=tuple(takes)), FitSettings(iterations=5), workers=1)
    check_a_swing(Performer(model, dragon, RATE, layers=False))


@pytest.mark.parametrize("seed", range(3))
def test_a_switch_while_it_swings_does_not_jump(seed: int) -> None:
    """What is meant goes on from what was meant: what is shown, which follows from it smoothly, goes on as well."""
    performer = Performer(lamp_model(), lamp_rig(), RATE, seed=seed, layers=False)
    state = performer.init("sad", seed=seed)
    for _ in range(3):
        state, _ = performer.step(state)
    width = performer.planner.range.high - performer.planner.range.low
    decay = springs.init_decay(np.zeros_like(width), 6.0 * width, 1.5)
    state = replace(state, blend=Blend(decay, state.frame))
    for _ in range(4):
        before, (state, _) = state, performer.step(state)
    for command in (Transition("happy"), PlayClip("hop")):
        after, _ = performer.step(state, command)
        on, _ = performer.step(state)
        speed = np.abs(on.features - state.features)
        assert (np.abs(after.features - state.features) <= 3 * speed + 0.05 * width).all()
        shown = performer.planner.range.soft_clamp(np.array([before.features, state.features, after.features]))
        assert np.abs(np.diff(shown, 2, axis=0) / width).max() < 0.2
