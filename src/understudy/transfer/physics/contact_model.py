"""The floor as a spring, and the balance of the forces that a motion needs and the floor gives [Yamane 2010, 5.3].

Contact model (eqs. 13, 14). Normal force at height y (below zero: under the floor), never pulling:

    f_n = max(0, k_P / 2 (sqrt(y^2 + 4 f_0^2 / k_P^2) - y) - k_D g(y) y')
    g(y) = 1 - exp(k y) / 2  for y < 0,    exp(-k y) / 2  above

Friction, against the displacement of the point from its anchor r^ and against its sliding velocity:

    f_t = mu f_n h(|u|) u,    u = -k_tP (r - r^) - k_tD r',    h(s) = (1 - exp(-k_t s)) / s,  and k_t as s -> 0

(the two cases of h are the wrong way round in print). Constants are given as lengths and times of the body instead of
newtons, so that a mouse and an elephant stand alike.

Force balance. The figure is displaced as a whole, along x, y, z and about the vertical through its centre of mass, over
feet that stay where they are (the legs adapt). Then of the whole body only its centre c and one matrix U between
neighbouring frames enter (`momentum`). With R(f) the rotation by the yaw of frame f, the needed force, and the needed
moment about the centre of mass, are

    F = m c'' - m g,    N = d/dt axial(R(f+1) U(f) R(f)^T)

Each contact point that is down is pressed against the floor, a vector e of millimetres in each frame, and the floor
answers with f(e): F^ = sum f, and N^ = sum a x f with the arms a from the centre. The paper presses all points by the
one height of the root, which cannot put weight on the toes. All derivatives are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import Body
from understudy.checks import Array
from understudy.maths import vector
from understudy.transfer.physics.momentum import MassMotion, axial, mass_motion
from understudy.transfer.standing import slide_velocities

SINK_DEPTH_HEIGHT_RATIO = 0.001  # of the height: how deep a body at rest sinks into the floor
DAMPING_SECONDS = 1e-3  # k_D / k_P
RESIDUAL_FORCE_WEIGHT_RATIO = 0.01  # f_0 over the weight on a point
DAMPER_DEPTH_HEIGHT_RATIO = 0.01  # 1 / k over the height: where the damper begins
FRICTION_COEFFICIENT = 1.0  # mu
# Slip over the height, and sliding speed in heights a second, at which friction is near its maximum.
FRICTION_SLIP_HEIGHT_RATIO, FRICTION_SPEED_HEIGHTS_PER_S = 0.001, 0.05
PRESSING_COST = 1e-3  # of pressing as deep as a body at rest sinks, beside 1 for a missing body weight
MOMENT_ARM_HEIGHT_RATIO = 0.25  # of the height: the arm by which moments are divided to compare with forces
UP = np.array([0.0, 1.0, 0.0])
YAW_GENERATOR = vector.skew(UP)  # derivative of a rotation about +Y at angle 0


@dataclass(frozen=True, slots=True)
class ContactModel:
    """The constants of the floor for one body."""

    k_P: float  # N/m
    k_D: float  # N s/m
    f_0: float  # N
    k: float  # 1/m
    mu: float
    k_t: float
    k_tP: float  # 1/m
    k_tD: float  # s/m
    epsilon: float = 1e-6


@dataclass(frozen=True, eq=False)
class ForceProblem:
    """A motion, its contacts and the floor under it."""

    motion: MassMotion
    points: Array  # (F, K, 3) contact points
    velocities: Array  # (F, K, 3) of the contact points, without the intended glide
    down: Array  # (F, K) 1 where a point is down, else 0
    model: ContactModel
    gravity: float
    height: float

    @property
    def weight(self) -> float:
        """Weight of the body, newtons."""
        return self.motion.mass * self.gravity

    def at_rest(self) -> tuple[Array, Array]:
        """No displacement (F, 4), and the pressing (F, K, 3) under which the body would be at rest."""
        pressed = np.zeros(self.points.shape)
        pressed[..., 1] = -SINK_DEPTH_HEIGHT_RATIO * self.height * self.down
        return np.zeros((len(self.motion), 4)), pressed


def contact_model_of(weight: float, height: float, points: float) -> ContactModel:
    """The floor for a body of a weight (N) and a height (m) that usually stands on `points` contact points."""
    share = weight / points
    stiff = share / (SINK_DEPTH_HEIGHT_RATIO * height)
    return ContactModel(
        stiff,
        DAMPING_SECONDS * stiff,
        RESIDUAL_FORCE_WEIGHT_RATIO * share,
        1 / (DAMPER_DEPTH_HEIGHT_RATIO * height),
        FRICTION_COEFFICIENT,
        1.0,
        1 / (FRICTION_SLIP_HEIGHT_RATIO * height),
        1 / (FRICTION_SPEED_HEIGHTS_PER_S * height),
    )


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


def normal_force(y: Array, speed: Array, model: ContactModel) -> tuple[Array, Array, Array]:
    """f_n at heights and vertical speeds (...,), and its derivatives by both."""
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


def problem_of(
    world: Array, body: Body, phases: ContactPhases, rate: float, height: float, gravity: float
) -> ForceProblem:
    """The problem of a motion, world_from_joint (F, J, 4, 4)."""
    motion = mass_motion(world, body, rate)
    points = body.contact_positions(world)
    standing = phases.down.sum(axis=1)
    usual = float(standing[standing > 0].mean()) if standing.any() else float(max(len(body.contacts), 1))
    model = contact_model_of(motion.mass * gravity, height, usual)
    down = phases.down.astype(np.float64)
    steps = np.diff(points, axis=0) * rate - slide_velocities(points, phases, rate)
    return ForceProblem(motion, points, _velocities(steps, phases.down), down, model, gravity, height)


def forces(problem: ForceProblem, moved: Array, pressed: Array) -> tuple[Array, Array, Array, Array]:
    """(F, 3) needed force, given force, needed moment and given moment, for displacements (F, 4) and pressing."""
    needed, turning = _required_forces(problem, moved)
    given, _ = _floor_forces(problem, pressed)
    return needed, given.sum(axis=1), turning, vector.cross(_arms(problem, moved, pressed), given).sum(axis=1)


def residuals(problem: ForceProblem, moved: Array, pressed: Array) -> Array:
    """(F, 6) needed minus given force and moment, in units of weight; zero at the ends, which have no neighbours."""
    needed, given, turning, tipping = forces(problem, moved, pressed)
    scale = problem.weight * MOMENT_ARM_HEIGHT_RATIO * problem.height
    missing = np.concatenate([(needed - given) / problem.weight, (turning - tipping) / scale], axis=1)
    missing[[0, -1]] = 0.0
    return missing


def force_jacobians(problem: ForceProblem, moved: Array, pressed: Array) -> tuple[Array, Array]:
    """Derivatives of `residuals`: (F, 6, 3, 4) by the displacements of the frame before, the frame and the frame after,
    and (F, 6, 3 K) by the pressing.
    """
    motion, weight, frames = problem.motion, problem.weight, len(moved)
    scale = weight * MOMENT_ARM_HEIGHT_RATIO * problem.height
    given, by_press = _floor_forces(problem, pressed)
    arms = _arms(problem, moved, pressed)
    by_moves = np.zeros((frames, 6, 3, 4))
    change = motion.mass * motion.rate**2 / weight
    for s, share in enumerate((change, -2 * change, change)):
        by_moves[:, :3, s, :3] = share * np.eye(3)
    by_moves[:, 3:, :, 3] = _turning_slopes(motion, moved[:, 3]) / scale
    by_moves[:, 3:, 1, :3] = -vector.skew(given.sum(axis=1)) / scale  # a = r - c, so dN^ = F^ x dc
    lever = vector.skew(arms) @ by_press - vector.skew(given)
    both = np.concatenate([-by_press / weight, -lever / scale], axis=2)  # (F, K, 6, 3)
    by_presses = np.swapaxes(both, 1, 2).reshape(frames, 6, -1)
    by_moves[[0, -1]], by_presses[[0, -1]] = 0.0, 0.0
    return by_moves, by_presses


def relax_to_floor(problem: ForceProblem, moved: Array, stiffness: float = PRESSING_COST, rounds: int = 20) -> Array:
    """(F, K, 3) the pressing under which the floor gives most of the needed forces, for displacements (F, 4).

    Minimises |r|^2 + stiffness |e / (SINK_DEPTH_HEIGHT_RATIO height)|^2, frame by frame; a step that does not help is
    halved.
    """
    price = stiffness / (SINK_DEPTH_HEIGHT_RATIO * problem.height) ** 2
    pressed = problem.at_rest()[1]
    share = np.ones(len(moved))

    def cost(e: Array) -> Array:
        return np.square(residuals(problem, moved, e)).sum(axis=1) + price * np.square(e).sum(axis=(1, 2))

    best = cost(pressed)
    for _ in range(rounds):
        _, j = force_jacobians(problem, moved, pressed)
        rho = residuals(problem, moved, pressed)[..., None] - j @ pressed.reshape(len(pressed), -1, 1)
        inner = np.eye(6) + j @ np.swapaxes(j, 1, 2) / price
        wanted = -(np.swapaxes(j, 1, 2) @ np.linalg.solve(inner, rho) / price).reshape(pressed.shape)
        trial = pressed + share[:, None, None] * (wanted - pressed)
        value = cost(trial)
        better = value < best
        pressed, best = np.where(better[:, None, None], trial, pressed), np.where(better, value, best)
        share = np.where(better, np.minimum(1.0, 2 * share), 0.5 * share)
    return pressed


def displacement_frames(centres: Array, moved: Array) -> Array:
    """(F, 4, 4) the motion of the whole figure by displacements (F, 4): x, y, z, and yaw about its centre (F, 3)."""
    result = np.zeros((len(moved), 4, 4))
    result[:, :3, :3] = _yaw(moved[:, 3])
    result[:, :3, 3] = centres + moved[:, :3] - (result[:, :3, :3] @ centres[..., None])[..., 0]
    result[:, 3, 3] = 1.0
    return result


def _arms(problem: ForceProblem, moved: Array, pressed: Array) -> Array:
    """(F, K, 3) from the displaced centre of mass to the contact points."""
    return problem.points + pressed - (problem.motion.centres + moved[:, :3])[:, None]


def _floor_forces(problem: ForceProblem, pressed: Array) -> tuple[Array, Array]:
    """(F, K, 3) the forces of the floor, and (F, K, 3, 3) their derivatives by the pressing; none in flight."""
    positions = problem.points + pressed
    force, by_position, _ = contact_forces(positions, problem.velocities, problem.points, problem.model)
    return problem.down[..., None] * force, problem.down[..., None, None] * by_position


def _required_forces(problem: ForceProblem, moved: Array) -> tuple[Array, Array]:
    """(F, 3) force and moment about the centre of mass that the displaced motion needs; zero at the ends."""
    motion = problem.motion
    needed, turning = np.zeros((len(moved), 3)), np.zeros((len(moved), 3))
    needed[1:-1] = motion.mass * motion.rate**2 * np.diff(motion.centres + moved[:, :3], 2, axis=0)
    needed[:, 1] += motion.mass * problem.gravity
    turns = _yaw(moved[:, 3])
    spins = axial(turns[1:] @ motion.lagged @ np.swapaxes(turns[:-1], 1, 2)) * motion.rate
    turning[1:-1] = np.diff(spins, axis=0) * motion.rate
    return needed, turning


def _turning_slopes(motion: MassMotion, yaw: Array) -> Array:
    """(F, 3, 3) derivatives of the needed moment (rows) by the yaw of the frame before, the frame, the frame after."""
    turns = _yaw(yaw)
    tied = turns[1:] @ motion.lagged @ np.swapaxes(turns[:-1], 1, 2)
    by_next = axial(YAW_GENERATOR @ tied) * motion.rate**2
    by_this = axial(tied @ YAW_GENERATOR.T) * motion.rate**2
    result = np.zeros((len(yaw), 3, 3))
    result[1:-1, :, 0] = -by_this[:-1]
    result[1:-1, :, 1] = by_this[1:] - by_next[:-1]
    result[1:-1, :, 2] = by_next[1:]
    return result


def _velocities(steps: Array, down: Array) -> Array:
    """(F, K, 3) means of steps (F - 1, K, 3), one-sided where a contact begins or ends: flight is not sliding."""
    none = np.zeros((*down.shape, 3))
    after = np.concatenate([steps, steps[-1:]]) if len(steps) else none
    before = np.concatenate([steps[:1], steps]) if len(steps) else none
    stood = np.concatenate([down[:1], down[:-1]])[..., None]
    stands = np.concatenate([down[1:], down[-1:]])[..., None]
    return np.where(stood & stands, 0.5 * (before + after), np.where(stands, after, np.where(stood, before, 0.0)))


def _yaw(angles: Array) -> Array:
    """(F, 3, 3) rotations about +Y."""
    result = np.zeros((len(angles), 3, 3))
    result[:, 0, 0] = result[:, 2, 2] = np.cos(angles)
    result[:, 0, 2], result[:, 2, 0] = np.sin(angles), -np.sin(angles)
    result[:, 1, 1] = 1.0
    return result
