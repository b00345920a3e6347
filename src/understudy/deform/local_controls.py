"""Local controls: a set of blend shapes cut into local ones, so that each part of a face can be set by itself.

(Joshi, Tien, Desbrun and Pighin 2003, "Learning controls for blend shape based realistic facial animation".) Vertices
that all the shapes move alike form a region; a region's controls are the shapes multiplied by its soft mask:

    d_{s,r}(v) = m_r(v) d_s(v),     sum_r m_r(v) = 1,     so that   sum_r d_{s,r} = d_s

Where the paper thresholds one map of elastic stress, here neighbouring patches are joined, the most alike first (Ward's
rule on how far each shape moves them), until the wanted number of regions is left or joining would cost too much. Masks
are the regions spread by diffusion over the mesh, which keeps their sum. A shape that hardly moves in a region gives
that part to its largest one, so that controls are few and still add up to the shape exactly.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.deform.deformer import settings_of
from understudy.deform.fitting.gradient_mesh import edges_of
from understudy.errors import InvalidInput

STILL_MOTION_RATIO = 0.02  # of a shape's largest motion: less counts as none
SAME_PATTERN_RATIO = 0.02  # of the pattern's length: neighbours that differ less are one patch from the start


@dataclass(frozen=True)
class ControlsSettings:
    """How a set of shapes is cut into local controls."""

    regions: int | None = None  # None: join until that would raise the spread inside regions by `detail` of the whole
    detail: float = 0.02
    softness: float = 0.02  # width of the borders, of the mesh's size
    least: float = 0.02  # of a shape's motion: a smaller part makes no control


@dataclass(frozen=True, eq=False)
class LocalControls:
    """N controls in R regions, made of S shapes."""

    names: tuple[str, ...]  # N, shape.region
    shape: Array  # (N,) int
    region: Array  # (N,) int
    deltas: Array  # (N, V, 3) float32
    regions: Array  # (V,) int, the region of each vertex
    masks: Array  # (R, V), columns sum to 1

    def spread_weights(self, shape_weights: ArrayLike) -> Array:
        """Controls (F, N) that give the same face as the shapes' weights (F, S)."""
        return np.asarray(shape_weights, dtype=np.float64)[:, self.shape]

    def blend(self, rest: ArrayLike, controls: ArrayLike) -> Array:
        """Vertices (F, V, 3) of a rest mesh (V, 3) and controls (F, N)."""
        amount = checks.array(controls, "controls", ("F", len(self.names)))
        flat = self.deltas.reshape(len(self.deltas), -1)
        return np.asarray(rest, dtype=np.float64) + (amount @ flat).reshape(len(amount), -1, 3)

    def follow(self, rest: ArrayLike, meshes: ArrayLike, effort: float = 1e-3) -> Array:
        """Controls (F, N), none below zero, whose face comes closest to meshes (F, V, 3).

        `effort` is the cost of a control at 1, as a part of its own motion; it keeps unneeded ones at 0.
        """
        from scipy.optimize import nnls

        count = self.deltas.shape[1]
        p = checks.array(rest, "the rest mesh", (count, 3))
        x = checks.array(meshes, "meshes", ("F", count, 3))
        D = self.deltas.reshape(len(self.deltas), -1).astype(np.float64)
        G = D @ D.T
        G += np.diag(effort * np.diagonal(G) + 1e-12 * np.trace(G))
        L = np.linalg.cholesky(G)
        right = np.linalg.solve(L, D @ (x - p).reshape(len(x), -1).T)
        return np.stack([nnls(L.T, b)[0] for b in right.T]) if len(x) else np.zeros((0, len(D)))


def learn_controls(
    rest: ArrayLike,
    triangles: ArrayLike,
    deltas: ArrayLike,
    names: Any = None,
    settings: ControlsSettings | dict[str, Any] | None = None,
) -> LocalControls:
    """Local controls of shapes `deltas` (S, V, 3) on a mesh rest (V, 3), triangles (T, 3)."""
    chosen: ControlsSettings = settings_of(ControlsSettings, settings)
    p = checks.array(rest, "the rest mesh", ("V", 3))
    d = checks.array(deltas, "the shapes", ("S", len(p), 3))
    t = checks.array(triangles, "triangles", ("T", 3), np.int64)
    checks.indices(t, "triangles", len(p))
    if not len(d) or not np.abs(d).max(initial=0.0) > 0:
        raise InvalidInput("learning controls needs at least one shape that moves something")
    shape_names = checks.unique_names(names or [f"shape{i}" for i in range(len(d))], "shape names")
    if len(shape_names) != len(d):
        raise InvalidInput(f"there are {len(d)} shapes, but {len(shape_names)} names for them")
    edges = edges_of(p, t)
    pattern = motion_pattern(d)
    regions = _merge_regions(pattern, edges.owner, edges.other, chosen)
    regions = _fill_still_vertices(p, regions, edges.owner, edges.other)
    masks = _masks(p, regions, edges, chosen.softness)
    return _controls(d, shape_names, regions, masks, chosen.least)


def motion_pattern(deltas: Array) -> Array:
    """(V, S) how far each shape moves a vertex, of the farthest it moves any; 0 below `STILL_MOTION_RATIO`."""
    far = np.linalg.norm(deltas, axis=-1).T
    most = far.max(axis=0)
    pattern = far / np.where(most > 0, most, 1.0)
    return np.where(pattern < STILL_MOTION_RATIO, 0.0, pattern)


def _merge_regions(pattern: Array, owner: Array, other: Array, settings: ControlsSettings) -> Array:
    """(V,) regions, -1 where nothing moves: neighbours joined by Ward's rule, the cheapest first.

    Joining costs n m / (n + m) |mean difference|^2, by which the squared distances inside regions grow.
    """
    moving = pattern.max(axis=1) > 0
    label, size, mean = _initial_regions(pattern, moving, owner, other)
    near: list[set[int]] = [set() for _ in size]
    inside = moving[owner] & moving[other]
    for a, b in np.unique(np.stack([label[owner[inside]], label[other[inside]]], axis=1), axis=0).tolist():
        if a != b:
            near[a].add(b)
    centre = pattern[moving].mean(axis=0)
    total = float(np.square(pattern[moving] - centre).sum())
    parent = list(range(len(size)))
    version = [0] * len(size)

    def cost(a: int, b: int) -> float:
        return float(size[a] * size[b] / (size[a] + size[b]) * np.square(mean[a] - mean[b]).sum())

    heap = [(cost(a, b), a, b, 0, 0) for a in range(len(size)) for b in near[a] if a < b]
    heapq.heapify(heap)
    left = len(size)
    while heap and left > (settings.regions or 1):
        price, a, b, i, j = heapq.heappop(heap)
        if version[a] != i or version[b] != j or parent[a] != a or parent[b] != b:
            continue
        if settings.regions is None and price > settings.detail * total:
            break
        mean[a] = (size[a] * mean[a] + size[b] * mean[b]) / (size[a] + size[b])
        size[a] += size[b]
        parent[b], near[b], joined = a, set(), near[b]
        near[a] = (near[a] | joined) - {a, b}
        version[a] += 1
        left -= 1
        for c in near[a]:
            near[c] = (near[c] - {b}) | {a}
            x, y = min(a, c), max(a, c)
            heapq.heappush(heap, (cost(x, y), x, y, version[x], version[y]))
    return _number_regions(label, parent, moving)


def _initial_regions(pattern: Array, moving: Array, owner: Array, other: Array) -> tuple[Array, Array, Array]:
    """(V,) patches of neighbours that move nearly alike, -1 where nothing moves, their sizes and mean patterns."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    apart = np.linalg.norm(pattern[owner] - pattern[other], axis=1)
    length = np.linalg.norm(pattern, axis=1)
    same = (apart <= SAME_PATTERN_RATIO * np.maximum(length[owner], length[other])) & moving[owner] & moving[other]
    graph = sparse.coo_matrix((np.ones(same.sum()), (owner[same], other[same])), shape=(len(pattern), len(pattern)))
    _, every = connected_components(graph, directed=False)
    label = np.full(len(pattern), -1)
    _, label[moving] = np.unique(every[moving], return_inverse=True)
    size = np.bincount(label[moving]).astype(float)
    mean = np.zeros((len(size), pattern.shape[1]))
    np.add.at(mean, label[moving], pattern[moving])
    return label, size, mean / size[:, None]


def _number_regions(label: Array, parent: list[int], moving: Array) -> Array:
    """(V,) the regions of the patches after joining, numbered by their first vertex; -1 where nothing moves."""
    top = np.array(parent)
    while (top[top] != top).any():
        top = top[top]
    out = np.full(len(label), -1)
    _, first, inverse = np.unique(top[label[moving]], return_index=True, return_inverse=True)
    out[moving] = np.argsort(np.argsort(first))[inverse]
    return out


def _fill_still_vertices(rest: Array, regions: Array, owner: Array, other: Array) -> Array:
    """Regions (V,) with vertices at rest given to the region of the nearest moving one, over the mesh, else through
    space."""
    out = regions.copy()
    while True:
        gap = (out[owner] < 0) & (out[other] >= 0)
        if not gap.any():
            break
        order = np.lexsort((other[gap], np.linalg.norm(rest[owner[gap]] - rest[other[gap]], axis=1)))
        at, place = np.unique(owner[gap][order], return_index=True)
        out[at] = out[other[gap][order][place]]
    lost = out < 0
    if lost.any():
        from scipy.spatial import cKDTree

        known = np.flatnonzero(~lost)
        out[lost] = out[known[cKDTree(rest[known]).query(rest[lost])[1]]]
    return out


def _masks(rest: Array, regions: Array, edges: Any, softness: float) -> Array:
    """(R, V): (1 + t L)^-1 of the regions, L the mesh's Laplacian; rows of L sum to zero, so the masks sum to one."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    count = int(regions.max()) + 1
    sharp = (regions == np.arange(count)[:, None]).astype(float)
    reach = softness * float(np.linalg.norm(np.ptp(rest, axis=0)))
    length = np.linalg.norm(rest[edges.owner] - rest[edges.other], axis=1)
    weight = (reach / np.maximum(length, 1e-9 * reach + 1e-300)) ** 2  # graph Laplacian in units of the reach
    weight = np.minimum(weight, 1e6)
    graph = sparse.csr_matrix((weight, (edges.owner, edges.other)), shape=(len(rest), len(rest)))
    graph = 0.5 * (graph + graph.T)
    laplacian = sparse.diags(np.asarray(graph.sum(axis=1)).ravel()) - graph
    soft = splu((sparse.identity(len(rest)) + 0.25 * laplacian).tocsc()).solve(sharp.T).T
    soft = np.maximum(soft, 0.0)
    return soft / soft.sum(axis=0)


def _controls(deltas: Array, names: tuple[str, ...], regions: Array, masks: Array, least: float) -> LocalControls:
    energy = np.einsum("rv,sv->sr", masks**2, np.sum(deltas**2, axis=-1))
    shape, region, parts = [], [], []
    for s, part in enumerate(energy):
        if not part.sum() > 0:
            continue
        kept = np.flatnonzero(part >= least * part.sum())
        main = int(part.argmax())
        mask = masks[kept].copy()
        mask[int(np.searchsorted(kept, main))] += 1.0 - mask.sum(axis=0)
        for r, m in zip(kept.tolist(), mask):
            shape.append(s)
            region.append(r)
            parts.append((m[:, None] * deltas[s]).astype(np.float32))
    control_names = tuple(f"{names[s]}.{r}" for s, r in zip(shape, region))
    freeze = checks.freeze
    index = (freeze(np.array(shape)), freeze(np.array(region)))
    return LocalControls(control_names, *index, freeze(np.stack(parts)), freeze(regions), freeze(masks))
