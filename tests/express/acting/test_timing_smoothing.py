from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import least_squares
from tests.reference import express as reference

from understudy.express.acting.timing import savitzky_golay, smooth_curves, window_frames


def sigmoid(u: np.ndarray, steep: float, middle: float) -> np.ndarray:
    s = 1.0 / (1.0 + np.exp(-steep * (u - middle)))
    return (s - s[0]) / (s[-1] - s[0])


def curves() -> np.ndarray:
    u = np.linspace(0.0, 1.0, 30)
    return np.stack([3 * sigmoid(u, 9.0, 0.4), 1 - 2 * sigmoid(u, 20.0, 0.7), sigmoid(u, 3.0, 0.5)], axis=1)


def test_the_filter_keeps_parabolas_and_ends() -> None:
    t = np.arange(20.0)[:, None]
    line = 3.0 - 2.0 * t
    assert np.allclose(savitzky_golay(line, 7), line)
    parabola = t**2
    inside = savitzky_golay(parabola, 7)
    assert np.allclose(inside[3:-3], parabola[3:-3])
    noise = np.random.default_rng(0).normal(size=(40, 3))
    assert np.allclose(savitzky_golay(noise, 9)[[0, -1]], noise[[0, -1]])
    assert savitzky_golay(noise, 9).var() < 0.6 * noise.var()


def test_sigmoids_are_recovered() -> None:
    leg = curves()
    fitted, fits = reference.nearest_sigmoids(leg)
    assert np.allclose(fitted, leg, atol=1e-6) and np.allclose(fits, 1.0)


def test_the_fit_is_the_least_squares_one() -> None:
    rng = np.random.default_rng(3)
    u = np.linspace(0.0, 1.0, 30)
    leg = curves()[:, :1] / 3
    leg[1:-1] += 0.03 * rng.normal(size=(28, 1))
    fitted, _ = reference.nearest_sigmoids(leg)
    best = least_squares(lambda b: leg[:, 0] - sigmoid(u, *b), [8.0, 0.5]).cost
    assert 0.5 * ((leg - fitted) ** 2).sum() == pytest.approx(best, rel=1e-3)


def test_what_is_no_sigmoid_keeps_itself() -> None:
    u = np.linspace(0.0, 1.0, 30)
    bump = np.stack([np.sin(np.pi * u) ** 2 + 0.05 * u], axis=1)
    _, fits = reference.nearest_sigmoids(bump)
    assert fits[0] == 0.0


def test_the_kernel_agrees_with_its_oracle() -> None:
    rng = np.random.default_rng(1)
    points = np.concatenate([curves(), curves()[::-1][1:]]) + 0.02 * rng.normal(size=(59, 3))
    bounds = np.array([0, 29, 58])
    fast = smooth_curves(points, bounds, 30.0, 0.7)
    assert np.allclose(fast, reference.smooth_curves(points, bounds, 30.0, 0.7), atol=1e-9)


def test_the_dial_goes_from_nothing_to_sigmoids() -> None:
    rng = np.random.default_rng(2)
    points = curves() + 0.03 * rng.normal(size=(30, 3))
    bounds = np.array([0, 29])
    rough = [
        np.abs(np.diff(smooth_curves(points, bounds, 30.0, dial), 2, axis=0)).sum() for dial in (0.0, 0.3, 0.6, 1.0)
    ]
    assert smooth_curves(points, bounds, 30.0, 0.0) is points
    assert all(a > b for a, b in itertools.pairwise(rough))


@pytest.mark.parametrize("rate", [5.0, 24.0, 120.0])
def test_windows_are_odd(rate: float) -> None:
    assert all(window_frames(rate, dial) % 2 == 1 and window_frames(rate, dial) >= 5 for dial in (0.01, 0.5, 1.0))


def test_the_shortest_motions_pass() -> None:
    for frames in (1, 2, 3, 4, 5):
        points = np.linspace(0.0, 1.0, frames)[:, None]
        assert smooth_curves(points, np.array([0, frames - 1]), 30.0, 1.0).shape == points.shape
