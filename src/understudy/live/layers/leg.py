"""A leg: how far it goes and bends in the clips, and how it follows when its foot is put somewhere else.

The foot keeps the way it faces; hip and knee turn (`character.chain_reach`). Knees bend no further, either way, than in
any clip or than they are bent already, and a leg gets no longer than it ever was. A foot that hangs on no leg (a rig
animated with IK) is moved by itself, the end of the leg goes with it, and the two come no further apart than in the
clips.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import atan2, dist, exp, pi

import numpy as np

from understudy.character import Skeleton
from understudy.character.chain_reach import reach, straight_at
from understudy.checks import Array
from understudy.live.layers.feet_found import STILL, FoundFoot, local_turns
from understudy.maths import quaternion

IDENTITY = np.eye(4)
SAME = 1e-12  # 1 less the product of two quaternions: a turn of a millionth of a radian is none
SURE = 1e-3  # radians: rounding of a straight knee is no bend
SOFT = 0.03  # of the leg's length, in which it comes to its end gently

Vector = tuple[float, ...]
"""x, y and z."""


@dataclass(frozen=True, eq=False)
class Leg:
    """The leg of one foot, as the clips use it."""

    foot: int  # joint
    above: int  # the joint that carries the foot
    hip: int  # the joint that carries the leg, -1 where it is a root
    joints: tuple[int, ...]  # n, from the hip down
    attached: bool
    tip: Array  # (3,) where a foot that is not attached belongs, in the frame of the last joint
    slack: float  # metres that it is away from there in the clips, at most
    longest: float  # metres from hip to tip in the clips, at most
    hinges: Array  # (n, 3) axes about which the joints turn most
    sides: Array  # (n, 2) 1 or -1, to which side of straight they are bent; how far to the other, radians
    middle: tuple[quaternion.Scalars, ...]  # n, their mean rotations
    bends: Array  # (n, 2) radians about the hinges, from the mean rotation, at least and at most

    @classmethod
    def of(cls, skeleton: Skeleton, found: FoundFoot, worlds: Array) -> Leg:
        """The leg of a foot that was found, measured in world_from_joint (F, J, 4, 4) of the clips."""
        joints, count = found.leg, len(found.leg)
        hinges, bends, middle = np.zeros((count, 3)), np.zeros((count, 2)), []
        for i, joint in enumerate(joints):
            local = local_turns(worlds, skeleton, joint)
            mean = quaternion.mean(local)
            vectors = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(mean), local))
            middle.append(quaternion.to_scalars(mean))
            if np.linalg.norm(vectors, axis=1).max() > STILL:
                hinges[i] = np.linalg.eigh(vectors.T @ vectors)[1][:, -1]
                angles = [
                    _angle(quaternion.to_scalars(mean), tuple(hinges[i]), quaternion.to_scalars(turn)) for turn in local
                ]
                bends[i] = min(angles), max(angles)
        frames = worlds[:, joints]
        last, foot = worlds[:, joints[-1]], worlds[:, found.joint, :3, 3]
        inside = np.linalg.solve(last[:, :3, :3], (foot - last[:, :3, 3])[..., None])[..., 0]
        tip = inside.mean(axis=0)
        ends = foot if found.attached else np.einsum("fij,j->fi", last[:, :3, :3], tip) + last[:, :3, 3]
        sides = np.tile([1.0, 0.0], (count, 1))
        for i in range(1, count):
            axis = np.einsum("fij,j->fi", frames[:, i, :3, :3], hinges[i])
            axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-12)
            from_straight = -straight_at(frames[:, 0, :3, 3], frames[:, i, :3, 3], ends, axis)
            side = 1.0 if from_straight.mean() >= 0 else -1.0
            sides[i] = side, max(float((-side * from_straight).max()), 0.0) + SURE
        return cls(
            foot=found.joint,
            above=int(skeleton.parents[found.joint]),
            hip=int(skeleton.parents[joints[0]]),
            joints=joints,
            attached=found.attached,
            tip=tip,
            slack=float(np.linalg.norm(foot - ends, axis=1).max()),
            longest=float(np.linalg.norm(ends - worlds[:, joints[0], :3, 3], axis=1).max()),
            hinges=hinges,
            sides=sides,
            middle=tuple(middle),
            bends=bends,
        )

    def put(self, row: Array, worlds: Array, shift: Vector) -> float:
        """Move the foot of a row (C,) by `shift`, metres in the world, in place; the metres that it falls short.

        `worlds` (J, 4, 4) is world_from_joint of the row as it was. Plain numbers: arrays of three cost more to make.
        """
        foot: Vector = tuple(worlds[self.foot, :3, 3].tolist())
        tip, apart = foot, (0.0, 0.0, 0.0)
        near = True
        if not self.attached:
            last = worlds[self.joints[-1]]
            tip = tuple((last[:3, :3] @ self.tip + last[:3, 3]).tolist())
            wide = dist(foot, tip)
            near = wide <= self.slack
            share = 1.0 if near else self.slack / wide
            apart = (share * (foot[0] - tip[0]), share * (foot[1] - tip[1]), share * (foot[2] - tip[2]))
        wanted = tuple(foot[i] + shift[i] - apart[i] for i in range(3))
        chain = worlds[self._index]
        goal = self._within(tuple(chain[0, :3, 3].tolist()), tip, wanted)
        old = [quaternion.to_scalars(row[10 * joint + 3 : 10 * joint + 7]) for joint in self.joints]
        parent = IDENTITY if self.hip < 0 else worlds[self.hip]
        places = np.array((tip, goal))
        found, ends = reach(parent, chain, places[0], places[1], self.hinges, self.sides, self._room(old))
        turns = [quaternion.to_scalars(turn) for turn in found]
        signs = [sum(a * b for a, b in zip(turn, own)) for turn, own in zip(turns, old)]
        if near and not any(shift) and min(map(abs, signs)) > 1.0 - SAME:
            return 0.0
        for i, joint in enumerate(self.joints):  # signs as they were: curves of quaternions are read component-wise
            row[10 * joint + 3 : 10 * joint + 7] = turns[i] if signs[i] >= 0.0 else [-a for a in turns[i]]
        reached: Vector = tuple(ends.tolist())
        if self.attached:
            self._face(row, old, turns)
        else:
            moved = np.array([reached[i] + apart[i] - foot[i] for i in range(3)])
            if self.above >= 0:  # a rotation and one scale: its inverse is the transpose, but for the scale's square
                frame = worlds[self.above, :3, :3]
                moved = moved @ frame / float(frame[:, 0] @ frame[:, 0])
            row[10 * self.foot : 10 * self.foot + 3] += moved
        return dist(wanted, reached)

    def _face(self, row: Array, old: list[quaternion.Scalars], turns: list[quaternion.Scalars]) -> None:
        """Turn the foot of a row (C,) back to where it faced before its leg turned from `old` to `turns`."""
        before, after = old[0], turns[0]
        for i in range(1, len(old)):
            before, after = quaternion.multiply_scalar(before, old[i]), quaternion.multiply_scalar(after, turns[i])
        columns = slice(10 * self.foot + 3, 10 * self.foot + 7)
        own = quaternion.to_scalars(row[columns])
        turned = quaternion.multiply_scalar(quaternion.multiply_scalar(quaternion.conjugate_scalar(after), before), own)
        row[columns] = turned if sum(a * b for a, b in zip(turned, own)) >= 0.0 else [-a for a in turned]

    @cached_property
    def _index(self) -> Array:
        return np.array(self.joints)

    @cached_property
    def _limits(self) -> list[tuple[list[float], float, float]]:
        """Axis and bends of each joint."""
        return [(axis, low, high) for axis, (low, high) in zip(self.hinges.tolist(), self.bends.tolist())]

    def _within(self, hip: Vector, tip: Vector, goal: Vector) -> Vector:
        """A goal, no further from the hip than the leg ever was, or is."""
        length, soft = dist(hip, goal), SOFT * self.longest
        begins = max(self.longest - soft, dist(hip, tip))
        if length <= begins:
            return goal
        share = (begins + soft * (1.0 - exp((begins - length) / soft))) / length
        return tuple(h + share * (g - h) for h, g in zip(hip, goal))

    def _room(self, turns: list[quaternion.Scalars]) -> Array:
        """(n, 2) how far each hinge may still turn."""
        room = [(0.0, 0.0)]
        for i in range(1, len(turns)):
            axis, low, high = self._limits[i]
            angle = _angle(self.middle[i], axis, turns[i])
            room.append((min(low - angle, 0.0), max(high - angle, 0.0)))
        return np.array(room)


def _angle(middle: quaternion.Scalars, axis: tuple[float, ...] | list[float], turn: quaternion.Scalars) -> float:
    """Radians by which a rotation turns about an axis from a mean rotation: the twist."""
    x, y, z, w = quaternion.multiply_scalar(quaternion.conjugate_scalar(middle), turn)
    angle = 2.0 * atan2(x * axis[0] + y * axis[1] + z * axis[2], w)
    return angle - 2.0 * pi if angle > pi else angle + 2.0 * pi if angle < -pi else angle
