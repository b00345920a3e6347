"""Onset and offset drawn along sigmoids: the way to the peak and the way back, each smooth, each with its own timing.

The displacement of every coordinate from neutral to peak is fitted with one sigmoid [Serra 2018, eqs. 1 and 2]; where
the way back was recorded it has one of its own, played from its end. They meet halfway between their ends at the peak.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.preparing.sigmoid import fitted
from understudy.expression.sequence import Sequence

LEAST, MOST = 0.9, 0.99  # of a curve's variation that its sigmoid explains: from none of it taken to all
FEWEST = 4  # frames: a sigmoid has three parameters, and fewer would be met exactly


def smoothed(sequence: Sequence, share: float | None = None) -> Sequence:
    """The sequence with its curves moved towards their sigmoids by `share`: 0 leaves them, 1 is [Serra 2018].

    Without `share` each curve takes as much as it is a sigmoid: nothing where the fit explains 90 % of its variation,
    all from 99 % on. What rises and comes to rest is cleaned; what hesitates, holds or overshoots keeps its character.
    """
    if share is not None and not 0 <= share <= 1:
        raise InvalidInput(f"the share of the sigmoids should lie between 0 and 1, but is {share}")
    if share == 0:
        return sequence
    curves = sequence.points.reshape(len(sequence), -1).T  # (L D, F)
    onset = _drawn(curves[:, : sequence.peak + 1], share)
    if sequence.peak < len(sequence) - 1:
        offset = _drawn(curves[:, : sequence.peak - 1 : -1], share)[:, ::-1]
        gap = 0.5 * (offset[:, :1] - onset[:, -1:])
        onset = onset + gap * np.linspace(0, 1, onset.shape[1])
        offset = offset - gap * np.linspace(1, 0, offset.shape[1])
        onset = np.concatenate([onset, offset[:, 1:]], axis=1)
    return sequence.changed(points=onset.T.reshape(sequence.points.shape))


def _drawn(curves: Array, share: float | None) -> Array:
    """(M, F) curves from rest to peak, moved towards their sigmoids."""
    if curves.shape[1] < FEWEST:
        return np.array(curves)
    way = curves - curves[:, :1]
    _, values = fitted(way)
    values = values + (way - values).mean(axis=1, keepdims=True)  # the first frame is rest and noise, not rest alone
    part: Array | float
    if share is None:
        variation = ((way - way.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        left = ((way - values) ** 2).sum(axis=1)
        explained = np.where(variation > 0, 1 - left / np.where(variation > 0, variation, 1), 0.0)
        part = np.clip((explained - LEAST) / (MOST - LEAST), 0, 1)[:, None]
    else:
        part = share
    return curves + part * (values - way)
