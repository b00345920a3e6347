"""Free columns: which columns of an animation an edit may change, their units and costs, and the cache of a rig.

Files often hold translations and scales of every bone, all of them constant. An animator dragging a hand wants the
elbow to bend and not the forearm to stretch, so these stay: translations are free where the animation uses them, and at
joints that no skinned joint carries (a root, hips, the loose feet of some game rigs); scales where the animation uses
them. A stiffness given for such a channel frees it too.

One unit is a radian, the size of the character, a whole weight, or half of a control's range. Some files scale a whole
skeleton by a hundred at its root: a translation below it is counted in sizes of the world all the same.

`RigCache` keeps what stays the same from one edit to the next: the size of the character, the units of the columns and
the states of points. A drag begins with a click and waits for all of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from understudy.character import Channels, Curves
from understudy.character.body.limbs import limbs_of
from understudy.character.body.mass import area_masses
from understudy.character.kinematics import ancestors
from understudy.character.rig import LayeredRig, PosedRig
from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.edit.points.states import PointStates, main_joint, states_of

TRANSLATION_STIFFNESS = 3.0
"""Stiffness of translations relative to rotations. At 1 a dragged hand takes the whole body along before the arm bends,
at 10 the arm is straight before the body follows."""

TRUNK_COST = 50.0
"""Cost of moving the first joint beyond the dragged limb, over its inertia. At 10 the head moves by a twentieth of the
way of a hand that the arm alone could move, hardly further than by a plain key at 50."""
TURNING_BONES = 1  # from a point to the joints that turn it without moving the rest of the limb
LIGHT_INERTIA = 0.003  # character masses times sizes squared: about the moment of inertia of an arm
# Of the character's size, or of a scale of one: files round to about 1e-6, and motion is visible from 1e-3.
STILL_RANGE_RATIO = 1e-4
MAX_CACHED_POINT_SETS = 16  # at most a megabyte each


def movable_columns(
    rig: PosedRig,
    channels: Channels,
    unit: Array,
    curves: Curves | None,
    named: Collection[str],
    loose: frozenset[str] | None = None,
) -> Array:
    """(C,) bool: the columns that an edit may change.

    `unit` (C,) are the `column_units`, `curves` the curves of the channels if there are any, `named` the keys of a
    stiffness, and `loose` the `find_detached_joints` if they are known.
    """
    result = np.ones(channels.width, bool)
    loose = find_detached_joints(rig) if loose is None else loose
    for i, channel in enumerate(channels):
        span = slice(int(channels.offsets[i]), int(channels.offsets[i + 1]))
        if channel.kind == "marker":
            result[span] = False
        if channel.kind in ("translation", "scale"):
            used = False
            if curves is not None:
                curve = curves.curves[i]
                rise = np.maximum(np.abs(curve.before[..., 1]), np.abs(curve.after[..., 1])).max(axis=0)
                used = bool((np.maximum(np.ptp(curve.values, axis=0), rise) > STILL_RANGE_RATIO * unit[span]).any())
            result[span] = used or (channel.kind == "translation" and channel.target in loose)
    for n, name in enumerate(channels.names if named else ()):
        result[n] |= any(key in (name, name.rpartition(".")[0]) for key in named)
    return result


def find_detached_joints(rig: PosedRig) -> frozenset[str]:
    """The joints that no skinned joint carries; without a skin, the roots."""
    skeleton = rig.character.skeleton
    skinned = np.zeros(len(skeleton), bool)
    for part in rig.character.parts:
        carrying = np.zeros(len(part.skin.joints), bool)
        carrying[part.skin.influences[part.skin.weights > 0]] = True
        skinned[part.skin.joints[carrying]] = True
    if not skinned.any():
        skinned[:] = True
    carried = np.zeros(len(skeleton), bool)
    for j, parent in enumerate(skeleton.parents):  # parents come first
        if parent >= 0:
            carried[j] = carried[parent] or skinned[parent]
    return frozenset(name for name, yes in zip(skeleton.names, carried) if not yes)


def character_size(rig: PosedRig) -> float:
    """Metres: the longest side of the box around the joints at rest."""
    joints = rig.joints(rig.rest[None])[0, :, :3, 3]
    longest = float(np.ptp(joints, axis=0).max(initial=0.0))
    return longest if longest > 0 else 1.0


def column_units(rig: PosedRig, channels: Channels, size: float) -> Array:
    """(C,) the size of one unit of each column."""
    result = np.ones(channels.width)
    result[channels.columns_of("rotation")] = 0.5  # a quaternion's column changes by half a radian for each
    skeleton = rig.character.skeleton
    world = rig.joints(rig.rest[None])[0, :, :3, :3]
    scale = np.cbrt(np.abs(np.linalg.det(world)))  # of each joint in the world
    for i, channel in enumerate(channels):
        if channel.kind == "translation" and channel.target in skeleton.names:
            parent = int(skeleton.parents[skeleton.index(channel.target)])
            result[int(channels.offsets[i]) : int(channels.offsets[i + 1])] = size / (
                scale[parent] if parent >= 0 else 1
            )
    for column, (low, high) in control_ranges(rig, channels).items():
        result[column] = max((high - low) / 2, 1e-9)
    return result


def control_ranges(rig: PosedRig, channels: Channels) -> dict[int, tuple[float, float]]:
    """The range of every column that is a control of a layered rig, by its number."""
    if not isinstance(rig, LayeredRig):
        return {}
    ranges, offsets = {}, channels.offsets
    for i, channel in enumerate(channels):
        if channel.kind != "controls":
            continue
        for c, column in enumerate(channel.columns):
            name = channel.target if channel.target in rig.controls else column
            if name in rig.controls:
                number = rig.controls.index(name)
                ranges[int(offsets[i]) + c] = (float(rig.controls.low[number]), float(rig.controls.high[number]))
    return ranges


def tangent_cost(channels: Channels) -> Array:
    """(C,) the default stiffness of each column."""
    result = np.ones(channels.width)
    result[channels.columns_of("translation")] = TRANSLATION_STIFFNESS
    return result


def column_mass(rig: PosedRig, channels: Channels, size: float) -> Array:
    """(C,) the cost factor of rotations by the carried mass: the arm raises a hand before the trunk bends.

    The square of the cost is (I + LIGHT_INERTIA) / LIGHT_INERTIA, with I = sum m d^2 the moment of inertia of
    everything below the joint, in masses and sizes of the whole character: the change of pose is then that of least
    kinetic energy, and light joints are not free either.
    """
    skeleton = rig.character.skeleton
    world = rig.joints(rig.rest[None])[0]
    at, offsets, mass = area_masses(rig)
    places = (np.einsum("pab,pb->pa", world[at][:, :3, :3], offsets) + world[at][:, :3, 3]) / size
    result = np.ones(channels.width)
    carried = ancestors(skeleton.parents)[at]  # (P, J)
    for i, channel in enumerate(channels):
        if channel.kind in ("rotation", "euler") and channel.target in skeleton.names:
            j = skeleton.index(channel.target)
            arms = ((places - world[j, :3, 3] / size) ** 2).sum(axis=1)
            inertia = float(mass @ (carried[:, j] * arms))
            result[int(channels.offsets[i]) : int(channels.offsets[i + 1])] = np.sqrt(
                (inertia + LIGHT_INERTIA) / LIGHT_INERTIA
            )
    return result


def path_weights(
    cache: RigCache, curves: Curves, moved: Sequence[tuple[Point, bool]], times: Array, columns: Array
) -> Array:
    """(n,) the cost W of changing each of the columns (n,) of the animation, for one unit of it, in a window of time.

    W = (I + LIGHT_INERTIA) / LIGHT_INERTIA, and TRUNK_COST n^2 times that for the n-th joint beyond the limb of the
    nearest point of `moved`: the arm raises a hand before the trunk bends. I = sum m |dx|^2 is the inertia of the body
    along the path that the column moves it, in masses and sizes of the whole character, averaged over `times` (T,).
    Points of `moved` come with whether they are only turned; their limb are the joints within TURNING_BONES then.
    """
    inertia = cache.inertia(curves, times)[columns] * cache.units(curves.channels)[columns] ** 2
    skeleton = cache.rig.character.skeleton
    beyond: dict[str, int] = {}
    for point, turned in moved:
        chain = skeleton.ancestors(main_joint(cache.rig, point))
        limb = TURNING_BONES + 1 if turned else sum(cache.limb[j] == cache.limb[chain[0]] for j in chain)
        for depth, j in enumerate(chain):
            name, extra = skeleton.names[j], max(depth + 1 - limb, 0)
            beyond[name] = min(extra, beyond.get(name, extra))
    targets = [channel.target for channel in curves.channels for _ in range(len(channel))]
    bones = np.array([beyond.get(targets[c], 0) for c in columns])
    weight: Array = (inertia + LIGHT_INERTIA) / LIGHT_INERTIA * np.where(bones > 0, TRUNK_COST * bones**2, 1.0)
    return weight


class RigCache:
    """Sizes, units and point states of one rig, for the channels used last. For one thread at a time."""

    def __init__(self, rig: PosedRig) -> None:
        self.rig = rig
        self._channels: Channels | None = None
        self._unit: Array | None = None
        self._states: OrderedDict[tuple[Point, ...], PointStates] = OrderedDict()

    @cached_property
    def size(self) -> float:
        """Metres, of the character."""
        return character_size(self.rig)

    @cached_property
    def loose(self) -> frozenset[str]:
        """The joints that no skinned joint carries."""
        return find_detached_joints(self.rig)

    @cached_property
    def limb(self) -> Array:
        """(J,) int, the first joint of the limb that a joint is part of; a joint of the trunk itself."""
        return np.asarray(limbs_of(self.rig.character.skeleton).top)

    @cached_property
    def _body(self) -> tuple[list[Point], Array]:
        """The points that carry the mass, and their shares of it."""
        joints, centres, mass = area_masses(self.rig)
        names = self.rig.character.skeleton.names
        return [Point(names[j], (float(x), float(y), float(z))) for j, (x, y, z) in zip(joints, centres)], mass

    def units(self, channels: Channels) -> Array:
        """(C,) the size of one unit of each column."""
        self._select_channels(channels)
        if self._unit is None:
            self._unit = column_units(self.rig, channels, self.size)
        return self._unit

    def inertia(self, curves: Curves, times: Array) -> Array:
        """(C,) sum m |dx|^2 of the body by one unit of each column of the channels, a mean over times (T,)."""
        points, mass = self._body
        states = self.states(curves.channels, points)
        values = np.ascontiguousarray(curves.sample(times)[:, states.columns])
        sample, point = np.repeat(np.arange(len(times)), len(points)), np.tile(np.arange(len(points)), len(times))
        _, _, slopes = states.evaluate(values, sample, point)
        moved = (slopes[:, :3] ** 2).sum(axis=1).reshape(len(times), len(points), -1) / self.size**2
        result = np.zeros(curves.channels.width)
        result[states.columns] = np.einsum("p,tpn->n", mass, moved) / len(times)
        return result

    def states(self, channels: Channels, points: Sequence[Point]) -> PointStates:
        """The states of points, moved by the columns of `channels`."""
        self._select_channels(channels)
        key = tuple(points)
        if key not in self._states:
            self._states[key] = states_of(self.rig, channels, key)
        self._states.move_to_end(key)
        while len(self._states) > MAX_CACHED_POINT_SETS:
            self._states.popitem(last=False)
        return self._states[key]

    def _select_channels(self, channels: Channels) -> None:
        if channels is not self._channels and channels != self._channels:
            self._unit = None
            self._states.clear()
        self._channels = channels
