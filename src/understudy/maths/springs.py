"""Inertial blending and critically damped springs.

**Inertial blending** switches to a new motion at once and lets the difference decay [Bollo 2018, "Inertialization"]. At
the switch the difference between old and new motion has an offset x0 and a velocity v0. It is added to the new motion
and decays along a quintic that starts with both and ends after `duration` at rest, with neither velocity nor
acceleration. In Bernstein form, u = t / T:

    x(t) = (1-u)^3 (b0 (1-u)^2 + 5 b1 u (1-u) + 10 b2 u^2),   b0 = x0,   b1 = x0 + v0 T / 5,   b2 = x0 + 2 v0 T / 5
    + a0 T^2 / 20

The offset cannot change sign while no b does. So a velocity towards zero shortens T to at most -5 x0 / v0 (b1 >= 0)
and the initial acceleration a0 is the least one that keeps b2 >= 0: these are Bollo's rules. A velocity away from
zero is kept, so that value and velocity are always continuous; common implementations set it to zero.

States are plain tuples of arrays: `init... -> state`, `evaluate...(state, t) -> offset`.

**Springs**: a value follows a moving goal as fast as is possible without overshoot from rest,

    x'' = -2 y x' - y^2 (x - g).

The step is the exact solution over dt for a constant goal, so it is stable for any dt, and two steps of dt/2 are one of
dt. The speed is given by the half life: the time in which a goal at rest is half reached.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array, positive
from understudy.errors import InvalidInput

HALF_REACHED = 1.6783469900166605
"""The root z of (1 + z) exp(-z) = 1/2: from rest, half of the distance is covered at y t = z."""

ARRIVED_EPSILON = 1e-9  # of a scalar and its rate: nearer to its goal it has arrived


class Decay(NamedTuple):
    """Coefficients b0, b1, b2 and the duration T in seconds, all of one shape (...)."""

    b0: Array
    b1: Array
    b2: Array
    duration: Array


def init_decay(offset: ArrayLike, velocity: ArrayLike, duration: float, shortest: float = 0.0) -> Decay:
    """The decay of independent numbers: old minus new value and velocity (...) at the switch.

    No decay takes less than `shortest` seconds: an offset that would be stopped at zero sooner passes zero instead, and
    comes back. A small offset with a high velocity towards zero would else be stopped abruptly.
    """
    x0, v0 = np.broadcast_arrays(np.asarray(offset, dtype=float), np.asarray(velocity, dtype=float))
    full = np.full(x0.shape, positive(duration, "duration"))
    sign = np.where(x0 != 0, np.sign(x0), np.sign(v0))
    size, speed = np.abs(x0), sign * v0
    homewards = speed * full < -5.0 * size  # would pass zero within the duration
    time = np.where(homewards, -5.0 * size / np.where(homewards, speed, 1.0), full)
    short = time < min(shortest, duration)
    time = np.where(short, min(shortest, duration), time)
    floor = np.where(short, -np.inf, 0.0)
    b1 = np.maximum(size + 0.2 * speed * time, floor)
    b2 = np.maximum(size + 0.4 * speed * time, floor)
    return Decay(x0.copy(), sign * b1, sign * b2, time)


def init_linear_decay(offset: ArrayLike, velocity: ArrayLike, duration: ArrayLike) -> Decay:
    """The decay within `duration` seconds (...), whatever the velocity: linear in offset and velocity (...).

    It may pass zero and come back, but its acceleration is known beforehand for any offset and velocity.
    """
    x0, v0 = np.broadcast_arrays(np.asarray(offset, dtype=float), np.asarray(velocity, dtype=float))
    time = np.broadcast_to(np.asarray(duration, dtype=float), x0.shape)
    if not (time > 0).all():
        raise InvalidInput(f"duration should be above 0, but is {float(time.min()):g}")
    return Decay(x0.copy(), x0 + 0.2 * time * v0, x0 + 0.4 * time * v0, time.copy())


def evaluate(state: Decay, t: ArrayLike) -> Array:
    """The offset t seconds after the switch, to be added to the new motion: shape of state and t together."""
    u = _progress(state, t)
    m = 1.0 - u
    return m**3 * (state.b0 * m * m + 5.0 * state.b1 * u * m + 10.0 * state.b2 * u * u)


def velocity(state: Decay, t: ArrayLike) -> Array:
    """The rate of `evaluate`, per second."""
    u = _progress(state, t)
    m = 1.0 - u
    rate = (state.b1 - state.b0) * m**4 + 4.0 * (state.b2 - state.b1) * u * m**3 - 6.0 * state.b2 * u * u * m * m
    return 5.0 * rate / np.maximum(state.duration, np.finfo(float).tiny)


def _progress(state: Decay, t: ArrayLike) -> Array:
    """t / T within [0, 1]; 1 for a decay of no duration."""
    t = np.asarray(t, dtype=float)
    over = t >= state.duration
    return np.where(over, 1.0, np.maximum(t, 0.0) / np.where(over, 1.0, state.duration))


def step(value: ArrayLike, velocity: ArrayLike, goal: ArrayLike, half_life: float, dt: float) -> tuple[Array, Array]:
    """(value, velocity) after dt seconds; any shapes that broadcast.

    With j = x - g and k = v + y j:  x = g + e^(-y dt) (j + k dt),  v = e^(-y dt) (v - y k dt).
    """
    g, v = np.asarray(goal, dtype=float), np.asarray(velocity, dtype=float)
    offset, v = _relax(np.asarray(value, dtype=float) - g, v, half_life, dt)
    return g + offset, v


def step_scalar(value: float, rate: float, goal: float, time_constant: float, dt: float) -> tuple[float, float]:
    """`step` of one number, with the time constant 1 / y in seconds; one that is as good as there has arrived."""
    if value == goal and rate == 0.0:
        return value, rate
    away, keep = value - goal, exp(-dt / time_constant)
    pull = rate + away / time_constant
    away, rate = keep * (away + pull * dt), keep * (rate - pull * dt / time_constant)
    if abs(away) < ARRIVED_EPSILON and abs(rate) < ARRIVED_EPSILON:
        return goal, 0.0
    return goal + away, rate


def _relax(offset: Array, velocity: Array, half_life: float, dt: float) -> tuple[Array, Array]:
    y = HALF_REACHED / positive(half_life, "half_life")
    k, decay = velocity + y * offset, np.exp(-y * dt)
    return decay * (offset + k * dt), decay * (velocity - y * k * dt)
