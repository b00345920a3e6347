"""Big cartoon eyes: a painted ball, two lids that slide on it, and the shadow that the upper one casts.

A point of a lid is (a, beta): a = longitude / 60 degrees from the nose outwards, beta the turn about the axis through
the corners, 0 in the direction of the gaze, positive above. The lid's edge is beta(a) = base + tilt a + curve a^2.

Shapes are linear, so a lid on its way goes along a chord, which would cut into the ball: 58 degrees of blink at radius
R come as near as R cos 29 = 0.87 R. Therefore a closed edge stands further off than an open one:
(1.075 + 1.27) / 2 cos 29 = 1.025, outside the ball and its glints all the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from understudy.cast.sculpting.eye_paint import fibres, picture, uvs
from understudy.cast.sculpting.frames import eye_frame, turn
from understudy.cast.sculpting.glints import Glint, glints
from understudy.cast.sculpting.patches import Patch, facing_out, grid, held, mix, pair
from understudy.cast.sculpting.ramps import ramp
from understudy.character import Texture
from understudy.checks import Array
from understudy.maths.colour import from_hex

SIDES = 36
RINGS = (12.0, 24.0, 36.0, 48.0, 58.0, 68.0, 80.0, 94.0, 108.0)  # degrees from the gaze
COLUMNS, ROWS = 33, 8
SPAN = 84.0  # degrees of longitude to each side
MARGIN = ((-1.0, 0.055), (2.0, 0.030))  # rows that roll inwards: degrees past the edge, depth
RADIUS = {"Upper": 1.075, "Lower": 1.058}  # of the ball's; the upper lid closes over the lower one
SHUT = {"Upper": 1.27, "Lower": 1.15}
BACK = 118.0  # degrees: the hidden end
SHADOW = 1.012
BELOW = np.array([-8.0, 1.0, 6.0, 12.0, 19.0, 27.0])  # degrees under the edge
STRIP = 21  # columns of the shadow
PICTURE = 256  # texels a side
GLINTS = ((-15.0, 17.0, 10.0, 1.022), (14.0, -17.0, 4.8, 1.022))


class Edge(NamedTuple):
    """The edge of a lid in degrees, and how far it is shut, which lifts it off the ball."""

    base: float
    tilt: float
    curve: float
    shut: float = 0.0

    def at(self, a: Array) -> Array:
        """(M,) degrees."""
        return self.base + self.tilt * a + self.curve * a * a

    def moved(self, base: float = 0.0, tilt: float = 0.0, curve: float = 0.0) -> Edge:
        """The edge with so much added."""
        return Edge(self.base + base, self.tilt + tilt, self.curve + curve, self.shut)


# of a shut eye: both meet just below the middle, the lower one just behind the upper
SHUT_EDGES = (Edge(-4.0, -1.0, 5.0, 1.0), Edge(-6.5, -1.0, 5.0, 1.0))


@dataclass(frozen=True)
class Eye:
    """The left eye: where it is and looks, how wide it opens, and its colours."""

    place: tuple[float, float, float]
    radius: float
    yaw: float  # degrees outwards
    pitch: float
    iris: float  # degrees from the gaze to its rim
    pupil: float
    upper: Edge
    lower: Edge
    colours: Mapping[str, str]  # iris, dark, light, lid, lash
    toe_in: float = 0.0
    glints: tuple[Glint, ...] = GLINTS
    joint: str = "Head"

    @property
    def frame(self) -> Array:
        """(3, 3) rows: outer corner, up, gaze."""
        return eye_frame(self.yaw, self.pitch)

    def colour(self, name: str) -> Array:
        """(3,) sRGB."""
        return np.asarray(from_hex(self.colours[name]))


def ball(eye: Eye) -> Patch:
    """The left ball: a pole in the pupil, then the rings, open behind."""
    azimuth = np.arange(SIDES) * (2 * np.pi / SIDES)
    angle, around = (a.ravel() for a in np.meshgrid(RINGS, azimuth, indexing="ij"))
    angle, around = np.concatenate([[0.0], angle]), np.concatenate([[0.0], around])
    bent = np.radians(angle)
    unit = np.stack([np.sin(bent) * np.cos(around), np.sin(bent) * np.sin(around), np.cos(bent)], axis=1)
    vertices = eye.place + eye.radius * (unit @ turn(y=-eye.toe_in).T) @ eye.frame
    fan = np.stack([np.zeros(SIDES, int), 1 + np.roll(np.arange(SIDES), -1), 1 + np.arange(SIDES)], axis=1)
    triangles = np.concatenate([fan, 1 + grid(len(RINGS), SIDES, around=True)])
    patch = held("Eyeball.L", facing_out(vertices, triangles, eye.place), np.ones(3), eye.joint)
    return replace(patch, uvs=uvs(angle, around)[patch.triangles])


def painted(eye: Eye, ring: Array, azimuth: Array) -> Array:
    """(M, 3): the iris is dark above and glows below, as if lit through; the white is warmer towards the corners."""
    dark, light, limbus = eye.colour("dark"), eye.colour("light"), 0.55 * eye.colour("dark")
    up = np.sin(azimuth) * np.sin(np.radians(ring)) / np.sin(np.radians(eye.iris))
    across = np.clip((ring - eye.pupil) / (eye.iris - eye.pupil), 0, 1)
    iris = mix(dark, eye.colour("iris"), np.clip(0.5 - 0.75 * up, 0, 1))
    iris = mix(iris, light, 0.75 * ramp(0.15, 0.95, -up) * ramp(0.0, 0.5, across))
    iris = iris * (1 + 0.20 * fibres(azimuth, across) * ramp(0.0, 0.2, across) * ramp(1.0, 0.8, across))[:, None]
    iris = mix(iris, dark, 0.5 * ramp(0.16, 0.0, across))
    iris = mix(iris, limbus, ramp(0.70, 0.95, across) ** 2)
    white = mix(from_hex("#FFF6EA"), from_hex("#C99A86"), 0.40 * ramp(eye.iris + 6, 88, ring))
    white = mix(white, limbus, 0.30 * ramp(eye.iris + 3.0, eye.iris, ring))
    c = mix(from_hex("#150B10"), np.clip(iris, 0, 1), ramp(eye.pupil - 0.5, eye.pupil + 1.0, ring))
    return mix(c, white, ramp(eye.iris - 0.5, eye.iris + 0.7, ring))


def on_ball(eye: Eye, longitude: Array, beta: Array, radius: Array) -> Array:
    """(..., 3) places about the left eye; degrees, radius in units of the ball's."""
    along, up = np.radians(longitude), np.radians(beta)
    place = np.stack([np.sin(along), np.cos(along) * np.sin(up), np.cos(along) * np.cos(up)], axis=-1)
    return np.asarray(eye.place + eye.radius * (radius[..., None] * place) @ eye.frame)


def shell(eye: Eye, which: str, edge: Edge) -> Array:
    """(COLUMNS (ROWS + 2), 3) the left "Upper" or "Lower" lid with that edge, column by column."""
    sign = 1.0 if which == "Upper" else -1.0
    longitude = np.linspace(-SPAN, SPAN, COLUMNS)
    margin = edge.at(longitude / 60.0)
    radius = RADIUS[which] + edge.shut * (SHUT[which] - RADIUS[which]) * ramp(SPAN, 15.0, np.abs(longitude))
    rows = [(margin - sign * past, radius - depth) for past, depth in MARGIN]
    for t in np.linspace(0.0, 1.0, ROWS) ** 1.4:
        rows.append((margin + (sign * BACK - margin) * t, radius + (RADIUS[which] - radius) * ramp(0.0, 0.7, t)))
    beta, height = (np.stack(column, axis=1) for column in zip(*rows))
    return on_ball(eye, np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def lid(eye: Eye, which: str) -> Patch:
    """The left "Upper" or "Lower" lid at rest, with a dark line on its edge, broad above and faint below."""
    rows = ROWS + len(MARGIN)
    own, lash = eye.colour("lid"), eye.colour("lash")
    c = np.broadcast_to(own, (COLUMNS, rows, 3)).copy()
    c[:, :2] = lash if which == "Upper" else mix(own, lash, 0.55)
    c[:, 2] = mix(own, lash, 0.85 if which == "Upper" else 0.15)
    surface = facing_out(
        shell(eye, which, eye.upper if which == "Upper" else eye.lower), grid(COLUMNS, rows), eye.place
    )
    return held(f"Lid{which}.L", surface, c.reshape(-1, 3), eye.joint)


def strip(eye: Eye, edge: Edge) -> Array:
    """The vertices of the strip below the left upper edge that darkens the ball."""
    longitude = np.linspace(-72.0, 72.0, STRIP)
    beta = edge.at(longitude / 60.0)[:, None] - BELOW
    height = np.full(beta.shape, SHADOW + 0.05 * edge.shut)
    return on_ball(eye, np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def shadow(eye: Eye) -> Patch:
    """The left strip at rest, fading out downwards."""
    strength = np.tile(0.62 * np.clip((27.0 - BELOW) / 27.0, 0, 1) ** 1.2, (STRIP, 1)).reshape(-1, 1)
    colours = np.concatenate([np.tile([0.14, 0.06, 0.08], (len(strength), 1)), strength], axis=1)
    surface = facing_out(strip(eye, eye.upper), grid(STRIP, len(BELOW)), eye.place)
    return held("LidShadow.L", surface, colours, eye.joint)


def parts(eye: Eye) -> dict[str, list[Patch]]:
    """Everything of both eyes, by the names of `materials.EYES`; what shapes move comes first."""
    return {
        "Lids": [half for which in ("Upper", "Lower") for half in pair(lid(eye, which))],
        "LidShadow": list(pair(shadow(eye))),
        "Eyes": list(pair(ball(eye))),
        "Highlights": glints(eye.place, eye.radius, eye.frame[2], eye.glints, eye.joint),
    }


def texture(name: str, eye: Eye) -> dict[str, Texture]:
    """The picture on the ball."""
    return {"colour": Texture(picture(name, lambda ring, around: painted(eye, ring, around), PICTURE))}


def moved(eye: Eye, upper: Edge, lower: Edge) -> dict[str, Array]:
    """Patch of the left -> (V, 3) how far its vertices go when the edges become these."""
    return {
        "LidUpper.L": shell(eye, "Upper", upper) - shell(eye, "Upper", eye.upper),
        "LidLower.L": shell(eye, "Lower", lower) - shell(eye, "Lower", eye.lower),
        "LidShadow.L": strip(eye, upper) - strip(eye, eye.upper),
    }


def shapes(eye: Eye) -> dict[str, dict[str, Array]]:
    """Shape, named as ARKit names it, -> patch -> (V, 3): a blink, a smile of the lower lid, wide eyes; both sides."""
    made = {
        "eyeBlink": moved(eye, *SHUT_EDGES),
        "eyeSquint": moved(eye, eye.upper.moved(-6.0), eye.lower.moved(20.0, curve=-22.0)),
        "eyeWide": moved(eye, eye.upper.moved(13.0), eye.lower.moved(-7.0)),
    }
    result = {}
    for name, parts in made.items():
        result[f"{name}Left"] = parts
        result[f"{name}Right"] = {p.removesuffix("L") + "R": delta * [-1.0, 1.0, 1.0] for p, delta in parts.items()}
    return result
