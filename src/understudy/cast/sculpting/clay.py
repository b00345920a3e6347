"""Clay: a body as a list of solids, each with a tag that says to which joint it belongs.

The same list makes the shape, the weights of its skin (`weights`) and much of its paint. Solids are melted together in
order; the surface swells by up to a quarter of the blend k where two meet, so k is about half the smaller radius for
flesh, and a quarter of it where a crease should be seen. Places are metres, turns are degrees (Ry Rx Rz).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.sculpting.frames import turn
from understudy.checks import Array

Vector = Sequence[float]
WIDTH = 22
SHAPES = ("ellipsoid", "bar", "ring", "half space")
WAYS = ("add", "carve", "cut", "join")
NO_TURN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Solid:
    """One solid: its numbers, and how it meets those before it."""

    tag: str
    shape: str
    numbers: tuple[float, ...]
    blend: float
    way: str = "add"
    mirrored: bool = True

    def row(self) -> Array:
        """(WIDTH,) for the kernels."""
        row = np.zeros(WIDTH)
        row[:4] = SHAPES.index(self.shape), WAYS.index(self.way), self.blend, self.mirrored
        row[4 : 4 + len(self.numbers)] = self.numbers
        return row


def ellipsoid(
    tag: str, centre: Vector, radii: Vector, blend: float = 0.05, turned: Vector = NO_TURN, way: str = "add"
) -> Solid:
    """Half-axes `radii` (3,) along axes that are turned."""
    axes = turn(*turned).T.ravel()
    return Solid(tag, "ellipsoid", (*centre, *radii, *axes), blend, way)


def bar(tag: str, a: Vector, b: Vector, thick: float, thin: float, blend: float = 0.05) -> Solid:
    """A round bar from a to b whose radius runs from `thick` to `thin`."""
    return Solid(tag, "bar", (*a, *b, thick, thin), blend)


def ring(
    tag: str, centre: Vector, large: float, small: float, blend: float, turned: Vector = NO_TURN, tall: float = 1.0
) -> Solid:
    """A torus about its y axis, `tall` times as high as round."""
    return Solid(tag, "ring", (*centre, large, small, tall, *turn(*turned).T.ravel()), blend)


def above(height: float, blend: float) -> Solid:
    """All below this height is cut off: what stands on the ground has a flat sole."""
    return below((0.0, height, 0.0), blend, (180.0, 0.0, 0.0))


def below(place: Vector, blend: float, turned: Vector = NO_TURN) -> Solid:
    """All above this place, along a y axis that is turned, is cut off."""
    return Solid("", "half space", (*place, 1.0, 1.0, 1.0, *turn(*turned).T.ravel()), blend, "cut")


def chain(tag: str, points: ArrayLike, radii: ArrayLike, blend: float = 0.03) -> list[Solid]:
    """Bars through points (N, 3) with radii (N,), which melt with the rest as one."""
    p, r = np.asarray(points, dtype=float).tolist(), np.asarray(radii, dtype=float).tolist()
    bars = [bar(tag, *ends) for ends in zip(p, p[1:], r, r[1:])]
    return [replace(solid, blend=blend, way="join" if number else "add") for number, solid in enumerate(bars)]


def lopsided(solids: Iterable[Solid]) -> list[Solid]:
    """The same solids on their own side alone."""
    return [replace(solid, mirrored=False) for solid in solids]


@dataclass(frozen=True, eq=False)
class Clay:
    """A sculpture; called with points (M, 3) it gives signed distances (M,)."""

    solids: tuple[Solid, ...]

    @cached_property
    def rows(self) -> Array:
        """(N, WIDTH)."""
        return np.array([solid.row() for solid in self.solids])

    def __call__(self, points: ArrayLike) -> Array:
        from understudy.cast.sculpting import clay_kernels

        result: Array = clay_kernels.at_points(self.rows, np.ascontiguousarray(points, dtype=float))
        return result

    def near(self, points: ArrayLike, *tags: str) -> Array:
        """(M,) distance to the nearest solid that has one of these tags."""
        from understudy.cast.sculpting import clay_kernels

        rows = np.array([solid.row() for solid in self.solids if solid.tag in tags])
        result: Array = clay_kernels.each_at_points(rows, np.ascontiguousarray(points, dtype=float)).min(axis=1)
        return result

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of solids that add something, each once."""
        return tuple(dict.fromkeys(solid.tag for solid in self.solids if solid.way in ("add", "join")))

    def on_front(self, xy: ArrayLike, near: float, far: float) -> Array:
        """(M, 3) places on the front at (M, 2) x and y, by bisection between z = near (inside) and z = far."""
        xy = np.asarray(xy, dtype=float)
        low, high = np.full(len(xy), near), np.full(len(xy), far)
        for _ in range(40):
            middle = 0.5 * (low + high)
            inside = self(np.column_stack([xy, middle])) < 0
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return np.column_stack([xy, low])
