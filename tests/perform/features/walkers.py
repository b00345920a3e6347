"""Made-up characters that walk, sway and turn, with everything in the way that files put there."""

from __future__ import annotations

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.rig import DirectRig
from understudy.maths import quaternion

RATE = 30.0


def rig(z_up: bool = False, scale: float = 1.0, hips: float = 0.9) -> DirectRig:
    """A scene node (turned where the file was z-up, scaled where it was in centimetres), hips, a chest and two legs."""
    scene = quaternion.from_axis_angle([1.0, 0, 0], -0.5 * np.pi) if z_up else quaternion.identity()
    up = np.array([0, 0, 1.0]) if z_up else np.array([0, 1.0, 0])
    offsets = [np.zeros(3), hips * up, 0.5 * up, [0.1, *(-hips * up)[1:]], [-0.1, *(-hips * up)[1:]]]
    names = ["scene", "Hips", "Chest", "Left", "Right"]
    rotations = np.stack([scene, *quaternion.identity((4,))])
    scales = np.ones((5, 3))
    scales[0] = scale
    translations = np.array(offsets) / np.where(np.arange(5) > 0, scale, 1.0)[:, None]
    return DirectRig(Character("walker", Skeleton(names, [-1, 0, 1, 1, 1], translations, rotations, scales)))


def take(
    rig: DirectRig,
    frames: int,
    seed: int,
    speed: float = 0.0,
    turning: float = 0.0,
    start: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> np.ndarray:
    """Rows (F, C): hips walk at `speed` m/s along a heading that turns by `turning` rad/s, and joints sway."""
    rng = np.random.default_rng(seed)
    rows = np.tile(rig.rest, (frames, 1))
    seconds = np.arange(frames) / RATE
    heading = start[2] + turning * seconds
    steps = speed / RATE * np.stack([np.sin(heading), np.cos(heading)], axis=1)
    place = np.array(start[:2]) + np.concatenate([np.zeros((1, 2)), np.cumsum(steps[:-1], axis=0)])
    sway = 0.03 * np.sin(2 * np.pi * seconds + rng.uniform(0, 6, (3, 1)))
    world = np.stack([place[:, 0], np.zeros(frames), place[:, 1]], axis=1) + sway.T
    turn = quaternion.multiply(quaternion.from_axis_angle([0, 1.0, 0], heading), quaternion.exp(sway.T * 4))
    scene = rig.character.skeleton.rotations[0]
    scale = rig.character.skeleton.scales[0, 0]
    channels = rig.channels
    rows[:, channels.slice("Hips", "translation")] += quaternion.rotate(quaternion.conjugate(scene), world) / scale
    in_scene = quaternion.multiply(quaternion.multiply(quaternion.conjugate(scene), turn), scene)
    rows[:, channels.slice("Hips", "rotation")] = in_scene
    for joint in ("Chest", "Left", "Right"):
        swing = 0.5 * np.sin(4 * seconds + rng.uniform(0, 6))[:, None] * rng.normal(size=3)
        rows[:, channels.slice(joint, "rotation")] = quaternion.exp(swing)
    return rows


def same_poses(rig: DirectRig, a: np.ndarray, b: np.ndarray, within: float = 1e-9) -> bool:
    """Whether rows are the same, with q and -q the same rotation."""
    columns = rig.channels.columns_of("rotation").reshape(-1, 4)
    other = np.array(b)
    sign = np.where(np.einsum("fri,fri->fr", a[:, columns], b[:, columns]) < 0, -1.0, 1.0)
    other[:, columns] *= sign[..., None]
    return bool(np.abs(a - other).max() <= within)
