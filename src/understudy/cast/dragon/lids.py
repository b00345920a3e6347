"""Lids: thin spherical shells about the eye whose poles are its corners, turned open and shut by their joints.

A point of a lid is (a, beta): `a` runs from -1 at the inner corner to 1 at the outer one (86 degrees each way), beta is
the turn about the corner axis, 0 in the direction of the gaze, positive above. The lid's edge is
beta(a) = base + tilt a + curve a^2. Shells are long enough to stay under the skin's rim from wide open to closed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.cast.dragon.eyes import SHADOW_HEIGHT
from understudy.cast.dragon.measures import EYE, EYE_RADIUS, eye_frame
from understudy.cast.dragon.palette import PALETTE
from understudy.cast.dragon.scales import PEBBLE_HEIGHT, jittered, pebbles
from understudy.cast.sculpting.patches import Patch, facing_out, grid, held, mix
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

RADIUS = {"Upper": 1.081, "Lower": 1.069}  # of the eye's: the upper lid closes over the lower one
SPAN = 86.0  # degrees from the middle to a corner
REST = {"Upper": (43.0, -3.0, -5.0), "Lower": (-46.0, 0.0, 8.0)}  # base, tilt, curve of the edges in degrees
CLOSED = {"Upper": (-20.0, 0.0, 2.0), "Lower": (-22.5, 0.0, 2.0)}
SCALE_SIZE = 0.013  # HL
LENGTH = 96.0  # degrees from edge to hidden end
COLUMNS, ROWS = 41, 13
# the margin rolls inwards in three rows: degrees past the edge, depth under the shell
MARGIN = ((0.5, 0.063), (2.6, 0.035), (2.2, 0.012))


@dataclass(frozen=True, eq=False)
class Lid:
    """A left lid and each vertex's place on it, for shapes that tilt and bend the edge."""

    patch: Patch
    a: Array  # (V,) -1 inner to 1 outer corner
    beta: Array  # (V,) degrees
    radius: Array  # (V,) of the eye's
    share: Array  # (V,) 1 on the edge, 0 at the hidden end: how much of a change of the edge a vertex takes


def edge(a: Array, base: float, tilt: float, curve: float) -> Array:
    """beta(a) = base + tilt a + curve a^2, degrees."""
    return base + tilt * a + curve * a * a


def on_lid(a: Array, beta: Array, radius: Array) -> Array:
    """(V, 3) HL of places on a left lid; beta in degrees, radius in units of the eyeball's."""
    along, turn = np.radians(SPAN * a), np.radians(beta)
    place = np.stack([np.sin(along), np.cos(along) * np.sin(turn), np.cos(along) * np.cos(turn)], axis=-1)
    return EYE + EYE_RADIUS * (radius[..., None] * place) @ eye_frame()


def lid(which: str) -> Lid:
    """The left "Upper" or "Lower" lid at rest."""
    sign = 1.0 if which == "Upper" else -1.0
    a = np.linspace(-1.0, 1.0, COLUMNS)
    margin = edge(a, *REST[which])
    t = np.linspace(0.0, 1.0, ROWS) ** 1.3
    rows = [(margin - sign * past, np.full(COLUMNS, RADIUS[which] - depth), 1.0) for past, depth in MARGIN]
    rows += [(margin + sign * LENGTH * step, np.full(COLUMNS, RADIUS[which]), 1.0 - step) for step in t]
    beta = np.stack([row[0] for row in rows], axis=1)
    radius = np.stack([row[1] for row in rows], axis=1)
    share = np.broadcast_to([row[2] for row in rows], beta.shape)
    across = np.broadcast_to(a[:, None], beta.shape)
    vertices = on_lid(across.ravel(), beta.ravel(), radius.ravel())
    surface = facing_out(vertices, grid(COLUMNS, beta.shape[1]), EYE)
    patch = held(f"Lid{which}.L", surface, np.ones(3), f"Lid{which}.L")
    return Lid(patch, across.ravel(), beta.ravel(), radius.ravel(), share.ravel())


def place_on(points: Array) -> tuple[Array, Array, Array]:
    """(M,) a, beta in degrees and radius, of places (M, 3) on a left lid: the inverse of `on_lid`."""
    local = (points - EYE) @ eye_frame().T / EYE_RADIUS
    radius = np.linalg.norm(local, axis=1)
    along = np.degrees(np.arcsin(np.clip(local[:, 0] / radius, -1, 1)))
    return along / SPAN, np.degrees(np.arctan2(local[:, 1], local[:, 2])), radius


def scale_centres(seed: int = 11) -> Array:
    """(N, 3) of the lids' scales, on the sphere that the shells lie on."""
    middle = 0.5 * (RADIUS["Upper"] + RADIUS["Lower"])
    reach = (middle + 0.1) * EYE_RADIUS
    points = jittered(SCALE_SIZE, seed, np.array(EYE) - reach, np.array(EYE) + reach)
    near = np.abs(np.linalg.norm(points - EYE, axis=1) - middle * EYE_RADIUS) < 0.75 * SCALE_SIZE
    return np.asarray(points[near])


def coat(which: str, points: Array) -> tuple[Array, Array]:
    """(M, 3) sRGB and (M, 3) slope of the bump at places (M, 3) on a left lid: pebbles, and a dark line at the edge."""
    a, beta, radius = place_on(points)
    upper = which == "Upper"
    past = (beta - edge(a, *REST[which])) * (1.0 if upper else -1.0)  # degrees from the edge into the lid
    rolled = ramp(-0.004, -0.020, radius - RADIUS[which])
    relief = pebbles(points, scale_centres(), SCALE_SIZE)
    fade = ramp(2.0, 9.0, past) * (1 - rolled)
    skin = mix(PALETTE["skin"], PALETTE["shade"], 0.42) if upper else mix(PALETTE["skin"], PALETTE["warm"], 0.35)
    c = np.tile(skin, (len(points), 1))
    c = mix(c, PALETTE["shade"], (0.35 if upper else 0.30) * ramp(8.0, 40.0, past))
    c = c * (1 + fade * (0.04 * relief.tone - 0.10 * (1 - relief.height)))[:, None]
    line = ramp(3.2, 0.8, past) if upper else 0.55 * ramp(1.0, -1.0, past)
    return mix(c, PALETTE["lash"], np.maximum(line, rolled * (1.0 if upper else 0.55))), (
        ((0.50 if upper else 0.28) * PEBBLE_HEIGHT) * fade[:, None] * relief.slope
    )


def shadow() -> Patch:
    """What the upper lid casts on the left eyeball: a strip below its edge that fades out, hanging on the lid."""
    a = np.linspace(-1.0, 1.0, 25)
    below = np.array([-6.0, 2.0, 8.0, 15.0, 23.0, 32.0])  # degrees under the edge
    beta = edge(a, *REST["Upper"])[:, None] - below
    across = np.broadcast_to(a[:, None], beta.shape)
    vertices = on_lid(across.ravel(), beta.ravel(), np.full(beta.size, SHADOW_HEIGHT))
    strength = np.broadcast_to(0.90 * np.clip((32.0 - below) / 32.0, 0, 1), beta.shape) * ramp(
        1.0, 0.86, np.abs(across)
    )
    colours = np.concatenate([np.tile([0.10, 0.04, 0.08], (beta.size, 1)), strength.reshape(-1, 1)], axis=1)
    return held("LidShadow.L", facing_out(vertices, grid(len(a), len(below)), EYE), colours, "LidUpper.L")
