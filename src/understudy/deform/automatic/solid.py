"""The space inside a mesh, in cubes: known also where the mesh has holes, overlaps or is not closed at all.

The surface is drawn into a grid; what can be reached from outside without passing it is outside. To bridge gaps the
surface is first grown by `CLOSING` cubes, and the outside grown back by as many. A mesh too open for that keeps only
the cubes that its surface passes through: "inside" is then nothing but near the skin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array

RESOLUTION = 64  # cubes along the longest side; 96 changes the weights of real characters by less than their heads
CLOSING = 1  # a gap of 2 of 64 is what unwelded parts leave
MARGIN = 2  # cubes of outside around everything, beyond those that closing takes
SPACING = 0.6  # of a cube, between samples of the surface: less than 1 leaves no pinhole along an axis
MOST_SAMPLES = 4_000_000  # of the surface; beyond it, spacing grows: a scan's triangles are smaller than cubes anyway


@dataclass(frozen=True, eq=False)
class Solid:
    """Cubes `inside` (X, Y, Z) bool and those of the `shell` among them; cube i covers origin + step * [i, i + 1]."""

    inside: Array
    shell: Array
    origin: Array  # (3,)
    step: float

    @classmethod
    def of(cls, points: Array, triangles: Array, resolution: int = RESOLUTION, closing: int = CLOSING) -> Solid:
        """The inside of a surface (N, 3), (T, 3); gaps of up to twice `closing` cubes are bridged."""
        from scipy import ndimage

        low, high = points.min(axis=0), points.max(axis=0)
        step = float((high - low).max()) / resolution or 1.0
        margin = closing + MARGIN
        origin = low - (margin + 0.5) * step
        shape = np.ceil((high - low) / step).astype(int) + 2 * margin + 1
        shell = np.zeros(shape, bool)
        for samples in surface_samples(points, triangles, SPACING * step):
            shell[tuple(((samples - origin) / step).astype(int).T)] = True
        grown = ndimage.binary_dilation(shell, iterations=closing)
        regions = np.asarray(ndimage.label(np.logical_not(grown))[0])
        outside = regions == regions[0, 0, 0]
        outside = np.asarray(ndimage.binary_dilation(outside, iterations=closing)) & ~shell
        return cls(~outside, shell, origin, step)

    def contains(self, points: Array) -> Array:
        """(...) whether points (..., 3) lie in a cube of the inside."""
        cube = np.floor((np.asarray(points) - self.origin) / self.step).astype(np.int64)
        known: Array = np.asarray(((cube >= 0) & (cube < self.inside.shape)).all(axis=-1))
        cube = np.where(known[..., None], cube, 0)
        found: Array = self.inside[cube[..., 0], cube[..., 1], cube[..., 2]] & known
        return found

    def reach(self, start: Array, direction: Array, farthest: float) -> float:
        """How far one can go from a point (3,) in a unit direction (3,) without leaving; 0 from outside."""
        way = 0.5 * self.step * np.arange(int(2 * farthest / self.step) + 2)
        within = self.contains(start + way[:, None] * direction)
        left = np.flatnonzero(~within)
        return float(way[-1] if not left.size else way[max(left[0] - 1, 0)])


def surface_samples(points: Array, triangles: Array, spacing: float) -> list[Array]:
    """Points (n, 3) all over a surface, in blocks, none further than `spacing` from the next in its triangle."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    longest = np.maximum.reduce([np.linalg.norm(e, axis=1) for e in (b - a, c - a, c - b)], initial=0.0)
    cuts = np.ceil(longest / spacing).astype(int) + 1
    total = float(((cuts + 1.0) * (cuts + 2.0) / 2).sum())
    if total > MOST_SAMPLES:
        cuts = np.maximum((cuts * np.sqrt(MOST_SAMPLES / total)).astype(int), 1)
    blocks = [points]
    for count in np.unique(cuts):
        chosen = cuts == count
        u, v = np.meshgrid(np.arange(count + 1) / count, np.arange(count + 1) / count)
        u, v = (part[u + v <= 1 + 1e-9][:, None] for part in (u, v))
        along, across = (b - a)[chosen, None], (c - a)[chosen, None]
        blocks.append((a[chosen, None] + u * along + v * across).reshape(-1, 3))
    return blocks
