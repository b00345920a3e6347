"""Random skins and transforms for the tests of the deformers."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def rigid_matrices(rng, frames, bones):
    """(F, B, 4, 4) rotations and translations."""
    m = np.zeros((frames, bones, 4, 4))
    m[..., :3, :3] = (
        Rotation.random(frames * bones, random_state=int(rng.integers(2**31))).as_matrix().reshape(frames, bones, 3, 3)
    )
    m[..., :3, 3] = rng.normal(size=(frames, bones, 3))
    m[..., 3, 3] = 1
    return m


def skin(rng, vertices, influences, bones):
    """Vertices (V, 3), joints (V, K), weights (V, K) that sum to one, some of them zero."""
    v = rng.normal(size=(vertices, 3)).astype(np.float32)
    j = rng.integers(0, bones, size=(vertices, influences)).astype(np.int32)
    w = rng.random((vertices, influences)).astype(np.float32)
    w[rng.random(w.shape) < 0.3] = 0
    w[w.sum(axis=1) == 0] = 1
    return v, j, w / w.sum(axis=1, keepdims=True)
