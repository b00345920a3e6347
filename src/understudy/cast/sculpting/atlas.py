"""The atlas: one square of texture for the left half of a body, shared by its mirror image.

Every texel knows the place on the surface that it colours, so paint and bump are functions of that place and chart
borders do not show. What is baked into the normal map, in glTF's terms:

    n' = normalise(s - grad h),   texel = (n' . t, n' . b, n' . n) / 2 + 1/2

with s the sculpture's own normal, h the bump, n the mesh's smooth normal, t the direction in which u grows and b that
in which v falls (up in the picture, glTF's +Y). Mirrored triangles have mirrored t and b, so whoever derives both from
the UVs gets the mirrored bump; whoever stores a tangent must give the right side the other handedness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.cast import geometry
from understudy.checks import Array
from understudy.maths import linear

SIZE = 1024
PADDING = 3  # texels between charts, for smaller mip levels


@dataclass(frozen=True, eq=False)
class Texels:
    """The N covered texels of the atlas, and their surface."""

    where: Array  # (N,) flat numbers of the texels
    surface: Array  # (N,) which of the unwrapped surfaces
    points: Array  # (N, 3)
    normals: Array  # (N, 3)
    across: Array  # (N, 3) t, unit
    up: Array  # (N, 3) b, unit
    size: int  # texels a side of the atlas


def unwrap(surfaces: Sequence[tuple[Array, Array]], size: int = SIZE) -> list[Array]:
    """(T, 3, 2) UVs of the corners of each surface, v downwards, all packed into one square."""
    import xatlas

    atlas = xatlas.Atlas()
    for vertices, triangles in surfaces:
        atlas.add_mesh(vertices.astype(np.float32), triangles.astype(np.uint32))
    charts, packing = xatlas.ChartOptions(), xatlas.PackOptions()
    charts.fix_winding = True
    charts.max_cost = 6.0  # larger than usual: fewer charts, hence fewer seams, stretched a little more
    packing.resolution, packing.padding, packing.bilinear, packing.bruteForce = size, PADDING, True, True
    atlas.generate(charts, packing)
    result = []
    for number in range(len(surfaces)):
        _, corners, uvs = atlas.get_mesh(number)
        result.append(uvs[corners].astype(float))
    return result


def texels(surfaces: Sequence[tuple[Array, Array]], uvs: Sequence[Array], size: int = SIZE) -> Texels:
    """What every covered texel shows, for surfaces (V, 3), (T, 3) and the UVs of their corners (T, 3, 2)."""
    from understudy.cast.sculpting.atlas_kernels import cover

    triangle = np.empty((size, size), np.int64)
    weights = np.zeros((size, size, 3))
    cover(np.concatenate(uvs), size, triangle, weights)
    where = np.flatnonzero(triangle.ravel() >= 0)
    t, w = triangle.ravel()[where], weights.reshape(-1, 3)[where][:, :, None]
    corners = np.concatenate([vertices[faces] for vertices, faces in surfaces])
    smooth = np.concatenate([geometry.normals(vertices, faces)[faces] for vertices, faces in surfaces])
    normals = linear.normalise((smooth[t] * w).sum(axis=1))
    along_u, along_v = _directions(corners, np.concatenate(uvs))
    across = linear.normalise(along_u[t] - normals * linear.dot(along_u[t], normals)[:, None])
    up = -along_v[t]
    up = up - normals * linear.dot(up, normals)[:, None]
    up = linear.normalise(up - across * linear.dot(up, across)[:, None])
    owner = np.repeat(np.arange(len(surfaces)), [len(faces) for _, faces in surfaces])
    return Texels(where, owner[t], (corners[t] * w).sum(axis=1), normals, across, up, size)


def _directions(corners: Array, uvs: Array) -> tuple[Array, Array]:
    """(T, 3) dp/du and dp/dv of each triangle: e_i = du_i dp/du + dv_i dp/dv for both edges e_1, e_2."""
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    d1, d2 = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    area = np.where(np.abs(area) < 1e-14, 1e-14, area)[:, None]
    return (e1 * d2[:, 1:] - e2 * d1[:, 1:]) / area, (e2 * d1[:, :1] - e1 * d2[:, :1]) / area


def bumped(cover: Texels, normals: Array, slope: Array) -> Array:
    """(N, 3) tangent-space normals in 0 .. 1: true normals (N, 3) of what the mesh approximates, and on top the slope
    grad h (N, 3), length per length, of the bump.

    Where the true normal leaves the mesh's by more than 60 degrees, as in the mouth's slit, it is not to be trusted.
    """
    trust = np.clip(2 * linear.dot(normals, cover.normals), 0, 1)[:, None]
    normals = linear.normalise(cover.normals + trust * (normals - cover.normals))
    slope = slope - normals * linear.dot(slope, normals)[:, None]
    normal = linear.normalise(normals - slope)
    axes = (cover.across, cover.up, cover.normals)
    return 0.5 + 0.5 * np.stack([linear.dot(normal, axis) for axis in axes], axis=1)


def picture(cover: Texels, values: Array, coarser: int = 1) -> Array:
    """(size, size, 3) uint8 of values (N, 3) in 0 .. 1; the gaps between charts take the nearest texel's value.

    `coarser` 2 gives half the size, each texel the mean of four.
    """
    from scipy.ndimage import distance_transform_edt

    size = cover.size
    canvas = np.zeros((size * size, 3))
    canvas[cover.where] = values
    empty = np.ones(size * size, dtype=bool)
    empty[cover.where] = False
    rows, columns = distance_transform_edt(empty.reshape(size, size), return_distances=False, return_indices=True)
    filled = canvas.reshape(size, size, 3)[rows, columns]
    small = size // coarser
    filled = filled.reshape(small, coarser, small, coarser, 3).mean(axis=(1, 3))
    return np.asarray(np.round(255 * np.clip(filled, 0, 1)).astype(np.uint8))
