"""Life: blinks, gaze and head on the clock of a performance.

The paper's graphs hold none of them [Serra 2018, section 7]. They are made of the same cues: a head turns with an
expression and arrives a little after it, the eyes jump before the head follows and stay on their point while it turns,
and lids shut when the eyes jump far, never in the moment of an apex, which they would hide, and least of all where eyes
are at their widest. All times vary with the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.cues import Cue


class Attitude(NamedTuple):
    """Where head and eyes go with an expression, in degrees: turn to the left, nod down, roll to the left; left, up."""

    head: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gaze: tuple[float, float] = (0.0, 0.0)
    wide: bool = False  # eyes that are too wide to blink for longer


# Turns and rolls go to either side, by the seed.
ATTITUDES = {
    "happiness": Attitude((2.0, -3.0, 4.0)),
    "sadness": Attitude((3.0, 7.0, 3.0), (4.0, -12.0)),
    "disgust": Attitude((7.0, -3.0, -3.0), (-4.0, -3.0)),
    "surprise": Attitude((0.0, -5.0, 1.0), (0.0, 2.0), wide=True),
    "anger": Attitude((1.5, 5.0, 1.0), (0.0, 4.0)),
    "fear": Attitude((6.0, -3.0, 2.0), (-9.0, 2.0), wide=True),
    "contempt": Attitude((5.0, -5.0, 4.0), (-7.0, -3.0)),
}
ANY = Attitude((2.0, 0.0, 1.5), (2.0, 0.0))
HEAD_LATER = (0.04, 0.16)  # seconds that the head arrives after the face
EYES_EARLIER = 0.1  # seconds that the eyes jump before the face sets off
FIXATION = (0.9, 0.5)  # seconds between two jumps: median, and deviation of the logarithm
SHIFT = (2.6, 1.3)  # degrees, mean size of the jumps between, across and up
SACCADE = (0.021, 0.0022)  # seconds, seconds a degree: the main sequence [Carpenter 1988]
BETWEEN_BLINKS = (3.4, 0.45)  # seconds: median, and deviation of the logarithm
FALLING, SHUT, RISING = 0.08, 0.04, 0.17  # seconds of a blink
BLINKS_WITH_JUMP, LARGE_JUMP = 0.5, 6.0  # probability, degrees
APEX, WIDE = (0.1, 0.15), (0.25, 0.35)  # seconds before and after an apex without a blink; where eyes are wide
DRIFT, DRIFT_EVERY = 0.7, 0.9  # degrees, seconds: a head that is held still is not nailed down


def of(
    cues: Sequence[Cue], peaks: Array, bounds: Array, frames: int, rate: float, amount: float, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Blink (F,), gaze (F, 2) and head (F, 3) for cues with apexes at frames `peaks` and legs from frames `bounds`."""
    if amount == 0.0:
        return np.zeros(frames), np.zeros((frames, 2)), np.zeros((frames, 3))
    times = np.arange(frames) / rate
    starts, tops, end = bounds[: len(cues)] / rate, peaks / rate, times[-1]
    aims = [_attitude(cue, rng) for cue in cues]
    head = amount * _head(aims, starts, tops, times, end, rng)
    points, jumps = _fixations(aims, starts, bounds[len(cues)] / rate, end, rng)
    gaze = amount * _gaze(points, jumps, times)
    # the eyes stay on their point while the head turns; looking up is positive, nodding down is
    gaze = gaze - 0.6 * head[:, :2] * [1.0, -1.0]
    open_eyed = [_about(top, WIDE if aim.wide else APEX) for top, aim in zip(tops, aims)]
    return _blinks(jumps, points, open_eyed, times, amount, rng), np.radians(gaze), np.radians(head)


def _about(time: float, span: tuple[float, float]) -> tuple[float, float]:
    return time - span[0], time + span[1]


def _attitude(cue: Cue, rng: np.random.Generator) -> Attitude:
    """The attitude of a cue: the mean of its labels by their shares, to either side, a little different every time."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    factors = np.exp(0.35 * rng.standard_normal(5)) * [side, 1.0, side, side, 1.0]
    if not cue.labels:
        return Attitude()
    each = [ATTITUDES.get(label, ANY) for label in cue.labels]
    mean = np.array(cue.shares) @ np.array([[*one.head, *one.gaze] for one in each]) * factors
    wide = any(one.wide and share > 0.3 for one, share in zip(each, cue.shares))
    return Attitude((mean[0], mean[1], mean[2]), (mean[3], mean[4]), wide)


def _head(
    aims: list[Attitude], starts: Array, tops: Array, times: Array, end: float, rng: np.random.Generator
) -> Array:
    """(F, 3) degrees: from attitude to attitude, and a slow drift."""
    later = HEAD_LATER[0] + (HEAD_LATER[1] - HEAD_LATER[0]) * rng.random(len(aims))
    knots, values = [0.0], [np.zeros(3)]
    for aim, start, top, late in zip(aims, starts, tops, later):
        knots += [max(start + 0.5 * late, knots[-1] + 1e-3), top + late]
        values += [values[-1], np.array(aim.head)]
    hold = min(knots[-1] + 0.3, max(end - 0.5, knots[-1] + 1e-3))
    knots += [hold, max(end, hold + 0.4)]
    values += [values[-1], 0.2 * values[-1]]
    steps = np.arange(0.0, end + 2 * DRIFT_EVERY, DRIFT_EVERY)
    drift = DRIFT * rng.standard_normal((len(steps), 3))
    drift[0] = 0.0
    return _eased(np.array(knots), np.array(values), times) + _eased(steps, drift, times)


def _fixations(
    aims: list[Attitude], starts: Array, back: float, end: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """(n, 2) degrees that are looked at in turn, and (n,) when the eyes jump there."""
    when, where = [0.0], [np.zeros(2)]
    changes = [(max(start - EYES_EARLIER, 0.0), np.array(aim.gaze)) for aim, start in zip(aims, starts)]
    changes.append((back, np.zeros(2)))
    for number, (start, aim) in enumerate(changes):
        until = changes[number + 1][0] if number + 1 < len(changes) else end
        time, point = start, aim
        while time < until or time == start:
            when.append(max(time, when[-1] + 1e-3))
            where.append(point)
            time += max(FIXATION[0] * np.exp(FIXATION[1] * rng.standard_normal()), 0.25)
            point = aim + rng.laplace(0.0, SHIFT)
    return np.array(where), np.array(when)


def _gaze(points: Array, jumps: Array, times: Array) -> Array:
    """(F, 2) degrees: from point to point by the main sequence."""
    gaze = np.zeros((len(times), 2))
    for before, after, start in zip(points[:-1], points[1:], jumps[1:]):
        lasts = SACCADE[0] + SACCADE[1] * float(np.hypot(*(after - before)))
        gaze += _ease((times - start) / lasts)[:, None] * (after - before)
    return gaze


def _blinks(
    jumps: Array,
    points: Array,
    open_eyed: list[tuple[float, float]],
    times: Array,
    amount: float,
    rng: np.random.Generator,
) -> Array:
    """(F,) 0 open to 1 shut."""
    sizes = np.hypot(*np.diff(points, axis=0).T)
    with_jumps = [t for t, size in zip(jumps[1:], sizes) if size > LARGE_JUMP and rng.random() < BLINKS_WITH_JUMP]
    own, time = [], float(rng.random() * BETWEEN_BLINKS[0])
    while time < times[-1]:
        own.append(time)
        time += BETWEEN_BLINKS[0] / amount * float(np.exp(BETWEEN_BLINKS[1] * rng.standard_normal()))
    blink, last = np.zeros(len(times)), -1.0
    for start in sorted([*with_jumps, *own]):
        over = start + FALLING + SHUT + RISING
        if start < last + 0.3 or over > times[-1] or any(start < b and over > a for a, b in open_eyed):
            continue
        shut = _ease((times - start) / FALLING) * (1.0 - _ease((times - start - FALLING - SHUT) / RISING))
        blink, last = np.maximum(blink, shut), over
    return blink


def _eased(knots: Array, values: Array, times: Array) -> Array:
    """(F, n) from value to value (K, n), slow at both."""
    at = np.searchsorted(knots, times, side="right").clip(1, len(knots) - 1)
    share = _ease((times - knots[at - 1]) / np.maximum(knots[at] - knots[at - 1], 1e-9))[:, None]
    eased: Array = (1.0 - share) * values[at - 1] + share * values[at]
    return eased


def _ease(x: Array) -> Array:
    """From 0 to 1 with the least jerk."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (10.0 - x * (15.0 - 6.0 * x))
