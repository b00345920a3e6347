"""Small made-up data for the tests of the Gaussian processes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def clips(lengths=(14, 20, 16), columns: int = 6, seed: int = 0) -> tuple[NDArray, NDArray, NDArray]:
    """Centred poses (N, D), segments (N,), times (N,) in seconds: smooth motions of a curved rig of three controls."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(3, 30)), rng.normal(size=(30, columns)) / np.sqrt(30)
    poses, segments, times = [], [], []
    for number, length in enumerate(lengths):
        seconds = np.arange(length) / 24.0
        phase, speed = rng.uniform(0, 2 * np.pi, 3), rng.uniform(1.5, 4.0, 3)
        controls = np.sin(seconds[:, None] * speed + phase)
        poses.append(np.cos(controls @ first + np.arange(30)) @ second)
        segments.append(np.full(length, number))
        times.append(seconds)
    joined = np.concatenate(poses)
    return joined - joined.mean(axis=0), np.concatenate(segments), np.concatenate(times)


def slope_along(function, x: NDArray, direction: NDArray, step: float = 1e-5) -> float:
    """The derivative of a scalar function along a direction, by central differences of fourth order."""
    near = function(x + step * direction) - function(x - step * direction)
    far = function(x + 2 * step * direction) - function(x - 2 * step * direction)
    return (8 * near - far) / (12 * step)
