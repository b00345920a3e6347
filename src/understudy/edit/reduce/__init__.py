"""Reduce a dense animation to the fewest keys with free tangents, the opposite of baking."""

from __future__ import annotations

from understudy.edit.reduce.reduction import reduce_keys
from understudy.edit.reduce.source import ReducedCurves

__all__ = ["ReducedCurves", "reduce_keys"]
