"""The actor's figure: long legs, a big head, big hands and big shoes; sculpted, painted and hung on its joints.

Cuffs, collar and the ends of the trousers are rings, so that borders of colour sit on geometry. Colours are functions
of the place (M, 3), sRGB. Brows and mouth lie on the skin. The mouth is a lens between two curves,
y = c + l (x/w)^2 +- h sqrt(1 - (x/w)^2): a thin line at rest, with teeth and dark that come out of the skin when it
opens. The motion is made by `actor_motion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assets.members.skeletons import ACTOR_JOINTS, actor_skeleton
from assets.sculpting import eyes
from assets.sculpting.clay import (
    FRONT_DEPTH,
    Clay,
    Solid,
    above,
    bar,
    below,
    chain,
    ellipsoid,
    line_on_front,
    lopsided,
    ring,
    skin_weights,
)
from assets.sculpting.coat import EYE_MATERIALS, Coated, coat, material_extra, mix, waves
from assets.sculpting.eyes import Edge, Eye
from assets.sculpting.fields import isosurface, ramp, unit_gradient
from assets.sculpting.geometry import bezier, facing_out, grid
from assets.sculpting.meshing import Patch, assemble, held, modelled, pair, remesh, symmetric
from understudy.character import Character, Material
from understudy.checks import Array
from understudy.maths.colour import from_hex

JOINT_PLACES: dict[str, Array] = {name: np.array(place) for name, (_, place) in ACTOR_JOINTS.items()}
FINGERS = ((0.048, 0.178, 0.0), (0.017, 0.198, 0.003), (-0.014, 0.190, 0.002), (-0.043, 0.166, -0.002))  # z, x, y


def between(a: str, b: str, share: float, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> list[float]:
    """A place on the way from one joint to another, moved by an offset."""
    found: list[float] = (JOINT_PLACES[a] + share * (JOINT_PLACES[b] - JOINT_PLACES[a]) + offset).tolist()
    return found


def beside(joint: str, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> list[float]:
    """A place beside a joint."""
    found: list[float] = (JOINT_PLACES[joint] + [x, y, z]).tolist()
    return found


def _trunk() -> list[Solid]:
    return [
        ellipsoid("Hips", (0, 1.145, 0.012), (0.182, 0.120, 0.142)),
        ellipsoid("LowerBack", (0, 1.255, 0.004), (0.168, 0.115, 0.130), 0.10),
        ellipsoid("Spine", (0, 1.360, -0.002), (0.178, 0.120, 0.135), 0.10),
        ellipsoid("Spine1", (0, 1.450, -0.012), (0.192, 0.105, 0.132), 0.10),
        bar("LeftShoulder", (0.08, 1.482, -0.018), (0.200, 1.506, -0.020), 0.088, 0.078, 0.09),
        bar("Neck", (0, 1.49, -0.01), (0, 1.575, 0.0), 0.070, 0.066, 0.05),
        bar("Neck1", (0, 1.575, 0), (0, 1.68, 0.008), 0.064, 0.062, 0.04),
        ring("Neck", (0, 1.568, -0.004), 0.064, 0.022, 0.018, (8, 0, 0)),
    ]


def _arm() -> list[Solid]:
    return [
        bar("LeftArm", beside("LeftArm"), beside("LeftForeArm"), 0.079, 0.066, 0.07),
        bar("LeftForeArm", beside("LeftForeArm"), beside("LeftHand", -0.02), 0.066, 0.054, 0.012),
        ring("LeftForeArm", beside("LeftHand", -0.035), 0.047, 0.021, 0.014, (0, 0, 90)),
        ellipsoid("LeftHand", beside("LeftHand", 0.062, -0.004, 0.004), (0.070, 0.034, 0.058), 0.02),
        *(bar("LeftHandIndex1", *finger, 0.0225, 0.0195, 0.012) for finger in _fingers()),
        bar(
            "LThumb",
            beside("LeftHand", 0.030, -0.006, 0.048),
            beside("LeftHand", 0.092, -0.016, 0.108),
            0.027,
            0.0215,
            0.018,
        ),
    ]


def _fingers() -> list[tuple[list[float], list[float]]]:
    """From where each begins in the palm to its tip."""
    return [
        (beside("LeftHand", 0.095, y - 0.004, z), beside("LeftHand", x, y - 0.012, 1.12 * z)) for z, x, y in FINGERS
    ]


def _leg() -> list[Solid]:
    thigh = between("LeftUpLeg", "LeftLeg", 0.20, (0, 0, -0.030))
    calf = between("LeftLeg", "LeftFoot", 0.32, (0, 0, -0.020))
    return [
        bar("LeftUpLeg", beside("LeftUpLeg", 0, 0.02), beside("LeftLeg"), 0.126, 0.086, 0.07),
        ellipsoid("LeftUpLeg", thigh, (0.118, 0.16, 0.115), 0.06, (0, 0, 20)),
        bar("LeftLeg", beside("LeftLeg"), between("LeftFoot", "LeftLeg", 0.14), 0.086, 0.064, 0.014),
        ellipsoid("LeftLeg", calf, (0.076, 0.16, 0.080), 0.05, (0, 0, 20)),
        ring("LeftLeg", between("LeftFoot", "LeftLeg", 0.17), 0.058, 0.026, 0.014, (0, 0, 20)),
        bar(
            "LeftFoot", beside("LeftFoot", 0, 0.015, -0.01), beside("LeftFoot", 0.004, -0.010, 0.02), 0.058, 0.066, 0.03
        ),
        ellipsoid("LeftFoot", beside("LeftFoot", 0.008, -0.024, 0.060), (0.076, 0.064, 0.140), 0.03),
        ellipsoid("LeftToeBase", beside("LeftToeBase", 0.004, 0.022, 0.040), (0.082, 0.062, 0.105), 0.05),
    ]


def _head() -> list[Solid]:
    return [
        ellipsoid("Head", (0, 1.830, 0.010), (0.180, 0.195, 0.190), 0.03),
        ellipsoid("Head", (0, 1.740, 0.050), (0.135, 0.100, 0.122), 0.09),  # jaw
        ellipsoid("Head", (0.092, 1.750, 0.092), (0.070, 0.062, 0.068), 0.06),  # cheek
        ellipsoid("Head", (0, 1.783, 0.205), (0.027, 0.024, 0.030), 0.03),  # nose
        ellipsoid("Head", (0.0662, 1.8200, 0.1340), (0.0582, 0.0582, 0.0582), 0.016),  # what the eye lies in
        ellipsoid("Head", (0.180, 1.795, -0.002), (0.022, 0.046, 0.034), 0.02, (0, -20, -8)),  # ear
    ]


BODY = Clay((*_trunk(), *_arm(), *_leg(), *_head(), above(0.004, 0.010)))

HAIR_LOCKS = (
    ((0.06, 2.015, 0.06), (0.02, 2.045, 0.15), (-0.07, 2.01, 0.19), (-0.150, 1.915, 0.150)),
    ((0.06, 2.015, 0.04), (-0.04, 2.07, 0.10), (-0.155, 2.00, 0.10), (-0.195, 1.865, 0.075)),
    ((0.06, 2.01, 0.06), (0.105, 2.015, 0.145), (0.155, 1.97, 0.130), (0.172, 1.885, 0.110)),
    ((0.04, 2.01, 0.0), (0.0, 2.09, -0.06), (-0.03, 2.115, -0.12), (-0.02, 2.115, -0.17)),
)


def _hair_solids() -> list[Solid]:
    """A cap that is open over the face and below the nape, and four locks."""
    t = np.linspace(0.0, 1.0, 48)
    radii = 0.9 * 0.064 * (1 - t**1.6) + 0.006
    cap = [
        ellipsoid("Head", (0, 1.852, -0.010), (0.196, 0.192, 0.198)),
        ellipsoid("", (0, 1.765, 0.185), (0.176, 0.152, 0.160), 0.03, way="carve"),
        below((0, 1.795, -0.03), 0.03, (156.0, 0, 0)),
    ]
    return lopsided([*cap, *(solid for lock in HAIR_LOCKS for solid in chain("Head", bezier(lock, t), radii, 0.03))])


HAIR = Clay(tuple(_hair_solids()))


PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "skin": "#C98266",
        "shade": "#A75D45",
        "blush": "#D9644F",
        "top": "#1F807E",
        "top_dark": "#155C63",
        "legs": "#3A3550",
        "legs_light": "#4A4468",
        "shoe": "#C9543A",
        "sole": "#F2E6D2",
        "lace": "#F2E6D2",
        "hair": "#4E2A3A",
        "hair_light": "#84424F",
        "mouth": "#7A352E",
    }.items()
}
HEM = 1.085  # metres: where the jumper ends
SLEEVE = float(JOINT_PLACES["LeftHand"][0]) - 0.012


def body_colours(points: Array) -> Array:
    """All but the hair."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    c = mix(PALETTE["top"], PALETTE["top_dark"], 0.25 * ramp(-0.5, 0.8, waves(points, 12.0, 2)))
    c = mix(c, PALETTE["top_dark"], 0.8 * ramp(0.013, 0.010, np.abs(y - HEM - 0.012)) * (x < 0.3))
    trousers = mix(PALETTE["legs"], PALETTE["legs_light"], 0.5 * ramp(-0.4, 0.8, waves(points, 10.0, 3)))
    c = mix(c, trousers, ramp(HEM + 0.001, HEM - 0.001, y) * (x < 0.75))
    c = mix(c, PALETTE["top_dark"], 0.8 * ramp(0.024, 0.020, np.abs(x - (SLEEVE - 0.023))) * (y > 1.3))
    c = mix(c, PALETTE["skin"], ramp(SLEEVE - 0.001, SLEEVE + 0.001, x) * (y > 1.2))
    c = _collar_colours(x, y, z, c)
    c = _shoe_colours(x, y, z, c)
    return _face_colours(x, y, z, c)


def _collar_colours(x: Array, y: Array, z: Array, c: Array) -> Array:
    away, edge = np.hypot(x, z + 0.004), 1.572 - 0.14 * (z + 0.004)
    c = mix(
        c, PALETTE["top_dark"], 0.8 * ramp(0.028, 0.024, np.abs(y - edge + 0.006)) * (away < 0.105) * (y < edge + 0.026)
    )
    neck = np.maximum(ramp(-0.001, 0.002, y - edge - 0.024) * (away < 0.085), ramp(1.630, 1.634, y) * (x < 0.3))
    return mix(c, PALETTE["skin"], neck)


def _shoe_colours(x: Array, y: Array, z: Array, c: Array) -> Array:
    ankle, shin = JOINT_PLACES["LeftFoot"], JOINT_PLACES["LeftLeg"] - JOINT_PLACES["LeftFoot"]
    up = (np.stack([x, y, z], axis=1) - ankle) @ (shin / np.linalg.norm(shin))
    low = y < 0.3
    c = mix(c, PALETTE["shoe"], ramp(0.060, 0.057, up) * low)
    toe = z - JOINT_PLACES["LeftToeBase"][2] - 0.055 - 0.54 * np.maximum(y - 0.05, 0.0)
    c = mix(c, PALETTE["sole"], ramp(0.0, 0.004, toe) * (y < 0.20) * low)
    c = mix(c, PALETTE["sole"], ramp(0.031, 0.028, y) * low)
    along = (z - JOINT_PLACES["LeftFoot"][2] - 0.075) / 0.020  # laces over the instep
    lace = ramp(0.34, 0.22, np.abs(along - np.round(along))) * (np.abs(along) < 1.6) * (y > 0.085)
    lace = lace * ramp(0.040, 0.034, np.abs(x - JOINT_PLACES["LeftFoot"][0] - 0.008))
    return mix(c, PALETTE["lace"], 0.9 * lace * ramp(0.052, 0.048, up) * low)


def _face_colours(x: Array, y: Array, z: Array, c: Array) -> Array:
    blush = np.exp(-(((x - 0.105) / 0.038) ** 2) - ((y - 1.755) / 0.028) ** 2) * (z > 0.08)
    nose = np.exp(-((x / 0.03) ** 2) - ((y - 1.783) / 0.025) ** 2) * (z > 0.18)
    c = mix(c, PALETTE["blush"], 0.60 * blush + 0.35 * nose)
    ear = np.hypot((y - 1.797) / 0.030, (z + 0.004) / 0.020)
    c = mix(c, PALETTE["shade"], 0.45 * ramp(1.0, 0.4, ear) * (x > 0.187) * (y > 1.7) * (x < 0.3))
    return mix(c, PALETTE["hair"], _hairline(x, y, z))


def _hairline(x: Array, y: Array, z: Array) -> Array:
    """(M,) where the scalp is painted as hair, so that no skin shows between locks."""
    above = y - np.interp(z, [-0.2, -0.08, 0.0, 0.06, 0.12, 0.2], [1.735, 1.745, 1.84, 1.885, 1.945, 1.98])
    return ramp(0.0, 0.012, above) * (x < 0.3) * (y > 1.70)


def hair_colours(points: Array) -> Array:
    """Plum, lighter on the crown, with strands."""
    c = mix(PALETTE["hair"], PALETTE["hair_light"], 0.5 * ramp(1.88, 2.06, points[:, 1]))
    return c * (1 + 0.10 * waves(points * [1.0, 0.4, 0.6], 120.0, 8))[:, None]


def woven_slope(points: Array) -> Array:
    """(M, 3) slope of knitted wool on the jumper: fine ribs along sleeves and trunk; nothing elsewhere."""
    x, y, _ = points.T
    jumper = ramp(HEM, HEM + 0.02, y) * ramp(1.56, 1.54, y) * ramp(SLEEVE, SLEEVE - 0.02, np.abs(x))
    sleeve = ramp(0.24, 0.34, np.abs(x))
    ribs = np.zeros_like(points)
    ribs[:, 0] = 0.07 * np.cos(520.0 * x) * (1 - sleeve)
    ribs[:, 1] = 0.07 * np.cos(520.0 * y) * sleeve
    return ribs * jumper[:, None]


BrowCurve = Sequence[tuple[float, float]]
FLIP = np.array([-1.0, 1.0, 1.0])

BROW: BrowCurve = ((0.034, 1.886), (0.062, 1.910), (0.094, 1.908), (0.120, 1.882))
BROWS: dict[str, BrowCurve] = {
    "browDown": ((0.028, 1.868), (0.058, 1.884), (0.094, 1.898), (0.120, 1.882)),
    "browOuterUp": ((0.034, 1.896), (0.062, 1.926), (0.096, 1.930), (0.122, 1.902)),
}
BROW_INNER_UP: BrowCurve = ((0.032, 1.916), (0.060, 1.918), (0.094, 1.900), (0.120, 1.872))
BROW_BREADTH = 0.0105  # metres: half a brow's breadth


class Mouth(NamedTuple):
    """Half its width, the height of its middle, how much higher its corners are; how far it opens up and down."""

    wide: float = 0.049
    middle: float = 1.708
    corners: float = 0.011
    up: float = 0.0
    down: float = 0.0


MOUTH_AT_REST = Mouth()
SIDED_MOUTHS = {
    "mouthSmile": Mouth(wide=0.066, middle=1.704, corners=0.032),
    "mouthFrown": Mouth(wide=0.048, middle=1.722, corners=-0.022),
}
WHOLE_MOUTHS = {
    "jawOpen": Mouth(wide=0.045, middle=1.716, corners=0.008, up=0.010, down=0.046),
    "mouthFunnel": Mouth(wide=0.024, middle=1.712, corners=0.0, up=0.016, down=0.020),
    "mouthStretch": Mouth(wide=0.066, middle=1.712, corners=0.004, up=0.006, down=0.016),
}
MOUTH_COLUMNS = 25
MOUTH_LINE = 0.0048  # metres: half the thickness of the closed mouth
# Of the opening, from the upper rim to the lower: three rows a lip, two of teeth, the dark and the tongue between; and
# how far each is raised over the skin. Closed, all between the lips lies within.
OPEN_ROWS = np.array([1.0, 0.90, 0.86, 0.84, 0.42, 0.34, -0.45, -0.86, -0.90, -1.0])
OPEN_RAISED = 1e-4 * np.array([4.0, 30.0, 12.0, 10.0, 10.0, 6.0, 6.0, 12.0, 26.0, 4.0])
CLOSED_ROWS = np.array([1.0, 0.60, 0.03, 0.02, 0.01, 0.0, -0.01, -0.03, -0.60, -1.0])
CLOSED_RAISED = 1e-4 * np.array([4.0, 28.0, 14.0, -40.0, -40.0, -40.0, -40.0, 14.0, 28.0, 4.0])
TEETH, DARK, TONGUE = from_hex("#FFF7E8"), from_hex("#4A1520"), from_hex("#C4605C")


def brows() -> list[Patch]:
    """Both."""
    return list(pair(held("Brow.L", line_on_front(BODY, BROW, BROW_BREADTH, 0.003), PALETTE["hair"], "Head")))


def mouth() -> Patch:
    """At rest."""
    lip = PALETTE["mouth"]
    rows = np.stack([lip, lip, lip, TEETH, TEETH, DARK, TONGUE, lip, lip, lip])
    colours = np.repeat(rows[None], MOUTH_COLUMNS, axis=0).reshape(-1, 3)
    surface = facing_out(_mouth_places(MOUTH_AT_REST), grid(MOUTH_COLUMNS, len(OPEN_ROWS)), (0.0, 1.72, 0.0))
    return held("Mouth", surface, colours, "Head")


def _mouth_places(own: Mouth) -> Array:
    """(COLUMNS rows, 3) column by column."""
    s = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, MOUTH_COLUMNS))  # x / w: more columns where it curves most
    round_off = np.sqrt(np.clip(1 - s * s, 0.0, 1.0))[:, None]
    shown = ramp(0.0, 0.008, own.up + own.down)
    rows, raised = (
        CLOSED_ROWS + shown * (OPEN_ROWS - CLOSED_ROWS),
        CLOSED_RAISED + shown * (OPEN_RAISED - CLOSED_RAISED),
    )
    high = MOUTH_LINE * (0.35 + 0.65 * round_off) + round_off * np.where(OPEN_ROWS > 0, own.up, own.down)
    y = own.middle + own.corners * (s * s)[:, None] + high * rows
    x = np.broadcast_to((own.wide * s)[:, None], y.shape)
    skin = BODY.on_front(np.stack([x, y], axis=-1).reshape(-1, 2), *FRONT_DEPTH)
    return np.asarray(skin + np.tile(raised, MOUTH_COLUMNS)[:, None] * unit_gradient(skin, BODY))


def face_shapes() -> dict[str, dict[str, Array]]:
    """Shape, named as ARKit names it, -> patch -> (V, 3)."""
    brow = line_on_front(BODY, BROW, BROW_BREADTH, 0.003)[0]
    result: dict[str, dict[str, Array]] = {}
    for name, curve in BROWS.items():
        moved = line_on_front(BODY, curve, BROW_BREADTH, 0.003)[0] - brow
        result[f"{name}Left"], result[f"{name}Right"] = {"Brow.L": moved}, {"Brow.R": moved * FLIP}
    raised = line_on_front(BODY, BROW_INNER_UP, BROW_BREADTH, 0.003)[0] - brow
    result["browInnerUp"] = {"Brow.L": raised, "Brow.R": raised * FLIP}
    rest = _mouth_places(MOUTH_AT_REST)
    left = ramp(-0.02, 0.02, rest[:, 0])[:, None]
    for name, own in SIDED_MOUTHS.items():
        moved = _mouth_places(own) - rest
        result[f"{name}Left"], result[f"{name}Right"] = {"Mouth": left * moved}, {"Mouth": (1 - left) * moved}
    return result | {name: {"Mouth": _mouth_places(own) - rest} for name, own in WHOLE_MOUTHS.items()}


EYE = Eye(
    place=(0.069, 1.820, 0.146),
    radius=0.057,
    yaw=13.0,
    pitch=0.0,
    iris=48.0,
    pupil=25.0,
    upper=Edge(50.0, 0.0, -20.0),
    lower=Edge(-46.0, 0.0, 18.0),
    colours={"iris": "#A8652E", "dark": "#4A2412", "light": "#E8B060", "lid": "#BF7A5E", "lash": "#3A1E2A"},
    toe_in=4.0,
)
MATERIALS = {
    "Skin": Material("skin and cloth", roughness=0.72, extra=material_extra(0.8, specular={"specularFactor": 0.6})),
    "Brows": Material("brows", roughness=0.55, extra=material_extra(0.2, False)),
    "Mouth": Material("mouth", roughness=0.5, double_sided=True, extra=material_extra(0.2, False)),
    **EYE_MATERIALS,
}
BORDER_WIDTHS = {
    "LeftUpLeg": 0.15,
    "Hips": 0.15,
    "LeftShoulder": 0.14,
    "LeftHandIndex1": 0.03,
    "LThumb": 0.03,
    "Head": 0.03,
}


def build() -> Character:
    """The actor."""
    skin, textures = coat("actor", [coated_body(), coated_hair()], 1024)
    patches = {"Skin": skin, "Brows": brows(), "Mouth": [mouth()], **eyes.eye_parts(EYE)}
    all_textures = {"Skin": textures, "Eyes": eyes.eye_texture("actor_eye", EYE)}
    return assemble("actor", actor_skeleton(), patches, MATERIALS, all_textures, eyes.eye_shapes(EYE) | face_shapes())


def coated_body() -> Coated:
    """Skin and clothes in one."""
    work = isosurface(BODY, (0, -0.02, -0.25), (1.12, 2.10, 0.36), 0.011)
    remesh(work, 0.0135)
    remesh(work, 0.0240, _coarse_places(work.current_mesh().vertex_matrix()))
    mesh = symmetric(work, BODY)
    weights = skin_weights(BODY, mesh, 0.11, BORDER_WIDTHS, rounds=12)
    patch = Patch("Body", mesh.vertices, mesh.triangles, np.ones((len(mesh.vertices), 3)), weights, mesh.mirror)
    return Coated(patch, BODY, body_colours, BODY, woven_slope, halves=True)


def _coarse_places(points: Array) -> Array:
    """(V,) where edges may be long: not on the hands, the face and the shoes."""
    x, y, z = points.T
    return (x < 0.78) & (y > 0.14) & ~((y > 1.66) & (z > 0.0))


def coated_hair() -> Coated:
    """The hair, which is not the same on both sides."""
    mesh = modelled(HAIR, (-0.29, 1.58, -0.30), (0.29, 2.20, 0.30), 0.008, 0.0135)
    patch = held("Hair", (mesh.vertices, mesh.triangles), np.ones(3), "Head")
    return Coated(patch, HAIR, hair_colours, HAIR)
