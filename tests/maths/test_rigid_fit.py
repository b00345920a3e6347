from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import maths as reference

from understudy.maths import rigid_fit_kernels


def rotation(rng, dimensions):
    q, r = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] *= -1
    return q


@pytest.mark.parametrize("dimensions", [2, 3])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), noise=st.sampled_from([0.0, 0.3]))
def test_both_find_the_same_and_recover_what_was_done(dimensions, seed, noise):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(7, dimensions))
    turn, shift = rotation(rng, dimensions), rng.normal(size=dimensions)
    b = a @ turn.T + shift + noise * rng.normal(size=a.shape)
    r, t = reference.fit_rigid(a, b)
    mine, moved = np.zeros((dimensions, dimensions)), np.zeros(dimensions)
    rigid_fit_kernels.fit_rigid_single(a, b, mine, moved)
    np.testing.assert_allclose(r @ r.T, np.eye(dimensions), atol=1e-9)
    assert np.linalg.det(mine) == pytest.approx(1.0)
    if noise == 0.0:
        np.testing.assert_allclose(r, turn, atol=1e-8)
        np.testing.assert_allclose(t, shift, atol=1e-8)
    errors = [np.square(a @ m.T + s - b).sum() for m, s in ((r, t), (mine, moved))]
    assert errors[1] == pytest.approx(errors[0], abs=1e-9)  # equally near, also where the rotation is not unique


def test_weights_are_never_shifted():
    r, t = reference.fit_rigid(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]]))
    mine, moved = np.zeros((1, 1)), np.ones(1)
    rigid_fit_kernels.fit_rigid_single(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]]), mine, moved)
    assert r == mine == 1.0
    assert t == moved == 0.0
