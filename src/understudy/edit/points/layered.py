"""Points of a layered rig, on its joints or its skin, with exact derivatives: columns c, components q, states s.

    ds/dc = (ds/dq) (dq/dc)

ds/dq is that of a skeleton whose joints have two bones each, one that is moved
and has the rest rotation, and one that turns by the Euler angles and scales. A vertex is the weighted sum of points on
its joints, moved by the shapes in their frames, and the lattice bends the result.

The lattice about a point of the skin, with derivatives (`layered_kernels.bend_point`):

    y = L (u + d(u, o)),        u = L^-1 x,        L = world_from_joint joint_from_rest of the lattice's joint

x is the point after shapes and joints, d the free-form deformation of `character.skinning.layered`, o = gain (c - rest)
the offsets of the lattice's points by the controls. With A the linear part of L and z(w) a point fixed to the joint at
w,

    dy = A (1 + dd/du) A^-1 (dx - dz(u)) + dz(u + d) + A (dd/do) do.

The rules from columns to components,

    q = rest + gain clip(p(c), low, high),

are those of `character.layers`, only of the parameters p that the points need. dq/dc follows them one by one: drives
are constant, correctives have the product rule, a toward reduces the derivatives before it by its weight; where a
control or a parameter is outside of its range, the derivative is zero. A control that the animation does not move stays
at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy.character import Channels
from understudy.character.rig import LayeredRig
from understudy.character.rig.layered import JointCarriers
from understudy.character.skinning import layered
from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.edit.points import skeletal
from understudy.edit.points.skeletal import EULER_ROTATION, NO_ROTATION, Anchors, JointChain
from understudy.maths import jit, quaternion

REACH_MARGIN_CELLS = 1.0  # cells beyond the reach of a control at rest: other layers move a point by less than that

# Of q for each joint; the angles in the order of the factors Ry Rx Rz.
COMPONENT_ORDER = ("tx", "ty", "tz", "ry", "rx", "rz", "sx", "sy", "sz")
COMPONENT_INDEX = {name: i for i, name in enumerate(COMPONENT_ORDER)}


class Rules(NamedTuple):
    """The rules from n columns to P parameters, each of which is one of the Q numbers q.

    Entries (E,) are the pairs of a parameter and a column that influences it, those of a parameter together.
    """

    low: Array  # (n,) the range of each control
    high: Array  # (n,)
    rest: Array  # (n,)
    reach: Array  # (n,) from rest to the upper end
    first: Array  # (P + 1,) where the entries of each parameter begin
    column: Array  # (E,) int
    drive: Array  # (E,) gain of the drives
    corrective: Array  # (A, 3) int: parameter and the two entries
    corrective_gain: Array  # (A,)
    toward: Array  # (B, 2) int: parameter and entry, -1 where the control is not animated; in their order
    toward_rest: Array  # (B,) the control where it is not animated
    toward_target: Array  # (B,)
    least: Array  # (P,) the range of each parameter
    most: Array  # (P,)
    place: Array  # (P,) int, into q
    gain: Array  # (P,)
    start: Array  # (Q,) q at rest


class LatticeControls(NamedTuple):
    """The N animated controls of a lattice; none where it has no effect."""

    bone: int  # of its joint, among the bones
    joint_from_rest: Array  # (3, 4)
    low: Array  # (3,) of the box, in the world at rest
    cell: Array  # (3,) its cells' size
    counts: Array  # (3,) int, its points
    point: Array  # (N, 3) int, the point that each moves
    axis: Array  # (N,) int
    column: Array  # (N,) int
    gain: Array  # (N,)
    inside: Array  # (P,) bool, the points that it bends: vertices


class LayeredPoints:
    """P points of a layered rig: states and ds/dc for values of the columns that move any of them.

    q has nine numbers for each of U joints, then the weights of the shapes that move any of the points.
    """

    def __init__(self, rig: LayeredRig, channels: Channels, points: Sequence[Point]) -> None:
        skeleton, layers = rig.character.skeleton, rig.layers
        skins = [None if point.vertex is None else rig.carriers(point.vertex) for point in points]
        owners = [_owner(rig, point, skin) for point, skin in zip(points, skins)]
        of_control = columns_of_controls(rig, channels)
        bending = animated_controls(rig, of_control) if any(skin is not None for skin in skins) else []
        ends = {*owners, *(int(joint) for skin in skins if skin is not None for joint in skin.joints)}
        if bending and layers.lattice is not None:
            ends.add(skeleton.index(layers.lattice.joint))
        used = sorted({int(a) for joint in ends for a in skeleton.ancestors(joint)})
        place = {joint: i for i, joint in enumerate(used)}
        shapes = sorted({int(shape) for skin in skins if skin is not None for shape in skin.shapes})
        parameters, where, gain = _needed_parameters(rig, place, shapes)
        needed = {int(c) for c in controls_of(rig, parameters)} | set(bending)
        controls = sorted(c for c in needed if c in of_control)
        self.columns = np.array([of_control[c] for c in controls], np.int64)  # (n,)
        start = np.concatenate([_rest_components(rig, used).reshape(-1), np.zeros(len(shapes))])
        self.rules = rules_of(rig, controls, parameters, where, gain, start)
        self.bones = _joint_chain(rig, used, place)
        self.anchors = _anchors(rig, points, skins, owners, place, {s: 9 * len(used) + i for i, s in enumerate(shapes)})
        self.rests = [None if skin is None else skin.rest for skin in skins]
        number = {c: i for i, c in enumerate(controls) if c in bending}
        bone = 2 * place[skeleton.index(layers.lattice.joint)] + 1 if number and layers.lattice is not None else -1
        inside = np.array([skin is not None and bool(number) for skin in skins], bool)
        self.cage: LatticeControls = lattice_controls(rig, number, bone, inside)

    def evaluate(self, values: Array, sample: Array, point: Array, slopes: bool) -> tuple[Array, Array, Array]:
        """As `PointStates.evaluate`."""
        count = len(sample)
        position, orientation = np.empty((count, 3)), np.empty((count, 3, 3))
        jacobian = np.zeros((count if slopes else 0, 6, len(self.columns)))
        contiguous = np.ascontiguousarray(values, np.float64)
        jit.kernels("understudy.edit.points.layered_kernels").evaluate(
            self.rules,
            self.cage,
            self.bones,
            self.anchors,
            contiguous,
            *skeletal.group_by_sample(sample, len(values)),
            point,
            position,
            orientation,
            jacobian,
        )
        return position, orientation, jacobian

    @cached_property
    def influence_mask(self) -> Array:
        """(P, 2, n) bool: which column moves which point, its position and its orientation."""
        influence, q_of, anchors = rule_dependencies(self.rules), self.rules.place, self.anchors
        joints = 9 * len(self.bones.parents) // 2
        bone, kind = np.where(q_of < joints, q_of // 9, -1), q_of % 9 // 3  # 0 moves, 1 turns, 2 scales
        result = np.zeros((len(anchors.main), 2, len(self.columns)), bool)
        for p, rest in enumerate(self.rests):
            for carrier in range(anchors.first[p], anchors.first[p + 1]):
                j = joint = int(anchors.joint[carrier])
                span = slice(anchors.first_shape[carrier], anchors.first_shape[carrier + 1])
                result[p, 0] |= influence[np.isin(q_of, anchors.shape_column[span])].any(axis=0)
                at_origin = rest is None and not anchors.local[carrier].any()
                while j >= 0:
                    moving = (bone == j // 2) & ((kind == 0) | (not at_origin) | (j != joint))
                    result[p, 0] |= influence[moving].any(axis=0)
                    j = int(self.bones.parents[j - 1])
            reached = columns_reaching(self.cage, rest, len(self.columns)) if rest is not None else np.zeros(0, bool)
            if reached.any():
                result[p, 0] |= reached | influence[np.isin(bone, self._joint_and_ancestors(self.cage.bone))].any(
                    axis=0
                )
            turning = np.isin(bone, self._joint_and_ancestors(int(anchors.main[p]))) & (kind == 1)
            result[p, 1] |= influence[turning].any(axis=0)
        return result

    def _joint_and_ancestors(self, j: int) -> list[int]:
        """The numbers of the joint of bone j and of its ancestors."""
        joints = []
        while j >= 0:
            joints.append(j // 2)
            j = int(self.bones.parents[j - 1])
        return joints


def _owner(rig: LayeredRig, point: Point, skin: JointCarriers | None) -> int:
    """The joint whose orientation a point has."""
    if skin is None:
        return int(rig.character.skeleton.index(point.joint))
    return int(skin.joints[np.argmax(skin.weights)])


def _needed_parameters(rig: LayeredRig, place: dict[int, int], shapes: Sequence[int]) -> tuple[Array, Array, Array]:
    """The parameters (P,) that joints and shapes depend on, where each goes in q, and with which gain."""
    layers, skeleton = rig.layers, rig.character.skeleton
    needed = []
    for p, (name, component) in enumerate(layers.components):
        joint = skeleton.index(name)
        if joint in place:
            scale = skeleton.scales[joint, "xyz".index(component[1])] if component[0] == "s" else 1.0
            needed.append((p, 9 * place[joint] + COMPONENT_INDEX[component], scale))
    first = len(layers.components)
    needed += [(first + shape, 9 * len(place) + i, 1.0) for i, shape in enumerate(shapes)]
    parameters, where = (np.array([row[i] for row in needed], np.int64) for i in (0, 1))
    return parameters, where, np.array([row[2] for row in needed], float)


def _rest_components(rig: LayeredRig, used: list[int]) -> Array:
    """(U, 9) q of the joints at rest."""
    skeleton = rig.character.skeleton
    return np.concatenate([skeleton.translations[used], np.zeros((len(used), 3)), skeleton.scales[used]], axis=1)


def _joint_chain(rig: LayeredRig, used: list[int], place: dict[int, int]) -> JointChain:
    skeleton, count = rig.character.skeleton, len(used)
    parents = [2 * place[int(skeleton.parents[j])] + 1 if skeleton.parents[j] >= 0 else -1 for j in used]
    turning, first = np.tile([False, True], count), 9 * np.arange(count).repeat(2)
    still = quaternion.identity((2 * count,))
    still[~turning] = quaternion.normalise(skeleton.rotations[used])
    return JointChain(
        np.stack([parents, 2 * np.arange(count)], axis=1).reshape(-1).astype(np.int64),
        np.zeros((2 * count, 3)),
        still,
        np.ones((2 * count, 3)),
        np.where(turning, -1, first).astype(np.int64),
        np.where(turning, first + 3, -1).astype(np.int64),
        np.where(turning, EULER_ROTATION, NO_ROTATION).astype(np.int64),
        np.tile([1, 0, 2], (2 * count, 1)).astype(np.int64),
        np.where(turning, first + 6, -1).astype(np.int64),
    )


def _anchors(
    rig: LayeredRig,
    points: Sequence[Point],
    skins: Sequence[JointCarriers | None],
    owners: Sequence[int],
    place: dict[int, int],
    column: dict[int, int],
) -> Anchors:
    """The anchors of points on joints and of vertices; `column` is the place of the weight of each shape in q."""
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
    flat = [entry for shapes in deltas for entry in shapes]
    return Anchors(
        np.array([2 * place[owner] + 1 for owner in owners], np.int64),
        np.array(first, np.int64),
        np.array([2 * place[j] + 1 for j in joint], np.int64),
        np.array(weight),
        np.array(local).reshape(-1, 3),
        np.concatenate([[0], np.cumsum([len(shapes) for shapes in deltas])]).astype(np.int64),
        np.array([at for at, _ in flat], np.int64),
        np.array([delta for _, delta in flat]).reshape(-1, 3),
    )


def animated_controls(rig: LayeredRig, columns: Mapping[int, int]) -> list[int]:
    """The controls of a rig's lattice that an animation moves."""
    known = rig.layers.lattice
    return [] if known is None else [int(c) for c in np.unique(known.control) if int(c) in columns]


def lattice_controls(rig: LayeredRig, number: Mapping[int, int], bone: int, inside: Array) -> LatticeControls:
    """The lattice with its controls by column: `number` maps the animated controls to columns."""
    known = rig.layers.lattice
    if known is None or not inside.any():
        none = np.zeros(0, np.int64)
        empty = np.zeros((0, 3), np.int64), none, none, np.zeros(0)
        return LatticeControls(-1, np.eye(4)[:3], np.zeros(3), np.ones(3), np.ones(3, np.int64), *empty, inside)
    used = np.array([int(c) in number for c in known.control], bool)
    origin, joint_from_rest = rig.at_rest(known.joint)
    return LatticeControls(
        bone,
        joint_from_rest[:3].copy(),
        origin + known.low,
        layered.cell_size(known.low, known.high, known.counts),
        np.array(known.counts, np.int64),
        np.stack(np.unravel_index(known.point[used], known.counts), axis=1).astype(np.int64),
        known.axis[used].copy(),
        np.array([number[int(c)] for c in known.control[used]], np.int64),
        known.gain[used].copy(),
        inside,
    )


def columns_reaching(cage: LatticeControls, rest: Array, columns: int) -> Array:
    """(n,) bool: the columns whose lattice points can reach a vertex that is at `rest` (3,)."""
    result = np.zeros(columns, bool)
    t = (rest - cage.low) / cage.cell - cage.point
    result[cage.column[((t > -REACH_MARGIN_CELLS) & (t < 3 + REACH_MARGIN_CELLS)).all(axis=1)]] = True
    return result


def columns_of_controls(rig: LayeredRig, channels: Channels) -> dict[int, int]:
    """The column of an animation that moves each control, the last of several."""
    columns: dict[int, int] = {}
    for i, channel in enumerate(channels):
        if channel.kind != "controls":
            continue
        first = int(channels.offsets[i])
        if channel.target in rig.controls and len(channel) == 1:
            columns[rig.controls.index(channel.target)] = first
        elif channel.target in ("", rig.character.name):
            names = enumerate(channel.columns)
            columns.update({rig.controls.index(name): first + k for k, name in names if name in rig.controls})
    return columns


def controls_of(rig: LayeredRig, parameters: Array) -> Array:
    """The controls (N,) that influence parameters (P,), in order."""
    layers = rig.layers
    driving = np.isin(layers.drive_parameter, parameters)
    fixing = np.isin(layers.corrective_parameter, parameters)
    toward = np.isin(layers.toward_parameter, parameters)
    return np.unique(
        np.concatenate(
            [
                layers.drive_control[driving],
                layers.corrective_a[fixing],
                layers.corrective_b[fixing],
                layers.toward_control[toward],
            ]
        )
    )


def rules_of(
    rig: LayeredRig, controls: Sequence[int], parameters: Array, place: Array, gain: Array, start: Array
) -> Rules:
    """The rules of parameters (P,) for animated controls, each a column; parameters go to q[place] with a gain."""
    layers, known = rig.layers, rig.controls
    number = {control: i for i, control in enumerate(controls)}
    row = {int(p): i for i, p in enumerate(parameters)}

    def pairs(of: Array, *by: Array) -> list[tuple[int, ...]]:
        """The rules of the needed parameters: number, row, and the columns of the controls, -1 where not animated."""
        return [
            (k, row[int(p)], *(number.get(int(controls_of_rule[k]), -1) for controls_of_rule in by))
            for k, p in enumerate(of.tolist())
            if p in row
        ]

    # a drive or a corrective of a control that is not animated adds nothing
    drives = [rule for rule in pairs(layers.drive_parameter, layers.drive_control) if rule[2] >= 0]
    fixes = pairs(layers.corrective_parameter, layers.corrective_a, layers.corrective_b)
    fixes = [rule for rule in fixes if min(rule[2:]) >= 0]
    towards = pairs(layers.toward_parameter, layers.toward_control)
    used = [(rule[1], column) for rule in (*drives, *fixes, *towards) for column in rule[2:] if column >= 0]
    entries = {pair: e for e, pair in enumerate(sorted(set(used)))}
    owner = np.array([i for i, _ in entries], np.int64)
    drive = np.zeros(len(entries))
    for k, i, column in drives:
        drive[entries[i, column]] += layers.drive_gain[k]
    high, rest = known.high[list(controls)], known.rest[list(controls)]
    return Rules(
        known.low[list(controls)],
        high,
        rest,
        np.where(high > rest, high - rest, 1.0),
        np.searchsorted(owner, np.arange(len(parameters) + 1)).astype(np.int64),
        np.array([column for _, column in entries], np.int64),
        drive,
        np.array([(i, entries[i, a], entries[i, b]) for _, i, a, b in fixes], np.int64).reshape(-1, 3),
        layers.corrective_gain[[rule[0] for rule in fixes]],
        np.array([(i, _entry(entries, i, c)) for _, i, c in towards], np.int64).reshape(-1, 2),
        known.rest[layers.toward_control[[rule[0] for rule in towards]]],
        layers.toward_target[[rule[0] for rule in towards]],
        layers.low[parameters],
        layers.high[parameters],
        np.asarray(place, np.int64),
        np.asarray(gain, np.float64),
        start,
    )


def rule_dependencies(rules: Rules) -> Array:
    """(P, n) bool: which column influences which parameter."""
    result = np.zeros((len(rules.place), len(rules.low)), bool)
    result[np.repeat(np.arange(len(rules.place)), np.diff(rules.first)), rules.column] = True
    return result


def _entry(entries: Mapping[tuple[int, int], int], parameter: int, column: int) -> int:
    return entries[parameter, column] if column >= 0 else -1
