"""Maps in NumPy: reading them at many places, and turning normals by them."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.colour import to_linear


def detail_level(screen: Array, uvs: Array) -> float:
    """Length of a pixel on the map, of the map's side: the root of all triangles' area on the map over the screen's.

    screen (M, 3, >= 2) in pixels; uvs (M, 3, 2).
    """
    on_map, on_screen = (float(np.abs(_doubled_areas(corners)).sum()) for corners in (uvs, screen))
    return float(np.sqrt(on_map / max(on_screen, 1e-12)))


def _doubled_areas(corners: Array) -> Array:
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def sample(picture: Array, uvs: Array, level: float = 0.0, from_srgb: bool = False) -> Array:
    """(N, 4) of a map (H, W, 4) uint8 at uvs (N, 2), bilinear and repeating, in [0, 1]; linear where it was sRGB.

    level: as `detail_level` gives it; a map with more than one texel a pixel is halved until it has not.
    """
    texels = level * float(np.sqrt(picture.shape[0] * picture.shape[1]))
    picture = _reduced(picture, max(int(np.floor(np.log2(max(texels, 1.0)) + 0.5)), 0))
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


def _reduced(picture: Array, times: int) -> Array:
    """A map (H, W, 4) halved some times; an odd last row or column is left out."""
    for _ in range(times):
        height, width = (max(extent // 2, 1) for extent in picture.shape[:2])
        across, down = min(2, picture.shape[1]), min(2, picture.shape[0])
        blocks = picture[: down * height, : across * width].reshape(height, down, width, across, 4)
        picture = blocks.mean(axis=(1, 3), dtype=np.float32).round().astype(np.uint8)
    return picture


def bumped(n: Array, m: Array, places: Array, uvs: Array, scale: float, rough: Array) -> tuple[Array, Array]:
    """Normals n (N, 3) turned by the vectors m (N, 3) of a normal map; the roughness (N,) that averaged bumps leave.

    places (N, 3, 3) and uvs (N, 3, 2) are the corners of each point's triangle: the shaders do the same with the
    derivatives on the screen.
    """
    length = np.sqrt(np.clip((m * m).sum(axis=1), 0.25, 1.0))
    rough = np.minimum(rough**4 + 0.5 * (1.0 / length - 1.0) * scale**2, 1.0) ** 0.25
    p1, p2 = places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]
    t1, t2 = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    a, b = np.cross(p2, n), np.cross(n, p1)
    along_u, along_v = a * t1[:, :1] + b * t2[:, :1], a * t1[:, 1:] + b * t2[:, 1:]
    longest = np.sqrt(np.maximum((along_u**2).sum(axis=1), (along_v**2).sum(axis=1)))
    size = scale * np.sign(np.einsum("ni,ni->n", p1, a)) / np.maximum(longest, 1e-30)
    return unit(size[:, None] * (along_u * m[:, :1] - along_v * m[:, 1:2]) + n * m[:, 2:]), rough


def unit(a: Array) -> Array:
    """(N, 3) scaled to length one."""
    return a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-12)
