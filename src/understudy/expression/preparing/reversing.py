"""The way back to neutral, where it was not recorded: the onset played backwards.

Without it every peak is a dead end of the graph. It is an invention, since faces relax differently from how they tense,
and is noted as such.
"""

from __future__ import annotations

import numpy as np

from understudy.errors import InvalidInput
from understudy.expression.sequence import Sequence

EASE = 0.5  # of the highest speed, at which a difference fades at most; a smooth fade is 1.5 times its mean speed
NEUTRAL = 0.05  # of the peak's distance: an end nearer to the first pose than this has come back


def returned(sequence: Sequence, neutral: float = NEUTRAL) -> Sequence:
    """The sequence as it is where it ends near neutral; else with its onset appended backwards, from the frame of the
    onset that is nearest to the last pose. What differs between the two fades on the way, slowly enough that it adds no
    more than half of the sequence's own highest speed.
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
    frames = max(nearest, int(np.ceil(1.5 * np.linalg.norm(gap, axis=1).sum() / (EASE * fastest))))
    left = np.linspace(1, 0, frames + 1)[1:]  # of the way back
    place = left * nearest
    below = np.minimum(place.astype(int), nearest - 1)
    part = (place - below)[:, None, None]
    way = (1 - part) * onset[below] + part * onset[below + 1]
    back = way + (left * left * (3 - 2 * left))[:, None, None] * gap
    where = "at its peak" if sequence.peak >= len(points) - 2 else "before it is neutral again"
    note = f"sequence {sequence.name!r} ends {where}: its onset, reversed, was appended ({frames} frames)"
    return sequence.changed(points=np.concatenate([points, back]), notes=(*sequence.notes, note))
