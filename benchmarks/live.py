"""A frame of live performance: particle, random force and pose, for one character and for crowds.

N = 400 training points, Q = 3, 20 reduced dimensions and 742 controls, of the order of the paper's. Two spaces: one as
rough as the dragon's (kernel length half the spread of the points, noise 1e-4), where hardly any point can be spared,
and one as smooth as a few slow clips. The pose is k(x) @ weights, then the basis of the controls. Beside each figure
the same in NumPy over all points. Then the whole performer, on the dragon's own labels, N = 530 to 680: everything but
layers, once with all idling at poses drawn from all labels, once with all on their way to another label. Times are
medians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from benchmarks.measure import Row, median_ms
from benchmarks.transitions import learned
from tests.reference import gp as gp_reference
from tests.reference import perform as reference

from understudy import cast
from understudy.character import rig
from understudy.checks import Array
from understudy.gp.covariance import Kernel
from understudy.gp.mapping import LatentMapping
from understudy.perform.commands import Transition
from understudy.perform.features.reduction import FeaturePca
from understudy.perform.runtime import forces, latent_path, particle
from understudy.perform.runtime.forces import SUBSTEPS_PER_FRAME, Density, MotionConstants, prepare_density
from understudy.perform.runtime.particle import step
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState

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
    yield from dragons(Performer(learned(), rig.rig_of(cast.load("dragon").character()), layers=False))


@dataclass(frozen=True, eq=False)
class Space:
    """A latent space with the map to controls."""

    mapping: LatentMapping
    segments: Array
    times: Array
    reduction: FeaturePca

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
        mapping = LatentMapping(points, kernel, weights, (precision + precision.T) / 2, 1.0)
        reduction = FeaturePca(np.zeros(CONTROLS), np.ones(CONTROLS), rng.normal(size=(CONTROLS, REDUCED)))
        return cls(mapping, np.repeat(np.arange(runs), len(t)), np.tile(t, runs), reduction)

    @cached_property
    def density(self) -> Density:
        return prepare_density(self.mapping)

    @cached_property
    def exact(self) -> Density:
        return forces.density_over(self.mapping, self.mapping.points, self.mapping.precision)

    @cached_property
    def forces(self) -> MotionConstants:
        return MotionConstants.from_latents(self.density, self.mapping.points, self.segments, self.times)


def frame(space: Space, count: int, plain: bool = False) -> Callable[[], Array]:
    """A call that performs the next frame of `count` idling characters, in compiled code or in NumPy alone."""
    forces = space.forces
    path = space.mapping.points[np.random.default_rng(1).integers(0, POINTS, count)]
    state = [path, np.zeros_like(path)]
    radius, streams, number = np.full(count, forces.radius), np.arange(count), iter(range(10**9))
    key, mapping = np.zeros(2, np.uint64), space.mapping

    def pose() -> Array:
        random = particle.random_forces(0, streams, next(number), 1 / RATE, forces, 3)
        state[:] = step(space.density, forces, *state, path, path, radius, random, 1 / RATE)
        return space.reduction.restore(mapping.mean(state[0]))

    def pose_slowly() -> Array:
        moments = next(number) + np.arange(2 * SUBSTEPS_PER_FRAME + 1) / (2 * SUBSTEPS_PER_FRAME)
        places = np.tile(moments / RATE * particle.GRID_STEPS_PER_SMOOTHNESS / forces.smoothness, (count, 1))
        random = forces.amplitude * reference.random_forces(key, streams.astype(np.uint64), places, 3)
        state[:] = reference.step(space.exact, forces, *state, path, path, radius, random, 1 / RATE)
        reduced = gp_reference.cross_covariance(mapping.kernel, state[0], mapping.points) @ mapping.weights
        return np.asarray(reduced @ space.reduction.basis.T)

    return pose_slowly if plain else pose


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
    drawn = median_ms(lambda: particle.random_forces(0, streams, 7, 1 / RATE, space.forces, 3), 300)
    yield Row("random force, 1 character", 1e3 * drawn, "us", "asked for: 20 us", 0.02 / drawn, 1.0)
    points = space.mapping.points
    graph = latent_path.LatentGraph(points)
    searched = median_ms(lambda: graph.path(points[0], points[-1]), 30)
    yield Row("graph path through 400 points", searched, "ms", "asked for: 1 ms", 1 / searched, 1.0)
    prepares = median_ms(lambda: prepare_density(space.mapping), 3)
    yield Row("preparing a space", prepares, "ms", "", None, None)


def dragons(performer: Performer) -> Iterator[Row]:
    """The whole of a frame, from states to rows of the rig."""
    alone = median_ms(stepped(performer, crowd(performer, 1)), 300)
    yield Row("1 dragon, a frame", alone, "ms", "asked for: 1 ms", ASKED_MS / alone, 1.0)
    idling = crowd(performer, ASKED_CROWD)
    on_the_way = performer.step_all(idling, [Transition(elsewhere(performer, state)) for state in idling])[0]
    for what, states in (("idle", idling), ("on their way", on_the_way)):
        together = median_ms(stepped(performer, states), 24)
        live = ASKED_CROWD * 1000 / RATE / together
        yield Row(f"{ASKED_CROWD} dragons, {what}, a frame", together, "ms", "", None, None)
        name = f"dragons at 24 fps, {what}"
        yield Row(name, live, "n", "asked for: 400 on 2 cores", live / ASKED_CROWD, 1.0)


def crowd(performer: Performer, count: int) -> list[PerformerState]:
    """Characters at poses from everywhere in the clips of all labels."""
    rng, spaces = np.random.default_rng(2), list(performer.model.spaces.values())
    states = []
    for number in range(count):
        space = spaces[number % len(spaces)]
        segment = space.segments[rng.integers(len(space.segments))]
        seconds = rng.uniform(0, (len(segment) - 1) / space.rate)
        states.append(performer.init(space.label, f"{segment.clip}@{seconds:.2f}", seed=number))
    return states


def elsewhere(performer: Performer, state: PerformerState) -> str:
    """The label after the state's own."""
    labels = performer.model.labels
    return labels[(labels.index(state.label) + 1) % len(labels)]


def stepped(performer: Performer, states: Sequence[PerformerState]) -> Callable[[], Array]:
    """A call that performs the next frame of a crowd."""
    now = [states]

    def frame() -> Array:
        now[0], rows = performer.step_all(now[0])
        return rows

    return frame
