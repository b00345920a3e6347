"""Skinning with optimised centres of rotation: rotations are blended as quaternions about a point of each vertex.

    v' = R (v - c) + sum_k w_k M_k c,     R = the normalised blend of the bones' quaternions

(Le and Hodgins 2016, "Real-time skeletal skinning with optimized centers of rotation".) A vertex rotates about the mean
of those parts of the skin that have similar weights on the same bones:

    c_i = sum_t s(w_i, w_t) a_t m_t / sum_t s(w_i, w_t) a_t,
    s(w, w') = sum_{j != k} w_j w_k w'_j w'_k exp(-(w_j w'_k - w_k w'_j)^2 / 0.1^2)

over triangles t of area a and middle m. It has no candy wrapper and no bulge, and costs little more than a linear
blend. The weights are those fitted to a linear or to a dual quaternion blend, whichever comes closer to the examples,
and the centres then move to where they fit these best, which is a linear problem.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.methods.dual_quaternion import DualSkin
from understudy.deform.methods.linear import LinearSkin
from understudy.maths import jit, quaternion, transform

KERNELS = "understudy.deform.methods.method_kernels"
SIMILARITY_SIGMA = 0.1  # the paper's sigma
CENTRE_RIDGE_RATIO = 1e-3  # weight of the paper's centres, against the mean square of L - R
WEIGHT_STEPS = 40  # quantisation of a weight: triangles with equal quantised weights are taken together


@dataclass(frozen=True)
class CentresSettings:
    """Settings of `CentresOfRotation`."""

    influences: int = 4  # most joints of a vertex
    weights: str = "fit"  # or "artist" for those that came with the examples
    centres: str = "fit"  # to the examples, starting at the paper's; or "paper"


@dataclass(frozen=True, eq=False)
class CentresOfRotation(FrozenArrays):
    """Linear blend weights and a centre of rotation for each vertex."""

    name: ClassVar[str] = "centres-of-rotation"
    paper: ClassVar[str] = "Le and Hodgins 2016"
    Settings: ClassVar[type] = CentresSettings
    gltf: ClassVar[bool] = False

    rest: Array  # (V, 3) float32
    inverse_binds: Array  # (B, 4, 4)
    joints: Array  # (V, K) int32
    weights: Array  # (V, K) float32
    centres: Array  # (V, 3) float32
    settings: CentresSettings = field(default_factory=CentresSettings)

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> CentresOfRotation:
        """Weights from examples, centres from the weights; `seed` is not used."""
        chosen = settings_of(CentresSettings, settings)
        examples = examples.in_metres()
        asked = {"influences": chosen.influences, "weights": chosen.weights}
        skins: list[Any] = [LinearSkin.fit(examples, asked)]
        if chosen.weights == "fit":
            skins.append(DualSkin.fit(examples, {"influences": chosen.influences}))
        best, least = None, np.inf
        for i, skin in enumerate(skins):
            centres = centres_of(examples.rest, examples.triangles, skin.joints, skin.weights)
            rest, joints, weights = examples.rest.astype(np.float32), skin.joints.astype(np.int32), skin.weights
            fitted = cls(
                rest, examples.inverse_binds, joints, weights.astype(np.float32), centres.astype(np.float32), chosen
            )
            if chosen.centres == "fit":
                fitted = fitted._fit_centres(examples)
            error = float(np.square(fitted.deform(examples.transforms) - examples.vertices).sum())
            if error < least:
                best, least = fitted, error
            if progress is not None:
                progress(i + 1, len(skins))
        assert best is not None
        return best

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        kernels = jit.kernels(KERNELS)
        t, single = check_transforms(transforms, len(self.inverse_binds))
        m = t @ self.inverse_binds
        q = _quaternions(m).astype(np.float32)
        rows = np.ascontiguousarray(m[:, :, :3].reshape(*m.shape[:2], 12), np.float32)
        out = np.empty((len(t), len(self.rest), 3), np.float32)
        with jit.LOCK:
            kernels.turn_about_centres(self.rest, self.centres, self.joints, self.weights, q, rows, out)
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        out = np.zeros((len(t), len(self.rest), 3))
        rest, centres = self.rest.astype(float), self.centres.astype(float)
        for f, m in enumerate(t @ self.inverse_binds):
            turn, blended = self._parts(m)
            out[f] = np.einsum("vab,vb->va", turn, rest - centres)
            out[f] += np.einsum("vab,vb->va", blended[..., :3], centres) + blended[..., 3]
        return out[0] if single else out

    def _parts(self, m: Array) -> tuple[Array, Array]:
        """R (V, 3, 3) and the linear blend (V, 3, 4) of one pose's matrices (B, 4, 4)."""
        weights = self.weights.astype(float)
        blended = np.einsum("vk,vkab->vab", weights, m[self.joints, :3, :])
        q = _quaternions(m[None])[0][self.joints]  # (V, K, 4)
        sign = np.where(np.einsum("vkc,vc->vk", q, q[:, 0]) < 0, -1.0, 1.0)
        total = np.einsum("vk,vkc->vc", weights * sign, q)
        size = np.linalg.norm(total, axis=1, keepdims=True)
        return quaternion.to_matrix(np.where(size > 1e-6, total / np.maximum(size, 1e-300), q[:, 0])), blended

    def _fit_centres(self, examples: Examples) -> CentresOfRotation:
        """A copy with the centres that come closest to the examples: v' is linear in c, v' = (L - R) c + R v + l."""
        rest, before = self.rest.astype(float), self.centres.astype(float)
        square, right = np.zeros((len(rest), 3, 3)), np.zeros((len(rest), 3))
        for m, x in zip(examples.matrices, examples.vertices):
            turn, blended = self._parts(m)
            A = blended[..., :3] - turn
            left = x - np.einsum("vab,vb->va", turn, rest) - blended[..., 3] - np.einsum("vab,vb->va", A, before)
            square += np.swapaxes(A, -1, -2) @ A
            right += np.einsum("vba,vb->va", A, left)
        square += CENTRE_RIDGE_RATIO * len(examples) * np.eye(3)
        moved = before + np.linalg.solve(square, right[..., None])[..., 0]
        return dataclasses.replace(self, centres=moved.astype(np.float32))

    @property
    def bytes_a_vertex(self) -> float:
        """Two float32 positions, and for each influence a float32 weight and a byte (two beyond 256 joints)."""
        number = 1 if len(self.inverse_binds) <= 256 else 2
        return 24.0 + self.joints.shape[1] * (4 + number)


def _quaternions(matrices: Array) -> Array:
    """(F, B, 4) rotations of the bones' matrices (F, B, 4, 4)."""
    if not matrices.size:
        return np.zeros((*matrices.shape[:2], 4))
    return quaternion.from_matrix(transform.polar(matrices)[0])


def centres_of(rest: Array, triangles: Array, joints: Array, weights: Array) -> Array:
    """c (V, 3); a vertex that shares no pair of bones with any triangle rotates about itself."""
    bones = int(joints.max(initial=0)) + 1
    full = np.zeros((len(rest), bones))
    np.add.at(full, (np.arange(len(rest))[:, None], joints), weights)
    middles, areas, patches = _patches(rest, triangles, full)
    c = np.zeros_like(rest)
    rest = np.ascontiguousarray(rest)
    jit.kernels(KERNELS).find_centres(full, patches, areas, middles, SIMILARITY_SIGMA, rest, c)
    return c


def _patches(rest: Array, triangles: Array, full: Array) -> tuple[Array, Array, Array]:
    """Middles (T, 3), areas (T,) and weights (T, B) of patches: triangles with nearly equal weights taken together."""
    a, b, c = (rest[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    weights = full[triangles].mean(axis=1)
    _, owner = np.unique(np.round(weights * WEIGHT_STEPS + 1e-7).astype(np.int16), axis=0, return_inverse=True)
    owner = owner.reshape(-1)
    count = int(owner.max(initial=-1)) + 1
    total = np.bincount(owner, area, minlength=count)
    part = area / np.maximum(total, 1e-300)[owner]
    middles, patches = np.zeros((count, 3)), np.zeros((count, full.shape[1]))
    np.add.at(middles, owner, part[:, None] * (a + b + c) / 3)
    np.add.at(patches, owner, part[:, None] * weights)
    return middles, total, patches
