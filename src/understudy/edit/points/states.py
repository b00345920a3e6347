"""The states of points, position and orientation, as functions of the columns of an animation, for any rig.

Joints and linearly skinned vertices of a character that is moved by its joints and shape weights have exact
derivatives (`skeletal`), and so has every point of a layered rig (`layered`). Everything else, such as dual quaternions
and shapes with in-betweens, is evaluated by the rig itself and differentiated by central differences; `analytic` says
which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from understudy.character import Channels, Part
from understudy.character.rig import DirectRig, LayeredRig, PosedRig
from understudy.character.rig.rig import ChannelLayout
from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.edit.points import skeletal
from understudy.edit.points.layered import LayeredPoints
from understudy.edit.points.skeletal import EULER_ROTATION, NO_ROTATION, QUATERNION_ROTATION, Anchors, JointChain
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform

# Of a central difference: its error is about step^2 + rounding / step, least for float64 near 1e-5.
DIFFERENCE_STEP = 1e-5
DIFFERENCE_STEP_FLOAT32 = 2e-3  # the same for vertices, which rigs give in float32

Carrier = tuple[int, float, Array, Part | None, int]  # see `_carriers`


class PointStates(ABC):
    """P points of one rig. `columns` (n,) are the columns of the animation that can move any of them.

    `influence_mask` (P, 2, n) bool: whether a column moves the position and the orientation of a point.
    """

    analytic: bool
    columns: Array
    influence_mask: Array

    @abstractmethod
    def evaluate(self, values: Array, sample: Array, point: Array, slopes: bool = True) -> tuple[Array, Array, Array]:
        """States of R requests, each a point (R,) at a sample (R,) of values (S, n).

        Returns positions (R, 3), orientations (R, 3, 3) and derivatives (R, 6, n), three rows of the position and three
        of the rotation in the world; (0, 6, n) without `slopes`.
        """


def states_of(rig: PosedRig, channels: Channels, points: Sequence[Point]) -> PointStates:
    """The states of points, moved by the columns of `channels`."""
    for point in points:
        _check(rig, point)
    if isinstance(rig, DirectRig) and all(_is_analytic(rig, point) for point in points):
        return SkeletalPoints(rig, channels, points)
    if isinstance(rig, LayeredRig):
        return LayeredPointStates(rig, channels, points)
    return FiniteDifferencePoints(rig, channels, points)


def main_joint(rig: PosedRig, point: Point) -> int:
    """The number of the joint that carries a point, or most of a vertex."""
    if point.vertex is None:
        return rig.character.skeleton.index(point.joint)
    part, number = part_of(rig, point.vertex)
    best = int(np.argmax(part.skin.weights[number]))
    return int(part.skin.joints[part.skin.influences[number, best]])


class SkeletalPoints(PointStates):
    """Points on the joints of a direct rig, with exact derivatives."""

    analytic = True

    def __init__(self, rig: DirectRig, channels: Channels, points: Sequence[Point]) -> None:
        skeleton = rig.character.skeleton
        carried = [_carriers(rig, point) for point in points]  # of each point: joint, weight, local, part, vertex
        used = sorted({a for carriers in carried for c in carriers for a in skeleton.ancestors(c[0])})
        place = {joint: i for i, joint in enumerate(used)}
        picked: list[int] = []  # columns of the animation, in the order of use

        def first_of(target: str, kind: str) -> int:
            span = channels.slice(target, kind)
            if span is None:
                return -1
            picked.extend(range(span.start, span.stop))
            return len(picked) - (span.stop - span.start)

        self.names = names = tuple(skeleton.names[j] for j in used)
        translation = [first_of(name, "translation") for name in names]
        turns = [_rotation_of(channels, name) for name in names]
        rotation = [
            -1 if kind == NO_ROTATION else first_of(name, ("", "rotation", "euler")[kind])
            for name, (kind, _) in zip(names, turns)
        ]
        scale = [first_of(name, "scale") for name in names]
        parents = [place.get(int(skeleton.parents[j]), -1) for j in used]
        self.bones = JointChain(
            np.array(parents, np.int64),
            skeleton.translations[used].copy(),
            quaternion.normalise(skeleton.rotations[used]),
            skeleton.scales[used].copy(),
            np.array(translation, np.int64),
            np.array(rotation, np.int64),
            np.array([kind for kind, _ in turns], np.int64),
            np.array([order for _, order in turns], np.int64).reshape(-1, 3),
            np.array(scale, np.int64),
        )
        self.anchors = _anchors(rig, channels, carried, place, picked)
        self.columns = np.array(picked, np.int64)
        self.parts = self.bones, self.anchors  # arguments of the kernels

    @cached_property
    def influence_mask(self) -> Array:  # type: ignore[override]
        """(P, 2, n) bool. The rotation of a joint does not move a point at its origin."""
        bones, anchors = self.bones, self.anchors
        result = np.zeros((len(anchors.main), 2, len(self.columns)), bool)
        for p in range(len(anchors.main)):
            for b in range(anchors.first[p], anchors.first[p + 1]):
                span = slice(anchors.first_shape[b], anchors.first_shape[b + 1])
                result[p, 0, anchors.shape_column[span]] = True
                j, off_centre = anchors.joint[b], bool(anchors.local[b].any()) or span.stop > span.start
                while j >= 0:
                    for column, width, always in self._spans(j):
                        result[p, 0, column : column + width] |= always or off_centre
                    j, off_centre = bones.parents[j], True
            j = anchors.main[p]
            while j >= 0:
                if bones.rotation_kind[j] != NO_ROTATION:
                    result[p, 1, _rotation_columns(bones, j)] = True
                j = bones.parents[j]
        return result

    def _spans(self, j: int) -> list[tuple[int, int, bool]]:
        """Columns of joint j: the first, their number, and whether they move a point at its origin."""
        bones = self.bones
        turning = _rotation_columns(bones, j)
        spans = [
            (int(bones.translation_column[j]), 3, True),
            (turning.start, turning.stop - turning.start, False),
            (int(bones.scale_column[j]), 3, False),
        ]
        return [span for span in spans if span[0] >= 0]

    def evaluate(self, values: Array, sample: Array, point: Array, slopes: bool = True) -> tuple[Array, Array, Array]:
        return skeletal.evaluate(self.bones, self.anchors, values, sample, point, slopes)


class LayeredPointStates(PointStates):
    """Points of a layered rig, with exact derivatives."""

    analytic = True

    def __init__(self, rig: LayeredRig, channels: Channels, points: Sequence[Point]) -> None:
        chains = self.chains = LayeredPoints(rig, channels, points)
        self.columns = chains.columns
        self.parts = chains.rules, chains.cage, chains.bones, chains.anchors  # arguments of the kernels

    @cached_property
    def influence_mask(self) -> Array:  # type: ignore[override]
        """(P, 2, n) bool."""
        return self.chains.influence_mask

    def evaluate(self, values: Array, sample: Array, point: Array, slopes: bool = True) -> tuple[Array, Array, Array]:
        return self.chains.evaluate(values, sample, point, slopes)


class FiniteDifferencePoints(PointStates):
    """Points of any rig, differentiated by central differences of the rig itself."""

    analytic = False

    def __init__(self, rig: PosedRig, channels: Channels, points: Sequence[Point]) -> None:
        self.rig, self.channels, self.points = rig, channels, tuple(points)
        self.columns, self._layout = np.arange(channels.width), ChannelLayout(rig, channels)
        self._joints = [main_joint(rig, point) for point in points]
        self._step = DIFFERENCE_STEP_FLOAT32 if any(point.vertex is not None for point in points) else DIFFERENCE_STEP

    @cached_property
    def influence_mask(self) -> Array:  # type: ignore[override]
        """(P, 2, n) bool, found by changing one column at a time, away from the rest pose, where nothing cancels."""
        rest = self._rest
        n, points = len(self.columns), np.arange(len(self.points))
        nudged = rest + np.concatenate([0.05 * np.eye(n), np.zeros((1, n))])
        position, orientation, _ = self.evaluate(
            nudged, np.repeat(np.arange(n + 1), len(points)), np.tile(points, n + 1), False
        )
        place = position.reshape(n + 1, len(points), 3)
        turn = orientation.reshape(n + 1, len(points), 9)
        return np.stack(
            [
                (np.abs(place[:-1] - place[-1]).max(axis=2) > 1e-7).T,
                (np.abs(turn[:-1] - turn[-1]).max(axis=2) > 1e-7).T,
            ],
            axis=1,
        )

    @cached_property
    def _rest(self) -> Array:
        """(n,) the rest values of the columns; those that the rig does not have are zero or identity."""
        result = np.zeros(len(self.columns))
        for i, channel in enumerate(self.channels):
            span = slice(int(self.channels.offsets[i]), int(self.channels.offsets[i + 1]))
            source = self.rig.channels.slice(channel.target, channel.kind)
            if source is not None and source.stop - source.start == span.stop - span.start:
                result[span] = self.rig.rest[source]
            if channel.kind == "rotation" and source is None:
                result[span.stop - 1] = 1.0
        return result

    def evaluate(self, values: Array, sample: Array, point: Array, slopes: bool = True) -> tuple[Array, Array, Array]:
        n, used = len(self.columns), np.unique(sample)
        if not slopes:
            position, orientation = self._states(values[used], np.searchsorted(used, sample), point)
            return position, orientation, np.zeros((0, 6, n))
        moving = np.flatnonzero(self.influence_mask[np.unique(point)].any(axis=(0, 1)))
        step = self._step
        steps = np.concatenate([np.zeros((1, n)), step * np.eye(n)[moving], -step * np.eye(n)[moving]])
        many = values[used][:, None] + steps  # (U, 1 + 2 m, n)
        width = len(steps)
        at = np.searchsorted(used, sample)[:, None] * width + np.arange(width)
        position, orientation = self._states(many.reshape(-1, n), at.reshape(-1), np.repeat(point, width))
        position, orientation = position.reshape(-1, width, 3), orientation.reshape(-1, width, 3, 3)
        m = len(moving)
        jacobian = np.zeros((len(sample), 6, n))
        jacobian[:, :3, moving] = np.swapaxes(position[:, 1 : m + 1] - position[:, m + 1 :], 1, 2) / (2 * step)
        change = orientation[:, 1 : m + 1] @ np.swapaxes(orientation[:, m + 1 :], -1, -2)
        turn = np.stack(
            [
                change[..., 2, 1] - change[..., 1, 2],
                change[..., 0, 2] - change[..., 2, 0],
                change[..., 1, 0] - change[..., 0, 1],
            ],
            axis=-1,
        )
        jacobian[:, 3:, moving] = np.swapaxes(turn, 1, 2) / (4 * step)
        return position[:, 0], orientation[:, 0], jacobian

    def _states(self, values: Array, sample: Array, point: Array) -> tuple[Array, Array]:
        values = values.copy()
        turning = self.channels.columns_of("rotation").reshape(-1, 4)
        values[:, turning] = quaternion.normalise(values[:, turning])  # as curves give them
        poses = self._layout.rows(values)
        world = self.rig.joints(poses)
        position, orientation = np.empty((len(sample), 3)), np.empty((len(sample), 3, 3))
        asked = list(dict.fromkeys(point.vertex for point in self.points if point.vertex is not None))
        vertices = self.rig.points(poses, asked) if asked else None
        for p in np.unique(point):
            rows = np.flatnonzero(point == p)
            at = world[sample[rows], self._joints[p]]
            spec = self.points[p]
            if spec.vertex is None:
                position[rows] = at[:, :3, :3] @ np.array(spec.offset) + at[:, :3, 3]
            else:
                assert vertices is not None
                position[rows] = vertices[sample[rows], asked.index(spec.vertex)]
            orientation[rows] = quaternion.to_matrix(quaternion.from_matrix(transform.polar(at)[0]))
        return position, orientation


def part_of(rig: PosedRig, vertex: int) -> tuple[Part, int]:
    """The part that contains a vertex of the character, and the number of the vertex there."""
    for part in rig.character.parts:
        if vertex < len(part.mesh.vertices):
            return part, vertex
        vertex -= len(part.mesh.vertices)
    raise InvalidInput(f"character {rig.character.name!r} has no vertex {vertex}")


def _check(rig: PosedRig, point: Point) -> None:
    if point.vertex is None:
        rig.character.skeleton.index(point.joint)  # raises with the available names where it is unknown
    elif not 0 <= point.vertex < rig.character.vertex_count:
        raise InvalidInput(
            f"character {rig.character.name!r} has {rig.character.vertex_count} vertices, so there is no {point.name}"
        )


def _is_analytic(rig: DirectRig, point: Point) -> bool:
    if point.vertex is None:
        return True
    part, _ = part_of(rig, point.vertex)
    return rig.is_skin and part.skin.method == "linear" and (part.mesh.shapes is None or part.mesh.shapes.plain)


def _rotation_columns(bones: JointChain, j: int) -> slice:
    first = int(bones.rotation_column[j])
    return slice(first, first + (4 if bones.rotation_kind[j] == QUATERNION_ROTATION else 3))


def _rotation_of(channels: Channels, name: str) -> tuple[int, tuple[int, int, int]]:
    """The kind of the rotation channel of a joint (quaternion, Euler or none) and the order of its Euler angles."""
    for channel in reversed(channels):
        if channel.target == name and channel.kind == "rotation":
            return QUATERNION_ROTATION, (0, 1, 2)
        if channel.target == name and channel.kind == "euler":
            x, y, z = ("xyz".index(axis) for axis in channel.columns)
            return EULER_ROTATION, (x, y, z)
    return NO_ROTATION, (0, 1, 2)


def _carriers(rig: DirectRig, point: Point) -> list[Carrier]:
    """The joints that carry a point: joint, weight, position in its frame; part and vertex for its shapes."""
    if point.vertex is None:
        return [(rig.character.skeleton.index(point.joint), 1.0, np.array(point.offset), None, 0)]
    part, vertex = part_of(rig, point.vertex)
    skin = part.skin
    return [
        (
            int(skin.joints[b]),
            float(weight),
            skin.inverse_binds[b] @ np.append(part.mesh.vertices[vertex], 1.0),
            part,
            vertex,
        )
        for b, weight in zip(skin.influences[vertex], skin.weights[vertex])
        if weight != 0
    ]


def _anchors(
    rig: DirectRig, channels: Channels, carried: list[list[Carrier]], place: dict[int, int], picked: list[int]
) -> Anchors:
    joint, weight, local, deltas = [], [], [], []
    for carriers in carried:
        for number, share, at, part, vertex in carriers:
            shapes, rest = _shapes(rig, channels, part, vertex, number, picked)
            joint.append(place[number])
            weight.append(share)
            local.append(at[:3] + rest)
            deltas.append(shapes)
    mains = [place[max(carriers, key=lambda c: c[1])[0]] for carriers in carried]
    flat = [entry for shapes in deltas for entry in shapes]
    return Anchors(
        np.array(mains, np.int64),
        np.concatenate([[0], np.cumsum([len(c) for c in carried])]).astype(np.int64),
        np.array(joint, np.int64),
        np.array(weight),
        np.array(local).reshape(-1, 3),
        np.concatenate([[0], np.cumsum([len(s) for s in deltas])]).astype(np.int64),
        np.array([column for column, _ in flat], np.int64),
        np.array([delta for _, delta in flat]).reshape(-1, 3),
    )


def _shapes(
    rig: DirectRig, channels: Channels, part: Part | None, vertex: int, joint: int, picked: list[int]
) -> tuple[list[tuple[int, Array]], Array]:
    """The animated shapes that move a vertex, and the displacement (3,) of the others at rest, in the frame of a joint.

    Of each animated shape: its column among those `picked` so far, to which new ones are added, and its displacement
    (3,) for a weight of one.
    """
    if part is None or part.mesh.shapes is None:
        return [], np.zeros(3)
    shapes = part.mesh.shapes
    b = int(np.flatnonzero(part.skin.joints == joint)[0])
    deltas = shapes.deltas[:, vertex].astype(float) @ part.skin.inverse_binds[b][:3, :3].T
    drivers = {}
    for channel, offset in zip(channels, channels.offsets):
        if channel.kind == "weights" and channel.target in ("", part.name):
            drivers.update({name: int(offset) + i for i, name in enumerate(channel.columns)})
    animated, rest = [], np.zeros(3)
    for name, default, delta in zip(shapes.names, shapes.defaults, deltas):
        if name not in drivers:
            rest += default * delta
        elif delta.any():
            if drivers[name] not in picked:
                picked.append(drivers[name])
            animated.append((picked.index(drivers[name]), delta))
    return animated, rest
