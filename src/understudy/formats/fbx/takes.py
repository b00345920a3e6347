"""The takes of an FBX file as animations.

A take (`AnimationStack`) has layers, a layer has curve nodes, each on one property of an object, and a curve node has
up to three curves. Curves are kept as curves with their tangents where one layer moves a property and the property is a
column of ours: translations without pivots, angles without pre- or post-rotation, scales, shape weights. Elsewhere the
take is sampled at its keys and on every frame, with a note.

**Layers** add up in the order of the file: an additive layer adds its weighted values, an override layer replaces what
is below it, and one that passes through mixes with it by its weight. Scales do the same in their logarithms.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR
from understudy.character.key_insertion import merge_columns
from understudy.checks import Array, freeze
from understudy.formats.conventions import make_distinct
from understudy.formats.fbx.key_curves import HOLD, keys_and_frames, make_curve, read_curve
from understudy.formats.fbx.nodes import JointNodes, inherit
from understudy.formats.fbx.scene import MAX_RATE_FPS, FbxObject, FbxScene
from understudy.maths import quaternion, resample

TRANSLATION, ROTATION, SCALING = "Lcl Translation", "Lcl Rotation", "Lcl Scaling"
AXES = ("x", "y", "z")
ADDITIVE, OVERRIDE = 0, 1  # BlendMode; 2 is override that passes through
CLIP_PROPERTY = "understudy_clip"  # of a take: labels, words, moments and rate as JSON, written by our writer
# Halfway between two frames: a tenth of a millimetre at the end of a limb of a metre.
MAX_ARC_ERROR_RAD = 1e-4


@dataclass(frozen=True)
class LayerValues:
    """The columns of a property in one layer: a curve, or a constant where there is none."""

    columns: tuple[Curve | float, ...]
    mode: int
    weight: float

    def sample(self, times: Array) -> Array:
        """(M, n) values."""
        parts = [c.sample(times)[:, 0] if isinstance(c, Curve) else np.full(len(times), c) for c in self.columns]
        return np.stack(parts, axis=1)


@dataclass(frozen=True)
class AnimatedProperty:
    """A property in one take; `rest` (n,) is its value without animation."""

    rest: Array
    layers: tuple[LayerValues, ...]
    multiplies: bool = False  # layers act on the logarithm, as for scales

    @property
    def plain(self) -> tuple[Curve | float, ...] | None:
        """The columns, where they are those of one layer that replaces what is below."""
        if len(self.layers) == 1 and self.layers[0].mode == OVERRIDE:
            return self.layers[0].columns
        return None

    @property
    def curves(self) -> list[Curve]:
        """All curves of all layers."""
        return [column for layer in self.layers for column in layer.columns if isinstance(column, Curve)]

    @property
    def is_still(self) -> bool:
        """Whether it has one value at all times."""
        return all(_is_constant(curve) for curve in self.curves)

    def sample(self, times: Array) -> Array:
        """(M, n) values."""
        result = np.broadcast_to(self.rest, (len(times), len(self.rest))).copy()
        for layer in self.layers:
            values = layer.sample(times)
            if layer.mode == OVERRIDE:
                result = values
            elif self.multiplies:
                below = result if layer.mode == ADDITIVE else np.sign(result) * np.abs(result) ** (1 - layer.weight)
                result = below * np.abs(values) ** layer.weight
            elif layer.mode == ADDITIVE:
                result = result + layer.weight * values
            else:
                result = result + layer.weight * (values - result)
        return result


@dataclass(frozen=True)
class ShapeTarget:
    """The part and the shape that a blend shape channel drives."""

    part: str
    shape: str


class TakeReader:
    """Reads the takes for the joints and shapes that the reader has made."""

    def __init__(self, scene: FbxScene, joints: JointNodes, shapes: Mapping[int, list[ShapeTarget]]) -> None:
        self.scene, self.document, self.joints, self.shapes = scene, scene.document, joints, shapes
        self._curves: dict[int, Curve | None] = {}
        self._taken: set[int] = set()  # curve nodes that a layer has

    def read(self) -> list[Curves]:
        """All takes that hold keys, in the order of the file."""
        stacks = self.scene.all("AnimationStack")
        labels: list[str] = []
        names = make_distinct((stack.name for stack in stacks), "take", labels)
        for label in labels:
            self.document.note(label)
        takes = [self._take(stack, name) for stack, name in zip(stacks, names)]
        return [take for take in takes if take is not None]

    def _take(self, stack: FbxObject, name: str) -> Curves | None:
        properties = self._properties(stack)
        baked = self._baked_nodes(properties)
        curves = self._baked_curves(properties, baked) if baked else []
        for node in range(len(self.joints)):
            if node not in baked:
                curves += self._node_curves(node, properties)
        curves += self._shape_curves(properties)
        if not curves:
            self.document.note(f"take {name!r} moves nothing of the characters and was left out")
            return None
        return Curves(name, curves, **self._about(stack))

    def _about(self, stack: FbxObject) -> dict[str, Any]:
        """The labels, words, moments and rate that our writer has kept; of other files only the rate."""
        rate = {"rate": self.scene.space.rate}
        try:
            kept = json.loads(stack.text(CLIP_PROPERTY) or "{}")
            labels, moments = kept.get("labels", []), kept.get("moments", {})
            fields = {"labels": [str(label) for label in labels], "about": str(kept.get("about", ""))}
            times = {str(name): float(time) for name, time in moments.items() if math.isfinite(time)}
            own = float(kept.get("rate", 0))
            return rate | fields | {"moments": times} | ({"rate": own} if 0 < own <= MAX_RATE_FPS else {})
        except (ValueError, TypeError, AttributeError, RecursionError):
            self.document.note("labels of takes that are damaged were left out")
            return rate

    def _properties(self, stack: FbxObject) -> dict[tuple[int, str], AnimatedProperty]:
        """What the take animates, by the number of the object and the name of the property."""
        layers: dict[tuple[int, str], list[LayerValues]] = {}
        rests: dict[tuple[int, str], Array] = {}
        for order, layer in enumerate(stack.sources_of("AnimationLayer")):
            if layer.integer("Mute", 0):
                self.document.note("muted animation layers were left out")
                continue
            mode = OVERRIDE if order == 0 else layer.integer("BlendMode", ADDITIVE)
            weight = layer.number_of("Weight", 100.0) / 100
            for curve_node in layer.sources_of("AnimationCurveNode"):
                if curve_node.number in self._taken:
                    continue  # a curve node is of one layer; more would be damage
                self._taken.add(curve_node.number)
                for target, name in curve_node.owners:
                    key = (target.number, name)
                    rest = self._rest(target, name)
                    if rest is None:
                        continue
                    rests[key] = rest
                    values = LayerValues(self._columns(curve_node, rest), mode, weight)
                    layers.setdefault(key, []).append(values)
        return {key: AnimatedProperty(rests[key], tuple(of), key[1] == SCALING) for key, of in layers.items()}

    def _rest(self, target: FbxObject, name: str) -> Array | None:
        """The value of a property without animation; None where the property is not one that is read."""
        if name == "DeformPercent" and target.number in self.shapes:
            return np.array([target.number_of(name, 0.0)])
        node = self.joints.number.get(target.number)
        if name in (TRANSLATION, ROTATION, SCALING):
            if node is None:
                return None  # a node whose transform has no effect
            local = self.joints.transforms[node]
            return {TRANSLATION: local.translation, ROTATION: local.rotation, SCALING: local.scaling}[name]
        if target.kind == "Model" and name:
            self.document.count(f"curves of the property {name[:40]!r} were left out ({{}})")
        return None

    def _columns(self, curve_node: FbxObject, rest: Array) -> tuple[Curve | float, ...]:
        """A curve or a constant for each column of a curve node."""
        names = ("d|X", "d|Y", "d|Z") if len(rest) == 3 else ("d|DeformPercent",)
        columns: list[Curve | float] = [curve_node.number_of(name, float(r)) for name, r in zip(names, rest)]
        for source, place in curve_node.sources:
            if source.kind == "AnimationCurve" and place in names:
                curve = self._curve(source)
                if curve is not None:
                    columns[names.index(place)] = curve
        return tuple(columns)

    def _curve(self, source: FbxObject) -> Curve | None:
        if source.number not in self._curves:
            self._curves[source.number] = read_curve(self.document, source.node)
        return self._curves[source.number]

    def _node_curves(self, node: int, properties: Mapping[tuple[int, str], AnimatedProperty]) -> list[Curve]:
        """The curves of one joint: as they are where they can be kept, sampled where not."""
        joints, result = self.joints, []
        owner, name, local = joints.models[node].number, joints.names[node], joints.transforms[node]
        moves, turns, sizes = (properties.get((owner, kind)) for kind in (TRANSLATION, ROTATION, SCALING))
        swings = local.has_pivots and any(p is not None and not p.is_still for p in (turns, sizes))
        if moves is not None or (swings or (local.has_pivots and (turns is not None or sizes is not None))):
            columns = None if moves is None or local.has_pivots else moves.plain
            if columns is None:
                result.append(self._sampled(node, "translation", (moves, turns, sizes)))
            else:
                factors = joints.axes(node) * joints.lengths[node]  # (3, 3) a signed permutation
                offset = factors @ local.shift
                mixed = tuple(_pick(columns, row) for row in factors)
                result.append(_merge(self, Channel(name, "translation"), mixed, np.abs(factors).sum(axis=1), offset))
        if turns is not None:
            columns = turns.plain if local.has_free_rotation and not joints.is_turned(node) else None
            if columns is None or self._leaves_arcs(node, turns):
                result.append(self._sampled(node, "rotation", (turns,)))
            else:
                ordered = tuple(columns[AXES.index(axis)] for axis in local.order)
                channel = Channel(name, "euler", tuple(local.order))
                result.append(_merge(self, channel, ordered, np.full(3, np.pi / 180), np.zeros(3)))
        if sizes is not None:
            factor = np.full(3, joints.sizes[node])
            if sizes.plain is None:
                result.append(self._sampled(node, "scale", (sizes,)))
            else:
                result.append(_merge(self, Channel(name, "scale"), sizes.plain, factor, np.zeros(3)))
        return result

    def _leaves_arcs(self, node: int, turns: AnimatedProperty) -> bool:
        """Whether straight lines between angles stray from the shortest rotation within a frame.

        Exporters bake angles frame by frame, and jump to other angles of the same rotation. Between such frames a
        straight line spins the joint, which is in no frame. Curves with tangents are a person's, and are kept.
        """
        if any((curve.segments != LINEAR).any() for curve in turns.curves):
            return False
        times = self._times([turns])
        if len(times) < 2:
            return False
        local = self.joints.transforms[node]
        frames = local.rotations(turns.sample(times))
        between = local.rotations(turns.sample(0.5 * (times[1:] + times[:-1])))
        arcs = quaternion.slerp(frames[:-1], frames[1:], np.full(len(times) - 1, 0.5))
        return bool(quaternion.angle_between(arcs, between).max() > MAX_ARC_ERROR_RAD)

    def _sampled(self, node: int, kind: str, moving: Iterable[AnimatedProperty | None]) -> Curve:
        """One channel of a joint at all keys and frames of what it depends on."""
        times = self._times(p for p in moving if p is not None)
        present = list(moving)
        local = self.joints.transforms[node]
        slots = {"translation": (0, 1, 2), "rotation": (1,), "scale": (2,)}[kind]
        values = [local.translation, local.rotation, local.scaling]
        sampled = [np.broadcast_to(value, (len(times), 3)) for value in values]
        for slot, moved in zip(slots, present):
            if moved is not None:
                sampled[slot] = moved.sample(times)
        turns = local.rotations(sampled[1])
        pose = {
            "translation": local.translations(sampled[0], turns, sampled[2]),
            "rotation": turns,
            "scale": np.array(sampled[2]),
        }
        self.document.count(f"{kind} channels that are no curves of their own were sampled on every frame ({{}})")
        return self._linear(node, kind, times, pose[kind])

    def _linear(self, node: int, kind: str, times: Array, values: Array) -> Curve:
        """A curve through values in the file's space."""
        values = self.joints.convert(node, kind, values)
        if kind == "rotation":
            values = quaternion.unroll(values)
        channel = Channel(self.joints.names[node], kind)
        return Curve.from_checked_arrays(channel, freeze(times), freeze(np.ascontiguousarray(values)), LINEAR)

    def _times(self, moving: Iterable[AnimatedProperty]) -> Array:
        """(M,) the keys of all curves, and the frames between the first and the last."""
        curves = [curve for moved in moving for curve in moved.curves]
        if not curves:
            return np.zeros(1)
        keys = np.unique(np.concatenate([curve.times for curve in curves]))
        rate = self.scene.space.rate
        self.document.take(400 * resample.frame_count(float(keys[0]), float(keys[-1]), rate))
        return keys_and_frames(keys, rate)

    def _baked_nodes(self, properties: Mapping[tuple[int, str], AnimatedProperty]) -> set[int]:
        """Nodes that inherit scale in a way that a plain product does not give in this take."""
        if not self.joints.inherits_specially:
            return set()
        extremes = []
        for model, local in zip(self.joints.models, self.joints.transforms):
            moved = properties.get((model.number, SCALING))
            extremes.append(local.scaling[None] if moved is None else moved.sample(self._times([moved])))
        return self.joints.special_nodes(extremes)

    def _baked_curves(self, properties: Mapping[tuple[int, str], AnimatedProperty], baked: set[int]) -> list[Curve]:
        joints = self.joints
        times = self._times(p for (_, name), p in properties.items() if name != "DeformPercent")
        count = len(joints)
        self.document.take(700 * count * len(times))
        local = []
        for model, fixed in zip(joints.models, joints.transforms):
            sampled = []
            for name, rest in ((TRANSLATION, fixed.translation), (ROTATION, fixed.rotation), (SCALING, fixed.scaling)):
                moved = properties.get((model.number, name))
                sampled.append(np.broadcast_to(rest, (len(times), 3)) if moved is None else moved.sample(times))
            turns = fixed.rotations(sampled[1])
            local.append((fixed.translations(sampled[0], turns, sampled[2]), turns, sampled[2]))
        t, q, s = (np.stack([node[i] for node in local], axis=1) for i in range(3))
        t, q, s, _ = inherit(joints.parents, [fixed.inheritance for fixed in joints.transforms], t, q, s)
        self.document.count(
            "joints that do not inherit scale as a product were sampled on every frame ({})", len(baked)
        )
        return [
            self._linear(node, kind, times, values[:, node])
            for node in sorted(baked)
            for kind, values in (("translation", t), ("rotation", q), ("scale", s))
        ]

    def _shape_curves(self, properties: Mapping[tuple[int, str], AnimatedProperty]) -> list[Curve]:
        """A channel for each animated shape, those of one part together. Parts of one name share their weights."""
        curves: dict[str, dict[str, Curve]] = {}
        for number, targets in self.shapes.items():
            moved = properties.get((number, "DeformPercent"))
            if moved is None:
                continue
            for target in targets:
                channel = Channel(target.part, "weights", (target.shape,))
                if moved.plain is not None:
                    curve = _merge(self, channel, moved.plain, np.full(1, 0.01), np.zeros(1))
                else:
                    times = self._times([moved])
                    curve = Curve(channel, times, moved.sample(times) / 100, LINEAR)
                curves.setdefault(target.part, {}).setdefault(target.shape, curve)
        return [curve for shapes in curves.values() for curve in shapes.values()]


def _is_constant(curve: Curve) -> bool:
    return bool((curve.values == curve.values[0]).all() and not curve.before[..., 1].any() and not curve.after.any())


def _pick(columns: tuple[Curve | float, ...], row: Array) -> Curve | float:
    """The column that a row of a signed permutation takes, with its sign."""
    at = int(np.argmax(np.abs(row)))
    column = columns[at]
    if row[at] >= 0:
        return column
    return _scale(column, -1.0) if isinstance(column, Curve) else -column


def _scale(curve: Curve, factor: float, offset: float = 0.0) -> Curve:
    """The same keys with values and slopes times a factor, and values moved by an offset."""
    if factor == 1 and offset == 0:
        return curve
    times = np.array([1.0, factor])
    return curve.with_values(
        freeze(curve.values * factor + offset), freeze(curve.before * times), freeze(curve.after * times)
    )


def _merge(
    reader: TakeReader, channel: Channel, columns: tuple[Curve | float, ...], factors: Array, offsets: Array
) -> Curve:
    """One curve of a channel from its columns; values become `factors` (n,) times what they were, plus `offsets`."""
    moving = {
        name: _scale(column, float(f), float(o))
        for name, column, f, o in zip(channel.columns, columns, factors, offsets)
        if isinstance(column, Curve)
    }
    constants = {
        name: float(column) * float(f) + float(o)
        for name, column, f, o in zip(channel.columns, columns, factors, offsets)
        if not isinstance(column, Curve)
    }
    if not moving:
        return Curve(channel, [0.0], [[constants[name] for name in channel.columns]])
    first = next(iter(moving.values()))
    beyond = {curve.extrapolation for curve in moving.values() if len(curve) > 1}
    ends = beyond.pop() if len(beyond) == 1 else HOLD
    if beyond:
        reader.document.count("channels whose columns go on differently beyond their ends hold there ({})")
    if all(_is_aligned(curve, first) for curve in moving.values()):
        values = np.stack(
            [moving[n].values[:, 0] if n in moving else np.full(len(first), constants[n]) for n in channel.columns],
            axis=1,
        )
        still = _still_handles(first)
        before, after = (
            np.stack([getattr(moving[n], side)[:, 0] if n in moving else still for n in channel.columns], axis=1)
            for side in ("before", "after")
        )
        return make_curve(channel, first.times, values, first.segments, before, after, ends)
    merged = merge_columns(channel, moving, ends)
    if constants:
        values = np.array(merged.values)
        for name, value in constants.items():
            values[:, channel.columns.index(name)] = value
        merged = replace(merged, values=values)
    return merged


def _is_aligned(curve: Curve, other: Curve) -> bool:
    """Whether two curves have keys at the same times and segments of the same kinds."""
    if curve is other:
        return True
    return (
        len(curve) == len(other)
        and bool((curve.times == other.times).all())
        and bool((curve.segments == other.segments).all())
    )


def _still_handles(curve: Curve) -> Array:
    """(K, 2) flat handles of a constant column beside a curve."""
    handles = np.zeros((len(curve), 2))
    if (curve.segments == BEZIER).any():
        gaps = np.diff(curve.times) / 3
        handles[:, 0] = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps))
    return handles
