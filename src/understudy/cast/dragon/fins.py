"""Ear fins: fans of four ribs with a scalloped skin between them, the strongest signal of mood after the brows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.cast.dragon.measures import EAR_ROOT, FIN_OUT, JOINTS
from understudy.cast.dragon.palette import PALETTE
from understudy.cast.sculpting.patches import Patch, grid, held, mix
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array
from understudy.maths import linear

RIBS = np.array([47.0, 19.0, -9.0, -37.0])  # degrees above the fin's own axis
LENGTHS = np.array([0.335, 0.45, 0.41, 0.28])
COLUMNS, ROWS = 40, 11  # across the ribs (three bays), along them


@dataclass(frozen=True, eq=False)
class Fin:
    """The left fin and each vertex's place in the fan."""

    patch: Patch
    across: Array  # (V,) 0 at the first, uppermost rib to 3 at the last
    along: Array  # (V,) 0 at the root to 1 at the edge
    axes: Array  # (3, 3) rows: out, up, forward of the fan


def axes() -> Array:
    """(3, 3) rows: where the fan points, its up, and its front."""
    out = linear.normalise(np.array(FIN_OUT))
    up = np.array([0.05, 1.0, -0.05])
    up = linear.normalise(up - out * (up @ out))
    return np.stack([out, up, np.cross(out, up)])


def fin() -> Fin:
    """The left one at rest."""
    across = np.linspace(0.0, 3.0, COLUMNS)
    bay = np.clip(across.astype(int), 0, 2)
    within = across - bay
    angle = np.radians(RIBS[bay] + (RIBS[bay + 1] - RIBS[bay]) * within)[:, None]
    length = LENGTHS[bay] + (LENGTHS[bay + 1] - LENGTHS[bay]) * ramp(0.0, 1.0, within)
    length = length * (1 - 0.17 * np.sin(np.pi * np.clip(within, 0, 1)) ** 0.8)
    along = np.linspace(0.0, 1.0, ROWS)
    rib = np.exp(-((np.minimum(within, 1 - within) / 0.13) ** 2))[:, None]
    reach = (length[:, None] - 0.025) * along**0.95 + 0.045
    cup = 0.6 * (0.12 * np.sin(1.9 * along) - 0.06 * along**2)
    outer = np.maximum(ramp(0.16, 0.0, across), ramp(2.84, 3.0, across))[:, None]  # the first and last rib are sturdier
    thick = (0.012 + 0.010 * rib + 0.004 * outer) * (1 - 0.72 * along) * (0.30 + 0.70 * rib) + 0.0028
    front, back = cup + 0.012 * rib + thick, cup - 0.8 * thick
    x, y = np.cos(angle) * reach, np.sin(angle) * reach
    local = np.concatenate([np.stack([x, y, z], axis=-1).reshape(-1, 3) for z in (front, back)])
    places = EAR_ROOT + local @ axes()
    twice = [np.tile(np.broadcast_to(v, x.shape).ravel(), 2) for v in (across[:, None], along, rib)]
    colours = mix(PALETTE["membrane"], PALETTE["aubergine"], ramp(0.35, 1.0, twice[1]))
    colours = mix(colours, 0.95 * PALETTE["skin"], 0.85 * twice[2] * ramp(1.02, 0.6, twice[1]))
    colours = colours * (0.75 + 0.25 * ramp(0.0, 0.35, twice[1]))[:, None]
    patch = held("Fin.L", (places, _triangles()), colours, _hold(places))
    return Fin(patch, twice[0], twice[1], axes())


def _triangles() -> Array:
    """Front, back, and the strip between them around the border except at the root."""
    number = np.arange(COLUMNS * ROWS).reshape(COLUMNS, ROWS)
    border = np.concatenate([number[0], number[1:, -1], number[-1, -2::-1]])
    a, b, count = border[:-1], border[1:], number.size
    strip = np.concatenate([np.stack([a, a + count, b + count], axis=1), np.stack([a, b + count, b], axis=1)])
    front = grid(COLUMNS, ROWS)
    return np.concatenate([front, front[:, ::-1] + count, strip])


def _hold(places: Array) -> dict[str, Array]:
    """Smooth over the three joints, by the distance along the fan's axis."""
    s = (places - EAR_ROOT) @ axes()[0]
    mid, tip = ((np.array(JOINTS[name][1]) - EAR_ROOT) @ axes()[0] for name in ("EarMid", "EarTip"))
    to_mid = ramp(mid - 0.08, mid + 0.08, s)
    to_tip = ramp(tip - 0.08, tip + 0.08, s)
    return {"Ear.L": 1 - to_mid, "EarMid.L": to_mid - to_mid * to_tip, "EarTip.L": to_mid * to_tip}
