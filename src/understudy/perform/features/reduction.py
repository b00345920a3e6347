"""Features of one label as few numbers, by principal components of what is visible [Bailey 2016, sections 4.1 and 4.2].

    y = T^T W (f - m)        f = m + W^-1 T y                                                      [eq. 13]

with m the mean, W the influence of each feature on the mesh (`weights`) and T the first principal directions of the
scaled features. A feature without influence, or that the label never moves, has no inverse in W and keeps its mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit
from understudy.maths.jit import one_blas_thread
from understudy.perform.features.root_motion import KERNELS

MIN_VARIANCE_SHARE = 0.85  # of the variance: below, compressed animation visibly differs from its source
MIN_COMPONENTS = 3  # the dimensions of a latent space, which cannot exceed those of its data


@dataclass(frozen=True, eq=False)
class FeaturePca:
    """Mean (E,), scale (E,) and basis (E, D) with orthonormal columns; `explained` (D,) is the share of variance."""

    mean: Array
    scale: Array
    basis: Array
    explained: Array

    def __init__(self, mean: Any, scale: Any, basis: Any, explained: Any = None) -> None:
        mean = checks.array(mean, "mean of a reduction", ("E",))
        basis = checks.array(basis, "basis of a reduction", (len(mean), "D"))
        explained = np.zeros(basis.shape[1]) if explained is None else explained
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "scale", checks.array(scale, "scale of a reduction", (len(mean),)))
        object.__setattr__(self, "basis", basis)
        object.__setattr__(self, "explained", checks.array(explained, "variance explained", (basis.shape[1],)))

    @classmethod
    def fit(
        cls, features: Array, influence: Array | None = None, share: float = MIN_VARIANCE_SHARE, most: int | None = None
    ) -> FeaturePca:
        """Of features (N, E): the fewest components that explain `share` of the scaled variance, at least 3.

        `influence` (E,) scales the features, None leaves them as they are. `most` bounds the components; fewer than 3
        come only from features of lower rank. Signs are fixed: the largest entry of each direction is positive.
        """
        features = checks.array(features, "features", ("N", "E"))
        if not len(features):
            raise InvalidInput("there should be at least one frame to reduce, but there is none")
        if not 0 < share <= 1:
            raise InvalidInput(f"share should lie between 0 and 1, but is {share}")
        if most is not None and most < 1:
            raise InvalidInput(f"most should be at least 1, but is {most}")
        mean = features.mean(axis=0)
        scale = (
            np.ones(features.shape[1])
            if influence is None
            else np.abs(checks.array(influence, "influence", mean.shape))
        )
        moved = np.ptp(features, axis=0) > 0
        scale = np.where(moved, scale, 0.0)
        singular, directions = _singular_vectors((features - mean) * scale)
        rank = int((singular > max(features.shape) * np.finfo(float).eps * singular.max(initial=0.0)).sum())
        shares = np.cumsum(np.square(singular)) / max(float(np.square(singular).sum()), np.finfo(float).tiny)
        # 1e-12: a share of exactly 1 is reached by the whole rank, not missed by rounding
        enough = int(np.searchsorted(shares, share - 1e-12) + 1)
        count = min(max(enough, MIN_COMPONENTS), rank, rank if most is None else most)
        basis = directions[:, :count]
        largest = basis[np.abs(basis).argmax(axis=0), np.arange(count)] if count else np.zeros(0)
        return cls(mean, scale, basis * np.where(largest < 0, -1.0, 1.0), shares[:count])

    @property
    def dimensions(self) -> int:
        """D."""
        return int(self.basis.shape[1])

    def __repr__(self) -> str:
        return f"FeaturePca({len(self.mean)} features, {self.dimensions} dimensions)"

    def reduce(self, features: Array) -> Array:
        """(M, D) of features (M, E)."""
        return np.asarray((features - self.mean) @ self._projection)

    def restore(self, reduced: Array) -> Array:
        """(M, E) of reduced poses (M, D). A row does not depend on the others."""
        reduced = checks.array(reduced, "reduced poses", ("M", self.dimensions), finite=False)
        out = np.empty((len(reduced), len(self.mean)))
        jit.kernels(KERNELS).restore(reduced, self._back_projection, self.mean, out)
        return out

    @cached_property
    def _projection(self) -> Array:
        """(E, D) W T."""
        return self.scale[:, None] * self.basis

    @cached_property
    def _back_projection(self) -> Array:
        """(D, E) T^T W^-1, zero where W is."""
        return np.ascontiguousarray((self.basis / np.where(self.scale > 0, self.scale, np.inf)[:, None]).T)

    def arrays(self) -> dict[str, Array]:
        """For a file."""
        return {"mean": self.mean, "scale": self.scale, "basis": self.basis, "explained": self.explained}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> FeaturePca:
        """The reduction of arrays made by `arrays`; shapes are checked."""
        missing = {"mean", "scale", "basis", "explained"} - set(arrays)
        if missing:
            raise InvalidInput(f"a reduction should have the array {min(missing)!r}, but has not")
        return cls(arrays["mean"], arrays["scale"], arrays["basis"], arrays["explained"])


def _singular_vectors(values: Array) -> tuple[Array, Array]:
    """Singular values (k,), largest first, and right singular vectors (E, k) of values (N, E)."""
    # with several BLAS threads on busy cores this took 30 s instead of 0.6 s
    with one_blas_thread():
        _, singular, directions = np.linalg.svd(values, full_matrices=False)
    return singular, directions.T


def explained_variance(values: Array) -> Array:
    """(k,) the share v(d) of the variance of rows (F, C) that the first d = 1 ... k components explain.

    v(d) = sum of the first d variances / sum of all, the variances being the squared singular values of the rows less
    their mean. Rows that are all alike need no component, and get an empty array.
    """
    variances = np.square(np.linalg.svd(values - values.mean(axis=0), compute_uv=False))
    total = variances.sum()
    rounding = len(values) * np.finfo(np.float64).eps ** 2 * np.square(values).sum()
    if total <= rounding:
        return np.zeros(0)
    return np.asarray(np.cumsum(variances) / total)


def components_for(values: Array, share: float = MIN_VARIANCE_SHARE) -> int:
    """The fewest components that explain `share` of the variance of rows (F, C)."""
    explained = explained_variance(values)
    return int(np.searchsorted(explained, share - 1e-12) + 1) if len(explained) else 0
