"""Momenta and forces of a whole body, all frames at once, from positions alone.

With the pseudo-inertia M_j = int X X^T dm of each link and its world transform W_j(f), all that is needed of a body are

    m c(f)    = sum_j W_j(f) M_j e_4                                the centre of mass c
    S(f)      = sum_j W_j(f) M_j W_j(f)^T - m c c^T                 second moments about it, inertia I = trace(S) 1 - S
    U(f)      = sum_j W_j(f+1) M_j W_j(f)^T - m c(f+1) c(f)^T       the same between a frame and the next

since sum m u x u' is the axial vector of sum m u' u^T. Between two frames the momentum is m (c(f+1) - c(f)) / h and the
spin (the angular momentum about the centre) is axial(U(f)) / h, h the time step; at a frame they are the means of the
two steps, which is the central difference; their differences are the rates of change. In these sums nothing is lost: a
body on which only gravity acts keeps its spin, and falls with m g, to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths import linear
from understudy.retarget.body import Body

GRAVITY = 9.81  # m/s^2


@dataclass(frozen=True, eq=False)
class MassMotion:
    """A motion of F frames as its mass sees it."""

    mass: float  # kg
    centres: Array  # (F, 3) centre of mass, metres
    second: Array  # (F, 3, 3) second moments about the centre, kg m^2
    lagged: Array  # (F - 1, 3, 3) sum m u(f+1) u(f)^T, u from the centre
    rate: float

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def inertias(self) -> Array:
        """(F, 3, 3) moments of inertia about the centre of mass, axes of the world."""
        return np.asarray(np.trace(self.second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - self.second)

    @property
    def velocities(self) -> Array:
        """(F, 3) of the centre of mass."""
        return at_frames(np.diff(self.centres, axis=0) * self.rate, len(self))

    @property
    def linear(self) -> Array:
        """(F, 3) linear momentum P."""
        return self.mass * self.velocities

    @property
    def step_spins(self) -> Array:
        """(F - 1, 3) angular momentum about the centre of mass between a frame and the next."""
        return axial(self.lagged) * self.rate

    @property
    def spins(self) -> Array:
        """(F, 3) angular momentum about the centre of mass."""
        return at_frames(self.step_spins, len(self))

    def angular(self, about: Array) -> Array:
        """(F, 3) angular momentum L about points (F, 3) that stand still: spin + (c - o) x P."""
        return self.spins + linear.cross(self.centres - about, self.linear)

    def needed_forces(self, gravity: float = GRAVITY) -> tuple[Array, Array]:
        """(F, 3) the force, and the moment about the centre of mass, that the floor has to give for this motion.

        F = dP/dt - m g, N = d spin/dt; the first and the last frame have those of their neighbours.
        """
        forces = np.zeros((len(self), 3))
        moments = np.zeros((len(self), 3))
        if len(self) > 2:
            forces[1:-1] = self.mass * self.rate**2 * np.diff(self.centres, 2, axis=0)
            moments[1:-1] = self.rate * np.diff(self.step_spins, axis=0)
            forces[[0, -1]], moments[[0, -1]] = forces[[1, -2]], moments[[1, -2]]
        forces[:, 1] += self.mass * gravity
        return forces, moments


def mass_motion(world: Array, body: Body, rate: float) -> MassMotion:
    """The motion of a body's mass for world_from_joint (F, J, 4, 4)."""
    heavy = np.flatnonzero(body.masses > 0)
    frames = np.ascontiguousarray(world[:, heavy, :3, :])
    weighted = frames @ body.pseudo_inertias[heavy]
    return _summed(_wide(frames), _wide(weighted), weighted[..., 3].sum(axis=1), body.mass, rate)


def cloud_motion(points: Array, rate: float) -> MassMotion:
    """The motion of markers (F, P, 3) that weigh the same, one kilogram in all."""
    share = 1.0 / points.shape[1]
    flat = np.swapaxes(points, 1, 2)
    return _summed(flat, share * flat, share * points.sum(axis=1), 1.0, rate)


def axial(matrices: Array) -> Array:
    """(..., 3) sum a x b of matrices (..., 3, 3) sum b a^T."""
    return np.stack(
        [
            matrices[..., 2, 1] - matrices[..., 1, 2],
            matrices[..., 0, 2] - matrices[..., 2, 0],
            matrices[..., 1, 0] - matrices[..., 0, 1],
        ],
        axis=-1,
    )


def at_frames(steps: Array, frames: int) -> Array:
    """(F, 3) values at frames of values (F - 1, 3) between them: means, and at the ends the line through two."""
    result = np.zeros((frames, 3))
    if frames > 1:
        result[1:-1] = 0.5 * (steps[1:] + steps[:-1])
        result[0], result[-1] = steps[0], steps[-1]
    if frames > 2:
        result[0] += 0.5 * (steps[0] - steps[1])
        result[-1] += 0.5 * (steps[-1] - steps[-2])
    return result


def _wide(frames: Array) -> Array:
    """(F, 3, 4 J) of (F, J, 3, 4): side by side, so that a sum over joints is one matrix product."""
    count, joints = frames.shape[:2]
    return np.swapaxes(frames, 1, 2).reshape(count, 3, 4 * joints)


def _summed(places: Array, weighted: Array, first: Array, mass: float, rate: float) -> MassMotion:
    """From places and weighted places (F, 3, n), whose products are second moments about the origin."""
    centres = first / mass
    second = weighted @ np.swapaxes(places, 1, 2) - mass * centres[:, :, None] * centres[:, None, :]
    lagged = places[1:] @ np.swapaxes(weighted[:-1], 1, 2) - mass * centres[1:, :, None] * centres[:-1, None, :]
    return MassMotion(mass, centres, second, lagged, rate)
