"""Big cartoon eyes: a painted ball with its picture, two lids that slide on it, the upper one's shadow, and highlights.

A point of the ball is (ring, azimuth): degrees from the gaze axis, and radians about it from the outer side over the
top. In the picture the ring's distance from the middle grows faster inside the iris, which has most of the detail.
Highlights are unlit discs that hang on the head and not on the ball: they stay where the light is.

A point of a lid is (a, beta): a = longitude / 60 degrees from the nose outwards, beta the turn about the axis through
the corners, 0 in the direction of the gaze, positive above. The lid's edge is beta(a) = base + tilt a + curve a^2.

Shapes are linear, so a lid on its way goes along a chord, which would cut into the ball: 58 degrees of blink at radius
R come as near as R cos 29 = 0.87 R. Therefore a closed edge stands further off than an open one:
(1.075 + 1.27) / 2 cos 29 = 1.025, outside the ball and its highlights all the way.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from assets.sculpting.clay import eye_frame, turn
from assets.sculpting.coat import mix
from assets.sculpting.fields import ramp
from assets.sculpting.geometry import facing_out, grid
from assets.sculpting.meshing import Patch, held, pair
from understudy.character import Image, Texture
from understudy.checks import Array
from understudy.maths import vector
from understudy.maths.colour import from_hex

EyePaint = Callable[[Array, Array], Array]  # rings (M,) and azimuths (M,) -> colours (M, 3), sRGB
PICTURE_SIZE, PICTURE_SAMPLES = 512, 3  # texels a side; each is the mean of FINER x FINER samples
OUTERMOST_RING = 108.0
_PICTURE_RINGS, _PICTURE_RADII = (
    (0.0, 50.0, OUTERMOST_RING),
    (0.0, 0.36, 0.495),
)  # ring -> distance from the picture's middle


def eye_uvs(ring: Array, azimuth: Array) -> Array:
    """(V, 2) places in the picture, v downwards."""
    radius = np.interp(ring, _PICTURE_RINGS, _PICTURE_RADII)
    return np.stack([0.5 + radius * np.cos(azimuth), 0.5 - radius * np.sin(azimuth)], axis=-1)


def eye_picture(name: str, paint: EyePaint, size: int = PICTURE_SIZE) -> Image:
    """An eye as PNG; JPEG would fray the crisp edges of pupil and iris."""
    from PIL import Image as pillow

    fine = size * PICTURE_SAMPLES
    across = (np.arange(fine) + 0.5) / fine - 0.5
    x, y = np.meshgrid(across, -across)
    ring, azimuth = np.interp(np.hypot(x, y), _PICTURE_RADII, _PICTURE_RINGS), np.arctan2(y, x)
    painted = (
        paint(ring.ravel(), azimuth.ravel()).reshape(size, PICTURE_SAMPLES, size, PICTURE_SAMPLES, 3).mean(axis=(1, 3))
    )
    data = io.BytesIO()
    pillow.fromarray(np.round(255 * np.clip(painted, 0, 1)).astype(np.uint8)).save(data, "PNG", optimize=True)
    return Image(name, "image/png", data.getvalue())


def fibres(azimuth: Array, across: Array) -> Array:
    """(M,) -1 .. 1: radial streaks of three widths that sway a little between pupil (across = 0) and limbus (1)."""
    rng = np.random.default_rng(5)
    turn = azimuth / (2 * np.pi) % 1.0
    total = np.zeros_like(azimuth)
    for count, share, sway in ((37, 0.45, 0.02), (83, 0.35, 0.012), (171, 0.20, 0.006)):
        knots = rng.uniform(-1, 1, count)
        place = (turn + sway * np.sin(5 * across + 9 * azimuth)) * count % count
        low = np.floor(place).astype(int) % count
        t = ramp(0.0, 1.0, place - np.floor(place))
        total += share * (knots[low] * (1 - t) + knots[(low + 1) % count] * t)
    return total


Glint = tuple[float, float, float, float]  # degrees left, up, radius; height over the eye, of its radius


def glints(eye: ArrayLike, radius: float, looking: Array, table: Sequence[Glint], joint: str = "Head") -> list[Patch]:
    """Discs on the left eye at `eye` (3,), which looks along `looking` (3,), and on the right one.

    They stand on the same side of both, since both mirror one window.
    """
    patches = []
    for number, (left, up, size, height) in enumerate(table, 1):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            centre, gaze = np.asarray(eye) * [sign, 1.0, 1.0], looking * [sign, 1.0, 1.0]
            right = vector.normalise(np.array([1.0, 0.0, 0.0]) - gaze * gaze[0])
            a, b = np.radians(left), np.radians(up)
            toward = np.array([np.sin(a) * np.cos(b), np.sin(b), np.cos(a) * np.cos(b)])
            middle = toward @ np.stack([right, np.cross(gaze, right), gaze])
            vertices = centre + radius * height * _disc(middle, np.radians(size))
            around = 1 + np.arange(len(vertices) - 1)
            fan = np.stack([np.zeros_like(around), around, np.roll(around, -1)], axis=1)
            patches.append(held(f"Highlight{number}.{side}", facing_out(vertices, fan, centre), np.ones(3), joint))
    return patches


def _disc(middle: Array, radius: float, sides: int = 20) -> Array:
    """(1 + sides, 3) a disc on the unit sphere: its middle, then its rim, a little narrower than tall."""
    across = vector.normalise(np.cross(middle, [0.0, 1.0, 0.0]))
    up = np.cross(middle, across)
    angle = np.arange(sides) * (2 * np.pi / sides)
    rim = middle + np.tan(radius) * (0.85 * np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * up)
    return np.concatenate([middle[None], vector.normalise(rim)])


BALL_SIDES = 36
BALL_RINGS = (12.0, 24.0, 36.0, 48.0, 58.0, 68.0, 80.0, 94.0, 108.0)  # degrees from the gaze
LID_COLUMNS, LID_ROWS = 33, 8
LID_SPAN = 84.0  # degrees of longitude to each side
LID_MARGIN = ((-1.0, 0.055), (2.0, 0.030))  # rows that roll inwards: degrees past the edge, depth
LID_RADIUS = {"Upper": 1.075, "Lower": 1.058}  # of the ball's; the upper lid closes over the lower one
LID_SHUT_RADIUS = {"Upper": 1.27, "Lower": 1.15}
LID_BACK = 118.0  # degrees: the hidden end
SHADOW_RADIUS = 1.012
SHADOW_BELOW = np.array([-8.0, 1.0, 6.0, 12.0, 19.0, 27.0])  # degrees under the edge
SHADOW_COLUMNS = 21  # columns of the shadow
BODY_PICTURE_SIZE = 256  # texels a side
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
    azimuth = np.arange(BALL_SIDES) * (2 * np.pi / BALL_SIDES)
    angle, around = (a.ravel() for a in np.meshgrid(BALL_RINGS, azimuth, indexing="ij"))
    angle, around = np.concatenate([[0.0], angle]), np.concatenate([[0.0], around])
    bent = np.radians(angle)
    unit = np.stack([np.sin(bent) * np.cos(around), np.sin(bent) * np.sin(around), np.cos(bent)], axis=1)
    vertices = eye.place + eye.radius * (unit @ turn(y=-eye.toe_in).T) @ eye.frame
    fan = np.stack(
        [np.zeros(BALL_SIDES, int), 1 + np.roll(np.arange(BALL_SIDES), -1), 1 + np.arange(BALL_SIDES)], axis=1
    )
    triangles = np.concatenate([fan, 1 + grid(len(BALL_RINGS), BALL_SIDES, around=True)])
    patch = held("Eyeball.L", facing_out(vertices, triangles, eye.place), np.ones(3), eye.joint)
    return replace(patch, uvs=eye_uvs(angle, around)[patch.triangles])


def eye_colours(eye: Eye, ring: Array, azimuth: Array) -> Array:
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


def lid_shell(eye: Eye, which: str, edge: Edge) -> Array:
    """(COLUMNS (ROWS + 2), 3) the left "Upper" or "Lower" lid with that edge, column by column."""
    sign = 1.0 if which == "Upper" else -1.0
    longitude = np.linspace(-LID_SPAN, LID_SPAN, LID_COLUMNS)
    margin = edge.at(longitude / 60.0)
    radius = LID_RADIUS[which] + edge.shut * (LID_SHUT_RADIUS[which] - LID_RADIUS[which]) * ramp(
        LID_SPAN, 15.0, np.abs(longitude)
    )
    rows = [(margin - sign * past, radius - depth) for past, depth in LID_MARGIN]
    for t in np.linspace(0.0, 1.0, LID_ROWS) ** 1.4:
        rows.append(
            (margin + (sign * LID_BACK - margin) * t, radius + (LID_RADIUS[which] - radius) * ramp(0.0, 0.7, t))
        )
    beta, height = (np.stack(column, axis=1) for column in zip(*rows))
    return on_ball(eye, np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def lid(eye: Eye, which: str) -> Patch:
    """The left "Upper" or "Lower" lid at rest, with a dark line on its edge, broad above and faint below."""
    rows = LID_ROWS + len(LID_MARGIN)
    own, lash = eye.colour("lid"), eye.colour("lash")
    c = np.broadcast_to(own, (LID_COLUMNS, rows, 3)).copy()
    c[:, :2] = lash if which == "Upper" else mix(own, lash, 0.55)
    c[:, 2] = mix(own, lash, 0.85 if which == "Upper" else 0.15)
    surface = facing_out(
        lid_shell(eye, which, eye.upper if which == "Upper" else eye.lower), grid(LID_COLUMNS, rows), eye.place
    )
    return held(f"Lid{which}.L", surface, c.reshape(-1, 3), eye.joint)


def shadow_strip(eye: Eye, edge: Edge) -> Array:
    """The vertices of the strip below the left upper edge that darkens the ball."""
    longitude = np.linspace(-72.0, 72.0, SHADOW_COLUMNS)
    beta = edge.at(longitude / 60.0)[:, None] - SHADOW_BELOW
    height = np.full(beta.shape, SHADOW_RADIUS + 0.05 * edge.shut)
    return on_ball(eye, np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def shadow(eye: Eye) -> Patch:
    """The left strip at rest, fading out downwards."""
    strength = np.tile(0.62 * np.clip((27.0 - SHADOW_BELOW) / 27.0, 0, 1) ** 1.2, (SHADOW_COLUMNS, 1)).reshape(-1, 1)
    colours = np.concatenate([np.tile([0.14, 0.06, 0.08], (len(strength), 1)), strength], axis=1)
    surface = facing_out(shadow_strip(eye, eye.upper), grid(SHADOW_COLUMNS, len(SHADOW_BELOW)), eye.place)
    return held("LidShadow.L", surface, colours, eye.joint)


def eye_parts(eye: Eye) -> dict[str, list[Patch]]:
    """Everything of both eyes, by the names of `coat.EYE_MATERIALS`; what shapes move comes first."""
    return {
        "Lids": [half for which in ("Upper", "Lower") for half in pair(lid(eye, which))],
        "LidShadow": list(pair(shadow(eye))),
        "Eyes": list(pair(ball(eye))),
        "Highlights": glints(eye.place, eye.radius, eye.frame[2], eye.glints, eye.joint),
    }


def eye_texture(name: str, eye: Eye) -> dict[str, Texture]:
    """The picture on the ball."""
    return {
        "colour": Texture(eye_picture(name, lambda ring, around: eye_colours(eye, ring, around), BODY_PICTURE_SIZE))
    }


def moved_lids(eye: Eye, upper: Edge, lower: Edge) -> dict[str, Array]:
    """Patch of the left -> (V, 3) how far its vertices go when the edges become these."""
    return {
        "LidUpper.L": lid_shell(eye, "Upper", upper) - lid_shell(eye, "Upper", eye.upper),
        "LidLower.L": lid_shell(eye, "Lower", lower) - lid_shell(eye, "Lower", eye.lower),
        "LidShadow.L": shadow_strip(eye, upper) - shadow_strip(eye, eye.upper),
    }


def eye_shapes(eye: Eye) -> dict[str, dict[str, Array]]:
    """Shape, named as ARKit names it, -> patch -> (V, 3): a blink, a smile of the lower lid, wide eyes; both sides."""
    made = {
        "eyeBlink": moved_lids(eye, *SHUT_EDGES),
        "eyeSquint": moved_lids(eye, eye.upper.moved(-6.0), eye.lower.moved(20.0, curve=-22.0)),
        "eyeWide": moved_lids(eye, eye.upper.moved(13.0), eye.lower.moved(-7.0)),
    }
    result = {}
    for name, parts in made.items():
        result[f"{name}Left"] = parts
        result[f"{name}Right"] = {p.removesuffix("L") + "R": delta * [-1.0, 1.0, 1.0] for p, delta in parts.items()}
    return result
