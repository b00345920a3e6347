"""A frame of live performance: particle, random force and pose, for one character and for crowds.

N = 400 training points, Q = 3, 20 reduced dimensions and 742 controls, of the order of the paper's. Two spaces: one as
rough as the dragon's (kernel length half the spread of the points, noise 1e-4), where hardly any point can be spared,
and one as smooth as a few slow clips. The pose is k(x) @ weights, then the basis of the controls. Beside each figure
the same in NumPy over all points. Times are medians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from benchmarks.measure import Row, median_ms

from understudy.checks import Array
from understudy.gp import Kernel, Mapping
from understudy.live import density, noise, path
from understudy.live.particle import SUBSTEPS, Density, Forces, prepared, step, step_numpy

PEERS = False  # nothing here needs the peers' environment
POINTS, REDUCED, CONTROLS, RATE = 400, 20, 742, 24.0
ASKED_MS, ASKED_CROWD = 1.0, 400


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    for name, length, seconds in (("rough", 0.5, 0.3), ("smooth", 1.0, 1.0)):
        space = Space.drawn(length, seconds)
        yield Row(f"{name} space, points kept", len(space.density.points), "n", "of 400", None, None)
        yield Row(f"{name} space, change of log variance", space.density.error, "nats", "all points", None, None)
        yield from single(name, space)
        yield from crowds(name, space)
    yield from parts(space)


@dataclass(frozen=True, eq=False)
class Space:
    """A latent space with the map to controls."""

    mapping: Mapping
    segments: Array
    times: Array
    basis: Array

    @classmethod
    def drawn(cls, length: float, seconds: float, runs: int = 4) -> Space:
        """Runs of points of spread one that change direction within about `seconds`."""
        rng = np.random.default_rng(0)
        t = np.arange(POINTS // runs) / RATE
        covariance = np.exp(-0.5 * (t[:, None] - t) ** 2 / seconds**2) + 1e-9 * np.eye(len(t))
        points = np.concatenate([np.linalg.cholesky(covariance) @ rng.normal(size=(len(t), 3)) for _ in range(runs)])
        kernel = Kernel(1.0, length, 1e-4)
        precision = np.linalg.inv(kernel.matrix(points))
        weights = precision @ rng.normal(size=(POINTS, REDUCED))
        mapping = Mapping(points, kernel, weights, (precision + precision.T) / 2, 1.0)
        return cls(mapping, np.repeat(np.arange(runs), len(t)), np.tile(t, runs), rng.normal(size=(REDUCED, CONTROLS)))

    @cached_property
    def density(self) -> Density:
        return prepared(self.mapping)

    @cached_property
    def exact(self) -> Density:
        return density.over(self.mapping, self.mapping.points, self.mapping.precision)

    @cached_property
    def forces(self) -> Forces:
        return Forces.of(self.density, self.mapping.points, self.segments, self.times)


def frame(space: Space, count: int, plain: bool = False) -> Callable[[], Array]:
    """A call that performs the next frame of `count` idling characters, in compiled code or in NumPy alone."""
    forces = space.forces
    path = space.mapping.points[np.random.default_rng(1).integers(0, POINTS, count)]
    state = [path, np.zeros_like(path)]
    radius, streams, number = np.full(count, forces.radius), np.arange(count), iter(range(10**9))
    key = np.zeros(2, np.uint64)

    def pose() -> Array:
        now = next(number)
        if plain:
            places = (now + np.arange(2 * SUBSTEPS + 1) / (2 * SUBSTEPS)) / RATE * noise.STEPS / forces.smoothness
            drawn = noise.forces_numpy(key, streams.astype(np.uint64), np.tile(places, (count, 1)), 3)
            state[:] = step_numpy(
                space.exact, forces, *state, path, path, radius, forces.amplitude * drawn, 1 / RATE, SUBSTEPS
            )
        else:
            random = noise.random_forces(0, streams, now, 1 / RATE, forces, 3)
            state[:] = step(space.density, forces, *state, path, path, radius, random, 1 / RATE)
        return np.asarray(space.mapping.mean(state[0]) @ space.basis)

    return pose


def single(name: str, space: Space) -> Iterator[Row]:
    ours, plain = median_ms(frame(space, 1), 300), median_ms(frame(space, 1, plain=True), 60)
    label = f"{name} space, 1 character, a frame"
    yield Row(label, ours, "ms", "asked for: 1 ms", ASKED_MS / ours, 1.0)
    yield Row(label, ours, "ms", "NumPy", plain / ours, None)


def crowds(name: str, space: Space) -> Iterator[Row]:
    for count, rounds in ((100, 30), (1000, 8)):
        ours = median_ms(frame(space, count), rounds)
        plain = median_ms(frame(space, count, plain=True), 3)
        yield Row(f"{name} space, {count} characters, a frame", ours, "ms", "NumPy", plain / ours, None)
    live = 1000 / ours / RATE * 1000
    yield Row(f"{name} space, characters at 24 fps", live, "n", "asked for: 400 on 2 cores", live / ASKED_CROWD, 1.0)


def parts(space: Space) -> Iterator[Row]:
    """What else a frame or a command needs."""
    streams = np.arange(1)
    drawn = median_ms(lambda: noise.random_forces(0, streams, 7, 1 / RATE, space.forces, 3), 300)
    yield Row("random force, 1 character", 1e3 * drawn, "us", "asked for: 20 us", 0.02 / drawn, 1.0)
    points = space.mapping.points
    graph = path.Graph(points)
    searched = median_ms(lambda: graph.path(points[0], points[-1]), 30)
    yield Row("graph path through 400 points", searched, "ms", "asked for: 1 ms", 1 / searched, 1.0)
    prepares = median_ms(lambda: prepared(space.mapping), 3)
    yield Row("preparing a space", prepares, "ms", "", None, None)
