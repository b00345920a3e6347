"""Pose space deformation: corrections sculpted at example poses, interpolated by the distance between poses.

    v' = sum_k w_k M_k v + M_h sum_e c_e(x) d_e,        c(x) = K(x, X) (K(X, X) + l 1)^-1

(Lewis, Cordner and Fong 2000, "Pose space deformation: a unified approach to shape interpolation and skeleton-driven
deformation"). d_e (V, 3) are the corrections at the examples X, in the frame of the strongest joint h, x is the pose
(`pose_features`) and K a Gaussian from which the rest is subtracted (`corrections`). Width and ridge l are
cross-validated; the paper leaves the width to the artist and has no ridge. The weights c are of the order of one, so
that float32 shapes are accurate enough.

Weighted pose space deformation: each vertex measures poses by the joints that affect it.

    v' = sum_k w_k M_k v + M_h sum_e a_e,v K_v(x, x_e),        r_v^2(x, y) = sum_j u_v,j | x_j - y_j |^2

(Kurihara and Miyata 2004, "Modeling deformable human hands from medical images"; Rhee, Lewis and Neumann 2006,
"Real-time weighted pose-space deformation on the GPU"). An elbow's example then corrects the elbow whatever the other
arm does, so that far fewer examples are needed than there are combinations of joints. The share u_v,j of a joint is the
vertex's weight on its bone and on its parent's bone, normalised to sum to one: a rotation at either end of a bone can
move its flesh. The kernel is evaluated for each vertex and example, so it is rational, (1 + r^2 / 8 s^2)^-4, close to
the Gaussian and without an exponential. The rest pose is subtracted as in `corrections`: it is one more centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.blend_shapes import ShapeBlocks, prepare
from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import corrections, simplex
from understudy.deform.fitting.pose_features import PoseFeatures, squared_distances
from understudy.deform.methods.linear import LinearSkin, base_skin
from understudy.maths import jit

KERNELS = "understudy.deform.methods.method_kernels"
WEIGHTED_KERNEL_RIDGES = (1e-3, 1e-2, 1e-1)  # coefficients are up to 1 / ridge times the corrections, in float32
MAX_SAMPLE_VERTICES = 400  # vertices in the cross-validation of width and ridge
FULL_SAMPLE_EXAMPLES = 80  # examples up to which all of these are used; with more examples fewer
MIN_SAMPLE_VERTICES = 16
KERNEL_ENTRIES_PER_CHUNK = 4_000_000  # 32 MB
FLOATS_PER_VECTOR = 8  # of the processor: a remainder takes as long as four times as many
MAX_JOINTS_PER_VERTEX = 4  # joints by which a vertex measures poses


@dataclass(frozen=True)
class PoseSpaceSettings:
    """`width` (radians) and `ridge` None are cross-validated; `weights` "fit" or "artist" is the linear blend below."""

    influences: int = 4
    width: float | None = None
    ridge: float | None = None
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class PoseSpaceDeformation(FrozenArrays):
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
    ) -> PoseSpaceDeformation:
        """Corrections from examples; `seed` is not used."""
        chosen = settings_of(PoseSpaceSettings, settings)
        examples.require_poses(2, "pose space deformation")
        skin, features = base_skin(examples, chosen), PoseFeatures.from_examples(examples)
        d = corrections.home_corrections(skin, examples).reshape(len(examples), -1)
        x = features(examples.transforms)
        between = squared_distances(x, x).sum(axis=0)
        unit = corrections.median_distance(between)
        widths = [unit * w for w in corrections.KERNEL_WIDTH_RATIOS] if chosen.width is None else [chosen.width]
        ridges = corrections.KERNEL_RIDGES if chosen.ridge is None else [chosen.ridge]
        width, ridge = corrections.choose_width_and_ridge(
            list(product(widths, ridges)),
            lambda width, ridge: corrections.leave_one_out_error(rest_kernel(x, x, width), d, ridge),
        )
        mix = np.linalg.inv(rest_kernel(x, x, width) + ridge * np.eye(len(x)))
        if progress is not None:
            progress(1, 1)
        shapes = d.reshape(examples.vertices.shape).astype(np.float32)
        return cls(skin, features, x, mix, shapes, float(width), float(ridge), chosen)

    @cached_property
    def shape_blocks(self) -> ShapeBlocks:
        """The corrections in the form that is evaluated fast."""
        return prepare(self.shapes)

    def shape_weights(self, transforms: Array) -> Array:
        """c (F, E): the weights of the stored corrections in each pose."""
        return rest_kernel(self.features(transforms), self.centres, self.width) @ self.mix

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        out = corrections.deform_corrected(self.skin, self.shape_blocks, t, self.shape_weights(t))
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
    return corrections.subtract_rest(k, from_a, from_b)


@dataclass(frozen=True)
class WeightedPoseSpaceSettings:
    """`width` (radians) and `ridge` None are cross-validated; `weights` "fit" or "artist" is the linear blend below."""

    influences: int = 4
    width: float | None = None
    ridge: float | None = None
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class WeightedPoseSpace(FrozenArrays):
    """A linear blend with corrections that depend on the joints near each vertex."""

    name: ClassVar[str] = "weighted-pose-space"
    paper: ClassVar[str] = "Kurihara and Miyata 2004; Rhee, Lewis and Neumann 2006"
    Settings: ClassVar[type] = WeightedPoseSpaceSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    features: PoseFeatures
    centres: Array  # (N, M, 12): the examples, the rest, and the rest again up to a multiple of FLOATS_PER_VECTOR
    heard: Array  # (V, L) int32, the joints of each vertex, among the M that move
    shares: Array  # (V, L) float32, u / (8 s^2)
    coefficients: Array  # (V, 3, N) float32, a
    width: float
    ridge: float
    settings: WeightedPoseSpaceSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> WeightedPoseSpace:
        """Corrections from examples; `seed` is not used."""
        chosen = settings_of(WeightedPoseSpaceSettings, settings)
        examples.require_poses(2, "weighted pose space deformation")
        skin, features = base_skin(examples, chosen), PoseFeatures.from_examples(examples)
        d = np.swapaxes(corrections.home_corrections(skin, examples), 0, 1)  # (V, E, 3)
        heard, shares = strongest_joints(skin, features, MAX_JOINTS_PER_VERTEX)
        centres = np.concatenate((features(examples.transforms), np.zeros((1, len(features.joints), 12))))
        table = squared_distances(centres, centres)
        unit = corrections.median_distance(table.max(axis=0, initial=0))
        widths = [unit * w for w in corrections.KERNEL_WIDTH_RATIOS] if chosen.width is None else [chosen.width]
        ridges = WEIGHTED_KERNEL_RIDGES if chosen.ridge is None else [chosen.ridge]
        # the cost of a vertex is the cube of the number of examples
        affordable = MAX_SAMPLE_VERTICES * FULL_SAMPLE_EXAMPLES**2 // len(examples) ** 2
        some = simplex.pick_vertices_evenly(skin.rest, min(MAX_SAMPLE_VERTICES, max(affordable, MIN_SAMPLE_VERTICES)))

        def error(width: float, ridge: float) -> float:
            k, rest = _kernels(table, heard[some], shares[some], width)
            return corrections.leave_one_out_error(corrections.subtract_rest(k, rest, rest), d[some], ridge)

        width, ridge = corrections.choose_width_and_ridge(list(product(widths, ridges)), error)
        count = len(examples)
        filled = -(-(count + 1) // FLOATS_PER_VECTOR) * FLOATS_PER_VECTOR
        a = np.zeros((len(d), 3, filled), np.float32)
        rows = max(1, KERNEL_ENTRIES_PER_CHUNK // len(centres) ** 2)
        for first in range(0, len(d), rows):
            part = slice(first, first + rows)
            k, rest = _kernels(table, heard[part], shares[part], width)
            solution = corrections.solve(corrections.subtract_rest(k, rest, rest), d[part], ridge)
            a[part, :, :count] = np.swapaxes(solution, 1, 2)
            a[part, :, count] = -np.einsum("vea,ve->va", solution, rest)
            if progress is not None:
                progress(min(first + rows, len(d)), len(d))
        u = (shares / (8 * width**2)).astype(np.float32)
        centres = np.concatenate((centres, np.zeros((filled - count - 1, *centres.shape[1:]))))
        return cls(skin, features, centres, heard.astype(np.int32), u, a, float(width), float(ridge), chosen)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        kernels = jit.kernels(KERNELS)
        out = np.empty((len(t), len(self.skin.rest), 3), np.float32)
        matrices, home = t @ self.skin.inverse_binds, corrections.home_joints(self.skin)
        d = np.empty((min(len(t), corrections.FRAMES_PER_CHUNK), len(self.skin.rest), 3), np.float32)
        table = np.ascontiguousarray(np.moveaxis(self._table(t), 1, 0), dtype=np.float32)
        for first in range(0, len(t), corrections.FRAMES_PER_CHUNK):
            part = slice(first, first + corrections.FRAMES_PER_CHUNK)
            linear_blend(self.skin.rest, self.skin.joints, self.skin.weights, matrices[part], out=out[part])
            kernels.correct_vertices(self.heard, self.shares, self.coefficients, table[part], d[: len(out[part])])
            corrections.add_rotated(d[: len(out[part])], home, matrices[part], out[part])
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
        """The linear blend's, three float32 an example and the rest, and the joints of each vertex."""
        shared = 4.0 * self.centres.size / max(1, len(self.skin.rest))
        return self.skin.bytes_a_vertex + 12.0 * len(self.centres) + 5.0 * self.heard.shape[1] + shared


def joint_shares(skin: LinearSkin, features: PoseFeatures) -> Array:
    """u (V, M): for each joint that moves, a vertex's weight on its bone and on its parent's."""
    full = np.zeros((len(skin.rest), len(skin.inverse_binds)))
    np.add.at(full, (np.arange(len(full))[:, None], skin.joints), skin.weights)
    return full[:, features.joints] + full[:, features.above]


def strongest_joints(skin: LinearSkin, features: PoseFeatures, most: int) -> tuple[Array, Array]:
    """Joints (V, L) among those that move, and their shares u (V, L): the `most` largest, normalised to sum to one.

    A vertex whose bones have no moving end (a head on a neck at rest) has shares of zero.
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
