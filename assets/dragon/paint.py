"""The dragon's palette, materials, eye picture and scales: what its skin and its parts are painted with.

Materials are in glTF's terms; `render.surfaces` tells what our own renderer makes of them. The eye's picture has the
pupil, the iris with its fibres, the dark limbus and the white, as a disc seen along the gaze (`sculpting.eyes`).

Scales are a bump: round pebbles over the body, plates down the throat, a row of scutes for each brow. Each relief gives
its height h and its slope grad h as functions of the place, so the normal map needs no differences between texels, and
chart borders leave no trace. Pebbles are cell noise [Worley 1996]: with F1 and F2 the distances to the nearest two cell
centres, h = 0.75 (1 - F1^2) + 0.25 S(0 -> 0.5, F2 - F1): domes with a groove around each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assets.dragon import sculpt
from assets.sculpting.coat import material_extra, mix
from assets.sculpting.eyes import fibres
from assets.sculpting.fields import ramp
from understudy.character import Material
from understudy.checks import Array
from understudy.maths.colour import from_hex

PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "skin": "#D66F52",
        "shade": "#B9543F",
        "warm": "#E79A6A",
        "crown": "#A5402F",
        "nape": "#963A3A",
        "belly": "#E9C48E",
        "scute": "#B8674C",
        "dapple": "#F2B987",
        "blush": "#EE8D7C",
        "freckle": "#A6483A",
        "brow": "#7A2C20",
        "lip": "#8C3A38",
        "mouth": "#7C2739",
        "gum": "#B24A58",
        "socket": "#5E2424",
        "tongue": "#E27C7C",
        "tooth": "#FFF6E2",
        "horn_tip": "#E9C9A0",
        "spike_tip": "#C46A78",
        "membrane": "#E8907A",
        "plinth": "#4A2A44",
        "aubergine": "#5A2E52",
        "lash": "#43203A",
        "iris": "#2AA59A",
        "iris_dark": "#0E4A54",
        "iris_light": "#8FE0C4",
        "limbus": "#0B2A33",
        "pupil": "#140B16",
        "sclera": "#FFF4E0",
        "sclera_edge": "#C99A86",
    }.items()
}


# skin is less shiny than plastic, and its down catches the light from behind; more of it turns the mouth grey
# roughness itself is in the coat's map, hence the factor 1
SKIN_FINISH = material_extra(1.0, specular={"specularFactor": 0.6}, sheen={"sheenColorFactor": [0.2, 0.065, 0.03]})

MATERIALS = {
    "Skin": Material("skin", roughness=1.0, extra=SKIN_FINISH),
    "Lids": Material("lids", roughness=1.0, double_sided=True, extra=SKIN_FINISH),
    "Eyes": Material(
        "eyes",
        roughness=0.5,
        # all shine is the tear film's; deep in their sockets, and the shadow that counts is the lid's own strip
        extra=material_extra(
            0.0,
            False,
            specular={"specularFactor": 0.2},
            clearcoat={"clearcoatFactor": 1.0, "clearcoatRoughnessFactor": 0.04},
        ),
    ),
    "Highlights": Material("highlights", extra=material_extra(0.0, False, unlit={})),
    "LidShadow": Material("lid shadow", roughness=1.0, alpha_mode="BLEND", extra=material_extra(0.0, False, unlit={})),
    "Fins": Material(
        "fins",
        roughness=0.55,
        double_sided=True,
        extra=material_extra(1.0, diffuse_transmission={"diffuseTransmissionFactor": 0.4}),
    ),
    "Horns": Material("horns", roughness=0.42, extra=material_extra(0.3)),
    "Spikes": Material("spikes", roughness=0.5, extra=material_extra(0.4)),
    "Teeth": Material("teeth", roughness=0.3, extra=material_extra(0.3)),
    "Tongue": Material("tongue", roughness=0.35, extra=material_extra(0.8, clearcoat={"clearcoatFactor": 0.4})),
    "Plinth": Material("plinth", roughness=0.45, extra=material_extra(0.0)),
}


IRIS, PUPIL = 43.5, 24.5  # degrees from the gaze axis


def eye_colours(ring: Array, azimuth: Array) -> Array:
    """(M, 3): the iris is dark above and light below, as if lit through; the white is warmer towards the corners."""
    up = np.sin(azimuth) * np.sin(np.radians(ring)) / np.sin(np.radians(IRIS))
    across = np.clip((ring - PUPIL) / (IRIS - PUPIL), 0, 1)
    iris = mix(PALETTE["iris_dark"], PALETTE["iris"], np.clip(0.50 - 0.75 * up, 0, 1))
    iris = mix(iris, PALETTE["iris_light"], 0.75 * ramp(0.15, 0.95, -up) * ramp(0.0, 0.55, across))
    iris = mix(iris, PALETTE["iris_light"], 0.25 * np.exp(-(((across - 0.28) / 0.16) ** 2)) * ramp(0.5, -0.2, up))
    iris = iris * (1 + 0.24 * fibres(azimuth, across) * ramp(0.0, 0.2, across) * ramp(1.0, 0.8, across))[:, None]
    iris = mix(iris, PALETTE["iris_dark"], 0.55 * ramp(0.14, 0.0, across))
    iris = mix(iris, PALETTE["limbus"], ramp(0.66, 0.93, across) ** 2)
    white = mix(PALETTE["sclera"], PALETTE["sclera_edge"], 0.40 * ramp(46, 84, ring))
    white = mix(white, PALETTE["limbus"], 0.35 * ramp(IRIS + 3.0, IRIS, ring))
    c = mix(PALETTE["pupil"], np.clip(iris, 0, 1), ramp(PUPIL - 0.5, PUPIL + 0.9, ring))
    return mix(c, white, ramp(IRIS - 0.5, IRIS + 0.7, ring))


PEBBLE_HEIGHT, THROAT_HEIGHT, BROW_HEIGHT = 0.0040, 0.0075, 0.0065  # HL
BROW_RIDGE = (
    (0.082, 0.213, 0.350),
    (0.140, 0.243, 0.330),
    (0.205, 0.258, 0.293),
    (0.272, 0.228, 0.245),
    (0.338, 0.178, 0.176),
)
BROW_SCUTES = 7
PEBBLE_GROOVE = 0.5  # of a pebble's radius
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


def jittered_grid(cell: float, seed: int, low: ArrayLike, high: ArrayLike) -> Array:
    """(N, 3) the points of a grid, each moved by up to 0.38 cells."""
    low, high = np.asarray(low, dtype=float) - 2 * cell, np.asarray(high, dtype=float) + 2 * cell
    counts = np.ceil((high - low) / cell).astype(int)
    points = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), axis=-1).reshape(-1, 3) * cell + low
    return points + np.random.default_rng(seed).uniform(-0.38, 0.38, points.shape) * cell


def cells_on_skin(cell: float, seed: int, reach: float = 0.75, least_x: float = -0.5) -> Array:
    """(N, 3) cell centres within `reach` cells of the closed skin, x not below `least_x` cells."""
    points = jittered_grid(cell, seed, (0.0, -1.1, -0.7), (0.5, 0.6, 0.7))
    near = np.abs(sculpt.distance(points, "closed")) < reach * cell
    return np.asarray(points[near & (points[:, 0] > least_x * cell)])


def pebble_relief(points: Array, centres: Array, cell: float) -> Relief:
    """Round scales about `centres` (N, 3), a cell apart or so, at points (M, 3)."""
    from scipy.spatial import cKDTree

    radius = 0.62 * cell
    distance, which = cKDTree(centres).query(points, k=2)
    away = (points[:, None] - centres[which]) / np.maximum(distance, 1e-9)[..., None]  # slopes of both distances
    f1, f2 = np.minimum(distance[:, 0] / radius, 1.0), distance[:, 1] / radius
    u = np.clip((f2 - distance[:, 0] / radius) / PEBBLE_GROOVE, 0, 1)
    dome = -2 * f1 * (f1 < 1.0)
    groove = 6 * u * (1 - u) / PEBBLE_GROOVE
    slope = 0.75 * dome[:, None] * away[:, 0] + 0.25 * groove[:, None] * (away[:, 1] - away[:, 0])
    tone = np.random.default_rng(len(centres)).uniform(-1, 1, len(centres))[which[:, 0]]
    return Relief(0.75 * (1 - f1**2) + 0.25 * u * u * (3 - 2 * u), slope / radius, tone)


def throat_relief(points: Array) -> Relief:
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


def brow_relief(points: Array) -> tuple[Relief, Array]:
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


BROW_LENGTH = float(np.linalg.norm(np.diff(BROW_RIDGE, axis=0), axis=1).sum())


def _along_brow(points: Array) -> tuple[Array, Array, Array, Array]:
    """(M,) 0 .. 1 along the brow, (M,) distance from it, (M, 3) unit directions away from it and along it."""
    knots = np.array(BROW_RIDGE)
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
