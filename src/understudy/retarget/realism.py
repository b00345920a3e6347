"""Weight: the motion of the whole figure changed until the floor can give the forces it needs [Yamane 2010, 5.3].

Along x, y, z and about the vertical the figure is displaced by sums of Gaussians (`radial_basis`, eq. 10; the paper
displaces the height alone). Their weights w minimise

    Z = k_w / 2 w^T w + k_1 Z_p + k_2 Z_m                                                    (eq. 11)
    Z_p = 1/2 sum_f |F - F^|^2 + |N - N^|^2                                                  (eq. 12)

with F and N the force and the moment that the motion needs, and F^ and N^ those of the floor (`force_balance`). Forces
are in units of the weight, lengths of the height and sums are means over seconds, so that all terms are pure numbers
and the constants serve any body. Z_m is the likelihood of the poses under the mapping (eq. 15): of a displacement only
the height shows in the local frame, and it moves every marker alike, so that it is 1/2 sum_f dy^2 / sigma^2, with
the mapping's variance sigma^2 of that frame.

Steps are those of Gauss and Newton on a banded matrix, damped as by Levenberg and Marquardt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.retarget.body import Body
from understudy.retarget.contacts import Phases
from understudy.retarget.force_balance import Problem, displacement_frames, problem_of, residuals
from understudy.retarget.measures import body_height
from understudy.retarget.momentum import GRAVITY
from understudy.retarget.poses import Poses
from understudy.retarget.radial_basis import Basis, basis_of, solve_banded

INTERVAL = 0.1  # seconds between Gaussians
SURE = 0.01  # of the height: the mapping is never believed to be surer than this of a height
USUAL = 0.03  # of the height: how sure a mapping is where it does not say
ITERATIONS = 40
ENOUGH = 1e-4  # of the cost: a step that gains less is the last


@dataclass(frozen=True, slots=True)
class Terms:
    """How much each aim counts."""

    k_w: float = 0.1
    k_1: float = 1.0
    k_2: float = 0.1


def realistic(
    poses: Poses,
    body: Body,
    phases: Phases,
    variance: Array | None = None,
    *,
    gravity: float = GRAVITY,
    interval: float = INTERVAL,
    terms: Terms | None = None,
) -> Poses:
    """Poses moved as a whole so that the floor can give the forces that they need.

    `variance` (F,) in square metres is the mapping's. `gravity` is that of the character's world: a figure of half the
    size that keeps an actor's timing and jumps half as high lives under half the gravity.
    """
    if len(poses) < 3 or not body.contacts or not phases.down.any():
        return poses
    height = body_height(body, poses)
    problem = problem_of(poses.world, body, phases, poses.rate, height, checks.positive(gravity, "gravity"))
    if variance is None:
        variance = np.full(len(poses), (USUAL * height) ** 2)
    moved = displacements(problem, np.asarray(variance), interval, terms or Terms())
    return poses.moved(displacement_frames(problem.motion.centres, moved))


def displacements(problem: Problem, variance: Array, interval: float, terms: Terms) -> Array:
    """(F, 4) x, y, z and yaw that minimise Z, from none."""
    rate = problem.motion.rate
    basis = basis_of(len(problem.motion), rate, interval)
    believed = np.maximum(variance, (SURE * problem.height) ** 2)
    weights = np.zeros((basis.count, 4))
    cost, slope, bands = _expanded(problem, basis, weights, believed, terms)
    damping = 1e-3
    for _ in range(ITERATIONS):
        raised = bands.copy()
        raised[-1] *= 1 + damping
        step = solve_banded(raised, -slope.reshape(-1))
        if step is None:
            damping *= 10
            continue
        trial = weights + step.reshape(weights.shape)
        found = _cost(problem, basis, trial, believed, terms)
        if found < cost:
            gain = (cost - found) / cost
            weights, damping = trial, max(damping / 5, 1e-9)
            cost, slope, bands = _expanded(problem, basis, weights, believed, terms)
            if gain < ENOUGH:
                break
        else:
            damping = max(damping * 8, 1e-6)
            if damping > 1e8:
                break
    return basis.sum(weights)


def _scales(problem: Problem) -> Array:
    """(4,) what a displacement is divided by: metres by the height, yaw by a radian."""
    return np.array([problem.height, problem.height, problem.height, 1.0])


def _cost(problem: Problem, basis: Basis, weights: Array, believed: Array, terms: Terms) -> float:
    moved = basis.sum(weights)
    missing, _ = residuals(problem, moved, slopes=False)
    dt = 1 / problem.motion.rate
    small = 0.5 * terms.k_w * np.square(weights / _scales(problem)).sum()
    likely = 0.5 * terms.k_2 * dt * (moved[:, 1] ** 2 / believed).sum()
    return float(small + 0.5 * terms.k_1 * dt * np.square(missing).sum() + likely)


def _expanded(problem: Problem, basis: Basis, weights: Array, believed: Array, terms: Terms) -> tuple[float, Array, Array]:
    """Z, its slope (N, 4) by the weights, and the banded matrix of Gauss and Newton."""
    moved = basis.sum(weights)
    missing, slopes = residuals(problem, moved)
    dt = 1 / problem.motion.rate
    slope, blocks = normal_blocks(missing, slopes)
    slope, blocks = slope * terms.k_1 * dt, blocks * terms.k_1 * dt
    slope[:, 1] += terms.k_2 * dt * moved[:, 1] / believed
    blocks[0, :, 1, 1] += terms.k_2 * dt / believed
    bands = basis.banded(blocks)
    keep = terms.k_w / _scales(problem) ** 2
    bands[-1] += np.tile(keep, basis.count)
    cost = _cost(problem, basis, weights, believed, terms)
    return cost, basis.spread(slope) + keep * weights, bands


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
