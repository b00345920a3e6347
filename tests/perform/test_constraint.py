"""The law of the path constraint: C(t) <= (C(0) + u(0) t) exp(-alpha t) under any bounded force, on any path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.perform.small_space import latents, mapping
from tests.reference import perform as reference

from understudy.perform.runtime import particle
from understudy.perform.runtime.forces import SUBSTEPS_PER_FRAME, MotionConstants, prepare_density

DT = 1 / 24
POINTS, SEGMENTS, TIMES = latents(runs=1, frames=12)
DENSITY = prepare_density(mapping(POINTS))
FORCES = MotionConstants.from_latents(DENSITY, POINTS, SEGMENTS, TIMES)
SAMPLES = 2 * SUBSTEPS_PER_FRAME + 1


def simulate(
    x: np.ndarray, velocity: np.ndarray, path: np.ndarray, radius: float, force: Any, forces: MotionConstants = FORCES
) -> np.ndarray:
    """(F + 1, Q) where one particle goes along a path (F + 1, Q), under force(frame) (2 substeps + 1, Q)."""
    places = [x]
    x, velocity = x[None], velocity[None]
    for k in range(len(path) - 1):
        before = path[k - 1][None] if k else None
        ends = path[k][None], path[k + 1][None]
        x, velocity = particle.step(
            DENSITY, forces, x, velocity, *ends, np.array([radius]), force(k)[None], DT, SUBSTEPS_PER_FRAME, before
        )
        places.append(x[0])
    return np.array(places)


def distances(places: np.ndarray, path: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places - path, axis=1)


def bounded_force(seed: int, size: float) -> Any:
    """A force that jumps to another value of up to `size` at every sample."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(400, SAMPLES, 3))
    drawn *= size / np.linalg.norm(drawn, axis=2, keepdims=True)
    return lambda frame: drawn[frame]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 2.0), st.floats(0, 100))
def test_never_leaves_the_sphere(seed: int, radius: float, size: float) -> None:
    """Forces up to a hundred times those of an idle, that jump all the time: what the steps add is below 2 %."""
    path = np.tile(POINTS[3], (97, 1))
    away = distances(simulate(POINTS[3], np.zeros(3), path, radius, bounded_force(seed, size * radius)), path)
    assert away.max() < 1.02 * radius


@pytest.mark.parametrize("direction", [*np.eye(3).tolist(), [0.6, -0.8, 0]])
def test_a_steady_push_holds_it_at_the_radius(direction: list[float]) -> None:
    """The check that found the sign of eq. 9: a pushed particle stays within 0.3 of a 0.3 radius."""
    path = np.tile(POINTS[3], (241, 1))
    push = np.tile(5 * np.array(direction), (SAMPLES, 1))
    away = distances(simulate(POINTS[3], np.zeros(3), path, 0.3, lambda _: push), path)
    assert away.max() < 0.301 and away[-1] > 0.29


def test_the_printed_sign_lets_it_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(g: np.ndarray, w: np.ndarray, f: np.ndarray, radius: np.ndarray, alpha: float, _: float) -> np.ndarray:
        gg, gw = np.sum(g * g, axis=1), np.sum(g * w, axis=1)
        bound = np.sum(w * w, axis=1) + 2 * alpha * gw + alpha**2 * (gg - radius**2) / 2
        return np.minimum(0, (-np.sum(g * f, axis=1) + bound) / np.maximum(gg, 1e-12))

    monkeypatch.setattr(reference, "constraint_multiplier", printed)
    monkeypatch.setattr(particle, "step", lambda *given: reference.step(*given[:-1]))  # the path has no corner
    path = np.tile(POINTS[3], (97, 1))
    push = np.tile(np.array([5.0, 0, 0]), (SAMPLES, 1))
    start = POINTS[3] + np.array([0.1, 0, 0])
    assert distances(simulate(start, np.zeros(3), path, 0.3, lambda _: push), path).max() > 0.6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 1.0), st.floats(0, 10))
def test_holds_on_a_path_that_turns_at_every_frame(seed: int, radius: float, speed: float) -> None:
    """A path that goes anywhere at up to 10 radii a second, under forces of ten times the radius."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(96, 3))
    steps *= speed * radius * DT / np.linalg.norm(steps, axis=1, keepdims=True)
    path = POINTS[3] + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    start = steps[0] / DT
    away = distances(simulate(path[0], start, path, radius, bounded_force(seed, 10 * radius)), path)
    assert away.max() < 1.01 * radius


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(1.1, 6.0))
def test_comes_back_from_outside(seed: int, times: float) -> None:
    """From rest outside: never further away than C(t) <= C(0) (1 + alpha t) exp(-alpha t), and home in a second."""
    rng, radius = np.random.default_rng(seed), 0.3
    direction = rng.normal(size=3)
    path = np.tile(POINTS[3], (49, 1))
    start = path[0] + times * radius * direction / np.linalg.norm(direction)
    away = distances(simulate(start, np.zeros(3), path, radius, bounded_force(seed, radius)), path)
    t, alpha = np.arange(49) * DT, FORCES.alpha
    excess, first = away**2 - radius**2, away[0] ** 2 - radius**2
    assert (excess <= first * (1 + alpha * t) * np.exp(-alpha * t) + 0.02 * away[0] ** 2).all()
    assert away[24:].max() < 1.01 * radius


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 3))
def test_a_fast_particle_is_caught(seed: int, speed: float) -> None:
    """Starting at the centre with up to three radii of alpha a second, it stays within the law's bound."""
    rng, radius = np.random.default_rng(seed), 0.3
    velocity = rng.normal(size=3)
    velocity *= speed * FORCES.alpha * radius / np.linalg.norm(velocity)
    path = np.tile(POINTS[3], (49, 1))
    free = replace(FORCES, drag=0.0)
    away = distances(simulate(path[0], velocity, path, radius, lambda _: np.zeros((SAMPLES, 3)), free), path)
    assert away.max() < (1.01 + 0.15 * speed) * radius and away[24:].max() < 1.01 * radius


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_the_multiplier_never_pushes_outward(seed: int) -> None:
    rng = np.random.default_rng(seed)
    g, w, f = rng.normal(size=(3, 20, 3)) * 10.0 ** rng.uniform(-6, 2, (3, 20, 1))
    radius = 10.0 ** rng.uniform(-3, 1, 20)
    assert (reference.constraint_multiplier(g, w, f, radius, 16.0, 1e3) <= 0).all()


def test_it_makes_the_law_an_equation_where_it_acts() -> None:
    """C'' + 2 alpha C' + alpha^2 C = 0 with the multiplier, and below zero without one."""
    rng = np.random.default_rng(0)
    g, w, f = rng.normal(size=(3, 200, 3))
    radius, alpha = np.full(200, 1.0), 3.0
    force = f + reference.constraint_multiplier(g, w, f, radius, alpha, np.inf)[:, None] * g

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.sum(a * b, axis=1)

    law = dot(w, w) + dot(g, force) + 2 * alpha * dot(g, w) + alpha**2 * (dot(g, g) - 1) / 2
    acts = reference.constraint_multiplier(g, w, f, radius, alpha, np.inf) < 0
    assert 20 < acts.sum() < 180
    np.testing.assert_allclose(law[acts], 0, atol=1e-9)
    assert (law[~acts] <= 1e-9).all()


def test_at_the_centre_nothing_happens() -> None:
    path = np.tile(POINTS[3], (25, 1))
    quiet = replace(FORCES, a=0.0)
    places = simulate(POINTS[3], np.zeros(3), path, 0.3, lambda _: np.zeros((SAMPLES, 3)), quiet)
    assert np.array_equal(places, path)
