"""The dragon's separate parts: eyeballs, lids, ear fins, horns, spikes, teeth, plinth and tongue.

**Eyes** are most of its appeal. An eyeball is rings about its own gaze, painted by `paint.eye_colours`. Highlights are
unlit discs that hang on the head, not on the eyeball: they stay where the light is when the eye turns. The shadow of
the upper lid is a dark transparent strip that hangs on the lid; without it the eyes look stuck on.

**Lids** are thin spherical shells about the eye whose poles are its corners, turned open and shut by their joints. A
point of a lid is (a, beta): `a` runs from -1 at the inner corner to 1 at the outer one (86 degrees each way), beta is
the turn about the corner axis, 0 in the direction of the gaze, positive above. The lid's edge is
beta(a) = base + tilt a + curve a^2. Shells are long enough to stay under the skin's rim from wide open to closed.

**Fins** are fans of four ribs with a scalloped skin between them, the strongest signal of mood after the brows.

**Horns, spikes, teeth and plinth** are rigid and simply stuck into the skin. The **tongue** is a flattened sweep with a
shallow groove, bent by four joints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assets.dragon import sculpt
from assets.dragon.measures import EAR_ROOT, EYE, EYE_RADIUS, FIN_OUT, JOINTS, TOE_IN, eye_frame
from assets.dragon.paint import IRIS, PALETTE, PEBBLE_HEIGHT, PUPIL, jittered_grid, pebble_relief
from assets.sculpting.coat import mix
from assets.sculpting.eyes import eye_uvs, glints
from assets.sculpting.fields import ramp
from assets.sculpting.geometry import bezier, facing_out, grid, sweep
from assets.sculpting.meshing import Patch, held, midline
from understudy.checks import Array
from understudy.maths import vector

EYE_SIDES = 44
PUPIL_NARROWING = 0.16  # by which the pupil is narrower than tall
CORNEA_BULGE = 0.035  # bulge, of the radius
EYE_RINGS = (0.0, 12.0, 22.0, 27.0, 33.0, 39.0, 47.5, 55.0, 65.0, 78.0, 92.0, 108.0)  # degrees
HIGHLIGHTS = ((-15.0, 21.0, 8.5, 1.05), (15.0, -19.0, 3.8, 1.048))  # degrees left, up, radius; height over the eye
SHADOW_HEIGHT = 1.044  # of the eye's radius: above the cornea, under the highlights and the lids


@dataclass(frozen=True, eq=False)
class Eyeball:
    """The left eyeball and, for shapes that resize pupil and iris, each vertex's place on it."""

    patch: Patch
    ring: Array  # (V,) degrees from the gaze axis
    azimuth: Array  # (V,) radians about it, from the outer side over the top
    axes: Array  # (3, 3) rows: outer, up, gaze of the eyeball at rest


def eyeball() -> Eyeball:
    """The left one: a pole in the pupil, then a ring for each further angle of RINGS, open behind."""
    rings = np.array(EYE_RINGS[1:])
    azimuth = np.arange(EYE_SIDES) * (2 * np.pi / EYE_SIDES)
    angle, around = (a.ravel() for a in np.meshgrid(rings, azimuth, indexing="ij"))
    angle, around = np.concatenate([[0.0], angle]), np.concatenate([[0.0], around])
    frame = eye_frame()
    toe = np.radians(-TOE_IN)
    turn = np.array([[np.cos(toe), 0.0, -np.sin(toe)], [0.0, 1.0, 0.0], [np.sin(toe), 0.0, np.cos(toe)]])
    axes = turn @ frame
    vertices = EYE + EYE_RADIUS * on_eye(angle, around) @ axes
    fan = np.stack([np.zeros(EYE_SIDES, int), 1 + np.roll(np.arange(EYE_SIDES), -1), 1 + np.arange(EYE_SIDES)], axis=1)
    triangles = np.concatenate([fan, 1 + grid(len(rings), EYE_SIDES, around=True)])
    patch = held("Eyeball.L", facing_out(vertices, triangles, EYE), np.ones(3), "Eye.L")
    patch = replace(patch, uvs=eye_uvs(angle, around)[patch.triangles])
    return Eyeball(patch, angle, around, axes)


def on_eye(ring: Array, azimuth: Array, pupil: float = 1.0, iris: float = 1.0) -> Array:
    """(V, 3) places on a unit eye (outer, up, gaze) of rings (V,) in degrees, with pupil and iris resized.

    Rings between pupil and iris slide along, those outside the iris make room up to 90 degrees.
    """
    stops = [0.0, PUPIL - 1.5, PUPIL + 1.5, IRIS - 4.5, IRIS + 4.0, 90.0, 180.0]
    moved = [0.0, PUPIL * pupil - 1.5, PUPIL * pupil + 1.5, IRIS * iris - 4.5, IRIS * iris + 4.0, 90.0, 180.0]
    angle = np.radians(np.interp(ring, stops, moved))
    narrow = 1 - PUPIL_NARROWING * ramp(PUPIL + 8, PUPIL - 3, ring)
    place = np.stack([np.sin(angle) * np.cos(azimuth) * narrow, np.sin(angle) * np.sin(azimuth), np.cos(angle)], axis=1)
    return vector.normalise(place) * (1 + CORNEA_BULGE * ramp(np.radians(52), 0, angle))[:, None]


def highlights() -> list[Patch]:
    """Two discs for each eye."""
    return glints(EYE, EYE_RADIUS, eye_frame()[2], HIGHLIGHTS)


LID_RADIUS = {"Upper": 1.081, "Lower": 1.069}  # of the eye's: the upper lid closes over the lower one
LID_SPAN = 86.0  # degrees from the middle to a corner
LID_REST = {"Upper": (43.0, -3.0, -5.0), "Lower": (-46.0, 0.0, 8.0)}  # base, tilt, curve of the edges in degrees
LID_CLOSED = {"Upper": (-20.0, 0.0, 2.0), "Lower": (-22.5, 0.0, 2.0)}
LID_SCALE_SIZE = 0.013  # HL
LID_LENGTH = 96.0  # degrees from edge to hidden end
LID_COLUMNS, LID_ROWS = 41, 13
# the margin rolls inwards in three rows: degrees past the edge, depth under the shell
LID_MARGIN = ((0.5, 0.063), (2.6, 0.035), (2.2, 0.012))


@dataclass(frozen=True, eq=False)
class Lid:
    """A left lid and each vertex's place on it, for shapes that tilt and bend the edge."""

    patch: Patch
    a: Array  # (V,) -1 inner to 1 outer corner
    beta: Array  # (V,) degrees
    radius: Array  # (V,) of the eye's
    share: Array  # (V,) 1 on the edge, 0 at the hidden end: how much of a change of the edge a vertex takes


def lid_edge(a: Array, base: float, tilt: float, curve: float) -> Array:
    """beta(a) = base + tilt a + curve a^2, degrees."""
    return base + tilt * a + curve * a * a


def on_lid(a: Array, beta: Array, radius: Array) -> Array:
    """(V, 3) HL of places on a left lid; beta in degrees, radius in units of the eyeball's."""
    along, turn = np.radians(LID_SPAN * a), np.radians(beta)
    place = np.stack([np.sin(along), np.cos(along) * np.sin(turn), np.cos(along) * np.cos(turn)], axis=-1)
    return EYE + EYE_RADIUS * (radius[..., None] * place) @ eye_frame()


def lid(which: str) -> Lid:
    """The left "Upper" or "Lower" lid at rest."""
    sign = 1.0 if which == "Upper" else -1.0
    a = np.linspace(-1.0, 1.0, LID_COLUMNS)
    margin = lid_edge(a, *LID_REST[which])
    t = np.linspace(0.0, 1.0, LID_ROWS) ** 1.3
    rows = [(margin - sign * past, np.full(LID_COLUMNS, LID_RADIUS[which] - depth), 1.0) for past, depth in LID_MARGIN]
    rows += [(margin + sign * LID_LENGTH * step, np.full(LID_COLUMNS, LID_RADIUS[which]), 1.0 - step) for step in t]
    beta = np.stack([row[0] for row in rows], axis=1)
    radius = np.stack([row[1] for row in rows], axis=1)
    share = np.broadcast_to([row[2] for row in rows], beta.shape)
    across = np.broadcast_to(a[:, None], beta.shape)
    vertices = on_lid(across.ravel(), beta.ravel(), radius.ravel())
    surface = facing_out(vertices, grid(LID_COLUMNS, beta.shape[1]), EYE)
    patch = held(f"Lid{which}.L", surface, np.ones(3), f"Lid{which}.L")
    return Lid(patch, across.ravel(), beta.ravel(), radius.ravel(), share.ravel())


def place_on_lid(points: Array) -> tuple[Array, Array, Array]:
    """(M,) a, beta in degrees and radius, of places (M, 3) on a left lid: the inverse of `on_lid`."""
    local = (points - EYE) @ eye_frame().T / EYE_RADIUS
    radius = np.linalg.norm(local, axis=1)
    along = np.degrees(np.arcsin(np.clip(local[:, 0] / radius, -1, 1)))
    return along / LID_SPAN, np.degrees(np.arctan2(local[:, 1], local[:, 2])), radius


def lid_scale_centres(seed: int = 11) -> Array:
    """(N, 3) of the lids' scales, on the sphere that the shells lie on."""
    middle = 0.5 * (LID_RADIUS["Upper"] + LID_RADIUS["Lower"])
    reach = (middle + 0.1) * EYE_RADIUS
    points = jittered_grid(LID_SCALE_SIZE, seed, np.array(EYE) - reach, np.array(EYE) + reach)
    near = np.abs(np.linalg.norm(points - EYE, axis=1) - middle * EYE_RADIUS) < 0.75 * LID_SCALE_SIZE
    return np.asarray(points[near])


def lid_coat(which: str, points: Array) -> tuple[Array, Array]:
    """(M, 3) sRGB and (M, 3) slope of the bump at places (M, 3) on a left lid: pebbles, and a dark line at the edge."""
    a, beta, radius = place_on_lid(points)
    upper = which == "Upper"
    past = (beta - lid_edge(a, *LID_REST[which])) * (1.0 if upper else -1.0)  # degrees from the edge into the lid
    rolled = ramp(-0.004, -0.020, radius - LID_RADIUS[which])
    relief = pebble_relief(points, lid_scale_centres(), LID_SCALE_SIZE)
    fade = ramp(2.0, 9.0, past) * (1 - rolled)
    skin = mix(PALETTE["skin"], PALETTE["shade"], 0.42) if upper else mix(PALETTE["skin"], PALETTE["warm"], 0.35)
    c = np.tile(skin, (len(points), 1))
    c = mix(c, PALETTE["shade"], (0.35 if upper else 0.30) * ramp(8.0, 40.0, past))
    c = c * (1 + fade * (0.04 * relief.tone - 0.10 * (1 - relief.height)))[:, None]
    line = ramp(3.2, 0.8, past) if upper else 0.55 * ramp(1.0, -1.0, past)
    return mix(c, PALETTE["lash"], np.maximum(line, rolled * (1.0 if upper else 0.55))), (
        ((0.50 if upper else 0.28) * PEBBLE_HEIGHT) * fade[:, None] * relief.slope
    )


def lid_shadow() -> Patch:
    """What the upper lid casts on the left eyeball: a strip below its edge that fades out, hanging on the lid."""
    a = np.linspace(-1.0, 1.0, 25)
    below = np.array([-6.0, 2.0, 8.0, 15.0, 23.0, 32.0])  # degrees under the edge
    beta = lid_edge(a, *LID_REST["Upper"])[:, None] - below
    across = np.broadcast_to(a[:, None], beta.shape)
    vertices = on_lid(across.ravel(), beta.ravel(), np.full(beta.size, SHADOW_HEIGHT))
    strength = np.broadcast_to(0.90 * np.clip((32.0 - below) / 32.0, 0, 1), beta.shape) * ramp(
        1.0, 0.86, np.abs(across)
    )
    colours = np.concatenate([np.tile([0.10, 0.04, 0.08], (beta.size, 1)), strength.reshape(-1, 1)], axis=1)
    return held("LidShadow.L", facing_out(vertices, grid(len(a), len(below)), EYE), colours, "LidUpper.L")


RIBS = np.array([47.0, 19.0, -9.0, -37.0])  # degrees above the fin's own axis
RIB_LENGTHS = np.array([0.335, 0.45, 0.41, 0.28])
FIN_COLUMNS, FIN_ROWS = 40, 11  # across the ribs (three bays), along them


@dataclass(frozen=True, eq=False)
class Fin:
    """The left fin and each vertex's place in the fan."""

    patch: Patch
    across: Array  # (V,) 0 at the first, uppermost rib to 3 at the last
    along: Array  # (V,) 0 at the root to 1 at the edge
    axes: Array  # (3, 3) rows: out, up, forward of the fan


def fin_axes() -> Array:
    """(3, 3) rows: where the fan points, its up, and its front."""
    out = vector.normalise(np.array(FIN_OUT))
    up = np.array([0.05, 1.0, -0.05])
    up = vector.normalise(up - out * (up @ out))
    return np.stack([out, up, np.cross(out, up)])


def fin() -> Fin:
    """The left one at rest."""
    across = np.linspace(0.0, 3.0, FIN_COLUMNS)
    bay = np.clip(across.astype(int), 0, 2)
    within = across - bay
    angle = np.radians(RIBS[bay] + (RIBS[bay + 1] - RIBS[bay]) * within)[:, None]
    length = RIB_LENGTHS[bay] + (RIB_LENGTHS[bay + 1] - RIB_LENGTHS[bay]) * ramp(0.0, 1.0, within)
    length = length * (1 - 0.17 * np.sin(np.pi * np.clip(within, 0, 1)) ** 0.8)
    along = np.linspace(0.0, 1.0, FIN_ROWS)
    rib = np.exp(-((np.minimum(within, 1 - within) / 0.13) ** 2))[:, None]
    reach = (length[:, None] - 0.025) * along**0.95 + 0.045
    cup = 0.6 * (0.12 * np.sin(1.9 * along) - 0.06 * along**2)
    outer = np.maximum(ramp(0.16, 0.0, across), ramp(2.84, 3.0, across))[:, None]  # the first and last rib are sturdier
    thick = (0.012 + 0.010 * rib + 0.004 * outer) * (1 - 0.72 * along) * (0.30 + 0.70 * rib) + 0.0028
    front, back = cup + 0.012 * rib + thick, cup - 0.8 * thick
    x, y = np.cos(angle) * reach, np.sin(angle) * reach
    local = np.concatenate([np.stack([x, y, z], axis=-1).reshape(-1, 3) for z in (front, back)])
    places = EAR_ROOT + local @ fin_axes()
    twice = [np.tile(np.broadcast_to(v, x.shape).ravel(), 2) for v in (across[:, None], along, rib)]
    colours = mix(PALETTE["membrane"], PALETTE["aubergine"], ramp(0.35, 1.0, twice[1]))
    colours = mix(colours, 0.95 * PALETTE["skin"], 0.85 * twice[2] * ramp(1.02, 0.6, twice[1]))
    colours = colours * (0.75 + 0.25 * ramp(0.0, 0.35, twice[1]))[:, None]
    patch = held("Fin.L", (places, _fin_triangles()), colours, _fin_weights(places))
    return Fin(patch, twice[0], twice[1], fin_axes())


def _fin_triangles() -> Array:
    """Front, back, and the strip between them around the border except at the root."""
    number = np.arange(FIN_COLUMNS * FIN_ROWS).reshape(FIN_COLUMNS, FIN_ROWS)
    border = np.concatenate([number[0], number[1:, -1], number[-1, -2::-1]])
    a, b, count = border[:-1], border[1:], number.size
    strip = np.concatenate([np.stack([a, a + count, b + count], axis=1), np.stack([a, b + count, b], axis=1)])
    front = grid(FIN_COLUMNS, FIN_ROWS)
    return np.concatenate([front, front[:, ::-1] + count, strip])


def _fin_weights(places: Array) -> dict[str, Array]:
    """Smooth over the three joints, by the distance along the fan's axis."""
    s = (places - EAR_ROOT) @ fin_axes()[0]
    mid, tip = ((np.array(JOINTS[name][1]) - EAR_ROOT) @ fin_axes()[0] for name in ("EarMid", "EarTip"))
    to_mid = ramp(mid - 0.08, mid + 0.08, s)
    to_tip = ramp(tip - 0.08, tip + 0.08, s)
    return {"Ear.L": 1 - to_mid, "EarMid.L": to_mid - to_mid * to_tip, "EarTip.L": to_mid * to_tip}


CROWN_SPIKES = ((62, 0.050), (84, 0.075), (106, 0.095), (128, 0.108), (150, 0.112), (171, 0.112), (190, 0.108))
"""Spikes on the head: degrees in the midline plane from forward over the top, and height."""

NAPE_SPIKES = (
    (-0.17, 0.105),
    (-0.32, 0.10),
    (-0.46, 0.092),
    (-0.59, 0.084),
    (-0.71, 0.076),
    (-0.82, 0.07),
    (-0.92, 0.064),
)
"""Spikes on the neck: y and height."""

# x, length and radius of the left teeth, from the middle outwards: milk teeth, small and blunt
UPPER_TEETH = (
    (0.028, 0.042, 0.012),
    (0.066, 0.044, 0.0125),
    (0.112, 0.090, 0.0178),
    (0.153, 0.046, 0.013),
    (0.186, 0.042, 0.012),
    (0.214, 0.037, 0.011),
)
LOWER_TEETH = (
    (0.046, 0.046, 0.012),
    (0.086, 0.043, 0.012),
    (0.132, 0.056, 0.015),
    (0.168, 0.044, 0.012),
    (0.198, 0.040, 0.011),
)
TOOTH_ROOT = 0.022  # HL that a tooth stands in the flesh
TOOTH_BEHIND_LIPS = 0.033  # HL from the outside of the lips to a tooth
FANG = 2  # the third upper one
TOOTH_RINGS = np.array([0.0, 0.3, 0.55, 0.78, 0.93, 1.0])  # rings along a tooth
TOOTH_SIDES = 8


@dataclass(frozen=True, eq=False)
class Spike:
    """A spike and where it stands, whose hold on the joints it takes from the skin there."""

    patch: Patch
    base: Array  # (3,) on the skin
    outwards: Array  # (3,)
    height: float
    place: str  # crown, nape or neck


def horn() -> Patch:
    """The left horn, ringed, pale towards the tip."""
    sides, t = 14, np.linspace(0.0, 1.0, 22)
    path = bezier([[0.175, 0.37, -0.15], [0.24, 0.52, -0.19], [0.31, 0.52, -0.33], [0.26, 0.63, -0.43]], t)
    radii = 0.066 * (1 - t) ** 0.72 * (1 + 0.07 * np.sin(34 * t) * (1 - t)) + 0.010
    along = np.append(np.repeat(t, sides), 1.0)
    colours = mix(PALETTE["aubergine"], PALETTE["horn_tip"], ramp(0.35, 1.0, along))
    rings = 0.35 * (np.sin(34 * along) < -0.2) * (along < 0.7)
    return held("Horn.L", sweep(path, radii, sides), mix(colours, 0.7 * PALETTE["aubergine"], rings), "Head")


def spikes() -> list[Spike]:
    """Fourteen on the midline, leaning backwards, tallest at the back of the head."""
    result = []
    for number, (degrees, height) in enumerate(CROWN_SPIKES, 1):
        outwards = np.array([0.0, np.sin(np.radians(degrees)), np.cos(np.radians(degrees))])
        base = sculpt.along_ray([0.0, 0.10, -0.075], outwards, 0.1, 0.8)
        place = "crown" if number <= 4 else "nape"
        result.append(_spike(f"Spike{number}", base, outwards, height, place))
    for number, (y, height) in enumerate(NAPE_SPIKES, len(CROWN_SPIKES) + 1):
        base = sculpt.along_ray([0.0, y, 0.0], [0.0, 0.0, -1.0], 0.2, 0.9)
        outwards = sculpt.unit_gradient(base[None], 0.01)[0] * [0.0, 1.0, 1.0]
        result.append(_spike(f"Spike{number}", base, vector.normalise(outwards), height, "neck"))
    return result


def _spike(name: str, base: Array, outwards: Array, height: float, place: str) -> Spike:
    back = np.array([0.0, outwards[2], -outwards[1]])  # along the midline, away from the nose
    sides, t = 12, np.linspace(0.0, 1.0, 8)
    path = bezier(
        [base - 0.03 * outwards, base + 0.55 * height * outwards, base + height * (0.95 * outwards + 0.75 * back)], t
    )
    radii = 0.55 * height * np.sqrt(np.clip(1 - t**1.6, 0, 1)) * 0.9 + 0.004
    half = sweep(path, radii, sides, flat=0.58, half=True)
    along = np.append(np.repeat(t, sides // 2 + 1), 1.0)
    colours = mix(PALETTE["aubergine"], PALETTE["spike_tip"], 0.8 * ramp(0.5, 1.05, along))
    return Spike(midline(name, half, colours, "Head"), base, outwards, height, place)


def teeth() -> list[Patch]:
    """The left ones, rooted in the lips' flesh."""
    result = []
    for number, (x, length, radius) in enumerate(UPPER_TEETH):
        if number == FANG:
            path = _fang(x)
        else:
            path = _straight(_in_lips(x, TOOTH_ROOT, TOOTH_BEHIND_LIPS), [0.0, -1.0, 0.10], length)
        result.append(_tooth(f"ToothUpper{number + 1}.L", path, radius, "Head"))
    for number, (x, length, radius) in enumerate(LOWER_TEETH):
        path = _straight(_in_lips(x, -TOOTH_ROOT, TOOTH_BEHIND_LIPS), [0.0, 1.0, 0.05], length)
        result.append(_tooth(f"ToothLower{number + 1}.L", path, radius, "Jaw"))
    return result


def _fang(x: float) -> Array:
    """Out of the upper lip's flesh, then down in front of the lower lip, where it shows when the mouth is closed."""
    root, lip, tip = _in_lips(x, 0.036, 0.036), _in_lips(x, -0.006, 0.008), _in_lips(x, -0.052, -0.006)
    return bezier([root, 2 * lip - 0.5 * (root + tip), tip], TOOTH_RINGS)


def _straight(root: Array, toward: list[float], length: float) -> Array:
    return root + vector.normalise(np.array(toward)) * (TOOTH_RINGS[:, None] * length)


def _in_lips(x: float, above: float, depth: float) -> Array:
    """(3,) the frontmost point at that x, `above` the lips' sheet, that lies `depth` under the closed skin."""
    z = np.linspace(0.66, 0.1, 2000)
    points = np.stack([np.full_like(z, x), np.zeros_like(z), z], axis=1)
    points[:, 1] = sculpt.lip_sheet(points) + above
    return np.asarray(points[np.argmax(sculpt.distance(points, "closed") < -depth)])


def _tooth(name: str, path: Array, radius: float, joint: str) -> Patch:
    """Narrow in the flesh, widest where it leaves it, with a rounded tip."""
    radii = radius * (0.80 + 0.20 * ramp(0.0, 0.35, TOOTH_RINGS)) * np.sqrt(1 - (0.985 * TOOTH_RINGS) ** 2.4)
    root = ramp(0.60, 0.30, np.append(np.repeat(TOOTH_RINGS, TOOTH_SIDES), 1.0))
    colours = mix(PALETTE["tooth"], 0.75 * PALETTE["tooth"] + 0.12 * PALETTE["gum"], root)
    return held(name, sweep(path, radii, TOOTH_SIDES), colours, joint)


def plinth() -> Patch:
    """The disc that hides the neck's cut and makes a sculptor's maquette of the whole."""
    profile = np.array([[0.31, -0.99], [0.35, -0.998], [0.365, -1.02], [0.36, -1.045], [0.335, -1.06], [0.0, -1.06]])
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 29)
    across = np.where(np.abs(np.cos(angle)) < 1e-12, 0.0, np.cos(angle))
    ring = np.stack([across, np.zeros_like(angle), np.sin(angle)], axis=1)
    rings = profile[:-1, :1, None] * ring + np.array([0.0, 0.0, -0.115])
    rings[..., 1] = profile[:-1, 1:]
    below, above = np.array([0.0, profile[-1, 1], -0.115]), np.array([0.0, profile[0, 1], -0.115])
    vertices = np.concatenate([rings.reshape(-1, 3), below[None], above[None]])
    count = len(angle)
    last, first = np.arange(count) + count * (len(profile) - 2), np.arange(count)
    fans = [
        np.stack([last[:-1], last[1:], np.full(count - 1, len(vertices) - 2)], axis=1),
        np.stack([first[1:], first[:-1], np.full(count - 1, len(vertices) - 1)], axis=1),
    ]
    triangles = np.concatenate([grid(len(profile) - 1, count), *fans])
    half = facing_out(vertices, triangles, (0.0, -1.02, -0.115))
    return midline("Plinth", half, PALETTE["plinth"], "Root")


TONGUE_PATH = ((0, -0.235, -0.045), (0, -0.160, 0.13), (0, -0.205, 0.30), (0, -0.190, 0.425))
TONGUE_WIDTH, TONGUE_FLATNESS = 0.112, 0.28  # half the width, and the height as a share of it
TONGUE_WIDEST = 0.52  # along it
TONGUE_RINGS, TONGUE_SIDES = 22, 20


@dataclass(frozen=True, eq=False)
class Tongue:
    """The tongue and each vertex's place along it."""

    patch: Patch
    along: Array  # (V,) 0 at the root to 1 at the tip


def tongue() -> Tongue:
    """Made at rest in the closed mouth."""
    # rings crowd towards the tip, which is a half-ellipse: even steps would cut it off square
    t = 1 - (1 - np.linspace(0.0, 1.0, TONGUE_RINGS)) ** 1.7
    path = bezier(TONGUE_PATH, t)
    body = 0.55 + 0.45 * ramp(-0.1, TONGUE_WIDEST, t)
    tip = np.sqrt(np.clip(1 - (np.clip(t - TONGUE_WIDEST, 0, 1) / (1.0005 - TONGUE_WIDEST)) ** 2.3, 0.0, 1.0))
    radii = TONGUE_WIDTH * np.where(t < TONGUE_WIDEST, body, tip) + 0.0015
    vertices, triangles = sweep(path, radii, TONGUE_SIDES, half=True)
    columns = TONGUE_SIDES // 2 + 1
    along = np.append(np.repeat(t, columns), 1.0)
    middle = np.concatenate([np.repeat(path, columns, axis=0), vertices[-1:]])[:, 1]
    top = vertices[:, 1] > middle
    vertices[:, 1] = middle + TONGUE_FLATNESS * (vertices[:, 1] - middle)
    vertices[:, 1] -= 0.007 * np.exp(-((vertices[:, 0] / 0.022) ** 2)) * ramp(1.0, 0.6, along) * top
    groove = np.exp(-((vertices[:, 0] / 0.018) ** 2)) * top * ramp(1.0, 0.7, along)
    colours = mix(PALETTE["tongue"], 0.72 * PALETTE["tongue"], 0.5 * groove)
    colours = mix(colours, 0.7 * PALETTE["mouth"], ramp(0.50, 0.12, along))
    patch = midline("Tongue", (vertices, triangles), colours, _tongue_weights(vertices[:, 2]))
    mirrored_along = np.concatenate([along, along[patch.twin[len(along) :]]])
    return Tongue(patch, mirrored_along)


def _tongue_weights(z: Array) -> dict[str, Array]:
    """Partition of unity over Jaw, Tongue1 .. Tongue4: each takes over around its own place."""
    names = ("Tongue1", "Tongue2", "Tongue3", "Tongue4")
    taken = np.cumprod(
        [np.ones_like(z), *(ramp(JOINTS[n][1][2] - 0.05, JOINTS[n][1][2] + 0.05, z) for n in names), 0 * z], axis=0
    )
    return {name: taken[i] - taken[i + 1] for i, name in enumerate(("Jaw", *names))}
