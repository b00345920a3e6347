"""A draft performs at once; the learnt model takes over without a jump."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.learned import lamp_library, lamp_model

from understudy.errors import InvalidInput
from understudy.perform.commands import Transition
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.performer import Performer
from understudy.perform.training import FitSettings, fit_library


@pytest.fixture(scope="module")
def draft() -> PerformanceModel:
    return fit_library(lamp_library(), FitSettings(iterations=0), cast="lamp")


def test_a_draft_shows_its_clips(draft: PerformanceModel) -> None:
    for label, space in draft.spaces.items():
        error = draft.difference(space.features_of(space.latents), space.features)
        assert np.median(error) < 0.25, label  # 1 is the average difference of a pose from the mean
        assert space.idle_gain == 1.0


def test_a_learnt_model_takes_over_without_a_jump(draft: PerformanceModel) -> None:
    first, then = Performer(draft, layers=False), Performer(lamp_model(), layers=False)
    state, rows = first.init("curious", seed=3), []
    for frame in range(40):  # in the middle of a change
        state, row = first.step(state, Transition("happy") if frame == 24 else None)
        rows.append(row)
    state = then.take_over(state)
    for frame in range(72):
        state, row = then.step(state, Transition("sad") if frame == 36 else None)
        rows.append(row)
    points = first.rig.vertices(np.array(rows)).astype(np.float64)
    for order in (1, 2):
        sizes = np.sqrt(np.square(np.diff(points, n=order, axis=0)).sum(axis=-1).mean(axis=-1))
        taken = slice(40 - order - 1, 41)  # every difference that spans it
        assert sizes[taken].max() <= 1.1 * np.delete(sizes, taken).max()
    assert state.frame == 112 and state.label == "sad"


def test_a_model_of_other_clips_does_not_take_over(draft: PerformanceModel) -> None:
    performer = Performer(lamp_model(), layers=False)
    state = performer.init("curious")
    with pytest.raises(InvalidInput, match="of other clips"):
        performer.take_over(replace(state, features=state.features[:-1]))
