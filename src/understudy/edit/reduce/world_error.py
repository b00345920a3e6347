"""The error of an animation against its source, in the world, and the joints that its columns move.

With a rig the joints are those of its skeleton, and errors are measured in the world. Without one, every target of the
animation is a joint without a parent: errors are then those of its own position and orientation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.character import Channels, Curves, Skeleton, kinematics
from understudy.character.rig.layered import LayeredRig
from understudy.character.rig.rig import DirectRig, PosedRig
from understudy.checks import Array
from understudy.edit.reduce.search_kernels import WorldState
from understudy.edit.reduce.source import MEASURES_PER_FRAME, SampledAnimation, sample_frames
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion

TRANSLATION_KINDS = ("translation", "marker")
ROTATION_KINDS = ("rotation", "euler")
MIN_BONE_LENGTH_RATIO = 1e-3  # of the longest bone: a shorter one says nothing about the size of what it moves


@dataclass(frozen=True, eq=False)
class JointColumns:
    """J joints and the animation channels that move them."""

    channels: Channels
    parents: Array  # (J,)
    rest: tuple[Array, Array, Array]  # translations (J, 3), rotations (J, 4), scales (J, 3)
    joints: dict[tuple[str, str], int]  # (target, kind) of a channel -> joint

    @classmethod
    def from_channels(cls, channels: Channels, skeleton: Skeleton | None) -> JointColumns:
        """The joints of a skeleton, or of the animation alone."""
        kinds = (*TRANSLATION_KINDS, *ROTATION_KINDS, "scale")
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

    def local_components(self, values: Array) -> tuple[Array, Array, Array]:
        """Local translations (M, J, 3), unit rotations (M, J, 4) and scales (M, J, 3) of values (M, C)."""
        t, q, s = (np.tile(part, (len(values), 1, 1)) for part in self.rest)
        for i, channel in enumerate(self.channels):
            joint = self.joints.get((channel.target, channel.kind))
            if joint is None:
                continue
            columns = values[:, int(self.channels.offsets[i]) : int(self.channels.offsets[i + 1])]
            if channel.kind == "euler":
                q[:, joint] = euler.from_euler(columns, "".join(channel.columns))
            elif channel.kind == "rotation":
                q[:, joint] = quaternion.normalise(columns)
            elif channel.kind == "scale":
                s[:, joint] = columns
            else:
                t[:, joint] = columns
        return t, q, s

    def world_frames(self, values: Array) -> tuple[Array, Array]:
        """Positions (M, J, 3) in the world and orientations (M, J, 3, 3), which leave scale out."""
        t, q, s = self.local_components(values)
        world = kinematics.world_transforms(self.parents, t, q, s)
        if np.all(s == 1.0):
            return world[..., :3, 3], world[..., :3, :3]
        turns = kinematics.world_transforms(self.parents, np.zeros((len(self.parents), 3)), q)[..., :3, :3]
        return world[..., :3, 3], turns

    def bone_lengths(self) -> Array:
        """(J,) metres from each joint to its farthest child at rest; joints without one take that of their parent.

        One metre where there is no skeleton.
        """
        t, q, s = self.rest
        places = kinematics.world_transforms(self.parents, t, q, s)[..., :3, 3]
        lengths = np.zeros(len(self.parents))
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                lengths[parent] = max(lengths[parent], float(np.linalg.norm(places[j] - places[parent])))
        longest = lengths.max(initial=0.0)
        for j, parent in enumerate(self.parents):
            if lengths[j] <= MIN_BONE_LENGTH_RATIO * longest:
                lengths[j] = lengths[parent] if parent >= 0 else longest or 1.0
        return lengths

    def world(self, values: Array, reach: Array, reach_turn: Array, reach_step: Array, band: Array) -> WorldState:
        """The first-order model about values (M, C), without errors.

        `reach` (M, J) and `reach_turn` (M, J) are 1 / tolerance of positions and orientations, `reach_step` (M, J) of
        the steps of planted joints, `band` (C, M) of columns that move no joint.
        """
        t, q, s = self.local_components(values)
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
            if channel.kind in TRANSLATION_KINDS:
                linear = transforms[:, p, :3, :3] if p >= 0 else np.broadcast_to(np.eye(3), (samples, 3, 3))
                along[a:b] = linear.transpose(2, 0, 1)
            else:
                turn = turns[:, p] if p >= 0 else np.broadcast_to(np.eye(3), (samples, 3, 3))
                local = _axes(channel.kind, values[:, a:b], "".join(channel.columns))
                axis[a:b] = (turn @ local).transpose(2, 0, 1)
        above = kinematics.ancestors(self.parents) if len(self.parents) else np.zeros((0, 0), bool)
        below = [
            np.concatenate([[j], np.setdiff1d(np.flatnonzero(above[:, j]), [j])]) for j in range(len(self.parents))
        ]
        return WorldState(
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
            reach_step,
            np.zeros((width, samples)),
            band,
        )


class WorldError:
    """Positions and orientations of the joints of the source, and the errors of other values of the same columns."""

    def __init__(self, given: SampledAnimation, rig: PosedRig | None) -> None:
        self.given, self.rig = given, rig
        if rig is not None and not rig.is_moved_by(given.animation):
            raise InvalidInput(
                f"animation {given.animation.name!r} moves nothing of character {rig.character.name!r}; reduce it "
                "without a rig, or with the character that it belongs to"
            )
        self.skeleton = rig.character.skeleton if isinstance(rig, DirectRig) else None
        self.bones = JointColumns.from_channels(given.channels, self.skeleton)
        self.places, self.turns = self.bones.world_frames(given.values)

    def errors(self, values: Array) -> tuple[Array, Array]:
        """Errors of values (M, C): offsets (M, J, 3) in metres and rotation vectors (M, J, 3) in radians."""
        places, turns = self.bones.world_frames(values)
        return places - self.places, turn_between(self.turns, turns)

    @cached_property
    def fine_source(self) -> FineSource:
        """The source at its own frames and between them, in the kinds of rotation that it has itself."""
        times, values = sample_frames(self.given.animation, MEASURES_PER_FRAME)
        inside = times <= self.given.times[-1] + 1e-9  # frames of another rate may end earlier
        times, values = times[inside], values[inside]
        every = self.given.animation.channels
        stepped = {(curve.channel.target, curve.channel.kind, curve.channel.columns) for curve in self.given.stepped}
        kept = [i for i, c in enumerate(every) if (c.target, c.kind, c.columns) not in stepped]
        channels = Channels(every[i] for i in kept)
        values = values[:, np.concatenate([np.arange(every.offsets[i], every.offsets[i + 1]) for i in kept])]
        places, turns = JointColumns.from_channels(channels, self.skeleton).world_frames(values)
        alone = [c for c, name in enumerate(self.given.channels.names) if name in channels.names]
        table = np.zeros((len(times), self.given.channels.width))
        table[:, alone] = values[:, [channels.names.index(self.given.channels.names[c]) for c in alone]]
        return FineSource(times, places, quaternion.from_matrix(turns), table)

    def fine_errors(self, curves: Curves) -> tuple[Array, Array, Array]:
        """Errors of curves at the times of `fine_source`, in (M', J) metres, (M', J) radians and (M', C) units."""
        source = self.fine_source
        values = curves.sample(source.times)[:, : self.given.channels.width]
        places, turns = self.bones.world_frames(values)
        angles = quaternion.angle_between(source.turns, quaternion.from_matrix(turns))
        return np.linalg.norm(places - source.places, axis=-1), angles, values - source.values

    def bands(self, tolerance: float, weight: float) -> Array:
        """(C,) 1 / tolerance of the columns that move no joint of `bones`, 0 for the others.

        Scales count as if they scaled a metre; controls of a layered rig count by their range.
        """
        channels: Channels = self.given.channels
        band = np.zeros(channels.width)
        for i, channel in enumerate(channels):
            own = slice(int(channels.offsets[i]), int(channels.offsets[i + 1]))
            if channel.kind == "scale":
                band[own] = 1 / tolerance
            elif (channel.target, channel.kind) not in self.bones.joints:
                band[own] = 1 / weight
                if isinstance(self.rig, LayeredRig) and channel.target in self.rig.controls:
                    c = self.rig.controls.index(channel.target)
                    band[own] /= max(float(self.rig.controls.high[c] - self.rig.controls.low[c]), 1e-9)
        return band


@dataclass(frozen=True, eq=False)
class FineSource:
    """The source at M' times: joints in the world, and the columns that move no joint."""

    times: Array  # (M',) seconds
    places: Array  # (M', J, 3) metres
    turns: Array  # (M', J, 4) unit quaternions
    values: Array  # (M', C) columns of the reduction; those of converted rotations are not filled


def turn_between(turns: Array, others: Array) -> Array:
    """(..., 3) the rotation vector of others turns^T, both (..., 3, 3)."""
    return quaternion.to_rotation_vector(quaternion.from_matrix(others @ np.swapaxes(turns, -1, -2)))


def _axes(kind: str, values: Array, order: str) -> Array:
    """(M, 3, n) the small rotation in the parent's frame for one unit of each column."""
    if kind == "euler":
        return kinematics.euler_axes(values, order)
    length = np.linalg.norm(values, axis=1)[:, None, None]
    inverse = quaternion.conjugate(quaternion.normalise(values))
    small = quaternion.multiply(np.eye(4), inverse[:, None])  # (M, 4, 4): unit column k times the inverse
    return 2 * np.swapaxes(small[..., :3], 1, 2) / length
