"""The static mapping: source poses to target poses, fitted to the pairs [Yamane 2010, section 4].

Key poses are met almost exactly. The shared model has noise: pairs that contradict each other a little are averaged,
which predicts other poses better. An animator's key pose should still come out as it was posed. So the residual at
pair i, r_i, is added where the actor is near that pair's pose,

    z(y) += sum_i k(y, y_i) w_i,     k(y, y') = exp(-|y - y'|^2 / 2 s^2),     (K + RESIDUAL_RIDGE 1) w = r

with s about half of the usual distance from a pair to the nearest other: further away nothing changes. This is a
Gaussian process whose noise is correlated over s instead of white. Its price: passing by a key pose is a small jolt (a
lamp's jerk grows by four fifths).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from understudy.character.body.poses import squared_pose_distances
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.regression import GaussianProcess
from understudy.gp.shared_gplvm import SharedGPLVM
from understudy.transfer.pairs import PosePairs

WIDTH_DISTANCE_RATIO = 0.6  # s over that distance: narrower jolts more, wider mixes pairs that contradict each other
RESIDUAL_RIDGE = 0.02  # a pair is met to within a fiftieth of its residual
# Least white noise, over the variance of poses. Pairs of nine characters, left out in turn, are predicted within 5.45 %
# of the height with 0.001, 4.88 with 0.01, 4.83 with 0.02 and 5.02 with 0.05 (a plain Gaussian process: 5.25 to 5.27
# over the same range): animators contradict themselves a little. `PairResidual` restores what key poses lose by it.
MIN_NOISE_VARIANCE_RATIO = 2e-2
SHARED, REGRESSION = "shared GPLVM", "GP"  # names of methods
MIN_PAIRS_ALONE = 2
SELECTION_FOLDS = 5  # of the pairs, left out in turn to choose the method


@dataclass(frozen=True, eq=False)
class MappingResult:
    """The target's markers for F source poses, with the variance of each."""

    latent: Array  # (F, d)
    points: Array  # (F, Q, 3) target markers in the local frame, metres
    variance: Array  # (F,) of a coordinate of a marker, square metres


def check_points(local: Array, pairs: PosePairs) -> None:
    """Raise InvalidInput where points (F, P, 3) are not those of the actor of the pairs."""
    if local.shape[1:] != pairs.source.shape[1:]:
        raise InvalidInput(
            f"a motion to map should have the {pairs.source.shape[1]} points of the pairs' source, "
            f"but has {local.shape[1]}"
        )


class PoseMapping(Protocol):
    """The interface of the shared GPLVM and of every baseline: fitted to pairs, they map poses."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    def map(self, local: Array, continuity: float = 0.0) -> MappingResult:
        """The target's markers for source points (F, P, 3) in the local frame."""


@dataclass(frozen=True, eq=False)
class SharedMapping:
    """The shared GPLVM as a mapping."""

    model: SharedGPLVM
    pairs: PosePairs
    pair_residual: PairResidual | None = None  # added to the model's prediction
    name: str = SHARED
    left_out: Mapping[str, float] = field(default_factory=dict)  # metres, by method; empty where none was tried

    def map(self, local: Array, continuity: float = 0.0) -> MappingResult:
        """The target's markers for source points (F, P, 3) in the local frame."""
        local = np.asarray(local, np.float64)
        check_points(local, self.pairs)
        return self.predict_markers(local, self.model.map(local.reshape(len(local), -1), continuity))

    def predict_markers(self, local: Array, latent: Array) -> MappingResult:
        """The target's markers at latent points (F, d) of source points (F, P, 3)."""
        mean, variance = self.model.predict(latent)
        points = mean.reshape(len(local), -1, 3)
        return MappingResult(
            latent, points if self.pair_residual is None else points + self.pair_residual.evaluate(local), variance
        )


@dataclass(frozen=True, eq=False)
class PairResidual:
    """The residual of a mapping at N pairs, interpolated near them."""

    source: Array  # (N, Dy)
    weights: Array  # (N, Q, 3) metres, w
    width: float  # square metres, s^2

    @classmethod
    def from_pairs(cls, source: Array, missing: Array) -> PairResidual:
        """From the source points (N, P, 3) of pairs and the residuals `missing` (N, Q, 3) there, metres."""
        flat = source.reshape(len(source), -1)
        width = residual_width(flat)
        near = np.exp(-0.5 * squared_pose_distances(flat, flat) / width) + RESIDUAL_RIDGE * np.eye(len(flat))
        return cls(flat, np.linalg.solve(near, missing.reshape(len(flat), -1)).reshape(missing.shape), width)

    def evaluate(self, local: Array) -> Array:
        """(F, Q, 3) metres to add for source points (F, P, 3)."""
        squares = squared_pose_distances(np.asarray(local).reshape(len(local), -1), self.source)
        near = np.exp(-0.5 * squares / self.width)
        return (near @ self.weights.reshape(len(self.weights), -1)).reshape(len(near), *self.weights.shape[1:])


def residual_width(flat: Array) -> float:
    """s^2 for poses (N, Dy), in their units squared."""
    squares = squared_pose_distances(flat, flat)
    apart = np.where(np.eye(len(flat), dtype=bool), np.inf, squares).min(axis=1)
    return max(WIDTH_DISTANCE_RATIO**2 * float(np.median(apart)), 1e-12)


@dataclass(frozen=True, eq=False)
class RegressionMapping:
    """A Gaussian process from the source's points to the target's markers, without a latent space."""

    model: GaussianProcess
    pairs: PosePairs
    name: str = REGRESSION
    left_out: Mapping[str, float] = field(default_factory=dict)

    def map(self, local: Array, continuity: float = 0.0) -> MappingResult:
        """The target's markers for source points (F, P, 3) in the local frame."""
        check_points(local, self.pairs)
        mean, variance = self.model.predict(np.asarray(local, np.float64).reshape(len(local), -1))
        return MappingResult(np.zeros((len(mean), 0)), mean.reshape(len(mean), -1, 3), variance)


def fit_mapping(
    pairs: PosePairs, *, dimension: int | str = 30, iterations: int = 70, seed: int = 0, method: str | None = None
) -> SharedMapping | RegressionMapping:
    """Fit a mapping to the pairs: the shared GPLVM or a Gaussian process, whichever predicts left-out pairs better.

    `dimension` is that of the latent space, or "auto"; `method` is the name of one of the two, to fit that one.
    """
    if len(pairs) < MIN_PAIRS_ALONE:
        raise InvalidInput(
            f"without bones in common, transfer learns from pose pairs alone and needs at least {MIN_PAIRS_ALONE}, "
            "but there is one"
        )
    settings: dict[str, Any] = {"dimension": dimension, "iterations": iterations, "seed": seed}
    errors = left_out_errors(pairs, **settings) if method is None else {}
    if (method or min(errors, key=errors.__getitem__)) == REGRESSION:
        return replace(fit_regression(pairs), left_out=errors)
    return replace(fit_gplvm(pairs, **settings), left_out=errors)


def left_out_errors(pairs: PosePairs, **settings: Any) -> dict[str, float]:
    """Metres that the markers of a left-out pair are missed by, by method; every pair is left out once."""
    predicted = fit_regression(pairs).model.predictions_.reshape(pairs.target.shape)
    errors = {REGRESSION: pair_error(predicted, pairs.target)}
    folds = min(SELECTION_FOLDS, len(pairs) // 2)
    if folds < 2:
        return errors
    order = np.random.default_rng(int(settings.get("seed", 0))).permutation(len(pairs))
    missed = []
    for fold in range(folds):
        out = np.sort(order[fold::folds])
        kept = np.setdiff1d(np.arange(len(pairs)), out)
        # The regression is judged by the same folds: with fewer pairs both predict less well.
        subset = pairs.subset(kept.tolist())
        methods = (fit_gplvm(subset, **settings), fit_regression(subset))
        missed.append(
            [pair_error(each.map(pairs.source[out]).points, pairs.target[out]) * len(out) for each in methods]
        )
    shared, regression = np.sum(missed, axis=0) / len(pairs)
    return {SHARED: float(shared) * errors[REGRESSION] / max(float(regression), 1e-12), **errors}


def pair_error(points: Array, targets: Array) -> float:
    """Metres, the mean distance of markers (n, Q, 3) from those of the poses that were made."""
    return float(np.linalg.norm(points - targets, axis=-1).mean())


def fit_regression(pairs: PosePairs) -> RegressionMapping:
    """Fit a Gaussian process to the pairs."""
    Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
    return RegressionMapping(GaussianProcess().fit(Y, Z), pairs)


def fit_gplvm(pairs: PosePairs, *, dimension: int | str = 30, iterations: int = 70, seed: int = 0) -> SharedMapping:
    """Fit the shared GPLVM to the pairs; `dimension` of its latent space, or "auto"."""
    Y, Z = pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1)
    model = SharedGPLVM(dimension=dimension, iterations=iterations, seed=seed, noise=MIN_NOISE_VARIANCE_RATIO).fit(Y, Z)
    bare = SharedMapping(model, pairs)
    return SharedMapping(
        model, pairs, PairResidual.from_pairs(pairs.source, pairs.target - bare.map(pairs.source).points)
    )
