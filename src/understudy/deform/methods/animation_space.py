"""Animation space: each influence has its own point in its joint's frame, instead of a share of one rest point.

    v' = sum_k T_k p_k,        p_k in R^4,  sum_k p_k,w = 1

(Merry, Marais and Gain 2006, "Animation space: a truly linear framework for character animation".) Linear blending
is the case p_k = w_k B_k v. Four numbers an influence instead of one let a joint keep its volume and a muscle bulge,
the method stays linear in what is fitted, and a rigid motion of all joints moves the mesh rigidly because the last
components sum to one.

The fit starts from the linear blend and changes it as little as the examples need (`ridge`), with sum_k T_k p_k = v in
the rest pose kept exactly; the lengths in p are measured in sizes of the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import corrections
from understudy.deform.fitting.corrections import RidgeProblem
from understudy.deform.methods.linear import base_skin, influence_sets
from understudy.maths import jit

KERNELS = "understudy.deform.methods.method_kernels"


@dataclass(frozen=True)
class AnimationSpaceSettings:
    """`ridge` None is cross-validated; `weights` is "fit" or "artist", the linear blend from which the fit starts."""

    influences: int = 4
    ridge: float | None = None
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class AnimationSpace(FrozenArrays):
    """Skinning by weighted points in the frames of the joints."""

    name: ClassVar[str] = "animation-space"
    paper: ClassVar[str] = "Merry, Marais and Gain 2006"
    Settings: ClassVar[type] = AnimationSpaceSettings
    gltf: ClassVar[bool] = False

    joints: Array  # (V, K) int32
    points: Array  # (V, K, 4) float32
    count: int  # B
    settings: AnimationSpaceSettings
    ridge: float

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> AnimationSpace:
        """Points from examples; `seed` is not used."""
        chosen = settings_of(AnimationSpaceSettings, settings)
        examples.require_poses(2, "animation space")
        skin = base_skin(examples, chosen)
        sets, weights = influence_sets(skin, examples, chosen.influences)
        local = np.einsum("vkab,vb->vka", skin.inverse_binds[sets], _homogeneous(skin.rest))
        points = weights[..., None] * local
        left = (examples.vertices - _blend(points, sets, examples.transforms)) / examples.size
        problems, residuals, members = [], [], corrections.group_by_joints(sets)
        for joints, vertices in members:
            problems.append(_problem(examples, joints))
            residuals.append(np.moveaxis(left[:, vertices], 1, 2).reshape(-1, len(vertices)))
        strength = corrections.best_ridge(problems, residuals, 3) if chosen.ridge is None else chosen.ridge
        for done, ((joints, vertices), problem, r) in enumerate(zip(members, problems, residuals)):
            change = problem.solve(r, strength).T.reshape(len(vertices), -1, 4)
            lengths = np.repeat(examples.joint_sizes[joints, None], 4, axis=1)
            lengths[:, 3] = 1
            points[vertices] += change * lengths
            if progress is not None:
                progress(done + 1, len(members))
        return cls(sets.astype(np.int32), points.astype(np.float32), len(skin.inverse_binds), chosen, float(strength))

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, self.count)
        out = np.empty((len(t), len(self.points), 3), np.float32)
        m = np.ascontiguousarray(t[:, :, :3].reshape(len(t), self.count, 12), dtype=np.float32)
        jit.kernels(KERNELS).blend_animation_space(self.points, self.joints, m, out)
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, self.count)
        out = _blend(self.points.astype(np.float64), self.joints, t)
        return out[0] if single else out

    @property
    def bytes_a_vertex(self) -> float:
        """Four float32 and a byte (two beyond 256 joints) an influence."""
        return self.joints.shape[1] * (16.0 + (1 if self.count <= 256 else 2))


def _problem(examples: Examples, joints: Array) -> RidgeProblem:
    """A (3E, 4K) = the columns of T; C (4, 4K) = those of the rest pose. Lengths are in sizes of the mesh.

    Since the last components of the changes sum to zero, each pose may be moved to its own middle.
    """
    lengths = examples.joint_sizes[joints, None, None]
    t = examples.transforms[:, joints, :3] / examples.size
    t[..., 3] -= t[..., 3].mean(axis=1, keepdims=True)
    t[..., :3] *= lengths
    rest = examples.rest_transforms[joints]
    rest[:, :3] /= examples.rest_size
    rest[:, :3, 3] -= rest[:, :3, 3].mean(axis=0)
    rest[:, :3, :3] *= lengths
    return RidgeProblem.from_matrices(
        np.swapaxes(t, 1, 2).reshape(3 * len(t), -1), np.swapaxes(rest, 0, 1).reshape(4, -1)
    )


def _blend(points: Array, joints: Array, transforms: Array) -> Array:
    """sum_k T_k p_k, (F, V, 3): one pose and one influence at a time."""
    out = np.zeros((len(transforms), len(points), 3), points.dtype)
    for f, t in enumerate(transforms[:, :, :3].astype(points.dtype)):
        for k in range(joints.shape[1]):
            out[f] += np.einsum("vab,vb->va", t[joints[:, k]], points[:, k])
    return out


def _homogeneous(points: Array) -> Array:
    return np.concatenate((points, np.ones((len(points), 1))), axis=1)
