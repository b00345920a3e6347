"""Deformation gradients of a mesh at its vertices, and the mesh of given gradients: a Poisson problem factorised once.

The gradient D_i at vertex i is the 3 x 3 matrix that carries its edges and its normal from rest to pose best. A mesh
has the gradients D best where

    sum_j w_ij (x_i - x_j) + a_i x_i = sum_j w_ij (D_i + D_j) / 2 (p_i - p_j) + a_i y_i

with cotangent weights w and y a rough position with weight a_i (Yu et al. 2004, "Mesh editing with Poisson-based
gradient field manipulation"; at vertices instead of triangles, of which there are half as many).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays


@dataclass(frozen=True, eq=False)
class Edges(FrozenArrays):
    """Neighbours of each vertex as rows: those of vertex i are other[start[i]:start[i + 1]]."""

    start: Array  # (V + 1,) int64
    other: Array  # (N,) int64
    weight: Array  # (N,) float64, above zero

    @property
    def owner(self) -> Array:
        """(N,) the vertex that each row is a neighbour of."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


@dataclass(frozen=True, eq=False)
class Factor(FrozenArrays):
    """P A P^T = L D L^T of a symmetric positive sparse matrix, L unit lower, by columns."""

    start: Array  # (V + 1,) int64
    row: Array  # (N,) int32, below the diagonal
    value: Array  # (N,) float32
    diagonal: Array  # (V,) float32
    order: Array  # (V,) int64: order[k] is the row of A that comes k-th


def edges_of(rest: Array, triangles: Array) -> Edges:
    """Edges with weights (cot a + cot b) / 2, at least a hundredth of their mean, since slivers have negative ones."""
    from scipy import sparse

    count = len(rest)
    total = sparse.csr_matrix((count, count))
    for k in range(3):
        i, j, o = triangles[:, k], triangles[:, (k + 1) % 3], triangles[:, (k + 2) % 3]
        u, v = rest[i] - rest[o], rest[j] - rest[o]
        area = np.linalg.norm(np.cross(u, v), axis=1)
        cot = 0.5 * np.sum(u * v, axis=1) / np.maximum(area, 1e-12 * max(float(area.max(initial=0.0)), 1e-30))
        cot = np.clip(cot, -1e3, 1e3)
        total = total + sparse.csr_matrix((cot, (i, j)), shape=(count, count))
    both = (total + total.T).tocsr()
    both.sort_indices()
    weight = both.data
    least = 0.01 * float(np.abs(weight).mean()) if weight.size else 1.0
    return Edges(both.indptr.astype(np.int64), both.indices.astype(np.int64), np.maximum(weight, least))


def normals_of(vertices: Array, triangles: Array) -> Array:
    """(..., V, 3) unit normals, weighted by area; zero where there is no triangle."""
    a, b, c = (vertices[..., triangles[:, k], :] for k in range(3))
    face = np.cross(b - a, c - a)
    out = np.zeros_like(vertices)
    flat, corner = out.reshape(-1, *out.shape[-2:]), face.reshape(-1, *face.shape[-2:])
    for n, f in zip(flat, corner):
        for k in range(3):
            np.add.at(n, triangles[:, k], f)
    return out / np.maximum(np.linalg.norm(out, axis=-1, keepdims=True), 1e-30)


def gradients(rest: Array, triangles: Array, edges: Edges, posed: Array) -> Array:
    """D (E, V, 3, 3) of posed meshes (E, V, 3)."""
    owner = edges.owner
    before = rest[edges.other] - rest[owner]
    length = np.bincount(owner, np.linalg.norm(before, axis=1), minlength=len(rest)) / np.maximum(
        np.bincount(owner, minlength=len(rest)), 1
    )
    n = normals_of(rest, triangles) * length[:, None]
    square = _sum_by_owner(owner, edges.weight[:, None, None] * before[:, :, None] * before[:, None, :], len(rest))
    mean = np.bincount(owner, edges.weight, minlength=len(rest))[:, None, None]
    square += mean * n[:, :, None] * n[:, None, :]
    trace = np.trace(square, axis1=1, axis2=2)
    alone = trace < 1e-20 * max(float(trace.max(initial=0.0)), 1e-30)
    square[alone] = np.eye(3)
    square += 1e-9 * np.maximum(trace, 1e-30)[:, None, None] * np.eye(3)
    inverse = np.linalg.inv(square)
    out = np.empty((len(posed), len(rest), 3, 3))
    for e, x in enumerate(posed):
        after = x[edges.other] - x[owner]
        cross = _sum_by_owner(owner, edges.weight[:, None, None] * after[:, :, None] * before[:, None, :], len(rest))
        m = normals_of(x, triangles) * length[:, None]
        out[e] = (cross + mean * m[:, :, None] * n[:, None, :]) @ inverse
    out[:, alone] = np.eye(3)
    return out


def _sum_by_owner(owner: Array, values: Array, count: int) -> Array:
    """(V, 3, 3) sums over the edges of each vertex."""
    out = np.zeros((count, 3, 3))
    np.add.at(out, owner, values)
    return out


def poisson_matrix(edges: Edges, trust: Array) -> Any:
    """The sparse matrix (V, V) of the Poisson problem, with trust a (V,)."""
    from scipy import sparse

    count = len(trust)
    weights = sparse.csr_matrix((edges.weight, edges.other, edges.start), shape=(count, count))
    return (sparse.diags(np.asarray(weights.sum(axis=1)).ravel() + trust) - weights).tocsc()


def factorise(matrix: Any) -> Factor:
    """The factor of a sparse matrix by SuperLU, without pivoting, in an order of minimum degree."""
    from scipy.sparse.linalg import splu

    lu = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}, panel_size=1)
    order = np.argsort(lu.perm_c)
    lower = lu.L.tocsc()
    lower.sort_indices()
    column = np.repeat(np.arange(lower.shape[1]), np.diff(lower.indptr))
    below = lower.indices > column
    start = np.concatenate([[0], np.cumsum(np.bincount(column[below], minlength=lower.shape[1]))])
    return Factor(
        start.astype(np.int64),
        lower.indices[below].astype(np.int32),
        lower.data[below].astype(np.float32),
        lu.U.diagonal().astype(np.float32),
        order.astype(np.int64),
    )
