"""A z-buffer and texture maps in NumPy.

`rasterise` finds the triangle that each pixel sees, and `barycentric_weights` the position on it. Triangles are taken
in chunks whose bounding rectangles hold a bounded number of pixels; within a chunk everything is one array operation
over (triangle, pixel) pairs. `sample_map` reads a map at many points, and `perturb_normals` applies a normal map.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths.colour import to_linear

CHUNK_PIXELS = 1 << 20  # (triangle, pixel) pairs of a chunk: at most 100 MB of temporaries
NO_TRIANGLE = -1


@dataclass(frozen=True)
class VisibilityBuffer:
    """For each pixel, row 0 at the top: depth (H, W), 1 for nothing, and triangle (H, W), -1 for none."""

    depth: Array
    triangle: Array


def clip_near(clip: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Cut triangles at the near plane z = -w: new clip positions (M, 3, 4), source triangle (M,), weights (M, 3, 3).

    weights[i, c] are the barycentric coordinates of corner c in the source triangle. A triangle with one corner behind
    becomes two, with two corners behind a smaller one, with three none.
    """
    corners = clip[triangles]  # (T, 3, 4)
    distance = corners[..., 2] + corners[..., 3]
    behind = distance <= 0.0
    count = behind.sum(axis=1)
    eye = np.eye(3)
    whole = np.flatnonzero(count == 0)
    pieces = [(whole, np.broadcast_to(eye, (len(whole), 3, 3)))]
    for wanted in (1, 2):
        source = np.flatnonzero(count == wanted)
        if not len(source):
            continue
        odd = (behind[source] if wanted == 1 else ~behind[source]).argmax(axis=1)
        order = (odd[:, None] + np.arange(3)) % 3  # the odd corner first, the winding kept
        d = np.take_along_axis(distance[source], order, axis=1)
        at = eye[order]  # (M, 3, 3)
        t1, t2 = d[:, :1] / (d[:, :1] - d[:, 1:2]), d[:, :1] / (d[:, :1] - d[:, 2:3])
        cut1, cut2 = at[:, 0] + t1 * (at[:, 1] - at[:, 0]), at[:, 0] + t2 * (at[:, 2] - at[:, 0])
        if wanted == 2:
            pieces.append((source, np.stack([at[:, 0], cut1, cut2], axis=1)))
        else:
            pieces.append((source, np.stack([cut1, at[:, 1], at[:, 2]], axis=1)))
            pieces.append((source, np.stack([cut1, at[:, 2], cut2], axis=1)))
    source = np.concatenate([piece[0] for piece in pieces])
    weights = np.concatenate([piece[1] for piece in pieces])
    return weights @ corners[source], source, weights


def rasterise(
    corners: Array, width: int, height: int, into: VisibilityBuffer | None = None, first: int = 0
) -> VisibilityBuffer:
    """Draw screen triangles (M, 3, 3), x and y in pixels (y down), z in [-1, 1]; nearer pixels hide farther ones.

    The result adds to `into`, with triangle numbers that start at `first`.
    """
    depth = into.depth.ravel() if into is not None else np.ones(width * height)
    seen = into.triangle.ravel() if into is not None else np.full(width * height, NO_TRIANGLE)
    limit = np.array([width, height])
    # Pixel centres lie at half numbers; the first centre at or after x is ceil(x - 0.5).
    low = np.clip(np.ceil(corners[..., :2].min(axis=1) - 0.5), 0, limit).astype(np.int64)
    high = np.clip(np.floor(corners[..., :2].max(axis=1) - 0.5) + 1, 0, limit).astype(np.int64)
    extent = np.maximum(high - low, 0)
    pixels = extent[:, 0] * extent[:, 1]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    drawn = np.flatnonzero((pixels > 0) & (np.abs(area) > 1e-12))
    bounds = np.concatenate([[0], np.cumsum(pixels[drawn])])
    start = 0
    while start < len(drawn):
        stop = max(int(np.searchsorted(bounds, bounds[start] + CHUNK_PIXELS, side="right")) - 1, start + 1)
        _draw_chunk(drawn[start:stop], corners, low, extent, area, width, depth, seen, first)
        start = stop
    return VisibilityBuffer(depth.reshape(height, width), seen.reshape(height, width))


def _draw_chunk(
    chunk: Array,
    corners: Array,
    low: Array,
    extent: Array,
    area: Array,
    width: int,
    depth: Array,
    seen: Array,
    first: int,
) -> None:
    pixels = extent[chunk, 0] * extent[chunk, 1]
    which = np.repeat(np.arange(len(chunk)), pixels)
    within = np.arange(len(which)) - np.repeat(np.cumsum(pixels) - pixels, pixels)
    across = extent[chunk, 0][which]
    x, y = low[chunk, 0][which] + within % across, low[chunk, 1][which] + within // across
    p = corners[chunk]
    # w_i = p_x edge_x + p_y edge_y + constant, the barycentric coordinate of corner i, linear on the screen.
    i, j = p[:, (1, 2, 0)], p[:, (2, 0, 1)]
    inverse = 1.0 / area[chunk][:, None]
    edge_x, edge_y = (i[..., 1] - j[..., 1]) * inverse, (j[..., 0] - i[..., 0]) * inverse
    constant = (i[..., 0] * j[..., 1] - i[..., 1] * j[..., 0]) * inverse
    px, py = (x + 0.5)[:, None], (y + 0.5)[:, None]
    weights = px * edge_x[which] + py * edge_y[which] + constant[which]
    inside = (weights >= 0.0).all(axis=1)
    which, weights = which[inside], weights[inside]
    z = np.einsum("nk,nk->n", weights, p[which, :, 2])
    at = y[inside] * width + x[inside]
    np.minimum.at(depth, at, z)
    winner = z == depth[at]
    seen[at[winner]] = first + chunk[which[winner]]


def barycentric_weights(corners: Array, w: Array, x: Array, y: Array) -> Array:
    """Perspective-correct barycentric coordinates (N, 3) at pixel centres x, y (N,) of screen triangles (N, 3, 3).

    w (N, 3) are the corners' distances: b_i / w_i is linear on the screen.
    """
    i, j = corners[:, (1, 2, 0)], corners[:, (2, 0, 1)]
    px, py = (x + 0.5)[:, None], (y + 0.5)[:, None]
    screen = (i[..., 0] - px) * (j[..., 1] - py) - (i[..., 1] - py) * (j[..., 0] - px)
    weighted = screen / w
    return weighted / weighted.sum(axis=1, keepdims=True)


def detail_level(screen: Array, uvs: Array) -> float:
    """The length of a pixel on the map, relative to the map's side: the root of the ratio of all triangles' areas.

    screen (M, 3, >= 2) in pixels; uvs (M, 3, 2).
    """
    on_map, on_screen = (float(np.abs(_parallelogram_areas(corners)).sum()) for corners in (uvs, screen))
    return float(np.sqrt(on_map / max(on_screen, 1e-12)))


def _parallelogram_areas(corners: Array) -> Array:
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def sample_map(picture: Array, uvs: Array, level: float = 0.0, from_srgb: bool = False) -> Array:
    """(N, 4) of a map (H, W, 4) uint8 at uvs (N, 2), bilinear and repeating, in [0, 1]; linear where it was sRGB.

    level: that of `detail_level`; a map with more than one texel a pixel is halved until it has at most one.
    """
    texels = level * float(np.sqrt(picture.shape[0] * picture.shape[1]))
    picture = _downsample(picture, max(int(np.floor(np.log2(max(texels, 1.0)) + 0.5)), 0))
    height, width = picture.shape[:2]
    x, y = uvs[:, 0] * width - 0.5, uvs[:, 1] * height - 0.5
    x0, y0 = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    fx, fy = (x - x0)[:, None], (y - y0)[:, None]
    codes = np.arange(256)[:, None] / 255.0
    table = np.concatenate([(to_linear(codes) if from_srgb else codes).repeat(3, axis=1), codes], axis=1)
    channel = np.arange(4)

    def texel(dx: int, dy: int) -> Array:
        return table[picture[(y0 + dy) % height, (x0 + dx) % width], channel]

    top, bottom = texel(0, 0) * (1.0 - fx) + texel(1, 0) * fx, texel(0, 1) * (1.0 - fx) + texel(1, 1) * fx
    return top * (1.0 - fy) + bottom * fy


def _downsample(picture: Array, times: int) -> Array:
    """A map (H, W, 4), halved `times` times; an odd last row or column is left out."""
    for _ in range(times):
        height, width = (max(extent // 2, 1) for extent in picture.shape[:2])
        across, down = min(2, picture.shape[1]), min(2, picture.shape[0])
        blocks = picture[: down * height, : across * width].reshape(height, down, width, across, 4)
        picture = blocks.mean(axis=(1, 3), dtype=np.float32).round().astype(np.uint8)
    return picture


def perturb_normals(n: Array, m: Array, places: Array, uvs: Array, scale: float, rough: Array) -> tuple[Array, Array]:
    """Normals n (N, 3) perturbed by the vectors m (N, 3) of a normal map, and the roughness (N,) of averaged bumps.

    places (N, 3, 3) and uvs (N, 3, 2) are the corners of each point's triangle; the shaders use screen derivatives.
    """
    length = np.sqrt(np.clip((m * m).sum(axis=1), 0.25, 1.0))
    rough = np.minimum(rough**4 + 0.5 * (1.0 / length - 1.0) * scale**2, 1.0) ** 0.25
    p1, p2 = places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]
    t1, t2 = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    a, b = np.cross(p2, n), np.cross(n, p1)
    along_u, along_v = a * t1[:, :1] + b * t2[:, :1], a * t1[:, 1:] + b * t2[:, 1:]
    longest = np.sqrt(np.maximum((along_u**2).sum(axis=1), (along_v**2).sum(axis=1)))
    size = scale * np.sign(np.einsum("ni,ni->n", p1, a)) / np.maximum(longest, 1e-30)
    return normalise_rows(size[:, None] * (along_u * m[:, :1] - along_v * m[:, 1:2]) + n * m[:, 2:]), rough


def normalise_rows(a: Array) -> Array:
    """(N, 3) scaled to length one."""
    return a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-12)
