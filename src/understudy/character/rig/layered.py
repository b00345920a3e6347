"""The layered rig: named controls move bones, coarse shapes, fine shapes and a free-form lattice.

Controls c (C,), clipped to their ranges, give the parameters p by the rules of `RigLayers`,

    p = D (c - rest);  p_i += gain ramp(c_a) ramp(c_b);  p_i += clip(c_b, 0, 1) (target - p_i);  p = clip(p, low, high)

which are components of joints and weights of shapes. A joint's local transform is its rest with the components on top,

    translation + (tx, ty, tz),        rotation Ry(ry) Rx(rx) Rz(rz),        scale (1 + sx, 1 + sy, 1 + sz)

and the vertices follow in one pass (`skinning.layered`): shapes, then linear skinning, then the lattice in the space of
its joint. A character with layers is bound in its rest pose, so that the rest pose is its mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy.character import Channel, Channels, Character, Part, RigLayers, kinematics
from understudy.character.controls import COMPONENTS
from understudy.character.rig.rig import PosedRig
from understudy.character.skinning import layered
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion, transform

# Also of the linear part: single-precision binds are off by 1e-7, a bind pose meant to differ by far more.
BIND_TOLERANCE_M = 1e-5


class JointCarriers(NamedTuple):
    """The K joints and S shapes that move a vertex, in the world at rest."""

    rest: Array  # (3,)
    joints: Array  # (K,) int
    weights: Array  # (K,) that sum to 1
    shapes: Array  # (S,) int
    deltas: Array  # (S, 3)


class LayeredRig(PosedRig):
    """One column for each control of a character with layers."""

    def __init__(self, character: Character) -> None:
        if character.layers is None:
            raise InvalidInput(f"character {character.name!r} has no layers; its rig is the direct one")
        self.character = character
        self.layers: RigLayers = character.layers
        self.controls = character.layers.controls
        self._channels = Channels(Channel(name, "controls", ("value",)) for name in self.controls.names)
        self._parameters = Parameters(character.layers)
        self._last_blocks: tuple[tuple[int, ...], layered.VertexBlocks] | None = None  # of `points`
        for part in character.parts:
            if part.mesh.shapes is not None or part.skin.method != "linear":
                raise InvalidInput(
                    f"part {part.name!r} of a character with layers should have a linear skin, "
                    "and its shapes among the layers"
                )

    @property
    def is_skin(self) -> bool:
        """No: layers of controls move the vertices."""
        return False

    @property
    def channels(self) -> Channels:
        """The controls in their order, a column each."""
        return self._channels

    @property
    def rest(self) -> Array:
        """(C,) the rest values of the controls."""
        return self.controls.rest

    def _apply_channel(self, channel: Channel, source: Array, values: Array) -> int:
        if channel.kind != "controls":
            return 0
        if channel.target in self.controls and len(channel) == 1:
            values[:, self.controls.index(channel.target)] = source[:, 0]
            return 1
        if channel.target not in ("", self.character.name):
            return 0
        known = [i for i, column in enumerate(channel.columns) if column in self.controls]
        values[:, [self.controls.index(channel.columns[i]) for i in known]] = source[:, known]
        return len(known)

    def _targets(self) -> tuple[str, ...]:
        return self.controls.names

    def parameters(self, values: Array) -> Array:
        """(F, P) components of joints, then weights of shapes, for (F, C) rows."""
        return self._parameters.evaluate(self._rows(values))

    def joints(self, values: Array) -> Array:
        """world_from_joint (F, J, 4, 4) for (F, C) rows."""
        return self._worlds(self._components(self.parameters(values)))

    def vertices(self, values: Array) -> Array:
        """(F, V, 3) float32 vertices of all parts in the world for (F, C) rows; at rest, the mesh to the last bit."""
        return layered.deform(self.blocks, self.frames(values))

    def frames(self, values: Array) -> layered.FrameBlock:
        """Inputs of the deformation for (F, C) rows: weights of shapes, motions of joints from rest, the lattice."""
        rows = self._rows(values)
        parameters = self._parameters.evaluate(rows)
        components = self._components(parameters)
        moved = (components.any(axis=-1) @ self._reach) > 0
        motions = self._worlds(components) @ self._joint_from_rest - np.eye(4)
        motions[~moved] = 0
        return layered.FrameBlock(
            parameters[:, len(self.layers.components) :], motions, moved, self._bend(rows, motions)
        )

    def local_transforms(self, values: Array) -> tuple[Array, Array, Array]:
        """Translations (F, J, 3), rotations (F, J, 4) and scales (F, J, 3) of the joints in their parents."""
        return self._locals(self._components(self.parameters(values)))

    def _rows(self, values: Array) -> Array:
        return self.controls.clip(super()._rows(values))

    def _components(self, parameters: Array) -> Array:
        """(F, J, 9) offsets from the rest of each joint, in the order of COMPONENTS."""
        result = np.zeros((len(parameters), len(self.character.skeleton), len(COMPONENTS)))
        joint, component = self._component_places
        result[:, joint, component] = parameters[:, : len(joint)]
        return result

    @cached_property
    def _component_places(self) -> tuple[Array, Array]:
        skeleton = self.character.skeleton
        pairs = [(skeleton.index(joint), COMPONENTS.index(name)) for joint, name in self.layers.components]
        joint, component = np.array(pairs, np.int64).reshape(-1, 2).T
        return joint, component

    def _locals(self, components: Array) -> tuple[Array, Array, Array]:
        skeleton = self.character.skeleton
        turn = euler.from_euler(components[..., [4, 3, 5]], "YXZ")
        return (
            skeleton.translations + components[..., :3],
            quaternion.multiply(skeleton.rotations, turn),
            skeleton.scales * (1 + components[..., 6:]),
        )

    def _worlds(self, components: Array) -> Array:
        return kinematics.world_transforms(self.character.skeleton.parents, *self._locals(components))

    @cached_property
    def _rest_worlds(self) -> Array:
        return self._worlds(np.zeros((1, len(self.character.skeleton), len(COMPONENTS))))[0]

    @cached_property
    def _joint_from_rest(self) -> Array:
        """(J, 4, 4) from the world at rest to each joint."""
        return transform.invert(self._rest_worlds)

    @cached_property
    def _reach(self) -> Array:
        """(J, J) 1 where the column's joint is the row's or below it."""
        skeleton = self.character.skeleton
        result = np.zeros((len(skeleton), len(skeleton)), np.float32)
        for joint in range(len(skeleton)):
            result[skeleton.ancestors(joint), joint] = 1
        return result

    def _bend(self, rows: Array, motions: Array) -> layered.LatticeBend | None:
        lattice, offsets = self.layers.lattice, self._parameters.offsets(rows)
        if lattice is None or offsets is None or not offsets.any():
            return None
        joint = self.character.skeleton.index(lattice.joint)
        origin = self._rest_worlds[joint, :3, 3]
        return layered.LatticeBend(offsets, origin + lattice.low, origin + lattice.high, motions[:, joint] + np.eye(4))

    def points(self, values: Array, vertices: Sequence[int]) -> Array:
        """(F, N, 3) float32 some vertices in the world for (F, C) rows, without the work for all the others."""
        return layered.deform(self._blocks_of_vertices(tuple(vertices)), self.frames(values))

    def _blocks_of_vertices(self, chosen: tuple[int, ...]) -> layered.VertexBlocks:
        if self._last_blocks is not None and self._last_blocks[0] == chosen:
            return self._last_blocks[1]
        rest, joints, weights, shape_of, vertices, deltas, part_of = self._mesh
        place = np.full(len(rest), -1)
        place[list(chosen)] = np.arange(len(chosen))
        kept = place[vertices] >= 0
        some = list(chosen)
        blocks = layered.prepare(
            rest[some], joints[some], weights[some], shape_of[kept], place[vertices[kept]], deltas[kept], part_of[some]
        )
        self._last_blocks = (chosen, blocks)
        return blocks

    def carriers(self, vertex: int) -> JointCarriers:
        """The joints and shapes that move one vertex."""
        rest, joints, weights, shape_of, vertices, deltas, _ = self._mesh
        rows, used = vertices == vertex, weights[vertex] != 0
        return JointCarriers(rest[vertex], joints[vertex, used], weights[vertex, used], shape_of[rows], deltas[rows])

    def at_rest(self, joint: str) -> tuple[Array, Array]:
        """The position of a joint at rest (3,), and joint_from_rest (4, 4), from the world at rest to the joint."""
        number = self.character.skeleton.index(joint)
        return self._rest_worlds[number, :3, 3], self._joint_from_rest[number]

    @cached_property
    def blocks(self) -> layered.VertexBlocks:
        """The mesh in the world at rest, with weights on the joints of the skeleton, and the shapes."""
        return layered.prepare(*self._mesh)

    @cached_property
    def _mesh(self) -> tuple[Array, ...]:
        """The arguments of `layered.prepare`."""
        parts, shapes = self.character.parts, self.layers.shapes
        sizes = [len(part.mesh.vertices) for part in parts]
        widest = max((part.skin.weights.shape[1] for part in parts), default=0)
        joints = np.zeros((sum(sizes), widest), np.int64)
        weights = np.zeros((sum(sizes), widest))
        rest = np.zeros((sum(sizes), 3), np.float32)
        deltas = shapes.deltas.copy()
        start = 0
        for part, size in zip(parts, sizes):
            rows, width = slice(start, start + size), part.skin.weights.shape[1]
            joints[rows, :width] = part.skin.joints[part.skin.influences]
            weights[rows, :width] = part.skin.weights
            rest_from_mesh = self.rest_from_mesh(part)
            moves = (shapes.vertices >= start) & (shapes.vertices < rows.stop)
            rest[rows], deltas[moves] = part.mesh.vertices, shapes.deltas[moves]
            if rest_from_mesh is not None:
                rest[rows] = transform.apply(rest_from_mesh, part.mesh.vertices)
                deltas[moves] = transform.apply_direction(rest_from_mesh, shapes.deltas[moves])
            start += size
        weights /= weights.sum(axis=1, keepdims=True)
        part_of = np.repeat(np.arange(len(parts)), sizes)
        return rest, joints, weights, shapes.shape_of, shapes.vertices, deltas, part_of

    def rest_from_mesh(self, part: Part) -> Array | None:
        """The transform (4, 4) from a part's mesh to the rest pose; None for the identity."""
        skin = part.skin
        places = self._rest_worlds[skin.joints] @ skin.inverse_binds
        used = np.unique(skin.influences[skin.weights != 0])
        if not used.size:
            return None
        if np.abs(places[used] - places[used[0]]).max() > BIND_TOLERANCE_M:
            raise InvalidInput(
                f"part {part.name!r} of a character with layers should be bound in the rest pose, but is not"
            )
        return None if np.abs(places[used[0]] - np.eye(4)).max() <= BIND_TOLERANCE_M else places[used[0]]


class Parameters:
    """Controls to parameters, for many frames at once. The rules are sorted once: a frame is two passes over them."""

    def __init__(self, layers: RigLayers) -> None:
        self.layers = layers
        controls, lattice = layers.controls, layers.lattice
        self._reach = np.where(controls.high > controls.rest, controls.high - controls.rest, 1.0)
        self._drives = _ProductSum(layers.drive_parameter, layers.drive_gain, layers.drive_control)
        self._correctives = _ProductSum(
            layers.corrective_parameter, layers.corrective_gain, layers.corrective_a, layers.corrective_b
        )
        self._toward_rounds = _rounds(layers.toward_parameter)
        self._offsets = (
            None if lattice is None else _ProductSum(lattice.point * 3 + lattice.axis, lattice.gain, lattice.control)
        )

    def evaluate(self, values: Array) -> Array:
        """p (F, P) for controls (F, C) within their ranges."""
        layers, controls = self.layers, self.layers.controls
        offset = values - controls.rest
        p = np.zeros((len(values), layers.parameter_count))
        self._drives.add(offset, p)
        if len(layers.corrective_gain):
            self._correctives.add(np.clip(offset / self._reach, 0, 1), p)
        for rules in self._toward_rounds:
            parameter, control = layers.toward_parameter[rules], layers.toward_control[rules]
            before = p[:, parameter]
            p[:, parameter] = before + np.clip(values[:, control], 0, 1) * (layers.toward_target[rules] - before)
        return np.clip(p, layers.low, layers.high)

    def offsets(self, values: Array) -> Array | None:
        """(F, nx, ny, nz, 3) displacements of the lattice's points, or None where there is no lattice."""
        lattice = self.layers.lattice
        if lattice is None or self._offsets is None:
            return None
        result = np.zeros((len(values), int(np.prod(lattice.counts)) * 3))
        self._offsets.add(values - self.layers.controls.rest, result)
        return result.reshape(len(values), *lattice.counts, 3)


def _rounds(targets: Array) -> list[Array]:
    """The rules (n,) of each round: those of one target follow each other in their order, one a round."""
    turn = np.array([np.count_nonzero(targets[:i] == target) for i, target in enumerate(targets)], np.int64)
    return [np.flatnonzero(turn == number) for number in range(int(turn.max(initial=-1)) + 1)]


class _ProductSum:
    """Adds N products into columns, which may repeat: p[:, target[n]] += gain[n] prod_k x[:, of_k[n]]."""

    def __init__(self, target: Array, gain: Array, *of: Array) -> None:
        order = np.argsort(target, kind="stable")
        self._gain, self._of = gain[order], [factor[order] for factor in of]
        self._targets, self._starts = np.unique(target[order], return_index=True)

    def add(self, x: Array, p: Array) -> None:
        """Add the products of `x` (F, C) to `p` (F, P)."""
        if not len(self._gain):
            return
        first, *others = self._of
        columns = x[:, first]
        for factor in others:
            columns *= x[:, factor]
        columns *= self._gain
        p[:, self._targets] += np.add.reduceat(columns, self._starts, axis=1)
