"""The elastic body: its gradient, its rest, its kernels, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import deform as reference

from understudy.deform.ground_truth import arm, elastic, elastic_kernels, relax
from understudy.deform.ground_truth.elastic import tube

POSES = 3


@pytest.fixture
def solid():
    shape = tube(np.linspace(-0.2, 0.2, 7), np.full((7, 8), 0.05), np.array([0.4, 1.0]))
    count = len(shape.elements())
    x = shape.nodes[:, 0]
    bone = np.where(np.abs(x) > 0.19, np.where(x < 0, 0, 1), -1)
    muscle = np.linspace(0.0, 1.0, count)
    side = np.where(shape.nodes[:, 1] > 0.04, np.sign(np.round(x, 6)), 0.0)
    crease = (side == 0) & (shape.nodes[:, 1] > 0.04)
    shear = np.linspace(1e3, 3e3, count)
    return elastic.build_body(shape, bone, shear, 10 * shear, side, crease, (muscle,), 300.0)


def load(solid, muscle):
    normals = np.repeat(np.array([[1.0], [0.2], [0.1]]), POSES, axis=1)
    return elastic.ElasticLoad(np.full((1, POSES), muscle), normals, np.zeros((3, POSES)))


def test_rest_is_at_rest(solid):
    x = np.repeat(solid.tube.nodes[:, :, None], POSES, axis=2)
    still = load(solid, 1.0)
    still.normals[1:] = 0.0  # at rest nothing touches the plane x = 0
    assert np.abs(solid.energy(x, still)[1]).max() < 1e-10 * solid.stiffness.max()
    assert np.allclose(solid.ratios(x), 1.0)


def test_gradient_is_that_of_the_energy(solid):
    rng = np.random.default_rng(0)
    x = solid.tube.nodes[:, :, None] + 0.01 * rng.normal(size=(len(solid.tube.nodes), 3, POSES))
    d = rng.normal(size=x.shape) * solid.free[:, None, None]
    _, gradient = solid.energy(x, load(solid, 0.7))
    h = 1e-6
    up, down = solid.energy(x + h * d, load(solid, 0.7))[0], solid.energy(x - h * d, load(solid, 0.7))[0]
    np.testing.assert_allclose((up - down) / (2 * h), relax.inner(gradient, d), rtol=1e-6)


def test_the_kernel_agrees_with_its_oracle(solid, monkeypatch):
    x = solid.tube.nodes[:, :, None] + 0.01 * np.random.default_rng(1).normal(size=(len(solid.tube.nodes), 3, POSES))
    fast = solid.energy(x, load(solid, 0.8))
    monkeypatch.setattr(elastic_kernels, "add_volume_term", reference.add_volume_term)
    slow = solid.energy(x, load(solid, 0.8))
    np.testing.assert_allclose(fast[0], slow[0], rtol=1e-12)
    np.testing.assert_allclose(fast[1], slow[1], atol=1e-10 * np.abs(slow[1]).max())


def test_turning_everything_costs_nothing(solid):
    still = elastic.ElasticLoad(np.ones((1, 1)), np.zeros((3, 1)), np.zeros((3, 1)))
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rest = solid.tube.nodes[:, :, None]
    turned = np.einsum("ij,njp->nip", turn, rest) + 0.3
    # positions count only through differences: the bodies' energies agree though one is elsewhere
    np.testing.assert_allclose(solid.energy(rest, still)[0], solid.energy(turned, still)[0], rtol=1e-10)


def test_block_solver_solves(solid):
    total = solid.stiffness + solid.muscles[0][0]
    solver = relax.preconditioner(solid)
    b = np.random.default_rng(2).normal(size=(len(solid.tube.nodes), 5)) * solid.free[:, None]
    x = solver(b)
    assert np.abs((total @ x - b)[solid.free]).max() < 2e-4  # float32
    assert not x[~solid.free].any()


def test_weights_that_carry_the_first_guess_sum_to_one(solid):
    weights = relax.harmonic_weights(solid, relax.preconditioner(solid), 2)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-4)
    assert weights.min() > -1e-4


def test_biceps_shortens_and_triceps_is_stretched():
    lengths = arm.muscle_lengths(np.radians(np.arange(0.0, 151.0, 10.0)))
    np.testing.assert_allclose(lengths[:, 0], 1.0, atol=1e-12)
    assert (np.diff(lengths[0])[1:] < 0).all() and (np.diff(lengths[1]) >= 0).all()
    assert 0.4 < lengths[0, -1] < 0.75
