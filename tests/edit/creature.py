"""A small creature for the tests of editing: a trunk with two arms, a skin over one arm, and shapes on the skin."""

from __future__ import annotations

import numpy as np

from understudy.character import Channel, Character, Curve, Curves, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.character.curve import BEZIER
from understudy.character.rig import DirectRig
from understudy.checks import Array

NAMES = ("hips", "spine", "left arm", "left hand", "left tip", "right arm", "right hand", "right tip")
PARENTS = (-1, 0, 1, 2, 3, 1, 5, 6)
OFFSETS = (
    (0, 1, 0), (0, 0.4, 0), (0.2, 0.3, 0), (0.3, 0, 0), (0.25, 0, 0.02), (-0.2, 0.3, 0), (-0.3, 0, 0), (-0.25, 0, 0.02),
)  # fmt: skip


def rig(scaled: bool = False) -> DirectRig:
    """The creature's rig; `scaled` gives joints their own scales, which shear what hangs on them."""
    random = np.random.default_rng(5)
    scales = 1 + 0.3 * random.uniform(-1, 1, (len(NAMES), 3)) if scaled else None
    rotations = random.normal(size=(len(NAMES), 4)) * 0.2 + (0, 0, 0, 1)
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    skeleton = Skeleton(NAMES, PARENTS, OFFSETS, rotations, scales)
    points = random.uniform(-0.3, 0.3, (12, 3))
    shapes = Shapes(("smile", "frown"), random.normal(size=(2, 12, 3)) * 0.05, defaults=(0.0, 0.3))
    triangles = np.arange(12).reshape(-1, 3)
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[:, :3, 3] = random.uniform(-0.2, 0.2, (3, 3))
    weights = random.uniform(0.1, 1, (12, 3))
    weights /= weights.sum(axis=1, keepdims=True)
    skin = SkinBinding((2, 3, 4), binds, np.tile((0, 1, 2), (12, 1)), weights)
    return DirectRig(
        Character("creature", skeleton, [Part("skin", Mesh("skin", points, triangles, shapes=shapes), skin)])
    )


def curves(seed: int = 0, kind: str = "euler", keys: int = 4, shared: bool = True, scale: bool = False) -> Curves:
    """A random smooth animation of all joints: Euler angles, quaternions ("rotation"), or both in turn ("mixed").

    Keys are at 0 ... keys - 1 seconds, or where they are not `shared` moved about a little for each channel.
    """
    random = np.random.default_rng(seed)
    made = [_curve(random, Channel("hips", "translation"), keys, shared, (0, 1, 0), 0.1)]
    for number, name in enumerate(NAMES):
        by_angles = kind == "euler" or (kind == "mixed" and number % 2 == 0)
        order = ("xyz", "zyx", "yzx")[number % 3]
        channel = Channel(name, "euler", tuple(order)) if by_angles else Channel(name, "rotation")
        made.append(_curve(random, channel, keys, shared, (0, 0, 0) if by_angles else (0, 0, 0, 1), 0.25))
        if scale and number == 2:
            made.append(_curve(random, Channel(name, "scale"), keys, shared, (1, 1, 1), 0.1))
    made.append(_curve(random, Channel("skin", "weights", ("smile",)), keys, shared, (0.5,), 0.2))
    return Curves("dance", made, rate=24.0)


def _curve(
    random: np.random.Generator, channel: Channel, keys: int, shared: bool, centre: tuple[float, ...], amount: float
) -> Curve:
    times = np.arange(keys, dtype=float)
    if not shared:
        times[1:-1] += random.uniform(-0.3, 0.3, keys - 2)
    values = np.array(centre) + amount * random.normal(size=(keys, len(centre)))
    if channel.kind == "rotation":
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    slope = amount * random.normal(size=values.shape)
    third: Array = np.full(keys, 1 / 3)
    third[1:] = np.diff(times) / 3
    before = np.stack([np.broadcast_to(third[:, None], values.shape), third[:, None] * slope], axis=-1)
    third = np.append(np.diff(times) / 3, 1 / 3)
    after = np.stack([np.broadcast_to(third[:, None], values.shape), third[:, None] * slope], axis=-1)
    return Curve(channel, times, values, BEZIER, before, after)
