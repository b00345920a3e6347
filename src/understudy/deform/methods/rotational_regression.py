"""Rotational regression: the rotation and stretch of the skin at each vertex is predicted from the joints.

(Wang, Pulli and Popovic 2007, "Real-time enveloping with rotational regression".) Relative to the bone b that a vertex
follows most, its deformation gradient is G = R S, and both parts are regressed on the rotations of the joints near it:

    R = exp(sum_j A_j f_j),     S = 1 + sum_j B_j f_j,     D = Q_b R S

and the mesh that has these gradients best is the solution of a Poisson problem whose matrix is factorised once (see
`gradient_mesh`). Where the paper regresses on the rotation vector t of each joint, with A a scaled rotation, here
f = (t, |t| t, |t|^2) and any A, with a ridge chosen by leaving examples out; and gradients are at vertices, not at
triangles, of which there are twice as many. The paper pins the mesh at a few vertices; here every vertex is drawn to
its linear blend, the more strongly the better that fits the examples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples, sound_triangles
from understudy.deform.fitting import gradient_mesh
from understudy.deform.fitting.gradient_mesh import Edges, Factor
from understudy.deform.fitting.pose_features import PoseFeatures
from understudy.deform.methods.linear import LinearSkin
from understudy.maths import jit, quaternion, transform

KERNELS = "understudy.deform.methods.regression_kernels"
FEATURES_PER_JOINT = 7  # t, |t| t, |t|^2
REGRESSION_RIDGES = (1e-4, 1e-3, 1e-2, 1e-1)
WELD_SIZE_RATIO = 1e-5  # of the size: vertices nearer than this in all examples are one
ROTATION_TOLERANCE = 1e-9  # matrices this near to rotations are taken as such

# Of the size: scale of the linear blend's error above which it is not trusted.
TRUSTED_ERROR_SIZE_RATIO = 0.003


@dataclass(frozen=True)
class RegressionSettings:
    """Settings of `RotationalRegression`."""

    joints: int = 3  # most joints that a vertex is regressed on
    trust: float = 0.1  # weight of the linear blend, in mean weights of an edge
    influences: int = 4  # most joints of a vertex in the linear blend


@dataclass(frozen=True, eq=False)
class RotationalRegression(FrozenArrays):
    """Gradients from joints, mesh from gradients."""

    name: ClassVar[str] = "rotational-regression"
    paper: ClassVar[str] = "Wang, Pulli and Popovic 2007"
    Settings: ClassVar[type] = RegressionSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    features: PoseFeatures
    near: Array  # (V, N) int64, the joints of `features` that a vertex is regressed on
    bone: Array  # (V,) int64, the bone it follows
    coefficients: Array  # (V, N * FEATURES_PER_JOINT, 9) float32: three of A, six of B
    edges: Edges
    trust: Array  # (V,)
    factor: Factor
    copies: Array  # (W,) int64, the welded vertex of each vertex of the examples; empty where none is welded
    settings: RegressionSettings = field(default_factory=RegressionSettings)

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> RotationalRegression:
        """From two examples or more; `seed` is not used."""
        chosen = settings_of(RegressionSettings, settings)
        examples.require_poses(2, "rotational regression")
        examples, copies = weld_vertices(examples.in_metres())
        skin = LinearSkin.fit(examples, {"influences": chosen.influences})
        features = PoseFeatures.from_examples(examples)
        near = nearest_joints(skin, features, chosen.joints)
        bone = skin.joints[np.arange(len(skin.joints)), skin.weights.argmax(axis=1)].astype(np.int64)
        edges = gradient_mesh.edges_of(examples.rest, examples.triangles)
        D = gradient_mesh.gradients(examples.rest, examples.triangles, edges, examples.vertices)
        Q = bone_rotations(examples.matrices)
        G = np.swapaxes(Q[:, bone], -1, -2) @ D
        R, S = transform.polar(G)
        wanted = np.concatenate([_log(R), _six(S)], axis=-1)  # (E, V, 9)
        f = joint_features(features, examples.transforms)
        coefficients = _regress(f, near, wanted)
        if progress is not None:
            progress(1, 2)
        trust = _trust(skin, examples, edges, chosen.trust)
        factor = gradient_mesh.factorise(gradient_mesh.poisson_matrix(edges, trust))
        return cls(skin, features, near, bone, coefficients.astype(np.float32), edges, trust, factor, copies, chosen)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        kernels = jit.kernels(KERNELS)
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        result = self.skin.deform(t)
        f, Q = self._pose(t, kernels)
        e, c = self.edges, self.factor
        near, bone, coefficients = self._blocks
        apart, own, trust = self._frame_constants
        mesh = (near, bone, coefficients, e.start, e.other, apart, own, trust)
        factor = (self._panels, c.start, c.row.view(np.uint32), c.value, 1 / c.diagonal, self._factor_row)
        for k in range(0, len(t), kernels.FRAMES_PER_BATCH):
            part = slice(k, k + kernels.FRAMES_PER_BATCH)
            kernels.solve(*mesh, f[part], Q[part], *factor, result[part])
        if len(self.copies):
            result = result[:, self.copies]
        return result[0] if single else result

    def _pose(self, t: Array, kernels: Any) -> tuple[Array, Array]:
        """Features (F, M, 7) and rotations (F, B, 9) of a pose, float32."""
        p, binds = self.features, self.skin.inverse_binds
        f, Q = (
            np.empty((len(t), len(p.joints), FEATURES_PER_JOINT), np.float32),
            np.empty((len(t), len(binds), 9), np.float32),
        )
        if not kernels.pose(t, p.joints, p.above, p.rest_back, binds, f, Q):
            f[:] = joint_features(p, t)
            Q[:] = bone_rotations(t @ binds).reshape(Q.shape)
        return f, Q

    @cached_property
    def _blocks(self) -> tuple[Array, Array, Array]:
        """Joints (blocks, N, size), bones (blocks, size) and coefficients (blocks, N * 7, 9, size) of the vertices in
        blocks, the last padded with zeros."""
        kernels = jit.kernels(KERNELS)
        size: int = kernels.VERTICES_PER_BLOCK
        short = -len(self.near) % size

        def blocks(a: Array) -> Array:
            full = np.concatenate([a, np.zeros((short, *a.shape[1:]), a.dtype)])
            return np.ascontiguousarray(np.moveaxis(full.reshape(-1, size, *a.shape[1:]), 1, -1))

        return blocks(self.near), blocks(self.bone), blocks(self.coefficients)

    @cached_property
    def _panels(self) -> Array:
        """The columns of the factor that are solved together."""
        kernels = jit.kernels(KERNELS)
        panels: Array = kernels.panels(self.factor.start, self.factor.row)
        return panels

    @cached_property
    def _factor_row(self) -> Array:
        """(V,) the row of each vertex in the factor."""
        return np.argsort(self.factor.order)

    @cached_property
    def _frame_constants(self) -> tuple[Array, Array, Array]:
        """w_ij (p_i - p_j) (N, 3) and their sums (V, 3), and trust, all float32."""
        e, rest = self.edges, self.skin.rest.astype(np.float64)
        apart = e.weight[:, None] * (rest[e.owner] - rest[e.other])
        own = np.zeros_like(rest)
        np.add.at(own, e.owner, apart)
        return apart.astype(np.float32), own.astype(np.float32), self.trust.astype(np.float32)

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formulas, in float64, with SciPy's own factorisation."""
        from scipy.sparse.linalg import splu

        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        if not len(t):
            return np.zeros((0, len(self.copies) or len(self.near), 3))
        y = self.skin.deform_reference(t)
        f = joint_features(self.features, t)
        Q = bone_rotations(t @ self.skin.inverse_binds)
        flat = f[:, self.near].reshape(len(t), len(self.near), -1)
        predicted = np.einsum("fvk,vko->fvo", flat, self.coefficients.astype(float))
        D = Q[:, self.bone] @ _exp(predicted[..., :3]) @ _symmetric(predicted[..., 3:])
        owner, other = self.edges.owner, self.edges.other
        rest = self.skin.rest.astype(float)
        apart = self.edges.weight[:, None] * (rest[owner] - rest[other])
        right = self.trust[:, None] * y
        for k in range(len(t)):
            np.add.at(right[k], owner, np.einsum("nij,nj->ni", 0.5 * (D[k, owner] + D[k, other]), apart))
        solver = splu(gradient_mesh.poisson_matrix(self.edges, self.trust))
        result = solver.solve(right.transpose(1, 0, 2).reshape(len(rest), -1))
        result = result.reshape(len(rest), len(t), 3).transpose(1, 0, 2)
        if len(self.copies):
            result = result[:, self.copies]
        return result[0] if single else result

    @property
    def bytes_a_vertex(self) -> float:
        """The blend, the coefficients, the edges and the factor."""
        c, e = self.factor, self.edges
        data = self.coefficients.nbytes + 2 * self.near.shape[1] * len(self.near) + 6 * len(e.other) + 8 * len(c.value)
        outside = max(len(self.copies) or len(self.near), 1)
        data += (self.skin.bytes_a_vertex + 4 + 1 + 4) * len(self.near) + 4 * len(self.copies)
        return data / outside


def weld_vertices(examples: Examples) -> tuple[Examples, Array]:
    """The examples with vertices at equal positions in all poses welded, and (W,) the welded vertex of each.

    Hard edges and seams split vertices, and a mesh in pieces has no gradients. Empty where none is welded.
    """
    paths = np.concatenate([examples.rest[None], examples.vertices]).transpose(1, 0, 2).reshape(len(examples.rest), -1)
    _, first, copies = np.unique(
        np.round(paths / (WELD_SIZE_RATIO * examples.size)), axis=0, return_index=True, return_inverse=True
    )
    if len(first) == len(paths):
        return examples, np.zeros(0, np.int64)
    copies = copies.reshape(-1)
    triangles = sound_triangles(copies[examples.triangles])[0]
    w, j = examples.weights, examples.joints
    one = Examples(
        examples.rest[first],
        triangles,
        examples.inverse_binds,
        examples.transforms,
        examples.vertices[:, first],
        examples.parents,
        None if w is None else w[first],
        None if j is None else j[first],
        examples.names,
    )
    return one, copies.astype(np.int64)


def bone_rotations(matrices: Array) -> Array:
    """Q (F, B, 3, 3): the rotations in the bones' matrices (F, B, 4, 4)."""
    return nearest_rotations(matrices[..., :3, :3])


def nearest_rotations(m: Array) -> Array:
    """The rotations nearest to m (..., 3, 3).

    Singular values cost more than all else in a single frame, so they are computed only where some m is no rotation.
    """
    apart = np.abs(np.swapaxes(m, -1, -2) @ m - np.eye(3)).max(initial=0.0)
    if apart < ROTATION_TOLERANCE and (transform.determinant(m) > 0).all():
        return m
    return transform.polar(m)[0]


def joint_features(features: PoseFeatures, transforms: Array) -> Array:
    """(F, M, 7) of the joints that move: t, |t| t, |t|^2."""
    t = _log(nearest_rotations(features.relative(transforms)[..., :3, :3]))
    size = np.linalg.norm(t, axis=-1, keepdims=True)
    return np.concatenate([t, size * t, size * size], axis=-1)


def nearest_joints(skin: LinearSkin, features: PoseFeatures, most: int) -> Array:
    """(V, N) the moving joints between the bones of a vertex, by weight; N is at least 1."""
    weights = np.zeros((len(skin.rest), len(skin.inverse_binds)))
    np.add.at(weights, (np.arange(len(skin.rest))[:, None], skin.joints), skin.weights)
    if not len(features.joints):
        return np.zeros((len(skin.rest), 0), np.int64)
    score = weights[:, features.joints] + weights[:, features.above]
    return np.argsort(-np.round(score, 5), axis=1, kind="stable")[:, :most].astype(np.int64)


def _regress(f: Array, near: Array, wanted: Array) -> Array:
    """(V, N * 7, 9) by ridge regression of wanted (E, V, 9) on f (E, M, 7); one ridge for all."""
    sets, owner = np.unique(near, axis=0, return_inverse=True)
    owner = owner.reshape(-1)
    out = np.zeros((len(near), near.shape[1] * FEATURES_PER_JOINT, 9))
    if not near.shape[1]:
        return out
    problems = []
    for s, joints in enumerate(sets):
        phi = f[:, joints].reshape(len(f), -1)
        members = np.flatnonzero(owner == s)
        problems.append((phi, members, wanted[:, members].reshape(len(f), -1)))
    ridge = min(REGRESSION_RIDGES, key=lambda r: sum(_leave_one_out_error(phi, y, r) for phi, _, y in problems))
    for phi, members, y in problems:
        solution = np.linalg.solve(phi.T @ phi + ridge * np.eye(phi.shape[1]), phi.T @ y)
        out[members] = solution.reshape(phi.shape[1], len(members), 9).transpose(1, 0, 2)
    return out


def _leave_one_out_error(phi: Array, y: Array, ridge: float) -> float:
    """Squared error of each example when it is left out: e / (1 - h), h the diagonal of the hat matrix."""
    hat = phi @ np.linalg.solve(phi.T @ phi + ridge * np.eye(phi.shape[1]), phi.T)
    left = (y - hat @ y) / np.maximum(1.0 - np.diagonal(hat), 1e-6)[:, None]
    return float(np.square(left).sum())


def _trust(skin: LinearSkin, examples: Examples, edges: Edges, strength: float) -> Array:
    """(V,) how strongly a vertex is drawn to its linear blend."""
    worst = np.linalg.norm(skin.deform_reference(examples.transforms) - examples.vertices, axis=-1).max(axis=0)
    degree = np.bincount(edges.owner, edges.weight, minlength=len(worst))
    mean = float(degree.mean()) or 1.0
    trust = strength * mean * np.exp(-((worst / (TRUSTED_ERROR_SIZE_RATIO * examples.size)) ** 2)) + 1e-5 * mean
    return np.where(degree > 0, trust, 1.0)


def _log(R: Array) -> Array:
    """Rotation vectors (..., 3), at most pi long."""
    q = quaternion.from_matrix(R)
    q = np.where(q[..., 3:] < 0, -q, q)
    size = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(size, q[..., 3:])
    return q[..., :3] * np.where(size > 1e-12, angle / np.maximum(size, 1e-300), 2.0)


def _exp(v: Array) -> Array:
    """Rotations (..., 3, 3) of rotation vectors."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = np.where(angle > 1e-6, np.sin(0.5 * angle) / np.maximum(angle, 1e-300), 0.5 - angle**2 / 48)
    return quaternion.to_matrix(np.concatenate([half * v, np.cos(0.5 * angle)], axis=-1))


def _six(S: Array) -> Array:
    """The six numbers of S - 1, S symmetric: xx, yy, zz, xy, xz, yz."""
    return np.stack(
        [S[..., 0, 0] - 1, S[..., 1, 1] - 1, S[..., 2, 2] - 1, S[..., 0, 1], S[..., 0, 2], S[..., 1, 2]], axis=-1
    )


def _symmetric(s: Array) -> Array:
    """1 + the symmetric matrices of six numbers."""
    xx, yy, zz, xy, xz, yz = np.moveaxis(s, -1, 0)
    rows = [1 + xx, xy, xz, xy, 1 + yy, yz, xz, yz, 1 + zz]
    return np.stack(rows, axis=-1).reshape(*s.shape[:-1], 3, 3)
