"""What the mathematics is tried on: rotations and vectors with the awkward ones among them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from understudy.maths import quaternion

Array = NDArray[np.float64]

coordinates = st.floats(-10, 10, allow_subnormal=False)
vectors = st.tuples(coordinates, coordinates, coordinates).map(np.array)


def _unit(vector: Array) -> Array:
    size = np.linalg.norm(vector)
    return vector / size if size > 1e-6 else np.array((0.0, 0.0, 1.0))


directions = vectors.map(_unit)

# Angles everywhere, and in particular next to no turn, to a half turn and exactly at both.
small = st.floats(-12, -1).map(lambda power: 10.0**power)
angles = st.one_of(
    st.floats(0, np.pi),
    small,
    small.map(lambda e: np.pi - e),
    st.sampled_from((0.0, 0.5 * np.pi, np.pi, 1e-200)),
)

rotations = st.builds(quaternion.from_axis_angle, directions, angles)
signs = st.sampled_from((-1.0, 1.0))


def same_rotation(a: Array, b: Array, within: float = 1e-9) -> bool:
    return bool(np.all(quaternion.angle_between(a, b) <= within))


def random_rotations(shape: tuple[int, ...], seed: int) -> Array:
    return quaternion.normalise(np.random.default_rng(seed).normal(size=(*shape, 4)))
