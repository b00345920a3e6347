"""Layers: gaze, blinks, breathing and feet, applied over a performance frame by frame.

A performance leaves some of a character open: where its eyes look, when it blinks. A layer takes each row on its way
out and adds that. It keeps no state of its own: `init(seed)` makes one, `step` takes it and returns the next one, so
that a performance replays exactly from its seed and its commands.

**Random numbers** replay as well: the n-th draw of a seed is a function of the two, so a state holds just two numbers.
The function is SplitMix64 [Steele 2014], a hash of the counter. It takes a microsecond in plain Python, where making a
NumPy generator takes twenty.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import NormalDist
from typing import Any, NamedTuple, Protocol, runtime_checkable

from understudy.checks import Array
from understudy.perform.gaits import FootPlan

UINT64_MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN_GAMMA = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: SplitMix64's increment
STANDARD_NORMAL = NormalDist()


class LayerContext(NamedTuple):
    """What a layer knows of a frame.

    `look` is a point (x, y, z) in the world, the name of one ("camera"), "forward", or None: the eyes wander.
    `played` says that a clip is played as it is, with its own eyes, blinks and breath.
    """

    time: float  # seconds since the performance began
    dt: float  # seconds since the frame before
    look: str | Sequence[float] | None = None
    liveliness: float = 1.0  # 0 and up; 1 as the clips
    stillness: float = 0.0  # 0 to 1; 1 holds still
    played: bool = False
    label: str = ""
    places: tuple[tuple[str, Array, float], ...] = ()  # label, latent (Q,) and weight of each blend source
    blending: bool = False  # whether the motion before the last switch is still visible
    blend_seconds: float = 0.25  # that the last switch is blended over
    switched: bool = False  # whether that blend has begun with this frame
    cycles: bool = False  # whether a cycle is shown, whose feet stand and slide as the clip's do
    feet: FootPlan | None = None  # where the feet belong, while the character goes somewhere

    @property
    def life(self) -> float:
        """Strength of what moves by itself: liveliness times (1 - stillness)."""
        return max(self.liveliness, 0.0) * min(max(1.0 - self.stillness, 0.0), 1.0)


@runtime_checkable
class Layer(Protocol):
    """Changes each row (C,) of a performance. `step` returns a new row where it changes anything."""

    def init(self, seed: int) -> Any:
        """The state before the first frame; all random draws follow from the seed."""

    def step(self, state: Any, row: Array, moment: LayerContext) -> tuple[Any, Array]:
        """The next state, and the row (C,) with this layer applied."""


@runtime_checkable
class BatchLayer(Layer, Protocol):
    """A layer that steps many characters at once, which costs less than one by one."""

    def step_all(self, states: Sequence[Any], rows: Array, moments: Sequence[LayerContext]) -> list[Any]:
        """The next states; the rows (M, C) are changed in place. No character depends on another."""


def apply_layer(layer: Layer, states: Sequence[Any], rows: Array, moments: Sequence[LayerContext]) -> list[Any]:
    """The next states of a layer for many characters, whose rows (M, C) are changed in place."""
    step_all = getattr(layer, "step_all", None)  # isinstance of `BatchLayer` costs more than some layers do
    if step_all is None:
        return apply_one_by_one(layer, states, rows, moments)
    after: list[Any] = step_all(states, rows, moments)
    return after


def apply_one_by_one(layer: Layer, states: Sequence[Any], rows: Array, moments: Sequence[LayerContext]) -> list[Any]:
    """`apply_layer` by `step` alone."""
    after = []
    for m, (state, moment) in enumerate(zip(states, moments)):
        state, rows[m] = layer.step(state, rows[m], moment)
        after.append(state)
    return after


def derive_seed(seed: int, name: str) -> int:
    """A seed for one use of `seed`, so that layers of one performance do not draw the same numbers."""
    mixed = _hash(seed & UINT64_MASK)
    for letter in name.encode():
        mixed = _hash(mixed ^ letter)
    return mixed


def uniform(seed: int, draw: int) -> float:
    """The draw number `draw`, between 0 and 1, exclusive."""
    return ((_hash((seed + (draw + 1) * GOLDEN_GAMMA) & UINT64_MASK) >> 11) + 0.5) / 9007199254740992.0


def normal(seed: int, draw: int) -> float:
    """The same draw as a standard normal number."""
    return STANDARD_NORMAL.inv_cdf(uniform(seed, draw))


def log_normal(seed: int, draw: int, median: float, spread: float) -> float:
    """Positive numbers about `median`; `spread` is the deviation of their logarithm."""
    return median * exp(spread * normal(seed, draw))


def laplace(seed: int, draw: int, scale: float) -> float:
    """Laplace's distribution about 0, of mean absolute value `scale`."""
    u = uniform(seed, draw) - 0.5
    return -scale * log(1.0 - 2.0 * abs(u)) * (1.0 if u >= 0 else -1.0)


def _hash(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & UINT64_MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & UINT64_MASK
    return z ^ (z >> 31)
