"""Rig: the contract between controls and vertices."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from understudy.character import Channels
from understudy.checks import Array


@runtime_checkable
class Rig(Protocol):
    """Anything with channels and vertices. A pose is a row (C,); a rig maps rows to vertices, continuously."""

    @property
    def channels(self) -> Channels:
        """The meaning of the columns."""

    @property
    def rest(self) -> Array:
        """(C,) the row of the rest pose."""

    def vertices(self, values: Array) -> Array:
        """(F, V, 3) float32 vertices in the world for (F, C) rows."""
