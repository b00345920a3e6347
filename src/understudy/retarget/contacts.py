"""Contact phases: when each contact point stands on the floor.

Found by height and speed with hysteresis: a point comes down when it is low and slow, and leaves when it is clearly
higher or faster than that. People may edit them: they are read and written as spans of seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from understudy import checks
from understudy.checks import Array


@dataclass(frozen=True, eq=False)
class Phases:
    """Which contact points are down in which frame."""

    names: tuple[str, ...]  # (K,)
    down: Array  # (F, K) bool

    def __init__(self, names: Iterable[str], down: Any) -> None:
        names = checks.unique_names(names, "contact points")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "down", checks.array(down, "contact phases", ("F", len(names)), bool))

    def __len__(self) -> int:
        return len(self.down)

    def __repr__(self) -> str:
        return f"Phases({len(self)} frames, {len(self.names)} contacts)"
