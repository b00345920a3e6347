"""Bodies whose masses are known, and motions whose momenta and forces are known."""

from __future__ import annotations

import numpy as np

from understudy.character import Character, Mesh, Part, Skeleton, SkinBinding
from understudy.character.body.mass import Body, ContactPoint
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import quaternion

RATE = 60.0
FACES = [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6]]
FACES += [[1, 3, 5], [3, 7, 5]]


def box(low: Array, high: Array) -> tuple[Array, Array]:
    """Vertices (8, 3) and triangles (12, 3), facing outwards."""
    unit = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
    return np.asarray(low) + unit * (np.asarray(high) - np.asarray(low)), np.array(FACES)


def tube(points: int, rings: int, radius: float, length: float) -> tuple[Array, Array]:
    """A closed round bar along +Y from the origin."""
    angle = 2 * np.pi * np.arange(points) / points
    ring = np.stack([radius * np.sin(angle), np.zeros(points), radius * np.cos(angle)], axis=1)
    vertices = [ring + np.array([0.0, length * i / (rings - 1), 0.0]) for i in range(rings)]
    vertices += [np.array([[0.0, 0.0, 0.0], [0.0, length, 0.0]])]
    triangles = []
    for i in range(rings - 1):
        for k in range(points):
            a, b = i * points + k, i * points + (k + 1) % points
            triangles += [[a, b, a + points], [b, b + points, a + points]]
    bottom, top, last = rings * points, rings * points + 1, (rings - 1) * points
    for k in range(points):
        triangles += [[bottom, (k + 1) % points, k], [top, last + k, last + (k + 1) % points]]
    return np.concatenate(vertices), np.array(triangles)


def of_mesh(skeleton: Skeleton, vertices: Array, triangles: Array, owners: Array) -> Character:
    """A character with one part, each vertex held by one joint."""
    world = PoseSequence.rest(skeleton).world[0]
    skin = SkinBinding(
        np.arange(len(skeleton)), np.linalg.inv(world), np.asarray(owners)[:, None], np.ones((len(owners), 1))
    )
    return Character("solid", skeleton, [Part("skin", Mesh("skin", vertices, triangles), skin)])


def brick(masses: tuple[float, ...] = (2.0,)) -> tuple[Skeleton, Body]:
    """One joint with one link off its centre, and four contact points below."""
    skeleton = Skeleton(["Brick"], [-1], [[0.0, 0.5, 0.0]])
    contacts = [
        ContactPoint(f"corner {i}", 0, [0.2 * x, -0.5, 0.3 * z])
        for i, (x, z) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)])
    ]
    return skeleton, Body(list(masses), [[0.0, 0.1, 0.0]], [np.diag([0.3, 0.2, 0.25])], contacts)


def flight(skeleton: Skeleton, frames: int = 40, gravity: float = 9.81) -> PoseSequence:
    """A throw: a parabola, and a steady turn about an axis through the joint."""
    t = np.arange(frames) / RATE
    places = np.array([0.3, 3.0, -0.2]) * t[:, None] - [0.0, 0.5 * gravity, 0.0] * np.square(t)[:, None]
    translations = np.broadcast_to(skeleton.translations, (frames, len(skeleton), 3)).copy()
    translations[:, 0] += places
    rotations = np.broadcast_to(skeleton.rotations, (frames, len(skeleton), 4)).copy()
    rotations[:, 0] = quaternion.from_axis_angle(np.tile([0.0, 1.0, 0.0], (frames, 1)), 2.0 * t)
    return PoseSequence(skeleton, translations, rotations, RATE)


def walker() -> tuple[Skeleton, Body]:
    """Hips on two legs of two bones with a foot each, toe and heel below it; most of the weight in the hips."""
    names, parents, places = ["Hips"], [-1], [[0.0, 0.95, 0.0]]
    for side, x in (("Left", 0.1), ("Right", -0.1)):
        at = len(names)
        names += [f"{side}UpLeg", f"{side}Leg", f"{side}Foot"]
        parents += [0, at, at + 1]
        places += [[x, -0.05, 0.0], [0.0, -0.42, 0.02], [0.0, -0.42, -0.02]]
    names.append("Chest")
    parents.append(0)
    places.append([0.0, 0.4, 0.0])
    skeleton = Skeleton(names, parents, places)
    masses = np.array([20.0, 6.0, 3.0, 1.0, 6.0, 3.0, 1.0, 30.0])
    centres = np.array(
        [[0.0, 0.1, 0.0], *[[0.0, -0.2, 0.0], [0.0, -0.2, 0.0], [0.0, -0.03, 0.04]] * 2, [0.0, 0.1, 0.0]]
    )
    inertias = masses[:, None, None] * np.diag([0.02, 0.01, 0.02])
    contacts = [
        ContactPoint(f"{side}.{role}", skeleton.index(f"{side}Foot"), [0.0, -0.06, z])
        for side in ("Left", "Right")
        for role, z in (("toe", 0.15), ("heel", -0.05))
    ]
    return skeleton, Body(masses, centres, inertias, contacts)
