"""Linear blend skinning as a deformer, with weights found from examples.

    v' = sum_k w_k T_k B_k v,        w_k >= 0,  sum_k w_k = 1,  at most K of them

T is world_from_joint, B the inverse bind (Magnenat-Thalmann, Laperriere and Thalmann 1988, "Joint-dependent local
deformations for hand animation and object grasping"; Lewis, Cordner and Fong 2000 call it skeleton subspace
deformation, SSD). The weights are those of `simplex`: non-negative least squares, as Mohr and Gleicher 2003 and James
and Twigg 2005 fit them, with a ridge that is cross-validated.

`influence_sets` are the joints that richer methods may use for a vertex: those of its linear blend, then the nearest
ones, up to a limit. A fitted linear blend leaves a vertex on one joint as soon as the others do not help it. Richer
methods can use the neighbours all the same (a muscle bulges on one bone because of the next), and their ridge decides
whether they do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import simplex
from understudy.errors import InvalidInput

NEARNESS_WEIGHT = 1e-3  # a joint with at least this weight comes before any that is merely near


@dataclass(frozen=True)
class LinearSettings:
    """Settings of `LinearSkin`."""

    influences: int = 4  # most joints of a vertex
    ridge: float | None = None  # None is cross-validated
    candidates: int = 24  # joints tried for a vertex
    weights: str = "fit"  # or "artist" for those that came with the examples


@dataclass(frozen=True, eq=False)
class LinearSkin(FrozenArrays):
    """Linear blend skinning; glTF plays it as it is."""

    name: ClassVar[str] = "linear"
    paper: ClassVar[str] = "Magnenat-Thalmann, Laperriere and Thalmann 1988"
    Settings: ClassVar[type] = LinearSettings
    gltf: ClassVar[bool] = True

    rest: Array  # (V, 3) float32
    inverse_binds: Array  # (B, 4, 4)
    joints: Array  # (V, K) int32
    weights: Array  # (V, K) float32, rows sum to 1
    settings: LinearSettings = field(default_factory=LinearSettings)
    ridge: float = 0.0
    rms_unlimited: float = 0.0  # metres over the examples, without the limit on influences
    rms: float = 0.0  # metres over the examples

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> LinearSkin:
        """Weights from examples; `seed` is not used."""
        chosen = settings_of(LinearSettings, settings)
        if chosen.influences < 1:
            raise InvalidInput(f"influences should be 1 or more, but are {chosen.influences}")
        if chosen.weights == "artist":
            return cls.from_artist_weights(examples, chosen)
        examples.require_poses(2, "linear blend skinning")
        away = simplex.bone_distances(examples)
        fitted = simplex.fit_weights(
            examples.matrices, examples, away, chosen.influences, chosen.ridge, chosen.candidates
        )
        j, w = simplex.strongest_influences(fitted.bones, fitted.weights, chosen.influences)
        if progress is not None:
            progress(1, 1)
        numbers = (fitted.ridge, fitted.rms_unlimited, fitted.rms)
        return cls(examples.rest.astype(np.float32), examples.inverse_binds, j, w, chosen, *numbers)

    @classmethod
    def from_artist_weights(cls, examples: Examples, settings: LinearSettings | None = None) -> LinearSkin:
        """A skin with the artist's own weights."""
        if examples.weights is None or examples.joints is None:
            raise InvalidInput("the examples should come with the artist's weights, but have none")
        j, w = simplex.strongest_influences(examples.joints, examples.weights, examples.joints.shape[1])
        skin = cls(
            examples.rest.astype(np.float32), examples.inverse_binds, j, w, settings or LinearSettings(weights="artist")
        )
        error = np.square(skin.deform_reference(examples.transforms) - examples.vertices).sum(axis=-1)
        rms = float(np.sqrt(error.mean())) if error.size else 0.0
        return cls(skin.rest, skin.inverse_binds, j, w, skin.settings, 0.0, rms, rms)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        result = linear_blend(self.rest, self.joints, self.weights, t @ self.inverse_binds)
        return result[0] if single else result

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        result = np.empty((len(t), len(self.rest), 3))
        for f, m in enumerate(t @ self.inverse_binds):
            blended = self.blend_matrices(m)
            result[f] = np.einsum("vab,vb->va", blended[..., :3], self.rest) + blended[..., 3]
        return result[0] if single else result

    def blend_matrices(self, matrices: Array) -> Array:
        """sum_k w_k M_k (V, 3, 4) float64, of one pose's matrices (B, 4, 4)."""
        return np.einsum("vk,vkab->vab", self.weights, matrices[self.joints, :3, :])

    @property
    def bytes_a_vertex(self) -> float:
        """A float32 position, and for each influence a float32 weight and a byte (two beyond 256 joints)."""
        number = 1 if len(self.inverse_binds) <= 256 else 2
        return 12.0 + self.joints.shape[1] * (4 + number)


def base_skin(examples: Examples, settings: Any) -> LinearSkin:
    """The linear blend below a method: fitted, or the artist's, as its settings (`influences`, `weights`) ask for."""
    return LinearSkin.fit(examples, LinearSettings(influences=settings.influences, weights=settings.weights))


def influence_sets(skin: LinearSkin, examples: Examples, most: int) -> tuple[Array, Array]:
    """Joints (V, K), each row sorted, and the linear blend's weights on them (V, K); K is `most`, or all joints."""
    bones = len(skin.inverse_binds)
    full = np.zeros((len(skin.rest), bones))
    np.add.at(full, (np.arange(len(full))[:, None], skin.joints), skin.weights)
    away = simplex.bone_distances(examples) / examples.rest_size
    score = full + NEARNESS_WEIGHT / (1 + away)
    sets = np.sort(np.argsort(-score, axis=1, kind="stable")[:, : min(most, bones)], axis=1)
    weights = np.take_along_axis(full, sets, axis=1)
    return sets, weights / weights.sum(axis=1, keepdims=True)
