"""Bones: which joints the columns of an animation move, and where those joints are.

With a rig the joints are its skeleton's and errors are measured in the world. Without one, every target of the
animation is a joint of its own that hangs on nothing: errors are then those of its own place and orientation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Channels, Skeleton, jacobian, kinematics
from understudy.checks import Array
from understudy.keyframes.reduce.world_kernels import World
from understudy.maths import euler, quaternion

MOVING = ("translation", "marker")
TURNING = ("rotation", "euler")


@dataclass(frozen=True, eq=False)
class Bones:
    """J joints and the animation channels that move them."""

    channels: Channels
    parents: Array  # (J,)
    rest: tuple[Array, Array, Array]  # translations (J, 3), rotations (J, 4), scales (J, 3)
    joints: dict[tuple[str, str], int]  # (target, kind) of a channel -> joint

    @classmethod
    def of(cls, channels: Channels, skeleton: Skeleton | None) -> Bones:
        """The bones of a skeleton, or of the animation alone."""
        kinds = (*MOVING, *TURNING, "scale")
        if skeleton is not None:
            place = {name: j for j, name in enumerate(skeleton.names)}
            joints = {
                (c.target, c.kind): place[c.target]
                for c in channels
                if c.kind in kinds and c.kind != "marker" and c.target in place
            }
            rest = (skeleton.translations, skeleton.rotations, skeleton.scales)
            return cls(channels, np.asarray(skeleton.parents, np.int64), rest, joints)
        names = list(dict.fromkeys((c.target, c.kind == "marker") for c in channels if c.kind in kinds))
        joints = {(c.target, c.kind): names.index((c.target, c.kind == "marker")) for c in channels if c.kind in kinds}
        count = len(names)
        rest = (np.zeros((count, 3)), np.tile([0.0, 0, 0, 1], (count, 1)), np.ones((count, 3)))
        return cls(channels, np.full(count, -1), rest, joints)

    def posed(self, values: Array) -> tuple[Array, Array, Array]:
        """Local translations (M, J, 3), unit rotations (M, J, 4) and scales (M, J, 3) of values (M, C)."""
        t, q, s = (np.tile(part, (len(values), 1, 1)) for part in self.rest)
        for i, channel in enumerate(self.channels):
            joint = self.joints.get((channel.target, channel.kind))
            if joint is None:
                continue
            own = values[:, int(self.channels.offsets[i]) : int(self.channels.offsets[i + 1])]
            if channel.kind == "euler":
                q[:, joint] = euler.from_euler(own, "".join(channel.columns))
            elif channel.kind == "rotation":
                q[:, joint] = quaternion.normalise(own)
            elif channel.kind == "scale":
                s[:, joint] = own
            else:
                t[:, joint] = own
        return t, q, s

    def placed(self, values: Array) -> tuple[Array, Array]:
        """Positions (M, J, 3) in the world and orientations (M, J, 3, 3), which leave scale out."""
        t, q, s = self.posed(values)
        world = kinematics.world_transforms(self.parents, t, q, s)[..., :3, 3]
        turns = kinematics.world_transforms(self.parents, np.zeros((len(self.parents), 3)), q)[..., :3, :3]
        return world, turns

    def world(self, values: Array, reach: Array, reach_turn: Array, band: Array) -> World:
        """The first-order model about values (M, C), without errors; `band` (C, M) of columns that move no joint."""
        t, q, s = self.posed(values)
        transforms = kinematics.world_transforms(self.parents, t, q, s)
        turns = kinematics.world_transforms(self.parents, np.zeros((len(self.parents), 3)), q)[..., :3, :3]
        samples, width = values.shape
        joint = np.full(width, -1)
        axis, along = np.zeros((2, width, samples, 3))
        for i, channel in enumerate(self.channels):
            j = self.joints.get((channel.target, channel.kind))
            if j is None or channel.kind == "scale":
                continue
            a, b = int(self.channels.offsets[i]), int(self.channels.offsets[i + 1])
            joint[a:b] = j
            p = int(self.parents[j])
            if channel.kind in MOVING:
                linear = transforms[:, p, :3, :3] if p >= 0 else np.broadcast_to(np.eye(3), (samples, 3, 3))
                along[a:b] = linear.transpose(2, 0, 1)
            else:
                turn = turns[:, p] if p >= 0 else np.broadcast_to(np.eye(3), (samples, 3, 3))
                local = _axes(channel.kind, values[:, a:b], "".join(channel.columns))
                axis[a:b] = (turn @ local).transpose(2, 0, 1)
        above = jacobian.ancestors(self.parents) if len(self.parents) else np.zeros((0, 0), bool)
        below = [
            np.concatenate([[j], np.setdiff1d(np.flatnonzero(above[:, j]), [j])]) for j in range(len(self.parents))
        ]
        return World(
            joint,
            axis,
            along,
            np.ascontiguousarray(transforms[..., :3, 3]),
            np.concatenate([[0], np.cumsum([len(b) for b in below])]).astype(np.int64),
            np.concatenate([np.zeros(0, np.int64), *below]).astype(np.int64),
            np.zeros((*transforms.shape[:2], 3)),
            np.zeros((*transforms.shape[:2], 3)),
            reach,
            reach_turn,
            np.zeros((width, samples)),
            band,
        )


def _axes(kind: str, own: Array, order: str) -> Array:
    """(M, 3, n) the small turn in the parent's frame for one unit of each column."""
    if kind == "euler":
        return jacobian.euler_axes(own, order)
    length = np.linalg.norm(own, axis=1)[:, None, None]
    inverse = quaternion.conjugate(quaternion.normalise(own))
    small = quaternion.multiply(np.eye(4), inverse[:, None])  # (M, 4, 4): unit column k times the inverse
    return 2 * np.swapaxes(small[..., :3], 1, 2) / length


def turn_between(turns: Array, others: Array) -> Array:
    """(..., 3) the rotation vector of others turns^T, both (..., 3, 3)."""
    return quaternion.to_rotation_vector(quaternion.from_matrix(others @ np.swapaxes(turns, -1, -2)))
