"""Neuro-enveloping: a small network predicts the residual of a linear blend from the joints' rotations.

    v' = sum_k w_k M_k v + Q_b sum_d U_d o_d,     o = n(f) - n(0),     n(f) = B tanh(A f + a)

(Guo and Wong 2004, "NeuroEnveloping: a transferable character skin deformation technique".) f are the rotations of the
joints that move, Q_b the rotation of the bone that a vertex follows most, U the principal directions of the residual in
the examples. The network is trained by limited-memory BFGS on analytic gradients, its decay chosen on examples left
out; it is small and its cost does not grow with the number of examples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.fitting.pose_features import PoseFeatures
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.rotational_regression import bone_rotations, joint_features
from understudy.maths import jit
from understudy.maths.jit import one_blas_thread

KERNELS = "understudy.deform.methods.method_kernels"
MAX_LOST_VARIANCE_RATIO = 1e-4  # of the variance, in the directions left out
WEIGHT_DECAYS = (3e-4, 1e-3, 4e-3)  # tried in the cross-validation
VALIDATION_FOLDS = 3


@dataclass(frozen=True)
class NeuroSettings:
    """`hidden` neurons, at most `directions` of the residual; `decay` None is chosen on examples left out."""

    hidden: int = 16
    directions: int = 16
    decay: float | None = None
    iterations: int = 300
    influences: int = 4


@dataclass(frozen=True, eq=False)
class NeuroEnveloping(FrozenArrays):
    """A linear blend and a network."""

    name: ClassVar[str] = "neuro-enveloping"
    paper: ClassVar[str] = "Guo and Wong 2004"
    Settings: ClassVar[type] = NeuroSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    features: PoseFeatures
    bone: Array  # (V,) int64, the bone a vertex follows
    directions: Array  # (D, V, 3) float32, in that bone's axes
    scale: Array  # (N,) of the inputs
    first: Array  # (H, N)
    offset: Array  # (H,)
    second: Array  # (D, H)
    settings: NeuroSettings = field(default_factory=NeuroSettings)

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> NeuroEnveloping:
        """The network is the same for the same seed."""
        chosen = settings_of(NeuroSettings, settings)
        examples.require_poses(2, "neuro-enveloping")
        examples = examples.in_metres()
        skin = LinearSkin.fit(examples, {"influences": chosen.influences})
        features = PoseFeatures.from_examples(examples)
        bone = skin.joints[np.arange(len(skin.joints)), skin.weights.argmax(axis=1)].astype(np.int64)
        left = examples.vertices - skin.deform_reference(examples.transforms)
        Q = bone_rotations(examples.matrices)
        local = np.einsum("evba,evb->eva", Q[:, bone], left)
        U, o = principal_directions(local.reshape(len(local), -1), chosen.directions)
        f = joint_features(features, examples.transforms).reshape(len(examples), -1)
        scale = 1.0 / np.maximum(np.abs(f).max(axis=0, initial=0.0), 1e-6)
        size = float(np.sqrt(np.mean(np.square(o)))) or 1.0 if o.size else 1.0
        x, y = f * scale, np.round(o / size, 7)  # rounded, so that the order of the vertices does not matter
        decay = chosen.decay if chosen.decay is not None else _best_decay(x, y, chosen, seed)
        first, offset, second = train(x, y, chosen.hidden, decay, chosen.iterations, seed)
        if progress is not None:
            progress(1, 1)
        directions = U.reshape(len(U), -1, 3).astype(np.float32)
        return cls(skin, features, bone, directions, scale, first, offset, second * size, chosen)

    def outputs(self, transforms: Array) -> Array:
        """o (F, D): the amount of each direction."""
        f = joint_features(self.features, transforms).reshape(len(transforms), len(self.scale)) * self.scale
        return (np.tanh(f @ self.first.T + self.offset) - np.tanh(self.offset)) @ self.second.T

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        kernels = jit.kernels(KERNELS)
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        result = self.skin.deform(t)
        Q = bone_rotations(t @ self.skin.inverse_binds).astype(np.float32)
        o = self.outputs(t).astype(np.float32)
        with jit.LOCK:
            kernels.add_corrections(self.bone, self.directions, o, Q, result)
        return result[0] if single else result

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        if not len(t):
            return np.zeros((0, len(self.bone), 3))
        Q = bone_rotations(t @ self.skin.inverse_binds)
        local = np.einsum("fd,dva->fva", self.outputs(t), self.directions.astype(float))
        result = self.skin.deform_reference(t) + np.einsum("fvab,fvb->fva", Q[:, self.bone], local)
        return result[0] if single else result

    @property
    def bytes_a_vertex(self) -> float:
        """The blend, a byte for the bone, the directions, and the network's share."""
        network = 4 * (self.first.size + self.offset.size + self.second.size + self.scale.size)
        return self.skin.bytes_a_vertex + 1 + 12 * len(self.directions) + network / max(len(self.bone), 1)


def principal_directions(rows: Array, most: int) -> tuple[Array, Array]:
    """Directions U (D, N) and amounts o (E, D): rows (E, N) are nearly o U. No mean: at rest all is zero.

    From the small matrix of the rows' products, so that the order of columns does not matter; each direction points
    where its largest amount is positive.
    """
    values, vectors = np.linalg.eigh(rows @ rows.T)
    order = np.argsort(-values)
    values, vectors = np.maximum(values[order], 0.0), vectors[:, order]
    total = values.sum()
    if total <= 0:
        return np.zeros((0, rows.shape[1])), np.zeros((len(rows), 0))
    lost = 1 - np.cumsum(values) / total
    kept = min(most, int(np.searchsorted(-lost, -MAX_LOST_VARIANCE_RATIO)) + 1, int((values > 1e-12 * total).sum()))
    vectors, values = vectors[:, :kept], values[:kept]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(kept)])
    o = vectors * np.sqrt(values)
    return (vectors / np.sqrt(values)).T @ rows, o


def train(f: Array, o: Array, hidden: int, decay: float, iterations: int, seed: int) -> tuple[Array, Array, Array]:
    """A (H, N), a (H,), B (D, H) of the network that maps f (E, N) to o (E, D), zero at f = 0."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    inputs, outputs = f.shape[1], o.shape[1]
    begin = np.concatenate(
        [
            rng.normal(size=hidden * inputs) / np.sqrt(max(inputs, 1)),
            0.5 * rng.normal(size=hidden),
            np.zeros(outputs * hidden),
        ]
    )
    if not inputs or not outputs:
        return _unpack_parameters(begin, inputs, hidden, outputs)

    def loss(x: Array) -> tuple[float, Array]:
        return network_loss(x, f, o, hidden, decay)

    with one_blas_thread():
        result = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": iterations, "maxcor": 20})
    return _unpack_parameters(result.x, inputs, hidden, outputs)


def network_loss(x: Array, f: Array, o: Array, hidden: int, decay: float) -> tuple[float, Array]:
    """Mean squared error and decay of a network with parameters x, and the gradient."""
    A, a, B = _unpack_parameters(x, f.shape[1], hidden, o.shape[1])
    h, h0 = np.tanh(f @ A.T + a), np.tanh(a)
    error = (h - h0) @ B.T - o
    count = len(f)
    value = np.square(error).sum() / count + decay * (np.square(A).sum() + np.square(B).sum())
    back = 2 * error @ B / count  # (E, H)
    slope, slope0 = back * (1 - h * h), back.sum(axis=0) * (1 - h0 * h0)
    gradient = [
        slope.T @ f + 2 * decay * A,
        slope.sum(axis=0) - slope0,
        2 * error.T @ (h - h0) / count + 2 * decay * B,
    ]
    return float(value), np.concatenate([g.ravel() for g in gradient])


def _unpack_parameters(x: Array, inputs: int, hidden: int, outputs: int) -> tuple[Array, Array, Array]:
    a, b = hidden * inputs, hidden * inputs + hidden
    return x[:a].reshape(hidden, inputs), x[a:b], x[b:].reshape(outputs, hidden)


def _best_decay(f: Array, o: Array, settings: NeuroSettings, seed: int) -> float:
    """The decay with the least error at examples left out, every third at a time."""
    if len(f) < 2 * VALIDATION_FOLDS or not o.size:
        return WEIGHT_DECAYS[-1]
    fold = np.arange(len(f)) % VALIDATION_FOLDS
    errors = []
    for decay in WEIGHT_DECAYS:
        total = 0.0
        for k in range(VALIDATION_FOLDS):
            A, a, B = train(f[fold != k], o[fold != k], settings.hidden, decay, settings.iterations // 3, seed)
            left = (np.tanh(f[fold == k] @ A.T + a) - np.tanh(a)) @ B.T - o[fold == k]
            total += float(np.square(left).sum())
        errors.append(total)
    return WEIGHT_DECAYS[int(np.argmin(errors))]
