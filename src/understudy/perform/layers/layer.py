"""Chance that can be replayed: the n-th draw of a seed is a function of the two, so a state holds just two numbers.

SplitMix64 [Steele 2014], a hash of the counter. It takes a microsecond in plain Python, where making a NumPy
generator takes twenty.

Layers: what is laid over a performance frame by frame, such as gaze, blinks and breath.

A performance leaves some of a character to itself: where its eyes look, when it blinks. A layer takes each row on its
way out and adds that. It keeps no state of its own: `init(seed)` makes one, `step` takes it and hands the next one
back, so that a take replays exactly from its seed and its commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import NormalDist
from typing import Any, NamedTuple, Protocol, runtime_checkable

from understudy.checks import Array

UINT64_MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN_GAMMA = 0x9E3779B97F4A7C15
STANDARD_NORMAL = NormalDist()


def derive_seed(seed: int, name: str) -> int:
    """A seed for one use of `seed`, so that layers of one performance do not draw the same numbers."""
    mixed = _hash(seed & UINT64_MASK)
    for letter in name.encode():
        mixed = _hash(mixed ^ letter)
    return mixed


def uniform(seed: int, draw: int) -> float:
    """Between 0 and 1, never either."""
    return ((_hash((seed + (draw + 1) * GOLDEN_GAMMA) & UINT64_MASK) >> 11) + 0.5) / 9007199254740992.0


def normal(seed: int, draw: int) -> float:
    """Mean 0, deviation 1."""
    return STANDARD_NORMAL.inv_cdf(uniform(seed, draw))


def log_normal(seed: int, draw: int, median: float, spread: float) -> float:
    """Positive numbers about `median`; `spread` is the deviation of their logarithm."""
    return median * exp(spread * normal(seed, draw))


def laplace(seed: int, draw: int, scale: float) -> float:
    """Laplace's distribution: mostly small, now and then large, of mean size `scale`."""
    u = uniform(seed, draw) - 0.5
    return -scale * log(1.0 - 2.0 * abs(u)) * (1.0 if u >= 0 else -1.0)


def _hash(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & UINT64_MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & UINT64_MASK
    return z ^ (z >> 31)


class LayerContext(NamedTuple):
    """What a layer knows of the frame that it is asked for.

    `look` is a point (x, y, z) in the world, the name of one ("camera"), "forward", or None: eyes that wander.
    `played` says that a piece of a clip is played as it is, with the eyes, blinks and breath that it brings.
    """

    time: float  # seconds since the performance began
    dt: float  # seconds since the frame before
    look: str | Sequence[float] | None = None
    liveliness: float = 1.0  # 0 and up; 1 is usual
    stillness: float = 0.0  # 0 to 1; 1 holds still
    played: bool = False
    label: str = ""
    places: tuple[tuple[str, Array, float], ...] = ()  # label, latent (Q,) and weight of each voice
    blending: bool = False  # what was shown before the last switch is still seen

    @property
    def life(self) -> float:
        """How much moves by itself: liveliness times (1 - stillness), 0 where nothing does."""
        return max(self.liveliness, 0.0) * min(max(1.0 - self.stillness, 0.0), 1.0)


@runtime_checkable
class Layer(Protocol):
    """Something that is laid over each row (C,) of a performance. `step` leaves the row that it was given alone."""

    def init(self, seed: int) -> Any:
        """The state before the first frame; what happens by chance follows from the seed."""

    def step(self, state: Any, row: Array, moment: LayerContext) -> tuple[Any, Array]:
        """The next state, and the row (C,) with this layer on top."""


@runtime_checkable
class Together(Layer, Protocol):
    """A layer that many characters share: what it costs to begin is paid once for all of them."""

    def step_all(self, states: Sequence[Any], rows: Array, moments: Sequence[LayerContext]) -> list[Any]:
        """The next states; the layer is laid over their rows (M, C) in place. No character depends on another."""


def apply_layer(layer: Layer, states: Sequence[Any], rows: Array, moments: Sequence[LayerContext]) -> list[Any]:
    """The next states of a layer for many characters, laid over their rows (M, C) in place."""
    together = getattr(layer, "step_all", None)  # asking for `Together` costs more than some layers do
    if together is None:
        return apply_one_by_one(layer, states, rows, moments)
    found: list[Any] = together(states, rows, moments)
    return found


def apply_one_by_one(layer: Layer, states: Sequence[Any], rows: Array, moments: Sequence[LayerContext]) -> list[Any]:
    """The same by `step` alone."""
    after = []
    for m, (state, moment) in enumerate(zip(states, moments)):
        state, rows[m] = layer.step(state, rows[m], moment)
        after.append(state)
    return after
