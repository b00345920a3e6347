"""Rig: the contract between controls and vertices. PosedRig: rigs of characters, posed by the channels of an animation.

`DirectRig` is the rig of an imported character: its controls are its joints and its shape weights.
Its vertices are those of the skins; with a deformer they are

    v = deformer(joints) + skin(joints, shapes) - skin(joints, default shapes),

so that the deformer is fitted to joints alone, and a face still moves.

`PosedRig.apply_channels` goes from channel to channel, which for hundreds of controls takes longer than evaluating
them. `ChannelLayout` prepares this for one set of channels: copied columns are found once, by applying marker values,
and Euler angles of one order are converted to quaternions all at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from understudy import checks
from understudy.character import BoundDeformer, Channel, Channels, Character, Clip, Curves, Part, kinematics
from understudy.character.skinning import blend_shapes, dual_quaternion, linear
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.maths import euler

COLUMN_MARKER_BASE = 1e15  # of marker values: beyond all rest values; whole numbers up to 9e15 are exact


@runtime_checkable
class Rig(Protocol):
    """Protocol of rigs: anything with channels and vertices. A pose is a row (C,); a rig maps rows to vertices.

    `rig_of` gives the rig of a character, a `PosedRig`, which also has `pose` (rows of an animation) and `joints`.

    Example:
        >>> rig = us.rig_of(us.load("lamp").character())
        >>> isinstance(rig, us.Rig), rig.vertices(rig.rest[None]).shape[2]
        (True, 3)
    """

    @property
    def channels(self) -> Channels:
        """The meaning of the columns."""

    @property
    def rest(self) -> Array:
        """(C,) the row of the rest pose."""

    def vertices(self, values: Array) -> Array:
        """Vertices of poses.

        Args:
            values: Poses (F, C), rows of the rig.

        Returns:
            Vertices (F, V, 3) float32, in metres in the world.
        """


class PosedRig(ABC):
    """A rig of a character, posed by the channels of an animation over the rest pose.

    `pose` gives the rows of an animation, `joints` and `vertices` evaluate rows.
    """

    character: Character

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.character.name!r}, {self.channels.width} columns)"

    @property
    @abstractmethod
    def channels(self) -> Channels:
        """The meaning of the columns."""

    @property
    @abstractmethod
    def rest(self) -> Array:
        """(C,) the row of the rest pose."""

    @property
    @abstractmethod
    def is_skin(self) -> bool:
        """Whether joints, shape weights and the skins of the parts give the vertices, as every viewer can."""

    @abstractmethod
    def joints(self, values: Array) -> Array:
        """world_from_joint (F, J, 4, 4) for (F, C) rows."""

    @abstractmethod
    def vertices(self, values: Array) -> Array:
        """(F, V, 3) float32 vertices of all parts in the world for (F, C) rows."""

    def points(self, values: Array, vertices: Sequence[int]) -> Array:
        """(F, N, 3) float32 some vertices in the world for (F, C) rows."""
        return self.vertices(values)[:, list(vertices)]

    @abstractmethod
    def _apply_channel(self, channel: Channel, source: Array, values: Array) -> int:
        """Write one channel's columns into the rows; returns how many of the rig's channels it drove."""

    @abstractmethod
    def _targets(self) -> Iterable[str]:
        """The names that an animation can move, for messages."""

    def pose(self, animation: Clip | Curves, times: Any = None) -> Array:
        """(M, C) rows of the rig for an animation, at given times or at its own frames; other columns rest.

        Channels that this character does not have are left out (see `unmatched_channels`); an animation with none of
        its channels is refused.
        """
        if times is None:
            times = animation.frame_times()
        sampled = animation.sample(np.atleast_1d(np.asarray(times, np.float64)))
        if not self.is_moved_by(animation):
            raise InvalidInput(
                f"animation {animation.name!r} moves nothing of character {self.character.name!r}: "
                f"it drives {join_names(c.target for c in animation.channels)}, "
                f"the character has {join_names(self._targets())}"
            )
        return self.apply_channels(animation.channels, sampled)

    def apply_channels(self, channels: Channels, sampled: Array) -> Array:
        """(M, C) rows of the rig for columns (M, n) of any channels; other columns rest."""
        values = np.tile(self.rest, (len(sampled), 1))
        for i, channel in enumerate(channels):
            self._apply_channel(channel, sampled[:, int(channels.offsets[i]) : int(channels.offsets[i + 1])], values)
        return values

    def unmatched_channels(self, channels: Channels) -> list[Channel]:
        """The channels that drive nothing of this rig."""
        scratch = self.rest[None].copy()
        return [c for c in channels if not self._apply_channel(c, np.zeros((1, len(c))), scratch)]

    def is_moved_by(self, animation: Clip | Curves) -> bool:
        """Whether an animation has any channel of this rig, so that `pose` will not refuse it."""
        return len(self.unmatched_channels(animation.channels)) < len(animation.channels)

    def _rows(self, values: Array) -> Array:
        values = np.asarray(values, np.float64)
        if values.ndim != 2 or values.shape[1] != self.channels.width:
            raise InvalidInput(
                f"rows of this rig should have shape (F, {self.channels.width}), but have {values.shape}"
            )
        return values


class ChannelLayout:
    """Gives the rows of one rig for columns of one set of channels."""

    def __init__(self, rig: PosedRig, channels: Channels) -> None:
        self.rig = rig
        angles = [channel for channel in channels if channel.kind == "euler"]
        marked = COLUMN_MARKER_BASE + np.arange(channels.width, dtype=float)
        scratch = rig.rest[None].copy()
        for i, channel in enumerate(channels):
            if channel.kind != "euler":
                rig._apply_channel(channel, marked[None, channels.offsets[i] : channels.offsets[i + 1]], scratch)
        self._to = np.flatnonzero(scratch[0] >= COLUMN_MARKER_BASE)
        self._from = (scratch[0, self._to] - COLUMN_MARKER_BASE).astype(np.int64)
        self._turns: list[tuple[str, Array, Array]] = []  # order, columns (J, 3), places (J, 4)
        for order in dict.fromkeys("".join(channel.columns) for channel in angles):
            pairs = [
                (channels.slice(channel.target, "euler"), rig.channels.slice(channel.target, "rotation"))
                for channel in angles
                if "".join(channel.columns) == order
            ]
            known = [(np.r_[a], np.r_[b]) for a, b in pairs if a is not None and b is not None]
            if known:
                self._turns.append((order, np.stack([a for a, _ in known]), np.stack([b for _, b in known])))

    def rows(self, values: Array) -> Array:
        """(M, C) rows of the rig for values (M, n)."""
        rows = np.tile(self.rig.rest, (len(values), 1))
        rows[:, self._to] = values[:, self._from]
        for order, columns, places in self._turns:
            rows[:, places] = euler.from_euler(values[:, columns], order)
        return rows


class DirectRig(PosedRig):
    """Translation, rotation and scale of each joint, then the weights of each part that has shapes.

    Sparse shapes of a part are prepared once, at the first use.
    """

    def __init__(self, character: Character) -> None:
        self.character = character
        skeleton = character.skeleton
        per_joint = [Channel(name, kind) for name in skeleton.names for kind in ("translation", "rotation", "scale")]
        weights = [Channel(part, "weights", names) for part, names in character.shapes.items()]
        self._channels = Channels([*per_joint, *weights])

    @property
    def is_skin(self) -> bool:
        """Whether the skins of the parts give the vertices; a deformer gives others."""
        return self.character.deformer is None

    @property
    def channels(self) -> Channels:
        """Joints in the order of the skeleton (ten columns each), then weights in the order of the parts."""
        return self._channels

    @cached_property
    def rest(self) -> Array:
        """(C,) rest transforms and default weights."""
        skeleton = self.character.skeleton
        joints = np.concatenate([skeleton.translations, skeleton.rotations, skeleton.scales], axis=1).reshape(-1)
        defaults = {part.name: part.mesh.shapes.defaults for part in self.character.parts if part.mesh.shapes}
        return checks.freeze(np.concatenate([joints, *defaults.values()]))

    def _apply_channel(self, channel: Channel, source: Array, values: Array) -> int:
        if channel.kind == "weights":
            return self._apply_weights(channel, source, values)
        if channel.kind == "euler":
            rotation = self.channels.slice(channel.target, "rotation")
            if rotation is None:
                return 0
            values[:, rotation] = euler.from_euler(source, "".join(channel.columns))
            return 1
        target = self.channels.slice(channel.target, channel.kind)
        if target is None:
            return 0
        values[:, target] = source
        return 1

    def _targets(self) -> tuple[str, ...]:
        return self.character.skeleton.names

    def _apply_weights(self, channel: Channel, source: Array, values: Array) -> int:
        driven = 0
        for part, names in self.character.shapes.items():
            if channel.target not in ("", part):
                continue
            start = self.channels.slice(part, "weights")
            assert start is not None  # every part with shapes has its channel
            place = {name: start.start + i for i, name in enumerate(names)}
            pairs = [(place[name], i) for i, name in enumerate(channel.columns) if name in place]
            if pairs:
                rig_columns, clip_columns = np.array(pairs).T
                values[:, rig_columns] = source[:, clip_columns]
                driven += 1
        return driven

    def joints(self, values: Array) -> Array:
        """world_from_joint (F, J, 4, 4) for (F, C) rows."""
        values = self._rows(values)
        count = len(self.character.skeleton)
        trs = values[:, : 10 * count].reshape(len(values), count, 10)
        return kinematics.world_transforms(self.character.skeleton.parents, trs[..., :3], trs[..., 3:7], trs[..., 7:10])

    def vertices(self, values: Array) -> Array:
        """(F, V, 3) float32 vertices of all parts in the world for (F, C) rows."""
        values = self._rows(values)
        world_from_joint = self.joints(values)
        if self.character.deformer is not None:
            return self._deform(self.character.deformer, values, world_from_joint)
        result = np.empty((len(values), self.character.vertex_count, 3), np.float32)
        start = 0
        for number, part in enumerate(self.character.parts):
            stop = start + len(part.mesh.vertices)
            result[:, start:stop] = self._skin_part(number, part, values, world_from_joint)
            start = stop
        return result

    def points(self, values: Array, vertices: Sequence[int]) -> Array:
        """(F, N, 3) float32 some vertices in the world for (F, C) rows; no others are computed."""
        values, chosen = self._rows(values), np.asarray(vertices, np.int64)
        if self.character.deformer is not None:  # which has no way to compute only some
            return self.vertices(values)[:, chosen]
        world_from_joint = self.joints(values)
        result = np.empty((len(values), len(chosen), 3), np.float32)
        start = 0
        for number, part in enumerate(self.character.parts):
            stop = start + len(part.mesh.vertices)
            inside = np.flatnonzero((chosen >= start) & (chosen < stop))
            if len(inside):
                result[:, inside] = self._skin_part(number, part, values, world_from_joint, chosen[inside] - start)
            start = stop
        return result

    def _deform(self, bound: BoundDeformer, values: Array, world_from_joint: Array) -> Array:
        """(F, V, 3) vertices of the deformer, moved by the shapes that are not at rest."""
        result = bound.deform(world_from_joint)
        start = 0
        for number, part in enumerate(self.character.parts):
            stop = start + len(part.mesh.vertices)
            if part.mesh.shapes is not None:
                columns = self.channels.slice(part.name, "weights")
                moved = np.flatnonzero((values[:, columns] != self.rest[columns]).any(axis=1))
                still = values[moved].copy()
                still[:, columns] = self.rest[columns]
                shaped, plain = (
                    self._skin_part(number, part, v, world_from_joint[moved]) for v in (values[moved], still)
                )
                result[moved, start:stop] += shaped - plain
            start = stop
        return result

    def _skin_part(
        self, number: int, part: Part, values: Array, world_from_joint: Array, chosen: Array | None = None
    ) -> Array:
        """(F, V, 3) vertices of a part, or only those of the numbers `chosen`."""
        skin = part.skin
        points = part.mesh.vertices
        if part.mesh.shapes is not None:
            weights = values[:, self.channels.slice(part.name, "weights")]
            points = blend_shapes.add_shapes(points, self._shape_data[number], part.mesh.shapes.target_weights(weights))
        influences, weights = skin.influences, skin.weights
        if chosen is not None:
            points, influences, weights = points[..., chosen, :], influences[chosen], weights[chosen]
        world_from_mesh = world_from_joint[:, skin.joints] @ skin.inverse_binds
        blend = dual_quaternion.dual_blend if skin.method == "dual" else linear.linear_blend
        return blend(points, influences, weights, world_from_mesh)

    @cached_property
    def _shape_data(self) -> dict[int, Any]:
        return {
            number: blend_shapes.prepare(part.mesh.shapes.deltas)
            for number, part in enumerate(self.character.parts)
            if part.mesh.shapes is not None
        }
