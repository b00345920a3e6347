"""Lids: thin spherical shells about the eye whose poles are its corners, turned open and shut by their joints.

A point of a lid is (a, beta): `a` runs from -1 at the inner corner to 1 at the outer one (86 degrees each way), beta is
the turn about the corner axis, 0 in the direction of the gaze, positive above. The lid's edge is
beta(a) = base + tilt a + curve a^2. Shells are long enough to stay under the skin's rim from wide open to closed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.cast.dragon.eyes import SHADOW_HEIGHT
from understudy.cast.dragon.measures import EYE, EYE_RADIUS, eye_frame, ramp
from understudy.cast.dragon.patches import PALETTE, Patch, facing_out, grid, held, mix
from understudy.checks import Array

RADIUS = 1.075  # of the eye's
SPAN = 86.0  # degrees from the middle to a corner
REST = {"Upper": (43.0, -3.0, -5.0), "Lower": (-46.0, 0.0, 8.0)}  # base, tilt, curve of the edges in degrees
CLOSED = {"Upper": (-20.0, 0.0, 2.0), "Lower": (-22.5, 0.0, 2.0)}
LENGTH = 96.0  # degrees from edge to hidden end
COLUMNS, ROWS = 41, 13
# the margin rolls inwards in three rows: degrees past the edge, height over the eyeball
MARGIN = ((0.5, 1.012), (2.6, RADIUS - 0.035), (2.2, RADIUS - 0.012))


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
    rows = [(margin - sign * past, np.full(COLUMNS, height), 1.0) for past, height in MARGIN]
    rows += [(margin + sign * LENGTH * step, np.full(COLUMNS, RADIUS), 1.0 - step) for step in t]
    beta = np.stack([row[0] for row in rows], axis=1)
    radius = np.stack([row[1] for row in rows], axis=1)
    share = np.broadcast_to([row[2] for row in rows], beta.shape)
    across = np.broadcast_to(a[:, None], beta.shape)
    vertices = on_lid(across.ravel(), beta.ravel(), radius.ravel())
    surface = facing_out(vertices, grid(COLUMNS, beta.shape[1]), EYE)
    skin = mix(PALETTE["skin"], PALETTE["shade"], 0.45) if sign > 0 else mix(PALETTE["skin"], PALETTE["belly"], 0.25)
    dark = np.array([1, 1, 1, 0.75] if sign > 0 else [0.55, 0.55, 0.55, 0.0])
    shares = np.concatenate([dark, np.zeros(ROWS - 1)])
    colours = np.tile(mix(skin, PALETTE["lash"], shares), (COLUMNS, 1))
    patch = held(f"Lid{which}.L", surface, colours, f"Lid{which}.L")
    return Lid(patch, across.ravel(), beta.ravel(), radius.ravel(), share.ravel())


def shadow() -> Patch:
    """What the upper lid casts on the left eyeball: a strip below its edge that fades out, hanging on the lid."""
    a = np.linspace(-1.0, 1.0, 25)
    below = np.array([-6.0, 0.0, 5.0, 10.0, 15.0, 20.0])  # degrees under the edge
    beta = edge(a, *REST["Upper"])[:, None] - below
    across = np.broadcast_to(a[:, None], beta.shape)
    vertices = on_lid(across.ravel(), beta.ravel(), np.full(beta.size, SHADOW_HEIGHT))
    strength = np.broadcast_to(0.62 * ramp(20.0, -2.0, below), beta.shape) * ramp(1.0, 0.86, np.abs(across))
    colours = np.concatenate([np.tile([0.10, 0.04, 0.08], (beta.size, 1)), strength.reshape(-1, 1)], axis=1)
    return held("LidShadow.L", facing_out(vertices, grid(len(a), len(below)), EYE), colours, "LidUpper.L")
