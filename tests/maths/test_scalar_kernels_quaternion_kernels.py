"""The compiled twin of `quaternion.from_matrix`."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.maths import jit, quaternion


def test_the_compiled_twin_agrees() -> None:
    kernels = jit.kernels("understudy.maths.scalar_kernels")
    if kernels is None:
        pytest.skip("numba is absent or switched off")
    q = quaternion.normalise(np.random.default_rng(1).normal(size=(500, 4)))
    q[:8] = np.repeat(np.eye(4), 2, axis=0)  # half turns about the axes, and none
    m = quaternion.to_matrix(q)
    found = np.empty(q.shape)
    kernels.quaternion_from_matrix(m, found)
    np.testing.assert_allclose(found, quaternion.from_matrix(m), rtol=0, atol=1e-15)
