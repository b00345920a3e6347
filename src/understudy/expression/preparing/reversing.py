"""The way back to neutral, where it was not recorded: the onset played backwards.

Without it every peak is a dead end of the graph. It is an invention, since faces relax differently from how they tense,
and is noted as such.
"""

from __future__ import annotations

import numpy as np

from understudy.errors import InvalidInput
from understudy.expression.sequence import Sequence

NEUTRAL = 0.05  # of the peak's distance: an end nearer to the first pose than this has come back


def returned(sequence: Sequence, neutral: float = NEUTRAL) -> Sequence:
    """The sequence as it is where it ends near neutral; else with its onset appended backwards, from the frame of the
    onset that is nearest to the last pose. What differs between the two fades on the way.
    """
    if not 0 < neutral < 1:
        raise InvalidInput(f"the distance that counts as neutral should lie between 0 and 1, but is {neutral}")
    points = sequence.points
    away = np.linalg.norm(sequence.displacements, axis=2).sum(axis=1)  # (F,)
    if away[-1] <= neutral * away[: sequence.peak + 1].max():
        return sequence
    onset = points[: sequence.peak + 1]
    nearest = max(int(np.argmin(np.linalg.norm(onset - points[-1], axis=2).sum(axis=1))), 1)
    way = onset[nearest - 1 :: -1] if nearest else onset[:1]
    gap = points[-1] - onset[nearest]
    fade = np.linspace(1, 0, len(way) + 1)[1:]
    back = way + fade[:, None, None] * gap
    where = "at its peak" if sequence.peak >= len(points) - 2 else "before it is neutral again"
    note = f"sequence {sequence.name!r} ends {where}: {len(back)} frames of its onset, reversed, were appended"
    return sequence.changed(points=np.concatenate([points, back]), notes=(*sequence.notes, note))
