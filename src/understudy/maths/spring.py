"""Critically damped springs: a value that follows a moving goal, as fast as is possible without overshoot from rest.

x'' = -2 y x' - y^2 (x - g). The step is the exact solution over dt for a goal that stands still meanwhile, so it is
stable for any dt, and two steps of dt/2 are one of dt. The speed is given by the half life: the time in which a
goal at rest is half reached.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array, positive
from understudy.maths import quaternion
from understudy.maths.rotation_calculus import left_jacobian, left_jacobian_inverse

HALF_REACHED = 1.6783469900166605
"""The root of (1 + z) exp(-z) = 1/2: from rest, half of the way is done when y t is this."""


def step(value: ArrayLike, velocity: ArrayLike, goal: ArrayLike, half_life: float, dt: float) -> tuple[Array, Array]:
    """(value, velocity) after dt seconds; any shapes that broadcast.

    With j = x - g and k = v + y j:  x = g + e^(-y dt) (j + k dt),  v = e^(-y dt) (v - y k dt).
    """
    g, v = np.asarray(goal, dtype=float), np.asarray(velocity, dtype=float)
    offset, v = _relax(np.asarray(value, dtype=float) - g, v, half_life, dt)
    return g + offset, v


def step_rotation(
    rotation: ArrayLike, velocity: ArrayLike, goal: ArrayLike, half_life: float, dt: float
) -> tuple[Array, Array]:
    """(rotation (..., 4), world-frame angular velocity (..., 3)) after dt seconds, towards goal (..., 4).

    The spring acts on the rotation vector p of the way from the goal, q = exp(p) g, whose rate is p' = J(p)^-1 w.
    """
    g, w = np.asarray(goal, dtype=float), np.asarray(velocity, dtype=float)
    p = quaternion.to_rotation_vector(quaternion.multiply(rotation, quaternion.conjugate(g)))
    p, rate = _relax(p, np.einsum("...ij,...j->...i", left_jacobian_inverse(p), w), half_life, dt)
    turned = quaternion.multiply(quaternion.from_rotation_vector(p), g)
    return turned, np.einsum("...ij,...j->...i", left_jacobian(p), rate)


def _relax(offset: Array, velocity: Array, half_life: float, dt: float) -> tuple[Array, Array]:
    y = HALF_REACHED / positive(half_life, "half_life")
    k, decay = velocity + y * offset, np.exp(-y * dt)
    return decay * (offset + k * dt), decay * (velocity - y * k * dt)
