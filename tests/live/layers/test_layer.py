"""Many characters at once: each is laid over as if it were alone, and nearly to the last bit as `step` does it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.live.layers.bodies import ARKIT, body

from understudy.live.layers.blinks import Blinks
from understudy.live.layers.breathing import Breathing
from understudy.live.layers.gaze import Gaze
from understudy.live.layers.layer import Layer, Moment, Together, lay, one_by_one
from understudy.rig import LayeredRig, PosedRig

RATE = 24.0
FRAMES = 150


def rigs(dragon: LayeredRig) -> dict[str, PosedRig]:
    return {"controls": dragon, "joints": body(seed=5), "shapes": body(eyes=False, shapes=ARKIT)}


def layers_of(rig: PosedRig) -> list[Layer]:
    return [layer for layer in (Breathing.of(rig), Gaze.of(rig), Blinks.of(rig)) if layer is not None]


def moments_at(frame: int, count: int) -> list[Moment]:
    """One is told where to look, one looks ahead, one wanders, one plays a clip now and then, one holds still."""
    time = frame / RATE
    aside = (0.5, 0.6, 1.2) if frame % 60 < 30 else (-0.4, 0.3 + 0.01 * frame, 1.0)
    known = [
        Moment(time, 1 / RATE, aside),
        Moment(time, 1 / RATE, "forward", liveliness=1.5),
        Moment(time, 1 / RATE),
        Moment(time, 1 / RATE, "camera", played=frame % 50 > 35),
        Moment(time, 1 / RATE, None if frame < 80 else aside, stillness=1.0 if frame % 70 > 50 else 0.2),
    ]
    return known[:count]


def performed(rig: PosedRig, how: object, chosen: list[int]) -> np.ndarray:
    """(F, N, C) rows of some of the five, laid over by `how`."""
    layers, result = layers_of(rig), []
    states = [[layer.init(seed) for seed in chosen] for layer in layers]
    sway = np.random.default_rng(3).normal(size=(5, len(rig.rest)))
    for frame in range(FRAMES):
        rows = np.tile(rig.rest, (len(chosen), 1))
        if isinstance(rig, LayeredRig):
            rows += 0.2 * np.sin(0.07 * frame) * sway[chosen] * (rig.controls.high - rig.controls.low) / 4
        moments = [moments_at(frame, 5)[i] for i in chosen]
        for number, layer in enumerate(layers):
            states[number] = how(layer, states[number], rows, moments)  # type: ignore[operator]
        result.append(rows)
    return np.array(result)


@pytest.mark.parametrize("which", ["controls", "joints", "shapes"])
def test_many_are_laid_over_as_each_by_itself(dragon: LayeredRig, which: str) -> None:
    rig = rigs(dragon)[which]
    assert all(isinstance(layer, Together) for layer in layers_of(rig))
    together = performed(rig, lay, [0, 1, 2, 3, 4])
    assert np.abs(together - rig.rest).max() > 0.1
    np.testing.assert_allclose(together, performed(rig, one_by_one, [0, 1, 2, 3, 4]), atol=1e-9)
    np.testing.assert_array_equal(together[:, 3], performed(rig, lay, [3])[:, 0])  # whoever else performs


def test_nobody_is_laid_over(dragon: LayeredRig) -> None:
    for layer in layers_of(dragon):
        assert lay(layer, [], np.zeros((0, len(dragon.rest))), []) == []


def test_a_layer_that_takes_rows_one_at_a_time() -> None:
    class Louder:
        def init(self, seed: int) -> int:
            return seed

        def step(self, state: int, row: np.ndarray, moment: Moment) -> tuple[int, np.ndarray]:
            return state + 1, row + state

    rows = np.zeros((3, 2))
    assert lay(Louder(), [1, 2, 3], rows, [Moment(0, 1)] * 3) == [2, 3, 4]
    assert rows.tolist() == [[1, 1], [2, 2], [3, 3]]
