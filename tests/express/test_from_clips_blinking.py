from __future__ import annotations

import numpy as np
from tests.express.acting.puppet import puppet

from understudy.character import rig
from understudy.express.from_clips import lid_columns, remove_blinks

RATE = 30.0


def bump(start: float, stop: float, height: float) -> np.ndarray:
    t = np.arange(120) / RATE
    x = np.clip((t - start) / (stop - start), 0.0, 1.0)
    return height * np.sin(np.pi * x) ** 2


def test_a_blink_goes_and_a_squeeze_stays() -> None:
    blink, squeeze = bump(0.5, 0.8, 1.0), bump(1.5, 3.5, 0.9)
    found = remove_blinks((blink + squeeze)[:, None], RATE)[:, 0]
    assert found[: int(1.0 * RATE)].max() < 1e-6
    assert found.max() > 0.85 and np.abs(found - squeeze)[45:105].max() < 0.12


def test_a_blink_on_top_of_an_expression_leaves_the_expression() -> None:
    narrowed = 0.4 * np.clip(np.arange(120) / 30.0, 0.0, 1.0)
    found = remove_blinks((narrowed + bump(2.0, 2.3, 0.6))[:, None], RATE)[:, 0]
    assert np.abs(found - narrowed).max() < 0.02


def test_nothing_is_added() -> None:
    values = np.random.default_rng(0).random((90, 2))
    assert (remove_blinks(values, RATE) <= values + 1e-12).all()


def test_lids_are_found_whatever_their_spelling() -> None:
    found = rig.rig_of(puppet().character())
    assert [found.channels.names[i] for i in lid_columns(found.channels)] == [
        "face.weights.eyeBlinkLeft",
        "face.weights.eyeBlinkRight",
    ]
