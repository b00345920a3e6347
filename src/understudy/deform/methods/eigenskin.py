"""EigenSkin: corrections of a linear blend, a few principal displacements for each joint, where they have an effect.

    v' = sum_k w_k M_k v + M_h sum_j sum_m c_jm(x_j) u_jm,v

(Kry, James and Pai 2002, "EigenSkin: real time large deformation character skinning in hardware"). The paper moves one
joint at a time to find the displacements of each; examples that move several joints at once are first shared among the
joints: a vertex that the joints S affect is fitted with the additive kernel K_S = sum over S of K_j(x_j, y_j), whose
dual coefficients a_e give joint j the part sum_e a_e K_j(x_j, x_j,e). The principal displacements u_jm are the right
singular vectors of these parts at the examples, as many as keep `energy` of them; their coordinates c_jm stay functions
of joint j alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.blend_shapes import ShapeBlocks, prepare
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import corrections, simplex
from understudy.deform.fitting.pose_features import PoseFeatures, squared_distances
from understudy.deform.methods.linear import LinearSkin, base_skin
from understudy.deform.methods.pose_space import joint_shares

MIN_JOINT_SHARE = 0.02  # weight on a joint's two bones above which it affects a vertex
MIN_CORRECTION_RATIO = 5e-3  # of the largest correction: smaller ones are not stored
SAMPLE_VERTICES = 1500  # vertices in the cross-validation of width and ridge


@dataclass(frozen=True)
class EigenSkinSettings:
    """`energy` of the corrections kept by the principal displacements; `components` limits them for each joint."""

    influences: int = 4
    energy: float = 0.999
    components: int = 12
    width: float | None = None
    ridge: float | None = None
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class EigenSkin(FrozenArrays):
    """A linear blend with R principal displacements in all, each driven by one joint."""

    name: ClassVar[str] = "eigenskin"
    paper: ClassVar[str] = "Kry, James and Pai 2002"
    Settings: ClassVar[type] = EigenSkinSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    features: PoseFeatures
    centres: Array  # (E, M, 12)
    joint_of: Array  # (R,) int, into the M joints that move
    mix: Array  # (E, R): c = K_j(x_j, centres) @ mix
    displacements: ShapeBlocks  # R shapes
    stored: int  # vertices x displacements inside the supports
    width: float
    ridge: float
    settings: EigenSkinSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> EigenSkin:
        """Principal displacements from examples; `seed` is not used."""
        chosen = settings_of(EigenSkinSettings, settings)
        examples.require_poses(2, "EigenSkin")
        skin, features = base_skin(examples, chosen), PoseFeatures.from_examples(examples)
        d = corrections.home_corrections(skin, examples)
        x = features(examples.transforms)
        affects = joint_shares(skin, features) > MIN_JOINT_SHARE
        unit = corrections.median_distance(squared_distances(x, x))
        widths = [unit * w for w in corrections.KERNEL_WIDTH_RATIOS] if chosen.width is None else [chosen.width]
        ridges = corrections.KERNEL_RIDGES if chosen.ridge is None else [chosen.ridge]
        some = np.sort(simplex.pick_vertices_evenly(skin.rest, SAMPLE_VERTICES))
        samples = corrections.group_by_joints(affects[some])

        def error(width: float, ridge_: float) -> float:
            k = joint_kernels(x, x, width)
            parts = ((k[s].sum(axis=0), _flat(d[:, some[v]])) for s, v in samples)
            return sum(corrections.leave_one_out_error(joint, values, ridge_) for joint, values in parts)

        width, strength = corrections.choose_width_and_ridge(list(product(widths, ridges)), error)
        k = joint_kernels(x, x, width)
        a = np.zeros(d.shape)
        for s, v in corrections.group_by_joints(affects):
            a[:, v] = corrections.solve(k[s].sum(axis=0), _flat(d[:, v]), strength).reshape(len(d), len(v), 3)
        joint_of, mix, shapes, stored = _principal(k, a, affects, chosen)
        if progress is not None:
            progress(1, 1)
        numbers = (stored, float(width), float(strength), chosen)
        return cls(skin, features, x, joint_of, mix, prepare(shapes), *numbers)

    def coordinates(self, transforms: Array) -> Array:
        """c (F, R): the weight of each principal displacement."""
        k = joint_kernels(self.features(transforms), self.centres, self.width)
        return np.einsum("rfe,er->fr", k[self.joint_of], self.mix)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        out = corrections.deform_corrected(self.skin, self.displacements, t, self.coordinates(t))
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        c, shapes = self.coordinates(t), self.displacements
        block = np.repeat(np.arange(len(shapes.starts) - 1), np.diff(shapes.starts))
        d = np.zeros((len(t), len(shapes.starts) - 1, shapes.rows.shape[1]))
        for f in range(len(t)):
            np.add.at(d[f], block, c[f, shapes.shape_of, None] * shapes.rows)
        d = d.reshape(len(t), -1)[:, : 3 * shapes.vertices].reshape(len(t), shapes.vertices, 3)
        out = corrections.reference_corrected(self.skin, t, d)
        return out[0] if single else out

    @property
    def bytes_a_vertex(self) -> float:
        """The linear blend's, three float32 a displacement inside its support; poses and mix shared."""
        shared = 12.0 * self.stored + 4.0 * (self.centres.size + self.mix.size)
        return self.skin.bytes_a_vertex + shared / max(1, len(self.skin.rest))


def joint_kernels(a: Array, b: Array, width: float) -> Array:
    """K_j (M, F, E) of each joint alone, with the rest subtracted."""
    rest = np.zeros((1, *b.shape[1:]))
    k, from_a, from_b = (
        corrections.gaussian(squared_distances(*pair), width) for pair in ((a, b), (a, rest), (rest, b))
    )
    return corrections.subtract_rest(k, from_a[:, :, 0], from_b[:, 0])


def _flat(values: Array) -> Array:
    """(E, N, 3) -> (E, 3 N)."""
    return values.reshape(len(values), -1)


def _moving_mask(k: Array, a: Array, affects: Array) -> Array:
    """(V, M): whether a joint moves a vertex by more than a little in any example."""
    most = np.zeros(affects.shape)
    for j in range(affects.shape[1]):
        part = (k[j] @ _flat(a[:, affects[:, j]])).reshape(len(a), -1, 3)
        most[affects[:, j], j] = np.sqrt(np.square(part).sum(axis=2).max(axis=0, initial=0))
    return most > MIN_CORRECTION_RATIO * most.max(initial=0)


def _principal(k: Array, a: Array, affects: Array, settings: EigenSkinSettings) -> tuple[Array, Array, Array, int]:
    """joint_of (R,), mix (E, R), displacements (R, V, 3), and how many vertices they move in all."""
    joint_of, mixes, shapes, stored = [], [np.zeros((len(a), 0))], [np.zeros((0, *a.shape[1:]))], 0
    affects = affects & _moving_mask(k, a, affects)
    parts = [k[j] @ _flat(a[:, affects[:, j]]) for j in range(affects.shape[1])]
    spectra = [np.linalg.eigh(part @ part.T) for part in parts]  # the SVD of wide matrices, by their rows
    every = np.sort(np.concatenate([np.maximum(values, 0) for values, _ in spectra] or [np.zeros(1)]))
    lost = np.cumsum(every)
    floor = every[min(np.searchsorted(lost, (1 - settings.energy) * lost[-1]), len(every) - 1)]
    for j, (part, (values, vectors)) in enumerate(zip(parts, spectra)):
        kept = np.flatnonzero((values >= floor) & (values > 1e-12 * lost[-1]))[-settings.components :]
        vt = (vectors[:, kept] / np.sqrt(values[kept])).T @ part
        where = np.flatnonzero(affects[:, j])
        full = np.zeros((len(kept), *a.shape[1:]))
        full[:, where] = vt.reshape(len(kept), len(where), 3)
        joint_of += [j] * len(kept)
        mixes.append(_flat(a[:, where]) @ vt.T)
        shapes.append(full)
        stored += len(kept) * len(where)
    return np.array(joint_of, np.int64), np.concatenate(mixes, axis=1), np.concatenate(shapes), stored
