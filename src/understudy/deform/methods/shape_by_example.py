"""Shape by example: corrections in a space whose axes have names, interpolated by a plane and radial functions.

    v' = sum_k w_k M_k v + M_h sum_e c_e(x) d_e,      c_e(x) = sum_l A_l(x) a_le + sum_i R_i(x) r_ie

(Sloan, Rose and Cohen 2001, "Shape by example"). x holds the values of the axes: angles of joints (`pose_features`)
and, for properties that a pose does not determine ("age", "weight"), tags that are set on the examples and are
parameters afterwards. The cardinal function c_e is one at example e and zero at all others: A_l are 1 and the axes,
fitted by least squares; R_i are cubic B-splines of the distance from example i, twice as wide as the distance to its
nearest neighbour, and take up the residual. The rest pose is an example as well, with nothing to correct. Beyond the
examples the plane continues, so that shapes extrapolate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.blend_shapes import ShapeBlocks, prepare
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import corrections
from understudy.deform.fitting.pose_features import Axis, PoseAxes
from understudy.deform.methods.linear import LinearSkin, base_skin
from understudy.errors import InvalidInput

SAME_POSE_RAD = 1e-3  # examples nearer than this on every axis are one, with their corrections averaged


@dataclass(frozen=True)
class AxisValue:
    """An axis that the pose does not determine: its value in each example, and at rest."""

    name: str
    values: tuple[float, ...]
    rest: float = 0.0


@dataclass(frozen=True)
class ShapeByExampleSettings:
    """`axes` are found where empty; `weights` of the linear blend are "fit" or the "artist"'s."""

    influences: int = 4
    axes: tuple[Axis, ...] = ()
    tags: tuple[AxisValue, ...] = ()
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class ShapeByExample(FrozenArrays):
    """A linear blend with corrections over A named axes and N examples, the first of which is the rest."""

    name: ClassVar[str] = "shape-by-example"
    paper: ClassVar[str] = "Sloan, Rose and Cohen 2001"
    Settings: ClassVar[type] = ShapeByExampleSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    axes: PoseAxes
    scale: Array  # (A,) axes and tags are divided by their spread
    centres: Array  # (N, A)
    radii: Array  # (N,)
    plane: Array  # (1 + A, N - 1)
    radial: Array  # (N, N - 1)
    shapes: Array  # (N - 1, V, 3) float32, d_e; the rest needs none
    settings: ShapeByExampleSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> ShapeByExample:
        """Corrections from examples; `seed` is not used."""
        chosen = settings_of(ShapeByExampleSettings, settings)
        examples.require_poses(2, "shape by example")
        skin = base_skin(examples, chosen)
        axes = PoseAxes.from_axes(chosen.axes, examples) if chosen.axes else PoseAxes.from_examples(examples)
        d = corrections.home_corrections(skin, examples)
        x, rest = _with_tags(axes(examples.transforms), chosen.tags)
        scale = np.where(np.ptp(x, axis=0) > SAME_POSE_RAD, x.std(axis=0), 1.0)
        centres, of = _distinct_points(np.concatenate((rest[None], x)))
        count = np.bincount(of[1:], minlength=len(centres))
        shapes = np.zeros((len(centres), *d.shape[1:]))
        np.add.at(shapes, of[1:], d)
        shapes /= np.maximum(count, 1)[:, None, None]
        centres = centres / scale
        radii = _radii(centres)
        # cardinal: each column of the target is one at its own example; the first, the rest, corrects nothing
        target = np.eye(len(centres))[:, 1:]
        flat = np.column_stack((np.ones(len(centres)), centres))
        plane = np.linalg.lstsq(flat, target, rcond=1e-6)[0]
        spline = _spline(centres, centres, radii)
        radial = np.linalg.lstsq(spline, target - flat @ plane, rcond=1e-10)[0]
        if progress is not None:
            progress(1, 1)
        return cls(skin, axes, scale, centres, radii, plane, radial, shapes[1:].astype(np.float32), chosen)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The axes of joints, then the tags."""
        return (*self.axes.names, *(tag.name for tag in self.settings.tags))

    @cached_property
    def shape_blocks(self) -> ShapeBlocks:
        """The corrections in the form that is evaluated fast."""
        return prepare(self.shapes)

    def shape_weights(self, transforms: Array, values: Mapping[str, ArrayLike] | None = None) -> Array:
        """c (F, N - 1) of world_from_joint (F, B, 4, 4) and the tags' `values` by name: numbers, or (F,)."""
        given = dict(values or {})
        tags = [np.asarray(given.pop(tag.name, tag.rest), float) for tag in self.settings.tags]
        if given:
            known = ", ".join(repr(tag.name) for tag in self.settings.tags) or "none"
            raise InvalidInput(f"there is no tag {next(iter(given))!r}; available: {known}")
        x = self.axes(transforms)
        x = np.column_stack((x, *(np.broadcast_to(tag, len(x)) for tag in tags))) / self.scale
        plane = self.plane[0] + x @ self.plane[1:]
        return plane + _spline(x, self.centres, self.radii) @ self.radial

    def deform(self, transforms: ArrayLike, values: Mapping[str, ArrayLike] | None = None) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4), and of the tags where there are any."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        out = corrections.deform_corrected(self.skin, self.shape_blocks, t, self.shape_weights(t, values))
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike, values: Mapping[str, ArrayLike] | None = None) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        d = np.einsum("fe,eva->fva", self.shape_weights(t, values), self.shapes.astype(np.float64))
        out = corrections.reference_corrected(self.skin, t, d)
        return out[0] if single else out

    @property
    def bytes_a_vertex(self) -> float:
        """The linear blend's, and three float32 an example; other data is shared among the vertices."""
        shared = self.centres.size + self.plane.size + self.radial.size + self.radii.size
        return self.skin.bytes_a_vertex + 12.0 * len(self.shapes) + 4.0 * shared / max(1, len(self.skin.rest))


def _with_tags(values: Array, tags: tuple[AxisValue, ...]) -> tuple[Array, Array]:
    """x (E, A) of the examples and (A,) of the rest, tags in the last columns."""
    for tag in tags:
        if len(tag.values) != len(values):
            raise InvalidInput(
                f"tag {tag.name!r} should have a value for each of {len(values)} examples, but has {len(tag.values)}"
            )
    columns = [np.asarray(tag.values, float) for tag in tags]
    rest = np.concatenate((np.zeros(values.shape[1]), [tag.rest for tag in tags]))
    return np.column_stack((values, *columns)), rest


def _distinct_points(x: Array) -> tuple[Array, Array]:
    """The points of x (E, A) that differ, in their order, and which of them each one is."""
    near = np.abs(x[:, None] - x[None]).max(axis=-1, initial=0) < SAME_POSE_RAD
    first = np.argmax(near, axis=1)
    kept = np.unique(first)
    return x[kept], np.searchsorted(kept, first[first])


def _radii(centres: Array) -> Array:
    """(N,) twice the distance to the nearest other example."""
    away = np.sqrt(np.square(centres[:, None] - centres[None]).sum(axis=-1))
    np.fill_diagonal(away, np.inf)
    nearest = away.min(axis=1, initial=np.inf)
    return 2 * np.where(np.isfinite(nearest), nearest, 1.0)


def _spline(x: Array, centres: Array, radii: Array) -> Array:
    """The cubic B-spline of the distance (F, N): one at the centre, zero from the radius on."""
    r = np.sqrt(np.square(x[:, None] - centres[None]).sum(axis=-1)) / radii * 2
    inner, outer = 1 - 1.5 * r**2 + 0.75 * r**3, 0.25 * np.maximum(2 - r, 0) ** 3
    return np.where(r < 1, inner, outer)
