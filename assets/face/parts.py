"""The face's separate parts: eyeballs, lids with lashes, hair and brows, teeth and tongue.

**Eyes.** An eyeball is rings about its own gaze. It is an exact sphere, without a cornea's bulge: shapes are linear,
and lids that cut corners on their way must stay outside it. Highlights are unlit discs that hang on the head, not on
the eyeball: they stay where the light is when the eye turns.

**Lids** are shells that slide on the eyeball. A point of a lid is (a, beta): a = longitude / 60 degrees from the nose
outwards, beta the turn about the axis through the corners, 0 in the direction of the gaze, positive above. The lid's
edge is beta(a) = base + tilt a + curve a^2. Shapes are linear, so a lid on its way goes along a chord, which would cut
into the eyeball: 50 degrees of blink at radius R come as near as R cos 25 = 0.91 R. Therefore a closed edge stands
further off than an open one: (1.095 + 1.165) / 2 cos 25 = 1.024, outside the eye and its highlights all the way.

**Hair** is locks swept from a parting on the face's left, on a thin shell. A lock is a Bezier curve in (azimuth,
elevation, offset) on the skull's ellipsoid, with a radius that runs along.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from assets.face import sculpt
from assets.face.coat import PALETTE
from assets.face.measures import EYE, EYE_RADIUS, LIP_Y, TOE_IN, eye_frame
from assets.sculpting import geometry
from assets.sculpting.clay import turn
from assets.sculpting.coat import mix
from assets.sculpting.eyes import Edge, eye_uvs, fibres, glints
from assets.sculpting.fields import ambient, average, ramp, smoothed, unit_gradient
from assets.sculpting.geometry import bezier, facing_out, grid
from assets.sculpting.meshing import Patch, held
from understudy.checks import Array
from understudy.maths import vector

EYE_SIDES = 40
EYE_RINGS = (8.0, 16.5, 22.0, 29.0, 36.0, 42.0, 50.0, 58.0, 66.0, 78.0, 92.0, 108.0)  # degrees from the gaze
IRIS, PUPIL = 36.0, 16.5
HIGHLIGHTS = ((-13.0, 15.0, 6.4, 1.016), (12.0, -15.0, 3.0, 1.016))  # degrees left, up, radius; height over the eye
LOOK_YAW, LOOK_UP, LOOK_DOWN = 30.0, 24.0, 28.0  # degrees that eyeLook shapes turn


def eyeball() -> Patch:
    """The left one: a pole in the pupil, then the rings, open behind."""
    angle, around = _eyeball_places()
    fan = np.stack([np.zeros(EYE_SIDES, int), 1 + np.roll(np.arange(EYE_SIDES), -1), 1 + np.arange(EYE_SIDES)], axis=1)
    triangles = np.concatenate([fan, 1 + grid(len(EYE_RINGS), EYE_SIDES, around=True)])
    patch = held("Eyeball.L", facing_out(eyeball_looking(0.0, 0.0), triangles, EYE), np.ones(3), "Eye.L")
    return replace(patch, uvs=eye_uvs(angle, around)[patch.triangles])


def eyeball_looking(yaw: float, pitch: float) -> Array:
    """(V, 3) the left eyeball turned outwards and up by degrees."""
    angle, around = _eyeball_places()
    ring = np.radians(angle)
    unit = np.stack([np.sin(ring) * np.cos(around), np.sin(ring) * np.sin(around), np.cos(ring)], axis=1)
    turned = unit @ (turn(y=yaw - TOE_IN) @ turn(x=-pitch)).T
    return np.asarray(EYE + EYE_RADIUS * turned @ eye_frame())


def _eyeball_places() -> tuple[Array, Array]:
    """(V,) degrees from the gaze, and radians about it from the outer side over the top."""
    azimuth = np.arange(EYE_SIDES) * (2 * np.pi / EYE_SIDES)
    angle, around = (a.ravel() for a in np.meshgrid(EYE_RINGS, azimuth, indexing="ij"))
    return np.concatenate([[0.0], angle]), np.concatenate([[0.0], around])


def highlights() -> list[Patch]:
    """Two discs for each eye."""
    return glints(EYE, EYE_RADIUS, eye_frame()[2], HIGHLIGHTS)


def eye_colours(ring: Array, azimuth: Array) -> Array:
    """(M, 3): the iris is dark above and glows below, as if lit through; the white is warmer towards the corners."""
    up = np.sin(azimuth) * np.sin(np.radians(ring)) / np.sin(np.radians(IRIS))
    across = np.clip((ring - PUPIL) / (IRIS - PUPIL), 0, 1)
    iris = mix(PALETTE["iris_dark"], PALETTE["iris"], np.clip(0.5 - 0.75 * up, 0, 1))
    iris = mix(iris, PALETTE["iris_light"], 0.70 * ramp(0.15, 1.0, -up) * ramp(0.0, 0.6, across))
    iris = mix(iris, PALETTE["iris_light"], 0.22 * np.exp(-(((across - 0.25) / 0.16) ** 2)) * ramp(0.5, -0.2, up))
    iris = iris * (1 + 0.22 * fibres(azimuth, across) * ramp(0.0, 0.2, across) * ramp(1.0, 0.8, across))[:, None]
    iris = mix(iris, PALETTE["iris_dark"], 0.5 * ramp(0.14, 0.0, across))
    iris = mix(iris, PALETTE["limbus"], ramp(0.72, 0.95, across) ** 2)
    white = mix(PALETTE["sclera"], PALETTE["sclera_edge"], 0.45 * ramp(44, 80, ring))
    white = mix(white, PALETTE["limbus"], 0.30 * ramp(IRIS + 3.0, IRIS, ring))
    c = mix(PALETTE["pupil"], np.clip(iris, 0, 1), ramp(PUPIL - 0.5, PUPIL + 0.9, ring))
    return mix(c, white, ramp(IRIS - 0.5, IRIS + 0.7, ring))


LID_COLUMNS, LID_ROWS = 41, 10
LID_SPAN = 82.0  # degrees of longitude to each side
LID_MARGIN = ((-1.0, 0.060), (1.8, 0.040), (2.0, 0.015))  # three rows that roll inwards: degrees past the edge, depth
LID_EDGE_ROW = 2  # the row that stands out furthest: landmarks live there
LID_RADIUS = {"Upper": 1.095, "Lower": 1.072}  # of the eye's; the upper lid closes over the lower one
LID_SHUT_RADIUS = {"Upper": 1.165, "Lower": 1.100}
LID_BACK = 118.0  # degrees: the hidden end
SHADOW_RADIUS = 1.008
LASH_RINGS = 26

Edges = Mapping[str, Edge]  # "Upper", "Lower"
LIDS_AT_REST: Edges = {"Upper": Edge(36.0, 1.0, -32.0), "Lower": Edge(-32.0, 0.0, 28.0)}
LIDS_CLOSED: Edges = {"Upper": Edge(-14.0, -1.0, 10.0, 1.0), "Lower": Edge(-16.5, -1.0, 10.0, 1.0)}


def on_eye(longitude: Array, beta: Array, radius: Array) -> Array:
    """(..., 3) places about the left eye; degrees, radius in units of the eyeball's."""
    along, turn = np.radians(longitude), np.radians(beta)
    place = np.stack([np.sin(along), np.cos(along) * np.sin(turn), np.cos(along) * np.cos(turn)], axis=-1)
    return np.asarray(EYE + EYE_RADIUS * (radius[..., None] * place) @ eye_frame())


def lid_surface(which: str, edge: Edge) -> Array:
    """(COLUMNS (ROWS + 3), 3) the left "Upper" or "Lower" lid with that edge, column by column."""
    sign = 1.0 if which == "Upper" else -1.0
    longitude = np.linspace(-LID_SPAN, LID_SPAN, LID_COLUMNS)
    margin = edge.at(longitude / 60.0)
    radius = LID_RADIUS[which] + edge.shut * (LID_SHUT_RADIUS[which] - LID_RADIUS[which]) * ramp(
        LID_SPAN, 20.0, np.abs(longitude)
    )
    rows = [(margin - sign * past, radius - depth) for past, depth in LID_MARGIN]
    for t in np.linspace(0.0, 1.0, LID_ROWS) ** 1.4:
        rows.append(
            (margin + (sign * LID_BACK - margin) * t, radius + (LID_RADIUS[which] - radius) * ramp(0.0, 0.7, t))
        )
    beta, height = (np.stack(column, axis=1) for column in zip(*rows))
    return on_eye(np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def lid(which: str) -> Patch:
    """The left "Upper" or "Lower" lid at rest: skin, with a dark line on the upper one's edge."""
    upper = which == "Upper"
    rows = LID_ROWS + len(LID_MARGIN)
    skin = mix(PALETTE["skin"], PALETTE["shade"], 0.42 if upper else 0.18)
    c = np.broadcast_to(skin, (LID_COLUMNS, rows, 3)).copy()
    if upper:
        c[:, :3], c[:, 3], c[:, 4] = PALETTE["lash"], mix(skin, PALETTE["lash"], 0.8), mix(skin, PALETTE["lash"], 0.12)
    else:
        c[:, :3] = mix(skin, PALETTE["blush"], 0.5)
        c[:, 2] = mix(skin, PALETTE["lash"], 0.30)
    shell = facing_out(lid_surface(which, LIDS_AT_REST[which]), grid(LID_COLUMNS, rows), EYE)
    return held(f"Lid{which}.L", shell, 0.96 * c.reshape(-1, 3), "Head")


def lid_edge_vertex(longitude: float) -> int:
    """The vertex on the edge at a longitude, as a number in a lid."""
    return (
        round((longitude + LID_SPAN) / (2 * LID_SPAN) * (LID_COLUMNS - 1)) * (LID_ROWS + len(LID_MARGIN)) + LID_EDGE_ROW
    )


def lashes(edge: Edge) -> Array:
    """The vertices of a tapered wing along the outer part of the left upper edge."""
    longitude = np.linspace(-46.0, 63.0, LASH_RINGS)
    t = (longitude + 46.0) / 109.0
    height = LID_RADIUS["Upper"] + 0.003 + 0.055 * ramp(0.45, 1, t)
    height += edge.shut * (LID_SHUT_RADIUS["Upper"] - LID_RADIUS["Upper"]) * ramp(LID_SPAN, 20.0, np.abs(longitude))
    path = on_eye(longitude, edge.at(longitude / 60.0) - 1.2, height)
    path += EYE_RADIUS * (0.07 * ramp(0.72, 1, t) * height)[:, None] * eye_frame()[1]
    radius = 0.0015 + 0.0062 * ramp(0, 0.75, t) * (1 - 0.75 * ramp(0.86, 1.0, t))
    return geometry.oval_tube(path, radius, radius, 8, (0, 1, 0))


def lash_patch() -> Patch:
    """The left lashes at rest."""
    shape = facing_out(lashes(LIDS_AT_REST["Upper"]), geometry.oval_tube_triangles(LASH_RINGS, 8))
    return held("Lashes.L", shape, PALETTE["lash"], "Head")


SHADOW_BELOW = np.array([-8.0, 2.0, 7.0, 13.0, 20.0, 28.0])  # degrees under the edge


def lid_shadow(edge: Edge) -> Array:
    """The vertices of the strip below the left upper edge that darkens the eyeball."""
    longitude = np.linspace(-70.0, 70.0, 29)
    beta = edge.at(longitude / 60.0)[:, None] - SHADOW_BELOW
    height = np.full(beta.shape, SHADOW_RADIUS + 0.05 * edge.shut)
    return on_eye(np.broadcast_to(longitude[:, None], beta.shape), beta, height).reshape(-1, 3)


def lid_shadow_patch() -> Patch:
    """The left strip at rest, fading out downwards."""
    strength = np.tile(0.72 * np.clip((28.0 - SHADOW_BELOW) / 28.0, 0, 1) ** 1.2, (29, 1)).reshape(-1, 1)
    colours = np.concatenate([np.tile([0.16, 0.06, 0.07], (len(strength), 1)), strength], axis=1)
    return held(
        "LidShadow.L", facing_out(lid_shadow(LIDS_AT_REST["Upper"]), grid(29, len(SHADOW_BELOW)), EYE), colours, "Head"
    )


SKULL_RADII, SKULL_CENTRE = np.array([0.378, 0.375, 0.414]), np.array([0.0, 0.125, -0.055])
Lock = tuple[tuple[tuple[float, float, float], ...], tuple[float, ...]]
LOCKS: tuple[Lock, ...] = (
    # below the fringe
    (((34, 62, 0.00), (12, 58, 0.050), (-6, 44, 0.045), (-14, 25, 0.020)), (0.050, 0.085, 0.085, 0.025)),
    (((34, 68, 0.00), (-20, 64, 0.050), (-44, 42, 0.045), (-54, 14, 0.020)), (0.050, 0.085, 0.085, 0.025)),
    (((34, 58, 0.00), (32, 54, 0.050), (26, 44, 0.045), (20, 31, 0.015)), (0.050, 0.085, 0.080, 0.025)),
    (((34, 60, 0.00), (46, 54, 0.050), (58, 36, 0.045), (62, 12, 0.020)), (0.050, 0.085, 0.085, 0.025)),
    # the fringe: broad diagonal sweeps to the right, one above the other
    (((30, 50, 0.01), (22, 50, 0.125), (-4, 36, 0.115), (-40, 11, 0.032)), (0.045, 0.098, 0.094, 0.005)),
    (((32, 57, 0.01), (18, 64, 0.185), (-26, 50, 0.150), (-62, 8, 0.028)), (0.055, 0.125, 0.120, 0.005)),
    (((33, 65, 0.01), (0, 80, 0.205), (-58, 62, 0.150), (-80, -4, 0.024)), (0.060, 0.140, 0.135, 0.006)),
    (((34, 73, 0.02), (-60, 88, 0.165), (-92, 58, 0.125), (-90, -14, 0.024)), (0.060, 0.145, 0.140, 0.008)),
    # the short side of the parting
    (((37, 52, 0.01), (42, 56, 0.115), (54, 38, 0.095), (46, 10, 0.034)), (0.045, 0.085, 0.080, 0.005)),
    (((38, 60, 0.01), (56, 68, 0.150), (72, 44, 0.110), (72, -4, 0.026)), (0.055, 0.125, 0.118, 0.006)),
    (((50, 76, 0.02), (84, 74, 0.140), (100, 42, 0.105), (90, -14, 0.026)), (0.060, 0.145, 0.135, 0.008)),
    # sides and back
    (((-60, 86, 0.03), (-112, 70, 0.120), (-118, 36, 0.095), (-108, -22, 0.022)), (0.060, 0.140, 0.135, 0.010)),
    (((100, 86, 0.03), (122, 64, 0.115), (126, 26, 0.095), (112, -26, 0.020)), (0.060, 0.140, 0.135, 0.010)),
    (((-140, 86, 0.03), (-142, 60, 0.115), (-144, 20, 0.095), (-138, -40, 0.018)), (0.060, 0.140, 0.135, 0.010)),
    (((160, 86, 0.03), (152, 58, 0.115), (152, 18, 0.095), (142, -42, 0.018)), (0.060, 0.140, 0.135, 0.010)),
    (((180, 82, 0.03), (-176, 54, 0.120), (-176, 12, 0.098), (-170, -50, 0.018)), (0.060, 0.145, 0.140, 0.010)),
    # two small tufts on the crown
    (((170, 70, 0.06), (160, 76, 0.120), (130, 80, 0.150), (70, 82, 0.160)), (0.040, 0.052, 0.038, 0.005)),
    (((-170, 66, 0.06), (-150, 72, 0.115), (-110, 76, 0.140), (-60, 80, 0.150)), (0.040, 0.048, 0.034, 0.005)),
)
LOCK_PIECES = 30
BROW_LINE = ((0.070, 0.128), (0.125, 0.172), (0.200, 0.178), (0.268, 0.112))  # x and y, laid on the skin
BROW_RINGS, BROW_SIDES = 30, 14


def hair_locks() -> Array:
    """(N, PIECES, 4) points and radii along each lock, sunk into the shell."""
    t = np.linspace(0.0, 1.0, LOCK_PIECES)
    result = np.empty((len(LOCKS), LOCK_PIECES, 4))
    for number, (knots, radii) in enumerate(LOCKS):
        azimuth, elevation, offset = np.array(knots).T
        a, e = np.radians(azimuth), np.radians(elevation)
        direction = np.stack([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)], axis=1)
        points = bezier(SKULL_CENTRE + (SKULL_RADII + offset[:, None]) * direction, t)
        radius = bezier(np.array(radii)[:, None], t)[:, 0]
        outwards = (points - SKULL_CENTRE) / np.linalg.norm(points - SKULL_CENTRE, axis=1, keepdims=True)
        sunk = 0.55 - 0.12 * (number % 3 == 0)
        result[number] = np.concatenate([points - outwards * (sunk * radius)[:, None], radius[:, None]], axis=1)
    return result


def hair() -> Patch:
    """The hair, each lock with its own tone, lighter at its tip, darker in the grooves."""
    strands = hair_locks()
    vertices, triangles = sculpt.hair_mesh(strands)
    gap, nearest, along = _nearest_lock(strands, vertices)
    tone = np.random.default_rng(2).uniform(0, 0.45, len(strands))[nearest]
    c = mix(PALETTE["hair"], PALETTE["hair_light"], np.clip(tone + 0.45 * ramp(0.45, 1.0, along), 0, 1))
    c = mix(c, 0.62 * PALETTE["hair"], 0.40 * ramp(0.016, 0.0, gap))
    c = smoothed(c, average(triangles, len(vertices)), 6)
    light = ambient(vertices, sculpt.hair_field(strands), 1.2)
    return held("Hair", facing_out(vertices, triangles), c * light[:, None] ** 0.6, "Head")


def _nearest_lock(strands: Array, points: Array) -> tuple[Array, Array, Array]:
    """(V,) how much further the second lock is than the nearest one, which one that is, and how far along it."""
    distance = np.empty((len(points), len(strands)))
    along = np.empty((len(points), len(strands)))
    for number, lock in enumerate(strands):
        away = np.linalg.norm(points[:, None] - lock[None, :, :3], axis=2) - lock[:, 3]
        along[:, number] = away.argmin(axis=1) / (LOCK_PIECES - 1)
        distance[:, number] = away.min(axis=1)
    nearest = distance.argmin(axis=1)
    ordered = np.sort(distance, axis=1)
    return ordered[:, 1] - ordered[:, 0], nearest, along[np.arange(len(points)), nearest]


def brow() -> tuple[Patch, Array]:
    """The left brow, and the middle of each ring (BROW_RINGS, 3), which the skin carries."""
    t = np.linspace(0.0, 1.0, BROW_RINGS)
    middle = sculpt.on_front(bezier(BROW_LINE, t))
    middle = middle + 0.004 * unit_gradient(middle, sculpt.field("closed"))
    radius = 0.0235 * np.clip(ramp(-0.10, 0.22, t) * (1 - 0.80 * ramp(0.45, 1.02, t)), 0.12, 1)
    vertices = geometry.oval_tube(middle, radius, 0.52 * radius, BROW_SIDES, (0, 1, 0))
    angle = np.tile(np.arange(BROW_SIDES) * (2 * np.pi / BROW_SIDES), BROW_RINGS)
    streaks = 0.35 * ramp(0.2, 1.0, np.cos(angle)) + 0.1 * np.sin(60 * np.repeat(t, BROW_SIDES) + 2 * np.cos(angle))
    colours = mix(PALETTE["brow"], PALETTE["hair_light"], np.append(np.clip(streaks, 0, 1), [0.0, 0.0]))
    surface = facing_out(vertices, geometry.oval_tube_triangles(BROW_RINGS, BROW_SIDES))
    return held("Brow.L", surface, colours, "Head"), middle


# x of the left teeth from the middle outwards, and their half axes; they stand on z = depth - 7.5 x^2
UPPER_TEETH = (
    (0.0160, (0.0168, 0.0250, 0.011)),
    (0.0455, (0.0152, 0.0238, 0.011)),
    (0.0710, (0.0148, 0.0240, 0.011)),
    (0.0905, (0.0150, 0.0220, 0.012)),
    (0.1050, (0.0140, 0.0190, 0.013)),
)
LOWER_TEETH = (
    (0.0125, (0.0130, 0.019, 0.010)),
    (0.0370, (0.0130, 0.019, 0.010)),
    (0.0600, (0.0135, 0.019, 0.010)),
    (0.0790, (0.0140, 0.018, 0.010)),
)
TEETH_ARCH = 7.5
TOOTH_SQUARENESS = 0.55  # exponent: 1 would be an ellipsoid, 0 a box
TONGUE_LINE = np.array([(-0.075, 0.07), (-0.040, 0.15), (-0.030, 0.20), (-0.030, 0.235), (-0.046, 0.262)])
"""y above the lips' line and z of the tongue's Bezier curve at rest."""
TONGUE_OUT = np.array([(-0.060, 0.10), (0.020, 0.24), (0.022, 0.38), (-0.010, 0.44), (-0.100, 0.435)])
TONGUE_RINGS, TONGUE_SIDES = 24, 20


def teeth() -> list[Patch]:
    """Both rows; the lower one hangs on the jaw."""
    return [_tooth_row("TeethUpper", True), _tooth_row("TeethLower", False)]


def _tooth_row(name: str, upper: bool) -> Patch:
    depth, height, sign = (0.303, LIP_Y + 0.004, 1.0) if upper else (0.290, LIP_Y - 0.040, -1.0)
    vertices, triangles, colours, start = [], [], [], 0
    for x, half in UPPER_TEETH if upper else LOWER_TEETH:
        for side in (1.0, -1.0):
            along = vector.normalise(np.array([1.0, 0.0, -2 * TEETH_ARCH * x * side]))
            axes = np.stack([along, [0.0, 1.0, 0.0], np.cross(along, [0.0, 1.0, 0.0])])
            place = np.array([x * side, height + sign * 0.0006 * (x / 0.03) ** 2, depth - TEETH_ARCH * x * x])
            own, faces = _tooth(np.array(half))
            vertices.append(place + own @ axes)
            triangles.append(facing_out(vertices[-1], faces, place)[1] + start)
            colours.append(
                np.tile(mix(PALETTE["tooth"], PALETTE["tooth_back"], 0.5 * ramp(0.05, 0.11, x)), (len(own), 1))
            )
            start += len(own)
    across = np.linspace(-0.10, 0.10, 31)
    path = np.stack(
        [across, np.full_like(across, height + (0.026 if upper else -0.022)), depth - 0.004 - TEETH_ARCH * across**2],
        axis=1,
    )
    gum = geometry.oval_tube(path, np.full(31, 0.016), np.full(31, 0.012), 10, (0, 1, 0))
    vertices.append(gum)
    triangles.append(facing_out(gum, geometry.oval_tube_triangles(31, 10))[1] + start)
    colours.append(np.tile(PALETTE["gum"], (len(gum), 1)))
    surface = (np.concatenate(vertices), np.concatenate(triangles))
    return held(name, surface, np.concatenate(colours), "Head" if upper else "Jaw")


def _tooth(half: Array, rings: int = 7, sides: int = 14) -> tuple[Array, Array]:
    """A superellipsoid with half axes (3,), its poles above and below."""
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings + 2)[1:-1]
    u, w = np.meshgrid(latitude, np.arange(sides) * (2 * np.pi / sides), indexing="ij")

    def power(x: Array) -> Array:
        return np.sign(x) * np.abs(x) ** TOOTH_SQUARENESS

    body = np.stack([power(np.cos(u)) * power(np.cos(w)), power(np.sin(u)), power(np.cos(u)) * power(np.sin(w))], -1)
    vertices = np.concatenate([body.reshape(-1, 3), [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]]) * half
    count = rings * sides
    first, last = np.arange(sides), np.arange(count - sides, count)
    fans = [
        np.stack([np.roll(first, -1), first, np.full(sides, count)], axis=1),
        np.stack([last, np.roll(last, -1), np.full(sides, count + 1)], axis=1),
    ]
    return vertices, np.concatenate([grid(rings, sides, around=True), *fans])


def tongue_places(out: float = 0.0) -> Array:
    """The tongue's vertices, at rest or put out: over the lower teeth and lip, then down."""
    t = np.linspace(0.0, 1.0, TONGUE_RINGS)
    curve = TONGUE_LINE + out * (TONGUE_OUT - TONGUE_LINE)
    path = bezier(np.stack([np.zeros(5), LIP_Y + curve[:, 0], curve[:, 1]], axis=1), t)
    radius = 0.066 * np.sqrt(np.clip(1 - ((t - 0.5) / 0.502) ** 2, 0, 1)) ** 0.8 + 0.002
    vertices = geometry.oval_tube(path, radius, 0.24 * radius, TONGUE_SIDES, (1, 0, 0))
    above = vertices[:-2, 1] > np.repeat(path, TONGUE_SIDES, axis=0)[:, 1]
    groove = 0.006 * np.exp(-((vertices[:-2, 0] / 0.014) ** 2)) * np.repeat(ramp(1.0, 0.7, t), TONGUE_SIDES)
    vertices[:-2, 1] -= groove * above
    return vertices


def tongue() -> Patch:
    """The tongue, darker towards the throat and in its groove."""
    vertices = tongue_places()
    along = np.append(np.repeat(np.linspace(0.0, 1.0, TONGUE_RINGS), TONGUE_SIDES), [0.0, 1.0])
    groove = np.exp(-((vertices[:, 0] / 0.018) ** 2)) * ramp(1.0, 0.7, along)
    colours = mix(PALETTE["tongue"], 0.74 * PALETTE["tongue"], 0.45 * groove)
    colours = mix(colours, 0.8 * PALETTE["mouth"], ramp(0.45, 0.10, along))
    return held(
        "Tongue", facing_out(vertices, geometry.oval_tube_triangles(TONGUE_RINGS, TONGUE_SIDES)), colours, "Jaw"
    )
