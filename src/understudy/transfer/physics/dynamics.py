"""Dynamics correction: the whole figure is displaced until the floor can give the needed forces [Yamane 2010, 5.3].

Along x, y, z and about the vertical the figure is displaced by sums of Gaussians (`RadialBasis`, eq. 10; the paper
displaces the height alone), and each contact point that is down is pressed against the floor by e. They minimise

    Z = k_w / 2 w^T w + k_1 Z_p + k_2 Z_m + k_e / 2 sum_f |e|^2 + k_s / 2 sum_f |d|^2 + k_m / 2 sum_f |d'|^2
    Z_p = 1/2 sum_f |F - F^|^2 + |N - N^|^2                                        (eqs. 11, with three terms more, 12)

with w the weights of the Gaussians, F and N the force and the moment that the motion needs, F^ and N^ those of the
floor (`contact_model`), d the displacement along the floor and the yaw, and d' the momentum that it adds, level. Forces
are in units of the weight, lengths of the height, and sums are over seconds, so that all terms are dimensionless and
the constants fit any body. Z_m is the likelihood of the poses under the mapping (eq. 15): of a displacement only the
height shows in the local frame, and it moves every marker alike, so that it is 1/2 sum_f dy^2 / sigma^2, with the
mapping's variance sigma^2 of that frame.

Steps are those of Gauss-Newton. With D = k_1 / k_e times the squared scale of e, J the derivatives by e and B those by
d, the pressing is eliminated frame by frame:

    min_e  |r + B d + J (e' - e)|^2 + e'^T D^-1 e' = (rho + B d)^T W (rho + B d),   rho = r - J e,  W = (1 + J D J^T)^-1

and what is left is one banded system for the Gaussians, damped as by Levenberg and Marquardt. In the end the feet are
put back where they were planted, and the legs follow.

Displacements over time as sums of Gaussians, and least squares in their weights [Yamane 2010, eq. 10]:

    d(t) = sum_i w_i phi_i(t),    phi_i(t) = exp(-(t - T_i)^2 / sigma^2),    sigma = twice the interval of the T_i

(sigma is no standard deviation: there is no factor 2). Gaussians are cut off where they are below 1e-4. A sum of
squares that ties each frame to the next two has a banded matrix in the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character.body import ik
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.joint_limits import Limits
from understudy.character.body.mass import Body, body_height
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import jit
from understudy.maths.cholesky import solve_banded
from understudy.transfer.contact_goals import blend_through_flight
from understudy.transfer.physics.contact_model import (
    PRESSING_COST,
    SINK_DEPTH_HEIGHT_RATIO,
    ForceProblem,
    displacement_frames,
    force_jacobians,
    problem_of,
    relax_to_floor,
    residuals,
)
from understudy.transfer.physics.momentum import GRAVITY_M_S2, mass_motion
from understudy.transfer.standing import LEG_STRIDE_LENGTH_RATIO, reach_goals
from understudy.transfer.standing_base import Stance, stance_of
from understudy.transfer.standing_feet import ballistic_flight

KERNELS = "understudy.transfer.physics.physics_kernels"
SIGMA_INTERVAL_RATIO = 2.0  # sigma over the interval
WINDOW_SIGMAS = 3.0  # half width of a Gaussian's window: exp(-9) = 1e-4


@dataclass(frozen=True, eq=False)
class RadialBasis:
    """N Gaussians over F frames; of each frame only a window of W is not zero."""

    first: Array  # (F,) the first Gaussian of the window of each frame
    values: Array  # (F, W)
    count: int  # N

    @property
    def dense(self) -> Array:
        """(F, N) values of all Gaussians at all frames."""
        result = np.zeros((len(self.first), self.count))
        np.put_along_axis(result, self.first[:, None] + np.arange(self.values.shape[1]), self.values, axis=1)
        return result

    def sum(self, weights: Array) -> Array:
        """(F, n) displacements of weights (N, n)."""
        window = self.first[:, None] + np.arange(self.values.shape[1])
        return np.einsum("fw,fwn->fn", self.values, weights[window])

    def weight_gradients(self, slopes: Array) -> Array:
        """(N, n) the transpose of `sum`: gradients by the weights, from gradients (F, n) by the displacements."""
        window = self.first[:, None] + np.arange(self.values.shape[1])
        result = np.zeros((self.count, slopes.shape[1]))
        np.add.at(result, window, self.values[..., None] * slopes[:, None, :])
        return result

    def banded_matrix(self, blocks: Array) -> Array:
        """The matrix of the weights for that of the displacements, in the upper banded form of LAPACK.

        `blocks` (3, F, n, n): row f of block d ties frame f to frame f + d. Unknowns are ordered (N, n).
        """
        size = blocks.shape[-1]
        wide = (self.values.shape[1] + 2) * size
        result = np.zeros((min(wide, self.count * size), self.count * size))
        kernels = jit.kernels(KERNELS)
        if kernels is None:
            return self.banded_matrix_numpy(blocks)
        kernels.gather(self.first, self.values, np.ascontiguousarray(blocks), result)
        return result

    def banded_matrix_numpy(self, blocks: Array) -> Array:
        """`banded_matrix` in NumPy alone."""
        size = blocks.shape[-1]
        wide = min((self.values.shape[1] + 2) * size, self.count * size)
        phi = self.dense
        full = np.einsum("fi,fab,fj->iajb", phi, blocks[0], phi)
        for d in (1, 2):
            tied = np.einsum("fi,fab,fj->iajb", phi[:-d], blocks[d, : len(phi) - d], phi[d:])
            full += tied + np.transpose(tied, (2, 3, 0, 1))
        full = full.reshape(self.count * size, -1)
        result = np.zeros((wide, len(full)))
        for offset in range(wide):
            result[wide - 1 - offset, offset:] = np.diagonal(full, offset)
        return result


def basis_of(frames: int, rate: float, interval: float) -> RadialBasis:
    """Gaussians every `interval` seconds over a number of frames, from before the first to after the last."""
    step = max(interval * rate, 1.0)
    sigma = SIGMA_INTERVAL_RATIO * step
    count = max(int(np.ceil((frames - 1) / step)), 0) + 3
    centres = (np.arange(count) - 1) * step
    wide = min(int(np.floor(2 * WINDOW_SIGMAS * sigma / step)) + 1, count)
    time = np.arange(frames)
    first = np.clip(np.ceil((time - WINDOW_SIGMAS * sigma) / step).astype(np.int64) + 1, 0, count - wide)
    away = time[:, None] - centres[first[:, None] + np.arange(wide)]
    values = np.where(np.abs(away) <= WINDOW_SIGMAS * sigma, np.exp(-((away / sigma) ** 2)), 0.0)
    return RadialBasis(first, values, count)


BASIS_INTERVAL_SECONDS = 0.05  # between Gaussians: take-off and landing are as sharp as that
MIN_HEIGHT_STD_RATIO = 0.01  # least standard deviation of a height under the mapping, over the height
DEFAULT_HEIGHT_STD_RATIO = 0.03  # that standard deviation where the mapping gives no variance
MOMENTUM_UNIT_HEIGHTS_PER_S = 0.1  # change of velocity that counts as one
STAY_UNITS_HEIGHTS_RAD = (0.05, 0.2)  # displacement over the height, and yaw, that count as one
DISPLACEMENT_SHARES = (1.0, 0.5, 0.0)  # tried in turn, until one reduces the mismatch
REPLANT_PASSES = 3  # each puts feet back, and moves the figure by the shift of mass in its legs
REPLANT_IK_ROUNDS = 2  # of the solver after the first pass: legs are almost at their goals
MAX_ITERATIONS = 25  # of Gauss-Newton
MIN_COST_GAIN_RATIO = 1e-3  # of the cost: a step that gains less is the last


@dataclass(frozen=True, slots=True)
class DynamicsWeights:
    """The constants of Z."""

    k_w: float = 0.01
    k_1: float = 1.0
    k_2: float = 0.005
    k_e: float = PRESSING_COST
    k_s: float = 1.0
    k_m: float = 0.1


def correct_dynamics(
    poses: PoseSequence,
    body: Body,
    phases: ContactPhases,
    variance: Array | None = None,
    *,
    limits: Limits | None = None,
    gravity: float = GRAVITY_M_S2,
    interval: float = BASIS_INTERVAL_SECONDS,
    terms: DynamicsWeights | None = None,
) -> PoseSequence:
    """Poses moved as a whole so that the floor can give the forces that they need; planted feet stay.

    `variance` (F,) in square metres is the mapping's. `gravity` in m/s^2 scales with the character:
    a figure of half the size that keeps the actor's timing and jumps half as high needs half the gravity.
    """
    if len(poses) < 3 or not body.contacts or not phases.down.any():
        return poses
    height = body_height(body, poses)
    gravity = checks.positive(gravity, "gravity")
    air = ~np.asarray(phases.down.any(axis=1))
    least = _mismatch(problem_of(poses.world, body, phases, poses.rate, height, gravity))
    centres = mass_motion(poses.world, body, poses.rate).centres
    flown = np.zeros((len(poses), 4))
    flown[:, :3] = ballistic_flight(centres, air, poses.rate, gravity)
    start = poses.apply_transform(displacement_frames(centres, flown))
    problem = problem_of(start.world, body, phases, poses.rate, height, gravity)
    if variance is None:
        variance = np.full(len(poses), (DEFAULT_HEIGHT_STD_RATIO * height) ** 2)
    stance = stance_of(poses, body, phases)
    stays = displacement_units(stance, phases, height)
    moved, _ = displacements(problem, np.asarray(variance), stays, interval, terms or DynamicsWeights())
    for share in DISPLACEMENT_SHARES:
        part = share * moved
        part[:, :3] += ballistic_flight(problem.motion.centres + part[:, :3], air, poses.rate, gravity)
        corrected = _displace_over_feet(start, body, phases, problem, part, limits, stance)
        if _mismatch(problem_of(corrected.world, body, phases, poses.rate, height, gravity)) < least:
            return corrected
    return poses


def displacement_units(stance: Stance, phases: ContactPhases, height: float) -> Array:
    """(F,) metres that count as one displacement: part of a leg while in contact, more in flight.

    Of a figure on a base only the part that the base carries can move, and moves the further for it.
    """
    standing = np.asarray(phases.down.any(axis=1))
    near = stance.carried * min(STAY_UNITS_HEIGHTS_RAD[0] * height, LEG_STRIDE_LENGTH_RATIO * stance.length)
    return np.where(standing, near, STAY_UNITS_HEIGHTS_RAD[0] * height)


def _mismatch(problem: ForceProblem) -> float:
    """The mean square of the residual forces that the floor cannot give."""
    still = np.zeros((len(problem.motion), 4))
    return float(np.square(residuals(problem, still, relax_to_floor(problem, still))).mean())


def _displace_over_feet(
    poses: PoseSequence,
    body: Body,
    phases: ContactPhases,
    problem: ForceProblem,
    moved: Array,
    limits: Limits | None,
    stance: Stance,
) -> PoseSequence:
    """The figure displaced by (F, 4) over planted feet."""
    wanted = problem.motion.centres + moved[:, :3]
    shifted = poses.apply_transform(displacement_frames(problem.motion.centres, moved))
    hips = poses.skeleton.ancestors(int(stance.hips[0]))[-1]
    softness = ik.ROUND_SOFTNESS_RATIOS
    for _ in range(REPLANT_PASSES):
        goals = blend_through_flight(body.contact_positions(shifted.world), problem.points, phases)
        planted = reach_goals(shifted, body, phases, goals, limits, stance, softness)
        shift = np.zeros((len(poses), 4))
        shift[:, :3] = wanted - mass_motion(planted.world, body, poses.rate).centres
        if stance.base is not None:
            shifted = shifted.apply_transform(displacement_frames(wanted, shift))
            continue
        # Displacements of the hips were needed for reach: only the shift of mass in the legs is made up for.
        shift[:, :3] += planted.world[:, hips, :3, 3] - shifted.world[:, hips, :3, 3]
        shifted = planted.apply_transform(displacement_frames(wanted, shift))
        softness = ik.ROUND_SOFTNESS_RATIOS[-REPLANT_IK_ROUNDS:]
        wanted = mass_motion(shifted.world, body, poses.rate).centres
    return planted


def displacements(
    problem: ForceProblem, variance: Array, stays: Array, interval: float, terms: DynamicsWeights
) -> tuple[Array, Array]:
    """(F, 4) x, y, z and yaw, and (F, K, 3) pressing, that minimise Z; `stays` (F,) are units of displacement."""
    basis = basis_of(len(problem.motion), problem.motion.rate, interval)
    costs = _Costs.from_problem(problem, variance, stays, terms)
    weights = np.zeros((basis.count, 4))
    moved, pressed = problem.at_rest()
    cost = costs.total(problem, weights, moved, pressed)
    damping = 1e-3
    for _ in range(MAX_ITERATIONS):
        equations = _Equations.assemble(problem, basis, costs, weights, moved, pressed)
        while damping < 1e6:
            step = equations.step(damping)
            if step is not None:
                trial = weights + step[0]
                shift, press = basis.sum(trial), step[1]
                new = costs.total(problem, trial, shift, press)
                if new < cost:
                    break
            damping *= 8
        else:
            break
        gain = (cost - new) / cost
        weights, moved, pressed, cost = trial, shift, press, new
        damping = max(damping / 8, 1e-6)
        if gain < MIN_COST_GAIN_RATIO:
            break
    return moved, pressed


@dataclass(frozen=True, eq=False)
class _Costs:
    """The terms of Z besides Z_p and the Gaussians' own, frame by frame."""

    stay: Array  # (F, 4) times 1/2 d^2
    press: float  # times 1/2 |e|^2
    keep: Array  # (4,) times 1/2 w^2
    k_1: float  # times Z_p
    glide: Array  # (4,) times 1/2 of the squared difference of d from a frame to the next

    @classmethod
    def from_problem(cls, problem: ForceProblem, variance: Array, stays: Array, terms: DynamicsWeights) -> _Costs:
        dt, height = 1 / problem.motion.rate, problem.height
        yaw = STAY_UNITS_HEIGHTS_RAD[1] * stays / (STAY_UNITS_HEIGHTS_RAD[0] * height)
        high = np.where(stays < STAY_UNITS_HEIGHTS_RAD[0] * height, stays, np.inf)  # in flight the height is free
        stay = terms.k_s * dt / np.stack([stays, high, stays, yaw], axis=1) ** 2
        stay[:, 1] += terms.k_2 * dt / np.maximum(variance, (MIN_HEIGHT_STD_RATIO * height) ** 2)
        # no forces hold the ends
        stay[[0, 1, -2, -1]] += dt / (SINK_DEPTH_HEIGHT_RATIO * np.array([height, height, height, 1.0])) ** 2
        keep = terms.k_w / np.array([height, height, height, 1.0]) ** 2
        glide = terms.k_m / dt / (MOMENTUM_UNIT_HEIGHTS_PER_S * height) ** 2 * np.array([1.0, 0.0, 1.0, 0.0])
        return cls(stay, terms.k_e * dt / (SINK_DEPTH_HEIGHT_RATIO * height) ** 2, keep, terms.k_1 * dt, glide)

    def momentum_gradient(self, moved: Array) -> Array:
        """(F, 4) the gradient of the momentum term by the displacements."""
        steps = self.glide * np.diff(moved, axis=0)
        slope = np.zeros(moved.shape)
        slope[1:] += steps
        slope[:-1] -= steps
        return slope

    def total(self, problem: ForceProblem, weights: Array, moved: Array, pressed: Array) -> float:
        """Z."""
        missing = residuals(problem, moved, pressed)
        costs = (self.keep * weights**2).sum() + (self.stay * moved**2).sum() + self.press * np.square(pressed).sum()
        costs += (self.glide * np.square(np.diff(moved, axis=0))).sum()
        return float(0.5 * (costs + self.k_1 * np.square(missing).sum()))


@dataclass(frozen=True, eq=False)
class _Equations:
    """Z to second order about one point, the pressing already eliminated."""

    basis: RadialBasis
    bands: Array  # upper banded, of the Gaussians' weights
    slope: Array  # (N, 4)
    pressed: Array  # (F, K, 3)
    rho: Array  # (F, 6)
    by_moves: Array  # (F, 6, 3, 4)
    answer: Array  # (F, 3 K, 6) D J^T W: e' = -answer (rho + B d)

    @classmethod
    def assemble(
        cls, problem: ForceProblem, basis: RadialBasis, costs: _Costs, weights: Array, moved: Array, pressed: Array
    ) -> _Equations:
        missing = residuals(problem, moved, pressed)
        by_moves, by_press = force_jacobians(problem, moved, pressed)
        flat = pressed.reshape(len(pressed), -1, 1)
        rho = missing - (by_press @ flat)[..., 0]
        press = costs.k_1 / costs.press  # D
        root = np.linalg.cholesky(np.linalg.inv(np.eye(6) + press * by_press @ np.swapaxes(by_press, 1, 2)))
        white = np.swapaxes(root, 1, 2)  # W = root root^T
        slope, blocks = normal_blocks(
            (white @ rho[..., None])[..., 0], (white @ by_moves.reshape(len(rho), 6, 12)).reshape(by_moves.shape)
        )
        slope = costs.k_1 * slope + costs.stay * moved + costs.momentum_gradient(moved)
        blocks = costs.k_1 * blocks
        blocks[0] += costs.stay[..., None] * np.eye(4)
        blocks[0, 1:] += np.diag(costs.glide)
        blocks[0, :-1] += np.diag(costs.glide)
        blocks[1, :-1] -= np.diag(costs.glide)
        bands = basis.banded_matrix(blocks)
        bands[-1] += np.tile(costs.keep, basis.count)
        answer = press * np.swapaxes(by_press, 1, 2) @ root @ white
        return cls(basis, bands, basis.weight_gradients(slope) + costs.keep * weights, pressed, rho, by_moves, answer)

    def step(self, damping: float) -> tuple[Array, Array] | None:
        """The step of the weights (N, 4), and the new pressing (F, K, 3); both are smaller with more damping."""
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
    """Gradient (F, 4) of 1/2 sum |r|^2 by the displacements, and (3, F, 4, 4) the block diagonals of J^T J.

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
