"""A walking character for the tests of feet: clips of joints alone, made by bending the legs of `bodies.body`."""

from __future__ import annotations

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.rig import DirectRig
from understudy.maths import quaternion

RATE = 24.0
# name, parent, place in the world
JOINTS = (
    ("root", "", (0, 0, 0)),
    ("hips", "root", (0, 1.0, 0)),
    ("chest", "hips", (0, 1.4, 0)),
    ("head", "chest", (0, 1.7, 0)),
    ("tail", "hips", (0, 0.5, -0.4)),
    ("tail_end", "tail", (0, 0.04, -0.8)),
    ("thigh_a", "hips", (0.15, 0.95, 0)),
    ("shin_a", "thigh_a", (0.15, 0.5, 0.03)),
    ("sole_a", "shin_a", (0.15, 0.03, 0)),
    ("thigh_b", "hips", (-0.15, 0.95, 0)),
    ("shin_b", "thigh_b", (-0.15, 0.5, 0.03)),
    ("sole_b", "shin_b", (-0.15, 0.03, 0)),
)
NAMES = [name for name, _, _ in JOINTS]
LEGS = (("thigh_a", "shin_a", "sole_a"), ("thigh_b", "shin_b", "sole_b"))


def walker(loose: bool = False) -> DirectRig:
    """A biped with a tail that lies on the ground; `loose` feet hang on the root, as in rigs made with IK."""
    parents = [NAMES.index(parent) if parent else -1 for _, parent, _ in JOINTS]
    places = np.array([place for _, _, place in JOINTS], float)
    order = list(range(len(JOINTS)))
    if loose:
        for name in ("sole_a", "sole_b"):
            parents[NAMES.index(name)] = 0
    offsets = [places[j] - (places[parents[j]] if parents[j] >= 0 else 0) for j in order]
    return DirectRig(Character("walker", Skeleton(NAMES, parents, offsets), []))


def posed(rig: DirectRig, feet: np.ndarray, hips: np.ndarray | None = None) -> np.ndarray:
    """(F, C) rows whose feet are at (F, 2, 3), by two-bone trigonometry in the plane of each leg."""
    rows = np.tile(rig.rest, (len(feet), 1))
    skeleton = rig.character.skeleton
    moved = np.zeros((len(feet), 3)) if hips is None else hips
    rows[:, 10:13] += moved
    for side, (thigh, shin, sole) in enumerate(LEGS):
        joints = [skeleton.names.index(name) for name in (thigh, shin, sole)]
        rest = rig.joints(rig.rest[None])[0, joints, :3, 3]
        upper, lower = rest[1] - rest[0], rest[2] - rest[1]
        away = feet[:, side] - (rest[0] + moved)
        a, b = np.linalg.norm(upper), np.linalg.norm(lower)
        far = np.minimum(np.linalg.norm(away, axis=1), 0.9999 * (a + b))
        knee = np.arccos(np.clip((far**2 - a * a - b * b) / (2 * a * b), -1, 1))  # 0 is straight
        straight = np.arctan2(lower[2], -lower[1]) - np.arctan2(upper[2], -upper[1])
        bend = quaternion.from_rotation_vector(np.outer(knee + straight, [1.0, 0, 0]))
        tip = upper + quaternion.rotate(bend, lower)
        across = np.cross(tip, away)
        angle = np.arctan2(np.linalg.norm(across, axis=1), (tip * away).sum(axis=1))
        axis = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
        swing = quaternion.from_rotation_vector(axis * angle[:, None])
        rows[:, 10 * joints[0] + 3 : 10 * joints[0] + 7] = swing
        rows[:, 10 * joints[1] + 3 : 10 * joints[1] + 7] = bend
        if skeleton.parents[joints[2]] == 0:
            rows[:, 10 * joints[2] : 10 * joints[2] + 3] = feet[:, side]
        else:
            whole = quaternion.multiply(swing, bend)
            rows[:, 10 * joints[2] + 3 : 10 * joints[2] + 7] = quaternion.conjugate(whole)
    return rows


def steps(seconds: float = 4.0) -> np.ndarray:
    """(F, 2, 3) feet of a walk on the spot that marches: each stands for a second and is lifted for half of one."""
    times = np.arange(int(seconds * RATE)) / RATE
    feet = np.zeros((len(times), 2, 3))
    for side, x in enumerate((0.15, -0.15)):
        phase = (times + 0.75 * side) % 1.5
        lifted = np.clip((phase - 1.0) / 0.5, 0, 1)
        feet[:, side] = np.stack([0 * times + x, 0.03 + 0.15 * np.sin(np.pi * lifted) ** 2, 0 * times], axis=1)
    return feet


def stance(width: float, seconds: float = 2.0) -> np.ndarray:
    """(F, 2, 3) feet that stand so far apart."""
    feet = np.zeros((int(seconds * RATE), 2, 3))
    feet[:, 0], feet[:, 1] = (width, 0.03, 0), (-width, 0.03, 0)
    return feet
