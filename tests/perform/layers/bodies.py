"""Small characters for the layers: a body of joints under different names, and a face with ARKit's shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.character import Character, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.character.rig import DirectRig
from understudy.formats.arkit_names import SHAPE_NAMES
from understudy.maths import quaternion

# name, parent, place in the world; the character's left is +x, it looks along +z
BODY = (
    ("Hips", "", (0, 1.0, 0)),
    ("Spine", "Hips", (0, 1.1, 0)),
    ("Spine1", "Spine", (0, 1.2, 0)),
    ("Spine2", "Spine1", (0, 1.35, 0)),
    ("Neck", "Spine2", (0, 1.5, 0)),
    ("Head", "Neck", (0, 1.6, 0.02)),
    ("LeftEye", "Head", (0.032, 1.68, 0.1)),
    ("RightEye", "Head", (-0.032, 1.68, 0.1)),
    ("LeftShoulder", "Spine2", (0.05, 1.45, 0)),
    ("LeftArm", "LeftShoulder", (0.18, 1.45, 0)),
    ("LeftForeArm", "LeftArm", (0.45, 1.45, 0)),
    ("LeftHand", "LeftForeArm", (0.7, 1.45, 0)),
    ("RightShoulder", "Spine2", (-0.05, 1.45, 0)),
    ("RightArm", "RightShoulder", (-0.18, 1.45, 0)),
    ("RightForeArm", "RightArm", (-0.45, 1.45, 0)),
    ("RightHand", "RightForeArm", (-0.7, 1.45, 0)),
    ("LeftUpLeg", "Hips", (0.1, 0.95, 0)),
    ("LeftLeg", "LeftUpLeg", (0.1, 0.5, 0)),
    ("LeftFoot", "LeftLeg", (0.1, 0.08, 0)),
    ("RightUpLeg", "Hips", (-0.1, 0.95, 0)),
    ("RightLeg", "RightUpLeg", (-0.1, 0.5, 0)),
    ("RightFoot", "RightLeg", (-0.1, 0.08, 0)),
)


def body(
    rename: Callable[[str], str] = str,
    seed: int | None = None,
    turned: bool = False,
    eyes: bool = True,
    shapes: tuple[str, ...] = (),
) -> DirectRig:
    """A person. With a seed, every joint has axes of its own; `turned` faces -z; `shapes` go on a small face mesh."""
    joints = [joint for joint in BODY if eyes or "Eye" not in joint[0]]
    names = [name for name, _, _ in joints]
    parents = [names.index(parent) if parent else -1 for _, parent, _ in joints]
    world = np.array([place for _, _, place in joints], float) * ([-1, 1, -1] if turned else [1, 1, 1])
    rng = np.random.default_rng(seed)
    turns = (
        quaternion.identity((len(names),)) if seed is None else quaternion.normalise(rng.normal(size=(len(names), 4)))
    )
    above = [turns[p] if p >= 0 else np.array([0.0, 0, 0, 1]) for p in parents]
    offsets = [place - (world[p] if p >= 0 else 0) for place, p in zip(world, parents)]
    translations = [quaternion.rotate(quaternion.conjugate(q), offset) for q, offset in zip(above, offsets)]
    rotations = [quaternion.multiply(quaternion.conjugate(q), own) for q, own in zip(above, turns)]
    skeleton = Skeleton([rename(name) for name in names], parents, translations, rotations)
    head = names.index("Head")
    parts = [_face(head, world[head], turns[head], turned, shapes)] if shapes else []
    return DirectRig(Character("person", skeleton, parts))


def _face(head: int, place: np.ndarray, turn: np.ndarray, turned: bool, shapes: tuple[str, ...]) -> Part:
    """Two triangles on the head, one at each eye; a shape moves the one of its side."""
    flip = -1.0 if turned else 1.0
    eye = np.array([[0.0, 0, 0], [0.01, 0, 0], [0, 0.01, 0]])
    eye = eye - eye.mean(axis=0)
    places = np.array([[0.032 * flip, 1.68, 0.1 * flip], [-0.032 * flip, 1.68, 0.1 * flip]])
    vertices = np.concatenate([eye + places[0], eye + places[1]])
    deltas = np.zeros((len(shapes), 6, 3))
    for number, name in enumerate(shapes):
        deltas[number, :3, 1] = 0.0 if name.endswith(("Right", "_R")) else 0.002
        deltas[number, 3:, 1] = 0.0 if name.endswith(("Left", "_L")) else 0.002
    head_from_world = quaternion.conjugate(turn)
    vertices, deltas = (quaternion.rotate(head_from_world, a) for a in (vertices - place, deltas))
    mesh = Mesh("Face", vertices, [[0, 1, 2], [3, 4, 5]], shapes=Shapes(shapes, deltas))
    return Part("Face", mesh, SkinBinding.rigid(head, 6))


ARKIT = tuple(SHAPE_NAMES)
