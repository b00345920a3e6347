"""What the lamp is made of: base and swivel, arms and springs, shade and bulb, cord. Measures in metres, at rest.

The lamp faces +Z. Its shade is a bell turned about an axis that leaves the head joint forwards and 10 degrees down;
the round back of the bell is centred on that joint, so that it looks right however the head is turned. The opening is
cut on a slant: without it a bell looks the same however far it is tilted to the side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast import geometry
from understudy.cast.geometry import Surface, lathe, placed, smooth, tube
from understudy.cast.pieces import Piece, blend, paint, ramp
from understudy.checks import Array

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

ENAMEL, ENAMEL_DEEP = paint("#B8431F"), paint("#7E2B18")
BRASS, BRASS_DEEP = paint("#C28F45"), paint("#8A5E2C")
NAVY, NAVY_LIGHT = paint("#2C3F52"), paint("#41586E")
STEEL, CORD = paint("#B9BEC6"), paint("#3A2A35")
GLOW, GLOW_DEEP, BULB = paint("#A88450"), paint("#8A5522"), paint("#FFF3C8")


def at(joint: str) -> Array:
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
            rod = tube(np.array([at(joint), at(end)]) + x * LEFT, thick, 14, (1, 0, 0))
            pieces.append(Piece(f"{name} rod of {joint}", "Steel", rod, NAVY, joint))
    for joint, radius, half in (("LowerArm", 0.041, 0.058), ("UpperArm", 0.046, 0.058), ("Neck", 0.035, 0.052)):
        pieces.append(Piece(f"knuckle of {joint}", "Brass", _knuckle(radius, half, at(joint)), BRASS, joint))
        for name, x in (("left", 1.0), ("right", -1.0)):
            bolt = placed(lathe(_button(0.45 * radius, 0.010), 16), (0, 0, 1), -90.0 * x, at(joint) + x * half * LEFT)
            pieces.append(Piece(f"{name} bolt of {joint}", "Steel", bolt, NAVY_LIGHT, joint))
    for number, (low, low_joint, high, high_joint) in enumerate(spring_ends()):
        for place, joint in ((low, low_joint), (high, high_joint)):
            pin = tube([place - 0.042 * LEFT, place + 0.042 * LEFT], 0.0075, 12, (0, 1, 0))
            pieces.append(Piece(f"pin {number} of {joint}", "Brass", pin, BRASS_DEEP, joint))
    neck = tube([at("Neck"), at("Head")], 0.021, 18, (1, 0, 0))
    return [*pieces, Piece("neck", "Brass", neck, BRASS, "Neck")]


def spring_ends() -> tuple[tuple[Array, str, Array, str], ...]:
    """For the lower and the upper pair: where it is hooked in and what carries that end; x is zero."""
    lower, upper, neck = at("LowerArm"), at("UpperArm"), at("Neck")
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
    return placed(surface, (1, 0, 0), 90.0 + SHADE_TILT, at("Head"))


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
