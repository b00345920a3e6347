"""Least squares for vertices that hang on the same joints: one factorisation a group, a ridge for all of them.

    minimise  | A d - r |^2 + l N | d |^2     with  C d = 0

d are the changes from a skin that is known already (the linear blend), r what that skin leaves of the examples, N the
number of rows. The vertices of a group share A and C, so that with a basis Z of C's null space and A Z = U S V' the
answer for each ridge l costs two products, and so does the exact error in rows that are held out:

    d = Z V (S / (S^2 + l N)) U' r,       e_out = (1 - H_out)^-1 (r - H r)_out,      H = U (S^2 / (S^2 + l N)) U'

where the rows held out are those of one pose (the exact form behind Golub, Heath and Wahba 1979, "Generalized
cross-validation as a method for choosing a good ridge parameter").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array

RIDGES = 10.0 ** np.arange(-9, 2)  # lengths are in sizes of the mesh: from rounding to "keep the linear blend"
RISE = 1.01  # the largest ridge whose error is within this of the least: what the examples do not ask for is not done


@dataclass(frozen=True)
class Problem:
    """One group's factorisation."""

    u: Array  # (N, R)
    s: Array  # (R,)
    back: Array  # (P, R): d = back @ (filtered U' r)

    @classmethod
    def of(cls, a: Array, constraint: Array) -> Problem:
        """From A (N, P) and C (Q, P)."""
        _, _, vt = np.linalg.svd(constraint)
        z = vt[np.linalg.matrix_rank(constraint) :].T
        u, s, wt = np.linalg.svd(a @ z, full_matrices=False)
        return cls(u, s, z @ wt.T)

    def solve(self, r: Array, ridge: float) -> Array:
        """d (P, V) for r (N, V)."""
        strength = self.s**2 + ridge * len(self.u)
        return self.back @ ((self.s / np.maximum(strength, 1e-300))[:, None] * (self.u.T @ r))

    def left_out(self, r: Array, block: int, ridge: float) -> float:
        """Squared error of r (N, V) at each pose when it is left out, summed; a pose is `block` rows in a run."""
        share = self.s**2 / np.maximum(self.s**2 + ridge * len(self.u), 1e-300)
        left = r - (self.u * share) @ (self.u.T @ r)
        u = self.u.reshape(-1, block, len(self.s))
        h = (u * share) @ np.swapaxes(u, 1, 2)
        return float(np.square(np.linalg.solve((1 + 1e-10) * np.eye(block) - h, left.reshape(len(u), block, -1))).sum())


def best_ridge(problems: Sequence[Problem], residuals: Sequence[Array], block: int) -> float:
    """The ridge that serves poses left out best, one for all groups."""
    error = np.array([sum(p.left_out(r, block, x) for p, r in zip(problems, residuals)) for x in RIDGES])
    return float(RIDGES[error <= RISE * error.min() + 1e-20][-1])


def groups(sets: Array) -> list[tuple[Array, Array]]:
    """(joints (K,), vertices (N,)) of each set of joints that occurs in `sets` (V, K), rows of which are sorted."""
    found, where = np.unique(sets, axis=0, return_inverse=True)
    where = where.reshape(-1)
    order = np.argsort(where, kind="stable")
    cuts = np.searchsorted(where[order], np.arange(1, len(found)))
    return list(zip(found, np.split(order, cuts)))
