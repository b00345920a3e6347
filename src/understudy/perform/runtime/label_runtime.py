"""The labels of a model, ready to be performed, and the range of poses that may be shown.

**Runtimes.** Each label takes a quarter of a second to prepare, so it is made on first use: a character can begin to
act in one while the others are being made.

**Pose range.** What is shown stays nearly within the range of the clips. A blend keeps the velocity of the motion that
it leaves, which carries an arm beyond all that it does in either motion, and between its training frames a pose space
may guess such poses as well. So a feature that is beyond the clips' own range by e is shown beyond it by

    e / sqrt(1 + (e / m)^2),

which is never more than m, a fixed share of that range. Within the range nothing changes, so a clip is played as it is;
just beyond it hardly anything does, so a swing ends softly.

**Idles.** At liveliness 1 a hover is as fast as the clips are while they are calm: the mean speed of the surface is
that of the slowest quarter of the label's frames. How strong a random force does that depends on the space, so the
`idle_gain` of each label is found when it is learned, by a secant search over hovers near home, measured on the mesh.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.maths.jit import map_in_threads
from understudy.perform.behaviours import HOVER
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import PoseSpace
from understudy.perform.runtime import latent_path, particle
from understudy.perform.runtime.forces import Density, MotionConstants, prepare_density

CALM_SHARE = 0.25  # of a label's frames, the slowest, that an idle is as fast as
MIN_IDLE_GAIN, MAX_IDLE_GAIN = 0.25, 8.0
MAX_HOVER_RADIUS_LENGTHS = 1.5  # of the kernel: further away it is another pose
MAX_HOVER_SPREAD_RATIO = 0.5  # of the spread of the label's latents: further away there may be no pose
IDLE_GAIN_TOLERANCE = 0.03  # of the speed
MAX_GAIN_STEPS = 6
TRIAL_STREAMS, TRIAL_SECONDS = 12, 8.0  # hovers that are tried: their mean speed is then known to a tenth
TRIAL_STEP_SECONDS = 0.5  # between two measured steps: neighbours tell the same
TRIAL_SEED = 5
MAX_TRIAL_POINTS = 1000  # of the mesh
ROWS_PER_BLOCK = 64  # evaluated at once: 17 MB for a mesh of 22,000 vertices
HOVER_ONSET_SECONDS = 0.5  # in which the force of a hover rises to its gain, after a path
OVERSHOOT_RANGE_RATIO = 0.15  # m over a feature's range: less looks like a blow, more like a broken joint


@dataclass(frozen=True, eq=False)
class LabelRuntime:
    """One label, ready to be performed: its space, the forces in it, its graph and its pace."""

    space: PoseSpace
    density: Density
    forces: MotionConstants

    @classmethod
    def from_space(cls, space: PoseSpace) -> LabelRuntime:
        """The runtime of a space, with constants from its training frames."""
        density = prepare_density(space.mapping)
        segments = np.repeat(np.arange(len(space.segments)), [len(s) for s in space.segments])
        times = np.concatenate([np.arange(len(s)) / space.rate for s in space.segments])
        forces = MotionConstants.from_latents(density, space.latents, segments, times)
        return cls(space, density, replace(forces, a=forces.a * space.idle_gain))

    @cached_property
    def hover_radius(self) -> float:
        """The default radius of a hover: a faster one goes further, or it would be nervous."""
        offsets = self.space.latents - self.space.latents.mean(axis=0)
        spread = float(np.sqrt(np.mean(np.sum(offsets**2, axis=1))))
        room = min(MAX_HOVER_RADIUS_LENGTHS * self.density.length, MAX_HOVER_SPREAD_RATIO * spread)
        radius = self.forces.radius
        return max(radius, min(room, radius * self.space.idle_gain))

    def hover_gain(self, seconds: float) -> float:
        """Gain of the random force of a hover that began some seconds ago."""
        return 1.0 + (self.space.idle_gain - 1.0) * min(seconds / HOVER_ONSET_SECONDS, 1.0)

    @cached_property
    def graph(self) -> latent_path.LatentGraph:
        """The graph of the training frames, for paths."""
        return latent_path.LatentGraph(self.space.latents)

    def limit_velocity(self, velocity: Array) -> Array:
        """A latent velocity (Q,), limited to half the clips' pace; the blend takes the rest."""
        speed, most = float(np.linalg.norm(velocity)), 0.5 * self.forces.speed
        return velocity if speed <= most else velocity * (most / speed)

    @cached_property
    def flow(self) -> Array:
        """(N, Q) latent velocities of the training frames, per second."""
        space = self.space
        return np.concatenate(
            [np.gradient(space.latents[s.start : s.stop], 1 / space.rate, axis=0) for s in space.segments]
        )

    def progress(self, x: Array, velocity: Array) -> Array:
        """(M,) playing speed of the clips near latents (M, Q) with a velocity (M, Q): 1 as recorded, 0 at rest.

        The travel of the training frames belongs to their motion: a walk that is held in mid-step must not glide on.
        """
        near = np.square(x[:, None] - self.space.latents).sum(axis=-1) / np.square(self.space.mapping.kernel.length)
        weights = np.exp(-2 * (near - near.min(axis=1, keepdims=True)))
        along = np.einsum("mq,nq->mn", velocity, self.flow)  # not a matrix product, whose sums depend on M
        ahead = along / (np.square(self.flow).sum(axis=1) + np.square(0.1 * self.forces.speed))
        return np.clip((weights * ahead).sum(axis=1) / weights.sum(axis=1), -1.0, 1.5)

    @property
    def home(self) -> Array:
        """(Q,) the latent of the label's most typical frame."""
        latent: Array = self.space.latents[self.space.home]
        return latent


def calibrate_idles(model: PerformanceModel, rig: PosedRig, workers: int | None = None) -> PerformanceModel:
    """The model with the idle gain of each label in which a character hovers."""
    hovering = [label for label in model.labels if model.label_behaviour(label)[1].kind == HOVER]

    def calibrate(label: str, progress: object) -> PoseSpace:
        space = model.spaces[label]
        return replace(space, idle_gain=find_idle_gain(space, model.encoder, rig))

    spaces = dict(zip(hovering, map_in_threads(calibrate, hovering, workers)))
    return replace(model, spaces={**model.spaces, **spaces})


def find_idle_gain(space: PoseSpace, encoder: PoseEncoder, rig: PosedRig) -> float:
    """The gain at which a hover near home moves the surface as fast as the calm quarter of the label's clips."""
    from understudy.perform.features.weights import points_of

    points = points_of(rig)
    stride = -(-points(rig.rest[None]).shape[1] // MAX_TRIAL_POINTS)

    def places(features: Array) -> Array:
        rows = encoder.place(features, np.zeros((len(features), 3)))
        blocks = range(0, len(rows), ROWS_PER_BLOCK)
        return np.concatenate([points(rows[i : i + ROWS_PER_BLOCK])[:, ::stride] for i in blocks]).astype(np.float64)

    def speeds(steps: Array) -> Array:
        return np.sqrt(np.square(steps).sum(axis=-1).mean(axis=-1)) * space.rate

    every = [speeds(np.diff(places(space.features[s.start : s.stop]), axis=0)) for s in space.segments]
    wanted = calm_speed(np.concatenate(every))
    base = LabelRuntime.from_space(replace(space, idle_gain=1.0))

    def hover_speed(gain: float) -> float:
        before, after = (places(features) for features in hover_steps(base, gain))
        return float(speeds(after - before).mean())

    gain, speed = 1.0, hover_speed(1.0)
    slope = 1.0  # of log speed over log gain
    for _ in range(MAX_GAIN_STEPS):
        if wanted <= 0 or speed <= 0 or abs(np.log(wanted / speed)) < IDLE_GAIN_TOLERANCE:
            break
        before = gain, speed
        gain = float(np.clip(gain * (wanted / speed) ** (1 / slope), MIN_IDLE_GAIN, MAX_IDLE_GAIN))
        if gain == before[0]:
            break
        speed = hover_speed(gain)
        slope = float(np.clip(np.log(speed / before[1]) / np.log(gain / before[0]), 0.25, 2.0))
    return gain


def calm_speed(speeds: Array) -> float:
    """The mean of the slowest quarter of speeds (N,)."""
    return float(np.sort(speeds)[: max(1, round(CALM_SHARE * len(speeds)))].mean())


def hover_steps(runtime: LabelRuntime, gain: float) -> tuple[Array, Array]:
    """Features (K, E) before and after single frames of hovers near home with a gain, as the performer moves them."""
    space, dt = replace(runtime.space, idle_gain=gain), 1 / runtime.space.rate
    runtime = replace(runtime, space=space, forces=replace(runtime.forces, a=runtime.forces.a * gain))
    forces, dimensions = runtime.forces, space.latents.shape[1]
    home = np.tile(runtime.home, (TRIAL_STREAMS, 1))
    x, velocity, radius = home, np.zeros_like(home), np.full(len(home), runtime.hover_radius)
    step = max(2, round(TRIAL_STEP_SECONDS * space.rate))
    before, after = [], []
    for frame in range(round(TRIAL_SECONDS * space.rate)):
        random = particle.random_forces(TRIAL_SEED, np.arange(len(home)), frame, dt, forces, dimensions)
        random *= runtime.hover_gain(frame * dt)
        last = x
        x, velocity = particle.step(runtime.density, forces, x, velocity, home, home, radius, random, dt)
        if frame > step and frame % step == 0:
            before.append(last)
            after.append(x)
    return space.features_of(np.concatenate(before)), space.features_of(np.concatenate(after))


class LabelRuntimes(Mapping[str, LabelRuntime]):
    """The runtimes of all labels, each made once on first use; safe from several threads."""

    def __init__(self, spaces: Mapping[str, PoseSpace]) -> None:
        self._spaces = dict(spaces)
        self._runtimes: dict[str, LabelRuntime] = {}
        self._lock = threading.Lock()

    def __getitem__(self, label: str) -> LabelRuntime:
        runtime = self._runtimes.get(label)
        if runtime is None:
            with self._lock:
                runtime = self._runtimes.get(label) or LabelRuntime.from_space(self._spaces[label])
                self._runtimes[label] = runtime
        return runtime

    def __iter__(self) -> Iterator[str]:
        return iter(self._spaces)

    def __len__(self) -> int:
        return len(self._spaces)


@dataclass(frozen=True, eq=False)
class PoseRange:
    """The least and greatest value of every feature in the clips, and how far beyond it may be shown."""

    low: Array  # (E,)
    high: Array  # (E,)
    beyond: Array  # (E,)

    @classmethod
    def from_model(cls, model: PerformanceModel) -> PoseRange:
        """The range of all clips of a model."""
        low = np.min([space.features.min(axis=0) for space in model.spaces.values()], axis=0).astype(float)
        high = np.max([space.features.max(axis=0) for space in model.spaces.values()], axis=0).astype(float)
        return cls(low, high, np.maximum(OVERSHOOT_RANGE_RATIO * (high - low), 1e-9))

    def soft_clamp(self, features: Array) -> Array:
        """(M, E) features, softly clamped to the range."""
        nearest = np.minimum(np.maximum(features, self.low), self.high)
        e = features - nearest
        return np.asarray(nearest + e / np.sqrt(1 + (e / self.beyond) ** 2)) if e.any() else features
