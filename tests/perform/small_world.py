"""A small character with clips, to make libraries of."""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Skeleton, SkinBinding
from understudy.maths import quaternion

JOINTS = ("root", "arm", "hand")


def character(name: str = "hero", prefix: str = "") -> Character:
    skeleton = Skeleton([prefix + joint for joint in JOINTS], [-1, 0, 1], [[0, 0, 0], [0, 1, 0], [0, 0.5, 0]])
    points = np.random.default_rng(1).normal(size=(12, 3)) * 0.2 + [0, 1, 0]
    mesh = Mesh("body", points, np.arange(12).reshape(4, 3))
    return Character(name, skeleton, [Part("body", mesh, SkinBinding.rigid(2, 12))])


def clip(name: str, frames: int = 20, rate: float = 24.0, labels: tuple[str, ...] = (), prefix: str = "") -> Clip:
    """Arm and hand swing, each clip in a way of its own."""
    rng = np.random.default_rng(abs(sum(map(ord, name))))
    seconds = np.arange(frames) / rate
    channels = [Channel(prefix + joint, "rotation") for joint in ("arm", "hand")]
    swings = [np.sin(3 * seconds + rng.uniform(0, 6))[:, None] * rng.normal(size=3) for _ in channels]
    return Clip(name, channels, np.concatenate([quaternion.exp(swing) for swing in swings], axis=1), rate, 0.0, labels)


def asset(*clips: Clip) -> Asset:
    return Asset([character()], clips or (clip("Walk"), clip("Run"), clip("Cheer")))
