"""What a motion graph can get to, in shares: KGP02's two warnings as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reach:
    """Shares from 0 to 1; `missing` names the ordered pairs of labels without a way."""

    labels: float  # of ordered pairs of labels: from some kept frame of the first, a way to the second
    moments: float  # of frames and other labels: from this very frame, pruned or not, a way to that label
    frames: float  # of all frames: kept after pruning
    label_frames: Mapping[str, float]  # of each label's frames: kept
    transitions: int
    missing: tuple[tuple[str, str], ...]
