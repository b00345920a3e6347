"""Points of a layered rig, on its joints or its skin, with exact derivatives: columns c, components q, states s.

    ds/dc = (ds/dq) (dq/dc)

dq/dc are the rules (`layered_rules`). ds/dq is that of a skeleton whose joints have two bones each, one that is moved
and holds the rest rotation, and one that turns by the Euler angles and scales. A vertex is the weighted sum of points
on its joints, which shapes move there, and the lattice bends what comes of it (`cage`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.keyframes import cage, layered_rules, skeletal
from understudy.keyframes.cage import Cage
from understudy.keyframes.goals import Point
from understudy.keyframes.skeletal import EULER, NONE, Anchors, Bones, Frames
from understudy.maths import accelerate, quaternion
from understudy.rig import LayeredRig
from understudy.rig.layered import Carriers

ORDER = ("tx", "ty", "tz", "ry", "rx", "rz", "sx", "sy", "sz")  # of q: angles as the factors Ry Rx Rz have them
PLACE = {name: i for i, name in enumerate(ORDER)}
KERNELS = "understudy.keyframes.layered_kernels"


class LayeredChains:
    """P points of a layered rig: states and ds/dc for values of the columns that move any of them.

    q has nine numbers for each of U joints, then the weights of the shapes that move any of the points.
    """

    def __init__(self, rig: LayeredRig, channels: Channels, points: Sequence[Point]) -> None:
        skeleton, layers = rig.character.skeleton, rig.layers
        skins = [None if point.vertex is None else rig.carriers(point.vertex) for point in points]
        owners = [_owner(rig, point, skin) for point, skin in zip(points, skins)]
        of_control = layered_rules.columns_of_controls(rig, channels)
        bending = cage.animated(rig, of_control) if any(skin is not None for skin in skins) else []
        ends = {*owners, *(int(joint) for skin in skins if skin is not None for joint in skin.joints)}
        if bending and layers.lattice is not None:
            ends.add(skeleton.index(layers.lattice.joint))
        used = sorted({int(a) for joint in ends for a in skeleton.ancestors(joint)})
        place = {joint: i for i, joint in enumerate(used)}
        shapes = sorted({int(shape) for skin in skins if skin is not None for shape in skin.shapes})
        parameters, where, gain = _wanted(rig, place, shapes)
        said = {int(c) for c in layered_rules.controls_of(rig, parameters)} | set(bending)
        controls = sorted(c for c in said if c in of_control)
        self.columns = np.array([of_control[c] for c in controls], np.int64)  # (n,)
        start = np.concatenate([_rest(rig, used).reshape(-1), np.zeros(len(shapes))])
        self.rules = layered_rules.rules_of(rig, controls, parameters, where, gain, start)
        self.bones = _bones(rig, used, place)
        self.anchors = _anchors(rig, points, skins, owners, place, {s: 9 * len(used) + i for i, s in enumerate(shapes)})
        self.rests = [None if skin is None else skin.rest for skin in skins]
        number = {c: i for i, c in enumerate(controls) if c in bending}
        bone = 2 * place[skeleton.index(layers.lattice.joint)] + 1 if number and layers.lattice is not None else -1
        inside = np.array([skin is not None and bool(number) for skin in skins], bool)
        self.cage: Cage = cage.cage_of(rig, number, bone, inside)

    def evaluate(self, values: Array, sample: Array, point: Array, slopes: bool) -> tuple[Array, Array, Array]:
        """As `States.evaluate`."""
        kernels = accelerate.kernels(KERNELS)
        if kernels is None:
            position, orientation, jacobian = self.evaluate_slowly(values, sample, point)
            return position, orientation, jacobian if slopes else jacobian[:0]
        count = len(sample)
        position, orientation = np.empty((count, 3)), np.empty((count, 3, 3))
        jacobian = np.zeros((count if slopes else 0, 6, len(self.columns)))
        own = np.ascontiguousarray(values, np.float64)
        kernels.evaluate(
            self.rules,
            self.cage,
            self.bones,
            self.anchors,
            own,
            *skeletal.by_sample(sample, len(values)),
            point,
            position,
            orientation,
            jacobian,
        )
        return position, orientation, jacobian

    def evaluate_slowly(self, values: Array, sample: Array, point: Array) -> tuple[Array, Array, Array]:
        """`layered_kernels.evaluate` in NumPy, with slopes always."""
        q, dq = layered_rules.at(self.rules, values)
        position, orientation, by_q = skeletal.states(self.bones, self.anchors, q, sample, point)
        jacobian = np.zeros((len(sample), 6, len(self.columns)))
        own = np.flatnonzero(self.cage.inside[point])
        if len(own):
            at = Frames(*(array[sample[own]] for array in skeletal.frames(self.bones, q)))
            position[own], by_q[own, :3], jacobian[own, :3] = cage.bent(
                self.cage, self.rules, self.bones, at, values[sample[own]], position[own], by_q[own, :3]
            )
        jacobian += by_q[:, :, self.rules.place] @ dq[sample]
        return position, orientation, jacobian

    @cached_property
    def moved_by(self) -> Array:
        """(P, 2, n) bool: which column moves which point, its position and its orientation."""
        said, q_of, anchors = layered_rules.said(self.rules), self.rules.place, self.anchors
        joints = 9 * len(self.bones.parents) // 2
        bone, kind = np.where(q_of < joints, q_of // 9, -1), q_of % 9 // 3  # 0 moves, 1 turns, 2 scales
        result = np.zeros((len(anchors.main), 2, len(self.columns)), bool)
        for p, rest in enumerate(self.rests):
            for carrier in range(anchors.first[p], anchors.first[p + 1]):
                j = joint = int(anchors.joint[carrier])
                span = slice(anchors.first_shape[carrier], anchors.first_shape[carrier + 1])
                result[p, 0] |= said[np.isin(q_of, anchors.shape_column[span])].any(axis=0)
                at_origin = rest is None and not anchors.local[carrier].any()
                while j >= 0:
                    moving = (bone == j // 2) & ((kind == 0) | (not at_origin) | (j != joint))
                    result[p, 0] |= said[moving].any(axis=0)
                    j = int(self.bones.parents[j - 1])
            reached = cage.touches(self.cage, rest, len(self.columns)) if rest is not None else np.zeros(0, bool)
            if reached.any():
                result[p, 0] |= reached | said[np.isin(bone, self._above(self.cage.bone))].any(axis=0)
            turning = np.isin(bone, self._above(int(anchors.main[p]))) & (kind == 1)
            result[p, 1] |= said[turning].any(axis=0)
        return result

    def _above(self, j: int) -> list[int]:
        """The numbers of the joints of bone j and of all above it."""
        found = []
        while j >= 0:
            found.append(j // 2)
            j = int(self.bones.parents[j - 1])
        return found


def _owner(rig: LayeredRig, point: Point, skin: Carriers | None) -> int:
    """The joint whose orientation a point has."""
    if skin is None:
        return int(rig.character.skeleton.index(point.joint))
    return int(skin.joints[np.argmax(skin.weights)])


def _wanted(rig: LayeredRig, place: dict[int, int], shapes: Sequence[int]) -> tuple[Array, Array, Array]:
    """The parameters (P,) that joints and shapes depend on, where each goes in q, and with which gain."""
    layers, skeleton = rig.layers, rig.character.skeleton
    found = []
    for p, (name, component) in enumerate(layers.components):
        joint = skeleton.index(name)
        if joint in place:
            scale = skeleton.scales[joint, "xyz".index(component[1])] if component[0] == "s" else 1.0
            found.append((p, 9 * place[joint] + PLACE[component], scale))
    first = len(layers.components)
    found += [(first + shape, 9 * len(place) + i, 1.0) for i, shape in enumerate(shapes)]
    parameters, where = (np.array([each[i] for each in found], np.int64) for i in (0, 1))
    return parameters, where, np.array([each[2] for each in found], float)


def _rest(rig: LayeredRig, used: list[int]) -> Array:
    """(U, 9) q of the joints where no parameter says otherwise."""
    skeleton = rig.character.skeleton
    return np.concatenate([skeleton.translations[used], np.zeros((len(used), 3)), skeleton.scales[used]], axis=1)


def _bones(rig: LayeredRig, used: list[int], place: dict[int, int]) -> Bones:
    skeleton, count = rig.character.skeleton, len(used)
    parents = [2 * place[int(skeleton.parents[j])] + 1 if skeleton.parents[j] >= 0 else -1 for j in used]
    turning, first = np.tile([False, True], count), 9 * np.arange(count).repeat(2)
    still = quaternion.identity((2 * count,))
    still[~turning] = quaternion.normalise(skeleton.rotations[used])
    return Bones(
        np.stack([parents, 2 * np.arange(count)], axis=1).reshape(-1).astype(np.int64),
        np.zeros((2 * count, 3)),
        still,
        np.ones((2 * count, 3)),
        np.where(turning, -1, first).astype(np.int64),
        np.where(turning, first + 3, -1).astype(np.int64),
        np.where(turning, EULER, NONE).astype(np.int64),
        np.tile([1, 0, 2], (2 * count, 1)).astype(np.int64),
        np.where(turning, first + 6, -1).astype(np.int64),
    )


def _anchors(
    rig: LayeredRig,
    points: Sequence[Point],
    skins: Sequence[Carriers | None],
    owners: Sequence[int],
    place: dict[int, int],
    column: dict[int, int],
) -> Anchors:
    """Points on joints and vertices; `column` says where in q the weight of each shape is."""
    names = rig.character.skeleton.names
    joint: list[int] = []
    weight: list[float] = []
    local: list[Array] = []
    deltas: list[list[tuple[int, Array]]] = []  # of each carrier, its shapes
    first = [0]
    for point, skin, owner in zip(points, skins, owners):
        if skin is None:
            joint.append(owner)
            weight.append(1.0)
            local.append(np.array(point.offset, float))
            deltas.append([])
        else:
            for j, share in zip(skin.joints.tolist(), skin.weights.tolist()):
                _, joint_from_rest = rig.at_rest(names[j])
                joint.append(j)
                weight.append(share)
                local.append(joint_from_rest[:3, :3] @ skin.rest + joint_from_rest[:3, 3])
                moved = skin.deltas.astype(float) @ joint_from_rest[:3, :3].T
                deltas.append([(column[int(s)], delta) for s, delta in zip(skin.shapes, moved)])
        first.append(len(joint))
    flat = [entry for each in deltas for entry in each]
    return Anchors(
        np.array([2 * place[owner] + 1 for owner in owners], np.int64),
        np.array(first, np.int64),
        np.array([2 * place[j] + 1 for j in joint], np.int64),
        np.array(weight),
        np.array(local).reshape(-1, 3),
        np.concatenate([[0], np.cumsum([len(each) for each in deltas])]).astype(np.int64),
        np.array([at for at, _ in flat], np.int64),
        np.array([delta for _, delta in flat]).reshape(-1, 3),
    )
