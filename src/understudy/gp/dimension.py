"""How many dimensions the latent space should have, told by pairs that were left out [Yamane 2010, section 6.2].

The paper looks at the error of the pairs themselves, which stops falling at 15, and at how jerky the latent path of a
motion is, which takes 30. Both are here; what is chosen by is a third, the error of pairs that were left out of
learning, a fifth of them at a time: it also rises again where a model has more room than the pairs can fill.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array

DIMENSIONS = (2, 3, 5, 8, 12, 15, 20, 30)
FOLDS = 5
ENOUGH = 1.02  # of the least error: fewer dimensions that come as near are taken


@dataclass(frozen=True)
class Row:
    """One dimension tried: root mean square errors of a coordinate of z, in its unit, and the roughness of a path."""

    dimension: int
    shown: float  # of the pairs that were learned from
    left_out: float  # of pairs that were not
    roughness: float | None = None  # of the latent path of a motion; see `roughness`


def chosen(Y: Array, Z: Array, iterations: int, seed: int, noise: float) -> tuple[int, tuple[Row, ...]]:
    """The dimension for pairs Y (N, Dy) and Z (N, Dz), and the curve that it was chosen by."""
    usable = [d for d in DIMENSIONS if d < len(Y)] or [1]
    curve = tuple(tried(Y, Z, d, iterations, seed, noise) for d in usable)
    least = min(row.left_out for row in curve)
    return next(row.dimension for row in curve if row.left_out <= ENOUGH * least), curve


def tried(
    Y: Array, Z: Array, dimension: int, iterations: int, seed: int, noise: float, motion: Array | None = None
) -> Row:
    """One row of the curve; `motion` (M, Dy) is a path to look at."""
    from understudy.gp.shared_gplvm import SharedGplvm

    def learned(rows: Array) -> SharedGplvm:
        return SharedGplvm(dimension, iterations, seed, noise).fit(Y[rows], Z[rows])

    everyone = np.arange(len(Y))
    order = np.random.default_rng(seed).permutation(len(Y))
    folds = min(FOLDS, len(Y) - 1) if len(Y) > 3 else 0
    square = 0.0
    for fold in range(folds):
        out = order[fold::folds]
        square += _square(learned(np.setdiff1d(everyone, out)), Y[out], Z[out])
    model = learned(everyone)
    shown = float(np.sqrt(_square(model, Y, Z) / Z.size))
    left_out = float(np.sqrt(square / Z.size)) if folds else shown
    path = None if motion is None else roughness(model.map(motion))
    return Row(dimension, shown, left_out, path)


def roughness(latents: Array) -> float:
    """How jerky a path (M, d) is: the mean length of its second differences over that of its first."""
    first, second = np.diff(latents, axis=0), np.diff(latents, n=2, axis=0)
    length = float(np.linalg.norm(first, axis=1).mean()) if len(first) else 0.0
    return float(np.linalg.norm(second, axis=1).mean()) / length if length > 0 and len(second) else 0.0


def _square(model: object, Y: Array, Z: Array) -> float:
    from understudy.gp.shared_gplvm import SharedGplvm

    assert isinstance(model, SharedGplvm)
    return float(((model.predict(model.map(Y))[0] - Z) ** 2).sum())
