"""What forces a motion needs, what forces the floor gives, and how both change when the figure is displaced.

The figure is displaced as a whole, along x, y, z and about the vertical through its centre of mass. Then of the whole
body only its centre c, the contact points, and one matrix U between neighbouring frames enter (`momentum`). With R(f)
the turn by the yaw of frame f, the needed force, and the needed moment about the centre of mass, are

    F = m c'' - m g,    N = d/dt axial(R(f+1) U(f) R(f)^T)

and those of the floor are sums over the contact points (`contact_model`), F^ = sum f and N^ = sum R a x f with the arms
a from the centre. All derivatives are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths import linear
from understudy.retarget.body import Body
from understudy.retarget.contact_model import ContactModel, contact_forces, contact_model
from understudy.retarget.contacts import Phases
from understudy.retarget.momentum import MassMotion, axial, mass_motion

LEVER = 0.25  # of the height: the arm by which moments are divided to compare with forces
UP = np.array([0.0, 1.0, 0.0])
TURN = linear.skew(UP)


@dataclass(frozen=True, eq=False)
class Problem:
    """What the optimisation knows of a motion."""

    motion: MassMotion
    points: Array  # (F, K, 3) contact points
    stencil: Array  # (F, K, 3) by which r(f-1), r(f), r(f+1) give velocities
    grip: Array  # (F, K) 1 where a point is down
    model: ContactModel
    gravity: float
    height: float

    @property
    def arms(self) -> Array:
        """(F, K, 3) from the centre of mass to the contact points."""
        return self.points - self.motion.centres[:, None]


def problem_of(world: Array, body: Body, phases: Phases, rate: float, height: float, gravity: float) -> Problem:
    """The problem of a motion, world_from_joint (F, J, 4, 4)."""
    motion = mass_motion(world, body, rate)
    points = body.contact_positions(world)
    standing = phases.down.sum(axis=1)
    usual = float(standing[standing > 0].mean()) if standing.any() else float(max(len(body.contacts), 1))
    model = contact_model(motion.mass * gravity, height, usual)
    return Problem(motion, points, _stencil(phases.down, rate), phases.down.astype(float), model, gravity, height)


def forces(problem: Problem, moved: Array) -> tuple[Array, Array, Array, Array]:
    """Needed and given force (F, 3), needed and given moment (F, 3), of displacements (F, 4) x, y, z, yaw."""
    needed, turning = _needed(problem, moved)
    points, velocities, arms = _points(problem, moved)
    given, _, _ = contact_forces(points, velocities, problem.points, problem.grip, problem.model)
    return needed, given.sum(axis=1), turning, linear.cross(arms, given).sum(axis=1)


def residuals(problem: Problem, moved: Array, slopes: bool = True) -> tuple[Array, Array]:
    """(F, 6) what is missing in force and moment, in units of weight; and (F, 6, 3, 4) its derivatives by the
    displacements (F, 4) of the frame before, the frame and the frame after, zero where `slopes` are not asked for. The
    ends, which have no neighbour, miss nothing.
    """
    motion = problem.motion
    weight = motion.mass * problem.gravity
    needed, turning = _needed(problem, moved)
    points, velocities, arms = _points(problem, moved)
    given, by_place, by_speed = contact_forces(points, velocities, problem.points, problem.grip, problem.model)
    missing = np.zeros((len(moved), 6))
    missing[:, :3] = (needed - given.sum(axis=1)) / weight
    scale = weight * LEVER * problem.height
    missing[:, 3:] = (turning - linear.cross(arms, given).sum(axis=1)) / scale
    missing[[0, -1]] = 0.0
    result = np.zeros((len(moved), 6, 3, 4))
    if not slopes:
        return missing, result
    change = motion.mass * motion.rate**2 / weight
    for s, share in enumerate((change, -2 * change, change)):
        result[:, :3, s, :3] = share * np.eye(3)
    result[:, 3:, :, 3] = _turning_slopes(motion, moved[:, 3]) / scale
    by_yaw = linear.cross(UP, arms)  # (F, K, 3)
    jacobian = np.zeros((*points.shape, 4))  # of the points by the displacement of their own frame
    jacobian[..., :3], jacobian[..., 3] = np.eye(3), by_yaw
    padded = np.concatenate([jacobian[:1], jacobian, jacobian[-1:]])
    cross = linear.skew(arms)
    for s in range(3):
        part = problem.stencil[:, :, s, None, None] * (by_speed @ padded[s : s + len(moved)])
        if s == 1:
            part = part + by_place @ jacobian
        result[:, :3, s] -= part.sum(axis=1) / weight
        result[:, 3:, s] -= (cross @ part).sum(axis=1) / scale
    result[:, 3:, 1, 3] -= linear.cross(by_yaw, given).sum(axis=1) / scale
    result[[0, -1]] = 0.0
    return missing, result


def displacement_frames(centres: Array, moved: Array) -> Array:
    """(F, 4, 4) the motion of the whole figure by displacements (F, 4): x, y, z, and yaw about its centre (F, 3)."""
    result = np.zeros((len(moved), 4, 4))
    result[:, :3, :3] = _yaw(moved[:, 3])
    result[:, :3, 3] = centres + moved[:, :3] - (result[:, :3, :3] @ centres[..., None])[..., 0]
    result[:, 3, 3] = 1.0
    return result


def _needed(problem: Problem, moved: Array) -> tuple[Array, Array]:
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
    by_next = axial(TURN @ tied) * motion.rate**2
    by_this = axial(tied @ TURN.T) * motion.rate**2
    result = np.zeros((len(yaw), 3, 3))
    result[1:-1, :, 0] = -by_this[:-1]
    result[1:-1, :, 1] = by_this[1:] - by_next[:-1]
    result[1:-1, :, 2] = by_next[1:]
    return result


def _points(problem: Problem, moved: Array) -> tuple[Array, Array, Array]:
    """(F, K, 3) contact points, their velocities, and the arms from the centre of mass, displaced."""
    arms = np.einsum("fij,fkj->fki", _yaw(moved[:, 3]), problem.arms)
    points = arms + (problem.motion.centres + moved[:, :3])[:, None]
    padded = np.concatenate([points[:1], points, points[-1:]])
    frames = len(points)
    velocities = sum(problem.stencil[:, :, s, None] * padded[s : s + frames] for s in range(3))
    return points, np.asarray(velocities), arms


def _stencil(down: Array, rate: float) -> Array:
    """(F, K, 3) central differences, but one-sided where a contact begins or ends: flight is not sliding."""
    before = np.concatenate([down[:1], down[:-1]])
    after = np.concatenate([down[1:], down[-1:]])
    result = np.empty((*down.shape, 3))
    result[...] = 0.5 * rate * np.array([-1.0, 0.0, 1.0])
    result[down & ~before & after] = rate * np.array([0.0, -1.0, 1.0])
    result[down & before & ~after] = rate * np.array([-1.0, 1.0, 0.0])
    result[down & ~before & ~after] = 0.0
    return result


def _yaw(angles: Array) -> Array:
    """(F, 3, 3) turns about +Y."""
    result = np.zeros((len(angles), 3, 3))
    result[:, 0, 0] = result[:, 2, 2] = np.cos(angles)
    result[:, 0, 2], result[:, 2, 0] = np.sin(angles), -np.sin(angles)
    result[:, 1, 1] = 1.0
    return result
