"""A flying robot of a few boxes with four keys, which hits what stands in its way between them.

It is the task of the user study [Ciccone 2019, section 4.3]: the poses are good, and the way between them is not.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Channel, Character, Curve, Curves, Mesh, Part, Skeleton, SkinBinding
from understudy.character.curve import BEZIER
from understudy.checks import Array
from understudy.edit import handles
from understudy.maths import quaternion

JOINTS = ("body", "head", "arm.L", "hand.L", "arm.R", "hand.R", "jet")
PARENTS = (-1, 0, 0, 2, 0, 4, 0)
PLACES = (
    (0, 1.2, 0),
    (0, 0.35, 0),
    (0.28, 0.1, 0),
    (0.3, 0, 0),
    (-0.28, 0.1, 0),
    (-0.3, 0, 0),
    (0, -0.35, 0),
)
KEYS = (0.0, 1.0, 2.0, 3.0)
RATE = 24.0
FLIGHT = ((-3.0, 1.2, 0.0), (-1.0, 1.4, 0.4), (1.0, 1.1, -0.4), (3.0, 1.3, 0.0))
OBSTACLES = (((-2.0, 1.32, 0.2), 0.35), ((0.1, 1.2, 0.0), 0.4), ((2.0, 1.15, -0.2), 0.35))  # centre, radius


def robot() -> Asset:
    """The robot and its flight, four keys for each channel."""
    skeleton = Skeleton(JOINTS, PARENTS, PLACES)
    world = np.zeros((len(JOINTS), 3))
    for j, parent in enumerate(PARENTS):
        world[j] = np.array(PLACES[j]) + (world[parent] if parent >= 0 else 0)
    parts = []
    for j, name in enumerate(JOINTS):
        mesh = _box(name, world[j], 0.12 if j else 0.25)
        binds = np.eye(4)[None].copy()
        binds[0, :3, 3] = -world[j]
        count = len(mesh.vertices)
        skin = SkinBinding([j], binds, np.zeros((count, 1), int), np.ones((count, 1)))
        parts.append(Part(name, mesh, skin))
    return Asset([Character("robot", skeleton, parts)], [], [flight()])


def _box(name: str, centre: Array, size: float) -> Mesh:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2 + centre
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Mesh(name, corners, [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))])


def flight() -> Curves:
    """The animation, with the tangents that an animation program gives by itself."""
    turns = {
        "body": ((0, 0, 0), (0.1, 0.3, 0.25), (-0.1, -0.3, -0.25), (0, 0, 0)),
        "head": ((0, 0, 0), (0, -0.4, 0), (0, 0.4, 0), (0, 0, 0)),
        "arm.L": ((0, 0, 0.2), (0, 0.2, 0.7), (0, -0.2, -0.3), (0, 0, 0.2)),
        "hand.L": ((0, 0, 0), (0, 0, 0.3), (0, 0.3, 0), (0, 0, 0)),
        "arm.R": ((0, 0, -0.2), (0, 0.2, 0.3), (0, -0.2, -0.7), (0, 0, -0.2)),
        "hand.R": ((0, 0, 0), (0, 0, 0.3), (0, 0.3, 0), (0, 0, 0)),
    }
    curves = [Curve(Channel("body", "translation"), KEYS, FLIGHT, BEZIER)]
    for name, angles in turns.items():
        curves.append(Curve(Channel(name, "rotation"), KEYS, quaternion.from_rotation_vector(np.array(angles)), BEZIER))
    return handles.clamp_tangents(Curves("flight", curves, rate=RATE))


def depth(places: Array) -> Array:
    """(F, J, 3) joints: how deep each is in each obstacle, (F, J, O) metres; a joint is a ball of 6 cm."""
    centres = np.array([centre for centre, _ in OBSTACLES])
    radii = np.array([radius for _, radius in OBSTACLES])
    found: Array = radii + 0.06 - np.linalg.norm(places[:, :, None] - centres, axis=-1)
    return found
