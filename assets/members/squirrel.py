"""The squirrel: head with tufted ears, short limbs, and a tail as large as all the rest together. Metres.

It is sculpted, painted and hung on its joints. Colours are functions of the place (M, 3), sRGB.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assets.members.skeletons import SQUIRREL_JOINTS, squirrel_skeleton
from assets.sculpting import eyes, geometry
from assets.sculpting.clay import Clay, Solid, above, bar, chain, ellipsoid, line_on_front, lopsided, skin_weights
from assets.sculpting.coat import EYE_MATERIALS, Coated, coat, material_extra, mix, waves
from assets.sculpting.eyes import Edge, Eye
from assets.sculpting.fields import isosurface, ramp, unit_gradient
from assets.sculpting.geometry import facing_out, grid, superellipsoid
from assets.sculpting.meshing import Patch, assemble, held, modelled, pair, remesh, symmetric
from understudy.character import Character, Material
from understudy.checks import Array
from understudy.maths.colour import from_hex

TRUNK = (
    ellipsoid("Hips", (0, 0.25, -0.01), (0.152, 0.128, 0.140)),
    ellipsoid("Spine", (0, 0.355, 0), (0.138, 0.115, 0.125), 0.10),
    ellipsoid("Chest", (0, 0.465, 0), (0.122, 0.105, 0.110), 0.10),
    bar("Neck", (0, 0.53, 0), (0, 0.61, 0.01), 0.078, 0.080, 0.06),
)

EAR_HOLLOW = ellipsoid("", (0.123, 0.902, 0.036), (0.036, 0.048, 0.030), 0.014, (-4, 0, -18), "carve")
HEAD = (
    ellipsoid("Head", (0, 0.755, 0.010), (0.190, 0.168, 0.172), 0.07),
    ellipsoid("Head", (0.112, 0.690, 0.070), (0.112, 0.096, 0.100), 0.08),  # cheek
    ellipsoid("Head", (0, 0.692, 0.142), (0.080, 0.056, 0.062), 0.06),  # muzzle
    ellipsoid("Head", (0.030, 0.684, 0.190), (0.042, 0.035, 0.036), 0.03),  # whisker pad
    ellipsoid("Head", (0.0832, 0.7815, 0.1135), (0.0665, 0.0665, 0.0665), 0.025),  # what the eye lies in
    ellipsoid("Jaw", (0, 0.632, 0.158), (0.054, 0.034, 0.048), 0.025),
    bar("Head", (0.175, 0.690, 0.040), (0.258, 0.646, 0.004), 0.058, 0.007, 0.05),  # the tuft of the cheek
    ellipsoid("LeftEar", (0.120, 0.892, -0.005), (0.060, 0.072, 0.038), 0.035, (0, 0, -18)),
    bar("LeftEar", (0.134, 0.930, -0.008), (0.160, 1.010, -0.020), 0.032, 0.006, 0.03),  # its tuft
    EAR_HOLLOW,
)

ARM = (
    ellipsoid("LeftShoulder", (0.080, 0.505, 0), (0.062, 0.055, 0.060), 0.06),
    bar("LeftArm", (0.120, 0.515, 0), (0.232, 0.432, 0.01), 0.050, 0.043, 0.05),
    bar("LeftForeArm", (0.232, 0.432, 0.01), (0.322, 0.366, 0.03), 0.043, 0.036, 0.03),
    ellipsoid("LeftHand", (0.345, 0.350, 0.036), (0.042, 0.036, 0.042), 0.03),
    *(
        bar("LeftHand", (0.348, 0.348, 0.04), tip, 0.022, 0.016, 0.012)
        for tip in ((0.392, 0.322, 0.030), (0.384, 0.318, 0.062), (0.366, 0.322, 0.086))
    ),
    bar("LeftHand", (0.335, 0.360, 0.05), (0.318, 0.352, 0.092), 0.020, 0.015, 0.012),
)

LEG = (
    ellipsoid("LeftUpLeg", (0.112, 0.200, 0.022), (0.086, 0.100, 0.100), 0.06),
    bar("LeftLeg", (0.128, 0.150, 0.035), (0.132, 0.052, -0.01), 0.058, 0.042, 0.05),
    bar("LeftFoot", (0.132, 0.044, -0.022), (0.137, 0.036, 0.085), 0.042, 0.040, 0.03),
    *(bar("LeftToe", (0.137, 0.034, 0.085), (x, 0.026, 0.150), 0.034, 0.026, 0.016) for x in (0.100, 0.137, 0.174)),
)

# the tail's middle line and radii: the joints, then the tip that curls back
TAIL_LINE = np.array(
    [
        *((0.0, 0.19, -0.10), (0.0, 0.185, -0.24), (0.0, 0.275, -0.375), (0.0, 0.445, -0.440)),
        *((0.0, 0.640, -0.418), (0.0, 0.830, -0.425), (0.0, 0.965, -0.520), (0.0, 0.955, -0.640)),
    ]
)
TAIL_RADII = np.array([0.045, 0.080, 0.118, 0.148, 0.172, 0.168, 0.128, 0.055])
# stations on the fine line, and degrees from the middle of the back to the side
TUFTS = ((12, 0), (17, 0), (22, 0), (27, 0), (14, 64), (19, 68), (24, 68), (29, 64))
TAIL_JOINTS = np.array([SQUIRREL_JOINTS[f"Tail{number}"][1] for number in range(1, 7)])


def _tail_line() -> tuple[Array, Array]:
    """(N, 3) and (N,) the smooth middle line and its radii."""
    fine = geometry.smooth(np.column_stack([TAIL_LINE, TAIL_RADII]), 40)
    return fine[:, :3], fine[:, 3]


def tail_joint(points: Array) -> Array:
    """(M,) the number, 1 to 6, of the tail's joint above each of points on the middle line."""
    line, _ = _tail_line()
    at = [int(np.argmin(np.linalg.norm(line - joint, axis=1))) for joint in TAIL_JOINTS]
    own = np.argmin(np.linalg.norm(points[:, None] - line, axis=2), axis=1)
    return np.clip(np.searchsorted(at, own, side="right"), 1, 6)


def _tufts() -> list[tuple[tuple[float, float, float], tuple[float, float, float], float]]:
    """Locks that break the tail's outline: along its back and its sides, all combed towards the tip."""
    line, radii = _tail_line()
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    out = np.stack([np.zeros(len(line)), along[:, 2], -along[:, 1]], axis=1)  # away from the back, in its own plane
    locks = []
    for station, swing in TUFTS:
        a = np.radians(swing)
        side = np.cos(a) * out[station] + np.sin(a) * np.array([1.0, 0.0, 0.0])
        r = radii[station]
        root = line[station] + 0.30 * r * side
        tip = line[station] + 0.80 * r * side + 0.62 * r * along[station]
        locks.append((tuple(root.tolist()), tuple(tip.tolist()), 0.62 * r))
    return locks


def _tail_solids() -> list[Solid]:
    line, radii = _tail_line()
    numbers = tail_joint(line)
    solids: list[Solid] = []
    for number in range(1, 7):
        own = np.flatnonzero(numbers == number)
        if own[-1] + 1 < len(line):
            own = np.append(own, own[-1] + 1)  # on to where the next begins
        solids += chain(f"Tail{number}", line[own], radii[own], 0.06)
    for root, tip, thick in _tufts():
        joint = int(tail_joint(np.array([root]))[0])
        solids.append(bar(f"Tail{joint}", root, tip, thick, 0.42 * thick, 0.04))
    return solids


TAIL = tuple(_tail_solids())
BODY = Clay((*TRUNK, *HEAD, *ARM, *LEG, *TAIL, above(0.002, 0.012)))
EAR_INSIDE = Clay((replace(EAR_HOLLOW, way="add"),))
FRINGE_LOCKS = (
    ((0.030, 0.880, 0.080), (0.020, 0.935, 0.080), (-0.025, 0.965, 0.085)),
    ((-0.010, 0.885, 0.080), (-0.035, 0.930, 0.075), (-0.075, 0.945, 0.075)),
    ((0.040, 0.880, 0.060), (0.055, 0.925, 0.050), (0.045, 0.965, 0.045)),
)
FRINGE = Clay(tuple(lopsided(solid for lock in FRINGE_LOCKS for solid in chain("Head", lock, (0.036, 0.023, 0.004)))))


PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "fur": "#A9512B",
        "fur_dark": "#7C3620",
        "fur_light": "#C97A45",
        "belly": "#F0DCBB",
        "blush": "#D9745C",
        "ear": "#D98F78",
        "nose": "#4A2028",
        "mouth": "#5A2420",
        "tooth": "#FFF7E8",
        "tail": "#9C4726",
        "tip": "#E9C390",
    }.items()
}
TAIL_TAGS = tuple(f"Tail{number}" for number in range(1, 7))
OTHER_TAGS = tuple(tag for tag in BODY.tags if tag not in TAIL_TAGS)


def body_colours(points: Array) -> Array:
    """Fox-red, darker on the back, with cream belly, muzzle and rings round the eyes; then the tail."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    frayed = 0.008 * waves(points, 60.0, 5) + 0.006 * waves(points, 130.0, 6)
    c = mix(PALETTE["fur"], PALETTE["fur_light"], 0.45 * ramp(-0.3, 0.7, waves(points, 16.0, 1)))
    c = mix(
        c, PALETTE["fur_dark"], 0.55 * ramp(0.0, -0.12, z) * ramp(0.9, 0.3, y) + 0.35 * ramp(0.80, 0.93, y) * (z < 0.1)
    )
    wide = np.interp(y, [0.2, 0.36, 0.50, 0.6], [0.112, 0.112, 0.090, 0.085])
    belly = np.hypot(x / wide, np.where(y > 0.37, 0, (y - 0.37) / 0.19)) + 5 * frayed
    c = mix(c, PALETTE["belly"], ramp(0.95, 0.86, belly) * ramp(0.01, 0.03, z) * ramp(0.62, 0.58, y))
    c = _face_colours(points, c, frayed)
    c = mix(c, PALETTE["fur_dark"], 0.7 * ramp(0.955, 1.01, y) * (z > -0.1))
    hollow = ramp(0.012, -0.002, EAR_INSIDE(points)) * (y > 0.84) * (z > 0)
    c = mix(c, PALETTE["ear"], hollow)
    c = mix(c, PALETTE["fur_dark"], 0.6 * ramp(0.31, 0.36, x) * (y < 0.45) + 0.5 * ramp(0.06, 0.03, y))
    tail = ramp(-0.012, 0.016, BODY.near(points, *OTHER_TAGS) - BODY.near(points, *TAIL_TAGS))
    return mix(c, _tail_colours(points), tail)


def _face_colours(points: Array, c: Array, frayed: Array) -> Array:
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    front = ramp(0.05, 0.075, z) * (y > 0.58)
    muzzle = np.minimum(np.hypot(x / 0.105, (y - 0.665) / 0.066), np.hypot((x - 0.115) / 0.085, (y - 0.685) / 0.055))
    c = mix(c, PALETTE["belly"], ramp(1.03, 0.95, muzzle + 4 * frayed) * front)
    ring = np.hypot((x - 0.092) / 0.072, (y - 0.790) / 0.082)
    c = mix(c, PALETTE["belly"], 0.70 * ramp(1.08, 0.92, ring + 3 * frayed) * front)
    blaze = np.hypot(x / 0.030, (y - 0.835) / 0.055)
    c = mix(c, PALETTE["fur_dark"], 0.45 * ramp(1.1, 0.5, blaze) * front)
    blush = np.exp(-(((x - 0.150) / 0.035) ** 2) - ((y - 0.690) / 0.028) ** 2) * ramp(0.02, 0.05, z)
    return mix(c, PALETTE["blush"], 0.55 * blush)


def _tail_colours(points: Array) -> Array:
    """Dark along the back, pale at the rim and the tip."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    c = mix(PALETTE["tail"], PALETTE["fur_light"], 0.30 * ramp(-0.3, 0.7, waves(points, 30.0, 2)))
    c = mix(c, PALETTE["fur_dark"], 0.55 * ramp(0.085, 0.02, x) * ramp(-0.38, -0.44, z))
    late = y + 0.5 * np.clip(-z - 0.5, 0, 1) + 0.03 * waves(points, 45.0, 7)
    return mix(c, PALETTE["tip"], np.maximum(0.85 * ramp(0.80, 0.97, late), 0.45 * ramp(0.10, 0.19, x)))


def fringe_colours(points: Array) -> Array:
    """The hair on the crown, darker at its tips."""
    c = mix(PALETTE["fur"], PALETTE["fur_dark"], 0.5)
    return mix(c, PALETTE["fur_dark"], ramp(0.90, 0.96, points[:, 1]))


def fur_slope(points: Array) -> Array:
    """(M, 3) slope of short fur: strokes that run down the body and along the tail."""
    rng = np.random.default_rng(7)
    ways = rng.normal(size=(10, 3)) * [420.0, 80.0, 420.0]
    return 0.0006 * (np.cos(points @ ways.T + rng.uniform(0, 6.3, 10)) @ ways) / 10


EYE = Eye(
    place=(0.088, 0.782, 0.128),
    radius=0.064,
    yaw=18.0,
    pitch=2.0,
    iris=54.0,
    pupil=33.0,
    upper=Edge(54.0, -2.0, -22.0),
    lower=Edge(-48.0, 0.0, 15.0),
    colours={"iris": "#6A3F22", "dark": "#20100C", "light": "#C98A45", "lid": "#CF9C74", "lash": "#2A1416"},
    toe_in=5.0,
)
MATERIALS = {
    "Skin": Material("fur", roughness=0.8, extra=material_extra(0.8, sheen={"sheenColorFactor": [0.12, 0.06, 0.03]})),
    "Mouth": Material("nose and mouth", roughness=0.3, double_sided=True, extra=material_extra(0.3)),
    **EYE_MATERIALS,
}
NARROW_BORDER = 0.035  # metres: the border of what moves by itself
BORDER_WIDTHS = {
    "LeftHand": NARROW_BORDER,
    "LeftFoot": NARROW_BORDER,
    "LeftToe": NARROW_BORDER,
    "LeftEar": NARROW_BORDER,
    "Jaw": 0.022,
    "LeftUpLeg": 0.09,
    "Hips": 0.10,
}


def build() -> Character:
    """The squirrel."""
    skin, textures = coat("squirrel", [coated_body(), coated_fringe()], 1024)
    patches = {"Skin": skin, "Mouth": mouth(), **eyes.eye_parts(EYE)}
    all_textures = {"Skin": textures, "Eyes": eyes.eye_texture("squirrel_eye", EYE)}
    return assemble("squirrel", squirrel_skeleton(), patches, MATERIALS, all_textures, eyes.eye_shapes(EYE))


def coated_body() -> Coated:
    """All of the fur but the fringe."""
    work = isosurface(BODY, (0, -0.02, -0.80), (0.44, 1.20, 0.27), 0.009)
    remesh(work, 0.0110)
    remesh(work, 0.0165, _coarse_places(work.current_mesh().vertex_matrix()))
    remesh(work, 0.0190, work.current_mesh().vertex_matrix()[:, 2] < -0.26)
    mesh = symmetric(work, BODY)
    weights = skin_weights(BODY, mesh, 0.075, BORDER_WIDTHS, rounds=8)
    patch = Patch("Body", mesh.vertices, mesh.triangles, np.ones((len(mesh.vertices), 3)), weights, mesh.mirror)
    return Coated(patch, BODY, body_colours, BODY, fur_slope, halves=True)


def _coarse_places(points: Array) -> Array:
    """(V,) where edges may be long: not on the head, the hands and the toes."""
    x, y, z = points.T
    return (y < 0.58) & (x < 0.30) & ~((y < 0.07) & (z > 0.05))


def coated_fringe() -> Coated:
    """The hair on the crown, which is not the same on both sides."""
    mesh = modelled(FRINGE, (-0.12, 0.80, -0.02), (0.12, 1.0, 0.15), 0.005, 0.0085)
    patch = held("Fringe", (mesh.vertices, mesh.triangles), np.ones(3), "Head")
    return Coated(patch, FRINGE, fringe_colours, FRINGE, None)


def mouth() -> list[Patch]:
    """Nose, the line of the mouth, and two front teeth."""
    nose = held("Nose", superellipsoid((0, 0.716, 0.232), (0.027, 0.019, 0.018), 1.0), PALETTE["nose"], "Head")
    curve = [(0.058, 0.674), (0.032, 0.648), (0.001, 0.656), (0.001, 0.692)]
    lip = held("Lip.L", line_on_front(BODY, curve, 0.0042, 0.001), PALETTE["mouth"], "Head")
    tooth = superellipsoid((0.0115, 0.634, 0.206), (0.0112, 0.017, 0.006), 0.55)
    return [nose, *pair(lip), *pair(held("Tooth.L", tooth, PALETTE["tooth"], "Head")), _inside_mouth()]


def _inside_mouth() -> Patch:
    """The dark between muzzle and chin: a line at rest, held by the head above and by the jaw below."""
    s = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 17))
    share = np.array([0.0, 0.05, 0.35, 0.65, 0.95, 1.0])  # of the jaw, from the upper row to the lower
    high = 0.0035 * np.sqrt(np.clip(1 - s * s, 0.01, 1.0))[:, None]
    y = 0.6455 + 0.010 * (s * s)[:, None] + high * (1 - 2 * share)
    xy = np.stack([np.broadcast_to(0.036 * s[:, None], y.shape), y], axis=-1).reshape(-1, 2)
    skin = BODY.on_front(xy, 0.0, 0.4)
    places = skin + 0.0025 * unit_gradient(skin, BODY)
    dark, tongue = PALETTE["mouth"], PALETTE["blush"]
    rows = np.stack([dark, 0.55 * dark, 0.45 * dark, 0.8 * tongue, 0.9 * tongue, dark])
    jaw = np.outer(np.sqrt(np.clip(1 - s * s, 0, 1)), share).ravel()  # less towards the corners: a lens
    surface = facing_out(places, grid(len(s), len(share)), (0.0, 0.65, 0.0))
    return held("Inside", surface, np.tile(rows, (len(s), 1)), {"Head": 1 - jaw, "Jaw": jaw})
