"""Where the latent points of pairs begin: what two pose spaces have in common, by kernel CCA [Akaho 2001].

With centred kernel matrices A and B of the two spaces, of mean diagonal 1, canonical directions are sought among the
functions that each kernel can express, smoothed by kappa:

    S_A = A (A + kappa)^-1,   S_A^1/2 S_B^1/2 = U r V^T,   latents = (S_A^1/2 U + S_B^1/2 V) / 2

with r the canonical correlations. The directions come out equally long, which would put all pairs equally far from each
other; each is scaled by the share of the two spaces' variance that it explains, so that far poses stay far.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.gp.kernel import squared_distances

KAPPA = 0.1  # of the mean diagonal; from 0.01 to 1 the learned models are alike, as the search goes on from here


def kernel_cca(Y: Array, Z: Array, dimension: int) -> tuple[Array, Array]:
    """Latents (N, dimension) of centred pairs Y (N, Dy) and Z (N, Dz), and the canonical correlations (q,).

    There are at most q = N - 1 directions; further dimensions are zero. The first is of unit variance, about.
    """
    count = len(Y)
    a, b = _smoothing_root(Y), _smoothing_root(Z)
    u, correlations, vt = np.linalg.svd(a.T @ b)
    q = min(dimension, count - 1)
    both = 0.5 * (a @ u + b @ vt.T)[:, :q]
    directions = both / np.maximum(np.linalg.norm(both, axis=0), 1e-12)
    directions *= np.where((directions**3).sum(axis=0) < 0, -1.0, 1.0)  # the sign of an eigenvector is anyone's choice
    explained = sum((((data.T @ directions) ** 2).sum(axis=0) / max((data**2).sum(), 1e-300)) for data in (Y, Z))
    share = np.sqrt(explained / max(float(np.max(explained, initial=0.0)), 1e-300))
    latents = np.zeros((count, dimension))
    latents[:, :q] = directions * share * np.sqrt(count)
    return latents, correlations[:q]


def _smoothing_root(data: Array) -> Array:
    """A square root (N, N) of S = K (K + kappa)^-1, K the centred radial kernel of the data."""
    squares = squared_distances(data, data)
    between = squares[squares > 0]
    width = float(np.median(between)) if between.size else 1.0
    kernel = np.exp(-0.5 * squares / width)
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1, keepdims=True)
    kernel /= max(float(np.trace(kernel)) / len(data), 1e-12)
    values, vectors = np.linalg.eigh(kernel)
    values = np.maximum(values, 0.0)
    root: Array = vectors * np.sqrt(values / (values + KAPPA))
    return root
