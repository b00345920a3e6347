"""What a linear blend leaves of the examples, taken back to the rest pose, and interpolation between examples.

A correction is added before the blend: with M the blended matrix of a vertex in example e,

    d_e = argmin | M d - (v_e - M v) |^2 + soft^2 | d |^2

where `soft` keeps the correction bounded where the blend has collapsed (a twist of 180 degrees) and cannot be undone.

Interpolation is kernel ridge regression on pose distances, with the rest pose known to need no correction:

    f(x) = sum_e a_e K(x, x_e),   K(x, y) = k(x, y) - k(x, 0) k(0, y) / k(0, 0),   a = (K + l 1)^-1 d

so that f is zero at rest whatever the ridge l. Width and ridge are those with the least error at examples left out,
for which there is a closed form: a_e / ((K + l 1)^-1)_ee.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from understudy.checks import Array
from understudy.deform.examples import Examples
from understudy.deform.linear_fit import LinearSkin

SOFT = 0.01  # a correction at full volume is short by 1e-4 of itself
WIDTHS = (0.5, 1.0, 2.0, 4.0)  # of the median distance between examples
RIDGES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)

Kernel = Callable[[Array, float], Array]
"""k of squared distances and a width: 1 at distance 0."""


def gaussian(squared: Array, width: float) -> Array:
    """exp(-r^2 / (2 s^2))."""
    return np.exp(squared / (-2 * width * width))


def rational(squared: Array, width: float) -> Array:
    """(1 + r^2 / (8 s^2))^-4: a Gaussian with a heavier tail, without the exponential."""
    base = 1 / (1 + squared / (8 * width * width))
    return np.square(np.square(base))


def rest_corrections(skin: LinearSkin, examples: Examples) -> Array:
    """d (E, V, 3)."""
    out = np.empty(examples.vertices.shape)
    for e, m in enumerate(examples.matrices):
        blended = skin.blended(m)
        a = blended[..., :3]
        left = examples.vertices[e] - np.einsum("vab,vb->va", a, skin.rest) - blended[..., 3]
        at = np.swapaxes(a, 1, 2)
        normal = at @ a + SOFT**2 * np.eye(3)
        out[e] = np.linalg.solve(normal, at @ left[..., None])[..., 0]
    return out


def without_rest(between: Array, from_rest_a: Array, from_rest_b: Array) -> Array:
    """K (..., F, E) of k (..., F, E), k(x, 0) (..., F) and k(0, x_e) (..., E)."""
    return between - from_rest_a[..., :, None] * from_rest_b[..., None, :]


def median_distance(squared: Array) -> float:
    """The median of the distances that are not zero, of squared ones."""
    d = np.sqrt(squared[squared > 1e-12])
    return float(np.median(d)) if d.size else 1.0


def solve(k: Array, d: Array, ridge: float) -> Array:
    """a (..., E, N) of K (..., E, E), d (..., E, N)."""
    return np.linalg.solve(k + ridge * np.eye(k.shape[-1]), d)


def left_out(k: Array, d: Array, ridge: float) -> float:
    """Squared error of each example when it is left out, summed."""
    inverse = np.linalg.inv(k + ridge * np.eye(k.shape[-1]))
    error = (inverse @ d) / np.diagonal(inverse, axis1=-2, axis2=-1)[..., None]
    return float(np.square(error).sum())


def choose(trials: Sequence[tuple[float, float]], error: Callable[[float, float], float]) -> tuple[float, float]:
    """The (width, ridge) of the least error; within 1 % of it the smallest ridge, since what was sculpted at an example
    is wanted there, then the largest width."""
    errors = np.array([error(*trial) for trial in trials])
    good = [trial for trial, e in zip(trials, errors) if e <= 1.01 * errors.min() + 1e-24]
    return min(good, key=lambda trial: (trial[1], -trial[0]))
