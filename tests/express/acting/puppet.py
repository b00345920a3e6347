"""A puppet with a head, a few of ARKit's shapes and labelled clips, and one that controls move."""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.maths import quaternion

SHAPES = ("jawOpen", "mouthSmile_L", "browInnerUp", "eyeBlinkLeft", "eyeBlinkRight", "eyeLookOutLeft", "eyeLookInLeft")
RATE = 24.0
LOOKS = {"happy": (0.2, 0.9, 0.1), "shocked": (0.9, 0.0, 1.0)}


def puppet(heads: bool = True) -> Asset:
    """Three clips of each look, with a peak at half a second; the second puts its head to the left."""
    skeleton = Skeleton(["Root", "Neck", "Head"], [-1, 0, 1], [[0, 0, 0], [0, 1, 0], [0, 0.2, 0]])
    vertices = np.random.default_rng(0).normal(size=(12, 3)) * 0.1 + [0, 1.3, 0]
    deltas = np.random.default_rng(1).normal(size=(len(SHAPES), 12, 3)) * 0.05
    mesh = Mesh("face", vertices, [[i, i + 1, i + 2] for i in range(10)], shapes=Shapes(SHAPES, deltas))
    character = Character("puppet", skeleton, [Part("face", mesh, SkinBinding.rigid(2, 12))])
    clips = []
    for label, look in LOOKS.items():
        for number in range(3):
            clips.append(_clip(f"{label} {number}", label, look, number, heads))
    return Asset([character], clips)


def _clip(name: str, label: str, look: tuple[float, ...], number: int, heads: bool) -> Clip:
    times = np.arange(31) / RATE
    rise = np.clip(times / 0.5, 0.0, 1.0) * np.clip((times[-1] - times) / 0.7, 0.0, 1.0)
    shown = (rise / rise.max() * (0.8 + 0.1 * number))[:, None] * look
    channels = [Channel("face", "weights", SHAPES[:3])]
    values = [shown]
    if heads:
        turn = np.outer(0.2 * number * rise / rise.max(), [0.0, 1.0, 0.0])
        channels.insert(0, Channel("Head", "rotation"))
        values.insert(0, quaternion.from_rotation_vector(turn))
    return Clip(name, channels, np.concatenate(values, axis=1), RATE, labels=(label,), moments={"peak": 0.5})
