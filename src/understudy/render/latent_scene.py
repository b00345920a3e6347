"""A latent space as things that can be drawn: clips as tubes, bridges as beads, density as shells, paths as wires.

Everything is turned into the space's own axes, the widest across the picture, and scaled to a size of one metre: latent
coordinates have no unit, and their directions no meaning, so no axes are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from understudy.checks import Array
from understudy.maths.colour import from_hex
from understudy.render.finish import Finish
from understudy.render.isosurface import isosurface
from understudy.render.normals import smooth_normals
from understudy.render.scene import Surface, srgb
from understudy.render.tubes import Shape, balls, joined, rounded, tube

CLIP, START, BEAD, WIRE, END = 0.0085, 0.021, 0.018, 0.006, 0.017  # radii, of the space's size
GRID = 40  # cells of the density along its longest side: its folds are several cells wide
SHELL = 0.15  # of the way from the log density far away to that of the clips: a quarter of the variance far away
INK = "#2B1B17"
PALER = 0.35  # a clip is at its start, towards white
SATIN = Finish(roughness=0.45, softness=0.25)
GLASS = Finish(roughness=0.35, softness=1.0, specular=0.4)


class Space(Protocol):
    """What a picture needs to know of a pose space: `posespace.PoseSpace` does."""

    label: str
    latents: Array  # (N, Q)
    segments: Sequence[Any]  # with clip, start, stop
    mapping: Any  # with log_density(x (M, Q)) -> (M,)


@dataclass(frozen=True, eq=False)
class Axes:
    """From latents (Q,) to the picture's space: x = centre + size * u @ basis.T, with basis (Q, 3)."""

    centre: Array
    basis: Array
    size: float

    @classmethod
    def of(cls, latents: Array) -> Axes:
        """Principal axes, the widest first; their signs make the largest entries positive, so pictures repeat."""
        middle = 0.5 * (latents.min(axis=0) + latents.max(axis=0))
        _, vectors = np.linalg.eigh(np.cov(latents.T).reshape(latents.shape[1], -1))
        basis = np.zeros((latents.shape[1], 3))
        count = min(3, latents.shape[1])
        basis[:, :count] = vectors[:, ::-1][:, :count]
        strongest = basis[np.abs(basis).argmax(axis=0), np.arange(3)]
        basis *= np.where(strongest < 0, -1.0, 1.0)
        return cls(middle, basis, max(float(np.ptp((latents - middle) @ basis, axis=0).max()), 1e-12))

    def to_picture(self, latents: Array) -> Array:
        """(M, 3) of latents (M, Q)."""
        return np.asarray((latents - self.centre) @ self.basis / self.size)

    def to_latents(self, points: Array) -> Array:
        """(M, Q) of points (M, 3)."""
        return np.asarray(self.centre + self.size * points @ self.basis.T)


@dataclass(frozen=True, eq=False)
class Thing:
    """A shape with its colours: linear (3,), or (V, 3). `glass` is a shell: seen through, more so where it faces us."""

    shape: Shape
    colour: Array
    glass: float = 0.0  # opacity where the shell faces us; it grows to twenty times as much at the outline

    def surface(self, eye: Array) -> Surface:
        """As the renderer takes it, for an eye at (3,)."""
        if not self.glass:
            return Surface(self.shape.triangles, self.colour, SATIN)
        towards = eye - self.shape.vertices
        facing = np.einsum("vi,vi->v", towards, self.shape.normals) / np.linalg.norm(towards, axis=1)
        alpha = self.glass * (1.0 + 19.0 * (1.0 - np.abs(facing)) ** 3)
        colours = np.concatenate(
            [np.broadcast_to(self.colour, (len(alpha), 3)), np.minimum(alpha, 1.0)[:, None]], axis=1
        )
        return Surface(self.shape.triangles, colours, GLASS, alpha_mode="blend")


def clips(space: Space, axes: Axes, colours: Sequence[str], radius: float = CLIP) -> tuple[list[Thing], Array]:
    """A tube for each segment, lighter at its start, with a ball there; and where the balls are (S, 3)."""
    things, starts = [], []
    for segment, colour in zip(space.segments, colours):
        path = axes.to_picture(space.latents[segment.start : segment.stop])
        shape = tube(rounded(path), radius)
        own = from_hex(colour)
        pale = own + PALER * (1.0 - own)
        things.append(Thing(shape, srgb(pale + shape.along[:, None] * (own - pale))))
        things.append(Thing(balls(path[:1], START), srgb(own)))
        starts.append(path[0])
    return things, np.array(starts).reshape(-1, 3)


def beads(latents: Array, axes: Axes, colour: str) -> Thing:
    """A bead at each of the latents (B, Q)."""
    return Thing(balls(axes.to_picture(latents), BEAD, rounds=0), srgb(colour))


def wire(latents: Array, axes: Axes, colour: str = INK) -> list[Thing]:
    """A particle's path (F, Q): a thin tube, and a ball where it ends."""
    path = axes.to_picture(np.asarray(latents, float))
    return [Thing(joined([tube(rounded(path), WIRE), balls(path[-1:], END)]), srgb(colour))]


def shell(space: Space, axes: Axes, colour: str, cells: int = GRID) -> Thing | None:
    """A surface of equal density around the clips; none where the density does not rise towards them.

    Its level lies between the log density far away from everything and what nine tenths of the clips' frames have.
    """
    if not np.abs(axes.basis).sum(axis=0).all():  # fewer than three dimensions: a surface would have no inside
        return None
    points = axes.to_picture(space.latents)
    low, high = points.min(axis=0) - 0.25, points.max(axis=0) + 0.25
    step = float((high - low).max() / cells)
    counts = np.ceil((high - low) / step).astype(int) + 1
    grid = np.stack(np.meshgrid(*(step * np.arange(n) for n in counts), indexing="ij"), -1).reshape(-1, 3) + low
    density = np.concatenate([space.mapping.log_density(axes.to_latents(part)) for part in _chunks(grid)])
    far = float(density.min())
    near = float(np.percentile(space.mapping.log_density(space.latents), 10.0))
    vertices, triangles = isosurface(density.reshape(counts), far + SHELL * (near - far))
    if near <= far or not len(triangles):
        return None
    placed = vertices * step + low
    shape = Shape(placed, smooth_normals(placed, triangles), triangles, np.zeros(len(placed)))
    return Thing(shape, srgb(colour), 0.018)


def _chunks(grid: Array, rows: int = 4096) -> list[Array]:
    """Parts of a long list of points, so that the covariances with all frames need little memory."""
    return [grid[start : start + rows] for start in range(0, len(grid), rows)]
