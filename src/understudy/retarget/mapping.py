"""The static mapping: source poses to target poses, learned from the pairs [Yamane 2010, section 4]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.shared_gplvm import SharedGplvm, squares_between
from understudy.retarget.key_bumps import KeyBumps
from understudy.retarget.pairs import Pairs

REST_NOISE = 0.02  # a pair comes back to within a fiftieth of what the model leaves of it

# Least white noise, of the variance of poses. Pairs of nine characters, left out in turn, are foretold within 5.45 % of
# the height with 0.001, 4.88 with 0.01, 4.83 with 0.02 and 5.02 with 0.05 (a plain Gaussian process: 5.25 to 5.27 over
# the same range): people do not pose without contradictions. What key poses lose by it, `key_bumps` puts back.
NOISE = 2e-2


@dataclass(frozen=True, eq=False)
class Mapped:
    """The target's markers for F source poses, and how sure the mapping is of each."""

    latent: Array  # (F, d)
    points: Array  # (F, Q, 3) target markers in the local frame, metres
    variance: Array  # (F,) of a coordinate of a marker, square metres


class Mapping(Protocol):
    """What the shared GPLVM and every baseline are: learned from pairs, they map poses."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    def map(self, local: Array, continuity: float = 0.0) -> Mapped:
        """The target's markers for source points (F, P, 3) in the local frame."""


@dataclass(frozen=True, eq=False)
class SharedMapping:
    """The shared GPLVM as a mapping, and what it leaves of the pairs.

    A source pose of the pairs does not come back exactly where learning, which knew its target too, had put it. What is
    missing there, e_i = z_i - z(x(y_i)), is added to all others as they are like it:

        z(y) = z(x(y)) + sum_i k(y, y_i) w_i,      k(y, y') = exp(-|y - y'|^2 / (2 width)),   (K + REST_NOISE) w = e
    """

    model: SharedGplvm
    pairs: Pairs
    width: float  # square metres, the median of all |y_i - y_j|^2
    rest: Array  # (N, Dz) w
    name: str = "shared GPLVM"

    @classmethod
    def of(cls, model: SharedGplvm, pairs: Pairs) -> SharedMapping:
        """Of a learned model and its pairs."""
        Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
        squares = squares_between(Y, Y)
        width = float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
        missing = Z - model.predict(model.map(Y))[0]
        near = np.exp(-0.5 * squares / width) + REST_NOISE * np.eye(len(Y))
        return cls(model, pairs, width, np.linalg.solve(near, missing))

    def map(self, local: Array, continuity: float = 0.0, before: Array | None = None) -> Mapped:
        """The target's markers for source points (F, P, 3) in the local frame.

        `before` (d,) is the latent point of the frame before, for a motion that arrives bit by bit.
        """
        local = np.asarray(local, np.float64)
        if local.shape[1:] != self.pairs.source.shape[1:]:
            raise InvalidInput(
                f"a motion to map should have the {self.pairs.source.shape[1]} points of the pairs' source, "
                f"but has {local.shape[1]}"
            )
        flat = local.reshape(len(local), -1)
        latent = self.model.map(flat, continuity, before=before)
        mean, variance = self.model.predict(latent)
        mean += (
            np.exp(-0.5 * squares_between(flat, self.pairs.source.reshape(len(self.pairs), -1)) / self.width)
            @ self.rest
        )
        return Mapped(latent, mean.reshape(len(local), -1, 3), variance)


def learn(pairs: Pairs, *, dimension: int | str = 30, iterations: int = 70, seed: int = 0) -> SharedMapping:
    """The shared GPLVM of the pairs; `dimension` of its latent space, or "auto"."""
    Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
    model = SharedGplvm(dimension=dimension, iterations=iterations, seed=seed, noise=NOISE).fit(Y, Z)
    return SharedMapping.of(model, pairs)
