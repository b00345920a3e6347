"""Pose space deformation: corrections sculpted at example poses, interpolated by how near a pose is to each.

    v' = sum_k w_k M_k v + M_h sum_e c_e(x) d_e,        c(x) = K(x, X) (K(X, X) + l 1)^-1

(Lewis, Cordner and Fong 2000, "Pose space deformation: a unified approach to shape interpolation and skeleton-driven
deformation"). d_e (V, 3) are the corrections at the examples X, in the frame of the strongest joint h, x is the pose
(`pose_features`) and K a Gaussian from which the rest is taken away (`corrections`). Width and ridge l are
cross-validated; the paper leaves the width to the artist and has no ridge. The weights c are of the order of one, so
that float32 shapes do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform import corrections
from understudy.deform.deformer import Examples, Frozen, Progress, check_transforms, settings_of
from understudy.deform.influences import base_skin
from understudy.deform.linear_fit import LinearSkin
from understudy.deform.pose_features import PoseFeatures, squared_distances
from understudy.deform.shapes import SparseShapes, prepare


@dataclass(frozen=True)
class PoseSpaceSettings:
    """`width` (radians) and `ridge` None are cross-validated; `weights` "fit" or "artist" is the linear blend below."""

    influences: int = 4
    width: float | None = None
    ridge: float | None = None
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class PoseSpace(Frozen):
    """A linear blend with corrections that depend on the whole pose."""

    name: ClassVar[str] = "pose-space"
    paper: ClassVar[str] = "Lewis, Cordner and Fong 2000"
    Settings: ClassVar[type] = PoseSpaceSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    features: PoseFeatures
    centres: Array  # (E, M, 12)
    mix: Array  # (E, E), (K + l 1)^-1
    shapes: Array  # (E, V, 3) float32, d_e
    width: float
    ridge: float
    settings: PoseSpaceSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> PoseSpace:
        """Corrections from examples; `seed` plays no part."""
        chosen = settings_of(PoseSpaceSettings, settings)
        examples.at_least(2, "pose space deformation")
        skin, features = base_skin(examples, chosen), PoseFeatures.of(examples)
        d = corrections.home_corrections(skin, examples).reshape(len(examples), -1)
        x = features(examples.transforms)
        between = squared_distances(x, x).sum(axis=0)
        unit = corrections.median_distance(between)
        widths = [unit * w for w in corrections.WIDTHS] if chosen.width is None else [chosen.width]
        ridges = corrections.RIDGES if chosen.ridge is None else [chosen.ridge]
        width, ridge = corrections.choose(
            list(product(widths, ridges)),
            lambda width, ridge: corrections.left_out(rest_kernel(x, x, width), d, ridge),
        )
        mix = np.linalg.inv(rest_kernel(x, x, width) + ridge * np.eye(len(x)))
        if progress is not None:
            progress(1, 1)
        shapes = d.reshape(examples.vertices.shape).astype(np.float32)
        return cls(skin, features, x, mix, shapes, float(width), float(ridge), chosen)

    @cached_property
    def prepared(self) -> SparseShapes:
        """The corrections in the form that is evaluated fast."""
        return prepare(self.shapes)

    def shape_weights(self, transforms: Array) -> Array:
        """c (F, E): the dials of the stored corrections in each pose."""
        return rest_kernel(self.features(transforms), self.centres, self.width) @ self.mix

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        out = corrections.deform_corrected(self.skin, self.prepared, t, self.shape_weights(t))
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        d = np.einsum("fe,eva->fva", self.shape_weights(t), self.shapes.astype(np.float64))
        out = corrections.reference_corrected(self.skin, t, d)
        return out[0] if single else out

    @property
    def bytes_a_vertex(self) -> float:
        """The linear blend's, and three float32 an example; the poses of the examples shared among the vertices."""
        shared = 4.0 * (self.centres.size + self.mix.size) / max(1, len(self.skin.rest))
        return self.skin.bytes_a_vertex + 12.0 * len(self.shapes) + shared


def rest_kernel(a: Array, b: Array, width: float) -> Array:
    """K (F, E) between poses a (F, M, 12) and b (E, M, 12)."""
    k = corrections.gaussian(squared_distances(a, b).sum(axis=0), width)
    rest = np.zeros((1, *b.shape[1:]))
    from_a = corrections.gaussian(squared_distances(a, rest).sum(axis=0)[:, 0], width)
    from_b = corrections.gaussian(squared_distances(rest, b).sum(axis=0)[0], width)
    return corrections.without_rest(k, from_a, from_b)
