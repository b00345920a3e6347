"""Coarse meshes for characters that are drawn small or on a slow machine.

Decimation collapses edges; the remaining vertices are the mesh's own. A vertex v may collapse onto a neighbour u at the
cost of Garland and Heckbert (1997, "Surface simplification using quadric error metrics"): the distance of u to the
planes of the triangles that v and u represent,

    cost(v -> u) = u^T (Q_v + Q_u) u,        Q = sum of p p^T over the planes p of the triangles around, by area

Since no vertex moves, skin weights and shapes are kept and not computed again. Collapses are done in rounds: all that
share no triangle with a cheaper one at once. A border vertex collapses along the border only, and the border counts as
a plane at right angles to the surface. Where a texture is cut into charts, a vertex collapses only onto one that lies
in all of its charts, so that every triangle keeps its chart.

A sketch (`describe_sketch`) has the triangles of a character on fewer of its own vertices, for a page that cannot draw
all in time: a software rasteriser pays for every triangle, and the dragon's 42,000 take 20 ms before the first pixel.
The vertices keep their numbers, so that frames, normals and textures fit both.

Thin parts (`thin_parts`) are those of a crowd's character. Chart borders have to stay; where these alone are too many
vertices, the texture is baked into vertex colours instead, and the surface is decimated without charts.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from understudy.character import Character, Material, Mesh, Part, Shapes, SkinBinding, Texture
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.maths.colour import to_linear
from understudy.render.viewport.description import DESCRIPTION_VERSION, DescriptionBuffers, triangles_by_material
from understudy.render.viewport.surface import FramePacker, split_parts

MAX_TEXTURE_PIXELS = 512  # pixels a side for vertex colours, which show no more detail
DEFAULT_ROUGHNESS = 0.62  # in place of a roughness map
MAX_COLLAPSE_ROUNDS = 80  # each removes about a tenth of the vertices
MAX_COLLAPSE_SHARE = 0.7  # of the candidates of a round, the cheapest first
MIN_NORMAL_COSINE = 0.2  # cosine between a triangle's normal before and after; below, the surface would fold
TRIANGLE_EDGES = ((0, 1), (1, 2), (2, 0))
UPPER_TRIANGLE_INDICES = np.triu_indices(4)
# Vertices of a sketch: an edge is about five pixels long if the character fills the view.
SKETCH_VERTEX_COUNT = 3000
MIN_SKETCH_PART_VERTICES = 40
MIN_CROWD_PART_VERTICES = 40
MAX_VERTEX_EXCESS = 1.4  # of the wanted vertices; beyond that charts are given up


@dataclass(frozen=True, eq=False)
class ThinPart:
    """A decimated part: its vertices (n,) among those of the whole character, and their mesh and skin."""

    name: str
    vertices: Array
    mesh: Mesh  # without shapes
    skin: SkinBinding
    shapes: Shapes | None  # the part's own

    def part(self, shapes: Shapes | None) -> Part:
        """The part with these shapes."""
        mesh = self.mesh
        attributes = (mesh.name, mesh.vertices, mesh.triangles, mesh.normals, mesh.uvs, mesh.colours, mesh.materials)
        return Part(self.name, Mesh(*attributes, shapes=shapes), self.skin)


def describe_sketch(rig: PosedRig) -> bytes:
    """Header and buffers in the format of `description`; `draws` has the triangles of each part by material."""
    buffers = DescriptionBuffers()
    pieces = split_parts(FramePacker(rig).parts)
    share = SKETCH_VERTEX_COUNT / max(1, sum(piece.count for piece in pieces))
    parts = []
    for piece in pieces:
        corners, which = decimate_mesh(piece.mesh, max(MIN_SKETCH_PART_VERTICES, int(share * piece.count)))
        parts.append(
            [buffers.add(corners[own[which]] + piece.start, "u") for _, own in triangles_by_material(piece.mesh)]
        )
    return buffers.after({"version": DESCRIPTION_VERSION, "draws": parts})


def thin_parts(character: Character, wanted: int) -> list[ThinPart]:
    """The parts with about `wanted` vertices in all."""
    # a power below 1: small detailed parts (teeth, eyelids) keep a larger share
    shares = np.array([len(part.mesh.vertices) ** 0.7 for part in character.parts])
    result, first = [], 0
    for part, share in zip(character.parts, shares / max(1.0, shares.sum())):
        mesh, own = thin_part(part.mesh, max(MIN_CROWD_PART_VERTICES, int(wanted * share)))
        skin, shapes = part.skin, part.mesh.shapes
        thin_skin = SkinBinding(skin.joints, skin.inverse_binds, skin.influences[own], skin.weights[own], skin.method)
        if shapes is not None:
            normals = None if shapes.normals is None else shapes.normals[:, own]
            targets = (shapes.defaults, shapes.shape_of, shapes.stop_of)
            shapes = Shapes(shapes.names, shapes.deltas[:, own], normals, *targets)
        result.append(ThinPart(part.name, first + own, mesh, thin_skin, shapes))
        first += len(part.mesh.vertices)
    return result


def thin_part(mesh: Mesh, wanted: int) -> tuple[Mesh, Array]:
    """The mesh with about `wanted` vertices, and (n,) the original vertex of each.

    All triangles get the first material.
    """
    split, origin = mesh.per_vertex()
    if len(mesh.vertices) <= wanted or not len(mesh.triangles):
        return _subset(split, np.arange(len(split.vertices)), split.triangles), origin
    corners, _ = decimate_mesh(split, wanted)
    if len(np.unique(corners)) > MAX_VERTEX_EXCESS * wanted and mesh.uvs:
        place = place_numbers(split.vertices)
        lead = np.unique(place, return_index=True)[1]  # one vertex of each position
        painted = bake_vertex_colours(split, place)
        triangles, _ = decimate_triangles(split.vertices[lead], place[split.triangles], wanted)
        split, corners = painted, lead[triangles]
    kept, numbers = np.unique(corners, return_inverse=True)
    return _subset(split, kept, numbers.reshape(-1, 3)), origin[kept]


def bake_vertex_colours(mesh: Mesh, place: Array) -> Mesh:
    """The mesh with its texture as vertex colours, without UVs; vertices of one `place` (V,) get one colour."""
    material = mesh.material(0)
    colours = np.ones((len(mesh.vertices), 4)) if mesh.colours is None else mesh.colours.astype(np.float64)
    texture = material.textures.get("colour")
    if texture is not None and texture.uv_set < len(mesh.uvs):
        colours[:, :3] *= _mean_colours(_sample_texture(texture, mesh.uvs[texture.uv_set]), place)
    return Mesh(mesh.name, mesh.vertices, mesh.triangles, mesh.normals, (), colours, [_strip_textures(material)])


def _sample_texture(texture: Texture, uv: Array) -> Array:
    """(V, 3) linear colours of a texture at UVs (V, 2); white if it cannot be read."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(texture.image.data)) as image:
            pixels = (
                np.asarray(
                    image.convert("RGB").resize((MAX_TEXTURE_PIXELS, MAX_TEXTURE_PIXELS), Image.Resampling.BOX),
                    np.float64,
                )
                / 255
            )
    except (OSError, ValueError):
        return np.ones((len(uv), 3))
    column, row = (np.floor(uv % 1.0 * MAX_TEXTURE_PIXELS).astype(int).clip(0, MAX_TEXTURE_PIXELS - 1)).T
    return np.asarray(to_linear(pixels[row, column]))


def _mean_colours(colours: Array, place: Array) -> Array:
    count = np.bincount(place)
    mean = np.stack([np.bincount(place, colours[:, c]) / np.maximum(count, 1) for c in range(3)], axis=1)
    return mean[place]


def _strip_textures(material: Material) -> Material:
    rough = DEFAULT_ROUGHNESS if "metallic_roughness" in material.textures else material.roughness
    return replace(material, roughness=rough, textures=MappingProxyType({}))


def _subset(mesh: Mesh, kept: Array, triangles: Array) -> Mesh:
    return Mesh(
        mesh.name,
        mesh.vertices[kept],
        triangles,
        None if mesh.normals is None else mesh.normals[kept],
        [uv[kept] for uv in mesh.uvs],
        None if mesh.colours is None else mesh.colours[kept],
        [mesh.material(0)],
    )


def decimate_mesh(mesh: Mesh, wanted: int) -> tuple[Array, Array]:
    """Triangles (t, 3) of a per-vertex mesh on about `wanted` positions, and their old numbers (t,)."""
    if len(mesh.vertices) <= wanted or not len(mesh.triangles):
        return mesh.triangles, np.arange(len(mesh.triangles))
    place = place_numbers(mesh.vertices)
    lead = np.unique(place, return_index=True)[1]  # one vertex of each position
    chart = component_numbers(mesh.triangles, len(mesh.vertices))
    triangles, which = decimate_triangles(
        mesh.vertices[lead], place[mesh.triangles], wanted, chart[mesh.triangles[:, 0]]
    )
    return _corners(mesh, place, chart, triangles, which), which


def _corners(split: Mesh, place: Array, chart: Array, triangles: Array, which: Array) -> Array:
    """(t, 3) the vertices for triangles on positions: in the triangle's own chart, with the nearest UV."""
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


def place_numbers(vertices: Array) -> Array:
    """(V,) a number for each position; copies at a seam have the same."""
    size = max(float(np.ptp(vertices, axis=0).max()), 1e-12)
    cells = np.round((vertices - vertices.min(axis=0)) / size * 1e6).astype(np.int64)
    return np.unique(cells @ (1, 2_000_003, 4_000_012_000_009), return_inverse=True)[1].reshape(-1)


def component_numbers(triangles: Array, count: int) -> Array:
    """(V,) a number for each connected component."""
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


def decimate_triangles(
    vertices: Array, triangles: Array, wanted: int, charts: Array | None = None
) -> tuple[Array, Array]:
    """Triangles (t, 3) on fewer of the vertices (V, 3), near `wanted` if possible, and their old numbers (t,).

    `charts` (T,) numbers the chart of each triangle.
    """
    points, t = vertices.astype(np.float64), triangles.astype(np.int64)
    which = np.flatnonzero(~_empty(t))
    t = t[which]
    chart = np.zeros(len(triangles), np.int64) if charts is None else charts
    member = _members(t, chart[which], len(points))
    quadrics = _quadrics(points, t)
    tired = np.zeros(len(points), bool)  # the cheapest collapse would fold the surface; retried every fourth round
    for number in range(MAX_COLLAPSE_ROUNDS):
        left = int(np.count_nonzero(np.bincount(t.reshape(-1))))
        if left <= wanted:
            break
        tired &= number % 4 != 0
        source, target = _collapse_round(points, t, quadrics, member, tired, left - wanted)
        if not len(source) and not tired.any():
            break
        moved = np.arange(len(points))
        moved[source] = target
        for k in range(quadrics.shape[1]):
            quadrics[:, k] += np.bincount(target, quadrics[source, k], len(points))
        t = moved[t]
        whole = ~_empty(t)
        t, which = t[whole], which[whole]
    return t, which


def _empty(t: Array) -> Array:
    return (t[:, 0] == t[:, 1]) | (t[:, 1] == t[:, 2]) | (t[:, 2] == t[:, 0])


def _edges(t: Array, count: int) -> tuple[Array, Array, Array]:
    """Ends v (E,) and u (E,) of each edge in both directions, and its number of triangles."""
    pairs = t[:, TRIANGLE_EDGES].reshape(-1, 2)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    keys, times = np.unique(low * count + high, return_counts=True)
    v, u = keys // count, keys % count
    return np.concatenate([v, u]), np.concatenate([u, v]), np.concatenate([times, times])


def _members(t: Array, chart: Array, count: int) -> Array:
    """(V,) uint64, a bit for each chart of a vertex; charts that share a bit may be mixed up."""
    result = np.zeros(count, np.uint64)
    bit = np.uint64(1) << (chart % 64).astype(np.uint64)
    for k in range(3):
        np.bitwise_or.at(result, t[:, k], bit)
    return result


def _quadrics(points: Array, t: Array) -> Array:
    """(V, 10) the upper triangle of Q of each vertex."""
    a, b, c = points[t[:, 0]], points[t[:, 1]], points[t[:, 2]]
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.where(area > 0, area, 1)
    result = _sum_quadrics(normal, area, a, t, len(points))
    for side in TRIANGLE_EDGES:
        ends = t[:, side]
        v, u = ends.min(axis=1), ends.max(axis=1)
        border = ends[_times(t, v, u, len(points)) == 1]
        face = normal[_times(t, v, u, len(points)) == 1]
        along = points[border[:, 1]] - points[border[:, 0]]
        across = np.cross(along, face)  # as long as the edge; the weight is its square
        size = np.linalg.norm(across, axis=1, keepdims=True)
        across = across / np.where(size > 0, size, 1)
        result += _sum_quadrics(across, size * size, points[border[:, 0]], border, len(points))
    return result


def _sum_quadrics(normal: Array, weight: Array, through: Array, owners: Array, count: int) -> Array:
    """(V, 10) sums of planes with a normal (n, 3) through a point (n, 3), each at all of its owners (n, m)."""
    plane = np.concatenate([normal, -np.einsum("ti,ti->t", normal, through)[:, None]], axis=1)
    each = weight * plane[:, UPPER_TRIANGLE_INDICES[0]] * plane[:, UPPER_TRIANGLE_INDICES[1]]
    width = owners.shape[1]
    columns = [np.bincount(owners.reshape(-1), np.repeat(each[:, k], width), count) for k in range(10)]
    return np.stack(columns, axis=1)


def _times(t: Array, v: Array, u: Array, count: int) -> Array:
    """(n,) the number of triangles at the edges v (n,) < u (n,)."""
    pairs = np.sort(t[:, TRIANGLE_EDGES].reshape(-1, 2), axis=1)
    keys, times = np.unique(pairs[:, 0] * count + pairs[:, 1], return_counts=True)
    return times[np.searchsorted(keys, v * count + u)]


def _collapse_round(
    points: Array, t: Array, quadrics: Array, member: Array, tired: Array, most: int
) -> tuple[Array, Array]:
    """Collapses v -> u that share no triangle: sources (n,) and targets (n,). Folding ones are marked in `tired`."""
    count = len(points)
    v, u, times = _edges(t, count)
    inside = np.ones(count, bool)
    inside[v[times != 2]] = False
    fits = (inside[v] | (times == 1)) & ((member[v] & ~member[u]) == 0) & ~tired[v]
    v, u = v[fits], u[fits]
    if not len(v):
        return v, u
    place = np.concatenate([points[u], np.ones((len(u), 1))], axis=1)
    twice = (
        np.where(UPPER_TRIANGLE_INDICES[0] == UPPER_TRIANGLE_INDICES[1], 1.0, 2.0)
        * place[:, UPPER_TRIANGLE_INDICES[0]]
        * place[:, UPPER_TRIANGLE_INDICES[1]]
    )
    length = np.square(points[u] - points[v]).sum(axis=1)
    cost = np.einsum("ek,ek->e", twice, quadrics[v] + quadrics[u]) + 1e-3 * length * length
    order = np.lexsort((cost, v))
    first = order[np.flatnonzero(np.diff(v[order], prepend=-1))]  # the cheapest collapse of each vertex
    v, u, cost = v[first], u[first], cost[first]
    cheapest = np.argsort(cost, kind="stable")[: max(1, int(MAX_COLLAPSE_SHARE * len(cost)))]
    rank = np.full(count, count)
    rank[v[cheapest]] = np.arange(len(cheapest))
    lowest = rank[t].min(axis=1)  # of each triangle, the cheapest of its corners
    beaten = np.bincount(t.reshape(-1), (rank[t] > lowest[:, None]).reshape(-1), count) > 0
    chosen = cheapest[~beaten[v[cheapest]]][:most]
    target = np.full(count, -1)
    target[v[chosen]] = u[chosen]
    folds = _folds(points, t, target)
    tired |= folds
    source = v[chosen][~folds[v[chosen]]]
    return source, target[source]


def _folds(points: Array, t: Array, target: Array) -> Array:
    """(V,) bool, whether the collapse of a vertex onto its target would flip a triangle."""
    corner = target[t] >= 0  # at most one of each triangle
    which = np.flatnonzero(corner.any(axis=1))
    k = corner[which].argmax(axis=1)
    old = t[which]
    v = old[np.arange(len(which)), k]
    new = old.copy()
    new[np.arange(len(which)), k] = target[v]
    before, after = (np.cross(points[x[:, 1]] - points[x[:, 0]], points[x[:, 2]] - points[x[:, 0]]) for x in (old, new))
    size = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    bad = ~_empty(new) & (np.einsum("ti,ti->t", before, after) < MIN_NORMAL_COSINE * size + 1e-30)
    result = np.zeros(len(points), bool)
    result[v[bad]] = True
    return result
