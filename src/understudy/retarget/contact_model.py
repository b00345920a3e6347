"""The floor as a spring: what force a contact point gets for where it is and how it moves [Yamane 2010, eqs. 13, 14].

Normal force at height y (below zero: under the floor), never pulling:

    f_n = max(0, k_P / 2 (sqrt(y^2 + 4 f_0^2 / k_P^2) - y) - k_D g(y) y')
    g(y) = 1 - exp(k y) / 2  for y < 0,    exp(-k y) / 2  above

Friction, against where the point has slid to from its anchor r^ and against how it slides:

    f_t = mu f_n h(|u|) u,    u = -k_tP (r - r^) - k_tD r',    h(s) = (1 - exp(-k_t s)) / s,  and k_t as s -> 0

(the two cases of h are the wrong way round in print). Constants are given as lengths and times of the body instead of
newtons, so that a mouse and an elephant stand alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array


@dataclass(frozen=True, slots=True)
class ContactModel:
    """The constants of one body."""

    k_P: float  # N/m
    k_D: float  # N s/m
    f_0: float  # N
    k: float  # 1/m
    mu: float
    k_t: float
    k_tP: float  # 1/m
    k_tD: float  # s/m
    epsilon: float = 1e-6


SINK = 0.001  # of the height: how deep a body sinks in that stands still
SINK_TIME = 1e-3  # seconds: k_D / k_P
RESIDUE = 0.01  # of the weight on a point: f_0
NEAR = 0.01  # of the height: where the damper begins, 1 / k
MU = 1.0
SLID, SLIDING = 0.001, 0.05  # of the height, and that a second, at which friction is near its most


def contact_model(weight: float, height: float, points: float) -> ContactModel:
    """The floor for a body of a weight (N) and height (m) that usually stands on so many points."""
    share = weight / points
    stiff = share / (SINK * height)
    return ContactModel(
        stiff,
        SINK_TIME * stiff,
        RESIDUE * share,
        1 / (NEAR * height),
        MU,
        1.0,
        1 / (SLID * height),
        1 / (SLIDING * height),
    )


def normal_force(y: Array, speed: Array, model: ContactModel) -> tuple[Array, Array, Array]:
    """f_n of heights and vertical speeds (...,), and its derivatives by both."""
    root = np.sqrt(y * y + 4 * (model.f_0 / model.k_P) ** 2)
    fade = 0.5 * np.exp(-model.k * np.abs(y))
    g = np.where(y < 0, 1 - fade, fade)
    force = 0.5 * model.k_P * (root - y) - model.k_D * g * speed
    by_y = 0.5 * model.k_P * (y / root - 1) + model.k_D * model.k * fade * speed
    pushes = force > 0
    return np.where(pushes, force, 0.0), np.where(pushes, by_y, 0.0), np.where(pushes, -model.k_D * g, 0.0)


def friction_direction(u: Array, model: ContactModel) -> tuple[Array, Array]:
    """h(|u|) u (..., 2), shorter than 1, and its derivative (..., 2, 2)."""
    s = np.sqrt((u * u).sum(axis=-1))
    safe = np.maximum(s, model.epsilon)
    fade = np.exp(-model.k_t * safe)
    h = np.where(s < model.epsilon, model.k_t, (1 - fade) / safe)
    slope = np.where(s < model.epsilon, 0.0, (model.k_t * fade - h) / safe)  # h'
    outer = u[..., :, None] * u[..., None, :]
    return h[..., None] * u, h[..., None, None] * np.eye(2) + (slope / safe)[..., None, None] * outer


def contact_forces(
    positions: Array, velocities: Array, anchors: Array, model: ContactModel
) -> tuple[Array, Array, Array]:
    """Forces (..., 3) on points (..., 3), and their derivatives (..., 3, 3) by position and by velocity."""
    level = [0, 2]
    normal, by_y, by_speed = normal_force(positions[..., 1], velocities[..., 1], model)
    u = -model.k_tP * (positions - anchors)[..., level] - model.k_tD * velocities[..., level]
    direction, by_u = friction_direction(u, model)
    forces = np.empty(positions.shape)
    forces[..., 1] = normal
    forces[..., level] = model.mu * normal[..., None] * direction
    by_position, by_velocity = np.zeros((*positions.shape, 3)), np.zeros((*positions.shape, 3))
    by_position[..., 1, 1], by_velocity[..., 1, 1] = by_y, by_speed
    for row, axis in enumerate(level):
        by_position[..., axis, 1] = model.mu * by_y * direction[..., row]
        by_velocity[..., axis, 1] = model.mu * by_speed * direction[..., row]
        for column, other in enumerate(level):
            change = model.mu * normal * by_u[..., row, column]
            by_position[..., axis, other] = -model.k_tP * change
            by_velocity[..., axis, other] = -model.k_tD * change
    return forces, by_position, by_velocity
