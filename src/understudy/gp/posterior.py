"""The latents of poses that were not trained on, and how far they can be trusted.

The point is that of eq. 15 in Bailey 2016: the one whose mean is nearest, from the training frames that are nearest
among all. Around it the posterior is about Gaussian (Laplace's approximation, with Gauss and Newton's Hessian):

    covariance = ( J^T J / s^2 + 1 / spread^2 )^-1,   s^2 = max( scale^2 sigma^2(x), |y - mean(x)|^2 / D )

with J the Jacobian of the mean, sigma^2 the model's own variance there, and spread^2 the mean square of the latents:
what is known without seeing a pose. Where what is left of the pose is larger than the model owns up to, the pose is
unlike any of the training, and s^2 says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.gp.kernel import squared_distances
from understudy.gp.mapping import Mapping

STARTS = 4
"""Training frames to search from: nearest poses may lie on two sides of a fold of the latent space, rarely on three."""
BLOCK = 1024  # poses at once: 40 MB of distances to 5,000 frames


def latents_of(mapping: Mapping, latents: Array, Y: ArrayLike) -> tuple[Array, Array]:
    """(M, Q) latents of poses Y (M, D) and their standard deviations (M, Q), given the training latents (N, Q)."""
    poses = checks.array(Y, "Y", ("M", mapping.outputs))
    known = mapping.mean(latents)
    starts = np.empty((len(poses), min(STARTS, len(latents)), mapping.dimensions))
    for first in range(0, len(poses), BLOCK):
        block = slice(first, first + BLOCK)
        distance = squared_distances(poses[block], known)
        starts[block] = latents[np.argsort(distance, axis=1, kind="stable")[:, : starts.shape[1]]]
    found, error = mapping.find(poses, starts)
    jacobian = mapping.mean_and_jacobian(found)[1]
    s = np.maximum(mapping.scale**2 * mapping.variance(found), error / mapping.outputs)
    precision = np.einsum("mdq,mdp->mqp", jacobian, jacobian) / s[:, None, None]
    precision += np.eye(mapping.dimensions) / np.mean(np.square(latents))
    deviation = np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))
    return found, deviation
