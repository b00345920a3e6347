"""Weighted pose space deformation: each vertex measures poses by the joints that matter to it.

    v' = sum_k w_k M_k v + M_h sum_e a_e,v K_v(x, x_e),        r_v^2(x, y) = sum_j u_v,j | x_j - y_j |^2

(Kurihara and Miyata 2004, "Modeling deformable human hands from medical images"; Rhee, Lewis and Neumann 2006,
"Real-time weighted pose-space deformation on the GPU"). An elbow's example then corrects the elbow whatever the other
arm does, so that far fewer examples are needed than joints can be combined. The share u_v,j of a joint is the vertex's
weight on its bone and on its parent's bone, made to sum to one: what turns at either end of a bone can move its flesh.

The kernel is evaluated for each vertex and example, so it is rational, (1 + r^2 / 8 s^2)^-4, close to the Gaussian and
without an exponential. The rest pose is taken away as in `corrections`: it is one more centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform import corrections, simplex
from understudy.deform.deformer import Examples, Frozen, Progress, check_transforms, settings_of
from understudy.deform.influences import base_skin
from understudy.deform.linear import linear_blend
from understudy.deform.linear_fit import LinearSkin
from understudy.deform.pose_features import PoseFeatures, squared_distances
from understudy.maths import accelerate

KERNELS = "understudy.deform.weighted_pose_space_kernels"
RIDGES = (1e-3, 1e-2, 1e-1)  # less would let float32 show: coefficients are up to 1 / ridge times the corrections
SAMPLE = 400  # vertices that vote on width and ridge, of up to MANY examples; fewer of more
MANY = 80
LEAST = 16
ROWS = 4_000_000  # kernel entries solved at a time: 32 MB
EIGHT = 8  # numbers in a vector: what is left over takes as long as four times as many
MOST = 4  # joints that a vertex listens to


@dataclass(frozen=True)
class WeightedPoseSpaceSettings:
    """`width` (radians) and `ridge` None are cross-validated; `weights` "fit" or "artist" is the linear blend below."""

    influences: int = 4
    width: float | None = None
    ridge: float | None = None
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class WeightedPoseSpace(Frozen):
    """A linear blend with corrections that depend on the joints near each vertex."""

    name: ClassVar[str] = "weighted-pose-space"
    paper: ClassVar[str] = "Kurihara and Miyata 2004; Rhee, Lewis and Neumann 2006"
    Settings: ClassVar[type] = WeightedPoseSpaceSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    features: PoseFeatures
    centres: Array  # (N, M, 12): the examples, the rest, and the rest again until N is a multiple of EIGHT
    heard: Array  # (V, L) int32, into the M joints that move
    shares: Array  # (V, L) float32, u / (8 s^2)
    coefficients: Array  # (V, 3, N) float32, a
    width: float
    ridge: float
    settings: WeightedPoseSpaceSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> WeightedPoseSpace:
        """Corrections from examples; `seed` plays no part."""
        chosen = settings_of(WeightedPoseSpaceSettings, settings)
        examples.at_least(2, "weighted pose space deformation")
        skin, features = base_skin(examples, chosen), PoseFeatures.of(examples)
        d = np.swapaxes(corrections.home_corrections(skin, examples), 0, 1)  # (V, E, 3)
        heard, shares = heard_joints(skin, features, MOST)
        centres = np.concatenate((features(examples.transforms), np.zeros((1, len(features.joints), 12))))
        table = squared_distances(centres, centres)
        unit = corrections.median_distance(table.max(axis=0, initial=0))
        widths = [unit * w for w in corrections.WIDTHS] if chosen.width is None else [chosen.width]
        ridges = RIDGES if chosen.ridge is None else [chosen.ridge]
        votes = min(SAMPLE, max(SAMPLE * MANY**2 // len(examples) ** 2, LEAST))  # each costs the cube of the examples
        some = simplex.spread(skin.rest, votes)

        def error(width: float, ridge: float) -> float:
            k, rest = _kernels(table, heard[some], shares[some], width)
            return corrections.left_out(corrections.without_rest(k, rest, rest), d[some], ridge)

        width, ridge = corrections.choose(list(product(widths, ridges)), error)
        count = len(examples)
        filled = -(-(count + 1) // EIGHT) * EIGHT
        a = np.zeros((len(d), 3, filled), np.float32)
        rows = max(1, ROWS // len(centres) ** 2)
        for first in range(0, len(d), rows):
            part = slice(first, first + rows)
            k, rest = _kernels(table, heard[part], shares[part], width)
            found = corrections.solve(corrections.without_rest(k, rest, rest), d[part], ridge)
            a[part, :, :count] = np.swapaxes(found, 1, 2)
            a[part, :, count] = -np.einsum("vea,ve->va", found, rest)
            if progress is not None:
                progress(min(first + rows, len(d)), len(d))
        u = (shares / (8 * width**2)).astype(np.float32)
        centres = np.concatenate((centres, np.zeros((filled - count - 1, *centres.shape[1:]))))
        return cls(skin, features, centres, heard.astype(np.int32), u, a, float(width), float(ridge), chosen)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        kernels = accelerate.kernels(KERNELS)
        if kernels is None:
            result = self.deform_reference(t).astype(np.float32)
            return result[0] if single else result
        out = np.empty((len(t), len(self.skin.rest), 3), np.float32)
        matrices, home = t @ self.skin.inverse_binds, corrections.home_joints(self.skin)
        d = np.empty((min(len(t), corrections.CHUNK), len(self.skin.rest), 3), np.float32)
        table = np.ascontiguousarray(np.moveaxis(self._table(t), 1, 0), dtype=np.float32)
        for first in range(0, len(t), corrections.CHUNK):
            part = slice(first, first + corrections.CHUNK)
            linear_blend(self.skin.rest, self.skin.joints, self.skin.weights, matrices[part], out=out[part])
            kernels.correct(self.heard, self.shares, self.coefficients, table[part], d[: len(out[part])])
            corrections.carry(d[: len(out[part])], home, matrices[part], out[part])
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        table, a = self._table(t), self.coefficients.astype(np.float64)
        d = np.empty((len(t), len(self.skin.rest), 3))
        for f in range(len(t)):
            k = corrections.rational(np.einsum("vl,vle->ve", self.shares, table[self.heard, f]), np.sqrt(1 / 8))
            d[f] = np.einsum("ve,vae->va", k, a)
        out = corrections.reference_corrected(self.skin, t, d)
        return out[0] if single else out

    def _table(self, transforms: Array) -> Array:
        """Squared distances (M, F, N) of each joint from its poses in the examples."""
        return squared_distances(self.features(transforms), self.centres)

    @property
    def bytes_a_vertex(self) -> float:
        """The linear blend's, three float32 an example and the rest, and the shares of the joints heard."""
        shared = 4.0 * self.centres.size / max(1, len(self.skin.rest))
        return self.skin.bytes_a_vertex + 12.0 * len(self.centres) + 5.0 * self.heard.shape[1] + shared


def joint_shares(skin: LinearSkin, features: PoseFeatures) -> Array:
    """u (V, M): for each joint that moves, a vertex's weight on its bone and on the bone it is seen from."""
    full = np.zeros((len(skin.rest), len(skin.inverse_binds)))
    np.add.at(full, (np.arange(len(full))[:, None], skin.joints), skin.weights)
    return full[:, features.joints] + full[:, features.above]


def heard_joints(skin: LinearSkin, features: PoseFeatures, most: int) -> tuple[Array, Array]:
    """Joints (V, L) into those that move, and their shares u (V, L): the `most` largest, made to sum to one.

    A vertex whose bones have no moving end (a head on a still neck) listens to all alike, weakly: its share is zero.
    """
    u = joint_shares(skin, features)
    order = np.argsort(-u, axis=1, kind="stable")[:, : min(most, u.shape[1])]
    kept = np.take_along_axis(u, order, axis=1)
    total = kept.sum(axis=1, keepdims=True)
    return order, kept / np.where(total > 0, total, 1)


def _kernels(table: Array, heard: Array, shares: Array, width: float) -> tuple[Array, Array]:
    """k (V, E, E) between the examples, and k (V, E) from the rest, the last centre of `table` (M, E + 1, E + 1)."""
    squared = np.zeros((len(heard), *table.shape[1:]))
    for place in range(heard.shape[1]):
        squared += shares[:, place, None, None] * table[heard[:, place]]
    k = corrections.rational(squared, width)
    return k[:, :-1, :-1], k[:, :-1, -1]
