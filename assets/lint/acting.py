"""Lint for acting: what an eye would stumble over in a clip of a face, and clips that copy another one.

`lint` looks at a dope sheet. Errors are against the rules that every shipped clip keeps; warnings are where an animator
should look twice, and may have a reason. Speeds are measured on the controls, each divided by its range and all added
up: 1 means that one control went from end to end.

`copies` finds clips that are another one mirrored or retimed. Clips are compared as paths through the space of all
controls, each divided by its range, whatever their timing: dynamic time warping finds the pairing of their frames,
monotonic in time, with the least mean distance. That distance is given as a part of how far the clips stray from their
own middle: near 0 for copies, about 1 for clips that have nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.cast.dope_sheet.sheet import Sheet, Vocabulary, of_controls
from understudy.cast.dope_sheet.spline import Column, nodes
from understudy.cast.dope_sheet.tracks import column_range, control_curves, sheet_columns
from understudy.character import Curves
from understudy.character.controls import Controls
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.maths import bezier

LENGTH = (2.0, 8.0)  # seconds that a clip may last
LONGEST_STILL = 8  # frames
DEAD = 0.001
"""Added ranges a frame below which two frames count as the same. The drift of a single hold (5 % of a move over a tenth
of a range, in 20 frames) is 0.00025, a breath 0.01 and more: a frame without either of several is frozen."""
FAINT = 0.006  # the same, where drift goes on but nobody sees it: a warning
CORNER = 1e-3  # ranges a frame; the slopes themselves are exact to 1e-6
TOGETHER = 3  # groups that may leave on one frame
MOVE = 0.02  # of the range: what counts as leaving
GAZE, JUMP = 6.0, 3.0  # degrees above which eyes should jump, and frames that they may take
BEATS, EVEN = 4, 0.12  # so many gaps between accents, alike within this part of their mean, are a metronome
PITCH = 15.0  # degrees of nod and lean together, beyond which chin or crown hides the face


class Finding(NamedTuple):
    """One thing to look at; `severity` is "error" or "warning"."""

    severity: str
    frame: float | None
    text: str

    def __str__(self) -> str:
        where = "" if self.frame is None else f"frame {self.frame:g}: "
        return f"{self.severity}: {where}{self.text}"


def lint(sheet: Sheet, controls: Controls) -> list[Finding]:
    """All findings of one sheet, errors first. Where keys do not make curves, only what is wrong with them is found."""
    vocabulary = of_controls(controls)
    unsound = [*_unsound(sheet, vocabulary)]
    if unsound:
        return unsound
    columns = sheet_columns(sheet, vocabulary)
    span = dict(zip(controls.names, (controls.high - controls.low).tolist()))
    frames = np.arange(int(sheet.frames) + 1)
    curves = control_curves(sheet, vocabulary)
    names = [curve.channel.target for curve in curves.curves]
    values = curves.sample(frames / sheet.rate)
    steps = np.abs(np.diff(values, axis=0)) / np.array([span[name] for name in names])  # (F - 1, n)
    speed = steps.sum(axis=1)
    acted = steps[:, [not _by_itself(name) for name in names]].sum(axis=1)
    moves = list(_moves(sheet, vocabulary.rests))
    found = [
        *_description(sheet),
        *_beyond(controls, names, curves.sample(np.arange(0, sheet.frames + 0.125, 0.25) / sheet.rate)),
        *_corners(sheet, columns, span),
        *_still(sheet, speed),
        *_together(moves, span),
        *_slow_eyes(moves),
        *_metronome(acted),
        *_pitch(names, values),
    ]
    return sorted(found, key=lambda finding: (finding.severity, finding.frame or 0.0))


def _unsound(sheet: Sheet, vocabulary: Vocabulary) -> Iterator[Finding]:
    for name, keys in sheet.tracks.items():
        try:
            nodes(keys, sheet.frames, name in sheet.still, sheet.path, column_range(vocabulary, name))
        except BadFile as error:
            yield Finding("error", None, f"{error.place}: {error.reason}")


def _description(sheet: Sheet) -> Iterator[Finding]:
    seconds = sheet.frames / sheet.rate
    if not LENGTH[0] <= seconds <= LENGTH[1]:
        yield Finding("error", None, f"lasts {seconds:.2f} s, but should last {LENGTH[0]:g} to {LENGTH[1]:g} s")
    for what, present in (("labels", sheet.labels), ("about", sheet.about), ("moment", sheet.moments)):
        if not present:
            yield Finding("error", None, f"has no line {what!r}")


def _beyond(controls: Controls, names: list[str], values: Array) -> Iterator[Finding]:
    """Values are (4 F, n), four a frame: keys are in range already, but a slope by hand can go further."""
    which = [controls.index(name) for name in names]
    beyond = np.maximum(values - controls.high[which], controls.low[which] - values)
    for i in np.flatnonzero(beyond.max(axis=0) > 1e-6):
        at = int(beyond[:, i].argmax())
        low, high = controls.low[which[i]], controls.high[which[i]]
        yield Finding("error", at / 4, f"{names[i]} is {values[at, i]:.4g}, beyond its range of {low:g} to {high:g}")


def _corners(sheet: Sheet, columns: dict[str, Column], span: dict[str, float]) -> Iterator[Finding]:
    for name, column in columns.items():
        keys = np.stack([column.times, column.values], axis=1)
        x, y = bezier.control_points(keys[:-1], keys[1:], column.after[:-1], column.before[1:])
        leaving, arriving = bezier.to_hermite(x, y)
        jump = np.abs(leaving[1:] - arriving[:-1]) / (span[name] * sheet.rate)
        for k in np.flatnonzero((jump > CORNER) & ~column.broken[1:-1]) + 1:
            text = f"{name} changes its speed at once; write break if that is meant"
            yield Finding("error", float(column.times[k] * sheet.rate), text)


def _still(sheet: Sheet, speed: Array) -> Iterator[Finding]:
    """Speed (F - 1,); step f lies between frames f and f + 1."""
    held = np.zeros(len(speed), bool)
    for hold in sheet.holds:
        held[int(hold.start) : int(np.ceil(hold.end))] = True
    dead = _runs((speed < DEAD) & ~held)
    for start, end in dead:
        text = f"stands still for {end - start} frames, outside any hold"
        yield Finding("error", start, text)
    for start, end in _runs((speed < FAINT) & ~held):
        if not any(start <= a and b <= end for a, b in dead):
            yield Finding("warning", start, f"hardly moves for {end - start} frames: breath, a dart, an ear?")


def _by_itself(column: str) -> bool:
    """Whether a column has a rhythm of its own, which is not that of the acting: breath and blinks."""
    return column == "neck.breath" or column.startswith("lids.blink")


def _runs(where: Array) -> list[tuple[int, int]]:
    """Start and end of each run that is too long."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2) if b - a > LONGEST_STILL]


class Move(NamedTuple):
    """A column on its way from key to key."""

    column: str
    start: float
    end: float
    size: float


def _moves(sheet: Sheet, rests: Mapping[str, float]) -> Iterator[Move]:
    for column, keys in sheet.tracks.items():
        last, value = 0.0, rests[column]
        for key in keys:
            if key.frame > 0:
                yield Move(column, last if key.departure is None else key.departure, key.frame, key.value - value)
            last, value = key.frame, key.value


def _together(moves: list[Move], span: dict[str, float]) -> Iterator[Finding]:
    """Blinks and breath are not counted; the lattice goes with the pose that bends it."""
    leaving: dict[float, set[str]] = {}
    for move in moves:
        apart = _by_itself(move.column) or move.column.startswith("lattice")
        if move.start > 0 and abs(move.size) > MOVE * span[move.column] and not apart:
            leaving.setdefault(move.start, set()).add(move.column.partition(".")[0])
    for start, groups in sorted(leaving.items()):
        if len(groups) > TOGETHER:
            yield Finding("warning", start, f"{len(groups)} groups leave together: {', '.join(sorted(groups))}")


def _slow_eyes(moves: list[Move]) -> Iterator[Finding]:
    for move in moves:
        frames, size = move.end - move.start, abs(move.size)
        if move.column in ("eyes.x", "eyes.y") and size > GAZE and frames > JUMP:
            text = f"{move.column} takes {frames:g} frames for {size:.3g} degrees; eyes jump in 1 to 2"
            yield Finding("warning", move.start, text)


def _metronome(speed: Array) -> Iterator[Finding]:
    inner = speed[1:-1]
    peaks = np.flatnonzero((inner > speed[:-2]) & (inner >= speed[2:]) & (inner > 0.25 * speed.max())) + 1
    gaps = np.diff(peaks)
    for k in range(len(gaps) - BEATS + 1):
        own = gaps[k : k + BEATS]
        if own.std() <= EVEN * own.mean():
            listed = ", ".join(str(int(peak)) for peak in peaks[k : k + BEATS + 1])
            yield Finding("warning", float(peaks[k]), f"accents follow each other evenly: {listed}")
            return


def _pitch(names: list[str], values: Array) -> Iterator[Finding]:
    both = [names.index(name) for name in ("head.nod", "neck.lean") if name in names]
    total = np.abs(values[:, both].sum(axis=1))
    if len(both) == 2 and total.max() > PITCH:
        at = int(total.argmax())
        yield Finding("warning", at, f"nod and lean add up to {total[at]:.0f} degrees: turn the head against the neck")


LIKENESS_SAMPLES = 64  # of a clip, whatever its length
ALIKE_DISTANCE = 0.6
"""Below it one clip is a copy of the other. A clip at 80 % of its size is 0.3 away from itself, at 60 % 0.6; clips that
were keyed apart, of one label or of two, are 1.1 to 2 away from each other."""


def copies(clips: Sequence[Curves], controls: Controls) -> list[Finding]:
    """An error for each pair of clips that are nearly the same, one of them perhaps mirrored or retimed."""
    empty = np.zeros((0, LIKENESS_SAMPLES, len(controls)))
    plain = np.array([motion_path(clip, controls) for clip in clips] or empty)
    mirrored = np.array([motion_path(clip, controls, mirrored=True) for clip in clips] or empty)
    found = []
    for i, clip in enumerate(clips[:-1]):
        for how, others in (("", plain), (", mirrored", mirrored)):
            for j, distance in enumerate(clip_distances(plain[i], others[i + 1 :]), i + 1):
                if distance < ALIKE_DISTANCE:
                    text = f"{clip.name} and {clips[j].name} are alike{how}: {distance:.2f} of their motion apart"
                    found.append(Finding("error", None, text))
    return found


def motion_path(clip: Curves, controls: Controls, mirrored: bool = False) -> Array:
    """(SAMPLES, C) the controls over the clip, each divided by its range."""
    times = np.linspace(clip.start, clip.end, LIKENESS_SAMPLES)
    values = np.tile(controls.rest, (LIKENESS_SAMPLES, 1))
    values[:, [controls.index(channel.target) for channel in clip.channels]] = clip.sample(times)
    if mirrored:
        values = controls.mirror_pose(values)
    result: Array = (values - controls.rest) / (controls.high - controls.low)
    return result


def clip_distances(one: Array, others: Array) -> Array:
    """(N,) the likeness of a path (S, C) to each of N others (N, S, C): dynamic time warping, all of them at once.

    D[a, b] = d[a, b] + min(D[a - 1, b], D[a, b - 1], D[a - 1, b - 1]), along antidiagonals, with the number of steps
    carried along so that the mean distance on the best way can be given.
    """
    count, samples = len(others), len(one)
    squares = (
        (one**2).sum(axis=1)[:, None] + (others**2).sum(axis=2)[:, None, :] - 2 * (one @ others.transpose(0, 2, 1))
    )
    d = np.sqrt(np.maximum(squares, 0.0))  # (N, S, S)
    total = np.full((count, samples + 1, samples + 1), np.inf)
    steps = np.zeros((count, samples + 1, samples + 1))
    total[:, 0, 0] = 0.0
    for diagonal in range(2, 2 * samples + 1):
        a = np.arange(max(1, diagonal - samples), min(samples, diagonal - 1) + 1)
        b = diagonal - a
        ways = np.stack([total[:, a - 1, b - 1], total[:, a - 1, b], total[:, a, b - 1]])
        best = ways.argmin(axis=0)[None]
        counts = np.stack([steps[:, a - 1, b - 1], steps[:, a - 1, b], steps[:, a, b - 1]])
        total[:, a, b] = d[:, a - 1, b - 1] + np.take_along_axis(ways, best, axis=0)[0]
        steps[:, a, b] = 1 + np.take_along_axis(counts, best, axis=0)[0]
    mean = total[:, -1, -1] / steps[:, -1, -1]
    result: Array = mean / np.maximum(np.sqrt(0.5 * (_spread(one) + _spread(others))), 1e-9)
    return result


def _spread(paths: Array) -> Array:
    """(...) mean squared distance of paths (..., S, C) from their own middle."""
    spread: Array = ((paths - paths.mean(axis=-2, keepdims=True)) ** 2).sum(axis=-1).mean(axis=-1)
    return spread
