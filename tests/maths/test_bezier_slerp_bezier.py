"""A Bezier curve in place of a slerp: the same turn, within what its docstring promises."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.maths import bezier, quaternion
from understudy.maths.bezier import slerp_handles


@given(st.integers(0, 10_000), st.floats(0.0, 3.1415))
@settings(max_examples=100, deadline=None)
def test_the_slerp_is_followed(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    a = quaternion.normalise(rng.normal(size=4))
    b = quaternion.multiply(a, quaternion.from_axis_angle(rng.normal(size=3), np.array(angle)))
    leaving, arriving = slerp_handles(a, b)
    s = np.linspace(0, 1, 101)
    curve = bezier.bernstein(s) @ np.stack([a, a + leaving, b - arriving, b])
    error = quaternion.angle_between(quaternion.normalise(curve), quaternion.slerp(a, b, s)).max()
    assert error < (1e-8 if angle < 1.05 else 1e-7 if angle < np.pi / 2 else 1.2e-5)


def test_no_turn_has_no_handles() -> None:
    a = quaternion.normalise(np.array([1.0, 2, 3, 4]))
    for handle in slerp_handles(a, a):
        np.testing.assert_allclose(handle, 0, atol=1e-15)
