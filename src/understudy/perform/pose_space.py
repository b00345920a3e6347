"""Pose space: the poses of one label's clips, as a latent space of three dimensions.

The chain of [Bailey 2016, section 4], there and back:

    features --(mean, scale W, basis T)--> y --(GPLVM)--> latents x,        f(x) = m + W^-1 T y(x),  y(x) of eq. 8

The training frames stay with the space: paths follow their latents, and `play` shows their features unmodified.
"""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks, storage
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.mapping import LatentMapping
from understudy.perform.features.reduction import FeaturePca

SEARCH_STARTS = 4  # nearest training frames from which a pose is searched; more did not find better matches


@dataclass(frozen=True, slots=True)
class Segment:
    """The frames `start:stop` of a space come from one clip."""

    clip: str
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class PoseSpace:
    """One label: N training frames at `rate` frames a second, and the mapping from latents to features."""

    label: str
    reduction: FeaturePca
    mapping: LatentMapping
    latents: Array  # (N, Q)
    features: Array  # (N, E) float32, the training poses
    segments: tuple[Segment, ...]
    rate: float
    home: int = 0  # the most typical frame of the label
    idle_gain: float = 1.0  # of the random force while it hovers: the clips' calm quarter is as fast

    def __len__(self) -> int:
        return len(self.latents)

    def __repr__(self) -> str:
        return f"PoseSpace({self.label!r}, {len(self)} frames of {len(self.segments)} clips)"

    def features_of(self, x: Array) -> Array:
        """(M, E) the most likely pose at latents (M, Q)."""
        return self.reduction.restore(self.mapping.mean(x))

    def velocity_of(self, x: Array, velocity: Array) -> Array:
        """(M, E) the rate of the features where latents (M, Q) move with a velocity (M, Q)."""
        _, jacobian = self.mapping.mean_and_jacobian(x)
        rates = np.einsum("mdq,mq->md", jacobian, velocity)
        return self.reduction.restore(rates) - self.reduction.mean

    def latent_velocity_of(self, x: Array, velocity: Array) -> Array:
        """(Q,) the latent velocity at x (Q,) whose features change most nearly with `velocity` (E,).

        Damped least squares: a direction in which the pose hardly changes would else get any speed.
        """
        _, jacobian = self.mapping.mean_and_jacobian(x[None])
        wanted = self.reduction.reduce((self.reduction.mean + velocity)[None])[0]
        normal = jacobian[0].T @ jacobian[0]
        damping = 1e-2 * np.trace(normal) / len(normal) + np.finfo(float).tiny
        result: Array = np.linalg.solve(normal + damping * np.eye(len(normal)), jacobian[0].T @ wanted)
        return result

    def latent_of(self, features: Array, near: Array | None = None) -> tuple[Array, Array]:
        """Latents (M, Q) whose poses are most like the features (M, E), and the squared errors (M,) [eqs. 13 to 15].

        The search starts at the training frames with the nearest poses, or at `near` (M, S, Q).
        """
        y = self.reduction.reduce(features)
        if near is None:
            nearest = np.argsort(self._distances(y), axis=1, kind="stable")[:, :SEARCH_STARTS]
            near = self.latents[nearest]
        return self.mapping.find(y, near)

    def _distances(self, y: Array) -> Array:
        """(M, N) squared distances between reduced poses and the reconstructed training frames."""
        known = self.reconstruction
        return np.square(y).sum(axis=1)[:, None] + np.square(known).sum(axis=1) - 2 * y @ known.T

    @cached_property
    def reconstruction(self) -> Array:
        """(N, D) the reduced poses at the training frames' latents."""
        return self.mapping.mean(self.latents)

    def segment(self, clip: str) -> Segment | None:
        """The segment of a clip, None where it is of another label."""
        return next((segment for segment in self.segments if segment.clip == clip), None)

    def latent_at(self, segment: Segment, seconds: float) -> Array:
        """(Q,) the latent of a segment `seconds` after its first frame; `InvalidInput` outside the clip."""
        frame = seconds * self.rate
        # half a frame beyond either end is a rounded number, not a mistake
        if not -0.5 <= frame <= len(segment) - 0.5:
            end = (len(segment) - 1) / self.rate
            raise InvalidInput(f"clip {segment.clip!r} lasts {end:g} s, but its pose at {seconds:g} s is asked for")
        latents = self.latents[segment.start : segment.stop]
        return np.array([np.interp(frame, np.arange(len(latents)), column) for column in latents.T])

    @cached_property
    def speeds(self) -> Array:
        """(N - S,) latent speeds, per second, between neighbouring frames of the clips."""
        steps = [np.diff(self.latents[s.start : s.stop], axis=0) for s in self.segments]
        return np.asarray(np.linalg.norm(np.concatenate(steps), axis=1) * self.rate)

    def parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """The space for a file: a header of plain values, and arrays, in the precision that a file keeps."""
        header = {
            "label": self.label,
            "rate": self.rate,
            "home": self.home,
            "idle_gain": self.idle_gain,
            "segments": [[s.clip, s.start, s.stop] for s in self.segments],
        }
        arrays = {"latents": self.latents}
        arrays |= {f"features.{name}": array for name, array in storage.pack_frames(self.features).items()}
        arrays |= {f"reduction.{name}": array.astype(np.float32) for name, array in self.reduction.arrays().items()}
        arrays |= {f"mapping.{name}": array for name, array in self.mapping.arrays().items()}
        return header, arrays

    @classmethod
    def from_parts(cls, header: Dictionary[str, Any], arrays: Dictionary[str, Array]) -> PoseSpace:
        """The space of a header and arrays made by `parts`; checked, since they may come from a file."""

        def below(prefix: str) -> dict[str, Array]:
            return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}

        segments = tuple(Segment(str(clip), int(start), int(stop)) for clip, start, stop in header["segments"])
        latents = checks.array(arrays["latents"], "latents", ("N", "Q"))
        features = arrays["features"] if "features" in arrays else storage.unpack_frames(below("features."))
        ends = [0, *(segment.stop for segment in segments)]
        if [segment.start for segment in segments] != ends[:-1] or not ends[-1] == len(latents) == len(features):
            raise InvalidInput(f"the segments of label {header['label']!r} should cover its {len(latents)} frames")
        home = int(header["home"])
        if not 0 <= home < len(latents):
            raise InvalidInput(f"the home of label {header['label']!r} should be one of its frames, but is {home}")
        reduction = FeaturePca.from_arrays(below("reduction."))
        return cls(
            str(header["label"]),
            reduction,
            LatentMapping.from_arrays(below("mapping."), latents, reduction.reduce(features)),
            latents,
            features,
            segments,
            checks.positive(header["rate"], "rate"),
            home,
            checks.positive(header.get("idle_gain", 1.0), "idle gain"),  # files of version 0.1 have none
        )
