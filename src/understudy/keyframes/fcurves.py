"""Curves as Blender's F-curves, and back: plain arrays, without Blender.

| our channel | data path | array index |
|---|---|---|
| translation of a joint | `pose.bones["X"].location` | x, y, z: 0, 1, 2 |
| rotation (x, y, z, w) | `pose.bones["X"].rotation_quaternion` | w first: x, y, z, w: 1, 2, 3, 0 |
| euler, columns z, x, y | `pose.bones["X"].rotation_euler`, rotation mode YXZ | x, y, z: 0, 1, 2 |
| scale | `pose.bones["X"].scale` | x, y, z: 0, 1, 2 |
| weights of a part | `key_blocks["smile"].value`, of the part's shape keys | 0 |
| controls | `["gain"]`, a property of the armature, or of the object that the channel names | 0 |

Euler columns are the factors from left to right, Blender's mode names the axes in the order in which they turn: the
same three letters backwards. Frame = first + seconds * fps. Bones are keyed relative to their rest pose, so with a
skeleton curves pass through `rest_frame`. Axes stay ours (Y up): an armature is turned as a whole.

Blender has linear segments by columns only, so that slerps become Bezier segments, and it shortens two handles that
together are longer than their segment, so that such segments are cut first, column by column; both keep the shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import Array, positive
from understudy.errors import InvalidInput
from understudy.keyframes.handles import bezier_segments
from understudy.keyframes.inserting import inserted
from understudy.keyframes.rest_frame import to_rest

INTERPOLATIONS = {STEP: "CONSTANT", LINEAR: "LINEAR", BEZIER: "BEZIER"}
CYCLES = {"cycle": "REPEAT", "cycle_offset": "REPEAT_OFFSET"}
PROPERTIES = {"translation": "location", "rotation": "rotation_quaternion", "euler": "rotation_euler", "scale": "scale"}
PLACES = {"x": 0, "y": 1, "z": 2}


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
        found += _columns(_as_blender_can(curve), fps, first_frame)
    moments = {name: first_frame + time * fps for name, time in curves.moments.items()}
    return Action(curves.name, fps, first_frame, tuple(found), modes, moments)


def _as_blender_can(curve: Curve) -> Curve:
    """The same shape with segments that Blender has: no slerps, and ends that may run on."""
    straight = curve.segments == LINEAR
    ends = np.isin(np.arange(len(curve) - 1), (0, len(curve) - 2)) & ("linear" in curve.extrapolation)
    return bezier_segments(curve, straight if curve.channel.kind == "rotation" else straight & ends)


def _apart(column: Curve) -> Curve:
    """A curve of one column, cut where two handles overlap.

    Cut at half of the parameter, x(1/2) = d/2 + 3/8 (after - before), neither half needs a handle longer than itself.
    """
    while True:
        after, before, lengths = column.after[:-1, 0, 0], column.before[1:, 0, 0], np.diff(column.times)
        long = np.flatnonzero((column.segments == BEZIER) & (after + before > lengths * (1 + 1e-9)))
        if not long.size:
            return column
        for time in (column.times[:-1] + 0.5 * lengths + 0.375 * (after - before))[long]:
            column = inserted(column, float(time))


def _columns(curve: Curve, fps: float, first_frame: float) -> Iterator[FCurve]:
    scale = np.array([fps, 1.0])
    cycles = tuple(CYCLES.get(mode, "NONE") for mode in curve.extrapolation)
    before, after = _outer(curve)
    for number, name in enumerate(curve.channel.columns):
        owner, path, index = _place(curve.channel, number)
        one = slice(number, number + 1)
        alone = Channel(curve.channel.target, "controls", (name,))
        column = _apart(Curve(alone, curve.times, curve.values[:, one], curve.segments, before[:, one], after[:, one]))
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


def _outer(curve: Curve) -> tuple[Array, Array]:
    """Handles with those beyond the ends, along which Blender runs on: as the curve does, or flat where it holds."""
    before, after = np.array(curve.before), np.array(curve.after)
    third = float(curve.times[-1] - curve.times[0]) / (3 * max(len(curve) - 1, 1)) or 1.0
    for handles, key, side in ((before, 0, 0), (after, -1, 1)):
        slope = curve.end_slope(side) if curve.extrapolation[side] == "linear" else np.zeros(len(curve.channel))
        handles[key, :, 0], handles[key, :, 1] = third, third * slope
    return before, after


def _place(channel: Channel, number: int) -> tuple[str, str, int]:
    """Owner, data path and array index of one column."""
    column = channel.columns[number]
    if channel.kind == "weights":
        return channel.target, f'key_blocks["{escaped(column)}"].value', 0
    if channel.kind == "controls":
        return channel.target, f'["{escaped(column)}"]', 0
    if channel.kind not in PROPERTIES:
        raise InvalidInput(f"{channel.kind} curves ({channel.target!r}) have no place among Blender's F-curves")
    index = {"x": 1, "y": 2, "z": 3, "w": 0}[column] if channel.kind == "rotation" else PLACES[column]
    return "", f'pose.bones["{escaped(channel.target)}"].{PROPERTIES[channel.kind]}', index


def escaped(name: str) -> str:
    """A name within quotes in a data path, as `bpy.utils.escape_identifier` writes it."""
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        name = name.replace(plain, written)
    return name


def unescaped(name: str) -> str:
    """The name that `escaped` wrote."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), name)
