"""A small character with three short clips that begin and end alike: something to learn within a second or two."""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Skeleton, SkinBinding
from understudy.maths import quaternion

JOINTS = ("hips", "chest", "head")


def acrobat() -> Asset:
    """A strip of cloth on three joints that bows, sways and shakes its head, at 24 frames a second."""
    skeleton = Skeleton(JOINTS, [-1, 0, 1], [[0, 0.5, 0], [0, 0.5, 0], [0, 0.5, 0]])
    points = [[x, y, 0.0] for y in (0.5, 1.0, 1.5, 2.0) for x in (-0.2, 0.2)]
    triangles = [[i, i + 1, i + 2] for i in range(6)]
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[:, 1, 3] = [-0.5, -1.0, -1.5]
    owners = np.repeat([0, 1, 2, 2], 2)[:, None]
    skin = SkinBinding([0, 1, 2], binds, owners, np.ones((8, 1)))
    character = Character("acrobat", skeleton, [Part("cloth", Mesh("cloth", points, triangles), skin)])
    clips = [
        _clip("bow", 30, {"hips": (0.9, 0, 0), "chest": (0.6, 0, 0), "head": (0.3, 0, 0)}, 1.0),
        _clip("sway", 36, {"hips": (0, 0, 0.5), "chest": (0, 0, -0.4), "head": (0, 0, 0.6)}, 2.0),
        _clip("shake", 32, {"chest": (0.1, 0.2, 0), "head": (0, 0.9, 0.1)}, 3.0),
    ]
    return Asset([character], clips)


def _clip(name: str, frames: int, turns: dict[str, tuple[float, float, float]], waves: float) -> Clip:
    """Joints turn about an axis and back, `waves` times, and rest at both ends."""
    t = np.linspace(0, 1, frames)
    swing = np.sin(np.pi * waves * t) * np.sin(np.pi * t)
    late = np.roll(swing, 2) * (t > 0.1)
    columns = [quaternion.from_rotation_vector(np.outer(swing, turns.get(joint, (0, 0, 0)))) for joint in JOINTS]
    columns[1] = quaternion.from_rotation_vector(np.outer(late, turns.get("chest", (0, 0, 0))))
    channels = [Channel(joint, "rotation") for joint in JOINTS]
    return Clip(name, channels, np.concatenate(columns, axis=1), 24.0)
