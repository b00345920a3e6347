"""Writing animations as takes: curves with their keys and tangents, one for each column.

Translations, scales, shape weights and angles keep their keys. FBX stores a tangent as a slope and as a weight of four
decimals, so a handle that is not a third of its segment moves by up to 5e-5 of it. Quaternions become angles at their
keys and on every frame, because FBX turns joints by angles alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from understudy.character import Channel, Clip, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import Array
from understudy.formats.fbx.document import FbxNode
from understudy.formats.fbx.key_curves import (
    CONSTANT,
    CUBIC,
    DEFAULT_WEIGHT,
    TANGENT_USER,
    WEIGHT_UNIT,
    WEIGHTED_NEXT_LEFT,
    WEIGHTED_RIGHT,
    keys_and_frames,
)
from understudy.formats.fbx.scene import TICKS_PER_SECOND, UNIT_CENTIMETRES, SceneBuilder, entry, leaf, properties
from understudy.formats.fbx.takes import CLIP_PROPERTY
from understudy.maths import bezier, euler

LINEAR_FLAGS = 0x4 | 0x100 | 0x2000 | 0x4000  # as Blender and Maya write them
USER_FLAGS = CUBIC | TANGENT_USER | 0x800  # tangents that may differ on both sides of a key
MIN_WEIGHT, MAX_WEIGHT = 1e-4, 0.9999
THIRD_TOLERANCE = 1e-6  # of a segment: key times from float32 files are no more exact than that
FIT_SHARES = np.arange(1, 12) / 12  # of a segment's time, where its tangents are fitted
KEY_VERSION = 4009
EXTRAPOLATION_LETTERS = {"cycle": "R", "cycle_offset": "A", "linear": "K"}
COLUMN_NAMES = ("d|X", "d|Y", "d|Z")


@dataclass(frozen=True)
class JointModel:
    """The model of a joint, and the order of its angles ("zyx": Rz Ry Rx)."""

    number: int
    order: str


class TakeWriter:
    """Writes animations onto the models and blend shape channels that were written before."""

    def __init__(
        self, builder: SceneBuilder, joints: dict[str, list[JointModel]], channels: list[tuple[str, str, int]]
    ) -> None:
        self.builder, self.joints, self.channels = builder, joints, channels
        self.takes: list[FbxNode] = []

    def take(self, animation: Clip | Curves) -> None:
        """Write one animation; nothing is written where it moves nothing of the characters."""
        curves = Curves.from_clip(animation).curves if isinstance(animation, Clip) and _moves(animation) else ()
        curves = animation.curves if isinstance(animation, Curves) else curves
        writes = [item for curve in curves for item in self._targets(curve, animation.rate)]
        if not writes:
            self.builder.note(f"animation {animation.name!r} was lost: it moves nothing of the characters here")
            return
        start = min(float(curve.times[0]) for _, _, curve in writes)
        stop = max(float(curve.times[-1]) for _, _, curve in writes)
        times = [
            entry(f"{which}{end}", _ticks(at), kind="time")
            for which in ("Local", "Reference")
            for end, at in (("Start", start), ("Stop", stop))
        ]
        stack = self.builder.add(
            "AnimationStack", animation.name, "", [properties(*times, *_about(animation))], "AnimStack"
        )
        layer = self.builder.add("AnimationLayer", animation.name, "", label="AnimLayer")
        self.builder.connect(layer, stack)
        placed: dict[tuple[int, str], Curve] = {}
        for model, place, curve in writes:
            if (model, place) in placed:
                self.builder.count("channels on a target that another channel moves were lost ({})")
            placed.setdefault((model, place), curve)
        columns = [KeyColumn.of(curve, i) for curve in placed.values() for i in range(curve.values.shape[1])]
        keys = iter(_attributes(columns))
        for (model, place), curve in placed.items():
            self._curve_node(layer, model, place, [next(keys) for _ in range(curve.values.shape[1])])
        span = [_ticks(start), _ticks(stop)]
        self.takes.append(
            FbxNode(
                "Take",
                [animation.name],
                [
                    leaf("FileName", f"{animation.name}.tak"),
                    leaf("LocalTime", *span),
                    leaf("ReferenceTime", *span),
                ],
            )
        )

    def _targets(self, curve: Curve, rate: float) -> list[tuple[int, str, Curve]]:
        """The objects that a curve moves: number, property, and the curve in FBX's columns and units."""
        kind, target = curve.channel.kind, curve.channel.target
        result: list[tuple[int, str, Curve]] = []
        if kind == "weights":
            for part, shape, number in self.channels:
                if target in ("", part) and shape in curve.channel.columns:
                    result.append((number, "DeformPercent", _column(curve, curve.channel.columns.index(shape), 100.0)))
        elif kind in ("translation", "scale"):
            factor = UNIT_CENTIMETRES if kind == "translation" else 1.0
            place = "Lcl Translation" if kind == "translation" else "Lcl Scaling"
            result = [(j.number, place, _scaled(curve, factor)) for j in self.joints.get(target, [])]
        elif kind in ("euler", "rotation"):
            result = [
                (j.number, "Lcl Rotation", self._angles(curve, j.order, rate)) for j in self.joints.get(target, [])
            ]
        else:
            self.builder.count(f"channels of kind {kind} were lost ({{}})")
            return []
        if not result:
            self.builder.count("channels without a joint or shape here were lost ({})")
        return result

    def _angles(self, curve: Curve, order: str, rate: float) -> Curve:
        """Degrees about x, y, z with the keys of the curve, or on every frame where it is no curve of such angles."""
        channel = Channel(curve.channel.target, "euler", ("x", "y", "z"))
        if curve.channel.kind == "euler" and "".join(curve.channel.columns) == order:
            pick = ["xyz".index(axis) for axis in order]
            place = np.argsort(pick)
            degrees = np.array([1.0, 180 / np.pi])
            return Curve(
                channel,
                curve.times,
                np.degrees(curve.values[:, place]),
                curve.segments,
                curve.before[:, place] * degrees,
                curve.after[:, place] * degrees,
                curve.extrapolation,
            )
        stepped = bool((curve.segments == STEP).all())
        times = curve.times if stepped or len(curve) == 1 else keys_and_frames(curve.times, rate)
        values = curve.sample(times)
        if curve.channel.kind == "euler":
            turns = euler.from_euler(values, "".join(curve.channel.columns))
        else:
            turns = values / np.sqrt(np.einsum("ki,ki->k", values, values))[:, None]
        angles = np.degrees(euler.unroll_euler(euler.to_euler(turns, order), order))
        ordered = angles[:, [order.index(axis) for axis in "xyz"]]
        self.builder.count("rotations became angles on every frame ({})")
        return Curve(channel, times, ordered, STEP if stepped else LINEAR)

    def _curve_node(self, layer: int, owner: int, place: str, columns: list[list[FbxNode]]) -> None:
        """A curve node on a property, and a curve with the given children for each of its columns."""
        names = ("d|DeformPercent",) if place == "DeformPercent" else COLUMN_NAMES
        title = "DeformPercent" if place == "DeformPercent" else place[4]
        defaults = [entry(name, keys[0].properties[0]) for name, keys in zip(names, columns)]
        number = self.builder.add("AnimationCurveNode", title, "", [properties(*defaults)], "AnimCurveNode")
        self.builder.connect(number, layer)
        self.builder.connect(number, owner, place)
        for name, keys in zip(names, columns):
            self.builder.connect(self.builder.add("AnimationCurve", "", "", keys, "AnimCurve"), number, name)


@dataclass(frozen=True)
class KeyColumn:
    """One column of a curve: K keys, and the kind of the segment after each (of the last, LINEAR)."""

    times: Array
    values: Array
    kinds: Array
    before: Array  # (K, 2)
    after: Array  # (K, 2)
    beyond: tuple[str, str]

    @classmethod
    def of(cls, curve: Curve, column: int) -> KeyColumn:
        """A column of a curve; one that never changes keeps its first and last key."""
        values, kinds = curve.values[:, column], np.append(curve.segments, LINEAR)
        before, after = curve.before[:, column], curve.after[:, column]
        if len(values) > 2 and (values == values[0]).all() and not before[:, 1].any() and not after[:, 1].any():
            ends = [0, -1]
            return cls(
                curve.times[ends], values[ends], np.full(2, LINEAR), before[ends], after[ends], curve.extrapolation
            )
        return cls(curve.times, values, kinds, before, after, curve.extrapolation)


def _moves(clip: Clip) -> bool:
    return any(channel.kind != "marker" for channel in clip.channels)


def _about(animation: Clip | Curves) -> list[FbxNode]:
    """What FBX has no place for: labels, words, moments and the rate, as a property that our reader knows."""
    fields = {
        "labels": list(animation.labels),
        "about": animation.about,
        "moments": dict(animation.moments),
        "rate": float(animation.rate),
    }
    kept = {key: value for key, value in fields.items() if value}
    return [entry(CLIP_PROPERTY, json.dumps(kept), kind="user")]


def _ticks(seconds: float) -> np.int64:
    return np.int64(round(seconds * TICKS_PER_SECOND))


def _scaled(curve: Curve, factor: float) -> Curve:
    """The same keys with values and slopes times a factor."""
    handles = np.array([1.0, factor])
    return curve.with_values(curve.values * factor, curve.before * handles, curve.after * handles)


def _column(curve: Curve, column: int, factor: float) -> Curve:
    """One column of a curve, times a factor."""
    at, handles = slice(column, column + 1), np.array([1.0, factor])
    return curve.with_values(curve.values[:, at] * factor, curve.before[:, at] * handles, curve.after[:, at] * handles)


def _attributes(columns: list[KeyColumn]) -> list[list[FbxNode]]:
    """The children of the `AnimationCurve` of each column. All tangents are fitted together."""
    smooth = [np.flatnonzero(column.kinds == BEZIER) for column in columns]
    handles = [np.stack([c.after[k], c.before[k + 1]], axis=1) for c, k in zip(columns, smooth)]
    rises = [c.values[k + 1] - c.values[k] for c, k in zip(columns, smooth)]
    lengths = [c.times[k + 1] - c.times[k] for c, k in zip(columns, smooth)]
    weights, slopes = _storable_tangents(*(np.concatenate(parts) for parts in (handles, rises, lengths)))
    ends = np.cumsum([len(k) for k in smooth])
    return [
        _keys(column, k, weights[end - len(k) : end], slopes[end - len(k) : end])
        for column, k, end in zip(columns, smooth, ends.tolist())
    ]


def _keys(column: KeyColumn, smooth: Array, weights: Array, slopes: Array) -> list[FbxNode]:
    """The children of one `AnimationCurve`, with weights and slopes (m, 2) of its Bezier segments (m,)."""
    kinds, count = column.kinds, len(column.times)
    flags = np.where(kinds == STEP, CONSTANT, np.where(kinds == BEZIER, USER_FLAGS, LINEAR_FLAGS))
    both = np.full((count, 2), DEFAULT_WEIGHT)
    both[smooth] = weights
    data = np.zeros((count, 4), np.float32)
    data[smooth, :2] = slopes
    for side, flag in enumerate((WEIGHTED_RIGHT, WEIGHTED_NEXT_LEFT)):
        flags = np.where(both[:, side] != DEFAULT_WEIGHT, flags | flag, flags)
    packed = np.rint(both / WEIGHT_UNIT).astype(np.uint32)
    data.view(np.uint32)[:, 2] = packed[:, 0] | (packed[:, 1] << 16)
    nodes = [
        leaf("Default", float(column.values[0])),
        leaf("KeyVer", KEY_VERSION),
        leaf("KeyTime", np.rint(column.times * TICKS_PER_SECOND).astype(np.int64)),
        leaf("KeyValueFloat", column.values.astype(np.float32)),
        *_runs(flags.astype(np.int32), data),
    ]
    for name, mode in zip(("Pre-Extrapolation", "Post-Extrapolation"), column.beyond):
        if mode in EXTRAPOLATION_LETTERS:
            kind = [leaf("Type", ord(EXTRAPOLATION_LETTERS[mode])), leaf("Repetition", -1)]
            nodes.append(FbxNode(name, [], kind))
    return nodes


def _storable_tangents(handles: Array, rises: Array, lengths: Array) -> tuple[Array, Array]:
    """(m, 2) weights that the file can hold, and the slopes (m, 2) that then come nearest to the same curve.

    `handles` (m, 2, 2) are those that leave and arrive at m segments of `lengths` (m,) that rise by `rises` (m,). With
    its times fixed, a segment is linear in the heights of its handles: these are fitted at a few times, for both ways
    to round each weight, and the better is taken.
    """
    exact = handles[..., 0] / lengths[:, None]
    steps = np.floor(exact / WEIGHT_UNIT)
    is_third: Array = np.abs(exact - DEFAULT_WEIGHT) < THIRD_TOLERANCE
    wanted, _, _ = _segment(exact, FIT_SHARES)
    target = np.einsum("mkn,mk->mn", wanted, np.stack([handles[:, 0, 1], rises - handles[:, 1, 1], rises], axis=1))
    best = np.full(len(rises), np.inf)
    weights, heights = np.empty((2, len(rises), 2))
    for up in ((0, 0), (0, 1), (1, 0), (1, 1)):
        tried = np.clip((steps + up) * WEIGHT_UNIT, MIN_WEIGHT, MAX_WEIGHT)
        tried = np.where(is_third, DEFAULT_WEIGHT, tried)
        basis, a, b = _segment(tried, FIT_SHARES)
        rest = target - (basis[:, 1] + basis[:, 2]) * rises[:, None]  # the arriving handle is counted from the end
        aa, ab, bb = (np.einsum("mn,mn->m", x, y) for x, y in ((a, a), (a, b), (b, b)))
        ra, rb = np.einsum("mn,mn->m", a, rest), np.einsum("mn,mn->m", b, rest)
        fitted = np.stack([bb * ra - ab * rb, aa * rb - ab * ra], axis=1) / (aa * bb - ab * ab)[:, None]
        fitted = np.where(is_third.all(axis=1, keepdims=True), handles[..., 1], fitted)
        error = np.abs(a * fitted[:, :1] + b * fitted[:, 1:] - rest).max(axis=1)
        better: Array = error < best
        best = np.where(better, error, best)
        weights[better], heights[better] = tried[better], fitted[better]
    return weights, heights / (weights * lengths[:, None])


def _segment(weights: Array, shares: Array) -> tuple[Array, Array, Array]:
    """Bernstein polynomials 1 to 3 (m, 3, n) at the shares (n,) of a segment's time, for weights (m, 2); and those by
    which the heights of the leaving and of the arriving handle count."""
    left, right = weights[:, :1], weights[:, 1:]
    x = np.stack(np.broadcast_arrays(0.0, left, 1 - right, 1.0), axis=-1)  # (m, 1, 4)
    u = bezier.parameter(
        np.broadcast_to(x, (len(weights), len(shares), 4)), np.broadcast_to(shares, (len(weights), len(shares)))
    )
    basis = np.stack([3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3], axis=1)
    return basis, basis[:, 0], -basis[:, 1]


def _runs(flags: Array, data: Array) -> list[FbxNode]:
    """Flags and numbers of the keys, each run of equal ones once."""
    bits = data.view(np.uint32)
    starts = np.append(True, (flags[1:] != flags[:-1]) | (bits[1:] != bits[:-1]).any(axis=1))
    first = np.flatnonzero(starts)
    counts = np.diff(np.append(first, len(flags)))
    return [
        leaf("KeyAttrFlags", flags[first]),
        leaf("KeyAttrDataFloat", np.ascontiguousarray(data[first]).reshape(-1)),
        leaf("KeyAttrRefCount", counts.astype(np.int32)),
    ]
