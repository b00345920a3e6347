"""Curves sampled together give what each gives alone."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR


def curve(rng: np.random.Generator, channel: Channel, segments: int = BEZIER, keys: int = 6, **more: object) -> Curve:
    times = np.sort(rng.uniform(0, 4, keys)) + 0.05 * np.arange(keys)
    values = rng.normal(size=(keys, len(channel)))
    reach = np.diff(times, append=times[-1] + 1).min() * rng.uniform(0, 1, (2, keys, len(channel)))
    before, after = np.stack([reach, rng.normal(size=reach.shape)], axis=-1)
    return Curve(channel, times, values, segments, before, after, **more)  # type: ignore[arg-type]


def mixed(rng: np.random.Generator) -> Curves:
    """Every way out of the batch: linear, cyclic, a single key, a rotation."""
    return Curves(
        "mixed",
        [
            curve(rng, Channel("a", "controls", ("value",))),
            curve(rng, Channel("b", "translation"), LINEAR),
            curve(rng, Channel("c", "translation")),
            curve(rng, Channel("d", "controls", ("value",)), extrapolation=("cycle", "linear")),
            curve(rng, Channel("e", "rotation")),
            curve(rng, Channel("f", "controls", ("value",)), keys=1),
            curve(rng, Channel("g", "controls", ("one", "two")), keys=2),
        ],
    )


@pytest.mark.parametrize("seed", range(5))
def test_together_is_the_same_as_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    curves = mixed(rng)
    times = np.concatenate([np.linspace(-1, 6, 101), *(c.times for c in curves.curves)])
    together = curves.sample(times)
    for channel, own in zip(curves.channels, curves.curves):
        alone = own.sample(times)
        found = together[:, curves.channels.slice(channel.target, channel.kind)]
        if channel.kind == "rotation":
            alone, found = np.abs(alone), np.abs(found)  # either sign is the same rotation
        assert np.array_equal(found, alone), channel


def test_nothing_to_batch_and_no_times() -> None:
    rng = np.random.default_rng(9)
    assert Curves("line", [curve(rng, Channel("b", "translation"), LINEAR)]).sample([0.5, 1.0]).shape == (2, 3)
    assert mixed(rng).sample(np.zeros(0)).shape == (0, 15)
