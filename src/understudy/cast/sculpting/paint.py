"""Paint that any sculpture uses: a smooth noise, and shade that is warm."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def waves(points: Array, frequency: float, seed: int) -> Array:
    """(M,) a smooth noise: the mean of six plane waves of random directions."""
    rng = np.random.default_rng(seed)
    directions, phases = rng.normal(size=(6, 3)) * frequency, rng.uniform(0, 2 * np.pi, 6)
    return np.sin(points @ directions.T + phases).mean(axis=1)


def tinted(light: Array) -> Array:
    """(V, 3) linear factors of ambient light (V,): shade on skin is red, so red falls off least.

    A part of the shade only: the rest is in the occlusion map, which darkens what light from all around adds.
    """
    return light[:, None] ** np.array([0.45, 0.75, 0.8])
