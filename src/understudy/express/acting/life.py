"""Life: blinks, gaze and head on top of an acted expression.

The paper's graphs hold none of them [Serra 2018, section 7]; they are made of the same cues. A
head turns with an expression and arrives a little after it. The eyes jump before the head follows and stay on their
point while it turns. Lids shut when the eyes jump far, never about an apex, which they would hide; the pause is longest
where eyes are at their widest. All times vary with the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.express.acting.cues import Cue

HEAD_DELAY_SECONDS = (0.04, 0.16)  # range of the delay with which the head follows the face
EYE_LEAD_SECONDS = 0.1  # time by which the eyes jump before the face sets off
FIXATION_SECONDS = (0.9, 0.5)  # between two jumps: median in seconds, and deviation of its logarithm
GAZE_SHIFT_DEGREES = (2.6, 1.3)  # mean size of those jumps, across and up
SACCADE_SECONDS = (0.021, 0.0022)  # duration of a jump: constant, and a degree: the main sequence [Carpenter 1988]
BLINK_INTERVAL_SECONDS = (3.4, 0.45)  # median in seconds, and deviation of its logarithm
LID_CLOSING_SECONDS, LID_SHUT_SECONDS, LID_OPENING_SECONDS = 0.08, 0.04, 0.17  # phases of a blink
BLINK_WITH_SACCADE_PROBABILITY, LARGE_SACCADE_DEGREES = 0.5, 6.0  # of a blink with a jump larger than that
APEX_NO_BLINK_SECONDS = (0.1, 0.15)  # before and after an apex without a blink
WIDE_EYES_NO_BLINK_SECONDS = (0.25, 0.35)  # the same where eyes are wide
HEAD_DRIFT_DEGREES, HEAD_DRIFT_SECONDS = 0.7, 0.9  # deviation and interval of the slow drift of a head at rest


class HeadAndGaze(NamedTuple):
    """Where head and eyes go with an expression."""

    head: tuple[float, float, float] = (0.0, 0.0, 0.0)  # degrees: turn to the left, nod down, roll to the left
    gaze: tuple[float, float] = (0.0, 0.0)  # degrees: left, up
    wide: bool = False  # eyes at their widest: no blink for longer about the apex


# By label. Turns and rolls go to either side, by the seed.
HEAD_AND_GAZE_BY_LABEL = {
    "happiness": HeadAndGaze((2.0, -3.0, 4.0)),
    "sadness": HeadAndGaze((3.0, 7.0, 3.0), (4.0, -12.0)),
    "disgust": HeadAndGaze((7.0, -3.0, -3.0), (-4.0, -3.0)),
    "surprise": HeadAndGaze((0.0, -5.0, 1.0), (0.0, 2.0), wide=True),
    "anger": HeadAndGaze((1.5, 5.0, 1.0), (0.0, 4.0)),
    "fear": HeadAndGaze((6.0, -3.0, 2.0), (-9.0, 2.0), wide=True),
    "contempt": HeadAndGaze((5.0, -5.0, 4.0), (-7.0, -3.0)),
}
DEFAULT_HEAD_AND_GAZE = HeadAndGaze((2.0, 0.0, 1.5), (2.0, 0.0))


def head_and_gaze(
    cues: Sequence[Cue], peaks: Array, bounds: Array, frames: int, rate: float, amount: float, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Blink (F,), gaze (F, 2) and head (F, 3) for cues with apexes at frames `peaks` and legs from frames `bounds`."""
    if amount == 0.0:
        return np.zeros(frames), np.zeros((frames, 2)), np.zeros((frames, 3))
    times = np.arange(frames) / rate
    starts, tops, end = bounds[: len(cues)] / rate, peaks / rate, times[-1]
    aims = [_head_and_gaze_of_cue(cue, rng) for cue in cues]
    head = amount * _head(aims, starts, tops, times, end, rng)
    points, jumps = _fixations(aims, starts, bounds[len(cues)] / rate, end, rng)
    gaze = amount * _gaze(points, jumps, times)
    # the eyes stay on their point while the head turns; positive is up for the gaze, down for the head
    gaze = gaze - 0.6 * head[:, :2] * [1.0, -1.0]
    margins = [WIDE_EYES_NO_BLINK_SECONDS if aim.wide else APEX_NO_BLINK_SECONDS for aim in aims]
    no_blink_spans = [(top - before, top + after) for top, (before, after) in zip(tops, margins)]
    return _blinks(jumps, points, no_blink_spans, times, amount, rng), np.radians(gaze), np.radians(head)


def _head_and_gaze_of_cue(cue: Cue, rng: np.random.Generator) -> HeadAndGaze:
    """Head and gaze of a cue: the mean of its labels by their shares, to a random side, with random factors."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    factors = np.exp(0.35 * rng.standard_normal(5)) * [side, 1.0, side, side, 1.0]
    if not cue.labels:
        return HeadAndGaze()
    aims = [HEAD_AND_GAZE_BY_LABEL.get(label, DEFAULT_HEAD_AND_GAZE) for label in cue.labels]
    mean = np.array(cue.shares) @ np.array([[*aim.head, *aim.gaze] for aim in aims]) * factors
    wide = any(aim.wide and share > 0.3 for aim, share in zip(aims, cue.shares))
    return HeadAndGaze((mean[0], mean[1], mean[2]), (mean[3], mean[4]), wide)


def _head(
    aims: list[HeadAndGaze], starts: Array, tops: Array, times: Array, end: float, rng: np.random.Generator
) -> Array:
    """(F, 3) degrees: from aim to aim, and a slow drift."""
    later = HEAD_DELAY_SECONDS[0] + (HEAD_DELAY_SECONDS[1] - HEAD_DELAY_SECONDS[0]) * rng.random(len(aims))
    knots, values = [0.0], [np.zeros(3)]
    for aim, start, top, late in zip(aims, starts, tops, later):
        knots += [max(start + 0.5 * late, knots[-1] + 1e-3), top + late]
        values += [values[-1], np.array(aim.head)]
    hold = min(knots[-1] + 0.3, max(end - 0.5, knots[-1] + 1e-3))
    knots += [hold, max(end, hold + 0.4)]
    values += [values[-1], 0.2 * values[-1]]
    steps = np.arange(0.0, end + 2 * HEAD_DRIFT_SECONDS, HEAD_DRIFT_SECONDS)
    drift = HEAD_DRIFT_DEGREES * rng.standard_normal((len(steps), 3))
    drift[0] = 0.0
    return _ease_between(np.array(knots), np.array(values), times) + _ease_between(steps, drift, times)


def _fixations(
    aims: list[HeadAndGaze], starts: Array, back: float, end: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """(n, 2) degrees of the fixation points in order, and (n,) seconds at which the eyes jump to them."""
    when, where = [0.0], [np.zeros(2)]
    changes = [(max(start - EYE_LEAD_SECONDS, 0.0), np.array(aim.gaze)) for aim, start in zip(aims, starts)]
    changes.append((back, np.zeros(2)))
    for number, (start, aim) in enumerate(changes):
        until = changes[number + 1][0] if number + 1 < len(changes) else end
        time, point = start, aim
        while time < until or time == start:
            when.append(max(time, when[-1] + 1e-3))
            where.append(point)
            time += max(FIXATION_SECONDS[0] * np.exp(FIXATION_SECONDS[1] * rng.standard_normal()), 0.25)
            point = aim + rng.laplace(0.0, GAZE_SHIFT_DEGREES)
    return np.array(where), np.array(when)


def _gaze(points: Array, jumps: Array, times: Array) -> Array:
    """(F, 2) degrees: from point to point by the main sequence."""
    gaze = np.zeros((len(times), 2))
    for before, after, start in zip(points[:-1], points[1:], jumps[1:]):
        lasts = SACCADE_SECONDS[0] + SACCADE_SECONDS[1] * float(np.hypot(*(after - before)))
        gaze += _ease((times - start) / lasts)[:, None] * (after - before)
    return gaze


def _blinks(
    jumps: Array,
    points: Array,
    no_blink_spans: list[tuple[float, float]],
    times: Array,
    amount: float,
    rng: np.random.Generator,
) -> Array:
    """(F,) 0 open to 1 shut."""
    sizes = np.hypot(*np.diff(points, axis=0).T)
    with_jumps = [
        t
        for t, size in zip(jumps[1:], sizes)
        if size > LARGE_SACCADE_DEGREES and rng.random() < BLINK_WITH_SACCADE_PROBABILITY
    ]
    spontaneous, time = [], float(rng.random() * BLINK_INTERVAL_SECONDS[0])
    while time < times[-1]:
        spontaneous.append(time)
        time += BLINK_INTERVAL_SECONDS[0] / amount * float(np.exp(BLINK_INTERVAL_SECONDS[1] * rng.standard_normal()))
    blink, last = np.zeros(len(times)), -1.0
    for start in sorted([*with_jumps, *spontaneous]):
        over = start + LID_CLOSING_SECONDS + LID_SHUT_SECONDS + LID_OPENING_SECONDS
        if start < last + 0.3 or over > times[-1] or any(start < b and over > a for a, b in no_blink_spans):
            continue
        shut = _ease((times - start) / LID_CLOSING_SECONDS) * (
            1.0 - _ease((times - start - LID_CLOSING_SECONDS - LID_SHUT_SECONDS) / LID_OPENING_SECONDS)
        )
        blink, last = np.maximum(blink, shut), over
    return blink


def _ease_between(knots: Array, values: Array, times: Array) -> Array:
    """(F, n) from value to value (K, n) at knots (K,), with no velocity at the knots."""
    at = np.searchsorted(knots, times, side="right").clip(1, len(knots) - 1)
    share = _ease((times - knots[at - 1]) / np.maximum(knots[at] - knots[at - 1], 1e-9))[:, None]
    eased: Array = (1.0 - share) * values[at - 1] + share * values[at]
    return eased


def _ease(x: Array) -> Array:
    """From 0 to 1 with the least jerk."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (10.0 - x * (15.0 - 6.0 * x))
