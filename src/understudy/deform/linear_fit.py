"""Linear blend skinning as a deformer, with weights found from examples.

    v' = sum_k w_k T_k B_k v,        w_k >= 0,  sum_k w_k = 1,  at most K of them

T is world_from_joint, B the inverse bind (Magnenat-Thalmann, Laperriere and Thalmann 1988, "Joint-dependent local
deformations for hand animation and object grasping"; Lewis, Cordner and Fong 2000 call it skeleton subspace
deformation, SSD). The weights are those of `simplex`: non-negative least squares, as Mohr and Gleicher 2003 and James
and Twigg 2005 fit them, with a ridge that is cross-validated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform import simplex
from understudy.deform.deformer import Examples, Frozen, Progress, check_transforms, settings_of
from understudy.deform.linear import linear_blend
from understudy.errors import InvalidInput


@dataclass(frozen=True)
class LinearSettings:
    """`ridge` None is cross-validated; `weights` is "fit", or "artist" for those that came with the examples."""

    influences: int = 4
    ridge: float | None = None
    candidates: int = 24
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class LinearSkin(Frozen):
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
        """Weights from examples; `seed` plays no part."""
        chosen = settings_of(LinearSettings, settings)
        if chosen.influences < 1:
            raise InvalidInput(f"influences should be 1 or more, but are {chosen.influences}")
        if chosen.weights == "artist":
            return cls.given(examples, chosen)
        examples.at_least(2, "linear blend skinning")
        away = simplex.bone_distances(examples)
        found = simplex.fit_weights(
            examples.matrices, examples, away, chosen.influences, chosen.ridge, chosen.candidates
        )
        j, w = simplex.top(found.bones, found.weights, chosen.influences)
        if progress is not None:
            progress(1, 1)
        numbers = (found.ridge, found.rms_unlimited, found.rms)
        return cls(examples.rest.astype(np.float32), examples.inverse_binds, j, w, chosen, *numbers)

    @classmethod
    def given(cls, examples: Examples, settings: LinearSettings | None = None) -> LinearSkin:
        """The artist's own weights."""
        if examples.weights is None or examples.joints is None:
            raise InvalidInput("the examples should come with the artist's weights, but have none")
        j, w = simplex.top(examples.joints, examples.weights, examples.joints.shape[1])
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
            blended = self.blended(m)
            result[f] = np.einsum("vab,vb->va", blended[..., :3], self.rest) + blended[..., 3]
        return result[0] if single else result

    def blended(self, matrices: Array) -> Array:
        """sum_k w_k M_k (V, 3, 4) float64, of one pose's matrices (B, 4, 4)."""
        return np.einsum("vk,vkab->vab", self.weights, matrices[self.joints, :3, :])

    @property
    def bytes_a_vertex(self) -> float:
        """A float32 position, and for each influence a float32 weight and a byte (two beyond 256 joints)."""
        number = 1 if len(self.inverse_binds) <= 256 else 2
        return 12.0 + self.joints.shape[1] * (4 + number)
