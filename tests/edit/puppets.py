"""Small characters to edit: an arm of three bones that waves between keys, with a stand that never moves."""

from __future__ import annotations

import numpy as np

from understudy.character import (
    Asset,
    Channel,
    Character,
    Clip,
    Curve,
    Curves,
    Mesh,
    Part,
    Shapes,
    Skeleton,
    SkinBinding,
)
from understudy.character.rig import DirectRig
from understudy.edit import handles
from understudy.maths import quaternion

JOINTS = ("rig:stand", "rig:upper", "rig:fore", "rig:hand")
KEYS = (0.0, 0.5, 1.0)


def arm() -> Character:
    """A strip of cloth along three bones of half a metre."""
    skeleton = Skeleton(JOINTS, [-1, 0, 1, 2], [[0, 1, 0], [0, 0, 0], [0.5, 0, 0], [0.5, 0, 0]])
    points = [[x, 1.0 + y, 0.0] for x in (0.0, 0.5, 1.0, 1.2) for y in (-0.05, 0.05)]
    triangles = [[i, i + 1, i + 2] for i in range(6)]
    binds = np.tile(np.eye(4), (4, 1, 1))
    binds[:, :3, 3] = [[0, -1, 0], [0, -1, 0], [-0.5, -1, 0], [-1, -1, 0]]
    shapes = Shapes(["spread"], [[[0, 0, 0]] * 6 + [[0, -0.1, 0], [0, 0.1, 0]]])
    skin = SkinBinding([0, 1, 2, 3], binds, np.repeat([1, 2, 3, 3], 2)[:, None], np.ones((8, 1)))
    return Character("arm", skeleton, [Part("sleeve", Mesh("sleeve", points, triangles, shapes=shapes), skin)])


def wave(euler: bool = False) -> Curves:
    """Upper arm, forearm and hand turn about z between three keys; quaternions or Euler angles."""
    curves = []
    for joint, angles in zip(JOINTS[1:], ((0.2, 0.9, 0.1), (0.3, 1.2, 0.5), (0.0, 0.4, -0.2))):
        if euler:
            values = np.stack([np.zeros(3), np.zeros(3), angles], axis=1)
            curves.append(Curve(Channel(joint, "euler", ("x", "y", "z")), KEYS, values))
        else:
            turns = quaternion.from_rotation_vector(np.outer(angles, [0, 0, 1.0]))
            curves.append(Curve(Channel(joint, "rotation"), KEYS, turns))
    curves.append(Curve(Channel("sleeve", "weights", ("spread",)), KEYS, [[0], [1], [0]]))
    return handles.smooth_tangents(Curves("wave", curves, ["greeting"], rate=24.0))


def rig() -> DirectRig:
    return DirectRig(arm())


def asset(dense: bool = False) -> Asset:
    """The arm with two animations; dense ones are frames."""
    still = Clip("still", [Channel(JOINTS[1], "rotation")], np.tile([0, 0, 0, 1.0], (5, 1)), 24.0)
    if dense:
        return Asset([arm()], [wave().clip(24.0), still])
    return Asset([arm()], [still], [wave()])
