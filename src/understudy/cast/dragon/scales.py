"""Scales as a bump: round pebbles over the body, plates down the throat, a row of scutes for each brow.

Each relief gives its height h and its slope grad h as functions of the place, so the normal map needs no differences
between texels, and chart borders leave no trace. Pebbles are cell noise [Worley 1996]: with F1 and F2 the distances to
the nearest two cell centres, h = 0.75 (1 - F1^2) + 0.25 S(0 -> 0.5, F2 - F1): domes with a groove around each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.dragon import sculpt
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

PEBBLE_HEIGHT, THROAT_HEIGHT, BROW_HEIGHT = 0.0040, 0.0075, 0.0065  # HL
BROW = (
    (0.082, 0.213, 0.350),
    (0.140, 0.243, 0.330),
    (0.205, 0.258, 0.293),
    (0.272, 0.228, 0.245),
    (0.338, 0.178, 0.176),
)
BROW_SCUTES = 7
GROOVE = 0.5  # of a pebble's radius
THROAT_RATE = 36.0 / np.pi  # plates a head length


@dataclass(frozen=True, eq=False)
class Relief:
    """A bump at M places."""

    height: Array  # (M,) 0 in the grooves, 1 on top
    slope: Array  # (M, 3) of the height
    tone: Array  # (M,) -1 .. 1, by which each scale differs from its neighbours in colour

    def blended(self, other: Relief, share: Array) -> Relief:
        """From this one to the other, with share (M,)."""
        t = share[:, None]
        return Relief(
            self.height + share * (other.height - self.height),
            self.slope + t * (other.slope - self.slope),
            self.tone + share * (other.tone - self.tone),
        )


def jittered(cell: float, seed: int, low: ArrayLike, high: ArrayLike) -> Array:
    """(N, 3) the points of a grid, each moved by up to 0.38 cells."""
    low, high = np.asarray(low, dtype=float) - 2 * cell, np.asarray(high, dtype=float) + 2 * cell
    counts = np.ceil((high - low) / cell).astype(int)
    points = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), axis=-1).reshape(-1, 3) * cell + low
    return points + np.random.default_rng(seed).uniform(-0.38, 0.38, points.shape) * cell


def on_skin(cell: float, seed: int, reach: float = 0.75, least_x: float = -0.5) -> Array:
    """(N, 3) cell centres within `reach` cells of the closed skin, x not below `least_x` cells."""
    points = jittered(cell, seed, (0.0, -1.1, -0.7), (0.5, 0.6, 0.7))
    near = np.abs(sculpt.distance(points, "closed")) < reach * cell
    return np.asarray(points[near & (points[:, 0] > least_x * cell)])


def pebbles(points: Array, centres: Array, cell: float) -> Relief:
    """Round scales about `centres` (N, 3), a cell apart or so, at points (M, 3)."""
    from scipy.spatial import cKDTree

    radius = 0.62 * cell
    distance, which = cKDTree(centres).query(points, k=2)
    away = (points[:, None] - centres[which]) / np.maximum(distance, 1e-9)[..., None]  # slopes of both distances
    f1, f2 = np.minimum(distance[:, 0] / radius, 1.0), distance[:, 1] / radius
    u = np.clip((f2 - distance[:, 0] / radius) / GROOVE, 0, 1)
    dome = -2 * f1 * (f1 < 1.0)
    groove = 6 * u * (1 - u) / GROOVE
    slope = 0.75 * dome[:, None] * away[:, 0] + 0.25 * groove[:, None] * (away[:, 1] - away[:, 0])
    tone = np.random.default_rng(len(centres)).uniform(-1, 1, len(centres))[which[:, 0]]
    return Relief(0.75 * (1 - f1**2) + 0.25 * u * u * (3 - 2 * u), slope / radius, tone)


def throat(points: Array) -> Relief:
    """Plates across the throat, each lapping over the next below: they rise slowly downwards and drop at the lip."""
    x, y = points[:, 0], points[:, 1]
    phase = (y + 0.12 * (x / 0.15) ** 2) * THROAT_RATE
    f = phase - np.floor(phase)  # 0 at a plate's lower lip, 1 at its upper end
    lip = 0.16
    u, v = np.clip(f / lip, 0, 1), np.clip((f - lip) / (1 - lip), 0, 1)
    below = f < lip
    rise, fall = u * u * (3 - 2 * u), 1 - v**1.5
    rate = np.where(below, 6 * u * (1 - u) / lip, -1.5 * np.sqrt(v) / (1 - lip))
    slope = np.stack([rate * THROAT_RATE * 0.24 * x / 0.15**2, rate * THROAT_RATE, np.zeros_like(x)], axis=1)
    return Relief(np.where(below, rise, fall), slope, np.sin(12.9898 * np.floor(phase)))


def brow(points: Array) -> tuple[Relief, Array]:
    """A row of overlapping scutes along the brow's ridge, smaller outwards; and (M,) 1 where they are."""
    along, away, across, ahead = _along_brow(points)
    width = 0.031 - 0.013 * along - 0.004 * (1 - along) ** 4
    place = along * BROW_SCUTES
    number = np.clip(np.floor(place), 0, BROW_SCUTES - 1)
    f = place - number - 0.5  # -1/2 .. 1/2 along its scute
    length = BROW_LENGTH / BROW_SCUTES
    e = (np.abs(f) / 0.56) ** 2.6 + (away / width) ** 2
    height = np.clip(1 - e, 0, 1)
    along_slope = -2.6 * np.sign(f) * (np.abs(f) / 0.56) ** 1.6 / 0.56 / length
    slope = along_slope[:, None] * ahead - (2 * away / width**2)[:, None] * across
    ends = ramp(-0.07, 0.0, along) * ramp(1.07, 1.0, along)
    mask = ramp(1.35, 0.70, away / width) * ends
    return Relief(height, slope * (e < 1)[:, None], np.cos(2.4 * number)), mask


BROW_LENGTH = float(np.linalg.norm(np.diff(BROW, axis=0), axis=1).sum())


def _along_brow(points: Array) -> tuple[Array, Array, Array, Array]:
    """(M,) 0 .. 1 along the brow, (M,) distance from it, (M, 3) unit directions away from it and along it."""
    knots = np.array(BROW)
    ways = np.diff(knots, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    t = ((points[:, None] - knots[:-1]) * ways).sum(axis=-1) / lengths**2
    # the ends run on, so that the first and last scutes are round
    t = np.clip(
        t, np.where(np.arange(len(ways)) == 0, -0.4, 0.0), np.where(np.arange(len(ways)) == len(ways) - 1, 1.4, 1.0)
    )
    offset = points[:, None] - knots[:-1] - t[..., None] * ways
    nearest = np.argmin((offset**2).sum(axis=-1), axis=1)
    rows = np.arange(len(points))
    away = np.linalg.norm(offset[rows, nearest], axis=1)
    before = np.concatenate([[0.0], np.cumsum(lengths)])[:-1]
    along = (before[nearest] + t[rows, nearest] * lengths[nearest]) / lengths.sum()
    ahead = ways[nearest] / lengths[nearest][:, None]
    return along, away, offset[rows, nearest] / np.maximum(away, 1e-9)[:, None], ahead
