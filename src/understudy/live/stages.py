"""Stages: the labels of a model, ready to be performed.

Each takes a quarter of a second, so it is made when it is first asked for: a character can begin to act in one while
the others are being made.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.checks import Array
from understudy.live import path
from understudy.live.particle import Density, Forces, prepared
from understudy.posespace import PoseSpace


@dataclass(frozen=True, eq=False)
class Stage:
    """One label, ready to be performed: its space, the forces in it, its roads and its pace."""

    space: PoseSpace
    density: Density
    forces: Forces

    @classmethod
    def of(cls, space: PoseSpace) -> Stage:
        """Everything chosen from the training frames."""
        density = prepared(space.mapping)
        segments = np.repeat(np.arange(len(space.segments)), [len(s) for s in space.segments])
        times = np.concatenate([np.arange(len(s)) / space.rate for s in space.segments])
        return cls(space, density, Forces.of(density, space.latents, segments, times))

    @cached_property
    def graph(self) -> path.Graph:
        """The graph of the training frames, for paths."""
        return path.Graph(self.space.latents)

    def bounded(self, velocity: Array) -> Array:
        """A latent velocity (Q,), slowed down to half the clips' pace: what it lacks is left to the blend."""
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
        """(M,) how fast the clips near latents (M, Q) would play for them to move like this: 1 as they did, 0 at rest.

        The travel of the training frames belongs to their motion: a walk that is held in mid-step must not glide on.
        """
        near = np.square(x[:, None] - self.space.latents).sum(axis=-1) / np.square(self.space.mapping.kernel.length)
        weights = np.exp(-2 * (near - near.min(axis=1, keepdims=True)))
        along = np.einsum("mq,nq->mn", velocity, self.flow)  # the sums of a product of matrices change with M
        ahead = along / (np.square(self.flow).sum(axis=1) + np.square(0.1 * self.forces.speed))
        return np.clip((weights * ahead).sum(axis=1) / weights.sum(axis=1), -1.0, 1.5)

    @property
    def home(self) -> Array:
        """(Q,) the pose that shows the label best."""
        latent: Array = self.space.latents[self.space.home]
        return latent


class Stages(Mapping[str, Stage]):
    """The stages of all labels. Several threads may ask for them: each is made once."""

    def __init__(self, spaces: Mapping[str, PoseSpace]) -> None:
        self._spaces = dict(spaces)
        self._made: dict[str, Stage] = {}
        self._lock = threading.Lock()

    def __getitem__(self, label: str) -> Stage:
        made = self._made.get(label)
        if made is None:
            with self._lock:
                made = self._made.get(label) or Stage.of(self._spaces[label])
                self._made[label] = made
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._spaces)

    def __len__(self) -> int:
        return len(self._spaces)
