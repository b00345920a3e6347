"""A particle in a latent space: what moves it, and one frame of its motion [Bailey 2016, section 5.1].

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
- G / g.g grows without bound where a fast particle passes the centre, and would throw it. It is held at `STIFFEST`
  alpha^2, and at 1 / h^2, h the substep, beyond which the method could not follow. A particle that needs longer than
  that for a radius, |w| < 3 alpha r, does not reach it; lambda g vanishes with g.
- eq. 10 leaves out -g.p'', which is nothing within a frame but not where one straight piece of the path meets the
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

Its errors on the dragon's spaces are those of the usual form, but two of its four stages are at the same place m, and
it is the place that costs time: the likelihood is asked three times a substep instead of four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.live.density import Density, prepared
from understudy.live.forces import NOTHING, STIFFEST, SUBSTEPS, Forces
from understudy.maths import accelerate

__all__ = ["SUBSTEPS", "Density", "Forces", "prepared", "step", "step_numpy"]

KERNELS = "understudy.live.particle_kernels"
# Characters times points squared, a millisecond of work. Below it another thread does not pay: waking it takes 20 us
# where a core is free, but ten milliseconds where none is.
SHARED = 5e6


def step(
    density: Density,
    forces: Forces,
    x: Array,
    velocity: Array,
    path: Array,
    path_end: Array,
    radius: Array,
    random: Array,
    dt: float,
    substeps: int = SUBSTEPS,
    before: Array | None = None,
) -> tuple[Array, Array]:
    """Position and velocity (M, Q) one frame of `dt` seconds later, by the Runge-Kutta method in Nystrom's form.

    x, velocity, path, path_end (M, Q), radius (M,) above zero. p(t) runs straight from `path` to `path_end`: a frame is
    never stepped across, because the path has a corner there. `random` (M, 2 substeps + 1, Q) is F_random at the
    frame's start, at every half of a substep and at its end, in latent units a second squared: `noise.random_forces`
    times the character's own liveliness. `before` (M, Q) is where the path was a frame ago; without it, or where it is
    NaN, the path is new, and the particle comes to it with the velocity it has.

    What happens to a character does not depend on the others, on their number, or on the number of threads.
    """
    _check(density, x, velocity, path, path_end, radius, random, substeps)
    velocity = carried(velocity, before, path, path_end, dt)
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        return step_numpy(density, forces, x, velocity, path, path_end, radius, random, dt, substeps)
    x, velocity = np.array(x, np.float64, order="C"), np.array(velocity, np.float64, order="C")
    given = (np.ascontiguousarray(array, np.float64) for array in (path, path_end, radius, random))
    if len(x) * density.points.shape[0] ** 2 < SHARED:
        kernels.step(density.arrays, forces.law, (x, velocity, *given), float(dt), substeps)
    else:
        with accelerate.LOCK:
            kernels.step_shared(
                density.arrays, forces.law, (x, velocity, *given), float(dt), substeps, kernels.threads()
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


def carried(velocity: Array, before: Array | None, path: Array, path_end: Array, dt: float) -> Array:
    """(M, Q) velocity, with the change of the path's own velocity at a corner added."""
    if before is None:
        return velocity
    corner = (path_end - 2 * path + before) / dt
    return np.where(np.isnan(corner), velocity, velocity + corner)


def step_numpy(
    density: Density,
    forces: Forces,
    x: Array,
    velocity: Array,
    path: Array,
    path_end: Array,
    radius: Array,
    random: Array,
    dt: float,
    substeps: int = SUBSTEPS,
) -> tuple[Array, Array]:
    """`step` in NumPy alone, after the corner: the oracle of the kernels, and what runs where numba is absent."""
    h, drift = dt / substeps, (path_end - path) / dt
    stiffest = min(STIFFEST * forces.alpha**2, h**-2)

    def force_at(x: Array, v: Array, pushed: Array, now: int) -> Array:
        return force(forces, x, v, pushed, path + now * (h / 2) * drift, drift, radius, random[:, now], stiffest)

    v = velocity
    for i in range(0, 2 * substeps, 2):
        f1 = force_at(x, v, push(density, forces, x), i)
        middle = x + h / 2 * v + h**2 / 8 * f1
        pushed = push(density, forces, middle)
        f2 = force_at(middle, v + h / 2 * f1, pushed, i + 1)
        f3 = force_at(middle, v + h / 2 * f2, pushed, i + 1)
        end = x + h * v + h**2 / 2 * f3
        f4 = force_at(end, v + h * f3, push(density, forces, end), i + 2)
        x, v = x + h * v + h**2 / 6 * (f1 + f2 + f3), v + h / 6 * (f1 + 2 * f2 + 2 * f3 + f4)
    return x, v


def push(density: Density, forces: Forces, x: Array) -> Array:
    """(M, Q) the force towards likely regions at x (M, Q), eq. 11. It is what costs time."""
    p, gradient = density.log_density_and_gradient(x)
    s = forces.a / (1 + np.exp(np.minimum((p - forces.v) / forces.l, 700)))
    steepness = np.sqrt(np.einsum("mq,mq->m", gradient, gradient) + forces.flat**2)
    return (s / steepness)[:, None] * gradient


def force(
    forces: Forces,
    x: Array,
    v: Array,
    pushed: Array,
    path: Array,
    drift: Array,
    radius: Array,
    random: Array,
    stiffest: float,
) -> Array:
    """x'' (M, Q) of particles at x with velocity v, where the path is at `path` and moves with `drift`, all (M, Q)."""
    g, w = x - path, v - drift
    f = random + pushed - forces.drag * w
    return f + multiplier(g, w, f, radius, forces.alpha, stiffest)[:, None] * g


def multiplier(g: Array, w: Array, f: Array, radius: Array, alpha: float, stiffest: float) -> Array:
    """lambda (M,) of eq. 9, never above zero, of g, w and F (M, Q)."""
    gg = np.maximum(np.einsum("mq,mq->m", g, g), NOTHING)
    gw = np.einsum("mq,mq->m", g, w)
    g_of_10 = np.einsum("mq,mq->m", w, w) + 2 * alpha * gw + alpha**2 * (gg - radius**2) / 2
    return np.minimum(0, -np.einsum("mq,mq->m", g, f) / gg - np.minimum(g_of_10 / gg, stiffest))
