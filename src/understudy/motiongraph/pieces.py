"""A walk as pieces: stretches of clips, and the blends between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array


@dataclass(frozen=True, slots=True)
class Piece:
    """Frames `start` to `stop` (not included) of a clip; in a blend, faded into those of `onto` from `onto_start`."""

    clip: int
    start: int
    stop: int
    onto: int | None = None
    onto_start: int = 0

    def __len__(self) -> int:
        return self.stop - self.start


def pieces_of(visited: Sequence[int], starts: Array, window: int) -> list[Piece]:
    """Pieces for the frames of a walk, counted through all clips whose first frames are `starts`.

    Where a frame is not followed by the next of its clip, a transition was taken: it blends the `window` frames after
    the one left with the `window` frames up to the one entered, which is thereby played.
    """
    clip = np.searchsorted(starts, visited, side="right") - 1
    local = np.asarray(visited) - starts[clip]
    jumps = [n for n in range(1, len(visited)) if clip[n] != clip[n - 1] or local[n] != local[n - 1] + 1]
    pieces: list[Piece] = []
    begin = int(local[0])
    for n in jumps:
        left, entered = int(local[n - 1]), int(local[n])
        if left >= begin:
            pieces.append(Piece(int(clip[n - 1]), begin, left + 1))
        pieces.append(Piece(int(clip[n - 1]), left + 1, left + 1 + window, int(clip[n]), entered - window + 1))
        begin = entered + 1
    if local[-1] >= begin:
        pieces.append(Piece(int(clip[-1]), begin, int(local[-1]) + 1))
    return pieces


def seams_of(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """(first frame, frame after the last) of each blend in the motion that the pieces make."""
    ends = np.cumsum([len(piece) for piece in pieces])
    return [(int(end) - len(piece), int(end)) for piece, end in zip(pieces, ends) if piece.onto is not None]
