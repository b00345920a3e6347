"""Curves as Blender's F-curves, and back: plain arrays, without Blender.

| our channel | data path | array index |
|---|---|---|
| translation of a joint | `pose.bones["X"].location` | x, y, z: 0, 1, 2 |
| rotation (x, y, z, w) | `pose.bones["X"].rotation_quaternion` | w first: x, y, z, w: 1, 2, 3, 0 |
| euler, columns z, x, y | `pose.bones["X"].rotation_euler`, rotation mode YXZ | x, y, z: 0, 1, 2 |
| scale | `pose.bones["X"].scale` | x, y, z: 0, 1, 2 |
| weights of a part | `key_blocks["smile"].value`, of the part's shape keys | 0 |
| controls | `["gain"]`, a property of the armature, or of the object that the channel names | 0 |

Euler columns are the factors from left to right, Blender's mode names the axes in the order of rotation: the
same three letters backwards. Frame = first + seconds * fps. Bones are keyed relative to their rest pose, so with a
skeleton curves pass through `rest_frame`. Axes stay ours (Y up): an armature is turned as a whole.

Blender has linear segments by columns only, so that slerps become Bezier segments, and it shortens two handles that
together are longer than their segment, so that such segments are cut first, column by column; both keep the shape.

On the way back the F-curves of one property become one curve. Our columns share their keys, Blender's do not: see
`character.key_insertion.merge_columns`. Columns without keys are at rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from addons.blender.rest_frame import from_rest, to_rest

from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.clip import SPLITTABLE_KINDS
from understudy.character.curve import BEZIER, LINEAR, STEP, bezier_segments, fit_handles
from understudy.character.key_insertion import insert_curve_key, merge_columns
from understudy.checks import Array, positive
from understudy.errors import InvalidInput

INTERPOLATIONS = {STEP: "CONSTANT", LINEAR: "LINEAR", BEZIER: "BEZIER"}
SEGMENT_KINDS = {name: kind for kind, name in INTERPOLATIONS.items()}
CYCLES = {"cycle": "REPEAT", "cycle_offset": "REPEAT_OFFSET"}
PROPERTIES = {"translation": "location", "rotation": "rotation_quaternion", "euler": "rotation_euler", "scale": "scale"}

CHANNEL_KINDS = {name: kind for kind, name in PROPERTIES.items()}
AXIS_INDEX = {"x": 0, "y": 1, "z": 2}
BONE_PATTERN = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)')
SHAPE_PATTERN = re.compile(r'key_blocks\["((?:[^"\\]|\\.)*)"\]\.value')
CONTROL_PATTERN = re.compile(r'\["((?:[^"\\]|\\.)*)"\]')
SLOPE_TOLERANCE_RATIO = 1e-3  # of a slope; Blender's handles are float32


@dataclass(frozen=True, eq=False)
class FCurve:
    """One F-curve: K keys, each (frame, value) with two handles that are points, not offsets."""

    owner: str  # "" for the armature, else the object or mesh that `data_path` starts from
    data_path: str
    array_index: int
    co: Array  # (K, 2)
    handle_left: Array  # (K, 2)
    handle_right: Array  # (K, 2)
    interpolation: tuple[str, ...]  # (K,) CONSTANT, LINEAR or BEZIER, of the segment that leaves the key
    extrapolation: str = "CONSTANT"  # or LINEAR
    cycles: tuple[str, str] = ("NONE", "NONE")  # a cycles modifier before and after: REPEAT or REPEAT_OFFSET


@dataclass(frozen=True, eq=False)
class Action:
    """One animation for Blender: its F-curves, and the rotation mode that each bone must have."""

    name: str
    fps: float
    first_frame: float  # the frame of second 0
    fcurves: tuple[FCurve, ...]
    rotation_modes: Mapping[str, str] = field(default_factory=dict)  # bone -> QUATERNION, XYZ, ...
    moments: Mapping[str, float] = field(default_factory=dict)  # name -> frame, for markers


def to_fcurves(
    curves: Curves, fps: float | None = None, first_frame: float = 0.0, skeleton: Skeleton | None = None
) -> Action:
    """The F-curves of an animation, at its own rate or another; with a skeleton, bones relative to their rest pose."""
    fps = curves.rate if fps is None else positive(fps, "frames a second")
    if skeleton is not None:
        curves = to_rest(curves, skeleton)
    found: list[FCurve] = []
    modes: dict[str, str] = {}
    for curve in curves.curves:
        channel = curve.channel
        if channel.kind == "rotation":
            modes[channel.target] = "QUATERNION"
        elif channel.kind == "euler":
            modes[channel.target] = "".join(reversed(channel.columns)).upper()
        found += _columns(_to_blender_segments(curve), fps, first_frame)
    moments = {name: first_frame + time * fps for name, time in curves.moments.items()}
    return Action(curves.name, fps, first_frame, tuple(found), modes, moments)


def _to_blender_segments(curve: Curve) -> Curve:
    """The same shape with segments that Blender has: no slerps, and ends that may run on."""
    straight = curve.segments == LINEAR
    ends = np.isin(np.arange(len(curve) - 1), (0, len(curve) - 2)) & ("linear" in curve.extrapolation)
    return bezier_segments(curve, straight if curve.channel.kind == "rotation" else straight & ends)


def _split_overlapping_handles(column: Curve) -> Curve:
    """A curve of one column, cut where two handles overlap.

    Cut at half of the parameter, x(1/2) = d/2 + 3/8 (after - before), neither half needs a handle longer than itself.
    """
    while True:
        after, before, lengths = column.after[:-1, 0, 0], column.before[1:, 0, 0], np.diff(column.times)
        long = np.flatnonzero((column.segments == BEZIER) & (after + before > lengths * (1 + 1e-9)))
        if not long.size:
            return column
        for time in (column.times[:-1] + 0.5 * lengths + 0.375 * (after - before))[long]:
            column = insert_curve_key(column, float(time))


def _columns(curve: Curve, fps: float, first_frame: float) -> Iterator[FCurve]:
    scale = np.array([fps, 1.0])
    cycles = tuple(CYCLES.get(mode, "NONE") for mode in curve.extrapolation)
    before, after = _end_handles(curve)
    for number, name in enumerate(curve.channel.columns):
        owner, path, index = _data_path(curve.channel, number)
        one = slice(number, number + 1)
        alone = Channel(curve.channel.target, "controls", (name,))
        column = _split_overlapping_handles(
            Curve(alone, curve.times, curve.values[:, one], curve.segments, before[:, one], after[:, one])
        )
        co = np.stack([first_frame + column.times * fps, column.values[:, 0]], axis=1)
        yield FCurve(
            owner,
            path,
            index,
            co,
            co - column.before[:, 0] * scale,
            co + column.after[:, 0] * scale,
            (*(INTERPOLATIONS[int(segment)] for segment in column.segments), "BEZIER"),
            "LINEAR" if "linear" in curve.extrapolation else "CONSTANT",
            (cycles[0], cycles[1]),
        )


def _end_handles(curve: Curve) -> tuple[Array, Array]:
    """Handles with those beyond the ends, along which Blender runs on: as the curve does, or flat where it holds."""
    before, after = np.array(curve.before), np.array(curve.after)
    third = float(curve.times[-1] - curve.times[0]) / (3 * max(len(curve) - 1, 1)) or 1.0
    for handles, key, side in ((before, 0, 0), (after, -1, 1)):
        slope = curve.end_slope(side) if curve.extrapolation[side] == "linear" else np.zeros(len(curve.channel))
        handles[key, :, 0], handles[key, :, 1] = third, third * slope
    return before, after


def _data_path(channel: Channel, number: int) -> tuple[str, str, int]:
    """Owner, data path and array index of one column."""
    column = channel.columns[number]
    if channel.kind == "weights":
        return channel.target, f'key_blocks["{escape_name(column)}"].value', 0
    if channel.kind == "controls":
        return channel.target, f'["{escape_name(column)}"]', 0
    if channel.kind not in PROPERTIES:
        raise InvalidInput(f"{channel.kind} curves ({channel.target!r}) have no place among Blender's F-curves")
    index = {"x": 1, "y": 2, "z": 3, "w": 0}[column] if channel.kind == "rotation" else AXIS_INDEX[column]
    return "", f'pose.bones["{escape_name(channel.target)}"].{PROPERTIES[channel.kind]}', index


def escape_name(name: str) -> str:
    """A name within quotes in a data path, as `bpy.utils.escape_identifier` writes it."""
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        name = name.replace(plain, written)
    return name


def unescape_name(name: str) -> str:
    """The name that `escape_name` wrote."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), name)


def from_fcurves(action: Action, skeleton: Skeleton | None = None) -> Curves:
    """The curves of an action; with a skeleton, bones are taken to be relative to its rest pose.

    `rotation_modes` tell the order of Euler angles (XYZ where a bone is not named). F-curves of other properties, and
    interpolations that are neither constant, linear nor Bezier, are refused.
    """
    groups: dict[tuple[str, str], dict[str, Curve]] = {}
    for fcurve in action.fcurves:
        target, kind, column = channel_of_fcurve(fcurve)
        columns = groups.setdefault((target, kind), {})
        if column in columns:
            raise InvalidInput(f"the F-curve {fcurve.data_path}[{fcurve.array_index}] appears twice")
        columns[column] = _column_curve(fcurve, action)
    curves = []
    for found, names, columns in _group_channels(groups, action):
        if found[1] in SPLITTABLE_KINDS and not _have_same_keys(columns.values()):  # each may have keys of its own
            curves += [replace(column, channel=Channel(*found, (name,))) for name, column in columns.items()]
            continue
        beyond = (_common_extrapolation(columns.values(), 0), _common_extrapolation(columns.values(), 1))
        curves.append(merge_columns(Channel(*found, names), columns, beyond))
    moments = {name: (frame - action.first_frame) / action.fps for name, frame in action.moments.items()}
    result = Curves(action.name, curves, rate=action.fps, moments=moments)
    return result if skeleton is None else from_rest(result, skeleton)


def _have_same_keys(columns: Collection[Curve]) -> bool:
    """Whether columns have keys and segments at the same times, and do the same beyond them."""
    first = next(iter(columns))
    return all(
        np.array_equal(column.times, first.times)
        and np.array_equal(column.segments, first.segments)
        and column.extrapolation == first.extrapolation
        for column in columns
    )


def _group_channels(
    groups: dict[tuple[str, str], dict[str, Curve]], action: Action
) -> Iterable[tuple[tuple[str, str], tuple[str, ...], dict[str, Curve]]]:
    for (target, kind), columns in groups.items():
        names: tuple[str, ...] = ()
        if kind in ("weights", "controls"):
            names = tuple(columns)
        elif kind == "euler":
            mode = action.rotation_modes.get(target, "XYZ").lower()
            if sorted(mode) != ["x", "y", "z"]:
                raise InvalidInput(f"bone {target!r} has Euler angles, but its rotation mode is {mode.upper()!r}")
            names = tuple(reversed(mode))
        yield (target, kind), names, columns


def channel_of_fcurve(fcurve: FCurve) -> tuple[str, str, str]:
    """Target, kind and column of an F-curve."""
    bone = BONE_PATTERN.fullmatch(fcurve.data_path)
    if bone and bone[2] in CHANNEL_KINDS:
        kind = CHANNEL_KINDS[bone[2]]
        letters = "wxyz" if kind == "rotation" else "xyz"
        if not 0 <= fcurve.array_index < len(letters):
            raise InvalidInput(f"the F-curve {fcurve.data_path} has no array index {fcurve.array_index}")
        return unescape_name(bone[1]), kind, letters[fcurve.array_index]
    for pattern, kind in ((SHAPE_PATTERN, "weights"), (CONTROL_PATTERN, "controls")):
        found = pattern.fullmatch(fcurve.data_path)
        if found:
            return fcurve.owner, kind, unescape_name(found[1])
    raise InvalidInput(f"the F-curve {fcurve.data_path!r} moves something that understudy has no channel for")


def _column_curve(fcurve: FCurve, action: Action) -> Curve:
    """One F-curve as a curve of one column, in seconds."""
    for word in fcurve.interpolation:
        if word not in SEGMENT_KINDS:
            raise InvalidInput(f"the F-curve {fcurve.data_path} is interpolated by {word}, which curves do not have")
    times = (fcurve.co[:, 0] - action.first_frame) / action.fps
    scale = np.array([1 / action.fps, 1.0])
    before, after = (fcurve.co - fcurve.handle_left) * scale, (fcurve.handle_right - fcurve.co) * scale
    gaps = np.diff(times)
    for handles in (before, after):
        handles[:, 0] = np.maximum(handles[:, 0], 0.0)
    # two handles that overlap are shortened together, as Blender does
    together = np.maximum((after[:-1, 0] + before[1:, 0]) / np.where(gaps > 0, gaps, 1.0), 1.0)[:, None]
    after[:-1], before[1:] = fit_handles(after[:-1] / together, gaps), fit_handles(before[1:] / together, gaps)
    segments = [SEGMENT_KINDS[word] for word in fcurve.interpolation[:-1]]
    back = {blender: mode for mode, blender in CYCLES.items()}
    plain = "linear" if fcurve.extrapolation == "LINEAR" else "hold"
    beyond = (back.get(fcurve.cycles[0], plain), back.get(fcurve.cycles[1], plain))
    channel = Channel("", "controls", ("value",))
    return Curve(channel, times, fcurve.co[:, 1:], segments, before[:, None], after[:, None], beyond)


def _common_extrapolation(columns: Collection[Curve], side: int) -> str:
    """What all columns do beyond their keys; "hold" where they do not agree.

    Blender runs on along the handle beyond the last key, we along the curve's own slope: "linear" only where all
    handles are as the curve is, and not all of them flat.
    """
    modes = {column.extrapolation[side] for column in columns}
    if modes != {"linear"}:
        return modes.pop() if len(modes) == 1 else "hold"
    outer = [column.before[0, 0] if side == 0 else column.after[-1, 0] for column in columns]
    slopes = np.array([handle[1] / handle[0] if handle[0] > 0 else 0.0 for handle in outer])
    own = np.array([column.end_slope(side)[0] for column in columns])
    alike = np.allclose(slopes, own, rtol=SLOPE_TOLERANCE_RATIO, atol=SLOPE_TOLERANCE_RATIO)
    return "linear" if alike and slopes.any() else "hold"
