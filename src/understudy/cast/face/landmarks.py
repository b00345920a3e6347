"""The 68 facial landmarks of the iBUG scheme as vertices of the face, so that they follow every shape.

In the scheme's order, numbered from 0: 0-16 the jaw from its right to its left, 17-26 brows, 27-35 nose, 36-47 eyes,
48-59 the outer lips, 60-67 the inner lips. Left and right are mirror images.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from understudy.cast.dragon.body import SkinSurface
from understudy.cast.face.measures import CORNER_X, LIP_Y
from understudy.checks import Array, freeze

PATH = Path(__file__).with_name("landmarks.txt")
COUNT = 68
NAMES = tuple(f"lm{number:02d}" for number in range(COUNT))
NOSE = ((0.0, 0.015), (0.0, -0.028), (0.0, -0.070), (0.0, -0.108))
NOSTRILS = ((0.0, -0.163), (0.026, -0.160), (0.056, -0.146))  # x, y from the middle outwards
UPPER_LIP = ((0.0, -0.218), (0.026, -0.213), (0.072, -0.226), (CORNER_X, LIP_Y + 0.014))
LOWER_LIP = ((0.0, -0.305), (0.030, -0.303), (0.070, -0.290))
INNER = (0.0, 0.055, CORNER_X - 0.012)
RINGS = (2, 8, 15, 21, 28)  # of a brow, from the nose outwards
LONGITUDES = (-52.0, -24.0, 24.0, 62.0)  # of the lids' edges: nearer the nose they are under the skin


def read(path: Path = PATH) -> Array:
    """(68,) the vertices that a file names."""
    numbers = np.array([int(line.split()[1]) for line in path.read_text(encoding="utf-8").splitlines() if line])
    return freeze(numbers)


def write(vertices: Array, path: Path = PATH) -> None:
    """A line a landmark: its name and its vertex."""
    path.write_text("".join(f"{n} {int(v)}\n" for n, v in zip(NAMES, vertices)), encoding="utf-8")


def found(skin: SkinSurface, first: Mapping[str, int]) -> Array:
    """(68,) vertices of the whole face; `first` says where each piece begins, the skin is the first."""
    near = _Nearest(skin)
    jaw = [near.outside(p) for p in _jaw_line()]  # from the chin to the left ear
    nose, under = near.front(NOSE), near.front(NOSTRILS)
    upper, lower = near.front(UPPER_LIP), near.front(LOWER_LIP)
    inner_upper, inner_lower = ([near.inner(x, low) for x in INNER] for low in (False, True))
    other = skin.mirror
    return np.array(
        [
            *[other[v] for v in jaw[:0:-1]],
            *jaw,
            *[_brow(first, "R", ring) for ring in RINGS[::-1]],
            *[_brow(first, "L", ring) for ring in RINGS],
            *nose,
            *[other[v] for v in under[:0:-1]],
            *under,
            *[_lid(first, "Upper", "R", a) for a in LONGITUDES[::-1]],
            *[_lid(first, "Lower", "R", a) for a in LONGITUDES[1:3]],
            *[_lid(first, "Upper", "L", a) for a in LONGITUDES],
            *[_lid(first, "Lower", "L", a) for a in LONGITUDES[2:0:-1]],
            *[other[v] for v in upper[:0:-1]],
            *upper,
            *lower[:0:-1],
            *[other[v] if v != lower[0] else v for v in lower],
            *[other[v] for v in inner_upper[:0:-1]],
            *inner_upper,
            inner_lower[1],
            inner_lower[0],
            other[inner_lower[1]],
        ]
    )


def _brow(first: Mapping[str, int], side: str, ring: int) -> int:
    from understudy.cast.face.hair import BROW_SIDES

    return first[f"Brow.{side}"] + ring * BROW_SIDES


def _lid(first: Mapping[str, int], which: str, side: str, longitude: float) -> int:
    from understudy.cast.face.lids import column

    return first[f"Lid{which}.{side}"] + column(longitude)


def _jaw_line() -> Array:
    """(9, 3) places from the chin to the left ear, where rays from inside the head leave it."""
    from understudy.cast.face.sculpt import along_rays

    t = np.radians(np.linspace(0.0, 88.0, 9))
    way = np.stack(
        [np.sin(t), 0.22 * np.sin(t) ** 8 - 0.04 - 0.98 * np.cos(t) ** 1.15, 0.02 + 0.78 * np.cos(t)], axis=1
    )
    return along_rays((0.0, -0.10, 0.02), way / np.linalg.norm(way, axis=1, keepdims=True), 0.1, 0.7)


class _Nearest:
    """Finds vertices on the left half or in the middle of the skin."""

    def __init__(self, skin: SkinSurface) -> None:
        self.points, self.depth = skin.sealed, skin.depth
        self.height = skin.unsealed[:, 1] - skin.sheet
        self.middle = skin.mirror == np.arange(len(skin.mirror))

    def outside(self, place: Array) -> int:
        """The vertex on the outside of the skin nearest to a place; at x = 0 one of the middle."""
        allowed = (self.depth > -0.004) & (self.middle if abs(place[0]) < 1e-9 else self.points[:, 0] >= 0)
        return int(np.argmin(np.where(allowed, np.linalg.norm(self.points - place, axis=1), np.inf)))

    def front(self, xy: tuple[tuple[float, float], ...]) -> list[int]:
        from understudy.cast.face.sculpt import on_front

        return [self.outside(place) for place in on_front(xy)]

    def inner(self, x: float, low: bool) -> int:
        """The vertex of the upper or lower lip where both meet, at x."""
        allowed = (self.depth < 0.004) & (self.depth > -0.020) & (np.abs(self.height) < 0.012)
        allowed &= (self.points[:, 2] > 0.24) & ((self.height < 0) == low)
        allowed &= self.middle if x == 0 else self.points[:, 0] > 0
        cost = np.abs(self.points[:, 0] - x) + 0.3 * np.abs(self.depth + 0.006)
        return int(np.argmin(np.where(allowed, cost, np.inf)))
