"""The lamp: a desk lamp that hops. The first of the cast, and the smallest; baked to `lamp.npz` with its four clips.

Seven joints carry it (Base, Swivel, LowerArm, UpperArm, Neck, Head, Bulb) and one its tail (Cord). Above them stand
joints that carry nothing and make walking about clean: Root (place and heading on the ground), Lift (height in a hop)
and four Rims. A Rim tips the base over one point of its underside; turn only one of the four at a time and that point
stays exactly where it is. At rest every joint has the axes of the world: a turn about +X nods forwards, about +Y looks
to the lamp's left, about +Z raises its left side.

The lamp faces +Z. Its shade is a bell turned about an axis that leaves the head joint forwards and 10 degrees down;
the round back of the bell is centred on that joint, so that it looks right however the head is turned. The opening is
cut on a slant: without it a bell looks the same however far it is tilted to the side.

It is made of pieces, each modelled in world space in the rest pose. Assembly gathers all pieces of one material into
one part (one draw call, one glTF primitive) and skins every part to the same list of joints, those that carry
something. Measures are metres.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from assets.sculpting import geometry
from assets.sculpting.fields import ramp
from assets.sculpting.geometry import Surface, lathe, placed, smooth, tube
from assets.sculpting.joints import rest_transforms, skeleton_of
from understudy.cast.archive import area_normals
from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import Sheet, of_joints
from understudy.cast.dope_sheet.tracks import joint_curves
from understudy.character import Asset, Character, Curves, Material, Mesh, Part, Skeleton, SkinBinding
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex, to_linear

Weights = Mapping[str, Array]  # joint -> (V,), summing to one


@dataclass(frozen=True, eq=False)
class Piece:
    """One surface with its paint and its hold on the skeleton.

    `shell` names the closed surface that the piece is, or belongs to: a shade is painted outside and glows inside, two
    pieces of one shell.
    """

    shell: str
    material: str
    surface: geometry.Surface
    colours: Array  # (3,) or (V, 3), linear
    hold: str | Weights  # the joint that carries it, or weights on several


def linear_colour(colour: str) -> Array:
    """Linear RGB (3,) of a colour written #rrggbb."""
    return to_linear(from_hex(colour))


def blend(a: Array, b: Array, share: Array) -> Array:
    """(V, 3) colours running from a (3,) to b (3,) with share (V,)."""
    return a + (b - a) * np.asarray(share)[:, None]


def assemble_pieces(
    name: str, skeleton: Skeleton, pieces: Sequence[Piece], materials: Mapping[str, Material]
) -> Character:
    """A character of the pieces, one part a material, in the order of `materials`."""
    held = {joint for piece in pieces for joint in ([piece.hold] if isinstance(piece.hold, str) else piece.hold)}
    joints = sorted(skeleton.index(joint) for joint in held)
    joint_from_mesh = np.linalg.inv(rest_transforms(skeleton)[joints])
    column = {skeleton.names[joint]: number for number, joint in enumerate(joints)}
    parts = []
    for label, material in materials.items():
        chosen = [piece for piece in pieces if piece.material == label]
        if not chosen:
            raise InvalidInput(f"no piece of {name!r} has the material {label!r}")
        influences, weights = _influences([_piece_weights(piece, column) for piece in chosen])
        skin = SkinBinding(joints, joint_from_mesh, influences, weights)
        parts.append(Part(label, _pieces_mesh(label, material, chosen), skin))
    return Character(name, skeleton, parts)


def _piece_weights(piece: Piece, column: Mapping[str, int]) -> Array:
    """(V, B) dense weights of one piece."""
    vertices = piece.surface[0]
    dense = np.zeros((len(vertices), len(column)))
    if isinstance(piece.hold, str):
        dense[:, column[piece.hold]] = 1.0
    else:
        for joint, share in piece.hold.items():
            dense[:, column[joint]] += share
    return dense


def _influences(dense: Sequence[Array]) -> tuple[Array, Array]:
    """(V, K) joints and weights, heaviest first, K the most that any vertex needs."""
    weights = np.concatenate(dense)
    most = int((weights > 0).sum(axis=1).max())
    order = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    return order, np.take_along_axis(weights, order, axis=1)


def _pieces_mesh(name: str, material: Material, pieces: Sequence[Piece]) -> Mesh:
    starts = np.cumsum([0, *(len(piece.surface[0]) for piece in pieces)])
    vertices = np.concatenate([piece.surface[0] for piece in pieces])
    triangles = np.concatenate([piece.surface[1] + start for piece, start in zip(pieces, starts)])
    colours = np.ones((len(vertices), 4))
    for piece, start, end in zip(pieces, starts, starts[1:]):
        colours[start:end, :3] = piece.colours
    normals = area_normals(vertices, triangles)
    return Mesh(name, vertices, triangles, normals=normals, colours=colours, materials=[material])


LEFT = np.array([1.0, 0.0, 0.0])
RIM = 0.24  # radius of the flat underside: the base tips about points of this circle
SHADE_TILT = 10.0  # degrees downwards
VISOR = 0.17  # how far the opening slants: the lip comes forward above and goes back below, like a brow
SPRING_SIDES, CORD_SIDES = 6, 10

JOINTS: dict[str, tuple[str, tuple[float, float, float]]] = {
    # joint: parent, place in the world at rest
    "Root": ("", (0.0, 0.0, 0.0)),  # place and heading on the ground
    "Cord": ("Root", (0.0, 0.0, -0.25)),  # the tail, which stays on the ground
    "Lift": ("Root", (0.0, 0.0, 0.0)),  # height while hopping
    "RimFront": ("Lift", (0.0, 0.0, RIM)),  # tipping over the rim, with the touching point at rest
    "RimBack": ("RimFront", (0.0, 0.0, -RIM)),
    "RimLeft": ("RimBack", (RIM, 0.0, 0.0)),
    "RimRight": ("RimLeft", (-RIM, 0.0, 0.0)),
    "Base": ("RimRight", (0.0, 0.0, 0.0)),
    "Swivel": ("Base", (0.0, 0.085, 0.0)),
    "LowerArm": ("Swivel", (0.0, 0.125, 0.0)),
    "UpperArm": ("LowerArm", (0.0, 0.485, -0.20)),
    "Neck": ("UpperArm", (0.0, 0.845, 0.085)),
    "Head": ("Neck", (0.0, 0.850, 0.150)),
    "Bulb": ("Head", (0.0, 0.835, 0.236)),
}

ENAMEL, ENAMEL_DEEP = linear_colour("#B8431F"), linear_colour("#7E2B18")
BRASS, BRASS_DEEP = linear_colour("#C28F45"), linear_colour("#8A5E2C")
NAVY, NAVY_LIGHT = linear_colour("#2C3F52"), linear_colour("#41586E")
STEEL, CORD = linear_colour("#B9BEC6"), linear_colour("#3A2A35")
GLOW, GLOW_DEEP, BULB = linear_colour("#A88450"), linear_colour("#8A5522"), linear_colour("#FFF3C8")

MATERIALS = {
    "Enamel": Material("enamel", metallic=0.0, roughness=0.32),
    "Brass": Material("brass", metallic=0.75, roughness=0.33),
    "Steel": Material("painted steel", metallic=0.3, roughness=0.38),
    "Spring": Material("spring steel", metallic=0.9, roughness=0.28),
    "Glow": Material("lit enamel", roughness=0.6, emissive=(1.0, 0.64, 0.18)),
    "Glass": Material("bulb", roughness=0.3, emissive=(1.0, 0.92, 0.62)),
    "Cable": Material("cable", roughness=0.65),
}


def joint_place(joint: str) -> Array:
    """(3,) where a joint is at rest."""
    return np.array(JOINTS[joint][1])


def all_pieces() -> list[Piece]:
    """Every piece of the lamp, in the rest pose."""
    return [*base(), *arms(), *springs(), *head(), *cord()]


def base() -> list[Piece]:
    """The enamelled foot with its brass ring and button, and the turret that turns on it."""
    dome = smooth(
        [
            (RIM, 0.0),
            (0.253, 0.008),
            (0.256, 0.021),
            (0.245, 0.034),
            (0.20, 0.047),
            (0.11, 0.061),
            (0.072, 0.071),
            (0.06, 0.079),
        ],
        22,
    )
    foot = lathe([(0.0, 0.0), dome[0], *dome, dome[-1], (0.0, 0.079)], 64)
    height = foot[0][:, 1]
    shaded = blend(ENAMEL_DEEP * 0.5, ENAMEL, ramp(-0.004, 0.022, height))
    ring = lathe(_round_section(0.2555, 0.021, 0.0065, 8), 64)
    button = placed(lathe([*_button(0.021, 0.016)], 24), (1, 0, 0), 9.0, (0.0, 0.0475, 0.165))
    turret = smooth([(0.074, 0.079), (0.070, 0.087), (0.052, 0.096), (0.044, 0.112), (0.042, 0.134)], 12)
    turret = np.array([(0.0, 0.079), turret[0], *turret, turret[-1], (0.030, 0.146), (0.0, 0.149)])
    return [
        Piece("foot", "Enamel", foot, shaded, "Base"),
        Piece("ring", "Brass", ring, BRASS, "Base"),
        Piece("button", "Brass", button, BRASS, "Base"),
        Piece("turret", "Brass", lathe(turret, 32), BRASS, "Swivel"),
    ]


def arms() -> list[Piece]:
    """Twin rods on round knuckles, and the cross pins that the springs are hooked to."""
    pieces = []
    for joint, end, thick, side in (("LowerArm", "UpperArm", 0.0130, 0.037), ("UpperArm", "Neck", 0.0120, 0.034)):
        for name, x in (("left", side), ("right", -side)):
            rod = tube(np.array([joint_place(joint), joint_place(end)]) + x * LEFT, thick, 14, (1, 0, 0))
            pieces.append(Piece(f"{name} rod of {joint}", "Steel", rod, NAVY, joint))
    for joint, radius, half in (("LowerArm", 0.041, 0.058), ("UpperArm", 0.046, 0.058), ("Neck", 0.035, 0.052)):
        pieces.append(Piece(f"knuckle of {joint}", "Brass", _knuckle(radius, half, joint_place(joint)), BRASS, joint))
        for name, x in (("left", 1.0), ("right", -1.0)):
            bolt = placed(
                lathe(_button(0.45 * radius, 0.010), 16), (0, 0, 1), -90.0 * x, joint_place(joint) + x * half * LEFT
            )
            pieces.append(Piece(f"{name} bolt of {joint}", "Steel", bolt, NAVY_LIGHT, joint))
    for number, (low, low_joint, high, high_joint) in enumerate(spring_ends()):
        for place, joint in ((low, low_joint), (high, high_joint)):
            pin = tube([place - 0.042 * LEFT, place + 0.042 * LEFT], 0.0075, 12, (0, 1, 0))
            pieces.append(Piece(f"pin {number} of {joint}", "Brass", pin, BRASS_DEEP, joint))
    neck = tube([joint_place("Neck"), joint_place("Head")], 0.021, 18, (1, 0, 0))
    return [*pieces, Piece("neck", "Brass", neck, BRASS, "Neck")]


def spring_ends() -> tuple[tuple[Array, str, Array, str], ...]:
    """For the lower and the upper pair: where it is hooked in and what carries that end; x is zero."""
    lower, upper, neck = joint_place("LowerArm"), joint_place("UpperArm"), joint_place("Neck")
    along_lower, along_upper = _direction(lower, upper), _direction(upper, neck)
    front_lower, front_upper = np.cross(LEFT, along_lower), np.cross(LEFT, along_upper)
    return (
        (lower + np.array([0, 0.004, 0.052]), "Swivel", lower + 0.255 * along_lower + 0.030 * front_lower, "LowerArm"),
        (upper + 0.054 * front_upper, "LowerArm", upper + 0.270 * along_upper + 0.030 * front_upper, "UpperArm"),
    )


def springs() -> list[Piece]:
    """Coils held by two joints, so that they stretch with the pose.

    A vertex t of the way along belongs to the arm by 1 - (1 - t)^3 and to what the arm turns on by the rest. The end
    near the pivot, which moves little, gives way; a weight of t would bow the coil out more than twice as far.
    """
    pieces = []
    for number, (low, low_joint, high, high_joint) in enumerate(spring_ends()):
        for name, x in (("left", 0.0175), ("right", -0.0175)):
            start, end = low + x * LEFT, high + x * LEFT
            line, away = geometry.helix(start, end, 0.0145, 12, 12 * 13 + 1)
            surface = tube(line, 0.0035, SPRING_SIDES, away)
            axis = end - start
            t = np.clip((surface[0] - start) @ axis / (axis @ axis), 0.0, 1.0)
            hold = {low_joint: (1 - t) ** 3, high_joint: 1 - (1 - t) ** 3}
            pieces.append(Piece(f"{name} spring {number}", "Spring", surface, STEEL, hold))
    return pieces


def head() -> list[Piece]:
    """The shade (enamel outside, glowing inside, one shell), its brass lip, the socket and the bulb."""
    back = [(0.0, -0.058), (0.022, -0.0535), (0.041, -0.041), (0.0535, -0.022), (0.058, 0.0), (0.058, 0.018)]
    bell = [
        (0.066, 0.020),
        (0.070, 0.036),
        (0.092, 0.070),
        (0.137, 0.116),
        (0.176, 0.180),
        (0.197, 0.252),
        (0.203, 0.285),
    ]
    hollow = [(0.195, 0.285), (0.189, 0.252), (0.168, 0.184), (0.128, 0.124), (0.080, 0.086), (0.0, 0.074)]
    outside = np.concatenate([smooth(back, 10), [back[-1]], [bell[0]], smooth(bell, 18)])
    inside = smooth(hollow, 18)
    straight, triangles = lathe(np.concatenate([outside, outside[-1:], inside[:1], inside]), 60)
    depth = straight[:, 1]
    vertices, _ = in_head(_slanted((straight, triangles)))
    first_inside = len(lathe(np.concatenate([outside, outside[-1:], inside[:1]]), 60)[0])
    inner = (triangles >= first_inside).all(axis=1)
    collar = 1 - 0.45 * ramp(0.012, 0.0, np.abs(depth - 0.019))
    lip = in_head(_slanted(lathe(_round_section(0.199, 0.287, 0.0075, 10), 60)))
    band = in_head(lathe(_round_section(0.0625, 0.019, 0.0065, 8), 40))
    socket = in_head(
        lathe([(0.0, 0.06), (0.040, 0.06), (0.040, 0.06), (0.040, 0.098), (0.040, 0.098), (0.0, 0.104)], 24)
    )
    pear = smooth(
        [(0.028, 0.100), (0.036, 0.108), (0.058, 0.136), (0.077, 0.175), (0.073, 0.215), (0.045, 0.246), (0.0, 0.256)],
        20,
    )
    glass = in_head(lathe([(0.0, 0.098), (0.028, 0.100), *pear], 32))
    return [
        Piece("shade", "Enamel", _kept(vertices, triangles[~inner]), ENAMEL * collar[:first_inside, None], "Head"),
        Piece(
            "shade",
            "Glow",
            _kept(vertices, triangles[inner]),
            blend(GLOW_DEEP, GLOW, ramp(0.09, 0.24, depth[first_inside:])),
            "Head",
        ),
        Piece("lip", "Brass", lip, BRASS, "Head"),
        Piece("band", "Brass", band, BRASS, "Head"),
        Piece("socket", "Steel", socket, NAVY, "Head"),
        Piece("bulb", "Glass", glass, BULB, "Bulb"),
    ]


def cord() -> list[Piece]:
    """A tail of cable with a plug: its root is lifted and tipped with the base, the rest stays on the ground."""
    count = 56
    line = smooth(
        [
            (0.0, 0.031, -0.235),
            (0.002, 0.029, -0.29),
            (0.04, 0.0098, -0.40),
            (0.17, 0.0098, -0.47),
            (0.28, 0.0098, -0.40),
            (0.37, 0.0098, -0.36),
            (0.45, 0.0098, -0.42),
        ],
        count,
    )
    line[:, 1] = np.maximum(line[:, 1], 0.0098)  # on the ground, never in it
    # mostly given up near the base, or what hangs out behind the rim would be pressed into the ground when it tips;
    # the rest over half the length, so that the cable hangs in a bow when the base is in the air
    held = np.clip(1 - np.linspace(0.0, 1.0, count) / 0.7, 0.0, 1.0) ** 8
    share = geometry.along(1 - held, CORD_SIDES)
    cable = tube(line, 0.0095, CORD_SIDES, (0, 1, 0))
    way = _direction(line[-2], line[-1])
    turn = float(np.degrees(np.arctan2(way[0], way[2])))
    end = line[-1] + [0.0, 0.011, 0.0]

    def lying(surface: Surface, sideways: float = 0.0) -> Surface:
        flat = placed(surface, (1, 0, 0), 90.0, (sideways, 0, 0))
        return placed(flat, (0, 1, 0), turn, end)

    body = smooth([(0.012, -0.010), (0.0175, 0.002), (0.0195, 0.022), (0.0195, 0.048), (0.017, 0.056)], 12)
    plug = lying(lathe([(0.0, -0.010), body[0], *body, body[-1], (0.0, 0.056)], 20))
    prong = lathe([(0.0, 0.05), (0.0035, 0.05), (0.0035, 0.05), (0.0035, 0.083), (0.0, 0.087)], 10)
    return [
        Piece("cable", "Cable", cable, CORD, {"Base": 1 - share, "Cord": share}),
        Piece("plug", "Cable", plug, CORD, "Cord"),
        Piece("left prong", "Brass", lying(prong, 0.009), BRASS, "Cord"),
        Piece("right prong", "Brass", lying(prong, -0.009), BRASS, "Cord"),
    ]


def in_head(surface: Surface) -> Surface:
    """A surface turned about Y, laid along the axis of the shade."""
    return placed(surface, (1, 0, 0), 90.0 + SHADE_TILT, joint_place("Head"))


def _slanted(surface: Surface) -> Surface:
    """The bell, still upright, with its opening cut on a slant; its narrow end stays as it is."""
    vertices, triangles = surface
    up = -vertices[:, 2]  # where the head's top will be
    shift = VISOR * up * ramp(0.05, 0.285, vertices[:, 1])
    return vertices + shift[:, None] * np.array([0.0, 1.0, 0.0]), triangles


def _kept(vertices: Array, triangles: Array) -> Surface:
    """Only the vertices that the triangles use."""
    used, number = np.unique(triangles, return_inverse=True)
    return vertices[used], number.reshape(triangles.shape)


def _knuckle(radius: float, half: float, centre: ArrayLike) -> Surface:
    """A short cylinder along X with bevelled edges."""
    bevel = 0.007
    corners = [(radius - bevel, -half), (radius, -half + bevel), (radius, half - bevel), (radius - bevel, half)]
    rings = [corner for corner in corners for _ in range(2)]
    return placed(lathe([(0.0, -half), *rings, (0.0, half)], 28), (0, 0, 1), -90.0, centre)


def _button(radius: float, height: float) -> list[tuple[float, float]]:
    """The profile of a low dome on a flat foot."""
    turn = np.linspace(0.0, 0.5 * np.pi, 7)
    dome = [(radius * float(np.cos(a)), 0.3 * height + 0.7 * height * float(np.sin(a))) for a in turn]
    return [(0.0, 0.0), (radius, 0.0), (radius, 0.0), *dome[:-1], (0.0, height)]


def _round_section(radius: float, height: float, thickness: float, sides: int) -> Array:
    """A closed circle (sides + 1, 2) as a profile: a ring about the axis."""
    turn = -2 * np.pi * np.arange(sides) / sides
    circle = np.stack([radius - thickness * np.cos(turn), height + thickness * np.sin(turn)], axis=1)
    return np.concatenate([circle, circle[:1]])


def _direction(a: Array, b: Array) -> Array:
    way = b - a
    return way / np.linalg.norm(way)


SHEETS = Path(__file__).parent / "sheets" / "lamp"
CLIPS = ("hop", "curious", "sad", "happy")


def read_sheets(skeleton: Skeleton) -> tuple[Sheet, ...]:
    """The dope sheets, with the poses that they share."""
    joints = of_joints(skeleton.names)

    def text(name: str) -> str:
        return (SHEETS / f"{name}.txt").read_text(encoding="utf-8")

    poses = parse(text("poses"), "lamp/poses.txt", joints).poses
    return tuple(parse(text(name), f"lamp/{name}.txt", joints, poses) for name in CLIPS)


def curves(skeleton: Skeleton) -> tuple[Curves, ...]:
    """The animation, one set of curves a sheet."""
    return tuple(joint_curves(sheet, skeleton) for sheet in read_sheets(skeleton))


def skeleton() -> Skeleton:
    """The joints, each with the axes of the world."""
    return skeleton_of(JOINTS)


def character() -> Character:
    """The lamp's body."""
    return assemble_pieces("lamp", skeleton(), all_pieces(), MATERIALS)


def lamp() -> Asset:
    """The lamp and its animation."""
    body = character()
    return Asset([body], curves=curves(body.skeleton), format="cast")
