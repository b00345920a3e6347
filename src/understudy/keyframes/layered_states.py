"""Points on the joints of a layered rig, with exact derivatives: controls c, components q of joints, states s.

    ds/dc = (ds/dq) (dq/dp) (dp/dc)

ds/dq is that of a skeleton whose joints have two bones each, one that is moved and holds the rest rotation, and one
that turns by the Euler angles and scales. dp/dc follows the rules of `Layers` one by one: drives are constant,
correctives have the product rule, a toward takes back what was there by its weight; where a control or a parameter is
at the end of its range and would leave it, nothing moves. Vertices move by shapes and a lattice besides, and are
differentiated by differences (`states.SampledStates`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.keyframes import skeletal
from understudy.keyframes.goals import Point
from understudy.keyframes.skeletal import EULER, NONE, Anchors, Bones
from understudy.maths import quaternion
from understudy.rig import LayeredRig

ORDER = ("tx", "ty", "tz", "ry", "rx", "rz", "sx", "sy", "sz")  # of q: angles as the factors Ry Rx Rz have them
PLACE = {name: i for i, name in enumerate(ORDER)}


class LayeredJoints:
    """q (S, 9 U) of the U joints that carry some points, and dq/dc, for values (S, n) of the columns that move them."""

    def __init__(self, rig: LayeredRig, channels: Channels, used: Sequence[int]) -> None:
        layers, skeleton = rig.layers, rig.character.skeleton
        place = {skeleton.names[joint]: i for i, joint in enumerate(used)}
        wanted = [
            (p, 9 * place[joint] + PLACE[name], name, place[joint])
            for p, (joint, name) in enumerate(layers.components)
            if joint in place
        ]
        parameters = np.array([p for p, *_ in wanted], np.int64)
        row = {int(p): i for i, p in enumerate(parameters)}
        self.q_of = np.array([q for _, q, *_ in wanted], np.int64)  # (P,)
        scales = skeleton.scales[list(used)]
        rest = np.concatenate([skeleton.translations[list(used)], np.zeros((len(used), 3)), scales], axis=1)
        self._rest = rest.reshape(-1)  # (9 U,) q where no parameter says otherwise
        self._gain = np.array([scales[u, "xyz".index(name[1])] if name[0] == "s" else 1.0 for _, _, name, u in wanted])
        self._low, self._high = layers.low[parameters], layers.high[parameters]
        own = np.isin(layers.drive_parameter, parameters)
        fixing = np.isin(layers.corrective_parameter, parameters)
        toward = np.flatnonzero(np.isin(layers.toward_parameter, parameters))
        of_control = columns_of_controls(rig, channels)
        asked = np.concatenate(
            [
                layers.drive_control[own],
                layers.corrective_a[fixing],
                layers.corrective_b[fixing],
                layers.toward_control[toward],
            ]
        )
        controls = [int(c) for c in np.unique(asked) if int(c) in of_control]
        self.columns = np.array([of_control[c] for c in controls], np.int64)  # (n,)
        number = {c: i for i, c in enumerate(controls)}
        known = rig.controls
        self._range = known.low[controls], known.high[controls]
        self._rest_controls = known.rest[controls]
        self._reach = np.where(known.high > known.rest, known.high - known.rest, 1.0)[controls]
        self._drive = np.zeros((len(parameters), len(controls)))
        for p, c, gain in zip(layers.drive_parameter[own], layers.drive_control[own], layers.drive_gain[own]):
            if int(c) in number:  # one that the animation does not move stays at rest, and adds nothing
                self._drive[row[int(p)], number[int(c)]] += gain
        rules = zip(
            layers.corrective_parameter[fixing],
            layers.corrective_a[fixing],
            layers.corrective_b[fixing],
            layers.corrective_gain[fixing],
        )
        self._correctives = [
            (row[int(p)], number[int(a)], number[int(b)], float(gain))
            for p, a, b, gain in rules
            if int(a) in number and int(b) in number
        ]
        self._towards = [
            (row[int(layers.toward_parameter[k])], int(layers.toward_control[k]), float(layers.toward_target[k]))
            for k in toward
        ]
        self._number, self._known_rest = number, known.rest

    @property
    def rules(self) -> Array:
        """(P, n) bool: which column has any say in which component."""
        found: Array = self._drive != 0
        for i, a, b, _ in self._correctives:
            found[i, [a, b]] = True
        for i, control, _ in self._towards:
            if control in self._number:
                found[i, self._number[control]] = True
        return found

    def at(self, values: Array, slopes: bool) -> tuple[Array, Array]:
        """q (S, 9 U) for values (S, n), and dq/dc (S, P, n) of the components `q_of`; (S, 0, n) without slopes."""
        low, high = self._range
        c = np.clip(values, low, high)
        offset = c - self._rest_controls
        p = offset @ self._drive.T  # (S, P)
        count = len(values)
        jacobian = np.tile(self._drive, (count, 1, 1)) if slopes else np.zeros((count, 0, len(low)))
        self._correct(offset, p, jacobian, slopes)
        for i, control, target in self._towards:
            own = self._number.get(control)
            w = np.clip(c[:, own] if own is not None else np.full(count, self._known_rest[control]), 0.0, 1.0)
            if slopes:
                jacobian[:, i] *= (1 - w)[:, None]
                if own is not None:
                    jacobian[:, i, own] += (target - p[:, i]) * ((c[:, own] >= 0) & (c[:, own] <= 1))
            p[:, i] += w * (target - p[:, i])
        if slopes:
            jacobian *= ((p >= self._low) & (p <= self._high))[:, :, None]
            jacobian *= ((values >= low) & (values <= high))[:, None]
            jacobian *= self._gain[:, None]
        q = np.tile(self._rest, (count, 1))
        q[:, self.q_of] += np.clip(p, self._low, self._high) * self._gain
        return q, jacobian

    def _correct(self, offset: Array, p: Array, jacobian: Array, slopes: bool) -> None:
        share = offset / self._reach
        ramp, rises = np.clip(share, 0, 1), ((share >= 0) & (share <= 1)) / self._reach
        for i, a, b, gain in self._correctives:
            p[:, i] += gain * ramp[:, a] * ramp[:, b]
            if slopes:
                jacobian[:, i, a] += gain * rises[:, a] * ramp[:, b]
                jacobian[:, i, b] += gain * ramp[:, a] * rises[:, b]


def columns_of_controls(rig: LayeredRig, channels: Channels) -> dict[int, int]:
    """The column of an animation that moves each control, the last of several."""
    found: dict[int, int] = {}
    for i, channel in enumerate(channels):
        if channel.kind != "controls":
            continue
        first = int(channels.offsets[i])
        if channel.target in rig.controls and len(channel) == 1:
            found[rig.controls.index(channel.target)] = first
        elif channel.target in ("", rig.character.name):
            names = enumerate(channel.columns)
            found.update({rig.controls.index(name): first + k for k, name in names if name in rig.controls})
    return found


class LayeredChains:
    """P points fixed to joints of a layered rig: states and ds/dc for values of the columns that move any of them."""

    def __init__(self, rig: LayeredRig, channels: Channels, points: Sequence[Point]) -> None:
        skeleton = rig.character.skeleton
        owners = [skeleton.index(point.joint) for point in points]
        used = sorted({int(a) for joint in owners for a in skeleton.ancestors(joint)})
        place = {joint: i for i, joint in enumerate(used)}
        self.joints = LayeredJoints(rig, channels, used)
        self.columns = self.joints.columns
        count = len(used)
        parents = [2 * place[int(skeleton.parents[j])] + 1 if skeleton.parents[j] >= 0 else -1 for j in used]
        turning, first = np.tile([False, True], count), 9 * np.arange(count).repeat(2)
        still = quaternion.identity((2 * count,))
        still[~turning] = quaternion.normalise(skeleton.rotations[used])
        self.bones = Bones(
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
        carried = np.array([2 * place[joint] + 1 for joint in owners], np.int64)
        steps = np.arange(len(points) + 1, dtype=np.int64)
        self.anchors = Anchors(
            carried,
            steps,
            carried,
            np.ones(len(points)),
            np.array([point.offset for point in points], float).reshape(-1, 3),
            np.zeros(len(points) + 1, np.int64),
            np.zeros(0, np.int64),
            np.zeros((0, 3)),
        )

    def evaluate(self, values: Array, sample: Array, point: Array, slopes: bool) -> tuple[Array, Array, Array]:
        """As `States.evaluate`."""
        q, dq = self.joints.at(values, slopes)
        position, orientation, by_q = skeletal.evaluated(self.bones, self.anchors, q, sample, point, slopes)
        if not slopes:
            return position, orientation, np.zeros((0, 6, len(self.columns)))
        return position, orientation, by_q[:, :, self.joints.q_of] @ dq[sample]

    def moved_by(self, count: int) -> Array:
        """(P, 2, n) bool: which column moves which point, its position and its orientation."""
        rules, q_of = self.joints.rules, self.joints.q_of
        bone, kind = q_of // 9, q_of % 9 // 3  # of each parameter; 0 moves, 1 turns, 2 scales
        result = np.zeros((count, 2, len(self.columns)), bool)
        for p in range(count):
            own = j = int(self.anchors.main[p])
            while j >= 0:
                at_origin = j == own and not self.anchors.local[p].any()
                moving = (bone == j // 2) & ((kind == 0) | (not at_origin))
                result[p, 0] |= rules[moving].any(axis=0)
                result[p, 1] |= rules[(bone == j // 2) & (kind == 1)].any(axis=0)
                j = int(self.bones.parents[j - 1])
        return result
