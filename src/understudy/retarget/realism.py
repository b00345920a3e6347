"""Weight: the motion of the whole figure changed until the floor can give the forces it needs [Yamane 2010, 5.3].

Along x, y, z and about the vertical the figure is displaced by sums of Gaussians (`radial_basis`, eq. 10; the paper
displaces the height alone), and each contact point that is down is pressed against the floor by e. They minimise

    Z = k_w / 2 w^T w + k_1 Z_p + k_2 Z_m + k_e / 2 sum_f |e|^2 + k_s / 2 sum_f |d|^2 + k_m / 2 sum_f |d'|^2
    Z_p = 1/2 sum_f |F - F^|^2 + |N - N^|^2                                        (eqs. 11, with three terms more, 12)

with w the weights of the Gaussians, F and N the force and the moment that the motion needs, F^ and N^ those of the
floor (`force_balance`), d the displacement along the floor and the yaw, and d' the momentum that it adds, level. Forces
are in units of the weight, lengths of the height, and sums are over seconds, so that all terms are pure numbers and the
constants serve any body. Z_m is the likelihood of the poses under the mapping (eq. 15): of a displacement only the
height shows in the local frame, and it moves every marker alike, so that it is 1/2 sum_f dy^2 / sigma^2, with the
mapping's variance sigma^2 of that frame.

Steps are those of Gauss and Newton. With D = k_1 / k_e times the squared scale of e, J the derivatives by e and B those
by d, the pressing drops out of each frame for itself:

    min_e  |r + B d + J (e' - e)|^2 + e'^T D^-1 e' = (rho + B d)^T W (rho + B d),   rho = r - J e,  W = (1 + J D J^T)^-1

and what is left is one banded system for the Gaussians, damped as by Levenberg and Marquardt. In the end the feet are
put back where they stood, and the legs follow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.maths.cholesky import solve_banded
from understudy.retarget import leg_reach
from understudy.retarget.body import Body
from understudy.retarget.contact_correction import STRIDE, reaching
from understudy.retarget.contact_goals import through_flight
from understudy.retarget.contact_model import SINK
from understudy.retarget.contacts import Phases
from understudy.retarget.flights import fallen
from understudy.retarget.force_balance import (
    PRESSING,
    Problem,
    displacement_frames,
    problem_of,
    residuals,
    settled,
    slopes,
)
from understudy.retarget.freedom import Limits
from understudy.retarget.height import body_height
from understudy.retarget.momentum import GRAVITY, mass_motion
from understudy.retarget.poses import Poses
from understudy.retarget.radial_basis import Basis, basis_of
from understudy.retarget.stance import Stance, stance_of

INTERVAL = 0.05  # seconds between Gaussians: take-off and landing are as sharp as that
SURE = 0.01  # of the height: the mapping is never believed to be surer than this of a height
USUAL = 0.03  # of the height: how sure a mapping is where it does not say
GLIDE = 0.1  # of the height a second: a change of momentum that counts as one
STAY = (0.05, 0.2)  # of the height, and radians: displacements and turns that count as one
SHARES = (1.0, 0.5, 0.0)  # of the displacement, until one makes things better
REPLANTED = 3  # times that feet are put back, and the figure moved on by what their legs weigh
REPLANTED_ROUNDS = 2  # of the search, but for the first time: legs are almost where they should be
ITERATIONS = 25
ENOUGH = 1e-3  # of the cost: a step that gains less is the last


@dataclass(frozen=True, slots=True)
class Terms:
    """How much each aim counts."""

    k_w: float = 0.01
    k_1: float = 1.0
    k_2: float = 0.005
    k_e: float = PRESSING
    k_s: float = 1.0
    k_m: float = 0.1


def realistic(
    poses: Poses,
    body: Body,
    phases: Phases,
    variance: Array | None = None,
    *,
    limits: Limits | None = None,
    gravity: float = GRAVITY,
    interval: float = INTERVAL,
    terms: Terms | None = None,
) -> Poses:
    """Poses moved as a whole so that the floor can give the forces that they need, feet staying where they stand.

    `variance` (F,) in square metres is the mapping's. `gravity` is that of the character's world: a figure of half the
    size that keeps an actor's timing and jumps half as high lives under half the gravity.
    """
    if len(poses) < 3 or not body.contacts or not phases.down.any():
        return poses
    height = body_height(body, poses)
    gravity = checks.positive(gravity, "gravity")
    air = ~np.asarray(phases.down.any(axis=1))
    least = _mismatch(problem_of(poses.world, body, phases, poses.rate, height, gravity))
    centres = mass_motion(poses.world, body, poses.rate).centres
    flown = np.zeros((len(poses), 4))
    flown[:, :3] = fallen(centres, air, poses.rate, gravity)
    start = poses.moved(displacement_frames(centres, flown))
    problem = problem_of(start.world, body, phases, poses.rate, height, gravity)
    if variance is None:
        variance = np.full(len(poses), (USUAL * height) ** 2)
    stance = stance_of(poses, body, phases)
    stays = stay_units(stance, phases, height)
    moved, _ = displacements(problem, np.asarray(variance), stays, interval, terms or Terms())
    for share in SHARES:
        part = share * moved
        part[:, :3] += fallen(problem.motion.centres + part[:, :3], air, poses.rate, gravity)
        found = _displaced(start, body, phases, problem, part, limits, stance)
        if _mismatch(problem_of(found.world, body, phases, poses.rate, height, gravity)) < least:
            return found
    return poses


def stay_units(stance: Stance, phases: Phases, height: float) -> Array:
    """(F,) metres that count as one displacement: part of a leg while standing, more in flight.

    Of a figure that stands on its base, only what the base carries can go anywhere, and goes the further for it.
    """
    standing = np.asarray(phases.down.any(axis=1))
    near = stance.carried * min(STAY[0] * height, STRIDE * stance.length)
    return np.where(standing, near, STAY[0] * height)


def _mismatch(problem: Problem) -> float:
    """The mean square of what the floor cannot give."""
    still = np.zeros((len(problem.motion), 4))
    return float(np.square(residuals(problem, still, settled(problem, still))).mean())


def _displaced(
    poses: Poses, body: Body, phases: Phases, problem: Problem, moved: Array, limits: Limits | None, stance: Stance
) -> Poses:
    """The figure displaced by (F, 4) over feet that stay where they stand."""
    wanted = problem.motion.centres + moved[:, :3]
    shifted = poses.moved(displacement_frames(problem.motion.centres, moved))
    hips = poses.skeleton.ancestors(int(stance.hips[0]))[-1]
    softness = leg_reach.SOFT
    for _ in range(REPLANTED):
        goals = through_flight(body.contact_positions(shifted.world), problem.points, phases)
        planted = reaching(shifted, body, phases, goals, limits, stance, softness)
        shift = np.zeros((len(poses), 4))
        shift[:, :3] = wanted - mass_motion(planted.world, body, poses.rate).centres
        if stance.base is not None:
            shifted = shifted.moved(displacement_frames(wanted, shift))
            continue
        # where hips gave way they had to: only what the legs weigh is made up for
        shift[:, :3] += planted.world[:, hips, :3, 3] - shifted.world[:, hips, :3, 3]
        shifted, softness = planted.moved(displacement_frames(wanted, shift)), leg_reach.SOFT[-REPLANTED_ROUNDS:]
        wanted = mass_motion(shifted.world, body, poses.rate).centres
    return planted


@dataclass(frozen=True, eq=False)
class _Costs:
    """The terms of Z besides Z_p and the Gaussians' own, frame by frame."""

    stay: Array  # (F, 4) times 1/2 d^2
    press: float  # times 1/2 |e|^2
    keep: Array  # (4,) times 1/2 w^2
    k_1: float  # times Z_p
    glide: Array  # (4,) times 1/2 of the squared difference of d from a frame to the next

    @classmethod
    def of(cls, problem: Problem, variance: Array, stays: Array, terms: Terms) -> _Costs:
        dt, height = 1 / problem.motion.rate, problem.height
        yaw = STAY[1] * stays / (STAY[0] * height)
        high = np.where(stays < STAY[0] * height, stays, np.inf)  # in flight the height is free
        stay = terms.k_s * dt / np.stack([stays, high, stays, yaw], axis=1) ** 2
        stay[:, 1] += terms.k_2 * dt / np.maximum(variance, (SURE * height) ** 2)
        stay[[0, 1, -2, -1]] += dt / (SINK * np.array([height, height, height, 1.0])) ** 2  # nothing holds the ends
        keep = terms.k_w / np.array([height, height, height, 1.0]) ** 2
        glide = terms.k_m / dt / (GLIDE * height) ** 2 * np.array([1.0, 0.0, 1.0, 0.0])
        return cls(stay, terms.k_e * dt / (SINK * height) ** 2, keep, terms.k_1 * dt, glide)

    def gliding(self, moved: Array) -> Array:
        """(F, 4) the slope of the term of momentum by the displacements."""
        steps = self.glide * np.diff(moved, axis=0)
        slope = np.zeros(moved.shape)
        slope[1:] += steps
        slope[:-1] -= steps
        return slope

    def total(self, problem: Problem, weights: Array, moved: Array, pressed: Array) -> float:
        """Z."""
        missing = residuals(problem, moved, pressed)
        own = (self.keep * weights**2).sum() + (self.stay * moved**2).sum() + self.press * np.square(pressed).sum()
        own += (self.glide * np.square(np.diff(moved, axis=0))).sum()
        return float(0.5 * (own + self.k_1 * np.square(missing).sum()))


def displacements(
    problem: Problem, variance: Array, stays: Array, interval: float, terms: Terms
) -> tuple[Array, Array]:
    """(F, 4) x, y, z and yaw, and (F, K, 3) pressing, that minimise Z, for units of displacement `stays` (F,)."""
    basis = basis_of(len(problem.motion), problem.motion.rate, interval)
    costs = _Costs.of(problem, variance, stays, terms)
    weights = np.zeros((basis.count, 4))
    moved, pressed = problem.at_rest()
    cost = costs.total(problem, weights, moved, pressed)
    damping = 1e-3
    for _ in range(ITERATIONS):
        equations = _Equations.of(problem, basis, costs, weights, moved, pressed)
        while damping < 1e6:
            found = equations.step(damping)
            if found is not None:
                trial = weights + found[0]
                shift, press = basis.sum(trial), found[1]
                new = costs.total(problem, trial, shift, press)
                if new < cost:
                    break
            damping *= 8
        else:
            break
        gain = (cost - new) / cost
        weights, moved, pressed, cost = trial, shift, press, new
        damping = max(damping / 8, 1e-6)
        if gain < ENOUGH:
            break
    return moved, pressed


@dataclass(frozen=True, eq=False)
class _Equations:
    """Z to second order about one point, the pressing already eliminated."""

    basis: Basis
    bands: Array  # upper banded, of the Gaussians' weights
    slope: Array  # (N, 4)
    pressed: Array  # (F, K, 3)
    rho: Array  # (F, 6)
    by_moves: Array  # (F, 6, 3, 4)
    answer: Array  # (F, 3 K, 6) D J^T W: e' = -answer (rho + B d)

    @classmethod
    def of(
        cls, problem: Problem, basis: Basis, costs: _Costs, weights: Array, moved: Array, pressed: Array
    ) -> _Equations:
        missing = residuals(problem, moved, pressed)
        by_moves, by_press = slopes(problem, moved, pressed)
        flat = pressed.reshape(len(pressed), -1, 1)
        rho = missing - (by_press @ flat)[..., 0]
        press = costs.k_1 / costs.press  # D
        root = np.linalg.cholesky(np.linalg.inv(np.eye(6) + press * by_press @ np.swapaxes(by_press, 1, 2)))
        white = np.swapaxes(root, 1, 2)  # W = root root^T
        slope, blocks = normal_blocks(
            (white @ rho[..., None])[..., 0], (white @ by_moves.reshape(len(rho), 6, 12)).reshape(by_moves.shape)
        )
        slope = costs.k_1 * slope + costs.stay * moved + costs.gliding(moved)
        blocks = costs.k_1 * blocks
        blocks[0] += costs.stay[..., None] * np.eye(4)
        blocks[0, 1:] += np.diag(costs.glide)
        blocks[0, :-1] += np.diag(costs.glide)
        blocks[1, :-1] -= np.diag(costs.glide)
        bands = basis.banded(blocks)
        bands[-1] += np.tile(costs.keep, basis.count)
        answer = press * np.swapaxes(by_press, 1, 2) @ root @ white
        return cls(basis, bands, basis.spread(slope) + costs.keep * weights, pressed, rho, by_moves, answer)

    def step(self, damping: float) -> tuple[Array, Array] | None:
        """The step of the weights (N, 4), and the new pressing (F, K, 3); the more damped the less of both."""
        raised = self.bands.copy()
        raised[-1] *= 1 + damping
        step = solve_banded(raised, -self.slope.reshape(-1))
        if step is None:
            return None
        change = self.basis.sum(step.reshape(-1, 4))
        padded = np.concatenate([change[:1], change, change[-1:]])
        around = np.stack([padded[s : s + len(change)] for s in range(3)], axis=1)
        rho = self.rho + np.einsum("frsi,fsi->fr", self.by_moves, around)
        wanted = -(self.answer @ rho[..., None]).reshape(self.pressed.shape)
        return step.reshape(-1, 4), self.pressed + (wanted - self.pressed) / (1 + damping)


def normal_blocks(missing: Array, slopes: Array) -> tuple[Array, Array]:
    """Slopes (F, 4) of 1/2 sum |r|^2 by the displacements, and (3, F, 4, 4) the diagonals of J^T J.

    `missing` (F, 6) is r, `slopes` (F, 6, 3, 4) its derivatives by the frame before, the frame and the frame after.
    """
    frames = len(missing)
    slope, blocks = np.zeros((frames, 4)), np.zeros((3, frames, 4, 4))
    for s in range(3):
        rows = slice(1, frames - 1)
        to = slice(s, frames - 2 + s)  # frame f + s - 1
        slope[to] += np.einsum("fri,fr->fi", slopes[rows, :, s], missing[rows])
        for t in range(s, 3):
            blocks[t - s, to] += np.einsum("fri,frj->fij", slopes[rows, :, s], slopes[rows, :, t])
    return slope, blocks
