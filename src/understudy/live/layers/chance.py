"""Chance that can be replayed: the n-th draw of a seed is a function of the two, so a state holds just two numbers.

SplitMix64 [Steele 2014], a hash of the counter. It takes a microsecond in plain Python, where making a NumPy
generator takes twenty.
"""

from __future__ import annotations

from math import exp, log
from statistics import NormalDist

MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15
NORMAL = NormalDist()


def stream(seed: int, name: str) -> int:
    """A seed for one use of `seed`, so that layers of one performance do not draw the same numbers."""
    mixed = _hash(seed & MASK)
    for letter in name.encode():
        mixed = _hash(mixed ^ letter)
    return mixed


def uniform(seed: int, draw: int) -> float:
    """Between 0 and 1, never either."""
    return ((_hash((seed + (draw + 1) * GOLDEN) & MASK) >> 11) + 0.5) / 9007199254740992.0


def normal(seed: int, draw: int) -> float:
    """Mean 0, deviation 1."""
    return NORMAL.inv_cdf(uniform(seed, draw))


def log_normal(seed: int, draw: int, median: float, spread: float) -> float:
    """Positive numbers about `median`; `spread` is the deviation of their logarithm."""
    return median * exp(spread * normal(seed, draw))


def two_sided(seed: int, draw: int, scale: float) -> float:
    """Laplace's distribution: mostly small, now and then large, of mean size `scale`."""
    u = uniform(seed, draw) - 0.5
    return -scale * log(1.0 - 2.0 * abs(u)) * (1.0 if u >= 0 else -1.0)


def _hash(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)
