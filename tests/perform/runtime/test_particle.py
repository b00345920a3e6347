"""One frame of a particle: the kernel and its oracle, the method's order, and a character's independence of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from tests.perform.small_space import latents, mapping
from tests.reference import perform as reference

from understudy.errors import InvalidInput
from understudy.perform.runtime import particle
from understudy.perform.runtime.forces import SUBSTEPS_PER_FRAME, Density, MotionConstants, prepare_density
from understudy.perform.runtime.particle import step

DT = 1 / 24


@pytest.fixture(scope="module")
def space() -> tuple[Density, MotionConstants, np.ndarray]:
    points, segments, times = latents()
    density = prepare_density(mapping(points))
    return density, MotionConstants.from_latents(density, points, segments, times), points


def moment(
    space: tuple[Density, MotionConstants, np.ndarray], count: int, substeps: int = SUBSTEPS_PER_FRAME, seed: int = 0
) -> list[Any]:
    """x, velocity, path, path_end, radius, random and dt of some characters in full motion."""
    _, forces, points = space
    rng = np.random.default_rng(seed)
    path = points[rng.integers(0, len(points), count)]
    radius = forces.radius * rng.uniform(0.5, 1.5, count)
    x = path + 0.5 * radius[:, None] * rng.normal(size=(count, 3))
    velocity = 0.3 * forces.speed * rng.normal(size=(count, 3))
    path_end = path + 0.5 * forces.speed * DT * rng.normal(size=(count, 3))
    random = particle.random_forces(seed, np.arange(count), 3, DT, forces, 3, substeps)
    return [x, velocity, path, path_end, radius, random, DT]


@pytest.fixture(scope="module")
def rough() -> tuple[Density, MotionConstants, np.ndarray]:
    """A space where most points are too far from each other to be heard."""
    points, segments, times = latents(runs=4, seconds=0.3)
    density = prepare_density(mapping(points, length=0.15))
    return density, MotionConstants.from_latents(density, points, segments, times), points


@pytest.mark.parametrize("substeps", [1, 2, 4])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_the_kernel_agrees_with_its_oracle(space: Any, rough: Any, count: int, substeps: int) -> None:
    for own in (space, rough):
        given = moment(own, count, substeps)
        for fast, slow in zip(step(*own[:2], *given, substeps), reference.step(*own[:2], *given, substeps)):
            np.testing.assert_allclose(fast, slow, rtol=1e-8, atol=1e-9)


def test_points_are_chosen_anew_where_a_particle_gets_away(rough: Any) -> None:
    """Within one frame it is thrown past points that it could not hear at first."""
    density, forces, points = rough
    given = moment(rough, 20)
    given[4] = np.full(20, 1e3)
    given[5] = given[5] + 3000.0 * density.length * np.sign(given[5][:, :1])
    x, velocity = step(density, forces, *given)
    assert np.linalg.norm(x - given[0], axis=1).min() > density.length
    heard = [np.linalg.norm(at[:, None] - points, axis=-1) < 5 * density.length for at in (given[0], x)]
    assert (heard[1] & ~heard[0]).any(axis=1).sum() > 5
    for fast, slow in zip((x, velocity), reference.step(density, forces, *given)):
        np.testing.assert_allclose(fast, slow, rtol=1e-8, atol=1e-9)


def test_where_no_point_is_heard_nothing_pushes(rough: Any) -> None:
    density, forces, points = rough
    x = points[:3] + 100.0
    still, silence = np.zeros_like(x), np.zeros((3, 2 * SUBSTEPS_PER_FRAME + 1, 3))
    assert np.array_equal(step(density, forces, x, still, x, x, np.ones(3), silence, DT)[0], x)


def test_nothing_that_is_given_is_changed(space: Any) -> None:
    given = moment(space, 3)
    before = [np.copy(array) for array in given]
    step(*space[:2], *given)
    assert all(np.array_equal(a, b) for a, b in zip(given, before))


def test_a_character_alone_is_the_same_to_the_last_bit(space: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = moment(space, 37)
    for shared in (1e12, 0.0):  # on one thread, and on all
        monkeypatch.setattr(particle, "MIN_PARALLEL_WORK", shared)
        for threads in (1, 2) if shared == 0 and numba.config.NUMBA_NUM_THREADS > 1 else (1,):
            numba.set_num_threads(threads)
            x, velocity = step(*space[:2], *given)
            numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
            for m in (0, 5, 8, 36):
                alone = step(*space[:2], *(array[m : m + 1] for array in given[:-1]), DT)
                assert np.array_equal(alone[0][0], x[m]) and np.array_equal(alone[1][0], velocity[m])


def test_a_frame_is_integrated_to_fourth_order(space: Any) -> None:
    """Within a sphere so wide that the constraint, which has a corner, says nothing."""
    density, forces, _ = space
    given = moment(space, 6, 32)
    given[4] = np.full(6, 1e3)
    errors = []
    best = reference.step(density, forces, *given, 32)[0]
    for substeps in (1, 2, 4):
        coarse = [*given[:5], given[5][:, :: 32 // substeps], DT]
        errors.append(np.linalg.norm(reference.step(density, forces, *coarse, substeps)[0] - best))
    assert errors[0] / errors[1] > 8 and errors[1] / errors[2] > 8


def test_the_substeps_are_enough(space: Any) -> None:
    """A frame of an idle is within a thousandth of its radius of the same frame at eight times the substeps."""
    density, forces, points = space
    x, velocity = points[::7].copy(), np.zeros((len(points[::7]), 3))
    radius = np.full(len(x), forces.radius)
    for frame in range(48):
        random = particle.random_forces(1, np.arange(len(x)), frame, DT, forces, 3, 8 * SUBSTEPS_PER_FRAME)
        best = step(density, forces, x, velocity, points[::7], points[::7], radius, random, DT, 8 * SUBSTEPS_PER_FRAME)
        own = step(density, forces, x, velocity, points[::7], points[::7], radius, random[:, ::8], DT)
        assert np.linalg.norm(best[0] - own[0], axis=1).max() < 1e-3 * forces.radius
        x, velocity = best


def test_without_forces_the_path_carries_a_particle_along(space: Any) -> None:
    """A particle at rest on a path follows it exactly, through every corner."""
    density, forces, points = space
    forces = replace(forces, a=0.0)
    places = points[:30]
    x, velocity = places[:1], (places[1:2] - places[:1]) / DT
    for k in range(29):
        before = places[k - 1 : k] if k else None
        silence = np.zeros((1, 2 * SUBSTEPS_PER_FRAME + 1, 3))
        x, velocity = step(
            density,
            forces,
            x,
            velocity,
            places[k : k + 1],
            places[k + 1 : k + 2],
            np.ones(1),
            silence,
            DT,
            before=before,
        )
        np.testing.assert_allclose(x[0], places[k + 1], atol=1e-9)


def test_a_new_path_takes_a_particle_as_it_comes(space: Any) -> None:
    """NaN for the place before means no corner, for that character alone."""
    given = moment(space, 2)
    before = given[2] - 0.01
    before[1] = np.nan
    plain, carried = step(*space[:2], *given), step(*space[:2], *given, SUBSTEPS_PER_FRAME, before)
    assert np.array_equal(plain[0][1], carried[0][1]) and not np.array_equal(plain[0][0], carried[0][0])


def test_the_push_is_towards_likely_places(space: Any) -> None:
    density, forces, points = space
    x = points[::5] + 0.5 * forces.radius
    still = np.zeros_like(x)
    silence = np.zeros((len(x), 2 * SUBSTEPS_PER_FRAME + 1, 3))
    after, _ = step(density, forces, x, still, x, x, np.full(len(x), 1e3), silence, DT)
    assert (density.log_density(after) >= density.log_density(x) - 1e-6).all()


def test_stillness_comes_to_rest(space: Any) -> None:
    """Without the random force a particle stops: no trembling on a ridge of the density."""
    density, forces, points = space
    x, velocity = points[::9].copy(), np.full((len(points[::9]), 3), 0.1)
    silence = np.zeros((len(x), 2 * SUBSTEPS_PER_FRAME + 1, 3))
    for _ in range(60 * 24):
        x, velocity = step(
            density, forces, x, velocity, points[::9], points[::9], np.full(len(x), forces.radius), silence, DT
        )
    assert np.linalg.norm(velocity, axis=1).max() < 0.02 * forces.radius


@pytest.mark.parametrize(("place", "name"), [(0, "x"), (1, "velocity"), (3, "path_end"), (4, "radius"), (5, "random")])
def test_shapes_that_do_not_fit_are_refused(space: Any, place: int, name: str) -> None:
    given = moment(space, 3)
    given[place] = given[place][..., :-1] if given[place].ndim > 1 else given[place][:-1]
    with pytest.raises(InvalidInput, match=f"^{name} should have shape"):
        step(*space[:2], *given)
