"""Multi-weight enveloping: every entry of a joint's matrix has its own weight.

    v' = T_h sum_k (W_k o N_hk) v_h,    N_hk = (T_h^-1 T_k) (B_k B_h^-1),    v_h = B_h v

with o the product entry by entry, W_k twelve weights (the homogeneous row 0 0 0 1 is kept after summing) and B the
inverse binds (Wang and Phillips 2002, "Multi-weight enveloping: least-squares approximation techniques for skin
animation"). The paper weights the entries of the world's matrices, and its result then depends on the
character's heading; here they are those of the joints relative to the vertex's home joint h, its strongest, so that a
rigid motion of all joints moves the mesh rigidly. It also helps the fit: a forearm's bend relative to the upper arm is
one pattern, the same bend relative to the hips of a character that leans is many.

What is stored is c_k,rc = W_k,rc v_h,c, which is linear as well and does not divide by coordinates near zero. The rest
pose, where all N are 1, is kept exactly by sum_k c_k,rr = v_h,r. The fit is `ridge` around the linear blend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import corrections
from understudy.deform.fitting.corrections import RidgeProblem
from understudy.deform.methods.linear import base_skin, influence_sets
from understudy.maths import jit, transform

KERNELS = "understudy.deform.methods.method_kernels"


@dataclass(frozen=True)
class MultiWeightSettings:
    """`ridge` None is cross-validated; `weights` is "fit" or "artist", the linear blend from which the fit starts.

    `frame` "home" takes the joints relative to the vertex's strongest, "root" relative to the root, as the paper does.
    """

    influences: int = 4
    ridge: float | None = None
    weights: str = "fit"
    frame: str = "home"


@dataclass(frozen=True, eq=False)
class MultiWeight(FrozenArrays):
    """Skinning with twelve weights an influence."""

    name: ClassVar[str] = "multi-weight"
    paper: ClassVar[str] = "Wang and Phillips 2002"
    Settings: ClassVar[type] = MultiWeightSettings
    gltf: ClassVar[bool] = False

    inverse_binds: Array  # (B, 4, 4)
    pairs: Array  # (P, 2) int32, home joint h and joint k of each N that is needed
    home: Array  # (V,) int32
    pair_of: Array  # (V, K) int32, into pairs
    entries: Array  # (V, K, 12) float32, c in the order of the rows of N
    settings: MultiWeightSettings
    ridge: float

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> MultiWeight:
        """Weights from examples; `seed` is not used."""
        chosen = settings_of(MultiWeightSettings, settings)
        examples.require_poses(2, "multi-weight enveloping")
        skin = base_skin(examples, chosen)
        sets, weights = influence_sets(skin, examples, chosen.influences)
        home = np.take_along_axis(sets, np.argmax(weights, axis=1)[:, None], axis=1)[:, 0]
        if checks.one_of(chosen.frame, "frame", ("home", "root")) == "root":
            home = np.full_like(home, np.argmax(examples.parents < 0))
        local = transform.apply(skin.inverse_binds[home], skin.rest)
        points = np.concatenate((local, np.ones((len(local), 1))), axis=1)
        entries = np.tile((weights[..., None] * points[:, None])[:, :, None], (1, 1, 3, 1))  # (V, K, 3, 4)
        seen = transform.apply(transform.invert(examples.transforms[:, home]), examples.vertices)
        members = corrections.group_by_joints(np.concatenate((home[:, None], sets), axis=1))
        problems, residuals, sizes = [], [], examples.joint_sizes
        for joints, vertices in members:
            n = _relative(examples.transforms, skin.inverse_binds, joints[0], joints[1:])
            left = seen[:, vertices] - np.einsum("ekrc,vkrc->evr", n, entries[vertices])
            for r in range(3):
                problems.append(_problem(n[:, :, r], r, sizes[joints[0]]))
                residuals.append(left[..., r] / sizes[joints[0]])
        strength = corrections.best_ridge(problems, residuals, 1) if chosen.ridge is None else chosen.ridge
        for g, (joints, vertices) in enumerate(members):
            lengths = np.array([sizes[joints[0]]] * 3 + [1.0])
            for r in range(3):
                change = problems[3 * g + r].solve(residuals[3 * g + r], strength).T
                entries[vertices, :, r] += change.reshape(len(vertices), -1, 4) * lengths
            if progress is not None:
                progress(g + 1, len(members))
        pairs, pair_of = np.unique(
            np.stack((np.repeat(home[:, None], sets.shape[1], axis=1), sets), axis=-1).reshape(-1, 2),
            axis=0,
            return_inverse=True,
        )
        return cls(
            skin.inverse_binds,
            pairs.astype(np.int32),
            home.astype(np.int32),
            pair_of.reshape(sets.shape).astype(np.int32),
            entries.reshape(*sets.shape, 12).astype(np.float32),
            chosen,
            float(strength),
        )

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        out = np.empty((len(t), len(self.home), 3), np.float32)
        n, m = self._home_from_joint(t)[:, :, :3], t[:, :, :3]
        flat = (np.ascontiguousarray(a.reshape(*a.shape[:2], 12), dtype=np.float32) for a in (n, m))
        jit.kernels(KERNELS).blend_multi_weight(self.entries, self.pair_of, self.home, *flat, out)
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        n = self._home_from_joint(t)[:, :, :3]
        c = self.entries.reshape(*self.pair_of.shape, 3, 4).astype(np.float64)
        out = np.empty((len(t), len(self.home), 3))
        for f in range(len(t)):
            local = np.einsum("vkrc,vkrc->vr", n[f][self.pair_of], c)
            out[f] = transform.apply(t[f, self.home], local)
        return out[0] if single else out

    def _home_from_joint(self, transforms: Array) -> Array:
        """N (F, P, 4, 4) of each pair."""
        h, k = self.pairs[:, 0], self.pairs[:, 1]
        bind = self.inverse_binds[k] @ transform.invert(self.inverse_binds[h])
        back = transform.invert(transforms)
        return back[:, h] @ transforms[:, k] @ bind

    @property
    def bytes_a_vertex(self) -> float:
        """Twelve float32 and a byte (two beyond 256 joints) an influence, and the home joint."""
        number = 1 if len(self.inverse_binds) <= 256 else 2
        return self.pair_of.shape[1] * (48.0 + number) + number


def _relative(transforms: Array, inverse_binds: Array, home: int, joints: Array) -> Array:
    """N (E, K, 3, 4) of joints (K,) relative to `home`."""
    bind = inverse_binds[joints] @ transform.invert(inverse_binds[home])
    return (transform.invert(transforms[:, home])[:, None] @ transforms[:, joints] @ bind)[:, :, :3]


def _problem(rows: Array, r: int, size: float) -> RidgeProblem:
    """Row r of the N (E, K, 4): the fit of c_k,r., lengths in sizes of the mesh, with sum_k c_k,rr kept."""
    scaled = rows / (1, 1, 1, size)
    constraint = np.zeros((1, rows.shape[1], 4))
    constraint[0, :, r] = 1
    return RidgeProblem.from_matrices(scaled.reshape(len(rows), -1), constraint.reshape(1, -1))
