"""Dual quaternion skinning as a deformer, with weights found from examples.

    v' = q p q*,   q = sum_k w_k s_k q_k / |sum_k w_k s_k q_k|,   p = sum_k w_k S_k v,   w >= 0,  sum_k w_k = 1

q_k is the rigid part of joint k's matrix, S_k its scale, s_k = -1 where q_k lies on the other side of the strongest
joint's (Kavan, Collins, Zara and O'Sullivan 2007, "Skinning with dual quaternions"; the scale as in
`character.skinning.dual_quaternion`). Rotations are blended as rotations, so that a twist does not collapse (no candy
wrapper), and a bend bulges outwards.

The fit is damped Gauss-Newton (Levenberg-Marquardt), all vertices at once. v' does not change when all
weights are scaled, so J w = 0, and because the weights sum to one the linearised error | J w' + r |^2 is again a
quadratic form w' H w on the simplex, which `simplex` solves exactly, signs and all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.skinning.dual_quaternion import dual_blend, rigid_and_scale
from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting import simplex
from understudy.deform.methods.linear import base_skin, influence_sets
from understudy.maths import quaternion, vector

ELEMENTS_PER_CHUNK = 200_000  # vertices x examples x influences: some 100 MB
LEVENBERG_STEPS = 12
MIN_ERROR_DROP_RATIO = 1e-5  # of a vertex's error: a step that reduces it by less is the last
# Of the trace of J'J at first; divided by 4 after a step that helps, times 8 after one that does not.
INITIAL_DAMPING_RATIO = 1e-4


@dataclass(frozen=True)
class DualSettings:
    """`ridge` None is that of the linear blend; `weights` "artist" keeps the artist's instead of fitting."""

    influences: int = 4
    ridge: float | None = None
    weights: str = "fit"


@dataclass(frozen=True, eq=False)
class DualSkin(FrozenArrays):
    """Dual quaternion skinning, with scale."""

    name: ClassVar[str] = "dual"
    paper: ClassVar[str] = "Kavan, Collins, Zara and O'Sullivan 2007"
    Settings: ClassVar[type] = DualSettings
    gltf: ClassVar[bool] = False

    rest: Array  # (V, 3) float32
    inverse_binds: Array  # (B, 4, 4)
    joints: Array  # (V, K) int32
    weights: Array  # (V, K) float32, rows sum to 1
    settings: DualSettings
    ridge: float = 0.0
    rms: float = 0.0  # metres over the examples

    @classmethod
    def fit(cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None) -> DualSkin:
        """Weights from examples; `seed` is not used."""
        chosen = settings_of(DualSettings, settings)
        skin = base_skin(examples, chosen)
        if chosen.weights == "artist":
            return cls(skin.rest, skin.inverse_binds, skin.joints, skin.weights, chosen)
        sets, weights = influence_sets(skin, examples, chosen.influences)
        strength = skin.ridge if chosen.ridge is None else chosen.ridge
        away = np.take_along_axis(simplex.bone_distances(examples), sets, axis=1) / examples.rest_size
        penalty = strength * len(examples) * examples.size**2 * (1e-2 + away**2)
        motions, scale, _ = rigid_and_scale(examples.matrices)
        rows = max(1, ELEMENTS_PER_CHUNK // (len(examples) * sets.shape[1]))
        fitted, error = np.empty(weights.shape), 0.0
        for first in range(0, len(sets), rows):
            part = slice(first, first + rows)
            problem = (motions[:, sets[part]], scale[:, sets[part]], examples.rest[part], examples.vertices[:, part])
            fitted[part], cost = _levenberg(*problem, weights[part], penalty[part])
            error += cost
            if progress is not None:
                progress(min(first + rows, len(sets)), len(sets))
        j, w = simplex.strongest_influences(sets, np.where(fitted > 1e-6, fitted, 0), chosen.influences)
        rms = float(np.sqrt(error / max(1, len(examples) * len(sets))))
        return cls(skin.rest, skin.inverse_binds, j, w, chosen, float(strength), rms)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        result = dual_blend(self.rest, self.joints, self.weights, t @ self.inverse_binds)
        return result[0] if single else result

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        motions, scale, _ = rigid_and_scale(t @ self.inverse_binds)
        out = np.empty((len(t), len(self.rest), 3))
        for f in range(len(t)):
            frame = slice(f, f + 1)
            blended, *_ = _blend(motions[frame, self.joints], scale[frame, self.joints], self.rest, self.weights)
            out[f] = blended[0]
        return out[0] if single else out

    @property
    def bytes_a_vertex(self) -> float:
        """As linear blending: a float32 position, and for each influence a float32 weight and a byte or two."""
        number = 1 if len(self.inverse_binds) <= 256 else 2
        return 12.0 + self.joints.shape[1] * (4 + number)


def _blend(motions: Array, scale: Array, rest: Array, weights: Array) -> tuple[Array, Array, Array, Array]:
    """v' (E, V, 3), and what the derivative needs: Q (E, V, 8), signed q_k (E, V, K, 8), S_k v (E, V, K, 3)."""
    pivot = np.argmax(weights, axis=1)
    lead = motions[:, np.arange(len(pivot)), pivot, :4]
    side = np.where(np.einsum("evkc,evc->evk", motions[..., :4], lead) < 0, -1.0, 1.0)
    signed = side[..., None] * motions
    total = np.einsum("vk,evkc->evc", weights, signed)
    scaled = np.einsum("evkab,vb->evka", scale, rest)
    p = np.einsum("vk,evka->eva", weights, scaled)
    return _transform_points(total, p), total, signed, scaled


def _transform_points(q: Array, p: Array) -> Array:
    """Points p (..., 3) moved by dual quaternions q (..., 8) of any length."""
    real, dual = q[..., :4], q[..., 4:]
    n = np.maximum(vector.dot(real, real), 1e-300)
    return (_sandwich(real, p, real) + _translation(real, dual)) / n[..., None]


def _sandwich(a: Array, p: Array, b: Array) -> Array:
    """The vector part of (a p b* + b p a*) / 2: bilinear in a and b, the rotation of p times |a|^2 where they agree."""
    u, x, v, y = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    turned = vector.cross(x * v + y * u, p)
    return (
        u * vector.dot(v, p)[..., None]
        + v * vector.dot(u, p)[..., None]
        + turned
        + p * (x * y - vector.dot(u, v)[..., None])
    )


def _translation(real: Array, dual: Array) -> Array:
    """The vector part of 2 d r*."""
    return 2 * quaternion.multiply(dual, quaternion.conjugate(real))[..., :3]


def _levenberg(
    motions: Array, scale: Array, rest: Array, target: Array, weights: Array, penalty: Array
) -> tuple[Array, float]:
    """Weights (V, K) and the squared error; motions (E, V, K, 8), scale (E, V, K, 3, 3), target (E, V, 3)."""
    result, error = weights.copy(), np.zeros(len(weights))
    going = np.arange(len(weights))
    w, damping = weights.copy(), np.full(len(weights), INITIAL_DAMPING_RATIO)
    at, total, signed, scaled = _blend(motions, scale, rest, w)
    error = np.square(at - target).sum(axis=(0, 2))
    for _ in range(LEVENBERG_STEPS):
        before = error[going] + (penalty * w**2).sum(axis=1)
        new = simplex.minimise(_normal(at, total, signed, scaled, target, w, penalty, damping))
        moved = _blend(motions, scale, rest, new)[0]
        new_error = np.square(moved - target).sum(axis=(0, 2))
        gain = before - new_error - (penalty * new**2).sum(axis=1)
        better = gain > 0
        result[going[better]], error[going[better]] = new[better], new_error[better]
        damping = np.where(better, damping / 4, damping * 8)
        on = np.flatnonzero((gain > MIN_ERROR_DROP_RATIO * before) | (~better & (damping < 1)))
        if not on.size:
            break
        going, damping, w = going[on], damping[on], result[going[on]]
        rest, penalty = rest[on], penalty[on]
        motions, scale, target = (values[:, on] for values in (motions, scale, target))
        at, total, signed, scaled = _blend(motions, scale, rest, w)
    return result, float(error.sum())


def _normal(
    at: Array, total: Array, signed: Array, scaled: Array, target: Array, w: Array, penalty: Array, damping: Array
) -> Array:
    """H (V, K, K): the linearised error, penalty and damping as one quadratic form on the simplex."""
    count = w.shape[1]
    jacobian = _jacobian(at, total, signed, scaled, w)
    x = np.moveaxis(jacobian + (at - target)[:, :, None], (1, 2), (0, 1)).reshape(len(w), count, -1)
    h = x @ np.swapaxes(x, 1, 2)
    h[:, range(count), range(count)] += penalty
    # |w' - w|^2 on the simplex as a quadratic form without a linear term
    stay = np.eye(count) - w[:, :, None] - w[:, None] + np.square(w).sum(axis=1)[:, None, None]
    return h + (damping * np.einsum("evka,evka->v", jacobian, jacobian))[:, None, None] * stay


def _jacobian(at: Array, total: Array, signed: Array, scaled: Array, weights: Array) -> Array:
    """dv'/dw_k (E, V, K, 3): of the blended motion, and of the scaled point."""
    real, dual = total[:, :, None, :4], total[:, :, None, 4:]
    p = np.einsum("vk,evka->eva", weights, scaled)[:, :, None]
    n = np.maximum(vector.dot(real, real), 1e-300)[..., None]
    a, b = signed[..., :4], signed[..., 4:]
    moved = 2 * _sandwich(np.broadcast_to(real, a.shape), np.broadcast_to(p, (*a.shape[:-1], 3)), a)
    moved = moved + _translation(real, b) + _translation(a, dual)
    turned = _transform_points(np.concatenate((real, 0 * dual), axis=-1), scaled - p)
    return (moved - 2 * vector.dot(real, a)[..., None] * at[:, :, None]) / n + turned
