"""Laws of paths: the cheapest is the cheapest, ends are exact, speed is constant or eased."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.perform.small_space import latents
from tests.reference import perform as reference

from understudy.errors import InvalidInput
from understudy.perform.runtime import latent_path


def cost(points: np.ndarray, power: float = latent_path.PATH_COST_POWER) -> float:
    return float(np.sum(np.linalg.norm(np.diff(points, axis=0), axis=1) ** power))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 5), st.sampled_from([1.0, 2.0, 4.0]))
def test_equals_brute_force(seed: int, count: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    points, a, b = rng.normal(size=(count, 3)), rng.normal(size=3), rng.normal(size=3)
    ways = (list(way) for size in range(count + 1) for way in permutations(range(count), size))
    cheapest = min(cost(np.stack([a, *points[way], b]), power) for way in ways)
    assert cost(latent_path.LatentGraph(points, power).path(a, b), power) == pytest.approx(cheapest, rel=1e-9)


def test_the_kernel_agrees_with_its_oracle() -> None:
    points, *_ = latents(runs=4, frames=50)
    graph = latent_path.LatentGraph(points)
    for i in range(0, 100, 7):
        a, b = points[i], points[-1 - i]
        ends = latent_path.costs(np.stack([a, b]), points, graph.power)
        direct = float(latent_path.costs(a[None], b[None], graph.power)[0, 0])
        through = points[reference.cheapest_path(graph.costs, *ends, direct)]
        slow = latent_path.remove_repeats(np.concatenate([a[None], through, b[None]]))
        assert np.array_equal(graph.path(a, b), slow)


def test_follows_the_training_points() -> None:
    """Around a circle of frames the way keeps to the circle instead of crossing it."""
    angle = np.linspace(0, np.pi, 40)
    points = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    way = latent_path.LatentGraph(points).path(points[0], points[-1])
    assert np.array_equal(way, points)
    assert latent_path.length(way) > 1.5 * latent_path.length(latent_path.straight(points[0], points[-1]))


def test_ends_off_the_points_are_kept() -> None:
    points, *_ = latents()
    a, b = points[0] + 0.3, points[-1] - 0.3
    way = latent_path.LatentGraph(points).path(a, b)
    assert np.array_equal(way[0], a) and np.array_equal(way[-1], b) and len(way) > 2


def test_a_path_to_where_it_starts_stays() -> None:
    points, *_ = latents()
    way = latent_path.LatentGraph(points).path(points[3], points[3])
    assert np.array_equal(way, points[[3, 3]])
    assert np.array_equal(latent_path.resample_frames(way, 5), np.tile(points[3], (6, 1)))


def test_repeated_training_points_cost_nothing() -> None:
    points = np.repeat(np.linspace(0, 1, 5)[:, None] * np.ones(3), 3, axis=0)
    way = latent_path.LatentGraph(points).path(points[0], points[-1])
    assert np.array_equal(way, points[::3])


def steps(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


def test_constant_speed_along_a_curve() -> None:
    angle = np.sort(np.random.default_rng(0).uniform(0, 3, 200))
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    places = latent_path.resample_frames(points, 50, start=False, stop=False)
    assert np.array_equal(places[[0, -1]], points[[0, -1]])
    np.testing.assert_allclose(steps(places), steps(places).mean(), rtol=2e-3)
    # a Gaussian of s frames makes a circle smaller by exp(-s^2 w^2 / 2), w the angle a frame
    smallest = np.exp(-0.5 * (latent_path.ROUNDING_FRAMES * 3 / 50) ** 2)
    assert np.all(np.linalg.norm(places, axis=1) <= 1 + 1e-9)
    assert np.linalg.norm(places, axis=1).min() == pytest.approx(smallest, abs=5e-3)


def test_a_straight_path_stays_straight() -> None:
    a, b = np.array([0.0, 0, 0]), np.array([1.0, 2, 3])
    bent = np.stack([a, a + 0.2 * (b - a), a + 0.7 * (b - a), b])
    for points in (bent, latent_path.straight(a, b)):
        share = np.arange(11)[:, None] / 10
        np.testing.assert_allclose(
            latent_path.resample_frames(points, 10, False, False), a + share * (b - a), atol=1e-12
        )


def test_corners_are_rounded() -> None:
    corner = np.array([[0.0, 0], [1, 0], [1, 1]])
    places = latent_path.resample_frames(corner, 40, False, False)
    turn = np.linalg.norm(np.diff(places, 2, axis=0), axis=1).max()
    assert turn < 0.7 * steps(places).mean()  # a sharp corner changes the step by 1.4 of it
    assert np.array_equal(places[[0, -1]], corner[[0, -1]])
    assert np.abs(places[:, 0].max() - 1) < 0.05


@pytest.mark.parametrize("frames", [1, 2, 3, 7])
def test_few_frames_have_exact_ends(frames: int) -> None:
    corner = np.array([[0.0, 0], [1, 0], [1, 1]])
    places = latent_path.resample_frames(corner, frames)
    assert places.shape == (frames + 1, 2) and np.isfinite(places).all()
    assert np.array_equal(places[[0, -1]], corner[[0, -1]])


@settings(max_examples=60, deadline=None)
@given(st.booleans(), st.booleans(), st.floats(0, 2))
def test_easing_goes_all_the_way_and_never_back(start: bool, stop: bool, initial: float) -> None:
    share = np.linspace(0, 1, 2001)
    gone = latent_path.ease_profile(share, start, stop, initial)
    speed = np.diff(gone) * 2000
    assert gone[0] == 0 and gone[-1] == pytest.approx(1, abs=1e-12) and speed.min() > -1e-9
    assert speed[-1] == pytest.approx(0 if stop else speed.max(), abs=1e-2 if stop or not start else 2)
    if start:
        assert speed[0] == pytest.approx(initial, abs=1e-2)
    assert (
        np.abs(np.diff(speed)).max() * 2000 < 1.5 / (latent_path.EASE_SHARE * (1 - latent_path.EASE_SHARE)) * 2.1
    )  # no jump of speed


def test_eased_paths_start_and_stop_softly() -> None:
    places = latent_path.resample_frames(latent_path.straight(np.zeros(3), np.ones(3)), 48)
    assert steps(places)[0] < 0.1 * steps(places).max() and steps(places)[-1] < 0.1 * steps(places).max()
    assert np.ptp(steps(places)[18:30]) < 1e-12


def test_a_launched_path_leaves_with_the_velocity_it_is_given() -> None:
    still = latent_path.resample_frames(latent_path.straight(np.zeros(3), np.ones(3)), 48)
    velocity = np.array([0.0, -2.0, 1.0])
    going = latent_path.launch_profile(still, velocity, 1 / 24)
    np.testing.assert_allclose((going[1] - going[0]) * 24, velocity, atol=1e-12)
    assert np.array_equal(going[0], still[0]) and np.array_equal(going[-1], still[-1])
    assert np.array_equal(
        going[round(latent_path.LAUNCH_SECONDS * 24) :], still[round(latent_path.LAUNCH_SECONDS * 24) :]
    )
    acceleration = np.linalg.norm(np.diff(going, 2, axis=0), axis=1) * 24**2
    assert acceleration[0] < 0.7 * acceleration.max() < 4 * np.linalg.norm(velocity) / latent_path.LAUNCH_SECONDS


def test_a_path_launched_as_it_is_stays() -> None:
    running = latent_path.resample_frames(latent_path.straight(np.zeros(3), np.ones(3)), 20, start=False)
    np.testing.assert_allclose(
        latent_path.launch_profile(running, (running[1] - running[0]) * 24, 1 / 24), running, atol=1e-12
    )


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_short_path_gets_the_time_to_lose_its_speed(count: int) -> None:
    there = np.zeros((count, 3))
    going = latent_path.launch_profile(there, np.array([3.0, 0, 0]), 1 / 24)
    assert len(going) == round(latent_path.LAUNCH_SECONDS * 24) + 1 and np.array_equal(going[-1], np.zeros(3))
    assert np.abs(going).max() < 1.3 * latent_path.LAUNCH_OVERSHOOT_RATIO * 3 * latent_path.LAUNCH_SECONDS
    assert len(latent_path.launch_profile(there, np.zeros(3), 1 / 24)) == count


def test_bad_input_is_refused() -> None:
    points, *_ = latents()
    with pytest.raises(InvalidInput, match="the end"):
        latent_path.LatentGraph(points).path(points[0], np.zeros(2))
    with pytest.raises(InvalidInput, match="finite"):
        latent_path.straight(np.array([np.nan, 0]), np.zeros(2))
    with pytest.raises(InvalidInput, match="a frame"):
        latent_path.resample_frames(points, 0)
