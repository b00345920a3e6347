"""The kernel of `quaternion.from_matrix`."""

from __future__ import annotations

import numpy as np

from understudy.maths import quaternion, scalar_kernels


def test_the_kernel_agrees_with_numpy() -> None:
    q = quaternion.normalise(np.random.default_rng(1).normal(size=(500, 4)))
    q[:8] = np.repeat(np.eye(4), 2, axis=0)  # half turns about the axes, and none
    m = quaternion.to_matrix(q)
    found = np.empty(q.shape)
    scalar_kernels.quaternion_from_matrix(m, found)
    np.testing.assert_allclose(found, quaternion.from_matrix(m), rtol=0, atol=1e-15)
