"""Where on the dragon's skin: the coordinates in which its blend shapes are written.

Everything is in head lengths and symmetric: `folded` points have |x|, and an x given to `push` points outwards. Beside
x, y, z each skin vertex knows

- `arc`, how far along the mouth's line it lies: 0 in front, 1 at the corner, above 1 behind it;
- `height` above the mouth's line, and `low`: 1 on the lower lip and jaw, 0 on the upper lip, smooth behind the corner
  where both are one skin;
- `eye`, its distance from the eye's centre;
- `brow`, how far along the brow's ridge (0 inner end, 1 outer end), and `brow_off`, its distance from the ridge.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast import geometry
from understudy.cast.dragon import measures
from understudy.cast.dragon.body import SkinSurface
from understudy.cast.sculpting.ramps import ramp
from understudy.cast.sculpting.smoothing import smoothed
from understudy.checks import Array
from understudy.maths import linear

BROW = np.array([(0.075, 0.20, 0.348), (0.195, 0.247, 0.298), (0.335, 0.175, 0.17)])
ARC_CENTRE = 0.12  # z of the middle axis round which the mouth's line is followed
LIP_THICKNESS = 0.048
Knots = Sequence[tuple[float, float]]


class Places:
    """The skin's V vertices and their places. Points are at rest; the lips are told apart before they were sealed."""

    def __init__(self, skin: SkinSurface) -> None:
        self.points = skin.sealed
        self.triangles = skin.triangles
        self.mirror = skin.mirror
        self.average = skin.mean
        self.depth = skin.depth
        self.height = skin.unsealed[:, 1] - skin.sheet
        self.side = np.sign(self.points[:, 0])
        self.folded = np.abs(self.points) * [1, 0, 0] + self.points * [0, 1, 1]
        self.eye = np.linalg.norm(self.folded - measures.EYE, axis=1)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def normals(self) -> Array:
        """(V, 3) unit normals of the skin."""
        return geometry.normals(self.points, self.triangles)

    @cached_property
    def facing(self) -> Array:
        """(T, 3) the triangles' normals at rest, as long as twice their areas."""
        return facing(self.points, self.triangles)

    @cached_property
    def low(self) -> Array:
        """(V,) 1 where a vertex belongs to the lower lip and jaw, 0 to the upper; connectivity keeps the lips apart."""
        z = self.points[:, 2]
        behind = np.maximum(measures.CORNER_Z + 0.01 - z, 0.0)
        first = ramp(0.012 + 0.55 * behind, -0.012 - 0.55 * behind, self.height)
        ahead = z > measures.CORNER_Z + 0.02
        first = np.where(ahead, self.height < 0, first)
        return self.smooth(first, 15, held=z > measures.CORNER_Z + 0.04)

    @cached_property
    def _line(self) -> tuple[Array, Array]:
        """The mouth's line on the skin, seen from above: (n, 2) x and z by angle from the front, and their arcs."""
        on_line = (np.abs(self.height) < 0.02) & (np.abs(self.depth) < 0.012) & (self.points[:, 2] > 0.0)
        x, z = self.folded[on_line, 0], self.points[on_line, 2]
        angle = np.arctan2(x, z - ARC_CENTRE)
        stations = np.linspace(0.0, np.arctan2(measures.CORNER[0], measures.CORNER_Z - ARC_CENTRE), 40)
        width = 0.06
        weight = np.exp(-(((angle[None] - stations[:, None]) / width) ** 2)) + 1e-12
        radius = (weight * np.hypot(x, z - ARC_CENTRE)).sum(axis=1) / weight.sum(axis=1)
        line = np.stack([radius * np.sin(stations), ARC_CENTRE + radius * np.cos(stations)], axis=1)
        steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
        return line, np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def lip_length(self) -> float:
        """HL from the middle of the lips to the corner, along the line."""
        return float(self._line[1][-1])

    @cached_property
    def arc(self) -> Array:
        """(V,) how far along the mouth's line, 0 the middle, 1 the corner; behind the corner it grows with distance."""
        line, lengths = self._line
        angles = np.arctan2(line[:, 0], line[:, 1] - ARC_CENTRE)
        own = np.arctan2(self.folded[:, 0], self.points[:, 2] - ARC_CENTRE)
        inside = np.interp(own, angles, lengths / lengths[-1])
        return inside + np.maximum(measures.CORNER_Z - self.points[:, 2], 0.0) / lengths[-1]

    @cached_property
    def along(self) -> Array:
        """(V, 3) horizontal unit vectors along the mouth's line, towards the corner, on the folded side."""
        line, lengths = self._line
        tangents = np.gradient(line, axis=0)
        tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
        at = np.clip(self.arc, 0.0, 1.0)
        x, z = (np.interp(at, lengths / lengths[-1], tangents[:, i]) for i in range(2))
        result = np.stack([x, np.zeros(len(self)), z], axis=1)
        return result / np.linalg.norm(result, axis=1, keepdims=True)

    def lip_place(self, arc: float, upper: bool) -> Array:
        """(3,) a point of the folded lip's line, just outside the slit."""
        at = np.where(np.abs(self.depth) < 0.02, np.abs(self.arc - arc) * self.lip_length, 9.0)
        other = np.where((self.low > 0.5) == (not upper), 0.0, 9.0 if arc < 0.95 else 0.0)
        return self.folded[np.argmin(at + other + np.abs(np.abs(self.height) - 0.012))]

    @cached_property
    def _brow(self) -> tuple[Array, Array]:
        best, at = np.full(len(self), np.inf), np.zeros(len(self))
        for i in range(len(BROW) - 1):
            start, way = BROW[i], BROW[i + 1] - BROW[i]
            t = np.clip((self.folded - start) @ way / (way @ way), 0.0, 1.0)
            off = np.linalg.norm(self.folded - start - t[:, None] * way, axis=1)
            nearer = off < best
            best, at = np.where(nearer, off, best), np.where(nearer, (i + t) / (len(BROW) - 1), at)
        return self.smooth(at, 30), best

    @property
    def brow(self) -> Array:
        """(V,) 0 at the brow's inner end, 1 at its outer end."""
        return self._brow[0]

    @property
    def brow_off(self) -> Array:
        """(V,) distance from the brow's ridge."""
        return self._brow[1]

    def smooth(self, values: Array, rounds: int, held: Array | None = None) -> Array:
        """Umbrella smoothing: each round goes half-way to the neighbours' mean; `held` vertices (V,) bool stay."""
        return smoothed(values, self.average, rounds, held)

    def blob(self, centre: ArrayLike, reach: ArrayLike) -> Array:
        """(V,) 1 at a place, 0 beyond `reach` (one radius, or one an axis)."""
        return ramp(1.0, 0.0, np.linalg.norm((self.folded - np.asarray(centre)) / np.asarray(reach), axis=1))

    def upper(self, reach: float | Array, below: float = 0.10) -> Array:
        """(V,) the upper lip: 1 on its edge, 0 at `reach` above; fading inside the mouth by `below` of depth."""
        return (1 - self.low) * ramp(reach, 0.0, np.maximum(self.height, 0.0)) * ramp(-below, -0.04, self.depth)

    def lower(self, reach: float | Array, below: float = 0.10) -> Array:
        """(V,) the lower lip: 1 on its edge, 0 at `reach` below."""
        return self.low * ramp(reach, 0.0, np.maximum(-self.height, 0.0)) * ramp(-below, -0.04, self.depth)

    def profile(self, knots: Knots) -> Array:
        """(V,) a smooth curve through (arc, value) knots, held beyond the ends."""
        from scipy.interpolate import PchipInterpolator

        arcs, values = zip(*knots)
        return PchipInterpolator(arcs, values)(np.clip(self.arc, arcs[0], arcs[-1]))

    def push(self, weight: ArrayLike, x: ArrayLike = 0.0, y: ArrayLike = 0.0, z: ArrayLike = 0.0) -> Array:
        """(V, 3) weight times (x outwards, y, z)."""
        columns = [np.broadcast_to(np.asarray(c, float), len(self)) for c in (x, y, z)]
        return np.asarray(weight)[..., None] * np.stack([columns[0] * self.side, *columns[1:]], axis=1)

    def lip(
        self, weight: Array, along: Knots | None = None, up: Knots | None = None, out: Knots | None = None
    ) -> Array:
        """(V, 3) weight times a motion given by profiles: along the line to the corner, up, and out from the mouth."""
        result = np.zeros((len(self), 3))
        unfold = np.stack([self.side, np.ones(len(self)), np.ones(len(self))], axis=1)
        if along is not None:
            result += self.profile(along)[:, None] * self.along * unfold
        if up is not None:
            result[:, 1] += self.profile(up)
        if out is not None:
            outwards = np.stack([-self.along[:, 2], np.zeros(len(self)), self.along[:, 0]], axis=1)
            result += self.profile(out)[:, None] * outwards * unfold
        return weight[:, None] * result

    def rim(self, least: float, full: float = 0.22) -> Array:
        """(V,) how far skin near the eye's opening may move: `least` on the rim, 1 from `full` on; else gaps open."""
        return least + (1 - least) * ramp(0.165, full, self.eye)


def facing(points: Array, triangles: Array) -> Array:
    """(T, 3) normals of triangles, as long as twice their areas."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return linear.cross(b - a, c - a)
