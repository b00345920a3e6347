"""A particle in a latent space: the forces on it, and one frame of its motion [Bailey 2016, section 5.1].

The particle, of unit mass, hovers within `radius` of a point p(t) that moves along a path. With g = x - p, w = x' - p':

    x'' = F + lambda g,        F = F_random + S(x) grad p(x|M) / |grad p(x|M)| - c w
    S(x) = a / (1 + exp((p(x|M) - v) / l))                                            eq. 11
    lambda = min(0, -(g.F + G) / g.g)                                                 eq. 9
    G = w.w + 2 alpha g.w + alpha^2 (g.g - r^2) / 2                                   eq. 10

Where this differs from the print:
- eq. 9 has +G. With C = (g.g - r^2) / 2, Baumgarte's C'' + 2 alpha C' + beta^2 C = 0 gives -G, and with the printed
  sign a pushed particle leaves.
- beta = alpha is critical damping; the text's beta = alpha^2 diverges within 0.15 s at 96 steps a second.
- Drag, -c w, is ours. Random pushes along the sphere's surface do work that nothing takes away again: without drag
  the particle circles faster the longer it idles. It is drag against the path, so it also carries the particle along.
- G / g.g grows without bound where a fast particle passes the centre, and would throw it. It is clamped at
  `MAX_MULTIPLIER_RATIO` alpha^2, and at 1 / h^2, h the substep, beyond which the method could not follow. A particle
  that needs longer than that for a radius, |w| < 3 alpha r, does not reach it; lambda g vanishes with g.
- eq. 10 leaves out -g.p'', which is zero within a frame but not where one straight piece of the path meets the
  next: left out, the particle is flung against the sphere at each corner and swings around the path, with three times
  the path's own acceleration. The path's change of velocity there is given to the particle too: it is carried, w is
  continuous, and the law below holds for any path.
- grad p / |grad p| jumps where the gradient vanishes, and a particle at rest on a ridge would tremble; here it is
  grad p / sqrt(|grad p|^2 + `flat`^2).

lambda makes C'' + 2 alpha C' + alpha^2 C <= 0 at every moment, hence u = C' + alpha C <= u(0) exp(-alpha t) and

    C(t) <= (C(0) + u(0) t) exp(-alpha t):

a particle that starts inside, not racing outwards, never leaves, whatever F is; one that starts outside comes back.

x'' = f(t, x, x') is stepped by the classical Runge-Kutta method of fourth order in the form that Nystrom gave it for
equations of second order [Kreyszig, Advanced Engineering Mathematics, section 21.3]:

    f1 = f(t, x, v)                            f2 = f(t + h/2, m, v + h/2 f1)        m = x + h/2 v + h^2/8 f1
    f4 = f(t + h, x + h v + h^2/2 f3, v + h f3)     f3 = f(t + h/2, m, v + h/2 f2)
    x + h v + h^2/6 (f1 + f2 + f3),            v + h/6 (f1 + 2 f2 + 2 f3 + f4)

Its errors on the dragon's spaces are those of the usual form, but two of its four stages are at the same point m, and
only new points cost time: the likelihood is evaluated three times a substep instead of four.

**Random force.** A Gaussian process that can be evaluated at any time, in any order [Bailey 2016, section 5.1]:

    F(t) ~ GP(0, k),    k(t, t') = exp(-(t - t')^2 / gamma),    gamma = smoothness^2

White noise on a grid of times, convolved with a Gaussian window, is such a process:

    F(t) = c sum_i exp(-2 (t - i d)^2 / gamma) z_i,    d = smoothness / sqrt(8),    z_i ~ N(0, 1)

because the window, convolved with itself, is k. The sum over the grid differs from the integral by 2 exp(-2 pi^2) of
it, 5e-9, at this d, and the window is cut where it has fallen to 1e-7, eight steps away. The z_i come from a
counter-based generator (Philox 4x32-10: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") whose
counter is the grid index and the stream, and whose key is the seed: nothing is stored, nothing repeats, and any frame
can be drawn alone. Seeds and streams have 64 bits, grid indices 32, which is ten years.
"""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit
from understudy.perform.runtime.forces import (
    SUBSTEPS_PER_FRAME,
    Density,
    MotionConstants,
    prepare_density,
)

__all__ = ["SUBSTEPS_PER_FRAME", "Density", "MotionConstants", "prepare_density", "step"]

KERNELS = "understudy.perform.runtime.particle_kernels"
# Characters times points squared, a millisecond of work. Below it a second thread does not pay: waking it takes 20 us
# where a core is free, but ten milliseconds where none is.
MIN_PARALLEL_WORK = 5e6
GRID_STEPS_PER_SMOOTHNESS = sqrt(8.0)  # grid steps in one `smoothness`
WINDOW_GRID_STEPS = 8  # n grid steps to either side at which the window, exp(-n^2 / 4), is cut off
# c: the sum over the grid of the squared window is the integral of exp(-4 t^2 / gamma) over d.
WINDOW_SCALE = sqrt(2 / sqrt(pi * 8))
MIN_PARALLEL_STREAMS = 1000  # below, a second thread does not pay


def step(
    density: Density,
    forces: MotionConstants,
    x: Array,
    velocity: Array,
    path: Array,
    path_end: Array,
    radius: Array,
    random: Array,
    dt: float,
    substeps: int = SUBSTEPS_PER_FRAME,
    before: Array | None = None,
) -> tuple[Array, Array]:
    """Position and velocity (M, Q) one frame of `dt` seconds later, by the Runge-Kutta method in Nystrom's form.

    x, velocity, path, path_end (M, Q), radius (M,) above zero. p(t) runs straight from `path` to `path_end`: a frame is
    never stepped across, because the path has a corner there. `random` (M, 2 substeps + 1, Q) is F_random at the
    frame's start, at every half of a substep and at its end, in latent units a second squared: `random_forces` times
    the character's liveliness. `before` (M, Q) is the path's point a frame ago; without it, or where it is NaN, the
    path is new, and the particle keeps its velocity.

    The result of a character does not depend on the others, on their number, or on the number of threads.
    """
    _check(density, x, velocity, path, path_end, radius, random, substeps)
    velocity = carry_particle(velocity, before, path, path_end, dt)
    kernels = jit.kernels(KERNELS)
    x, velocity = np.array(x, np.float64, order="C"), np.array(velocity, np.float64, order="C")
    inputs = (np.ascontiguousarray(array, np.float64) for array in (path, path_end, radius, random))
    if len(x) * density.points.shape[0] ** 2 < MIN_PARALLEL_WORK:
        kernels.step(density.arrays, forces.law, (x, velocity, *inputs), float(dt), substeps)
    else:
        with jit.LOCK:
            kernels.step_parallel(
                density.arrays, forces.law, (x, velocity, *inputs), float(dt), substeps, kernels.thread_count()
            )
    return x, velocity


def _check(density: Density, x: Array, *others: Any) -> None:
    """Raise where the shapes do not fit: compiled code would read beyond the arrays' ends."""
    velocity, path, path_end, radius, random, substeps = others
    count, dimensions = len(x), density.points.shape[1]
    for name, value, shape in (
        ("x", x, (count, dimensions)),
        ("velocity", velocity, (count, dimensions)),
        ("path", path, (count, dimensions)),
        ("path_end", path_end, (count, dimensions)),
        ("radius", radius, (count,)),
        ("random", random, (count, 2 * substeps + 1, dimensions)),
    ):
        if value.shape != shape:
            raise InvalidInput(f"{name} should have shape {shape}, but has shape {value.shape}")


def carry_particle(velocity: Array, before: Array | None, path: Array, path_end: Array, dt: float) -> Array:
    """(M, Q) velocity, with the change of the path's own velocity at a corner added."""
    if before is None:
        return velocity
    corner = (path_end - 2 * path + before) / dt
    return np.where(np.isnan(corner), velocity, velocity + corner)


def random_force(seed: int, stream: int, times: Array, smoothness: float, dimensions: int) -> Array:
    """(T, Q) the force of one stream at `times` (T,) seconds: mean zero, variance one, components independent.

    It depends on seed, stream and time alone; streams are independent.
    """
    times, smoothness = checks.array(times, "times", ("T",)), checks.positive(smoothness, "smoothness")
    return _draw_forces(seed, np.array([stream & 0xFFFFFFFFFFFFFFFF], np.uint64), times[None], smoothness, dimensions)[
        0
    ]


def random_forces(
    seed: int,
    streams: Array,
    frames: Array | int,
    dt: float,
    forces: MotionConstants,
    dimensions: int,
    substeps: int = SUBSTEPS_PER_FRAME,
) -> Array:
    """(M, 2 substeps + 1, Q) F_random of `step` for many streams (M,), in latent units a second squared.

    `frames` (M,), or one for all, count frames of `dt` seconds.
    """
    times = np.asarray(frames) * dt
    return forces.amplitude * forces_at(seed, streams, times, dt, substeps, forces.smoothness, dimensions)


def forces_at(
    seed: int, streams: Array, times: Array | float, dt: float, substeps: int, smoothness: float, dimensions: int
) -> Array:
    """(M, 2 substeps + 1, Q) forces of variance one of many streams (M,), through a frame of `dt` seconds.

    The frame begins at `times`, (M,) or one for all; forces are at its start, at every half of a substep, and at its
    end.
    """
    streams = np.asarray(streams)
    moments = np.arange(2 * substeps + 1) * (dt / (2 * substeps))
    stream_times = np.empty((len(streams), len(moments)))
    stream_times[:] = np.asarray(times, np.float64)[..., None] + moments
    return _draw_forces(seed, streams, stream_times, smoothness, dimensions)


def _draw_forces(seed: int, streams: Array, times: Array, smoothness: float, dimensions: int) -> Array:
    """(M, T, Q) forces of streams (M,) at times (M, T)."""
    key, streams, places = _key(seed), streams.astype(np.uint64), times * (GRID_STEPS_PER_SMOOTHNESS / smoothness)
    kernels = jit.kernels(KERNELS)
    result = np.empty((*times.shape, dimensions))
    if len(streams) < MIN_PARALLEL_STREAMS:
        kernels.fill_random_forces(key, streams, places, result, 0, len(streams))
    else:
        with jit.LOCK:
            kernels.fill_random_forces_parallel(key, streams, places, result)
    return result


@lru_cache(maxsize=64)
def _key(seed: int) -> Array:
    """(2,) the halves of a seed of 64 bits."""
    return checks.freeze(np.array([seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF], np.uint64))
