"""Ten minutes of idling, for many characters: alive, within the radius, going nowhere, neither faster nor slower."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.perform.small_space import latents, mapping

from understudy.perform.runtime import particle
from understudy.perform.runtime.forces import Density, MotionConstants, prepare_density
from understudy.perform.runtime.particle import step

DT = 1 / 24
MINUTES = 10
COUNT = 24


def idle(density: Density, forces: MotionConstants, points: np.ndarray, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and velocities (F, M, Q)."""
    x, velocity = points.copy(), np.zeros_like(points)
    radius, streams = np.full(len(points), forces.radius), np.arange(len(points))
    places, velocities = np.empty((2, frames, *points.shape))
    for frame in range(frames):
        random = particle.random_forces(0, streams, frame, DT, forces, points.shape[1])
        x, velocity = step(density, forces, x, velocity, points, points, radius, random, DT)
        places[frame], velocities[frame] = x, velocity
    return places, velocities


@pytest.fixture(scope="module")
def space() -> tuple[Density, MotionConstants, np.ndarray]:
    points, segments, times = latents(runs=2, frames=24)
    density = prepare_density(mapping(points))
    return density, MotionConstants.from_latents(density, points, segments, times), points[:: 2 * 24 // COUNT]


@pytest.fixture(scope="module")
def take(space: tuple[Density, MotionConstants, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    density, forces, points = space
    places, velocities = idle(density, forces, points, MINUTES * 60 * 24)
    return (places - points) / forces.radius, np.linalg.norm(velocities, axis=2) / forces.radius


def test_stays_within_the_radius(take: tuple[np.ndarray, np.ndarray]) -> None:
    away = np.linalg.norm(take[0], axis=2)
    assert away.max() < 1.01


def test_neither_gains_nor_loses_energy(take: tuple[np.ndarray, np.ndarray]) -> None:
    """Root mean square speed of each minute, over all characters: within a tenth of that of all."""
    by_minute = np.sqrt(np.mean(take[1].reshape(MINUTES, -1) ** 2, axis=1))
    assert np.abs(by_minute / by_minute.mean() - 1).max() < 0.1


def test_never_freezes(take: tuple[np.ndarray, np.ndarray]) -> None:
    """No character is slower than a twentieth of the usual speed for half a second."""
    slow = take[1] < 0.05 * np.sqrt(np.mean(take[1] ** 2))
    run = np.lib.stride_tricks.sliding_window_view(slow, 12, axis=0).all(axis=-1)
    assert not run.any()


def test_goes_nowhere(take: tuple[np.ndarray, np.ndarray]) -> None:
    """The mean of the last five minutes is that of the first, up to the chance of finitely many wanderings."""
    halves = take[0].reshape(2, -1, *take[0].shape[1:]).mean(axis=1)
    assert np.sqrt(np.mean((halves[1] - halves[0]) ** 2)) < 0.15


def test_uses_its_room(take: tuple[np.ndarray, np.ndarray]) -> None:
    """In each minute every character leaves the half of its sphere that it is in."""
    minutes = take[0].reshape(MINUTES, -1, *take[0].shape[1:])
    assert np.ptp(minutes, axis=1).max(axis=-1).min() > 0.5


def test_characters_differ(take: tuple[np.ndarray, np.ndarray]) -> None:
    late = take[0][-24 * 60 :]
    correlation = np.corrcoef(late.reshape(len(late), -1)[:, ::3].T) - np.eye(late.shape[1])
    assert np.abs(correlation).max() < 0.8


def test_without_drag_it_circles_ever_faster(space: tuple[Density, MotionConstants, np.ndarray]) -> None:
    density, forces, points = space
    _, velocities = idle(density, replace(forces, drag=0.0), points[:6], 3 * 60 * 24)
    speed = np.sqrt(np.mean(velocities.reshape(6, -1) ** 2, axis=1))
    assert speed[-1] > 2 * speed[0]
