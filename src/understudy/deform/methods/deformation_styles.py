"""Deformation styles on spline bones: each joint is a curve, and textures say how the skin swells around it.

(Forstmann, Ohya, Krohn-Grimberghe and McDougall 2007, "Deformation styles for spline-based skeletal animation".) From a
point A on the bone above a joint to a point B on its own bone runs a quadratic curve with the joint J as its control
point. A vertex is attached to the curve at u, a share h of its length, in a frame that rotates evenly between bones:

    v' = c(u) + F(h) (o_along + s o_across),     c = (1-u)^2 A + 2 u (1-u) J + u^2 B,     F = slerp(Q_above, Q_own, h)
    s = 1 + sum_g T_g(h, phi) g,                 g = bend, bend^2, twist^2

with o the vertex in that frame at rest and phi its angle around the curve. The textures T_g, a style, are fitted to the
examples; they do not depend on the mesh, so that a style can be given to another limb, or painted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.rotational_regression import bone_rotations
from understudy.maths import jit, quaternion, transform, vector

KERNELS = "understudy.deform.methods.method_kernels"
TEXTURES_PER_JOINT = 3  # for bend, bend^2, twist^2
REACH_BONE_RATIOS = (0.1, 0.2, 0.35, 0.5, 0.8)  # ends of a curve that are tried, of the bones' lengths


@dataclass(frozen=True)
class StyleSettings:
    """Settings of `DeformationStyles`."""

    along: int = 12  # texels along a curve
    around: int = 12  # texels around it
    smooth: float = 1e-3  # weight of the differences of neighbouring texels
    influences: int = 4  # most joints of a vertex in the linear blend that assigns bones


@dataclass(frozen=True, eq=False)
class DeformationStyles(FrozenArrays):
    """Spline bones and their textures."""

    name: ClassVar[str] = "deformation-styles"
    paper: ClassVar[str] = "Forstmann, Ohya, Krohn-Grimberghe and McDougall 2007"
    Settings: ClassVar[type] = StyleSettings
    gltf: ClassVar[bool] = False

    rest: Array  # (V, 3) float32
    inverse_binds: Array  # (B, 4, 4)
    joint: Array  # (C,) int64, the bone below each curve
    above: Array  # (C,) int64, the bone above it
    corners: Array  # (C, 3, 3): A, J, B at rest
    curve: Array  # (V,) int64, the curve of each vertex
    u: Array  # (V,) float32
    share: Array  # (V,) float32, h: share of the curve's length, and of its rotation
    angle: Array  # (V,) float32 in [0, 1), once around
    texture: Array  # (C, TEXTURES_PER_JOINT, along, around) float32
    settings: StyleSettings = field(default_factory=StyleSettings)

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> DeformationStyles:
        """Ends of the curves and textures from examples; `seed` is not used."""
        chosen = settings_of(StyleSettings, settings)
        examples.require_poses(2, "deformation styles")
        examples = examples.in_metres()
        bones = LinearSkin.fit(examples, {"influences": chosen.influences})
        owner = bones.joints[np.arange(len(bones.joints)), bones.weights.argmax(axis=1)].astype(np.int64)
        joint, above = _pairs(examples)
        reach = np.full((len(joint), 2), REACH_BONE_RATIOS[1])
        best = _build_curves(cls, examples, joint, above, owner, reach, chosen)
        for k in range(2 * len(joint)):  # one end at a time
            c, end = divmod(k, 2)
            tried = []
            for r in REACH_BONE_RATIOS:
                reach[c, end] = r
                trial = _build_curves(cls, examples, joint, above, owner, reach, chosen)
                error = np.square(trial.deform(examples.transforms) - examples.vertices).sum()
                tried.append((float(error), r, trial))
            least = min(t[0] for t in tried)
            _, reach[c, end], best = next(t for t in tried if t[0] <= least * (1 + 1e-9))
            if progress is not None:
                progress(k + 1, 2 * len(joint))
        return best._fit_styles(examples)

    def frames(self, transforms: Array) -> tuple[Array, Array, Array]:
        """Corners (F, C, 3, 3), rotations of the bones above and below (F, C, 2, 4), and g (F, C, 3)."""
        m = transforms @ self.inverse_binds
        q = quaternion.from_matrix(bone_rotations(m)) if m.size else np.zeros((*m.shape[:2], 4))
        a, b = self.above, self.joint
        corners = np.stack(
            [
                transform.apply(m[:, a], self.corners[:, 0]),
                0.5 * (transform.apply(m[:, a], self.corners[:, 1]) + transform.apply(m[:, b], self.corners[:, 1])),
                transform.apply(m[:, b], self.corners[:, 2]),
            ],
            axis=2,
        )
        turn = quaternion.multiply(quaternion.conjugate(q[:, a]), q[:, b])
        axis = vector.normalise(self.corners[:, 2] - self.corners[:, 0], (1.0, 0.0, 0.0))
        along = np.einsum("fci,ci->fc", turn[..., :3], axis)
        twist = 2 * np.arctan2(np.abs(along), np.abs(turn[..., 3]))
        bend = 2 * np.arcsin(
            np.clip(np.sqrt(np.maximum(np.sum(turn[..., :3] ** 2, axis=-1) - along**2, 0.0)), 0.0, 1.0)
        )
        return corners, np.stack([q[:, a], q[:, b]], axis=2), np.stack([bend, bend**2, twist**2], axis=-1)

    def curve_frames(self, corners: Array, turns: Array) -> tuple[Array, Array]:
        """c (V, 3) and F (V, 3, 3) of one pose's corners (C, 3, 3) and turns (C, 2, 4)."""
        u, k = self.u.astype(float)[:, None], self.curve
        c = (1 - u) ** 2 * corners[k, 0] + 2 * u * (1 - u) * corners[k, 1] + u * u * corners[k, 2]
        return c, quaternion.to_matrix(_slerp(turns[k, 0], turns[k, 1], self.share.astype(float)[:, None]))

    def split(self) -> tuple[Array, Array]:
        """o along and across the curve at rest, (V, 3) each, float64."""
        c, _ = self.curve_frames(self.corners, np.broadcast_to(quaternion.identity(), (len(self.joint), 2, 4)))
        o = self.rest - c
        axis = vector.normalise(self.corners[:, 2] - self.corners[:, 0], (1.0, 0.0, 0.0))[self.curve]
        along = np.sum(o * axis, axis=1, keepdims=True) * axis
        return along, o - along

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        kernels = jit.kernels(KERNELS)
        t, single = check_transforms(transforms, len(self.inverse_binds))
        corners, turns, g = (a.astype(np.float32) for a in self.frames(t))
        along, across, styles = self._frame_constants
        out = np.empty((len(t), len(self.rest), 3), np.float32)
        with jit.LOCK:
            kernels.bend_styles(self.curve, self.u, self.share, along, across, styles, corners, turns, g, out)
        return out[0] if single else out

    @cached_property
    def _frame_constants(self) -> tuple[Array, Array, Array]:
        """Constants of every frame: o along and across the curve (V, 3), and the textures sampled at each vertex."""
        flat = (
            self.texture.reshape(len(self.joint), TEXTURES_PER_JOINT, -1)
            .transpose(0, 2, 1)
            .reshape(-1, TEXTURES_PER_JOINT)
        )
        along, across = self.split()
        return along.astype(np.float32), across.astype(np.float32), (self._texels() @ flat).astype(np.float32)

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        corners, turns, g = self.frames(t)
        along, across = self.split()
        texels = self._texels()
        flat = (
            self.texture.astype(float)
            .reshape(len(self.joint), TEXTURES_PER_JOINT, -1)
            .transpose(0, 2, 1)
            .reshape(-1, TEXTURES_PER_JOINT)
        )
        styles = texels @ flat  # (V, TEXTURES_PER_JOINT)
        out = np.zeros((len(t), len(self.rest), 3))
        for f in range(len(t)):
            c, F = self.curve_frames(corners[f], turns[f])
            s = 1 + np.einsum("vg,vg->v", styles, g[f][self.curve])
            out[f] = c + np.einsum("vab,vb->va", F, along + s[:, None] * across)
        return out[0] if single else out

    def _texels(self) -> Any:
        """Sparse (V, C * along * around): samples of each vertex in its curve's textures, linear between texels."""
        from scipy import sparse

        rows, columns = self.settings.along, self.settings.around
        x, y = self.share.astype(float) * (rows - 1), self.angle.astype(float) * columns
        i, j = np.minimum(x.astype(int), rows - 2), y.astype(int) % columns
        a, b = x - i, y - np.floor(y)
        base = self.curve * rows * columns
        index = [base + (i + p) * columns + (j + r) % columns for p in (0, 1) for r in (0, 1)]
        share = [(a if p else 1 - a) * (b if r else 1 - b) for p in (0, 1) for r in (0, 1)]
        shape = (len(self.u), len(self.joint) * rows * columns)
        owner = np.tile(np.arange(len(self.u)), 4)
        return sparse.csr_matrix((np.concatenate(share), (owner, np.concatenate(index))), shape=shape)

    def _fit_styles(self, examples: Examples) -> DeformationStyles:
        """A copy with the textures that come closest to the examples, smooth along and around."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        corners, turns, g = self.frames(examples.transforms)
        along, across = self.split()
        texels = self._texels()
        size = texels.shape[1]
        square, right = (
            sparse.csc_matrix((TEXTURES_PER_JOINT * size, TEXTURES_PER_JOINT * size)),
            np.zeros(TEXTURES_PER_JOINT * size),
        )
        for e, x in enumerate(examples.vertices):
            c, F = self.curve_frames(corners[e], turns[e])
            left = np.einsum("vba,vb->va", F, x - c) - along - across  # in the frame
            row = sparse.hstack([sparse.diags(g[e][self.curve, k]) @ texels for k in range(TEXTURES_PER_JOINT)]).tocsr()
            weight = np.sum(across * across, axis=1)
            square = square + row.T @ (sparse.diags(weight) @ row)
            right += row.T @ np.sum(across * left, axis=1)
        rough = sparse.kron(sparse.identity(TEXTURES_PER_JOINT * len(self.joint)), _roughness(self.settings))
        scale = float(square.diagonal().mean()) or 1.0
        whole = (
            square + self.settings.smooth * scale * rough + 1e-6 * scale * sparse.identity(TEXTURES_PER_JOINT * size)
        )
        solution = splu(whole.tocsc()).solve(right)
        texture = solution.reshape(
            TEXTURES_PER_JOINT, len(self.joint), self.settings.along, self.settings.around
        ).transpose(1, 0, 2, 3)
        return replace(self, texture=texture.astype(np.float32))

    @property
    def bytes_a_vertex(self) -> float:
        """Position, u, h, angle and the curve's number, and the textures' part."""
        return 12.0 + 4 + 4 + 4 + 1 + self.texture.nbytes / max(len(self.u), 1)


def _pairs(examples: Examples) -> tuple[Array, Array]:
    """Bones (C,) below and above each curve: every joint with a parent; without any, one bone with itself."""
    joint = np.flatnonzero(examples.parents >= 0)
    if not len(joint):
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    return joint.astype(np.int64), examples.parents[joint].astype(np.int64)


def _curves(examples: Examples, owner: Array, joint: Array, above: Array, corners: Array, axis: Array) -> Array:
    """(V,) the curve of each vertex, by three criteria in this order.

    The curve is at either end of the bone that the vertex follows, it passes the vertex, and its joint is nearest.
    """
    touches = (owner[:, None] == joint) | (owner[:, None] == above)
    distance = np.linalg.norm(examples.rest[:, None] - corners[:, 1], axis=-1)
    x = np.einsum("vci,ci->vc", examples.rest[:, None] - corners[:, 0], axis)
    length = np.einsum("ci,ci->c", corners[:, 2] - corners[:, 0], axis)
    rounding = 1e-6 * examples.size  # ties must not depend on the order of sums
    beside = (x > rounding) & (x < length - rounding)
    return (np.round(distance / rounding) * rounding + examples.size * (1e3 * ~touches + 10.0 * ~beside)).argmin(axis=1)


def _build_curves(
    kind: type[DeformationStyles],
    examples: Examples,
    joint: Array,
    above: Array,
    owner: Array,
    reach: Array,
    settings: StyleSettings,
) -> DeformationStyles:
    """A deformer with curves that reach `reach` (C, 2) of the bones' lengths to either side, and blank textures."""
    rest = examples.rest_transforms[:, :3, 3]
    J = rest[joint]
    axis, before, after = np.zeros((len(joint), 3)), np.zeros(len(joint)), np.zeros(len(joint))
    for c, (b, a) in enumerate(zip(joint, above)):
        points = examples.rest[owner == b]
        children = np.flatnonzero(examples.parents == b)
        behind = J[c] - rest[a]
        ahead = rest[children].mean(axis=0) - J[c] if len(children) else np.zeros(3)
        if np.linalg.norm(behind) < 1e-6 * examples.size:  # a joint at the same position as the one above
            behind = np.zeros(3)
        if np.linalg.norm(ahead) < 1e-6 * examples.size:  # the last bone of a chain is as long as its skin
            direction = vector.normalise(behind, (1.0, 0.0, 0.0))
            ahead = direction * float(np.max((points - J[c]) @ direction, initial=0.0))
        before[c], after[c] = np.linalg.norm(behind), np.linalg.norm(ahead)
        axis[c] = vector.normalise(vector.normalise(behind) + vector.normalise(ahead), (1.0, 0.0, 0.0))
    A, B = J - axis * (reach[:, :1] * before[:, None]), J + axis * (reach[:, 1:] * after[:, None])
    corners = np.stack([A, J, B], axis=1)
    curve = _curves(examples, owner, joint, above, corners, axis)
    u, share = _parameters(examples.rest, corners, axis, curve)
    side = vector.perpendicular(axis)
    third = vector.cross(axis, side)
    o = examples.rest - J[curve]
    angle = np.arctan2(np.sum(o * third[curve], axis=1), np.sum(o * side[curve], axis=1)) / (2 * np.pi) % 1.0
    blank = np.zeros((len(joint), TEXTURES_PER_JOINT, settings.along, settings.around), np.float32)
    binds, points = examples.inverse_binds, examples.rest.astype(np.float32)
    numbers = (u.astype(np.float32), share.astype(np.float32), np.minimum(angle, 1 - 1e-7).astype(np.float32))
    return kind(points, binds, joint, above, corners, curve, *numbers, blank, settings)


def _parameters(points: Array, corners: Array, axis: Array, curve: Array) -> tuple[Array, Array]:
    """(V,) u in [0, 1] at which the curve is as far along the axis as the vertex, and (V,) h, the share of its length.

    u solves 2 u (1 - u) p + u^2 q = x.
    """
    start, p, q = (corners[curve, k] for k in range(3))
    x, p, q = (np.sum((v - start) * axis[curve], axis=1) for v in (points, p, q))
    x = np.clip(x, 0.0, q)
    root = np.sqrt(np.maximum(p * p + (q - 2 * p) * x, 0.0))
    return np.clip(x / np.maximum(p + root, 1e-12), 0.0, 1.0), np.clip(x / np.maximum(q, 1e-12), 0.0, 1.0)


def _roughness(settings: StyleSettings) -> Any:
    """Sparse (along * around)^2: squared differences of neighbouring texels, the texture closing around."""
    from scipy import sparse

    def differences(count: int, closed: bool) -> Any:
        forth = sparse.eye(count, k=1) - sparse.identity(count)
        forth = forth.tolil()
        if closed:
            forth[count - 1, 0] = 1.0
        else:
            forth[count - 1] = 0.0
        return (forth.T @ forth).tocsc()

    along, around = differences(settings.along, False), differences(settings.around, True)
    return sparse.kron(along, sparse.identity(settings.around)) + sparse.kron(sparse.identity(settings.along), around)


def _slerp(a: Array, b: Array, u: Array) -> Array:
    """Unit quaternions (V, 4) from a to b along the shorter arc, at u (V, 1)."""
    cosine = np.sum(a * b, axis=1, keepdims=True)
    b, cosine = np.where(cosine < 0, -b, b), np.minimum(np.abs(cosine), 1.0)
    angle = np.arccos(cosine)
    sine = np.sin(angle)
    near = sine < 1e-4
    safe = np.where(near, 1.0, sine)
    first, second = np.where(near, 1 - u, np.sin((1 - u) * angle) / safe), np.where(near, u, np.sin(u * angle) / safe)
    return vector.normalise(first * a + second * b, (0.0, 0.0, 0.0, 1.0))
