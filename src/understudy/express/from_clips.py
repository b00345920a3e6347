"""From clips to takes: a character's own animation as labelled sequences.

Landmarks are vertices of the character, as its clips move them. Without landmarks the takes hold its shape weights as
they are, and its controls as shares of their ranges, so that degrees and weights compare. A head that a skeleton turns
goes with the weights, as three angles.

A clip that marks its peak is taken whole. A clip that does not, as an animator's usual clip with several beats, is cut
about the frame farthest from rest and faded from rest into that piece and out of it: a take begins in neutral.

Short blinks are removed, since a graph would stretch them to slow ones: a path may pass a node with a half-shut lid
slowly. `acting.life` adds blinks back on a layer of their own, at their own pace. Lids that stay shut for longer, as
eyes pressed together in pain, are expression and stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from understudy import checks
from understudy.character import Channels, Clip, Curves
from understudy.character.body.bone_names import human_bones
from understudy.character.rig import LayeredRig, PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.sequence import ExpressionSequence
from understudy.formats.arkit_names import canonical_name
from understudy.maths import euler, quaternion
from understudy.maths.resample import smoothstep

MAX_BLINK_SECONDS = 0.5  # seconds from open to open: a blink of 0.3 s with slow lids, and its ends
LID_SHAPES = ("eyeBlinkLeft", "eyeBlinkRight")
LID_CONTROLS = ("lids.blink.L", "lids.blink.R")

# Share of a shut lid: less is the round top of an expression, which the morphological opening cuts off as well.
MIN_BLINK_DEPTH = 0.25
BLINK_SMOOTHING_SECONDS = 0.1  # seconds of the mean that rounds the corners where a blink was
PEAK_MARKER = "peak"  # name of the moment that marks the peak of a clip
PEAK_LEAD_SECONDS, PEAK_TAIL_SECONDS = 1.1, 1.4  # seconds kept before and after the peak found in a clip without one
FADE_IN_SECONDS, FADE_OUT_SECONDS = 0.7, 0.9  # seconds in which that piece is faded from rest and to rest
HEAD_ANGLE_NAMES = ("HeadYaw", "HeadPitch", "HeadRoll")  # as Live Link calls them
MIN_COLUMN_MOVEMENT_RATIO = 1e-4  # of a weight or of a control's range: a column that moves less is at rest


def sequences_of(
    rig: PosedRig,
    clips: Iterable[Clip | Curves],
    landmarks: Sequence[int] | Array | None = None,
    rate: float | None = None,
    blinks: bool = False,
) -> list[ExpressionSequence]:
    """Takes of labelled clips: of the vertices `landmarks` (68,), or of the weights and controls that any clip moves.

    The label of a clip is the first that it carries. `rate` is in frames a second, that of the first clip by default.
    Short blinks are removed unless `blinks`.
    """
    animations = [clip for clip in clips if rig.is_moved_by(clip)]
    if not animations:
        raise InvalidInput(f"there is no clip that moves character {rig.character.name!r}")
    unlabelled = [clip.name for clip in animations if not clip.labels]
    if unlabelled:
        raise InvalidInput(f"each clip should have a label such as 'happiness', but {unlabelled[0]!r} has none")
    rate = checks.positive(rate or animations[0].rate, "rate")
    rows = [rig.pose(clip, clip.frame_times(rate)) for clip in animations]
    lids = lid_columns(rig.channels)
    for poses in rows if not blinks else ():
        poses[:, lids] = remove_blinks(poses[:, lids], rate)
    apexes = [_peak_frame(clip, len(poses), rate) for clip, poses in zip(animations, rows)]
    names, columns, units = _columns(rig, rows)
    rest = rig.rest[columns] * units
    heads = _head_angles(rig, rows)
    if heads:
        names, rest = (*names, *HEAD_ANGLE_NAMES), np.concatenate([rest, np.zeros(len(HEAD_ANGLE_NAMES))])
    takes = []
    for number, (clip, poses, apex) in enumerate(zip(animations, rows, apexes)):
        values, peak = poses[:, columns] * units, apex
        if heads:
            values = np.concatenate([values, heads[number]], axis=1)
        if peak is None:
            values, peak, within = _cut_around_peak(values, rest, rate)
            poses = np.tile(rig.rest, (len(values), 1))
            poses[:, columns] = values[:, : len(columns)] / units
            note = f"clip {clip.name!r} marks no peak: {within} about the farthest frame was taken"
        if landmarks is not None:
            points = np.asarray(rig.points(poses, [int(i) for i in landmarks]), np.float64)
            named = tuple(f"lm{number:02d}" for number in range(points.shape[1]))
        else:
            points, named = values[:, :, None], names
        notes = (note,) if apex is None else ()
        takes.append(ExpressionSequence(clip.name, clip.labels[0], points, rate, peak, named, notes))
    return takes


def units_of(rig: PosedRig, names: Sequence[str]) -> Array:
    """(L,) one unit of a take in each of the rig's weights or controls: 1, or the width of its range."""
    if not isinstance(rig, LayeredRig):
        return np.ones(len(names))
    controls = rig.controls
    places = [controls.index(name) for name in names]
    return np.maximum(controls.high[places] - controls.low[places], 1e-9)


def _peak_frame(clip: Clip | Curves, frames: int, rate: float) -> int | None:
    """The frame of the peak that a clip marks; None where it marks none."""
    if PEAK_MARKER not in clip.moments:
        return None
    start = clip.frame_times(rate)[0]
    return int(np.clip(round((clip.moments[PEAK_MARKER] - start) * rate), 1, frames - 1))


def _columns(rig: PosedRig, rows: list[Array]) -> tuple[tuple[str, ...], Array, Array]:
    """Names (L,) of the weights and controls that any clip moves, their columns (L,), and (L,) factors to shares."""
    channels = rig.channels
    names: dict[str, int] = {}
    for number, channel in enumerate(channels):
        start = int(channels.offsets[number])
        for offset, column in enumerate(channel.columns):
            if channel.kind == "weights":
                names.setdefault(canonical_name(column) or column, start + offset)
            elif channel.kind == "controls":
                names.setdefault(channel.target, start + offset)
    columns = np.array(list(names.values()), np.int64)
    units = 1.0 / units_of(rig, list(names))
    moved = np.zeros(len(columns), bool)
    for poses in rows:
        moved |= np.ptp(poses[:, columns] * units, axis=0) > MIN_COLUMN_MOVEMENT_RATIO
    if not moved.any():
        raise InvalidInput(
            f"the clips of character {rig.character.name!r} move no shape weight and no control; give landmark vertices"
        )
    kept = np.flatnonzero(moved)
    return tuple(name for name, moves in zip(names, moved) if moves), columns[kept], units[kept]


def _head_angles(rig: PosedRig, rows: list[Array]) -> list[Array]:
    """For each clip (F, 3) radians of the head from rest: yaw about y, then pitch about its x, then roll about its z.

    Empty where no clip turns it, where there is no such joint, or where controls turn it.
    """
    joint = human_bones(rig.character).get("Head")
    if joint is None or isinstance(rig, LayeredRig):
        return []
    rest = rig.joints(rig.rest[None])[0, joint, :3, :3]
    angles = []
    for poses in rows:
        turned = rig.joints(poses)[:, joint, :3, :3] @ np.linalg.inv(rest)
        angles.append(euler.to_euler(quaternion.from_matrix(turned), "yxz"))
    return angles if max(float(np.ptp(clip, axis=0).max()) for clip in angles) > MIN_COLUMN_MOVEMENT_RATIO else []


def _cut_around_peak(values: Array, rest: Array, rate: float) -> tuple[Array, int, str]:
    """The piece (F', L) of values (F, L) about the frame farthest from rest, faded at both ends; that frame; a note.

    The outermost quarter second of a clip holds no apex: a pose there belongs to what comes before or after the clip.
    """
    margin = min(int(0.25 * rate), (len(values) - 1) // 4)
    far = np.linalg.norm(values - rest, axis=1)
    apex = margin + int(np.argmax(far[margin : len(far) - margin]))
    first, last = (
        max(apex - round(PEAK_LEAD_SECONDS * rate), 0),
        min(apex + round(PEAK_TAIL_SECONDS * rate), len(values) - 1),
    )
    piece = values[first : last + 1]
    frames = np.arange(first, last + 1)
    rise = smoothstep(0.0, 1.0, (frames - first) / max(min(FADE_IN_SECONDS * rate, apex - first), 1.0))
    fall = smoothstep(0.0, 1.0, (last - frames) / max(min(FADE_OUT_SECONDS * rate, last - apex), 1.0))
    faded = rest + (rise * fall)[:, None] * (piece - rest)
    lead = max(2 - (apex - first), 0)  # a peak in the very first frames still needs a neutral before it
    faded = np.concatenate([np.tile(rest, (lead, 1)), faded])
    return faded, apex - first + lead, f"a piece of {len(faded) / rate:.1f} s"


def lid_columns(channels: Channels) -> Array:
    """(n,) the columns that shut eyes."""
    columns = []
    for number, channel in enumerate(channels):
        start = int(channels.offsets[number])
        if channel.kind == "controls" and channel.target in LID_CONTROLS:
            columns.append(start)
        if channel.kind == "weights":
            columns += [start + i for i, column in enumerate(channel.columns) if canonical_name(column) in LID_SHAPES]
    return np.array(columns, np.int64)


def remove_blinks(values: Array, rate: float) -> Array:
    """(F, n) lids without what shuts and opens within `MAX_BLINK_SECONDS`.

    A morphological opening, the greatest curve below each that has no peak narrower than a window, replaces each peak
    that is higher than it by `MIN_BLINK_DEPTH`. A blink at the start or the end of the take is removed too.
    """
    width = max(round(MAX_BLINK_SECONDS * rate), 2)
    if len(values) < 2 * width or not values.size:
        return values
    half = width // 2
    padded = np.pad(values, ((half, half), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0)
    lowest = np.pad(windows.min(axis=2), ((half, half), (0, 0)), mode="edge")
    opened = np.lib.stride_tricks.sliding_window_view(lowest, 2 * half + 1, axis=0).max(axis=2)
    box = 2 * max(round(0.5 * BLINK_SMOOTHING_SECONDS * rate), 1) + 1
    spread = np.pad(opened, ((box // 2, box // 2), (0, 0)), mode="edge")
    rounded = np.lib.stride_tricks.sliding_window_view(spread, box, axis=0).mean(axis=2)
    result = np.array(values)
    for column in range(values.shape[1]):
        above = values[:, column] - opened[:, column]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], (above > 1e-3).astype(np.int8), [0]])))
        for first, last in edges.reshape(-1, 2):
            if above[first:last].max() > MIN_BLINK_DEPTH:
                result[first:last, column] = np.minimum(rounded[first:last, column], values[first:last, column])
    return result
