"""Preprocessing: recorded takes in, takes that a graph can be built of out.

`preprocess` brings takes to one rate, aligns them, removes jitter, smooths their onsets, appends the return to neutral
and keeps as few landmarks as are needed.

Onsets. The displacement of every coordinate from neutral to peak is fitted with one sigmoid [Serra 2018, eqs. 1 and 2];
where the return was recorded it has its own sigmoid, played from its end. The two curves meet halfway between their
ends at the peak.

Return. Where a take stops at its peak, its onset played backwards is appended: without it every peak is a dead end of
the graph. It is an invention, since faces relax differently from how they tense, and is noted as such.

Sigmoids are fitted to thousands of curves at once: how a landmark leaves one position and comes to rest in another.

    g(x) = b_1 / (1 + exp(-b_2 (x - b_3)))                 [Serra 2018, eq. 1]
    min over b of  sum_i (y_i - g(x_i))^2                  [Serra 2018, eq. 2, with y_i where the print repeats x_i]

x is the number of the frame, y the displacement; b_1 is where the curve comes to rest, b_2 how steep it is (per frame),
b_3 the frame of the middle. A negative b_2 is a curve that starts at b_1 and comes to rest at 0.

For given b_2 and b_3, s = g / b_1 is known and so is the best b_1 = y's / s's, which leaves |y|^2 - (y's)^2 / s's.
Levenberg-Marquardt finds the nearest minimum only, so each curve starts from the sigmoid of a table that leaves the
least. Each step ends with that b_1 too, which makes steps few: the valleys of eq. 2 lie along b_1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
from understudy.maths import jit, resample
from understudy.maths.resample import smoothstep

# Share of a curve's variation that its sigmoid explains: from the first on some is blended in, from the second on all.
NO_BLEND_R2, FULL_BLEND_R2 = 0.9, 0.99
MIN_ONSET_FRAMES = 4  # frames; a sigmoid has three parameters and would pass through fewer exactly

# Of the take's highest speed: the fastest that a difference fades. A smooth fade peaks at 1.5 times its mean speed.
MAX_FADE_SPEED_RATIO = 0.5
NEUTRAL_DISTANCE_RATIO = 0.05  # of the peak's distance from the first pose: an end nearer than this is neutral

SIGMOID_KERNELS = "understudy.express.sigmoid_kernels"
MAX_STEEPNESS_PER_FRAME = 4.0  # |b_2|: 96 % of the rise within two frames; samples cannot tell a steeper one from it
TABLE_MIDDLES, TABLE_STEEPNESSES = 8, 5  # size of the table: neighbours in it share a minimum

# Of the length: how far outside of it the middle may lie; farther out, b_1 and b_3 cannot be told apart.
MAX_MIDDLE_OVERSHOOT_RATIO = 0.5
MAX_LEVENBERG_STEPS = 40  # most curves need 3 to 6
CONVERGENCE_COST_RATIO = 1e-5  # of the cost: a step that reduces it by less is the last
EXACT_COST_RATIO = 1e-14  # of |y|^2: a cost below it is zero
MIN_SIGMOID_ENERGY = 1e-12  # of s's: below it the sigmoid has not begun and its b_1 is undetermined
CURVES_PER_BLOCK = 8192  # curves at a time, so that the products with the table stay below 5 MB


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


def fit_sigmoids(curves: Any) -> tuple[Array, Array]:
    """(M, 3) b_1, b_2, b_3 of the sigmoid nearest to each of the curves (M, F), and (M, F) its values.

    A curve that is zero throughout has b_1 = 0. A constant other than zero has no middle: it gets the nearest sigmoid
    whose middle lies half a length outside.
    """
    curves = checks.array(curves, "curves", ("M", "F"))
    if curves.shape[1] < 2:
        raise InvalidInput(f"a curve should have at least two frames, but has {curves.shape[1]}")
    parameters = np.empty((len(curves), 3))
    values = np.empty(curves.shape)
    kernels = jit.kernels(SIGMOID_KERNELS)
    table, bounds = _sigmoid_table(curves.shape[1]), parameter_limits(curves.shape[1])
    for first in range(0, len(curves), CURVES_PER_BLOCK):
        block = slice(first, first + CURVES_PER_BLOCK)
        kernels.fit(
            curves[block],
            *table,
            *bounds,
            MAX_LEVENBERG_STEPS,
            CONVERGENCE_COST_RATIO,
            EXACT_COST_RATIO,
            MIN_SIGMOID_ENERGY,
            parameters[block],
            values[block],
        )
    return parameters, values


def sigmoids(parameters: Array, frames: int) -> Array:
    """(M, F) the values at frames 0 to F - 1 of sigmoids (M, 3)."""
    b_1, b_2, b_3 = (parameters[:, i, None] for i in range(3))
    # tanh neither overflows nor loses the small end: 1 / (1 + e^-z) = (1 + tanh(z / 2)) / 2
    return b_1 * (0.5 + 0.5 * np.tanh(0.5 * b_2 * (np.arange(frames) - b_3)))


def parameter_limits(frames: int) -> tuple[float, float, float, float]:
    """Lowest and highest |b_2|, lowest and highest b_3 for curves of that length."""
    span = frames - 1
    return (
        min(1.0 / span, MAX_STEEPNESS_PER_FRAME),
        MAX_STEEPNESS_PER_FRAME,
        -MAX_MIDDLE_OVERSHOOT_RATIO * span,
        (1 + MAX_MIDDLE_OVERSHOOT_RATIO) * span,
    )


def _sigmoid_table(frames: int) -> tuple[Array, Array, Array]:
    """(N, 2) b_2 and b_3 of sigmoids to start from, (N, F) their values s for b_1 = 1, and (N,) s's."""
    flattest, steepest, _, _ = parameter_limits(frames)
    steepnesses = np.geomspace(min(2 * flattest, steepest), steepest, TABLE_STEEPNESSES)
    b_2, b_3 = (grid.ravel() for grid in np.meshgrid(steepnesses, np.linspace(0, frames - 1, TABLE_MIDDLES)))
    pairs = np.stack([np.concatenate([b_2, -b_2]), np.concatenate([b_3, b_3])], axis=1)
    table = sigmoids(np.concatenate([np.ones((len(pairs), 1)), pairs], axis=1), frames)
    return pairs, table, np.einsum("nf,nf->n", table, table)
