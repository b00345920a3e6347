"""The labels of a model, ready to be performed, and the range of poses that may be shown.

**Runtimes.** Each label takes a quarter of a second to prepare, so it is made on first use: a character can begin to
act in one while the others are being made.

**Pose range.** What is shown stays nearly within the range of the clips. A blend keeps the velocity of the motion that
it leaves, which carries an arm beyond all that it does in either motion, and between its training frames a pose space
may guess such poses as well. So a feature that is beyond the clips' own range by e is shown beyond it by

    e / sqrt(1 + (e / m)^2),

which is never more than m, a fixed share of that range. Within the range nothing changes, so a clip is played as it is;
just beyond it hardly anything does, so a swing ends softly.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.checks import Array
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import PoseSpace
from understudy.perform.runtime import latent_path
from understudy.perform.runtime.forces import Density, MotionConstants, prepare_density

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
        return cls(space, density, MotionConstants.from_latents(density, space.latents, segments, times))

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
