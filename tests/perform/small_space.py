"""A small latent space as training leaves one: smooth runs of points, and the exact map of poses drawn for them."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.gp.covariance import Kernel
from understudy.gp.mapping import LatentMapping

RATE = 24.0


def latents(seed: int = 0, runs: int = 3, frames: int = 30, seconds: float = 0.5) -> tuple[Array, Array, Array]:
    """(N, 3) points, (N,) segments and (N,) times of runs that change direction within about `seconds`."""
    rng = np.random.default_rng(seed)
    times = np.arange(frames) / RATE
    covariance = np.exp(-0.5 * (times[:, None] - times) ** 2 / seconds**2) + 1e-9 * np.eye(frames)
    points = np.concatenate([np.linalg.cholesky(covariance) @ rng.normal(size=(frames, 3)) for _ in range(runs)])
    return points, np.repeat(np.arange(runs), frames), np.tile(times, runs)


def mapping(points: Array, length: float = 0.8, noise: float = 1e-3, outputs: int = 6) -> LatentMapping:
    """The map of a Gaussian process that has seen poses at these points."""
    kernel = Kernel(1.0, length, noise)
    precision = np.linalg.inv(kernel.matrix(points))
    poses = np.random.default_rng(1).normal(size=(len(points), outputs))
    return LatentMapping(points, kernel, precision @ poses, (precision + precision.T) / 2, 1.0)
