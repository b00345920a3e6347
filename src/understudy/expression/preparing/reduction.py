"""Fewer landmarks: those that tell an expression, the rest being near enough to follow from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy import checks
from understudy.errors import InvalidInput
from understudy.expression.sequence import Sequence as Take
from understudy.expression.sequence import alike

# Of the 68, in mirrored pairs: ends and middles of brows, corners and lids of eyes, tip and wings of the nose, the
# outline of the lips with the middles of their inner edges, and jaw and chin.
REDUCED = tuple(
    f"lm{number:02d}"
    for number in (
        *(2, 5, 8, 11, 14),
        *(17, 19, 21, 22, 24, 26),
        *(30, 31, 33, 35),
        *(36, 37, 39, 41, 42, 44, 45, 46),
        *(48, 50, 51, 52, 54, 56, 57, 58, 62, 66),
    )
)


def reduced(sequences: Sequence[Take], kept: int | Sequence[str] | None = None) -> list[Take]:
    """The sequences with the named landmarks only, with a number of them that `most_telling` chooses, or without
    either with those of `REDUCED` that there are.
    """
    sequences = alike(sequences)
    names = sequences[0].names
    if isinstance(kept, int):
        kept = most_telling(sequences, kept)
    elif kept is None:
        kept = [name for name in REDUCED if name in names]
        if not kept:
            raise InvalidInput(
                "the sequences have no landmarks from 'lm00' to 'lm67': say which ones, or how many, to keep"
            )
    for name in kept:
        checks.one_of(name, "landmark", names)
    wanted = set(checks.unique_names(kept, "landmarks to keep"))
    rows = [row for row, name in enumerate(names) if name in wanted]
    if not rows:
        raise InvalidInput("at least one landmark should be kept, but none is named")
    return [
        sequence.changed(points=sequence.points[:, rows], names=[names[row] for row in rows]) for sequence in sequences
    ]


def most_telling(sequences: Sequence[Take], count: int) -> list[str]:
    """The names of `count` landmarks from whose displacements the others follow best by a linear map.

    One after the other, the landmark that leaves the least of the variation of all unexplained: pivoted Cholesky of
    the covariance between landmarks, C = sum over frames and axes of d d', with the best pivot for the whole.
    """
    sequences = alike(sequences)
    names = sequences[0].names
    if not 1 <= count <= len(names):
        raise InvalidInput(f"the number of landmarks to keep should lie between 1 and {len(names)}, but is {count}")
    moves = np.concatenate(
        [sequence.displacements.transpose(0, 2, 1).reshape(-1, len(names)) for sequence in sequences]
    )
    left = moves.T @ moves  # (L, L) covariance that is not explained yet
    floor = 1e-12 * max(float(np.trace(left)), 1e-300)
    chosen: list[int] = []
    for _ in range(count):
        own = np.diag(left)
        explained = np.where(own > floor, (left**2).sum(axis=0) / np.maximum(own, floor), 0.0)
        explained[chosen] = -1
        best = int(np.argmax(explained))
        chosen.append(best)
        if own[best] > floor:
            left = left - np.outer(left[best], left[best]) / own[best]
    return [names[row] for row in sorted(chosen)]
