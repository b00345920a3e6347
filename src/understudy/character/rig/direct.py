"""The direct rig of an imported character: its controls are its joints and its shape weights.

Vertices are those of the skins. A character with a deformer has

    v = deformer(joints) + skin(joints, shapes) - skin(joints, default shapes),

so that the deformer is fitted to joints alone, and a face still moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import BoundDeformer, Channel, Channels, Character, Part, kinematics
from understudy.character.rig.rig import PosedRig
from understudy.character.skinning import blend_shapes, dual_quaternion, linear
from understudy.checks import Array
from understudy.maths import euler


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
