"""Many characters at once: each is laid over as if it were alone, and nearly to the last bit as `step` does it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.bodies import ARKIT, body

from understudy.character.rig import LayeredRig, PosedRig
from understudy.perform.layers.blinks import Blinks
from understudy.perform.layers.breathing import Breathing
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.layer import BatchLayer, Layer, LayerContext, apply_layer, apply_one_by_one

RATE = 24.0
FRAMES = 150


def rigs(dragon: LayeredRig) -> dict[str, PosedRig]:
    return {"controls": dragon, "joints": body(seed=5), "shapes": body(eyes=False, shapes=ARKIT)}


def layers_of(rig: PosedRig) -> list[Layer]:
    return [layer for layer in (Breathing.from_rig(rig), Gaze.from_rig(rig), Blinks.from_rig(rig)) if layer is not None]


def moments_at(frame: int, count: int) -> list[LayerContext]:
    """One is told where to look, one looks ahead, one wanders, one plays a clip now and then, one holds still."""
    time = frame / RATE
    aside = (0.5, 0.6, 1.2) if frame % 60 < 30 else (-0.4, 0.3 + 0.01 * frame, 1.0)
    known = [
        LayerContext(time, 1 / RATE, aside),
        LayerContext(time, 1 / RATE, "forward", liveliness=1.5),
        LayerContext(time, 1 / RATE),
        LayerContext(time, 1 / RATE, "camera", played=frame % 50 > 35),
        LayerContext(time, 1 / RATE, None if frame < 80 else aside, stillness=1.0 if frame % 70 > 50 else 0.2),
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
    assert all(isinstance(layer, BatchLayer) for layer in layers_of(rig))
    together = performed(rig, apply_layer, [0, 1, 2, 3, 4])
    assert np.abs(together - rig.rest).max() > 0.1
    np.testing.assert_allclose(together, performed(rig, apply_one_by_one, [0, 1, 2, 3, 4]), atol=1e-9)
    np.testing.assert_array_equal(together[:, 3], performed(rig, apply_layer, [3])[:, 0])  # the others do not matter


def test_nobody_is_laid_over(dragon: LayeredRig) -> None:
    for layer in layers_of(dragon):
        assert apply_layer(layer, [], np.zeros((0, len(dragon.rest))), []) == []


def test_a_layer_that_takes_rows_one_at_a_time() -> None:
    class Louder:
        def init(self, seed: int) -> int:
            return seed

        def step(self, state: int, row: np.ndarray, moment: LayerContext) -> tuple[int, np.ndarray]:
            return state + 1, row + state

    rows = np.zeros((3, 2))
    assert apply_layer(Louder(), [1, 2, 3], rows, [LayerContext(0, 1)] * 3) == [2, 3, 4]
    assert rows.tolist() == [[1, 1], [2, 2], [3, 3]]
