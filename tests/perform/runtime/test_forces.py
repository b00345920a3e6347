"""The constants come from the data: they follow its units, and every clip, however poor, gives some."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from tests.perform.small_space import latents, mapping

from understudy.errors import InvalidInput
from understudy.perform.runtime import forces
from understudy.perform.runtime.forces import MotionConstants, prepare_density


def chosen(points: np.ndarray, segments: np.ndarray, times: np.ndarray, length: float = 0.8) -> MotionConstants:
    return MotionConstants.from_latents(prepare_density(mapping(points, length)), points, segments, times)


def test_they_are_all_finite_and_positive() -> None:
    for value in (v for name, v in asdict(chosen(*latents())).items() if name != "v"):
        assert np.isfinite(value) and value > 0


def test_they_follow_the_unit_of_length() -> None:
    """A space of three times the size has forces of three times the size, and the same times and densities."""
    points, segments, times = latents()
    small, large = asdict(chosen(points, segments, times)), asdict(chosen(3 * points, segments, times, 3 * 0.8))
    for name, value in small.items():
        unit = {"a": 3, "amplitude": 3, "radius": 3, "speed": 3, "flat": 1 / 3}.get(name, 1)
        assert large[name] == pytest.approx(unit * value, rel=1e-3), name


def test_they_do_not_depend_on_where_the_space_lies() -> None:
    points, segments, times = latents()
    here, there = asdict(chosen(points, segments, times)), asdict(chosen(points + 5, segments, times))
    assert here == pytest.approx(there, rel=1e-3)


def test_the_push_is_weak_on_the_data_and_strong_off_it() -> None:
    points, segments, times = latents()
    density = prepare_density(mapping(points))
    given = MotionConstants.from_latents(density, points, segments, times)

    def push(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp((density.log_density(x) - given.v) / given.l))

    assert np.median(push(points)) < 0.06 and push(points + 5).min() > 0.9


def test_speeds_and_accelerations_stay_within_segments() -> None:
    t = np.arange(10) / 24
    x = np.stack([t**2, 0 * t, 0 * t], axis=1)
    both, segments = np.concatenate([x, x + 100]), np.repeat([0, 1], 10)
    speeds, accelerations = forces.speeds_and_accelerations(both, segments, np.concatenate([t, t]))
    assert len(speeds) == 18 and len(accelerations) == 16
    assert speeds.max() < 1
    np.testing.assert_allclose(accelerations, 2, rtol=1e-9)


def test_wandering_is_the_variance_of_a_dragged_velocity() -> None:
    """v' = -c v + F, integrated numerically against the force's covariance."""
    c, tau = 1.7, 0.4
    t = np.linspace(0, 40, 200_001)
    integral = np.sum(np.exp(-c * t - t**2 / tau**2)) * t[1] - 0.5 * t[1]
    assert forces.velocity_variance_ratio(c * tau) == pytest.approx(c * integral, rel=1e-6)


def test_faster_clips_are_idled_faster_and_moved_faster() -> None:
    points, segments, times = latents()
    slow, fast = chosen(points, segments, 10 * times), chosen(points, segments, times)
    assert slow.speed == pytest.approx(fast.speed / 10)
    assert slow.amplitude < fast.amplitude and slow.radius <= fast.radius


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_short_and_motionless_clips(frames: int) -> None:
    still = np.tile(np.array([[0.3, 0.1, -0.2]]), (frames, 1))
    for value in asdict(chosen(still, np.zeros(frames, int), np.arange(frames) / 24)).values():
        assert np.isfinite(value)


def test_bad_input_is_refused() -> None:
    points, segments, times = latents()
    density = prepare_density(mapping(points))
    with pytest.raises(InvalidInput, match="one entry for each"):
        MotionConstants.from_latents(density, points, segments[1:], times)
    with pytest.raises(InvalidInput, match="empty"):
        MotionConstants.from_latents(density, np.zeros((0, 3)), segments[:0], times[:0])
