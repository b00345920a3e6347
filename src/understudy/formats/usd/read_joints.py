"""The joints of one character while they are gathered: those of its skeletons, and the transforms above them.

UsdSkel's joints move within the Skeleton prim, which may itself stand under transforms; meshes without a skin hang
under transforms only. A prim whose own transform is not the identity, or moves, becomes a joint, as a node of glTF
would.
"""

from __future__ import annotations

import numpy as np
from pxr import Usd, UsdGeom

from understudy.character import Skeleton
from understudy.checks import LARGEST_NUMBER, Array
from understudy.formats.usd.reading import EARLIEST, Reading, name_of
from understudy.maths import transform

SAME = 1e-6  # relative: a rest transform that somebody has edited since differs by more, and counts as it is
SHEAR = 1e-5  # relative; rounding of float32 transforms stays below 1e-6, and 1e-5 of a limb is not visible


class Joints:
    """A growing forest of joints, parents first, already in metres and Y up."""

    def __init__(self, reading: Reading, name: str) -> None:
        self.reading, self.name = reading, name
        self._names: list[str] = []
        self._parents: list[int] = []
        self._matrices: list[Array] = []
        self._nodes: dict[str, int] = {}
        self.moving: list[tuple[int, UsdGeom.Xformable]] = []
        self._anchor: int | None = None
        self.exact: dict[
            int, Array
        ] = {}  # rotation and scale (7,) of joints that our own writer kept beside the matrix

    def add(self, name: str, parent: int, parent_from_joint: Array) -> int:
        """A joint with its rest transform (4, 4); returns its number."""
        self._names.append(name)
        self._parents.append(parent)
        self._matrices.append(parent_from_joint)
        return len(self._names) - 1

    def stretch(self, joint: int, joint_from_helper: Array) -> None:
        """Fold a helper that only scales into the joint above it."""
        self._matrices[joint] = self._matrices[joint] @ joint_from_helper

    def node(self, prim: Usd.Prim) -> int:
        """The joint in whose space the prim's own space lies; -1 where that is the world."""
        chain: list[Usd.Prim] = []
        while prim and not prim.IsPseudoRoot() and str(prim.GetPath()) not in self._nodes:
            chain.append(prim)
            prim = prim.GetParent()
        joint = self._nodes.get(str(prim.GetPath()), -1) if prim else -1
        for below in reversed(chain):
            xformable = UsdGeom.Xformable(below)
            if xformable:
                joint = self._own_transform(below, xformable, joint)
            self._nodes[str(below.GetPath())] = joint
        return joint

    def _own_transform(self, prim: Usd.Prim, xformable: UsdGeom.Xformable, parent: int) -> int:
        if xformable.GetResetXformStack():
            parent = -1
        matrix = np.array(xformable.GetLocalTransformation(EARLIEST)).T
        if not (np.abs(matrix) <= LARGEST_NUMBER).all():
            raise self.reading.bad(prim, "the transform should hold finite numbers")
        moves = len(xformable.GetTimeSamples()) > 1
        if not moves and (matrix == np.eye(4)).all():
            return parent
        joint = self.add(name_of(prim), parent, self.reading.frame.matrices(matrix))
        if moves:
            self.moving.append((joint, xformable))
        return joint

    def anchored(self, prim: Usd.Prim) -> int:
        """The joint that a mesh without skin hangs on; one is made where no transform stands above it."""
        joint = self.node(prim)
        if joint >= 0:
            return joint
        if self._anchor is None:
            self._anchor = self.add(self.name, -1, np.eye(4))
        return self._anchor

    def skeleton(self) -> Skeleton:
        """The frozen skeleton; its joints have the numbers that `add` gave."""
        if not self._names:
            return Skeleton((), (), np.zeros((0, 3)))
        matrices = np.array(self._matrices)
        translations, rotations, scales = transform.decompose(matrices)
        for number, kept in self.exact.items():
            made = transform.compose(translations[number], kept[:4], kept[4:])
            if np.abs(made - matrices[number])[:3, :3].max() <= SAME * np.abs(matrices[number][:3, :3]).max():
                rotations[number], scales[number] = kept[:4], kept[4:]
        sheared = np.flatnonzero(transform.shear_error(matrices) > SHEAR)
        for joint in sheared:
            self.reading.note("the shear of rest transforms was dropped: {}", self._names[joint])
        return Skeleton(self.reading.distinct(self._names, "joint"), self._parents, translations, rotations, scales)
