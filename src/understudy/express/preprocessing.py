"""Preprocessing: recorded takes in, takes that a graph can be built of out.

`preprocess` brings takes to one rate, aligns them, removes jitter, smooths their onsets, appends the return to neutral
and keeps as few landmarks as are needed.

Onsets. The displacement of every coordinate from neutral to peak is fitted with one sigmoid [Serra 2018, eqs. 1 and 2];
where the return was recorded it has its own sigmoid, played from its end. The two curves meet halfway between their
ends at the peak.

Return. Where a take stops at its peak, its onset played backwards is appended: without it every peak is a dead end of
the graph. It is an invention, since faces relax differently from how they tense, and is noted as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.landmark_filters import (
    SMOOTHING_SECONDS,
    alignment_groups,
    filter_jitter,
    match_proportions,
    reduce_landmarks,
    remove_head_motion,
)
from understudy.express.sequence import ExpressionSequence, check_alike, farthest_frame
from understudy.express.sigmoid import fit_sigmoids
from understudy.maths import resample
from understudy.maths.resample import smoothstep

# Share of a curve's variation that its sigmoid explains: from the first on some is blended in, from the second on all.
NO_BLEND_R2, FULL_BLEND_R2 = 0.9, 0.99
MIN_ONSET_FRAMES = 4  # frames; a sigmoid has three parameters and would pass through fewer exactly

# Of the take's highest speed: the fastest that a difference fades. A smooth fade peaks at 1.5 times its mean speed.
MAX_FADE_SPEED_RATIO = 0.5
NEUTRAL_DISTANCE_RATIO = 0.05  # of the peak's distance from the first pose: an end nearer than this is neutral


def preprocess(
    sequences: Iterable[ExpressionSequence],
    *,
    rate: float | None = None,
    steady: bool = True,
    anchors: Sequence[str] | None = None,
    liken: bool = True,
    regions: Mapping[str, Sequence[str]] | None = None,
    jitter: float = SMOOTHING_SECONDS,
    sigmoid: float | None = None,
    returning: bool = True,
    neutral: float = NEUTRAL_DISTANCE_RATIO,
    landmarks: int | str | Sequence[str] | None = None,
) -> list[ExpressionSequence]:
    """The sequences at one rate, aligned, cleaned and returned to neutral; their `notes` say what was changed.

    `rate` (frames a second) is by default that of most of them. `steady` removes the head's motion by the `anchors`,
    `liken` the person's proportions by `regions`. `jitter` is the smoothing window in seconds (0: none), `sigmoid` the
    share of `smooth_onsets` (0: none, 1: all, None: by each curve's fit). `returning` appends the return to neutral
    where it is missing; an end within `neutral` of the peak's distance counts as returned. `landmarks` reduces them:
    "reduced" for the usual 33 of 68, a number, or names. Weights (D = 1) are not aligned.
    """
    takes = check_alike(resample_to_one_rate(sequences, rate))
    if steady:
        takes = [_find_peak_again(remove_head_motion(take, anchors)) for take in takes]
    if liken and takes[0].dimensions > 1:
        takes = match_proportions(takes, alignment_groups(takes[0].names, regions))
    takes = [filter_jitter(take, jitter) for take in takes] if jitter != 0 else takes
    takes = [smooth_onsets(take, sigmoid) for take in takes]
    if returning:
        takes = [append_return(take, neutral) for take in takes]
    if isinstance(landmarks, str):
        checks.one_of(landmarks, "set of landmarks", ("reduced",))
        return reduce_landmarks(takes)
    return takes if landmarks is None else reduce_landmarks(takes, landmarks)


def _find_peak_again(take: ExpressionSequence) -> ExpressionSequence:
    """The take with its peak found again without the head's motion, where the peak was not given."""
    what = f"sequence {take.name!r}, without its head's movement,"
    return take.with_fields(peak=farthest_frame(take.points, what)) if take.guessed else take


def resample_to_one_rate(
    sequences: Iterable[ExpressionSequence], rate: float | None = None
) -> list[ExpressionSequence]:
    """The sequences at `rate` frames a second, by default that of most of them; changes are noted."""
    takes = list(sequences)
    if not takes:
        raise InvalidInput("there should be at least one sequence, but there is none")
    if rate is None:
        rate = Counter(take.rate for take in takes).most_common(1)[0][0]
    rate = checks.positive(rate, "rate")
    return [take if abs(take.rate - rate) <= 1e-6 * rate else _resample_take(take, rate) for take in takes]


def _resample_take(take: ExpressionSequence, rate: float) -> ExpressionSequence:
    table = take.points.reshape(len(take), -1)
    values = resample.resample(table, take.rate, rate, "monotone", low_pass=rate < take.rate)
    if len(values) < 2:
        raise InvalidInput(
            f"sequence {take.name!r} lasts {(len(take) - 1) / take.rate:g} s, less than a frame at {rate:g} fps"
        )
    peak = int(np.clip(round(take.peak * rate / take.rate), 1, len(values) - 1))
    note = f"sequence {take.name!r} was brought from {take.rate:g} to {rate:g} frames a second"
    points = values.reshape(len(values), *take.points.shape[1:])
    return take.with_fields(points=points, rate=rate, peak=peak, notes=(*take.notes, note))


def smooth_onsets(sequence: ExpressionSequence, share: float | None = None) -> ExpressionSequence:
    """The sequence with its curves moved towards their sigmoids by `share`: 0 leaves them, 1 is [Serra 2018].

    Without `share` it depends on the fit: 0 where the sigmoid explains 90 % of a curve's variation, 1 from 99 % on.
    Curves that rise and come to rest are cleaned; those that hesitate, hold or overshoot keep their character.
    """
    if share is not None and not 0 <= share <= 1:
        raise InvalidInput(f"the share of the sigmoids should lie between 0 and 1, but is {share}")
    if share == 0:
        return sequence
    curves = sequence.points.reshape(len(sequence), -1).T  # (L D, F)
    onset = _blend_towards_sigmoids(curves[:, : sequence.peak + 1], share)
    if sequence.peak < len(sequence) - 1:
        offset = _blend_towards_sigmoids(curves[:, : sequence.peak - 1 : -1], share)[:, ::-1]
        gap = 0.5 * (offset[:, :1] - onset[:, -1:])
        onset = onset + gap * np.linspace(0, 1, onset.shape[1])
        offset = offset - gap * np.linspace(1, 0, offset.shape[1])
        onset = np.concatenate([onset, offset[:, 1:]], axis=1)
    return sequence.with_fields(points=onset.T.reshape(sequence.points.shape))


def _blend_towards_sigmoids(curves: Array, share: float | None) -> Array:
    """(M, F) curves from rest to peak, moved towards their sigmoids."""
    if curves.shape[1] < MIN_ONSET_FRAMES:
        return np.array(curves)
    moved = curves - curves[:, :1]
    _, values = fit_sigmoids(moved)
    values = values + (moved - values).mean(axis=1, keepdims=True)  # the first frame is rest and noise, not rest alone
    part: Array | float
    if share is None:
        variation = ((moved - moved.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        left = ((moved - values) ** 2).sum(axis=1)
        explained = np.where(variation > 0, 1 - left / np.where(variation > 0, variation, 1), 0.0)
        part = np.clip((explained - NO_BLEND_R2) / (FULL_BLEND_R2 - NO_BLEND_R2), 0, 1)[:, None]
    else:
        part = share
    return curves + part * (values - moved)


def append_return(sequence: ExpressionSequence, neutral: float = NEUTRAL_DISTANCE_RATIO) -> ExpressionSequence:
    """The sequence as it is where it ends near neutral; else with its onset appended backwards.

    The copy starts at the frame of the onset that is nearest to the last pose. The difference between the two fades,
    slowly enough that it adds no more than half of the sequence's own highest speed. `neutral` is the distance from
    the first pose that counts as neutral, as a share of the peak's.
    """
    if not 0 < neutral < 1:
        raise InvalidInput(f"the distance that counts as neutral should lie between 0 and 1, but is {neutral}")
    points = sequence.points
    away = np.linalg.norm(sequence.displacements, axis=2).sum(axis=1)  # (F,)
    if away[-1] <= neutral * away[: sequence.peak + 1].max():
        return sequence
    onset = points[: sequence.peak + 1]
    nearest = max(int(np.argmin(np.linalg.norm(onset - points[-1], axis=2).sum(axis=1))), 1)
    fastest = np.linalg.norm(np.diff(points, axis=0), axis=2).sum(axis=1).max()
    gap = points[-1] - onset[nearest]
    frames = max(nearest, int(np.ceil(1.5 * np.linalg.norm(gap, axis=1).sum() / (MAX_FADE_SPEED_RATIO * fastest))))
    left = np.linspace(1, 0, frames + 1)[1:]  # share of the return that is still ahead
    position = left * nearest
    below = np.minimum(position.astype(int), nearest - 1)
    part = (position - below)[:, None, None]
    reverse = (1 - part) * onset[below] + part * onset[below + 1]
    back = reverse + smoothstep(0.0, 1.0, left)[:, None, None] * gap
    where = "at its peak" if sequence.peak >= len(points) - 2 else "before it is neutral again"
    note = f"sequence {sequence.name!r} ends {where}: its onset, reversed, was appended ({frames} frames)"
    return sequence.with_fields(points=np.concatenate([points, back]), notes=(*sequence.notes, note))
