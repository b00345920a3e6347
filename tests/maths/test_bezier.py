from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.reference import edit as reference

from understudy.maths import bezier

# Time handles as fractions of the segment, up to the limit that editing keeps.
fractions = st.one_of(st.floats(0.0, 0.95), st.sampled_from((0.0, 1e-6, 1 / 3, 0.95)))
heights = st.floats(-5, 5)


@st.composite
def segments(draw, lowest=0.0):
    span, start = draw(st.floats(0.05, 20)), draw(st.floats(-10, 10))
    after = (span * max(draw(fractions), lowest), draw(heights))
    before = (span * max(draw(fractions), lowest), draw(heights))
    return (start, draw(heights)), (start + span, draw(heights)), after, before


inner = st.floats(0.01, 0.99)


@given(segments(), st.floats(0, 1))
def test_parameter_solves_its_equation(segment, u):
    x, _ = bezier.control_points(*segment)
    t = x[0] + u * (x[3] - x[0])
    s = bezier.parameter(x, t)
    assert 0 <= s <= 1
    assert np.isclose(bezier.bernstein(s) @ x, t, rtol=0, atol=1e-14 * (abs(x).max() + 1))


@given(segments())
def test_ends_are_exact_and_hold(segment):
    x, y = bezier.control_points(*segment)
    times = np.array((x[0] - 1, x[0], x[3], x[3] + 1))
    assert np.array_equal(bezier.parameter(x, times), (0, 0, 1, 1))
    assert np.array_equal(bezier.evaluate(x, y, times), y[[0, 0, 3, 3]])


@pytest.mark.parametrize("p1", [0.0, 0.5, 1.0, 1.0 - 1e-12, 2.0, -0.5])
@pytest.mark.parametrize("p2", [0.0, 1e-12, 0.5, 1.0, -1.0, 1.5])
def test_extreme_handles_are_solved(p1, p2):
    t = np.linspace(0, 1, 257)
    s = bezier.solve_parameter(0.0, p1, p2, 1.0, t)
    assert np.allclose(bezier.bernstein(s) @ (0.0, p1, p2, 1.0), t, rtol=0, atol=4e-15)


@given(segments(lowest=1e-3), inner)
def test_slope_is_the_derivative(segment, u):
    x, y = bezier.control_points(*segment)
    span = x[3] - x[0]
    t, h = x[0] + u * span, 1e-6 * span
    difference = (bezier.evaluate(x, y, t + h) - bezier.evaluate(x, y, t - h)) / (2 * h)
    assert np.isclose(bezier.slope(x, y, t), difference, rtol=1e-4, atol=1e-5 * (1 + 1 / span))


@given(segments(lowest=1e-3), inner)
def test_handle_gradient_is_the_derivative(segment, u):
    start, end, after, before = segment
    x, y = bezier.control_points(*segment)
    span = x[3] - x[0]
    t = x[0] + u * span
    gradient = reference.handle_gradient(x, y, t)
    numbers = np.array((*after, *before))
    for i, h in enumerate((1e-6 * span, 1e-4, 1e-6 * span, 1e-4)):
        assume(i % 2 or numbers[i] > 2 * h)
        sides = []
        for side in (h, -h):
            moved = numbers.copy()
            moved[i] += side
            sides.append(bezier.evaluate(*bezier.control_points(start, end, moved[:2], moved[2:]), t))
        difference = (sides[0] - sides[1]) / (2 * h)
        assert np.isclose(gradient[i], difference, rtol=2e-4, atol=2e-5 * (1 + 1 / span))


@given(segments(), st.floats(0, 1))
def test_derivatives_are_always_finite(segment, u):
    x, y = bezier.control_points(*segment)
    t = x[0] + u * (x[3] - x[0])
    for p1, p2 in ((x[1], x[2]), (x[0], x[0]), (x[3], x[0]), (x[3], x[3]), (x[0], x[3])):
        folded = np.array((x[0], p1, p2, x[3]))
        assert np.isfinite(bezier.slope(folded, y, (t, x[0], x[3]))).all()
        assert np.isfinite(reference.handle_gradient(folded, y, (t, x[0], x[3]))).all()
    both = np.array((x[0], x[3], x[0], x[3]))
    assert np.isfinite(reference.handle_gradient(both, y, 0.5 * (x[0] + x[3]))).all()


def test_slope_at_a_key_without_a_handle_is_its_limit():
    x, y = bezier.control_points((1.0, 2.0), (3.0, 5.0), (0.0, 0.0), (0.5, 1.0))
    assert np.isclose(bezier.slope(x, y, 1.0), (y[2] - y[0]) / (x[2] - x[0]), rtol=1e-5)


@given(segments(), st.floats(0, 1))
def test_handles_come_back(segment, u):
    x, y = bezier.control_points(*segment)
    after, before = bezier.handles(x, y)
    assert np.allclose(after, segment[2], atol=1e-12) and np.allclose(before, segment[3], atol=1e-12)


@given(st.floats(0.1, 5), heights, heights, heights, heights, st.floats(0, 1))
def test_hermite_is_the_same_cubic(span, a, b, slope0, slope1, s):
    after, before = bezier.from_hermite(span, slope0, slope1)
    x, y = bezier.control_points((0.0, a), (span, b), after, before)
    cubic = a * (1 + 2 * s) * (1 - s) ** 2 + b * s * s * (3 - 2 * s)
    cubic += span * (slope0 * s * (1 - s) ** 2 - slope1 * s * s * (1 - s))
    assert np.isclose(bezier.evaluate(x, y, s * span), cubic, atol=1e-10)
    assert np.allclose(bezier.to_hermite(x, y), (slope0, slope1), atol=1e-9)


@given(segments(lowest=0.01), st.floats(0.02, 0.98), st.floats(0, 1))
def test_split_keeps_the_shape(segment, cut, u):
    x, y = bezier.control_points(*segment)
    span = x[3] - x[0]
    at, t = x[0] + cut * span, x[0] + u * span
    left, right = bezier.split(x, y, at)
    assert np.isclose(left[0][3], at) and right[0][0] == left[0][3]
    half = left if t <= left[0][3] else right
    steep = 1 + abs(bezier.slope(x, y, t)) * span
    assert np.isclose(bezier.evaluate(*half, t), bezier.evaluate(x, y, t), rtol=0, atol=1e-10 * steep)


def test_batches_and_single_segments_agree():
    rng = np.random.default_rng(2)
    x = np.sort(rng.random((6, 4)), axis=-1)
    y = rng.normal(size=(6, 4))
    t = rng.random((6, 9))
    table = bezier.evaluate(x[:, None], y[:, None], t)
    gradient = reference.handle_gradient(x[:, None], y[:, None], t)
    (left, _), (_, right) = bezier.split(x[:, None], y[:, None], t)
    assert table.shape == (6, 9) and gradient.shape == (6, 9, 4) and left.shape == right.shape == (6, 9, 4)
    for i, j in ((0, 0), (3, 4), (5, 8)):
        assert table[i, j] == bezier.evaluate(x[i], y[i], t[i, j])
        assert np.array_equal(gradient[i, j], reference.handle_gradient(x[i], y[i], t[i, j]))


def test_a_segment_of_no_length_steps():
    assert np.array_equal(bezier.solve_parameter(1.0, 1.0, 1.0, 1.0, (0.0, 1.0, 2.0)), (0, 0, 1))
