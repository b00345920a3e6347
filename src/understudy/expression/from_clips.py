"""From clips to takes: a character's own animation as labelled sequences.

Landmarks are vertices of the character, wherever its clips move them. Without landmarks the takes hold its shape
weights as they are, and its controls as shares of their ranges, so that degrees and weights compare. A head that a
skeleton turns goes with the weights, as three angles.

A clip that marks its peak is taken whole. One that does not, as an animator's usual clip with several beats, is cut
about the frame that lies farthest from rest, and led from rest into that piece and out of it: a take begins in neutral.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from understudy import checks
from understudy.character import Clip, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.blinking import lid_columns, without_blinks
from understudy.expression.sequence import Sequence as Take
from understudy.formats.arkit_names import canonical
from understudy.maths import euler, quaternion
from understudy.rig import LayeredRig, PosedRig

PEAK = "peak"  # the moment of a clip that marks it
BEFORE, AFTER = 1.1, 1.4  # seconds of a clip without a peak that are kept on both sides of the one found
LEAD_IN, LEAD_OUT = 0.7, 0.9  # seconds in which that piece is faded from rest and to rest
HEAD = ("HeadYaw", "HeadPitch", "HeadRoll")  # as Live Link calls them
HEAD_JOINTS = ("Head", "head")
MOVES = 1e-4  # of a weight or of a control's range: less is a column that rests


def sequences_of(
    rig: PosedRig,
    clips: Iterable[Clip | Curves],
    landmarks: Sequence[int] | Array | None = None,
    rate: float | None = None,
    blinks: bool = False,
) -> list[Take]:
    """Takes of labelled clips: of the vertices `landmarks` (68,), or of the weights and controls that any clip moves.

    The label of a clip is the first that it carries. `rate` is in frames a second, that of the first clip by default.
    Short blinks are taken out unless `blinks` (see `blinking`).
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
    for each in rows if not blinks else ():
        each[:, lids] = without_blinks(each[:, lids], rate)
    apexes = [_marked(clip, len(each), rate) for clip, each in zip(animations, rows)]
    names, columns, units = _columns(rig, rows)
    rest = rig.rest[columns] * units
    heads = _head_turns(rig, rows)
    if heads:
        names, rest = (*names, *HEAD), np.concatenate([rest, np.zeros(len(HEAD))])
    found = []
    for number, (clip, each, apex) in enumerate(zip(animations, rows, apexes)):
        values, peak = each[:, columns] * units, apex
        if heads:
            values = np.concatenate([values, heads[number]], axis=1)
        if peak is None:
            values, peak, within = _cut(values, rest, rate)
            each = np.tile(rig.rest, (len(values), 1))
            each[:, columns] = values[:, : len(columns)] / units
            note = f"clip {clip.name!r} marks no peak: {within} about the farthest frame was taken"
        if landmarks is not None:
            points = np.asarray(rig.points(each, [int(i) for i in landmarks]), np.float64)
            named = tuple(f"lm{number:02d}" for number in range(points.shape[1]))
        else:
            points, named = values[:, :, None], names
        notes = (note,) if apex is None else ()
        found.append(Take(clip.name, clip.labels[0], points, rate, peak, named, notes))
    return found


def units_of(rig: PosedRig, names: Sequence[str]) -> Array:
    """(L,) what one unit of a take is of each of the rig's weights or controls: 1, or the width of its range."""
    if not isinstance(rig, LayeredRig):
        return np.ones(len(names))
    controls = rig.controls
    places = [controls.index(name) for name in names]
    return np.maximum(controls.high[places] - controls.low[places], 1e-9)


def _marked(clip: Clip | Curves, frames: int, rate: float) -> int | None:
    """The frame of the peak that a clip marks; None where it marks none."""
    if PEAK not in clip.moments:
        return None
    start = clip.frame_times(rate)[0]
    return int(np.clip(round((clip.moments[PEAK] - start) * rate), 1, frames - 1))


def _columns(rig: PosedRig, rows: list[Array]) -> tuple[tuple[str, ...], Array, Array]:
    """Names (L,) of the weights and controls that any clip moves, their columns, and (L,) factors to shares."""
    channels = rig.channels
    names: dict[str, int] = {}
    for number, channel in enumerate(channels):
        start = int(channels.offsets[number])
        for offset, column in enumerate(channel.columns):
            if channel.kind == "weights":
                names.setdefault(canonical(column) or column, start + offset)
            elif channel.kind == "controls":
                names.setdefault(channel.target, start + offset)
    columns = np.array(list(names.values()), np.int64)
    units = 1.0 / units_of(rig, list(names))
    moved = np.zeros(len(columns), bool)
    for each in rows:
        moved |= np.ptp(each[:, columns] * units, axis=0) > MOVES
    if not moved.any():
        raise InvalidInput(
            f"the clips of character {rig.character.name!r} move no shape weight and no control; give landmark vertices"
        )
    kept = np.flatnonzero(moved)
    return tuple(name for name, moves in zip(names, moved) if moves), columns[kept], units[kept]


def _head_turns(rig: PosedRig, rows: list[Array]) -> list[Array]:
    """For each clip (F, 3) radians of the head from rest: yaw about y, then pitch about its x, then roll about its z.

    Nothing where no clip turns it, where there is no such joint, or where controls turn it.
    """
    skeleton = rig.character.skeleton
    joint = next((skeleton.index(name) for name in HEAD_JOINTS if name in skeleton), None)
    if joint is None or isinstance(rig, LayeredRig):
        return []
    rest = rig.joints(rig.rest[None])[0, joint, :3, :3]
    found = []
    for each in rows:
        turned = rig.joints(each)[:, joint, :3, :3] @ np.linalg.inv(rest)
        found.append(euler.to_euler(quaternion.from_matrix(turned), "yxz"))
    return found if max(float(np.ptp(each, axis=0).max()) for each in found) > MOVES else []


def _cut(values: Array, rest: Array, rate: float) -> tuple[Array, int, str]:
    """The piece (F', L) of values (F, L) about the frame farthest from rest, faded from and to rest; that frame; words.

    The outermost quarter second of a clip is no apex: whatever is farthest there has only come from somewhere else.
    """
    margin = min(int(0.25 * rate), (len(values) - 1) // 4)
    far = np.linalg.norm(values - rest, axis=1)
    apex = margin + int(np.argmax(far[margin : len(far) - margin]))
    first, last = max(apex - round(BEFORE * rate), 0), min(apex + round(AFTER * rate), len(values) - 1)
    piece = values[first : last + 1]
    frames = np.arange(first, last + 1)
    rise = _ease((frames - first) / max(min(LEAD_IN * rate, apex - first), 1.0))
    fall = _ease((last - frames) / max(min(LEAD_OUT * rate, last - apex), 1.0))
    faded = rest + (rise * fall)[:, None] * (piece - rest)
    lead = max(2 - (apex - first), 0)  # a peak in the very first frames still needs a neutral before it
    faded = np.concatenate([np.tile(rest, (lead, 1)), faded])
    return faded, apex - first + lead, f"a piece of {len(faded) / rate:.1f} s"


def _ease(x: Array) -> Array:
    x = np.clip(x, 0.0, 1.0)
    eased: Array = x * x * (3.0 - 2.0 * x)
    return eased
