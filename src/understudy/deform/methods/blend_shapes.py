"""Blend shapes as a deformer: whole shapes mixed, without a skin.

    v' = T_r B_r (v + sum_p w_p d_p)

T_r is the transform of the root joint and B_r its inverse bind, so that a face moves with the head. Targets may be
in-betweens: reached where their shape's weight is at their stop, blended linearly between stops (`character.Shapes`).
With `convex` the weights are non-negative and their sum at most one, the remainder being the rest shape: the hull of
the shapes (Parke 1972, "Computer generated animation of faces").

Examples with `shape_weights` give the targets by least squares. Without, each example is a shape, and the pose sets the
weights: the cardinal functions of pose space (`pose_space`), which is Lewis' shape interpolation without the skeleton.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.mesh import Shapes
from understudy.character.skinning.blend_shapes import ShapeBlocks, add_shapes, prepare
from understudy.character.skinning.linear import linear_blend, vertex_normals
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import corrections
from understudy.deform.fitting.pose_features import PoseFeatures, squared_distances
from understudy.deform.methods.pose_space import rest_kernel
from understudy.errors import InvalidInput
from understudy.maths import transform, vector

FRAMES_PER_CHUNK = 256  # frames of one call of the kernels


@dataclass(frozen=True)
class BlendShapesSettings:
    """`stops` are the weights at which each shape has a target, for examples with shape weights; the last is 1.

    `width` and `ridge` of the pose kernel are cross-validated where None.
    """

    convex: bool = False
    stops: tuple[float, ...] = (1.0,)
    width: float | None = None
    ridge: float | None = None


@dataclass(frozen=True, eq=False)
class PoseDials(FrozenArrays):
    """Weights of the shapes as a function of the pose."""

    features: PoseFeatures
    centres: Array  # (E, M, 12)
    mix: Array  # (E, E)
    width: float

    def __call__(self, transforms: Array) -> Array:
        """c (F, E)."""
        return rest_kernel(self.features(transforms), self.centres, self.width) @ self.mix


@dataclass(frozen=True, eq=False)
class BlendShapes(FrozenArrays):
    """S shapes on a root joint, with weights given, or set by the pose."""

    name: ClassVar[str] = "blend-shapes"
    paper: ClassVar[str] = "Parke 1972; Lewis, Cordner and Fong 2000"
    Settings: ClassVar[type] = BlendShapesSettings
    gltf: ClassVar[bool] = False  # a viewer needs the weights baked into the clip

    rest: Array  # (V, 3) float32
    rest_normals: Array  # (V, 3) float32
    root: int
    inverse_bind: Array  # (4, 4)
    joints: int  # B
    shapes: Shapes  # S shapes, P targets
    dials: PoseDials | None
    settings: BlendShapesSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> BlendShapes:
        """Shapes from examples; `seed` is not used."""
        chosen = settings_of(BlendShapesSettings, settings)
        examples.require_poses(2, "blend shapes")
        root = int(np.argmax(examples.parents < 0))
        back = transform.invert(examples.transforms[:, root] @ examples.inverse_binds[root])
        seen = np.stack([transform.apply(m, v) for m, v in zip(back, examples.vertices)])
        dials = None
        if examples.shape_weights is None:
            deltas, dials = seen - examples.rest, _pose_dials(examples, seen - examples.rest, chosen)
            frame = Shapes([f"example {e}" for e in range(len(deltas))], np.zeros((len(deltas), 0, 3)))
        else:
            frame = _frame(examples.shape_weights.shape[1], chosen.stops)
            w = frame.target_weights(_hull(examples.shape_weights) if chosen.convex else examples.shape_weights)
            deltas = _targets(w, seen - examples.rest)
        rest = examples.rest.astype(np.float32)
        flat = vertex_normals(rest, examples.triangles)
        normals = vertex_normals(examples.rest + deltas, examples.triangles) - flat
        shapes = Shapes(frame.names, deltas, normals, None, frame.shape_of, frame.stop_of)
        if progress is not None:
            progress(1, 1)
        bind = examples.inverse_binds[root]
        return cls(rest, flat, root, bind, len(examples.inverse_binds), shapes, dials, chosen)

    @cached_property
    def shape_blocks(self) -> ShapeBlocks:
        """The targets in the form that is evaluated fast."""
        return prepare(self.shapes.deltas)

    def target_weights(self, transforms: Array, shape_weights: ArrayLike | None = None) -> Array:
        """Weights (F, P) of the targets, from the pose or from given ones (F, S) of the shapes."""
        if shape_weights is not None:
            w = np.asarray(shape_weights, float)
            w = w[None] if w.ndim == 1 else w
            if w.shape != (len(transforms), len(self.shapes)):
                wanted = (len(transforms), len(self.shapes))
                raise InvalidInput(f"shape weights should have shape {wanted}, but have shape {w.shape}")
        elif self.dials is not None:
            w = self.dials(transforms)
        else:
            w = np.tile(self.shapes.defaults, (len(transforms), 1))
        return self.shapes.target_weights(_hull(w) if self.settings.convex else w)

    def deform(self, transforms: ArrayLike, shape_weights: ArrayLike | None = None) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4), by the pose's weights or those given (F, S)."""
        t, single = check_transforms(transforms, self.joints)
        w, matrices = self.target_weights(t, shape_weights), self._root(t)[:, None]
        out = np.empty((len(t), len(self.rest), 3), np.float32)
        joints, ones = np.zeros((len(self.rest), 1), np.int32), np.ones((len(self.rest), 1), np.float32)
        for first in range(0, len(t), FRAMES_PER_CHUNK):
            part = slice(first, first + FRAMES_PER_CHUNK)
            shaped = add_shapes(self.rest, self.shape_blocks, w[part])
            linear_blend(shaped, joints, ones, matrices[part], out=out[part])
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike, shape_weights: ArrayLike | None = None) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, self.joints)
        w = self.target_weights(t, shape_weights)
        shaped = self.rest + np.einsum("fp,pva->fva", w, self.shapes.deltas.astype(np.float64))
        out = transform.apply(self._root(t)[:, None], shaped)
        return out[0] if single else out

    def normals(self, transforms: ArrayLike, shape_weights: ArrayLike | None = None) -> Array:
        """Unit normals (F, V, 3) float32, mixed as the vertices are: exact at each target, near between them."""
        t, single = check_transforms(transforms, self.joints)
        w = self.target_weights(t, shape_weights)
        assert self.shapes.normals is not None
        mixed = add_shapes(self.rest_normals, self.shapes.normals, w)
        turned = transform.apply_direction(self._root(t)[:, None], mixed)
        out = vector.normalise(turned).astype(np.float32)
        return out[0] if single else out

    def _root(self, transforms: Array) -> Array:
        return transforms[:, self.root] @ self.inverse_bind

    @property
    def bytes_a_vertex(self) -> float:
        """A float32 position, and three float32 for each target that moves the vertex."""
        moved = float((self.shapes.deltas != 0).any(axis=2).sum()) / max(1, len(self.rest))
        shared = 0 if self.dials is None else 4.0 * (self.dials.centres.size + self.dials.mix.size)
        return 12.0 + 12.0 * moved + shared / max(1, len(self.rest))


def _pose_dials(examples: Examples, deltas: Array, settings: BlendShapesSettings) -> PoseDials:
    """Width and ridge with the least error at examples left out, as in pose space deformation."""
    features = PoseFeatures.from_examples(examples)
    x = features(examples.transforms)
    unit = corrections.median_distance(squared_distances(x, x).sum(axis=0))
    widths = [unit * w for w in corrections.KERNEL_WIDTH_RATIOS] if settings.width is None else [settings.width]
    ridges = corrections.KERNEL_RIDGES if settings.ridge is None else [settings.ridge]
    d = deltas.reshape(len(deltas), -1)
    width, ridge = corrections.choose_width_and_ridge(
        [(w, r) for w in widths for r in ridges],
        lambda width, ridge: corrections.leave_one_out_error(rest_kernel(x, x, width), d, ridge),
    )
    mix = np.linalg.inv(rest_kernel(x, x, width) + ridge * np.eye(len(x)))
    return PoseDials(features, x, mix, float(width))


def _frame(count: int, stops: tuple[float, ...]) -> Shapes:
    """Names, shapes and stops of the targets, without vertices."""
    if not stops or 0 in stops or len(set(stops)) < len(stops):
        raise InvalidInput(f"stops should be distinct weights other than 0, but are {stops}")
    shape_of, stop_of = np.repeat(np.arange(count), len(stops)), np.tile(stops, count)
    names = [f"shape {s}" for s in range(count)]
    return Shapes(names, np.zeros((len(shape_of), 0, 3)), shape_of=shape_of, stop_of=stop_of)


def _targets(weights: Array, moved: Array) -> Array:
    """d (P, V, 3) with the least sum_e | w_e d - moved_e |^2; undetermined targets are zero."""
    d = np.linalg.lstsq(weights, moved.reshape(len(moved), -1), rcond=1e-9)[0]
    return d.reshape(len(d), *moved.shape[1:])


def _hull(weights: Array) -> Array:
    """Weights (F, S) >= 0 with a sum of at most one: negative ones become zero, then all are divided by the excess."""
    w = np.maximum(weights, 0)
    return w / np.maximum(w.sum(axis=1, keepdims=True), 1)
