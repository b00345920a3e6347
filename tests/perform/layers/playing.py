"""Play layers over rows, frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from understudy.perform.layers.layer import Layer, LayerContext

Look = str | Sequence[float] | None


def play(
    layers: Sequence[Layer],
    rows: np.ndarray,
    look: Look | Callable[[float], Look] = None,
    rate: float = 24.0,
    seed: int = 1,
    played: Callable[[float], bool] = lambda time: False,
    **dials: Any,
) -> np.ndarray:
    """(F, C) what the layers make of rows (F, C)."""
    states = [layer.init(seed) for layer in layers]
    result = []
    for frame, row in enumerate(rows):
        time = frame / rate
        moment = LayerContext(time, 1 / rate, look(time) if callable(look) else look, played=played(time), **dials)
        given = row.copy()
        for number, layer in enumerate(layers):
            states[number], row = layer.step(states[number], row, moment)
        assert np.array_equal(rows[frame], given), "a layer changed the row that it was given"
        result.append(row)
    return np.array(result)


def held(rig: Any, seconds: float, rate: float = 24.0) -> np.ndarray:
    """(F, C) the rest pose, for a while."""
    return np.tile(rig.rest, (round(seconds * rate), 1))


def sight(
    rig: Any, row: np.ndarray, joints: Sequence[str], forward: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 3) of eye joints, and the directions (n, 3) in which they look, `forward` being their axes at rest."""
    worlds = rig.joints(row[None])[0]
    found = [worlds[rig.character.skeleton.index(joint)] for joint in joints]
    return np.array([w[:3, 3] for w in found]), np.array([w[:3, :3] @ axis for w, axis in zip(found, forward)])
