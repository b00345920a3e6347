"""Linear blending on a skeleton with added joints: some that rotate half way, some that swell as a joint bends.

For each joint j with parent p, whose rotation relative to the rest is D_j (by the angle a), there are added

    half        T_p L_j D_j^(1/2)                  at the joint: the skin between two bones keeps its volume
    swell       T_b C diag(1, s, s) C^-1           at the middle of the bone before (b = p) and after (b = j), with the
                s = 1 + g (1 - cos a) / 2          bone along the first axis of C: g = 1 bulges, g = -1/2 thins

(Mohr and Gleicher 2003, "Building efficient, accurate character skins from examples"). (1 - cos a) / 2 = (3 - tr D) / 4
is smooth everywhere, and D^(1/2) is the halfway quaternion, (1 + q) made unit, finite at 180 degrees as well. The
weights on all joints, old and new, are fitted as for linear blending; added joints without weight are dropped. The
result is a linear blend: with the added joints baked into a clip (`extend_transforms`) every engine plays it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import simplex
from understudy.deform.methods.linear import LinearSettings, LinearSkin
from understudy.maths import quaternion, transform, vector

HALF_TURN_KIND, SWELL_BEFORE_KIND, SWELL_AFTER_KIND = 0, 1, 2
SWELL_GAINS = (1.0, -0.5)  # g


@dataclass(frozen=True)
class AddedJointsSettings:
    """`ridge` None is cross-validated."""

    influences: int = 4
    ridge: float | None = None
    candidates: int = 24


@dataclass(frozen=True, eq=False)
class AddedJoints(FrozenArrays):
    """Linear blending with A more joints, driven by the B of the skeleton."""

    name: ClassVar[str] = "added-joints"
    paper: ClassVar[str] = "Mohr and Gleicher 2003"
    Settings: ClassVar[type] = AddedJointsSettings
    gltf: ClassVar[bool] = False

    rest: Array  # (V, 3) float32
    inverse_binds: Array  # (B, 4, 4)
    added: AddedJointRule
    added_binds: Array  # (A, 4, 4)
    joints: Array  # (V, K) int32, added joints count from B
    weights: Array  # (V, K) float32, rows sum to 1
    settings: AddedJointsSettings
    ridge: float
    rms_unlimited: float  # metres over the examples, without the limit on influences
    rms: float

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> AddedJoints:
        """Joints are added at every joint that moves in the examples; `seed` is not used."""
        chosen = settings_of(AddedJointsSettings, settings)
        examples.require_poses(2, "linear blending with added joints")
        added = AddedJointRule.from_examples(examples)
        binds = transform.invert(added.transforms(examples.rest_transforms[None])[0])
        matrices = np.concatenate((examples.matrices, added.transforms(examples.transforms) @ binds), axis=1)
        away = simplex.bone_distances(examples)
        away = np.concatenate(
            (away, away[:, np.where(added.kind == SWELL_BEFORE_KIND, added.parent, added.joint)]), axis=1
        )
        plain = LinearSkin.fit(examples, LinearSettings(influences=chosen.influences, ridge=chosen.ridge))
        fitted = simplex.fit_weights(
            matrices, examples, away, chosen.influences, chosen.ridge, chosen.candidates, also=plain.joints
        )
        j, w = simplex.strongest_influences(fitted.bones, fitted.weights, chosen.influences)
        j, w, rms = _choose_nearer(matrices, examples, (j, w), (plain.joints, plain.weights))
        bones = len(examples.inverse_binds)
        used = np.unique(j[(w > 0) & (j >= bones)]) - bones
        number = np.concatenate((np.arange(bones), np.full(len(added.kind), 0)))
        number[bones + used] = bones + np.arange(len(used))
        if progress is not None:
            progress(1, 1)
        j = np.where(w > 0, number[j], 0).astype(np.int32)
        return cls(
            examples.rest.astype(np.float32),
            examples.inverse_binds,
            added.subset(used),
            binds[used],
            j,
            w,
            chosen,
            fitted.ridge,
            fitted.rms_unlimited,
            rms,
        )

    def extend_transforms(self, transforms: ArrayLike) -> Array:
        """World_from_joint (F, B + A, 4, 4) of all joints: what a baked clip of the longer skeleton holds."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        result = np.concatenate((t, self.added.transforms(t)), axis=1)
        return result[0] if single else result

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        result = linear_blend(self.rest, self.joints, self.weights, self._matrices(t))
        return result[0] if single else result

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        out = np.empty((len(t), len(self.rest), 3))
        for f, m in enumerate(self._matrices(t)):
            blended = np.einsum("vk,vkab->vab", self.weights, m[self.joints, :3])
            out[f] = np.einsum("vab,vb->va", blended[..., :3], self.rest) + blended[..., 3]
        return out[0] if single else out

    def _matrices(self, transforms: Array) -> Array:
        added = self.added.transforms(transforms) @ self.added_binds
        return np.concatenate((transforms @ self.inverse_binds, added), axis=1)

    @property
    def bytes_a_vertex(self) -> float:
        """As linear blending, and the added joints' binds shared among the vertices."""
        number = 1 if len(self.inverse_binds) + len(self.added_binds) <= 256 else 2
        return 12.0 + self.joints.shape[1] * (4 + number) + 64.0 * len(self.added_binds) / max(1, len(self.rest))


@dataclass(frozen=True, eq=False)
class AddedJointRule(FrozenArrays):
    """A added joints: the kind of each, and how it follows the skeleton's joints."""

    kind: Array  # (A,) HALF_TURN_KIND, SWELL_BEFORE_KIND or SWELL_AFTER_KIND
    joint: Array  # (A,) the joint that drives it
    parent: Array  # (A,) the parent of that joint
    gain: Array  # (A,) of the swelling
    local: Array  # (A, 4, 4) parent_from_joint at rest of the driving joint
    centre: Array  # (A, 4, 4) C: bone_from_swelling, the bone along the first axis

    @classmethod
    def from_examples(cls, examples: Examples) -> AddedJointRule:
        """One half joint and four that swell for each joint that rotates in the examples."""
        rest, parents = examples.rest_transforms, examples.parents
        joints = np.flatnonzero(parents >= 0)
        local = transform.invert(rest[parents[joints]]) @ rest[joints]
        turn = _turn(local, transform.invert(examples.transforms[:, parents[joints]]) @ examples.transforms[:, joints])
        moves = _bend(turn).max(axis=0, initial=0) > 1e-6
        joints, local = joints[moves], local[moves]
        before = _centres(rest[parents[joints]], rest[joints])
        after = _centres(rest[joints], _tips(rest[:, :3, 3], parents, joints))
        eye = np.tile(np.eye(4), (len(joints), 1, 1))
        rows = (
            [(HALF_TURN_KIND, 0.0, eye)]
            + [(SWELL_BEFORE_KIND, g, before) for g in SWELL_GAINS]
            + [(SWELL_AFTER_KIND, g, after) for g in SWELL_GAINS]
        )
        return cls(
            np.repeat([kind for kind, _, _ in rows], len(joints)),
            np.tile(joints, len(rows)),
            np.tile(parents[joints], len(rows)),
            np.repeat([gain for _, gain, _ in rows], len(joints)),
            np.tile(local, (len(rows), 1, 1)),
            np.concatenate([centre for _, _, centre in rows]),
        )

    def subset(self, which: Array) -> AddedJointRule:
        """The added joints with the indexes `which`."""
        fields = (self.kind, self.joint, self.parent, self.gain, self.local, self.centre)
        return AddedJointRule(*(values[which] for values in fields))

    def transforms(self, transforms: Array) -> Array:
        """World_from_joint (F, A, 4, 4) of (F, B, 4, 4)."""
        out = np.empty((len(transforms), len(self.kind), 4, 4))
        drivers, first = np.unique(self.joint, return_index=True)  # each joint drives several
        where = np.searchsorted(drivers, self.joint)
        above = transforms[:, self.parent[first]]
        now = transform.invert(above) @ transforms[:, drivers]
        turn = _turn(self.local[first], now)
        half, swell = self.kind == HALF_TURN_KIND, self.kind != HALF_TURN_KIND
        if half.any():
            q = quaternion.from_matrix(turn[:, where[half]])
            q = np.where(q[..., 3:] < 0, -q, q) + quaternion.IDENTITY  # of the two signs the shorter rotation
            middle = self.local[half] @ transform.compose(np.zeros(3), vector.normalise(q))
            middle[..., :3, 3] = now[..., :3, 3][:, where[half]]
            out[:, half] = above[:, where[half]] @ middle
        if swell.any():
            scale = 1 + self.gain[swell] * _bend(turn)[:, where[swell]]
            stretch = np.zeros((*scale.shape, 4, 4))
            stretch[..., 0, 0] = stretch[..., 3, 3] = 1
            stretch[..., 1, 1] = stretch[..., 2, 2] = scale
            bone = np.where(self.kind[swell] == SWELL_BEFORE_KIND, self.parent[swell], self.joint[swell])
            out[:, swell] = transforms[:, bone] @ self.centre[swell] @ stretch
        return out


def _choose_nearer(
    matrices: Array, examples: Examples, one: tuple[Array, Array], other: tuple[Array, Array]
) -> tuple[Array, Array, float]:
    """Joints and weights of each vertex from the pair with the smaller error, and the rms: the search is greedy."""
    width = max(one[0].shape[1], other[0].shape[1])
    padded = [[np.pad(a, ((0, 0), (0, width - a.shape[1]))) for a in pair] for pair in (one, other)]
    errors = []
    for j, w in padded:
        left = np.zeros(len(w))
        for m, wanted in zip(matrices, examples.vertices):
            blended = np.einsum("vk,vkab->vab", w, m[j, :3])
            moved = np.einsum("vab,vb->va", blended[..., :3], examples.rest) + blended[..., 3]
            left += np.square(moved - wanted).sum(axis=1)
        errors.append(left)
    first = (errors[0] <= errors[1])[:, None]
    rms = float(np.sqrt(np.minimum(*errors).sum() / max(1, len(examples) * len(first))))
    return np.where(first, padded[0][0], padded[1][0]), np.where(first, padded[0][1], padded[1][1]), rms


def _turn(local: Array, now: Array) -> Array:
    """D (..., 3, 3): the rotation of a joint relative to its rest; scale divided out of the columns."""
    relative = np.linalg.solve(local[..., :3, :3], now[..., :3, :3])
    return relative / np.maximum(vector.length(np.swapaxes(relative, -1, -2))[..., None, :], 1e-12)


def _bend(turn: Array) -> Array:
    """(1 - cos a) / 2, from 0 to 1."""
    return np.clip((3 - np.trace(turn, axis1=-2, axis2=-1)) / 4, 0, 1)


def _tips(at: Array, parents: Array, joints: Array) -> Array:
    """(N, 4, 4) the far end of each joint's bone: its first child, or as far again as its parent is."""
    result = np.tile(np.eye(4), (len(joints), 1, 1))
    for n, j in enumerate(joints):
        children = np.flatnonzero(parents == j)
        result[n, :3, 3] = at[children[0]] if children.size else 2 * at[j] - at[parents[j]]
    return result


def _centres(bone: Array, tip: Array) -> Array:
    """C (N, 4, 4) in the frame of `bone`: halfway to `tip`, the first axis along it."""
    to = (transform.invert(bone) @ tip)[:, :3, 3]
    x = vector.normalise(to, otherwise=(1.0, 0.0, 0.0))
    y = vector.perpendicular(x)
    result = np.tile(np.eye(4), (len(bone), 1, 1))
    result[:, :3, :3] = np.stack((x, y, vector.cross(x, y)), axis=-1)
    result[:, :3, 3] = to / 2
    return result
