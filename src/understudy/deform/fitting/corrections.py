"""Corrections of a linear blend, their interpolation between examples, and ridge regression in groups.

Corrections are the differences of the examples from a linear blend, in the frames of the joints:

    v' = sum_k w_k M_k v + M_h d,        d_e = M_h^-1 (v_e - sum_k w_k M_k v)

M_h is the matrix of the vertex's strongest joint h, without its translation. The papers add the correction to the rest
position, before the blend, and so must undo the blend at the examples; where that has collapsed (a twist of 180
degrees, the very pose to be corrected) the corrections explode. In the frame of one joint they are as large as what
they correct (on the arm with bends and twists: a third of the error in poses held out).

Interpolation is kernel ridge regression on pose distances, with the rest pose known to need no correction:

    f(x) = sum_e a_e K(x, x_e),   K(x, y) = k(x, y) - k(x, 0) k(0, y) / k(0, 0),   a = (K + l 1)^-1 d

so that f is zero at rest whatever the ridge l. Width and ridge are those with the least error at examples left out,
for which there is a closed form: a_e / ((K + l 1)^-1)_ee.

Ridge regression in groups is least squares for vertices that hang on the same joints, with one factorisation a group
and one ridge for all:

    minimise  | A d - r |^2 + l N | d |^2     with  C d = 0

d are the changes from a known skin (the linear blend), r its residual at the examples, N the number of rows. The
vertices of a group share A and C, so that with a basis Z of C's null space and A Z = U S V' the answer for each ridge l
costs two products, and so does the exact error in rows that are held out:

    d = Z V (S / (S^2 + l N)) U' r,       e_out = (1 - H_out)^-1 (r - H r)_out,      H = U (S^2 / (S^2 + l N)) U'

where the rows held out are those of one pose (the exact form behind Golub, Heath and Wahba 1979, "Generalized
cross-validation as a method for choosing a good ridge parameter").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character.skinning.blend_shapes import ShapeBlocks, add_shapes
from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array, freeze
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin
from understudy.maths import jit

KERNELS = "understudy.deform.methods.method_kernels"
SCALE_DAMPING_RATIO = 1e-3  # of the usual scale: an error of 1e-6, and a joint scaled to zero is invertible
FRAMES_PER_CHUNK = 256  # 10,000 corrections of 256 frames are 30 MB
KERNEL_WIDTH_RATIOS = (0.5, 1.0, 2.0, 4.0)  # of the median distance between examples
KERNEL_RIDGES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
LEAST_SQUARES_RIDGES = 10.0 ** np.arange(-9, 2)  # in sizes of the mesh: from rounding to "keep the linear blend"

# Of the least error: the largest ridge within it is taken, so that the skin changes no more than the examples need.
MAX_ERROR_RATIO = 1.01


def home_corrections(skin: LinearSkin, examples: Examples) -> Array:
    """d (E, V, 3), the corrections at the examples in the frames of the strongest joints."""
    m = examples.matrices[..., :3, :3]
    mt = np.swapaxes(m, -1, -2)
    soft = SCALE_DAMPING_RATIO * examples.size / examples.rest_size
    back = np.linalg.solve(mt @ m + soft**2 * np.eye(3), mt)[:, home_joints(skin)]
    left = examples.vertices - skin.deform_reference(examples.transforms)
    return np.einsum("evab,evb->eva", back, left)


def home_joints(skin: LinearSkin) -> Array:
    """(V,) int32: the strongest joint of each vertex."""
    return np.ascontiguousarray(skin.joints[:, 0])


def deform_corrected(skin: LinearSkin, shapes: ShapeBlocks, transforms: Array, shape_weights: Array) -> Array:
    """(F, V, 3) float32: the blend, and the corrections `shapes` with weights `shape_weights` (F, S)."""
    out = np.empty((len(transforms), len(skin.rest), 3), np.float32)
    matrices, none, home = transforms @ skin.inverse_binds, freeze(np.zeros_like(skin.rest)), home_joints(skin)
    for first in range(0, len(out), FRAMES_PER_CHUNK):
        part = slice(first, first + FRAMES_PER_CHUNK)
        linear_blend(skin.rest, skin.joints, skin.weights, matrices[part], out=out[part])
        add_rotated(add_shapes(none, shapes, shape_weights[part]), home, matrices[part], out[part])
    return out


def reference_corrected(skin: LinearSkin, transforms: Array, d: Array) -> Array:
    """The formula in float64, of d (F, V, 3)."""
    m = (transforms @ skin.inverse_binds)[:, home_joints(skin), :3, :3]
    return skin.deform_reference(transforms) + np.einsum("fvab,fvb->fva", m, d)


def add_rotated(d: Array, home: Array, matrices: Array, out: Array) -> None:
    """out (F, V, 3) += M_h d, of d (F, V, 3), home (V,) and matrices (F, B, 4, 4)."""
    m = np.ascontiguousarray(matrices[:, :, :3, :3].reshape(*matrices.shape[:2], 9), dtype=np.float32)
    jit.kernels(KERNELS).add_rotated(d, home, m, out)


def gaussian(squared: Array, width: float) -> Array:
    """exp(-r^2 / (2 s^2))."""
    return np.exp(squared / (-2 * width * width))


def rational(squared: Array, width: float) -> Array:
    """(1 + r^2 / (8 s^2))^-4: a Gaussian with a heavier tail, without the exponential."""
    base = 1 / (1 + squared / (8 * width * width))
    return np.square(np.square(base))


def subtract_rest(between: Array, from_rest_a: Array, from_rest_b: Array) -> Array:
    """K (..., F, E) of k (..., F, E), k(x, 0) (..., F) and k(0, x_e) (..., E)."""
    return between - from_rest_a[..., :, None] * from_rest_b[..., None, :]


def median_distance(squared: Array) -> float:
    """The median of the distances above zero, from squared ones."""
    d = np.sqrt(squared[squared > 1e-12])
    return float(np.median(d)) if d.size else 1.0


def solve(k: Array, d: Array, ridge: float) -> Array:
    """a (..., E, N) of K (..., E, E), d (..., E, N)."""
    return np.linalg.solve(k + ridge * np.eye(k.shape[-1]), d)


def leave_one_out_error(k: Array, d: Array, ridge: float) -> float:
    """Squared error of each example when it is left out, summed."""
    inverse = np.linalg.inv(k + ridge * np.eye(k.shape[-1]))
    error = (inverse @ d) / np.diagonal(inverse, axis1=-2, axis2=-1)[..., None]
    return float(np.square(error).sum())


def choose_width_and_ridge(
    trials: Sequence[tuple[float, float]], error: Callable[[float, float], float]
) -> tuple[float, float]:
    """The (width, ridge) of the least error; within 1 % of it the smallest ridge, then the largest width.

    A small ridge keeps the shape that was sculpted at an example.
    """
    errors = np.array([error(*trial) for trial in trials])
    good = [trial for trial, e in zip(trials, errors) if e <= 1.01 * errors.min() + 1e-24]
    return min(good, key=lambda trial: (trial[1], -trial[0]))


@dataclass(frozen=True)
class RidgeProblem:
    """The factorisation of one group: A Z = U S V'."""

    u: Array  # (N, R)
    s: Array  # (R,)
    back: Array  # (P, R): d = back @ (filtered U' r)

    @classmethod
    def from_matrices(cls, a: Array, constraint: Array) -> RidgeProblem:
        """From A (N, P) and C (Q, P)."""
        _, _, vt = np.linalg.svd(constraint)
        z = vt[np.linalg.matrix_rank(constraint) :].T
        u, s, wt = np.linalg.svd(a @ z, full_matrices=False)
        return cls(u, s, z @ wt.T)

    def solve(self, r: Array, ridge: float) -> Array:
        """d (P, V) for r (N, V)."""
        strength = self.s**2 + ridge * len(self.u)
        return self.back @ ((self.s / np.maximum(strength, 1e-300))[:, None] * (self.u.T @ r))

    def leave_one_out_error(self, r: Array, block: int, ridge: float) -> float:
        """Squared error of r (N, V) at each pose when it is left out, summed; a pose is `block` rows in a run."""
        share = self.s**2 / np.maximum(self.s**2 + ridge * len(self.u), 1e-300)
        left = r - (self.u * share) @ (self.u.T @ r)
        u = self.u.reshape(-1, block, len(self.s))
        h = (u * share) @ np.swapaxes(u, 1, 2)
        return float(np.square(np.linalg.solve((1 + 1e-10) * np.eye(block) - h, left.reshape(len(u), block, -1))).sum())


def best_ridge(problems: Sequence[RidgeProblem], residuals: Sequence[Array], block: int) -> float:
    """The ridge with the least error in poses left out, one for all groups."""
    error = np.array(
        [sum(p.leave_one_out_error(r, block, x) for p, r in zip(problems, residuals)) for x in LEAST_SQUARES_RIDGES]
    )
    return float(LEAST_SQUARES_RIDGES[error <= MAX_ERROR_RATIO * error.min() + 1e-20][-1])


def group_by_joints(sets: Array) -> list[tuple[Array, Array]]:
    """(joints (K,), vertices (N,)) of each set of joints that occurs in `sets` (V, K), rows of which are sorted."""
    groups, where = np.unique(sets, axis=0, return_inverse=True)
    where = where.reshape(-1)
    order = np.argsort(where, kind="stable")
    cuts = np.searchsorted(where[order], np.arange(1, len(groups)))
    return list(zip(groups, np.split(order, cuts)))
