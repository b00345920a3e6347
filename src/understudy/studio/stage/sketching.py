"""A sketch: the triangles of a character on fewer of its own vertices, for a page that cannot draw all of them in time.

What draws on a processor pays for every triangle, however small: the dragon's 42,000 take 20 ms before the first pixel.
The vertices are the same ones with the same numbers, so that frames, normals and pictures on the surface fit both.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Mesh
from understudy.checks import Array
from understudy.rig import PosedRig
from understudy.studio.stage.coarse import coarsened
from understudy.studio.stage.description import VERSION, Buffers, chosen
from understudy.studio.stage.packing import Packer
from understudy.studio.stage.surface import pieces_of

WANTED = 3000  # places of vertices in all: an edge is about five pixels long where a character fills the view
FEWEST = 40  # of a part


def sketch(rig: PosedRig) -> bytes:
    """Header and buffers as of a description; `draws` are the triangles of each part's draws, in drawn vertices."""
    buffers = Buffers()
    pieces = pieces_of(Packer(rig).parts)
    share = WANTED / max(1, sum(piece.count for piece in pieces))
    parts = []
    for piece in pieces:
        corners, which = fewer(piece.mesh, max(FEWEST, int(share * piece.count)))
        parts.append([buffers.add(corners[own[which]] + piece.start, "u") for _, own in chosen(piece.mesh)])
    return buffers.after({"version": VERSION, "draws": parts})


def fewer(mesh: Mesh, wanted: int) -> tuple[Array, Array]:
    """Triangles (t, 3) of a mesh without corner attributes on about `wanted` places, and (t,) which they were."""
    if len(mesh.vertices) <= wanted or not len(mesh.triangles):
        return mesh.triangles, np.arange(len(mesh.triangles))
    place = places(mesh.vertices)
    lead = np.unique(place, return_index=True)[1]  # one vertex of each place
    chart = components(mesh.triangles, len(mesh.vertices))
    triangles, which = coarsened(mesh.vertices[lead], place[mesh.triangles], wanted, chart[mesh.triangles[:, 0]])
    return _corners(mesh, place, chart, triangles, which), which


def _corners(split: Mesh, place: Array, chart: Array, triangles: Array, which: Array) -> Array:
    """(t, 3) for triangles on places the drawn vertices: there, in the triangle's own chart, with the nearest UV."""
    before = split.triangles[which]
    own = chart[before[:, 0]]
    uv = split.uvs[0] if split.uvs else np.zeros((len(place), 2), np.float32)
    middle = uv[before].mean(axis=1)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(place.max(initial=0) + 2))
    most = int(np.diff(starts).max(initial=1))
    result = np.empty(triangles.shape, np.int64)
    for k in range(3):
        first, last = starts[triangles[:, k]], starts[triangles[:, k] + 1]
        best = np.full(len(triangles), np.inf)
        for number in range(most):
            candidate = order[np.minimum(first + number, len(order) - 1)]
            far = np.square(uv[candidate] - middle).sum(axis=1) + np.where(chart[candidate] == own, 0.0, 1e6)
            far[first + number >= last] = np.inf
            better = far < best
            result[better, k], best[better] = candidate[better], far[better]
    return result


def places(vertices: Array) -> Array:
    """(V,) a number for each place; copies that a seam needs have the same."""
    size = max(float(np.ptp(vertices, axis=0).max()), 1e-12)
    cells = np.round((vertices - vertices.min(axis=0)) / size * 1e6).astype(np.int64)
    return np.unique(cells @ (1, 2_000_003, 4_000_012_000_009), return_inverse=True)[1].reshape(-1)


def components(triangles: Array, count: int) -> Array:
    """(V,) a number for each connected piece."""
    label = np.arange(count)
    while True:
        low = label[triangles].min(axis=1)
        after = label.copy()
        for k in range(3):
            np.minimum.at(after, triangles[:, k], low)
        after = after[after]
        if (after == label).all():
            return label
        label = after
