"""The random force: a Gaussian process that can be asked for any moment, in any order [Bailey 2016, section 5.1].

    F(t) ~ GP(0, k),    k(t, t') = exp(-(t - t')^2 / gamma),    gamma = smoothness^2

White noise on a grid of times, convolved with a Gaussian window, is such a process:

    F(t) = c sum_i exp(-2 (t - i d)^2 / gamma) z_i,    d = smoothness / sqrt(8),    z_i ~ N(0, 1)

because the window, convolved with itself, is k. The sum over the grid differs from the integral by 2 exp(-2 pi^2) of
it, 5e-9, at this d, and the window is cut where it has fallen to 1e-7, eight steps away. The z_i come from a
counter-based generator (Philox 4x32-10: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") whose
counter is the place in the grid and the stream, and whose key is the seed: nothing is stored, nothing repeats, and any
frame can be drawn alone. Seeds and streams have 64 bits, places 32, which is ten years.
"""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.live.forces import SUBSTEPS, Forces
from understudy.maths import accelerate

KERNELS = "understudy.live.noise_kernels"
STEPS = sqrt(8.0)  # grid steps in one `smoothness`
REACH = 8  # grid steps to either side after which the window, exp(-REACH^2 / 4), is not heard
SHARED = 1000  # streams; below, a second thread does not pay
# c: the sum over the grid of the squared window is the integral of exp(-4 t^2 / gamma) over d.
SCALE = sqrt(2 / sqrt(pi * 8))
MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
WEYL = np.array([0x9E3779B9, 0xBB67AE85], np.uint64)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def random_force(seed: int, stream: int, times: Array, smoothness: float, dimensions: int) -> Array:
    """(T, Q) the force of one stream at `times` (T,) seconds: mean zero, variance one, components independent.

    The same for the same seed, stream and time, whatever else was asked before; streams are independent.
    """
    times, smoothness = checks.array(times, "times", ("T",)), checks.positive(smoothness, "smoothness")
    return _drawn(seed, np.array([stream & 0xFFFFFFFFFFFFFFFF], np.uint64), times[None], smoothness, dimensions)[0]


def random_forces(
    seed: int,
    streams: Array,
    frames: Array | int,
    dt: float,
    forces: Forces,
    dimensions: int,
    substeps: int = SUBSTEPS,
) -> Array:
    """(M, 2 substeps + 1, Q) F_random of `particle.step` for many streams (M,), in latent units a second squared.

    `frames` (M,), or one for all, count frames of `dt` seconds.
    """
    times = np.asarray(frames) * dt
    return forces.amplitude * forces_at(seed, streams, times, dt, substeps, forces.smoothness, dimensions)


def forces_at(
    seed: int, streams: Array, times: Array | float, dt: float, substeps: int, smoothness: float, dimensions: int
) -> Array:
    """(M, 2 substeps + 1, Q) forces of variance one of many streams (M,), through a frame of `dt` seconds that begins
    at `times`, (M,) or one for all: at the frame's start, at every half of a substep, and at its end."""
    streams = np.asarray(streams)
    moments = np.arange(2 * substeps + 1) * (dt / (2 * substeps))
    each = np.empty((len(streams), len(moments)))
    each[:] = np.asarray(times, np.float64)[..., None] + moments
    return _drawn(seed, streams, each, smoothness, dimensions)


def _drawn(seed: int, streams: Array, times: Array, smoothness: float, dimensions: int) -> Array:
    """(M, T, Q) forces of streams (M,) at times (M, T)."""
    key, streams, places = _key(seed), streams.astype(np.uint64), times * (STEPS / smoothness)
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        return forces_numpy(key, streams, places, dimensions)
    result = np.empty((*times.shape, dimensions))
    if len(streams) < SHARED:
        kernels.forces(key, streams, places, result, 0, len(streams))
    else:
        with accelerate.LOCK:
            kernels.forces_shared(key, streams, places, result)
    return result


@lru_cache(maxsize=64)
def _key(seed: int) -> Array:
    """(2,) the halves of a seed of 64 bits."""
    return checks.freeze(np.array([seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF], np.uint64))


def forces_numpy(key: Array, streams: Array, places: Array, dimensions: int) -> Array:
    """(M, T, Q) forces of streams (M,) at grid places (M, T), in NumPy alone: the oracle of the kernels."""
    nearest = np.floor(places).astype(np.int64)
    total = np.zeros((*places.shape, dimensions))
    for offset in range(-REACH + 1, REACH + 1):
        i = nearest + offset
        window = np.exp(-0.25 * (places - i) ** 2)
        for block in range(0, dimensions, 4):
            z = normals(key, i, streams[:, None], block // 4)
            total[..., block : block + 4] += window[..., None] * z[..., : dimensions - block]
    return SCALE * total


def normals(key: Array, index: Array, stream: Array, block: int) -> Array:
    """(..., 4) standard normal numbers of counters (index, block, stream): Box and Muller's transform of Philox."""
    words = np.broadcast_arrays(index.astype(np.uint64) & LOW, np.uint64(block), stream & LOW, stream >> HALF)
    uniform = (philox(np.stack(words, axis=-1), key) + 0.5) * 2.0**-32
    radius = np.sqrt(-2 * np.log(uniform[..., 0::2]))
    angle = 2 * pi * uniform[..., 1::2]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(uniform.shape)


def philox(counter: Array, key: Array) -> Array:
    """(..., 4) 32-bit numbers, as uint64, of counters (..., 4) and a key (2,): ten rounds of Philox 4x32."""
    a, b, c, d = (counter[..., i] for i in range(4))
    for turn in range(10):
        k = (key + np.uint64(turn) * WEYL) & LOW
        first, second = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, b, c, d = (second >> HALF) ^ b ^ k[0], second & LOW, (first >> HALF) ^ d ^ k[1], first & LOW
    return np.stack([a, b, c, d], axis=-1)
