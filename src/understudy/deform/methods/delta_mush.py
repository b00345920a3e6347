"""Delta Mush and Direct Delta Mush: smooth the linear blend, then put back the detail that smoothing takes away.

They need no examples, only weights, which may be crude: rigid ones are enough.

**Delta Mush** (Mancewicz et al. 2014). With B = A^n, n steps of A = (1 - s) I + s (mean of the neighbours),

    p = B u,   q = B (linear blend of u),   v_i = q_i + g_i R_i (u_i - p_i).

R_i is the rotation from the smoothed rest mesh to the smoothed posed one round vertex i: that of least squares over the
edges of the vertex and of its neighbours, which needs no tangents and stands degenerate triangles. g_i is the blended
scale of the joints.

**Direct Delta Mush** (Le and Lewis 2019) gathers the same smoothing before run time. With u_k at rest,

    Omega_ij = sum_k B_ik w_kj [u_k; 1] [u_k; 1]^T,    sum_j M_j Omega_ij = [Q q; p^T 1],

R_i is the rotation of Q - q p^T, the covariance of the smoothed neighbourhood, and v_i is as above. A frame costs the
same whatever the number of steps. The paper's kappa (further smoothing of the weights) is left out.

Vertices at one place are one point of the mesh that is smoothed, so that seams stay closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays, Progress, check_transforms, settings_of
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin, base_skin
from understudy.deform.rigging.surface import WeldedSurface
from understudy.errors import InvalidInput
from understudy.maths import jit, transform

KERNELS = "understudy.deform.methods.method_kernels"
MIN_SHARE = 1e-4  # smoothed weight below which a joint is left out of a vertex
MAX_JOINTS = 16  # of a vertex, after smoothing
FRAMES_PER_CHUNK = 64


@dataclass(frozen=True)
class DeltaMushSettings:
    """`smoothing` steps of `strength` each; `weights` are the artist's, or fitted where there are none."""

    smoothing: int = 10
    strength: float = 0.5
    influences: int = 4
    weights: str = "artist"


@dataclass(frozen=True, eq=False)
class DeltaMush(FrozenArrays):
    """Smoothing at run time."""

    name: ClassVar[str] = "delta-mush"
    paper: ClassVar[str] = "Mancewicz, Derksen, Rijpkema and Wilson 2014"
    Settings: ClassVar[type] = DeltaMushSettings
    gltf: ClassVar[bool] = False

    skin: LinearSkin
    point_of: Array  # (V,) int32 the point of each vertex
    first: Array  # (N + 1,) int32 where the neighbours of each point begin
    neighbours: Array  # (L,) int32
    smooth_rest: Array  # (N, 3) p
    delta: Array  # (N, 3) u - p
    settings: DeltaMushSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> DeltaMush:
        """From the rest mesh and the weights; poses are used for weights only, `seed` not at all."""
        chosen = _check(settings)
        skin = _skin(examples, chosen)
        surface = WeldedSurface.from_mesh(examples.rest, examples.triangles)
        links = _links(surface)
        smooth = _smooth(links, surface.points, chosen)
        if progress is not None:
            progress(1, 1)
        numbers = (surface.point_of, links.indptr, links.indices)
        point_of, first, neighbours = (np.asarray(a, np.int32) for a in numbers)
        return cls(skin, point_of, first, neighbours, smooth, surface.points - smooth, chosen)

    @cached_property
    def links(self) -> Any:
        """(N, N) sparse, 1 for neighbours."""
        from scipy.sparse import csr_matrix

        return csr_matrix((np.ones(len(self.neighbours)), self.neighbours, self.first), (len(self.delta),) * 2)

    @cached_property
    def gather(self) -> Any:
        """(N, V) sparse: the mean of the vertices at a point."""
        return _gather(self.point_of, len(self.delta))

    def _pose(self, vertices: Array, transforms: Array) -> tuple[Array, Array]:
        """q (F, N, 3), and the scale (F, N) at the points."""
        frames = len(vertices)
        points = self.gather @ vertices.transpose(1, 0, 2).reshape(len(self.point_of), 3 * frames)
        points = _smooth(self.links, points, self.settings).reshape(-1, frames, 3).transpose(1, 0, 2)
        scale = np.cbrt(np.abs(transform.determinant(transforms @ self.skin.inverse_binds)))
        blended = np.einsum("vk,fvk->fv", self.skin.weights, scale[:, self.skin.joints])
        return np.ascontiguousarray(points), np.ascontiguousarray((self.gather @ blended.T).T)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        out = np.empty((len(t), len(self.point_of), 3), np.float32)
        for start in range(0, len(t), FRAMES_PER_CHUNK):
            part = slice(start, start + FRAMES_PER_CHUNK)
            q, scale = self._pose(self.skin.deform(t[part]).astype(np.float64), t[part])
            moved = np.empty_like(q)
            jit.kernels(KERNELS).add_detail(q, scale, self.smooth_rest, self.delta, self.first, self.neighbours, moved)
            out[part] = moved[:, self.point_of]
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.skin.inverse_binds))
        q, scale = self._pose(self.skin.deform_reference(t), t)
        out = np.empty_like(q)
        owner = np.repeat(np.arange(len(self.delta)), np.diff(self.first))
        rest = self.smooth_rest[self.neighbours] - self.smooth_rest[owner]
        for f in range(len(t)):
            posed = q[f, self.neighbours] - q[f, owner]
            own = np.zeros((len(self.delta), 3, 3))
            np.add.at(own, owner, posed[:, :, None] * rest[:, None, :])
            total = own + np.stack([self.links @ own[:, a].reshape(-1, 3) for a in range(3)], axis=1)
            turned = np.einsum("nab,nb->na", rotations_of(total), self.delta)
            out[f] = q[f] + scale[f][:, None] * turned
        out = out[:, self.point_of]
        return out[0] if single else out

    @property
    def bytes_a_vertex(self) -> float:
        """Those of the skin, two float32 points, and the number of each neighbour."""
        extra = 24.0 * len(self.delta) + 4.0 * (len(self.neighbours) + len(self.point_of))
        return self.skin.bytes_a_vertex + extra / max(1, len(self.point_of))


@dataclass(frozen=True, eq=False)
class DirectDeltaMush(FrozenArrays):
    """Smoothing before run time."""

    name: ClassVar[str] = "direct-delta-mush"
    paper: ClassVar[str] = "Le and Lewis 2019"
    Settings: ClassVar[type] = DeltaMushSettings
    gltf: ClassVar[bool] = False

    inverse_binds: Array  # (B, 4, 4)
    joints: Array  # (V, K) int32
    omega: Array  # (V, K, 10) float64: xx xy xz yy yz zz x y z 1, rows of the last sum to one
    delta: Array  # (V, 3) u - p
    settings: DeltaMushSettings

    @classmethod
    def fit(
        cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None
    ) -> DirectDeltaMush:
        """From the rest mesh and the weights; poses are used for weights only, `seed` not at all."""
        from scipy.sparse import csr_matrix, diags, identity

        chosen = _check(settings)
        skin = _skin(examples, chosen)
        surface = WeldedSurface.from_mesh(examples.rest, examples.triangles)
        count, bones = len(surface.points), len(skin.inverse_binds)
        rows = np.repeat(np.arange(len(skin.rest)), skin.joints.shape[1])
        full = csr_matrix((skin.weights.astype(float).ravel(), (rows, skin.joints.ravel())), (len(skin.rest), bones))
        weights = _gather(surface.point_of, count) @ full
        smoothing = _smooth(_links(surface), identity(count, format="csr"), chosen)
        u = surface.points - surface.points.mean(axis=0)  # moments about the middle keep digits
        moments = _moments(u)
        omega = [(smoothing @ diags(moments[:, m]) @ weights).tocsr() for m in range(10)]
        share = omega[9].toarray()
        keep = min(MAX_JOINTS, bones, max(1, int((share > MIN_SHARE).sum(axis=1).max(initial=1))))
        joints = np.argsort(-share, axis=1, kind="stable")[:, :keep]
        gathered = np.stack([np.take_along_axis(part.toarray(), joints, axis=1) for part in omega], axis=2)
        gathered /= gathered[..., 9].sum(axis=1)[:, None, None]
        delta = u - gathered[..., 6:9].sum(axis=1)
        shifted = _shift_moments(gathered, surface.points.mean(axis=0))
        if progress is not None:
            progress(1, 1)
        own = surface.point_of
        return cls(skin.inverse_binds, joints.astype(np.int32)[own], shifted[own], delta[own], chosen)

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4)."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        m = t @ self.inverse_binds
        scale = np.cbrt(np.abs(transform.determinant(m)))
        out = np.empty((len(t), len(self.delta), 3), np.float32)
        with jit.LOCK:
            jit.kernels(KERNELS).blend_moments(
                self.omega, self.joints, self.delta, np.ascontiguousarray(m[:, :, :3]), scale, out
            )
        return out[0] if single else out

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The formula, in float64."""
        t, single = check_transforms(transforms, len(self.inverse_binds))
        out = np.empty((len(t), len(self.delta), 3))
        square = self.omega[..., [0, 1, 2, 6, 1, 3, 4, 7, 2, 4, 5, 8, 6, 7, 8, 9]].reshape(*self.joints.shape, 4, 4)
        p = self.omega[..., 6:9].sum(axis=1)
        for f, m in enumerate(t @ self.inverse_binds):
            total = np.einsum("vkab,vkbc->vac", m[self.joints, :3], square)
            q = total[..., 3]
            turned = np.einsum("vab,vb->va", rotations_of(total[..., :3] - q[..., None] * p[:, None]), self.delta)
            scale = np.cbrt(np.abs(transform.determinant(m)))[self.joints]
            out[f] = q + (self.omega[..., 9] * scale).sum(axis=1)[:, None] * turned
        return out[0] if single else out

    @property
    def bytes_a_vertex(self) -> float:
        """Ten float32 and a byte (two beyond 256 joints) an influence, and a float32 vector."""
        return 12.0 + self.joints.shape[1] * (40.0 + (1 if len(self.inverse_binds) <= 256 else 2))


def rotations_of(covariance: Array) -> Array:
    """(N, 3, 3) the rotations R nearest to matrices (N, 3, 3), which are sums of (R a) a^T."""
    u, _, v = np.linalg.svd(covariance)
    flip = np.ones((*covariance.shape[:-2], 3))
    flip[..., 2] = np.sign(np.linalg.det(u @ v))
    return (u * flip[..., None, :]) @ v


def _check(settings: Any) -> DeltaMushSettings:
    chosen: DeltaMushSettings = settings_of(DeltaMushSettings, settings)
    if not 0 <= chosen.smoothing <= 200 or not 0 < chosen.strength <= 1:
        raise InvalidInput(
            f"smoothing should be 0 to 200 steps of a strength above 0 and up to 1, "
            f"but is {chosen.smoothing} of {chosen.strength}"
        )
    return chosen


def _skin(examples: Examples, settings: DeltaMushSettings) -> LinearSkin:
    """The artist's weights where there are any."""
    if settings.weights == "artist" and examples.weights is None:
        return LinearSkin.fit(examples, {"influences": settings.influences})
    return base_skin(examples, settings)


def _gather(point_of: Array, count: int) -> Any:
    from scipy.sparse import csr_matrix

    share = 1.0 / np.maximum(np.bincount(point_of, minlength=count), 1)
    return csr_matrix((share[point_of], (point_of, np.arange(len(point_of)))), (count, len(point_of)))


def _links(surface: WeldedSurface) -> Any:
    """(N, N) sparse, 1 for neighbours."""
    from scipy.sparse import coo_matrix

    start, end = surface.triangles.ravel(), np.roll(surface.triangles, 1, axis=1).ravel()
    both = np.concatenate([start, end]), np.concatenate([end, start])
    links = coo_matrix((np.ones(2 * len(start)), both), (len(surface.points),) * 2).tocsr()
    links.data[:] = 1.0
    return links


def _smooth(links: Any, points: Any, settings: DeltaMushSettings) -> Any:
    """B points: steps towards the mean of the neighbours; a point without any stays."""
    from scipy.sparse import diags, identity

    degree = np.asarray(links.sum(axis=1)).ravel()
    share = np.where(degree > 0, settings.strength, 0.0)
    step = identity(len(degree), format="csr") - diags(share) + diags(share / np.maximum(degree, 1)) @ links
    for _ in range(settings.smoothing):
        points = step @ points
    return points


def _moments(u: Array) -> Array:
    """(N, 10) xx xy xz yy yz zz x y z 1 of points (N, 3)."""
    x, y, z = u.T
    return np.stack([x * x, x * y, x * z, y * y, y * z, z * z, x, y, z, np.ones(len(u))], axis=1)


def _shift_moments(omega: Array, by: Array) -> Array:
    """The same moments (..., 10) about an origin that lies at -`by`."""
    first, mass = omega[..., 6:9], omega[..., 9:]
    result = omega.copy()
    for m, (a, b) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        result[..., m] += by[a] * first[..., b] + by[b] * first[..., a] + by[a] * by[b] * mass[..., 0]
    result[..., 6:9] += mass * by
    return result
