"""Lint for acting: what an eye would stumble over in a clip of a face, found in its dope sheet.

Errors are against the rules that every shipped clip keeps; warnings are where an animator should look twice, and may
have a reason. Speeds are measured on the controls, each divided by its range and all added up: 1 means that one
control went from end to end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from understudy.cast import keying
from understudy.cast.keys import Sheet
from understudy.cast.spline import Column, nodes
from understudy.cast.vocabulary import Vocabulary, of_controls
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
    columns = keying.columns(sheet, vocabulary)
    span = dict(zip(controls.names, (controls.high - controls.low).tolist()))
    frames = np.arange(int(sheet.frames) + 1)
    curves = keying.control_curves(sheet, vocabulary)
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
            nodes(keys, sheet.frames, name in sheet.still, sheet.path, keying.range_of(vocabulary, name))
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
