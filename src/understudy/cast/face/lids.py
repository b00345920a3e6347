"""Lids: shells that slide on the eyeball, their lashes, and the shadow that the upper one casts.

A point of a lid is (a, beta): a = longitude / 60 degrees from the nose outwards, beta the turn about the axis through
the corners, 0 in the direction of the gaze, positive above. The lid's edge is beta(a) = base + tilt a + curve a^2.

Shapes are linear, so a lid on its way goes along a chord, which would cut into the eyeball: 50 degrees of blink at
radius R come as near as R cos 25 = 0.91 R. Therefore a closed edge stands further off than an open one:
(1.095 + 1.165) / 2 cos 25 = 1.024, outside the eye and its highlights all the way.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.cast.face.measures import EYE, EYE_RADIUS, eye_frame, ramp
from understudy.cast.face.palette import PALETTE
from understudy.cast.sculpting import tubes
from understudy.cast.sculpting.eyes import Edge
from understudy.cast.sculpting.patches import Patch, facing_out, grid, held, mix
from understudy.checks import Array

COLUMNS, ROWS = 41, 10
SPAN = 82.0  # degrees of longitude to each side
MARGIN = ((-1.0, 0.060), (1.8, 0.040), (2.0, 0.015))  # three rows that roll inwards: degrees past the edge, depth
EDGE = 2  # the row that stands out furthest: landmarks live there
RADIUS = {"Upper": 1.095, "Lower": 1.072}  # of the eye's; the upper lid closes over the lower one
SHUT = {"Upper": 1.165, "Lower": 1.100}
BACK = 118.0  # degrees: the hidden end
SHADOW = 1.008
LASHES = 26

Edges = Mapping[str, Edge]  # "Upper", "Lower"
REST: Edges = {"Upper": Edge(36.0, 1.0, -32.0), "Lower": Edge(-32.0, 0.0, 28.0)}
CLOSED: Edges = {"Upper": Edge(-14.0, -1.0, 10.0, 1.0), "Lower": Edge(-16.5, -1.0, 10.0, 1.0)}


def on_eye(longitude: Array, beta: Array, radius: Array) -> Array:
    """(..., 3) places about the left eye; degrees, radius in units of the eyeball's."""
    along, turn = np.radians(longitude), np.radians(beta)
    place = np.stack([np.sin(along), np.cos(along) * np.sin(turn), np.cos(along) * np.cos(turn)], axis=-1)
    return np.asarray(EYE + EYE_RADIUS * (radius[..., None] * place) @ eye_frame())


def surface(which: str, edge: Edge) -> Array:
    """(COLUMNS (ROWS + 3), 3) the left "Upper" or "Lower" lid with that edge, column by column."""
    sign = 1.0 if which == "Upper" else -1.0
    longitude = np.linspace(-SPAN, SPAN, COLUMNS)
    margin = edge.at(longitude / 60.0)
    radius = RADIUS[which] + edge.shut * (SHUT[which] - RADIUS[which]) * ramp(SPAN, 20.0, np.abs(longitude))
    rows = [(margin - sign * past, radius - depth) for past, depth in MARGIN]
    for t in np.linspace(0.0, 1.0, ROWS) ** 1.4:
        rows.append((margin + (sign * BACK - margin) * t, radius + (RADIUS[which] - radius) * ramp(0.0, 0.7, t)))
    beta, height = (np.stack(column, axis=1) for column in zip(*rows))
    return on_eye(np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def lid(which: str) -> Patch:
    """The left "Upper" or "Lower" lid at rest: skin, with a dark line on the upper one's edge."""
    upper = which == "Upper"
    rows = ROWS + len(MARGIN)
    skin = mix(PALETTE["skin"], PALETTE["shade"], 0.42 if upper else 0.18)
    c = np.broadcast_to(skin, (COLUMNS, rows, 3)).copy()
    if upper:
        c[:, :3], c[:, 3], c[:, 4] = PALETTE["lash"], mix(skin, PALETTE["lash"], 0.8), mix(skin, PALETTE["lash"], 0.12)
    else:
        c[:, :3] = mix(skin, PALETTE["blush"], 0.5)
        c[:, 2] = mix(skin, PALETTE["lash"], 0.30)
    shell = facing_out(surface(which, REST[which]), grid(COLUMNS, rows), EYE)
    return held(f"Lid{which}.L", shell, 0.96 * c.reshape(-1, 3), "Head")


def column(longitude: float) -> int:
    """The vertex on the edge at a longitude, as a number in a lid."""
    return round((longitude + SPAN) / (2 * SPAN) * (COLUMNS - 1)) * (ROWS + len(MARGIN)) + EDGE


def lashes(edge: Edge) -> Array:
    """The vertices of a tapered wing along the outer part of the left upper edge."""
    longitude = np.linspace(-46.0, 63.0, LASHES)
    t = (longitude + 46.0) / 109.0
    height = RADIUS["Upper"] + 0.003 + 0.055 * ramp(0.45, 1, t)
    height += edge.shut * (SHUT["Upper"] - RADIUS["Upper"]) * ramp(SPAN, 20.0, np.abs(longitude))
    path = on_eye(longitude, edge.at(longitude / 60.0) - 1.2, height)
    path += EYE_RADIUS * (0.07 * ramp(0.72, 1, t) * height)[:, None] * eye_frame()[1]
    radius = 0.0015 + 0.0062 * ramp(0, 0.75, t) * (1 - 0.75 * ramp(0.86, 1.0, t))
    return tubes.tube(path, radius, radius, 8, (0, 1, 0))


def lash_patch() -> Patch:
    """The left lashes at rest."""
    shape = facing_out(lashes(REST["Upper"]), tubes.triangles(LASHES, 8))
    return held("Lashes.L", shape, PALETTE["lash"], "Head")


BELOW = np.array([-8.0, 2.0, 7.0, 13.0, 20.0, 28.0])  # degrees under the edge


def shadow(edge: Edge) -> Array:
    """The vertices of the strip below the left upper edge that darkens the eyeball."""
    longitude = np.linspace(-70.0, 70.0, 29)
    beta = edge.at(longitude / 60.0)[:, None] - BELOW
    height = np.full(beta.shape, SHADOW + 0.05 * edge.shut)
    return on_eye(np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def shadow_patch() -> Patch:
    """The left strip at rest, fading out downwards."""
    strength = np.tile(0.72 * np.clip((28.0 - BELOW) / 28.0, 0, 1) ** 1.2, (29, 1)).reshape(-1, 1)
    colours = np.concatenate([np.tile([0.16, 0.06, 0.07], (len(strength), 1)), strength], axis=1)
    return held("LidShadow.L", facing_out(shadow(REST["Upper"]), grid(29, len(BELOW)), EYE), colours, "Head")
