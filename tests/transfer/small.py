"""A small actor, a small character with a tail, and pairs of them whose true relation is known."""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Skeleton, SkinBinding, kinematics
from understudy.character.body.markers import markers_of
from understudy.character.body.poses import sample_poses
from understudy.checks import Array
from understudy.maths import quaternion
from understudy.transfer.pairs import PairEntry, PosePairs, pairs_of
from understudy.transfer.source import SourceMotion, source_of

RATE = 30.0
BONES = (
    ("Hips", -1, (0.0, 0.95, 0.0)),
    ("Spine", 0, (0.0, 0.1, 0.0)),
    ("Head", 1, (0.0, 0.45, 0.0)),
    ("LeftArm", 1, (0.2, 0.35, 0.0)),
    ("LeftForeArm", 3, (0.28, 0.0, 0.0)),
    ("RightArm", 1, (-0.2, 0.35, 0.0)),
    ("RightForeArm", 5, (-0.28, 0.0, 0.0)),
    ("LeftUpLeg", 0, (0.1, -0.05, 0.0)),
    ("LeftLeg", 7, (0.0, -0.42, 0.0)),
    ("LeftFoot", 8, (0.0, -0.42, 0.0)),
    ("RightUpLeg", 0, (-0.1, -0.05, 0.0)),
    ("RightLeg", 10, (0.0, -0.42, 0.0)),
    ("RightFoot", 11, (0.0, -0.42, 0.0)),
)
# name, parent, place in the parent, and the box of skin: its lowest and highest corner in the joint's frame
BOXES = (
    ("Base", -1, (0.0, 0.0, 0.0), (-0.2, 0.0, -0.2), (0.2, 0.1, 0.25)),
    ("Trunk", 0, (0.0, 0.1, 0.0), (-0.1, 0.0, -0.1), (0.1, 0.4, 0.1)),
    ("Head", 1, (0.0, 0.4, 0.0), (-0.1, 0.0, -0.1), (0.1, 0.2, 0.2)),
    ("Tail1", 1, (0.0, 0.1, -0.1), (-0.03, -0.03, -0.05), (0.03, 0.03, 0.0)),
    ("Tail2", 3, (0.0, 0.0, -0.05), (-0.03, -0.03, -0.05), (0.03, 0.03, 0.0)),
    ("Tail3", 4, (0.0, 0.0, -0.05), (-0.03, -0.03, -0.05), (0.03, 0.03, 0.0)),
)
FACES = [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6]]
FACES += [[1, 3, 5], [3, 7, 5]]


def bend(seconds: Array) -> tuple[Array, Array]:
    """Radians that the back bends and the head turns, at times (M,)."""
    return 0.6 * np.sin(2.1 * seconds), 0.8 * np.sin(1.3 * seconds + 1)


def actor(seconds: float = 3.0, scale: float = 1.0, still: bool = False) -> Asset:
    """Someone who bends, looks about and walks ahead at half a metre a second."""
    skeleton = Skeleton([b[0] for b in BONES], [b[1] for b in BONES], scale * np.array([b[2] for b in BONES]))
    times = np.arange(round(seconds * RATE)) / RATE
    back, turn = bend(np.zeros_like(times) if still else times)
    place = np.tile(np.array(BONES[0][2]), (len(times), 1))
    place[:, 2] = 0.0 if still else 0.5 * times
    values = np.concatenate([scale * place, _turns(back, 0), _turns(turn, 1), _turns(0.5 * back, 2)], axis=1)
    channels = [
        Channel("Hips", "translation"),
        Channel("Spine", "rotation"),
        Channel("Head", "rotation"),
        Channel("LeftArm", "rotation"),
    ]
    return Asset([Character("actor", skeleton)], [Clip("play", channels, values, RATE)])


def hopper(lifted: float = 0.0) -> Asset:
    """A box with a neck and a tail, with a clip `keys` that bends and turns as the actor does, scaled."""
    places = np.array([b[2] for b in BOXES])
    places[0, 1] += lifted
    skeleton = Skeleton([b[0] for b in BOXES], [b[1] for b in BOXES], places)
    world = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations)
    corners, triangles, owners = [], [], []
    for j, box in enumerate(BOXES):
        low, high = np.array(box[3]), np.array(box[4])
        unit = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
        corners.append(low + unit * (high - low) + world[j, :3, 3])
        triangles.append(np.array(FACES) + 8 * j)
        owners += [[j]] * 8
    mesh = Mesh("skin", np.concatenate(corners), np.concatenate(triangles))
    skin = SkinBinding(np.arange(len(BOXES)), np.linalg.inv(world), owners, np.ones((len(owners), 1)))
    times = np.arange(90) / RATE
    back, turn = bend(times)
    values = np.concatenate([_turns(0.7 * back, 0), _turns(0.5 * turn, 1)], axis=1)
    keys = Clip("keys", [Channel("Trunk", "rotation"), Channel("Head", "rotation")], values, RATE)
    return Asset([Character("hopper", skeleton, [Part("skin", mesh, skin)])], [keys])


def source(seconds: float = 3.0) -> SourceMotion:
    """The actor's motion."""
    return source_of(actor(seconds))


def pairs(frames: Array | None = None, skip: tuple[str, ...] = ("Tail1",)) -> PosePairs:
    """Frames of the actor with the hopper's poses at the same moments."""
    given, asset = source(), hopper()
    target = asset.character()
    chosen = np.arange(2, 90, 8) if frames is None else frames
    entries = [
        PairEntry(given.name, int(f), sample_poses(target, asset.animations[0], np.array([f / RATE]))) for f in chosen
    ]
    return pairs_of({given.name: given}, entries, target, markers_of(target, skip=skip))


def _turns(angles: Array, axis: int) -> Array:
    return quaternion.from_rotation_vector(np.outer(angles, np.eye(3)[axis]))
