"""Joints to bones: the segments that each joint moves, and the joints that move no skin.

Files have joints, which are points with axes. A joint moves what lies between it and its child, but rigs for animators
hold more than bones: roots on the ground, targets for inverse kinematics, feet that hang on the root instead of the
leg. So

- Where most joints with one child have one and the same of their axes towards it (Y in Blender, X in Maya), that axis
  is the direction of every bone: to the children that lie along it, else to any joint that does (the foot that hangs on
  the root), else as far as the mesh goes.
- Without such an axis a bone goes to each child; the bone of a last joint continues that of its parent.
- Joints with a name that says so (pole, target, control), joints for inverse kinematics that double another, and roots
  outside the mesh or of that name move nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.rigging.surface import VoxelSolid
from understudy.maths import vector

CONTROL_NAME_PATTERN = re.compile(r"pole|ctrl|control|target", re.IGNORECASE)
IK_NAME_PATTERN = re.compile(r"IK|(?:^|[^a-zA-Z])ik(?:[^a-zA-Z]|$)")
ROOT_NAME_PATTERN = re.compile(r"(?:^|[^a-z])root|root(?:[^a-z]|joint|$)", re.IGNORECASE)
MIN_AXIS_COSINE = 0.97  # cosine (14 degrees) that counts as "towards the child" when looking for the rig's axis
MIN_AXIS_JOINT_RATIO = 0.6  # of the joints that must agree on it: a rig with many bent fingers still has 8 of 10
MIN_CHILD_COSINE = 0.85  # cosine (32 degrees) within which a child ends the bone of its parent
MIN_RAY_COSINE = 0.98  # cosine (11 degrees) for joints that are not children
COINCIDENT_SIZE_RATIO = 1e-3  # of the size: joints nearer than this coincide
IK_TARGET_SIZE_RATIO = 0.08  # of the size: a joint for inverse kinematics this near to a plain one doubles it
TIP_DEPTH_RATIO = 0.9  # of the distance to the skin, where a last bone ends
STUB_SIZE_RATIO = 0.02  # of the size: length of a bone outside the mesh


@dataclass(frozen=True, eq=False)
class BoneSegments:
    """N segments of bones."""

    starts: Array  # (N, 3)
    ends: Array  # (N, 3)
    joint_of: Array  # (N,) the joint of each
    idle: dict[int, str]  # joints that move nothing, and why

    def nearest(self, bone: int, points: Array) -> Array:
        """(M, 3) the point of a bone that is nearest to each point (M, 3)."""
        along = self.ends[bone] - self.starts[bone]
        square = along @ along
        share = np.clip((points - self.starts[bone]) @ along / square, 0, 1) if square > 0 else np.zeros(len(points))
        return self.starts[bone] + share[:, None] * along


def bones_of(binds: Array, parents: Array, names: Sequence[str], solid: VoxelSolid, size: float) -> BoneSegments:
    """The bones of joints with transforms `binds` (B, 4, 4) in the mesh's space at rest."""
    rig = _JointSet(binds, parents, names, solid, size)
    idle = {joint: why for joint in range(len(parents)) if (why := rig.idle(joint))}
    if len(idle) == len(parents):
        idle = {}  # a rig of such joints only is moved by them
    segments: list[tuple[int, Array, Array]] = []
    for joint in range(len(parents)):
        if joint not in idle:
            segments += [(joint, rig.places[joint], end) for end in rig.ends(joint)]
    return BoneSegments(
        np.array([start for _, start, _ in segments]).reshape(-1, 3),
        np.array([end for _, _, end in segments]).reshape(-1, 3),
        np.array([joint for joint, _, _ in segments], np.int64),
        idle,
    )


class _JointSet:
    """Joints, their axes, and the bones of each."""

    def __init__(self, binds: Array, parents: Array, names: Sequence[str], solid: VoxelSolid, size: float) -> None:
        self.places = binds[:, :3, 3]
        self.axes = vector.normalise(np.swapaxes(binds[:, :3, :3], 1, 2))  # (B, 3, 3) row i: axis i of the joint
        self.parents, self.names, self.solid, self.size = parents, names, solid, size
        self.children = [np.flatnonzero(parents == joint) for joint in range(len(parents))]
        self.inside = solid.contains(self.places)
        self.control = np.array([bool(CONTROL_NAME_PATTERN.search(name)) for name in names], bool)
        self.inverse = np.array([bool(IK_NAME_PATTERN.search(name)) for name in names], bool)
        self.direction = self._directions()

    def _directions(self) -> Array | None:
        """(B, 3) the direction of each bone by the rig's own axis, or None where it has none."""
        cosines = []
        for joint, children in enumerate(self.children):
            if len(children) == 1:
                direction = self.places[children[0]] - self.places[joint]
                if vector.length(direction) > COINCIDENT_SIZE_RATIO * self.size:
                    cosines.append(self.axes[joint] @ vector.normalise(direction))
        if len(cosines) < 3:
            return None
        share = (np.concatenate([cosines, np.negative(cosines)], axis=1) > MIN_AXIS_COSINE).mean(axis=0)
        axis = int(share.argmax())
        if share[axis] < MIN_AXIS_JOINT_RATIO:
            return None
        return self.axes[:, axis % 3] * (1 if axis < 3 else -1)

    def idle(self, joint: int) -> str:
        """Why a joint moves no skin, empty where it does."""
        if self.control[joint]:
            return "its name says that it controls others"
        if self.parents[joint] < 0 and self.children[joint].size:
            if ROOT_NAME_PATTERN.search(self.names[joint]):
                return "it is the root"
            if not self.inside[joint]:
                return "it is a root outside the mesh"
        if self.inverse[joint]:
            plain = np.flatnonzero(~self.control & ~self.inverse & (self.parents != joint))
            near = vector.length(self.places[plain] - self.places[joint]) < IK_TARGET_SIZE_RATIO * self.size
            if near.any() or not self.inside[joint]:
                return "it is a target for inverse kinematics"
        if (
            self.direction is not None
            and self.children[joint].size
            and not self.inside[joint]
            and not self._bone_children(joint)
        ):
            return "its bone is outside the mesh"
        return ""

    def _bone_children(self, joint: int) -> list[int]:
        """The children that end a joint's bone."""
        direction = self.places[self.children[joint]] - self.places[joint]
        length = vector.length(direction)
        fits = (length > COINCIDENT_SIZE_RATIO * self.size) & ~self.control[self.children[joint]]
        if self.direction is not None:
            fits &= direction @ self.direction[joint] > MIN_CHILD_COSINE * length
        return [int(child) for child in self.children[joint][fits]]

    def ends(self, joint: int) -> list[Array]:
        """Where the bones of a joint end (3,), at least one."""
        children = self._bone_children(joint)
        if children:
            return [self.places[child] for child in children]
        place, parent = self.places[joint], self.parents[joint]
        if self.direction is not None:
            direction = self.direction[joint]
        else:
            direction = vector.normalise(place - self.places[parent] if parent >= 0 else np.zeros(3), (0.0, 1.0, 0.0))
        reach = self.solid.reach(place, direction, self.size)
        met = (
            self._first_joint_on_ray(joint, direction, 1.3 * reach + 2 * self.solid.step)
            if self.direction is not None
            else None
        )
        if met is not None:
            return [self.places[met]]
        return [place + direction * (TIP_DEPTH_RATIO * reach if reach > 0 else STUB_SIZE_RATIO * self.size)]

    def _first_joint_on_ray(self, joint: int, direction: Array, farthest: float) -> int | None:
        """The first other joint in the direction of a bone within the mesh."""
        if not self.inside[joint]:
            return None
        offset = self.places - self.places[joint]
        length = vector.length(offset)
        fits = (
            (offset @ direction > MIN_RAY_COSINE * length)
            & (length > COINCIDENT_SIZE_RATIO * self.size)
            & (length < farthest)
            & ~self.control
        )
        return int(np.where(fits, length, np.inf).argmin()) if fits.any() else None
