"""Which way a character faces at rest: its left, up and forward in the world.

understudy's convention is +Z, but files differ (VRM 0 faces -Z). The line from right to left joints of a pair tells, as
nobody's left is on his right.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.live.layers.bones import sided
from understudy.rig import PosedRig

UP = np.array([0.0, 1.0, 0.0])


def facing(rig: PosedRig) -> Array:
    """(3, 3) columns left, up, forward, by the pairs of joints that differ in their side alone; +X, +Y, +Z without."""
    places = rig.joints(rig.rest[None])[0, :, :3, 3]
    left: dict[tuple[str, str], int] = {}
    right: dict[tuple[str, str], int] = {}
    for joint, name in enumerate(rig.character.skeleton.names):
        side, stem, number = sided(name)
        if side:
            (left if side == "Left" else right).setdefault((stem, number), joint)
    across = np.zeros(3)
    for key in left.keys() & right.keys():
        across += places[left[key]] - places[right[key]]
    across[1] = 0.0
    length = np.linalg.norm(across)
    # A hundredth of the body: less is a pair of helpers in the middle, not a left and a right.
    if length <= 0.01 * max(float(np.ptp(places[:, 1])), 1e-9):
        return np.eye(3)
    # A character is made to face an axis, though its rest pose may not be even: the tail to one side, a leg in front.
    axis = int(np.argmax(np.abs(across)))
    across = np.sign(across[axis]) * np.eye(3)[axis]
    return np.stack([across, UP, np.cross(across, UP)], axis=1)
