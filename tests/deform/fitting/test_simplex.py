"""Weights on the simplex against a general solver, and the kernels against slow oracles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.deform import cases, tubes
from tests.reference import deform as reference

from understudy.deform.examples import Examples
from understudy.deform.fitting import simplex, simplex_kernels


def quadratics(seed, count, size, rank):
    x = np.random.default_rng(seed).normal(size=(count, size, rank))
    return x @ np.swapaxes(x, 1, 2) + 1e-6 * np.eye(size)


def cost(h, w):
    return np.einsum("va,vab,vb->v", w, h, w)


@pytest.mark.parametrize(("size", "rank"), [(2, 3), (5, 8), (7, 4)])
def test_is_what_a_general_solver_finds(size, rank):
    h = quadratics(size, 12, size, rank)
    w = simplex.minimise(h)
    assert np.allclose(w.sum(axis=1), 1, atol=1e-12)
    assert w.min() >= 0
    for one, found in zip(h, w):
        oracle = minimize(
            lambda x, one=one: x @ one @ x,
            np.full(size, 1 / size),
            jac=lambda x, one=one: 2 * one @ x,
            bounds=[(0, None)] * size,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert found @ one @ found <= oracle.fun + 1e-7 * np.trace(one)


def skinned(seed, bones=5, vertices=30, influences=3, poses=12):
    """Examples made by a linear blend whose weights are known."""
    rng = np.random.default_rng(seed)
    v, j, w = cases.skin(rng, vertices, influences, bones)
    m = cases.rigid_matrices(rng, poses, bones)
    full = np.zeros((vertices, bones))
    np.add.at(full, (np.arange(vertices)[:, None], j), w)
    meshes = np.einsum("vb,ebij,vj->evi", full, m[..., :3, :3], v) + np.einsum("vb,ebi->evi", full, m[..., :3, 3])
    parents = np.arange(-1, bones - 1)
    return Examples(v, np.zeros((0, 3)), np.tile(np.eye(4), (bones, 1, 1)), m, meshes, parents), full


def test_recovers_known_weights():
    e, full = skinned(1)
    found = simplex.fit_weights(e.matrices, e, simplex.bone_distances(e), 5, ridge=1e-12)
    assert np.abs(found.weights - full).max() < 1e-4
    assert found.rms < 1e-4


def test_a_limit_keeps_the_best_and_says_what_it_costs():
    e, _ = skinned(2, influences=4)
    found = simplex.fit_weights(e.matrices, e, simplex.bone_distances(e), 2, ridge=1e-9)
    assert ((found.weights > 0).sum(axis=1) <= 2).all()
    assert np.allclose(found.weights.sum(axis=1), 1)
    assert found.rms > found.rms_unlimited
    # no worse than dropping all but the two largest and dividing by their sum
    whole = simplex.fit_weights(e.matrices, e, simplex.bone_distances(e), 5, ridge=1e-9).weights
    cut = np.where(whole >= np.sort(whole, axis=1)[:, -2:-1], whole, 0)
    cut /= cut.sum(axis=1, keepdims=True)
    moved = np.einsum("vb,ebij,vj->evi", cut, e.matrices[..., :3, :3], e.rest)
    moved += np.einsum("vb,ebi->evi", cut, e.matrices[..., :3, 3])
    assert found.rms <= np.sqrt(np.square(moved - e.vertices).sum(axis=-1).mean()) + 1e-9


def test_where_many_weights_would_do_few_that_do_are_found():
    """One pose cannot tell eight bones apart: of all the mixtures that fit, one of two bones is found nearly always.

    Taking away one by one alone finds it for two vertices of three.
    """
    e, _ = skinned(6, bones=8, influences=2, poses=1, vertices=60)
    found = simplex.fit_weights(e.matrices, e, simplex.bone_distances(e), 2, ridge=1e-12)
    assert found.rms_unlimited < 1e-4 * e.size
    m = e.matrices[..., :3, :]
    moved = np.einsum("vb,ebij,vj->evi", found.weights, m[..., :3], e.rest) + np.einsum(
        "vb,ebi->evi", found.weights, m[..., 3]
    )
    exact = np.linalg.norm(moved - e.vertices, axis=-1).max(axis=0) < 1e-3 * e.size
    assert exact.mean() > 0.85


def test_few_candidates_hold_the_good_ones():
    e, full = skinned(3, bones=9, influences=1)
    found = simplex.fit_weights(e.matrices, e, simplex.bone_distances(e), 4, ridge=1e-9, candidates=3)
    best = np.take_along_axis(found.bones, np.argmax(found.weights, axis=1)[:, None], axis=1)[:, 0]
    assert np.array_equal(best, np.argmax(full, axis=1))


def test_of_bones_that_move_alike_the_near_one_is_taken():
    e = tubes.standard(weights=False)
    still = e.subset([0, 0])
    found = simplex.fit_weights(still.matrices, still, simplex.bone_distances(still), 3, ridge=1e-4)
    best = np.take_along_axis(found.bones, np.argmax(found.weights, axis=1)[:, None], axis=1)[:, 0]
    far = np.abs(still.rest[:, 0] - tubes.LENGTH / 2) > 0.3
    assert np.array_equal(best[far] == 2, still.rest[far, 0] > tubes.LENGTH / 2)


def test_the_ridge_is_chosen_as_the_oracle_chooses_it(monkeypatch):
    e = tubes.tube(np.radians([20, 40, 60, 80]), np.radians([0, 0, 30, -30]), rings=5, sides=4)
    ridge = simplex.fit_weights(e.matrices, e, simplex.bone_distances(e), 4).ridge
    monkeypatch.setattr(simplex_kernels, "cross_validation_errors", reference.cross_validation_errors)
    assert simplex.fit_weights(e.matrices, e, simplex.bone_distances(e), 4).ridge == ridge


def test_a_sample_does_not_depend_on_the_order():
    v = np.random.default_rng(0).normal(size=(200, 3))
    order = np.random.default_rng(1).permutation(200)
    assert np.array_equal(v[simplex.pick_vertices_evenly(v, 17)], v[order][simplex.pick_vertices_evenly(v[order], 17)])
    assert np.array_equal(np.sort(simplex.pick_vertices_evenly(v, 500)), np.arange(200))
