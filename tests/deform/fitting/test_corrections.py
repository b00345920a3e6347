"""The grouped least squares against the same problem solved in the plainest way."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.deform.fitting.corrections import LEAST_SQUARES_RIDGES, RidgeProblem, best_ridge, group_by_joints


def case(seed, rows=18, size=6, fixed=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, size)), rng.normal(size=(fixed, size)), rng.normal(size=(rows, 4))


def plain(a, c, r, ridge):
    """The conditions of the minimum, with multipliers."""
    size, fixed = a.shape[1], len(c)
    left = np.zeros((size + fixed, size + fixed))
    left[:size, :size] = a.T @ a + ridge * len(a) * np.eye(size)
    left[:size, size:], left[size:, :size] = c.T, c
    return np.linalg.solve(left, np.concatenate((a.T @ r, np.zeros((fixed, r.shape[1])))))[:size]


@pytest.mark.parametrize("ridge", [1e-6, 1e-2, 1.0])
def test_is_the_constrained_minimum(ridge):
    a, c, r = case(0)
    d = RidgeProblem.from_matrices(a, c).solve(r, ridge)
    assert np.allclose(c @ d, 0, atol=1e-12)
    assert np.allclose(d, plain(a, c, r, ridge), atol=1e-8)


@pytest.mark.parametrize("block", [1, 3])
def test_what_is_left_out_was_not_seen(block):
    a, c, r = case(1)
    ridge, total = 0.03, 0.0
    for first in range(0, len(a), block):
        seen = np.ones(len(a), bool)
        seen[first : first + block] = False
        d = plain(a[seen], c, r[seen], ridge * len(a) / seen.sum())
        total += np.square(a[~seen] @ d - r[~seen]).sum()
    assert RidgeProblem.from_matrices(a, c).leave_one_out_error(r, block, ridge) == pytest.approx(total, rel=1e-6)


def test_noise_asks_for_a_ridge_and_a_law_does_not():
    rng = np.random.default_rng(2)
    a, c, _ = case(3, rows=30, size=12)
    p = RidgeProblem.from_matrices(a, c)
    assert best_ridge([p], [rng.normal(size=(30, 50))], 1) == LEAST_SQUARES_RIDGES[-1]
    assert best_ridge([p], [a @ p.solve(rng.normal(size=(30, 50)), 0.1)], 1) < 1e-4


def test_groups_hold_every_vertex_once():
    sets = np.array([[0, 1], [0, 2], [0, 1], [1, 2]])
    found = {tuple(j): v.tolist() for j, v in group_by_joints(sets)}
    assert found == {(0, 1): [0, 2], (0, 2): [1], (1, 2): [3]}
