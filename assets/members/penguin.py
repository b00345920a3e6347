"""The penguin: round, with flippers, short legs and a scarf; sculpted, painted and hung on its joints. Metres.

Flippers and legs grow out of the body without a common skin: so a flipper can be raised above the head and a leg swung
forwards without the belly folding, as on a toy with joints. Their round roots lie within the body. Colours are
functions of the place (M, 3), sRGB.
"""

from __future__ import annotations

import numpy as np

from assets.members.skeletons import penguin_skeleton
from assets.sculpting import eyes, geometry
from assets.sculpting.clay import Clay, above, bar, ellipsoid, lopsided, ring, skin_weights
from assets.sculpting.coat import EYE_MATERIALS, Coated, coat, material_extra, mix, waves
from assets.sculpting.eyes import Edge, Eye
from assets.sculpting.fields import isosurface, ramp
from assets.sculpting.geometry import bezier, facing_out, superellipsoid
from assets.sculpting.meshing import Patch, assemble, held, modelled, remesh, symmetric
from understudy.character import Character, Material
from understudy.checks import Array
from understudy.maths.colour import from_hex

BODY = Clay(
    (
        ellipsoid("Hips", (0, 0.25, 0), (0.240, 0.20, 0.215)),
        ellipsoid("Spine", (0, 0.36, 0.008), (0.262, 0.23, 0.238), 0.15),
        ellipsoid("Chest", (0, 0.51, 0), (0.215, 0.19, 0.195), 0.15),
        ellipsoid("Neck", (0, 0.655, 0.005), (0.150, 0.11, 0.140), 0.09),
        ellipsoid("Head", (0, 0.785, 0.015), (0.208, 0.188, 0.192), 0.08),
        ellipsoid("Head", (0.100, 0.735, 0.095), (0.092, 0.075, 0.080), 0.08),  # cheek
        ellipsoid("Head", (0.0812, 0.8055, 0.1335), (0.0685, 0.0685, 0.0685), 0.025),  # what the eye lies in
        bar("Tail", (0, 0.15, -0.19), (0, 0.085, -0.31), 0.065, 0.016, 0.08),
        above(0.035, 0.05),
    )
)

FLIPPER = Clay(
    (
        ellipsoid("LeftFlipper", (0.222, 0.545, 0.0), (0.046, 0.060, 0.072), 0.05, (0, 0, 24)),
        ellipsoid("LeftFlipper", (0.272, 0.470, 0.0), (0.036, 0.125, 0.082), 0.06, (0, 0, 28)),
        ellipsoid("LeftFlipperTip", (0.336, 0.352, 0.004), (0.025, 0.120, 0.062), 0.05, (0, 0, 27)),
        ellipsoid("LeftFlipperTip", (0.372, 0.270, 0.006), (0.018, 0.062, 0.042), 0.05, (0, 0, 27)),
    )
)

LEG = Clay(
    (
        bar("LeftLeg", (0.11, 0.15, 0), (0.115, 0.055, 0.01), 0.075, 0.056, 0.07),
        ellipsoid("LeftFoot", (0.120, 0.034, 0.045), (0.074, 0.036, 0.095), 0.03),
        *(
            bar("LeftToe", (0.120, 0.032, 0.07), (x, 0.027, z), 0.032, 0.030, 0.022)
            for x, z in ((0.060, 0.165), (0.122, 0.192), (0.184, 0.165))
        ),
        above(0.002, 0.012),
    )
)

SCARF = Clay(
    (
        ring("Neck", (0, 0.628, 0.008), 0.172, 0.046, 0.02, (7, 0, 0), 1.10),
        *lopsided(
            (
                ellipsoid("Chest", (0.095, 0.592, 0.188), (0.050, 0.044, 0.042), 0.025),  # knot
                ellipsoid("Chest", (0.122, 0.500, 0.226), (0.048, 0.092, 0.022), 0.02, (-14, 10, 12)),
                ellipsoid("Chest", (0.062, 0.515, 0.228), (0.042, 0.074, 0.020), 0.015, (-14, 0, -8)),
            )
        ),
    )
)

DRESSED = Clay((*BODY.solids, *SCARF.solids))  # limbs throw no lasting shade: they move away


PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "back": "#20263D",
        "back_light": "#363F62",
        "belly": "#F4E7D3",
        "belly_shade": "#E3CDB4",
        "patch": "#EFA93A",
        "blush": "#E59A86",
        "mouth": "#5A1E2A",
        "tongue": "#C4605C",
        "beak": "#DE8030",
        "beak_shade": "#B85A20",
        "scarf": "#B8452F",
        "scarf_shade": "#8E3226",
        "stripe": "#E8C9A0",
    }.items()
}


def feather_colours(points: Array) -> Array:
    """The dark of the back and the flippers."""
    y, noise = points[:, 1], waves(points, 14.0, 1)
    return mix(PALETTE["back"], PALETTE["back_light"], 0.30 * ramp(-0.2, 0.8, noise) + 0.25 * ramp(0.3, 0.9, y))


def body_colours(points: Array) -> Array:
    """Dark back, cream belly and a heart of a face: two ellipses a side that meet over the beak."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    c = feather_colours(points)
    angle = np.degrees(np.arctan2(x, z)) + 1.2 * waves(points, 26.0, 3)
    border = np.interp(y, [0.05, 0.15, 0.35, 0.55, 0.64, 0.68], [58, 62, 62, 50, 34, 20])
    belly = ramp(1.6, -1.6, angle - border) * ramp(0.685, 0.675, y)
    heart = np.minimum(
        np.hypot((x - 0.082) / 0.100, (y - 0.795) / 0.098), np.hypot((x - 0.075) / 0.125, (y - 0.715) / 0.085)
    )
    face = ramp(1.02, 0.98, heart) * ramp(0.03, 0.05, z) * (y > 0.60)
    cream = mix(PALETTE["belly"], PALETTE["belly_shade"], 0.6 * ramp(0.30, 0.08, y))
    c = mix(c, cream, np.maximum(belly, face))
    collar = np.exp(-(((y - 0.595) / 0.040) ** 2)) * ramp(0.10, 0.16, z)
    c = mix(c, PALETTE["patch"], 0.55 * collar * belly)  # the yellow throat, mostly under the scarf
    blush = np.exp(-(((x - 0.135) / 0.038) ** 2) - ((y - 0.715) / 0.030) ** 2) * (z > 0.05)
    c = mix(c, PALETTE["blush"], 0.75 * blush)
    throat = np.hypot(x / 0.048, (y - 0.741) / 0.021)  # behind the beak, seen when it opens
    return mix(c, PALETTE["mouth"], ramp(1.1, 0.9, throat) * (z > 0.1))


def flipper_colours(points: Array) -> Array:
    """Dark outside, paler within and along the rim."""
    inside = ramp(0.01, -0.02, points[:, 0] - 0.245 - 0.50 * (0.52 - points[:, 1]))
    return mix(feather_colours(points), mix(PALETTE["back_light"], PALETTE["belly"], 0.15), 0.6 * inside)


def leg_colours(points: Array) -> Array:
    """Orange feet, shaded where the toes part."""
    seams = ramp(0.012, 0.0, LEG(points) + 0.35 * LEG.near(points, "LeftToe"))
    c = mix(PALETTE["beak"], PALETTE["beak_shade"], 0.55 * ramp(0.05, 0.11, points[:, 1]))
    return mix(c, PALETTE["beak_shade"], 0.25 * seams)


def scarf_colours(points: Array) -> Array:
    """Brick red with cream stripes round the neck and at the ends."""
    x, y, z = points.T
    round_neck = ramp(0.60, 0.72, np.sin(9 * np.arctan2(x, z) + 1))
    round_neck = round_neck * ramp(0.013, 0.010, SCARF.near(points, "Neck"))
    ends = ramp(0.30, 0.45, np.sin(150 * y)) * (y < 0.47)
    c = mix(PALETTE["scarf"], PALETTE["scarf_shade"], 0.35 * ramp(-0.4, 0.6, waves(points, 20.0, 4)))
    upper = ramp(0.565, 0.575, y)
    return mix(c, PALETTE["stripe"], upper * round_neck + (1 - upper) * ends)


def knitted_slope(points: Array) -> Array:
    """(M, 3) slope of the scarf's ribs."""
    x, z = points[:, 0], points[:, 2]
    around = np.arctan2(x, z)
    along = np.stack([z, np.zeros_like(x), -x], axis=1) / np.maximum(x * x + z * z, 1e-6)[:, None]
    return (0.30 * np.cos(64 * around) * ramp(0.10, 0.16, np.hypot(x, z)))[:, None] * along * 0.2


def downy_slope(points: Array) -> Array:
    """(M, 3) slope of short plumage, strokes that run down."""
    rng = np.random.default_rng(11)
    ways = rng.normal(size=(8, 3)) * [380.0, 80.0, 380.0]
    return 0.0004 * (np.cos(points @ ways.T + rng.uniform(0, 6.3, 8)) @ ways) / 8


EYE = Eye(
    place=(0.085, 0.806, 0.148),
    radius=0.066,
    yaw=15.0,
    pitch=2.0,
    iris=52.0,
    pupil=31.0,
    upper=Edge(52.0, -2.0, -20.0),
    lower=Edge(-50.0, 0.0, 16.0),
    colours={"iris": "#3E7FA0", "dark": "#102436", "light": "#8AD0DC", "lid": "#E2CDB8", "lash": "#20182A"},
    toe_in=4.0,
)

MATERIALS = {
    "Skin": Material(
        "plumage", roughness=0.72, extra=material_extra(0.6, sheen={"sheenColorFactor": [0.05, 0.06, 0.09]})
    ),
    "Beak": Material("beak", roughness=0.38, extra=material_extra(0.5)),
    **EYE_MATERIALS,
}


def build() -> Character:
    """The penguin."""
    skin, textures = coat("penguin", [coated_body(), coated_flipper(), coated_leg(), coated_scarf()], 1024)
    patches = {
        "Skin": skin,
        "Beak": beak(),
        **eyes.eye_parts(EYE),
    }
    all_textures = {"Skin": textures, "Eyes": eyes.eye_texture("penguin_eye", EYE)}
    return assemble("penguin", penguin_skeleton(), patches, MATERIALS, all_textures, eyes.eye_shapes(EYE))


def coated_body() -> Coated:
    """The egg, the head and the tail."""
    work = isosurface(BODY, (0, -0.02, -0.40), (0.34, 1.02, 0.32), 0.010)
    remesh(work, 0.017)
    mesh = symmetric(work, BODY)
    weights = skin_weights(BODY, mesh, 0.12, {"Head": 0.07}, rounds=16)
    patch = Patch("Body", mesh.vertices, mesh.triangles, np.ones((len(mesh.vertices), 3)), weights, mesh.mirror)
    return Coated(patch, BODY, body_colours, DRESSED, downy_slope, halves=True)


def coated_flipper() -> Coated:
    """The left one."""
    mesh = modelled(FLIPPER, (0.14, 0.18, -0.12), (0.46, 0.64, 0.12), 0.007, 0.0125)
    weights = skin_weights(FLIPPER, mesh, 0.16, rounds=12)
    patch = held("Flipper.L", (mesh.vertices, mesh.triangles), np.ones(3), weights)
    return Coated(patch, FLIPPER, flipper_colours, FLIPPER, downy_slope, paired=True)


def coated_leg() -> Coated:
    """The left one with its foot."""
    mesh = modelled(LEG, (0.0, -0.02, -0.12), (0.26, 0.26, 0.26), 0.006, 0.0105)
    weights = skin_weights(LEG, mesh, 0.035, {"LeftToe": 0.03}, rounds=6)
    patch = held("Leg.L", (mesh.vertices, mesh.triangles), np.ones(3), weights)
    return Coated(patch, LEG, leg_colours, LEG, paired=True)


def coated_scarf() -> Coated:
    """Round the neck, tied on one side; its ends lie on the chest."""
    mesh = modelled(SCARF, (-0.3, 0.36, -0.3), (0.3, 0.75, 0.34), 0.008, 0.0135)
    neck = ramp(0.595, 0.66, mesh.vertices[:, 1])
    patch = held("Scarf", (mesh.vertices, mesh.triangles), np.ones(3), {"Neck": neck, "Chest": 1 - neck})
    return Coated(patch, SCARF, scarf_colours, DRESSED, knitted_slope)


def beak() -> list[Patch]:
    """The upper half on the head, the lower with the tongue on the jaw."""
    t = np.linspace(0.0, 1.0, 22)
    result = []
    for name, joint, path, wide, high, shade in (
        ("BeakUpper", "Head", [(0, 0.748, 0.10), (0, 0.782, 0.240), (0, 0.742, 0.322)], 0.064, 0.037, 0.0),
        ("BeakLower", "Jaw", [(0, 0.738, 0.10), (0, 0.730, 0.240), (0, 0.735, 0.290)], 0.054, 0.022, 0.55),
    ):
        base = 0.55 + 0.45 * ramp(0.0, 0.45, t)
        across = wide * base * np.sqrt(np.clip(1 - t**1.9, 0, 1)) + 0.003
        up = high * base * np.sqrt(np.clip(1 - t**2.2, 0, 1)) + 0.002
        vertices = geometry.oval_tube(bezier(path, t), up, across, 28, (0, 1, 0))
        surface = facing_out(vertices, geometry.oval_tube_triangles(len(t), 28))
        colour = mix(PALETTE["beak"], PALETTE["beak_shade"], shade)
        dark = 1 - 0.28 * ramp(0.30, 0.15, vertices[:, 2])
        result.append(held(name, surface, colour * dark[:, None], joint))
    tongue = superellipsoid((0, 0.741, 0.195), (0.034, 0.008, 0.066), 1.0)
    return [*result, held("Tongue", tongue, PALETTE["tongue"], "Jaw")]
