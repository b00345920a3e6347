"""Laws of the free-form deformation, on the kernel and on the NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import character as reference

from understudy.character.skinning import layered
from understudy.errors import InvalidInput

LOW, HIGH = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 3.0, 2.5])


def slow(point, low, high, offsets):
    """One point, straight from the formula."""
    counts = offsets.shape[:3]
    u = [(point[a] - low[a]) / ((high[a] - low[a]) / (counts[a] + 2)) for a in range(3)]

    def b(t):
        if 0 <= t < 1:
            return t * t / 2
        if 1 <= t < 2:
            return (-2 * t * t + 6 * t - 3) / 2
        return (3 - t) ** 2 / 2 if 2 <= t < 3 else 0.0

    return sum(b(u[0] - i) * b(u[1] - j) * b(u[2] - k) * offsets[i, j, k] for i, j, k in np.ndindex(*counts))


@pytest.mark.parametrize("counts", [(1, 1, 1), (2, 1, 3), (5, 5, 4)])
def test_equals_the_formula(counts):
    rng = np.random.default_rng(sum(counts))
    offsets = rng.normal(size=(*counts, 3))
    points = rng.uniform(LOW - 0.2, HIGH + 0.2, (70, 3))
    expected = [slow(point, LOW, HIGH, offsets) for point in points]
    np.testing.assert_allclose(layered.displacement(points, LOW, HIGH, offsets), expected, atol=2e-6)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    counts=st.tuples(*[st.integers(1, 4)] * 3),
    frames=st.integers(0, 3),
    points=st.integers(0, 70),
)
def test_kernel_equals_its_twin(seed, counts, frames, points):
    rng = np.random.default_rng(seed)
    offsets = rng.normal(size=(frames, *counts, 3)) * (rng.random((frames, *counts, 3)) < 0.3)
    x = rng.uniform(LOW - 0.2, HIGH + 0.2, (points, 3))
    found, expected = (f(x, LOW, HIGH, offsets) for f in (layered.displacement, reference.displacement))
    np.testing.assert_allclose(found, expected, atol=5e-6)
    assert found.shape == (frames, points, 3)


def test_displacement_and_slope_vanish_on_and_outside_the_faces():
    rng = np.random.default_rng(1)
    offsets = rng.normal(size=(3, 3, 3, 3))
    size = HIGH - LOW
    for axis in range(3):
        for face, inwards in ((LOW, 1), (HIGH, -1)):
            points = rng.uniform(LOW, HIGH, (50, 3))
            points[:, axis] = face[axis]
            on = layered.displacement(points, LOW, HIGH, offsets)
            points[:, axis] -= inwards * size[axis] * rng.random(50)
            outside = layered.displacement(points, LOW, HIGH, offsets)
            points[:, axis] = face[axis] + inwards * 1e-3 * size[axis]
            near = layered.displacement(points, LOW, HIGH, offsets)
            assert np.abs(on).max() < 1e-9 and not outside.any()
            # quadratic: a thousandth of the box within, at most (n + 2)^2 / 2 millionths of the largest offset
            assert np.abs(near).max() < 25 / 2 * 1e-6 * np.abs(offsets).max() * 1.1


def test_all_points_lie_inside_and_move_themselves_most():
    places = layered.lattice_points(LOW, HIGH, (3, 2, 4))
    assert (places > LOW).all() and (places < HIGH).all()
    for index in np.ndindex(3, 2, 4):
        offsets = np.zeros((3, 2, 4, 3))
        offsets[index] = 1
        moved = reference.displacement(places.reshape(-1, 3), LOW, HIGH, offsets)[:, 0].reshape(3, 2, 4)
        assert np.unravel_index(moved.argmax(), moved.shape) == index
        assert moved[index] == pytest.approx(0.75**3)


def test_inside_equal_offsets_move_everything_alike():
    counts = np.array([5, 4, 6])
    cell = (HIGH - LOW) / (counts + 2)
    points = np.random.default_rng(2).uniform(LOW + 2 * cell, HIGH - 2 * cell, (60, 3))
    moved = layered.displacement(points, LOW, HIGH, np.broadcast_to([1.0, -2.0, 0.5], (*counts, 3)))
    np.testing.assert_allclose(moved, np.tile([1.0, -2.0, 0.5], (60, 1)), atol=2e-6)


def test_it_is_linear_in_the_offsets_and_smooth_across_cells():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 3, 4, 2, 3))
    points = rng.uniform(LOW, HIGH, (80, 3))
    both = layered.displacement(points, LOW, HIGH, a - 2 * b)
    parts = layered.displacement(points, LOW, HIGH, a) - 2 * layered.displacement(points, LOW, HIGH, b)
    np.testing.assert_allclose(both, parts, atol=1e-5)
    line = LOW + np.linspace(0, 1, 4001)[:, None] * (HIGH - LOW)
    slope = np.diff(reference.displacement(line, LOW, HIGH, a).astype(float), axis=0) * 4000
    assert np.abs(np.diff(slope, axis=0)).max() < 0.01 * np.abs(slope).max()


def test_a_point_that_is_nan_stays_where_it_cannot_harm():
    offsets = np.ones((2, 2, 2, 3))
    points = np.array([[np.nan, 1, 2.2], [0, 1.5, 2.25]])
    moved = layered.displacement(points, LOW, HIGH, offsets)
    assert not moved[0].any() and moved[1].all()


def test_wrong_shapes_are_refused():
    with pytest.raises(InvalidInput, match="points should have shape"):
        layered.displacement(np.zeros((3, 2)), LOW, HIGH, np.zeros((1, 1, 1, 3)))
    with pytest.raises(InvalidInput, match="offsets should have shape"):
        layered.displacement(np.zeros((3, 3)), LOW, HIGH, np.zeros((1, 0, 1, 3)))
    with pytest.raises(InvalidInput, match="points have 2 frames, but offsets have 3"):
        layered.displacement(np.zeros((2, 4, 3)), LOW, HIGH, np.zeros((3, 1, 1, 1, 3)))
    with pytest.raises(InvalidInput, match="should have a size"):
        layered.displacement(np.zeros((4, 3)), HIGH, LOW, np.zeros((1, 1, 1, 3)))
