"""Laws of the random force: its covariance, and that it is a function of seed, stream and time alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import perform as reference

from understudy.errors import InvalidInput
from understudy.perform.runtime import particle
from understudy.perform.runtime.forces import MotionConstants

FORCES = MotionConstants(alpha=16, a=1, v=0, l=1, flat=1, drag=2, amplitude=0.7, smoothness=0.4, radius=1, speed=1)


# The published answers of Philox 4x32-10, from the authors' own test vectors.
@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_known_answers(counter: list[int], key: list[int], answer: list[int]) -> None:
    found = reference.philox(np.array(counter, np.uint64), np.array(key, np.uint64))
    assert found.tolist() == answer


@pytest.mark.parametrize("dimensions", [1, 3, 5])
def test_the_kernel_agrees_with_its_oracle(dimensions: int) -> None:
    times = np.random.default_rng(0).uniform(-5, 700, 200)
    fast = particle.random_force(2**40 + 3, -7, times, 0.4, dimensions)
    key, stream = np.array([3, 2**8], np.uint64), np.array([2**64 - 7], np.uint64)
    places = times * (particle.GRID_STEPS_PER_SMOOTHNESS / 0.4)
    np.testing.assert_allclose(fast, reference.random_forces(key, stream, places[None], dimensions)[0], atol=1e-12)


def test_covariance() -> None:
    """20,000 streams at six times: each entry is known to 1 / sqrt(60,000) = 0.004; five times that is allowed."""
    times = np.array([0.0, 0.07, 0.2, 0.4, 0.8, 3.0])
    gamma = 0.4**2
    drawn = particle.forces_at(1, np.arange(20_000), 0.0, 1.0, 1, 0.4, 3)[:, :1]  # at time 0 alone: the mean of a draw
    assert np.abs(drawn.mean(axis=(0, 1))).max() < 0.04
    x = np.stack([particle.forces_at(1, np.arange(20_000), t, 0.1, 1, 0.4, 3)[:, 0] for t in times], axis=1)
    covariance = np.einsum("mtq,muq->tu", x, x) / (3 * len(x))
    np.testing.assert_allclose(covariance, np.exp(-((times[:, None] - times) ** 2) / gamma), atol=0.02)


def test_each_number_is_normal() -> None:
    x = particle.forces_at(5, np.arange(20_000), 12.3, 0.1, 1, 0.4, 3)[:, 0].ravel()
    moments = [np.mean(x**n) for n in (2, 3, 4)]
    np.testing.assert_allclose(moments, [1, 0, 3], atol=0.15)
    assert np.abs(x).max() < 7


def test_any_order_gives_the_same() -> None:
    times = np.random.default_rng(1).permutation(np.arange(0, 30, 0.037))
    together = particle.random_force(9, 4, times, 0.5, 3)
    alone = np.concatenate([particle.random_force(9, 4, times[i : i + 1], 0.5, 3) for i in range(len(times))])
    assert np.array_equal(together, alone)


def test_a_frame_of_a_crowd_is_that_of_each() -> None:
    streams, frames = np.array([3, 1, 4, 1]), np.array([0, 10, 20, 10])
    crowd = particle.random_forces(2, streams, frames, 1 / 24, FORCES, 3)
    assert crowd.shape == (4, 5, 3) and np.array_equal(crowd[1], crowd[3])
    for m in range(4):
        times = frames[m] / 24 + np.arange(5) / 24 / 4
        own = FORCES.amplitude * particle.random_force(2, int(streams[m]), times, FORCES.smoothness, 3)
        np.testing.assert_allclose(crowd[m], own, atol=1e-12)


def test_many_streams_on_threads_are_the_same() -> None:
    streams = np.arange(particle.MIN_PARALLEL_STREAMS + 5)
    many = particle.random_forces(2, streams, 7, 1 / 24, FORCES, 3)
    assert np.array_equal(many[100:110], particle.random_forces(2, streams[100:110], 7, 1 / 24, FORCES, 3))


def test_frames_join() -> None:
    """The end of a frame is the start of the next: the force is continuous."""
    streams = np.arange(4)
    this, after = (particle.random_forces(0, streams, frame, 1 / 24, FORCES, 3) for frame in (41, 42))
    np.testing.assert_allclose(this[:, -1], after[:, 0], atol=1e-6)


def test_streams_seeds_and_components_are_independent() -> None:
    """1,200 s of 0.4 s are some 1,700 independent numbers: chance correlates 0.024; five times that is allowed."""
    times = np.arange(0, 1200, 0.1)
    x = [particle.random_force(seed, stream, times, 0.4, 3) for seed, stream in ((0, 0), (0, 1), (1, 0), (0, 2**40))]
    correlation = np.corrcoef(np.concatenate(x, axis=1).T)
    assert np.abs(correlation - np.eye(12)).max() < 0.12


def test_nothing_repeats_in_ten_minutes() -> None:
    """No two windows of two seconds, of all that begin a quarter of a second apart, are alike."""
    x = particle.random_force(0, 0, np.arange(0, 600, 0.25), 0.4, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, 8, axis=0).reshape(len(x) - 7, -1)
    square = np.einsum("ij,ij->i", windows, windows)
    distance = square[:, None] + square - 2 * windows @ windows.T
    distance[np.abs(np.subtract.outer(*2 * [np.arange(len(windows))])) < 8] = np.inf
    assert distance.min() > 1.0  # twenty-four numbers of variance one: alike would be 0, unlike is about 48


def test_smoothness_is_refused_where_it_is_none() -> None:
    with pytest.raises(InvalidInput, match="smoothness"):
        particle.random_force(0, 0, np.zeros(1), 0.0, 3)
