"""The rest of an elastic body in many poses at once: limited-memory BFGS with a factorised preconditioner.

The bones are brought to their pose in steps. After each the nodes are moved along by smooth weights, which only choose
where the search begins, and relaxed. The inverse of the passive stiffness, a block tridiagonal matrix, is the
minimiser's first guess of the inverse Hessian (Liu, Bouaziz and Kavan 2017, "Quasi-Newton methods for real-time
simulation of hyperelastic materials"); with it the number of steps does not grow with the number of nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.ground_truth.elastic import KERNELS, ElasticBody, ElasticLoad
from understudy.maths import jit

LBFGS_MEMORY = 6  # pairs
ARMIJO_RATIO = 1e-4  # of the decrease that the slope predicts
MIN_STEP_RATIO = 1e-3  # shortest step of the line search, of the full one: below it a pose is at rest to rounding
MAX_STEP_METRES = 0.02  # the distance of two nodes, beyond which elements would turn inside out


@dataclass(frozen=True, eq=False)
class BlockSolver:
    """Solves K x = b for a symmetric block tridiagonal K, many right sides at once, by block Cholesky.

    In float32: it is only a preconditioner.
    """

    inverse: Array  # (S, n, n) float32, of the diagonal factors
    below: Array  # (S, n, n) factors below the diagonal, the first unused

    @classmethod
    def from_matrix(cls, matrix: object, stations: int) -> BlockSolver:
        """The solver of a sparse matrix (S * n, S * n)."""
        from scipy.linalg import cholesky, solve_triangular

        size = matrix.shape[0] // stations  # type: ignore[attr-defined]
        inverse, below = np.empty((stations, size, size)), np.zeros((stations, size, size))
        for i in range(stations):
            rows = matrix[i * size : (i + 1) * size]  # type: ignore[index]
            block = rows[:, i * size : (i + 1) * size].toarray()
            if i:
                below[i] = rows[:, (i - 1) * size : i * size].toarray() @ inverse[i - 1].T
                block -= below[i] @ below[i].T
            inverse[i] = solve_triangular(cholesky(block, lower=True), np.eye(size), lower=True)
        return cls(inverse.astype(np.float32), below.astype(np.float32))

    def __call__(self, b: Array) -> Array:
        """x of the shape of b (S * n, ...)."""
        stations, size = self.inverse.shape[:2]
        x = b.reshape(stations, size, -1).astype(np.float32)
        for i in range(stations):
            x[i] = self.inverse[i] @ (x[i] - self.below[i] @ x[i - 1] if i else x[i])
        for i in range(stations - 1, -1, -1):
            last = i == stations - 1
            x[i] = self.inverse[i].T @ (x[i] if last else x[i] - self.below[i + 1].T @ x[i + 1])
        return x.reshape(b.shape).astype(np.float64)


def preconditioner(solid: ElasticBody) -> BlockSolver:
    """The solver of the passive and muscle stiffness at rest, without the bones' nodes."""
    from scipy import sparse

    total = solid.stiffness
    for every, _ in solid.muscles:
        total = total + every
    cut = sparse.diags(solid.free.astype(float))
    return BlockSolver.from_matrix(
        (cut @ total @ cut + sparse.diags((~solid.free).astype(float))).tocsr(), solid.tube.stations
    )


def harmonic_weights(solid: ElasticBody, solver: BlockSolver, bones: int) -> Array:
    """(N, B) weights that are 1 on their own bone, 0 on the others, and harmonic between."""
    weights = (solid.bone[:, None] == np.arange(bones)).astype(float)
    total = solid.stiffness
    for every, _ in solid.muscles:
        total = total + every
    weights[solid.free] = -solver(np.where(solid.free[:, None], total @ weights, 0.0))[solid.free]
    return weights


def relax_body(
    solid: ElasticBody,
    bones_at: Callable[[float], Array],
    load_at: Callable[[float], ElasticLoad],
    steps: int,
    short: int,
    long: int,
    tolerance: float,
) -> tuple[Array, Array]:
    """Nodes (N, 3, P) of the body at rest and the largest remaining step (P,), metres.

    `bones_at` maps t, 0 at rest and 1 in the pose, to (P, B, 4, 4) world from rest of each bone, `load_at` maps it to
    the load. `short` iterations are done at each of `steps`, `long` at the last.
    """
    solver = preconditioner(solid)
    before = bones_at(0.0)
    poses, bones = before.shape[:2]
    weights = harmonic_weights(solid, solver, bones)
    fixed = np.flatnonzero(~solid.free)
    x = np.repeat(solid.tube.nodes[:, :, None], poses, axis=2)
    left = np.zeros(poses)
    for step in range(1, steps + 1):
        now = bones_at(step / steps)
        x = carry_nodes(x, weights, now @ np.linalg.inv(before))
        moved = now[:, solid.bone[fixed]]  # (P, X, 4, 4)
        x[fixed] = np.einsum("pxij,xj->xip", moved[..., :3, :3], solid.tube.nodes[fixed]) + moved[..., :3, 3].transpose(
            1, 2, 0
        )
        load = load_at(step / steps)
        x, left = minimise(solid, solver, x, load, long if step == steps else short, tolerance)
        before = now
    return x, left


def carry_nodes(x: Array, weights: Array, moves: Array) -> Array:
    """x (N, 3, P) moved by the blend of `moves` (P, B, 4, 4) with weights (N, B)."""
    blend = np.einsum("nb,pbij->npij", weights, moves[:, :, :3])
    return np.einsum("npij,njp->nip", blend[..., :3], x) + blend[..., 3].transpose(0, 2, 1)


def minimise(
    solid: ElasticBody, solver: BlockSolver, x: Array, load: ElasticLoad, iterations: int, tolerance: float
) -> tuple[Array, Array]:
    """x (N, 3, P) at the least energy and the last step's size (P,); each pose has its own memory and step length.

    Poses at rest leave the batch, a quarter of it at a time, since copying costs as well.
    """
    result, left = x.copy(), np.full(x.shape[2], np.inf)
    alive = np.arange(x.shape[2])
    energy, gradient = solid.energy(x, load)
    memory: list[LbfgsPair] = []
    for _ in range(iterations):
        direction, slope, size = descent(memory, gradient, solver)
        left[alive] = size
        going = size >= tolerance
        if going.sum() <= 0.75 * len(alive):
            result[..., alive] = x
            alive, load = alive[going], load.subset(going)
            if not len(alive):
                return result, left
            x, energy, gradient = x[..., going], energy[going], gradient[..., going]
            direction, slope, size = direction[..., going], slope[going], size[going]
            memory = [pair.subset(going) for pair in memory]
        length = np.minimum(1.0, MAX_STEP_METRES / np.maximum(size, 1e-30))
        while True:
            trial = x + length * direction
            new_energy, new_gradient = solid.energy(trial, load)
            poor = (new_energy > energy + ARMIJO_RATIO * length * slope + 1e-12 * np.abs(energy)) & (
                length > MIN_STEP_RATIO
            )
            if not poor.any():
                break
            length = np.where(poor, 0.35 * length, length)
        memory = [*memory[1 - LBFGS_MEMORY :], LbfgsPair.from_step(trial - x, new_gradient - gradient, solver)]
        x, energy, gradient = trial, new_energy, new_gradient
    result[..., alive] = x
    return result, left


@dataclass(frozen=True, eq=False)
class LbfgsPair:
    """One step and the change of the gradient over it."""

    s: Array  # (N, 3, P) step
    y: Array  # (N, 3, P) change of the gradient
    rho: Array  # (P,) 1 / y.s, 0 where the curvature is not positive
    scale: Array  # (P,) y.s / y.H y, scale of the first guess

    @classmethod
    def from_step(cls, s: Array, y: Array, solver: BlockSolver) -> LbfgsPair:
        curvature = inner(s, y)
        usable = curvature > 1e-10 * np.sqrt(inner(s, s) * inner(y, y)) + 1e-300
        scale = np.where(usable, curvature / np.maximum(inner(y, solver(y)), 1e-300), 1.0)
        return cls(s, y, np.where(usable, 1.0 / np.where(usable, curvature, 1.0), 0.0), scale)

    def subset(self, which: Array) -> LbfgsPair:
        """The pair of some of the poses."""
        return LbfgsPair(self.s[..., which], self.y[..., which], self.rho[which], self.scale[which])


def descent(memory: list[LbfgsPair], gradient: Array, solver: BlockSolver) -> tuple[Array, Array, Array]:
    """Direction (N, 3, P), its slope and its largest coordinate (P,): -H g by the two-loop recursion
    [Nocedal & Wright 2006, algorithm 7.4], each pose by itself."""
    q = gradient.copy()
    alphas = []
    for pair in reversed(memory):
        alpha = pair.rho * inner(pair.s, q)
        add_scaled(q, -alpha, pair.y)
        alphas.append(alpha)
    r = solver(q)
    if memory:
        r *= memory[-1].scale
    for pair, alpha in zip(memory, reversed(alphas)):
        add_scaled(r, alpha - pair.rho * inner(pair.y, r), pair.s)
    slope = -inner(r, gradient)
    uphill = slope >= 0
    if uphill.any():
        r[..., uphill] = solver(gradient[..., uphill])
        slope = -inner(r, gradient)
    return -r, slope, np.abs(r).max(axis=(0, 1))


def inner(a: Array, b: Array) -> Array:
    """(P,) products summed over the nodes of (N, 3, P)."""
    return np.einsum("ncp,ncp->p", a, b)


def add_scaled(total: Array, factor: Array, v: Array) -> None:
    """total += factor * v in place, of (N, 3, P) and a factor (P,)."""
    jit.kernels(KERNELS).add_scaled(total, factor, v)
