"""The bones of a rig as the VMC protocol wants them: names, and places and turns in their parents, left-handed.

**Handedness.** VMC's numbers are Unity's: metres, Y up, +Z forward and +X to the *right*. Ours have +X to the left of a
character that looks along +Z, so x is mirrored:

    p = (-x, y, z)        q = (x, -y, -z, w)

A character that looks along -Z (VRM 0) has z mirrored instead, (x, y, -z) and (-x, -y, z, w), and looks along +Z too.

**People** are sent as Unity's humanoid: bones under Unity's names, each turned from its rest pose in the axes of the
world, as if every joint had stood straight there. With W a joint's turn in the world, B the same at rest, and h the
next bone above,

    N = W B^-1        sent: N_h^-1 N,  N_h^-1 (p - p_h)

This is what receivers lay on any VRM avatar. It supposes that the rest pose is near to a T-pose.

**Others** are sent as they are: every joint under its own name, in its parent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.live.layers.bones import human_bones
from understudy.live.layers.facing import facing
from understudy.maths import quaternion
from understudy.rig import DirectRig, LayeredRig, PosedRig

NEEDED = ("Hips", "Head", "LeftUpperArm", "RightUpperArm", "LeftUpperLeg", "RightUpperLeg")


@dataclass(frozen=True, eq=False)
class SentBones:
    """What is sent of a rig's joints: a name for each, and the joint it is told in (-1: the world)."""

    rig: PosedRig
    names: tuple[str, ...]  # J
    parents: Array  # (J,)
    human: bool
    mirror: int  # the axis that is mirrored
    _rest_turns: Array  # (J, 4) B

    @classmethod
    def of(cls, rig: PosedRig, human: bool | None = None) -> SentBones:
        """The bones of a rig; `human` None tells a person by its bones, False sends every joint as it is."""
        skeleton = rig.character.skeleton
        bones = human_bones(skeleton)
        if human is None:
            human = all(name in bones for name in NEEDED)
        names, parents = list(skeleton.names), skeleton.parents.copy()
        if human:
            known = set(bones.values())
            names = [f"{name}.joint" if name in bones else name for name in names]  # a name that another bone gets
            for name, joint in bones.items():
                names[joint] = name
                parents[joint] = next((above for above in skeleton.ancestors(joint)[1:] if above in known), -1)
        mirror = 2 if facing(rig)[2, 2] < 0 else 0
        rest = _turns(rig.joints(rig.rest[None])[0])
        return cls(rig, tuple(names), parents, human, mirror, rest)

    def poses(self, row: Array) -> tuple[Array, Array]:
        """Places (J, 3) and turns (J, 4) for a row (C,), in Unity's coordinates."""
        places, turns = self._human(row) if self.human else self._own(row)
        return to_unity(places, turns, self.mirror)

    def _own(self, row: Array) -> tuple[Array, Array]:
        if isinstance(self.rig, LayeredRig):
            translations, rotations, _ = self.rig.local_transforms(row[None])
            return translations[0], rotations[0]
        if isinstance(self.rig, DirectRig):
            local = row[: 10 * len(self.names)].reshape(-1, 10)
            return local[:, :3], local[:, 3:7]
        world = self.rig.joints(row[None])[0]
        return _within(world[:, :3, 3], _turns(world), self.parents)

    def _human(self, row: Array) -> tuple[Array, Array]:
        world = self.rig.joints(row[None])[0]
        turned = quaternion.multiply(_turns(world), quaternion.conjugate(self._rest_turns))  # N = W B^-1
        return _within(world[:, :3, 3], turned, self.parents)


def to_unity(places: Array, turns: Array, mirror: int = 0) -> tuple[Array, Array]:
    """Places (..., 3) and turns (..., 4) seen in a mirror across axis `mirror`; twice gives them back."""
    signs = np.ones(3)
    signs[mirror] = -1.0
    # a turn about the mirrored axis stays, those about the others reverse
    return places * signs, turns * np.append(-signs, 1.0)


def _turns(world: Array) -> Array:
    """(J, 4) the rotations of transforms (J, 4, 4), without their scales."""
    linear = world[:, :3, :3]
    sizes = np.linalg.norm(linear, axis=1, keepdims=True)
    return quaternion.from_matrix(linear / np.where(sizes > 0, sizes, 1.0))


def _within(places: Array, turns: Array, parents: Array) -> tuple[Array, Array]:
    """Places and turns of the world, told in their parents'."""
    above = np.maximum(parents, 0)
    inverse = np.where((parents < 0)[:, None], quaternion.IDENTITY, quaternion.conjugate(turns[above]))
    origin = np.where((parents < 0)[:, None], 0.0, places[above])
    return quaternion.rotate(inverse, places - origin), quaternion.multiply(inverse, turns)
