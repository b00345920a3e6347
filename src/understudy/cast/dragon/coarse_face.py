"""Coarse shapes of brows, the skin around the eyes, nose, throat and neck.

A brow is moved by one weight round its whole ridge, with a longer reach into the forehead than towards the eye; sums of
blobs would leave knobs. The skin above the eye goes along, or the brow would only slide over it.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon.measures import EYE, EYE_RADIUS
from understudy.cast.dragon.places import Places
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

NOSTRIL = (0.078, -0.020, 0.545)
KEPT = 0.75  # share of a brow's way off the surface that is taken back
CLEAR = 1.12 * EYE_RADIUS  # nearer to the eye's centre skin would cut through the lids


def shapes(p: Places) -> dict[str, Array]:
    """Name without side -> (V, 3) deltas in HL of both sides together."""
    brows = {name: p.smooth(delta, 16) for name, delta in _brows(p).items()}
    others = {**_eyes(p), **_nose(p), **_neck(p)}
    return brows | {name: p.smooth(delta, 5) for name, delta in others.items()}


def _brows(p: Places) -> dict[str, Array]:
    inner, outer = ramp(0.75, 0.0, p.brow), ramp(0.35, 1.0, p.brow)
    middle = np.clip(1 - inner - outer, 0, 1) + 0.35 * np.minimum(inner, outer)
    wide, heavy = _brow_weight(p, 0.26, 0.13), _brow_weight(p, 0.22, 0.16 + 0.09 * inner)
    lifted = p.rim(0.34, 0.225)
    lower = p.push(heavy * (0.34 + 0.66 * inner) * (1 - 0.50 * outer), -0.018, -0.090, 0.034)
    ends = _brow_weight(p, 0.20, 0.12)
    return {
        "brows.raise": along_skin(p, p.push(wide * (1 - 0.25 * outer) * lifted, 0.0, 0.110, -0.030)),
        "brows.lower": p.smooth(outside_eye(p, lower), 6),
        "brows.sad": along_skin(p, p.push(wide * inner * lifted, -0.024, 0.094, 0.0))
        + along_skin(p, p.push(wide * outer * lifted, 0.004, -0.066, 0.0)),
        "brows.inner": along_skin(p, p.push(ends * inner * lifted, -0.006, 0.070, 0.0)),
        "brows.mid": along_skin(p, p.push(ends * middle * lifted, 0.0, 0.062, 0.0)),
        "brows.outer": along_skin(p, p.push(ends * outer * lifted, 0.004, 0.066, 0.0)),
        "brows.knit": p.push(ends * ramp(0.85, 0.0, p.brow) * p.rim(0.5, 0.22), -0.046, -0.018, 0.018),
        "brows.bulge": p.push(_brow_weight(p, 0.10, 0.09) * p.rim(0.4, 0.21), 0.006, -0.008, 0.034),
        "brows.furrow": _furrow(p),
    }


def _brow_weight(p: Places, above: float, below: float | Array) -> Array:
    """(V,) 1 on the ridge, 0 at `above` over it and at `below` under it; only on the outside."""
    ridge = np.interp(p.brow, [0.0, 0.5, 1.0], [0.20, 0.247, 0.175])
    reach = below + (above - below) * ramp(-0.03, 0.06, p.folded[:, 1] - ridge)
    return ramp(1.0, 0.0, p.brow_off / reach)


def along_skin(p: Places, delta: Array) -> Array:
    """The same deltas, led along the surface: a brow that rises straight up would make a shelf of the forehead."""
    normals = p.smooth(p.normals, 8)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    lifting = np.einsum("vi,vi->v", normals, delta)
    return delta - KEPT * lifting[:, None] * normals


def _furrow(p: Places) -> Array:
    """A groove between the brows, with a fold on each side of it."""
    x, y, z = p.folded.T
    band = ramp(0.14, 0.0, np.abs(y - 0.215)) * ramp(0.20, 0.30, z)
    groove = np.exp(-((x / 0.020) ** 2)) * -0.030 + np.exp(-(((x - 0.050) / 0.026) ** 2)) * 0.030
    return p.normals * (band * groove)[:, None]


def outside_eye(p: Places, delta: Array) -> Array:
    """The same deltas, led round the eye where they would go through it."""
    centre = np.array(EYE) * np.stack([np.where(p.points[:, 0] < 0, -1.0, 1.0), *np.ones((2, len(p)))], axis=1)
    moved = p.points + delta - centre
    distance = np.linalg.norm(moved, axis=1)
    wanted = np.maximum(distance, np.minimum(p.eye, CLEAR + 0.02))
    return centre + moved * (wanted / np.maximum(distance, 1e-9))[:, None] - p.points


def _eyes(p: Places) -> dict[str, Array]:
    near = ramp(0.29, 0.17, p.eye) * ramp(-0.05, 0.10, p.points[:, 2]) * ramp(-0.03, -0.005, p.depth)
    above = ramp(0.0, 0.12, p.folded[:, 1] - EYE[1])
    below = ramp(0.0, -0.12, p.folded[:, 1] - EYE[1])
    outer = p.blob([0.345, 0.02, 0.17], (0.13, 0.15, 0.14))
    squint = p.push(near * below, 0.0, 0.034, 0.010) + p.push(near * above, 0.0, -0.022, 0.010)
    squint += p.push(outer, -0.010, 0.0, 0.024)
    bags = p.normals * (0.018 * np.exp(-(((p.eye - 0.205) / 0.022) ** 2)) * below * near)[:, None]
    bags += p.push(near * below, 0.0, -0.012, 0.004)
    return {"lids.squint": outside_eye(p, squint), "lids.bags": bags}


def _nose(p: Places) -> dict[str, Array]:
    wing = p.blob(NOSTRIL, 0.095)
    side = p.blob([0.110, 0.020, 0.430], (0.10, 0.10, 0.14))
    wrinkle = p.push(side, -0.004, 0.034, -0.006) + p.push(wing, 0.008, 0.020)
    ridges = 0.012 * np.sin(95.0 * (p.folded[:, 2] - 0.30)) * p.blob([0.075, 0.045, 0.385], (0.075, 0.08, 0.12))
    wrinkle += p.normals * ridges[:, None]
    tip = p.blob([0.0, -0.045, 0.53], (0.19, 0.13, 0.17))
    sideways = np.zeros((len(p), 3))
    sideways[:, 0] = 0.040 * tip
    return {
        "nose.flare": p.push(wing, 0.034, 0.014, -0.006),
        "nose.wrinkle": wrinkle * p.rim(0.2)[:, None],
        "nose.up": p.push(tip, 0.0, 0.040, 0.006),
        "nose.side": sideways,
    }


def _neck(p: Places) -> dict[str, Array]:
    x, y, z = p.folded.T
    front = ramp(-0.24, -0.12, z) * ramp(-0.20, -0.30, y)
    cords = np.exp(-(((x - 0.100) / 0.030) ** 2)) * front * ramp(-0.95, -0.80, y) * ramp(-0.30, -0.42, y)
    hollow = np.exp(-((x / 0.050) ** 2)) * front * ramp(-0.90, -0.70, y) * ramp(-0.34, -0.46, y)
    swell = p.blob([0.0, -0.46, -0.09], (0.20, 0.30, 0.20))
    return {
        "neck.breath": p.normals * (0.026 * swell * front)[:, None],
        "neck.swallow_high": p.normals * (0.034 * p.blob([0, -0.44, -0.09], (0.14, 0.11, 0.15)))[:, None],
        "neck.swallow": p.normals * (0.034 * p.blob([0, -0.62, -0.06], (0.15, 0.12, 0.16)))[:, None],
        "neck.tense": p.normals * (0.024 * cords - 0.012 * hollow)[:, None],
        "neck.pouch": p.push(
            p.blob([0, -0.36, 0.04], (0.26, 0.24, 0.30)) * ramp(-0.02, -0.004, p.depth), 0, -0.060, 0.060
        )
        + p.normals
        * (0.050 * p.blob([0, -0.36, 0.02], (0.24, 0.22, 0.28)))[:, None]
        * ramp(-0.02, -0.004, p.depth)[:, None],
    }
