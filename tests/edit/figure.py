"""A figure with two arms for blocked edits, built so that the obstacle is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Channel, Character, Curve, Curves, Skeleton
from understudy.character.rig import DirectRig
from understudy.edit import handles

NAMES = ("root", "chest", "L upper", "L fore", "L hand", "R upper", "R fore", "R hand")
PARENTS = (-1, 0, 1, 2, 3, 1, 5, 6)
OFFSETS = (
    (0, 1, 0), (0, 0.4, 0), (0.2, 0.1, 0), (0.3, 0, 0), (0.3, 0, 0), (-0.2, 0.1, 0), (-0.3, 0, 0), (-0.3, 0, 0),
)  # fmt: skip


def rig() -> DirectRig:
    return DirectRig(Character("figure", Skeleton(NAMES, PARENTS, OFFSETS), []))


def curves(
    shift: bool = True, seed: int = 0, still: Sequence[str] = (), amount: float = 0.4, keys: Sequence[float] = (0, 1, 2)
) -> Curves:
    """Smooth random angles; `shift` lets the root travel, joints that are `still` have the same pose at each key."""
    random = np.random.default_rng(seed)
    made = []
    if shift:
        places = random.normal(size=(len(keys), 3)) * 0.1 + (0, 1, 0)
        made.append(Curve(Channel("root", "translation"), keys, places[:1].repeat(len(keys), 0) if still else places))
    for name in NAMES:
        angles = random.normal(size=(len(keys), 3)) * amount
        if name in still:
            angles[:] = angles[0]
        made.append(Curve(Channel(name, "euler", ("x", "y", "z")), keys, angles))
    return handles.smooth_tangents(Curves("figure", made, rate=24.0))
