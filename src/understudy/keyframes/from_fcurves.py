"""Blender's F-curves as curves: those of one property become one curve.

Our columns share their keys, Blender's do not: see `character.joining`. Columns that are not keyed rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.channels import SPLIT
from understudy.character.joining import joined
from understudy.character.segments import fitted
from understudy.errors import InvalidInput
from understudy.keyframes.fcurves import CYCLES, INTERPOLATIONS, PROPERTIES, Action, FCurve, unescaped
from understudy.keyframes.rest_frame import from_rest

KINDS = {name: kind for kind, name in PROPERTIES.items()}
SEGMENTS = {name: kind for kind, name in INTERPOLATIONS.items()}
BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)')
SHAPE = re.compile(r'key_blocks\["((?:[^"\\]|\\.)*)"\]\.value')
CONTROL = re.compile(r'\["((?:[^"\\]|\\.)*)"\]')
SLOPES = 1e-3  # of a slope, by which Blender's float32 handles may be off


def from_fcurves(action: Action, skeleton: Skeleton | None = None) -> Curves:
    """The curves of an action; with a skeleton, bones are taken to be relative to its rest pose.

    `rotation_modes` tell the order of Euler angles (XYZ where a bone is not named). F-curves of other properties, and
    interpolations that are neither constant, linear nor Bezier, are refused.
    """
    groups: dict[tuple[str, str], dict[str, Curve]] = {}
    for fcurve in action.fcurves:
        target, kind, column = meaning(fcurve)
        columns = groups.setdefault((target, kind), {})
        if column in columns:
            raise InvalidInput(f"the F-curve {fcurve.data_path}[{fcurve.array_index}] appears twice")
        columns[column] = _column(fcurve, action)
    curves = []
    for found, names, columns in _channels(groups, action):
        if found[1] in SPLIT and not _shared(columns.values()):  # each may have keys of its own
            curves += [replace(column, channel=Channel(*found, (name,))) for name, column in columns.items()]
            continue
        beyond = (_beyond(columns.values(), 0), _beyond(columns.values(), 1))
        curves.append(joined(Channel(*found, names), columns, beyond))
    moments = {name: (frame - action.first_frame) / action.fps for name, frame in action.moments.items()}
    result = Curves(action.name, curves, rate=action.fps, moments=moments)
    return result if skeleton is None else from_rest(result, skeleton)


def _shared(columns: Collection[Curve]) -> bool:
    """Whether columns have keys and segments at the same times, and do the same beyond them."""
    first = next(iter(columns))
    return all(
        np.array_equal(column.times, first.times)
        and np.array_equal(column.segments, first.segments)
        and column.extrapolation == first.extrapolation
        for column in columns
    )


def _channels(
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


def meaning(fcurve: FCurve) -> tuple[str, str, str]:
    """Target, kind and column of an F-curve."""
    bone = BONE.fullmatch(fcurve.data_path)
    if bone and bone[2] in KINDS:
        kind = KINDS[bone[2]]
        letters = "wxyz" if kind == "rotation" else "xyz"
        if not 0 <= fcurve.array_index < len(letters):
            raise InvalidInput(f"the F-curve {fcurve.data_path} has no array index {fcurve.array_index}")
        return unescaped(bone[1]), kind, letters[fcurve.array_index]
    for pattern, kind in ((SHAPE, "weights"), (CONTROL, "controls")):
        found = pattern.fullmatch(fcurve.data_path)
        if found:
            return fcurve.owner, kind, unescaped(found[1])
    raise InvalidInput(f"the F-curve {fcurve.data_path!r} moves something that understudy has no channel for")


def _column(fcurve: FCurve, action: Action) -> Curve:
    """One F-curve as a curve of one column, in seconds."""
    for word in fcurve.interpolation:
        if word not in SEGMENTS:
            raise InvalidInput(f"the F-curve {fcurve.data_path} is interpolated by {word}, which curves do not have")
    times = (fcurve.co[:, 0] - action.first_frame) / action.fps
    scale = np.array([1 / action.fps, 1.0])
    before, after = (fcurve.co - fcurve.handle_left) * scale, (fcurve.handle_right - fcurve.co) * scale
    gaps = np.diff(times)
    for handles in (before, after):
        handles[:, 0] = np.maximum(handles[:, 0], 0.0)
    # two handles that overlap are shortened together, as Blender does
    together = np.maximum((after[:-1, 0] + before[1:, 0]) / np.where(gaps > 0, gaps, 1.0), 1.0)[:, None]
    after[:-1], before[1:] = fitted(after[:-1] / together, gaps), fitted(before[1:] / together, gaps)
    segments = [SEGMENTS[word] for word in fcurve.interpolation[:-1]]
    back = {blender: mode for mode, blender in CYCLES.items()}
    plain = "linear" if fcurve.extrapolation == "LINEAR" else "hold"
    beyond = (back.get(fcurve.cycles[0], plain), back.get(fcurve.cycles[1], plain))
    channel = Channel("", "controls", ("value",))
    return Curve(channel, times, fcurve.co[:, 1:], segments, before[:, None], after[:, None], beyond)


def _beyond(columns: Collection[Curve], side: int) -> str:
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
    alike = np.allclose(slopes, own, rtol=SLOPES, atol=SLOPES)
    return "linear" if alike and slopes.any() else "hold"
