"""Smooth rotation through keys: cubic Hermite pieces in the logarithm relative to each key, with one exponential
per sample.

Between keys k and k+1, h seconds apart, q(t) = q_k exp(p(s)), s = (t - t_k)/h, p the cubic with p(0) = 0, p(1) =
log(q_k^-1 q_k+1) and end slopes that give each key one angular velocity seen from both sides. The curve passes its
keys and its velocity is continuous; unlike squad it needs no inner control rotations, and its velocities at the
keys are those asked for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.maths.rotation_calculus import left_jacobian_inverse


def key_velocities(times: ArrayLike, quaternions: ArrayLike) -> Array:
    """Body-frame angular velocities at the keys, times (K,), quaternions (K, ..., 4) -> (K, ..., 3) in radians per
    second.

    The parabola through three keys, in logarithms: each neighbour's mean velocity weighs as much as the other's
    time. The first and last key take their only neighbour's.
    """
    times, q = np.asarray(times, dtype=float), np.asarray(quaternions, dtype=float)
    out = np.zeros((*q.shape[:-1], 3))
    if len(times) < 2:
        return out
    h = np.diff(times).reshape(-1, *[1] * (q.ndim - 1))
    mean = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(q[:-1]), q[1:])) / h
    out[0], out[-1] = mean[0], mean[-1]
    out[1:-1] = (h[1:] * mean[:-1] + h[:-1] * mean[1:]) / (h[1:] + h[:-1])
    return out


def smooth(times: ArrayLike, quaternions: ArrayLike, queries: ArrayLike, velocities: ArrayLike | None = None) -> Array:
    """Rotations at `queries` (M,) of the curve through keys at rising `times` (K,): (K, ..., 4) -> (M, ..., 4).

    `velocities` (K, ..., 3) are body-frame angular velocities at the keys, by default `key_velocities`. Before the
    first and after the last key the curve holds still. Signs of the answer follow the keys' own: keys that were
    unrolled give an unrolled curve.
    """
    times, q = np.asarray(times, dtype=float), np.asarray(quaternions, dtype=float)
    queries = np.asarray(queries, dtype=float)
    if len(times) == 0 or len(times) != len(q) or (np.diff(times) <= 0).any():
        raise InvalidInput(f"keys should have one rising time a rotation, but {len(q)} rotations have times {times}")
    if len(times) == 1:
        return np.repeat(q, len(queries), axis=0)
    w = key_velocities(times, q) if velocities is None else np.asarray(velocities, dtype=float)
    k = np.clip(np.searchsorted(times, queries, side="right") - 1, 0, len(times) - 2)
    h = np.diff(times).reshape(-1, *[1] * (q.ndim - 1))
    chord = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(q[:-1]), q[1:]))
    # Body velocity is J(-p) p': at the start p = 0 and J = 1; at the end p' = J(-p)^-1 w.
    end = np.einsum("...ij,...j->...i", left_jacobian_inverse(-chord), w[1:]) * h
    s = np.clip((queries - times[k]) / h.ravel()[k], 0.0, 1.0).reshape(-1, *[1] * (q.ndim - 1))
    p = s * (1 - s) ** 2 * (w[:-1] * h)[k] + s * s * (3 - 2 * s) * chord[k] - s * s * (1 - s) * end[k]
    return quaternion.multiply(q[k], quaternion.from_rotation_vector(p))
