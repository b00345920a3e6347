"""All of the preparation in one call: takes as they were recorded in, takes that a graph can be built of out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from understudy import checks
from understudy.errors import InvalidInput
from understudy.expression.preparing import jitter as jittering
from understudy.expression.preparing.onsets import smoothed
from understudy.expression.preparing.procrustes import alignment_groups, likened, steadied
from understudy.expression.preparing.reduction import reduced
from understudy.expression.preparing.reversing import NEUTRAL, returned
from understudy.expression.sequence import Sequence as Take
from understudy.expression.sequence import alike, farthest_frame
from understudy.maths import resample


def prepared(
    sequences: Iterable[Take],
    *,
    rate: float | None = None,
    steady: bool = True,
    anchors: Sequence[str] | None = None,
    liken: bool = True,
    regions: Mapping[str, Sequence[str]] | None = None,
    jitter: float = jittering.WINDOW,
    sigmoid: float | None = None,
    returning: bool = True,
    neutral: float = NEUTRAL,
    landmarks: int | str | Sequence[str] | None = None,
) -> list[Take]:
    """The sequences at one rate, aligned, cleaned and come back to neutral; their `notes` say what was changed.

    `rate` is that of most of them unless given. `steady` removes the head by the `anchors`, `liken` the person's
    proportions by `regions`, `jitter` what trembles within so many seconds (0: nothing), `sigmoid` what is not a smooth
    way (0: nothing, 1: all, None: by each curve's own nature), `returning` appends the way back where it is missing.
    `landmarks` reduces them: "reduced" for the usual 33 of 68, a number, or names. Weights (D = 1) are not aligned.
    """
    takes = alike(at_one_rate(sequences, rate))
    if steady:
        takes = [_with_peak(steadied(take, anchors)) for take in takes]
    if liken and takes[0].dimensions > 1:
        takes = likened(takes, alignment_groups(takes[0].names, regions))
    takes = [jittering.filtered(take, jitter) for take in takes] if jitter != 0 else takes
    takes = [smoothed(take, sigmoid) for take in takes]
    if returning:
        takes = [returned(take, neutral) for take in takes]
    if isinstance(landmarks, str):
        checks.one_of(landmarks, "set of landmarks", ("reduced",))
        return reduced(takes)
    return takes if landmarks is None else reduced(takes, landmarks)


def _with_peak(take: Take) -> Take:
    """The take with the peak that nobody named found again, now that the head no longer moves."""
    what = f"sequence {take.name!r}, without its head's movement,"
    return take.changed(peak=farthest_frame(take.points, what)) if take.guessed else take


def at_one_rate(sequences: Iterable[Take], rate: float | None = None) -> list[Take]:
    """The sequences at `rate` frames a second, or at that of most of them; what changes is noted."""
    takes = list(sequences)
    if not takes:
        raise InvalidInput("there should be at least one sequence, but there is none")
    if rate is None:
        rate = Counter(take.rate for take in takes).most_common(1)[0][0]
    rate = checks.positive(rate, "rate")
    return [take if abs(take.rate - rate) <= 1e-6 * rate else _resampled(take, rate) for take in takes]


def _resampled(take: Take, rate: float) -> Take:
    table = take.points.reshape(len(take), -1)
    values = resample.resample(table, take.rate, rate, "monotone", low_pass=rate < take.rate)
    if len(values) < 2:
        raise InvalidInput(
            f"sequence {take.name!r} lasts {(len(take) - 1) / take.rate:g} s, less than a frame at {rate:g} fps"
        )
    peak = int(np.clip(round(take.peak * rate / take.rate), 1, len(values) - 1))
    note = f"sequence {take.name!r} was brought from {take.rate:g} to {rate:g} frames a second"
    points = values.reshape(len(values), *take.points.shape[1:])
    return take.changed(points=points, rate=rate, peak=peak, notes=(*take.notes, note))
