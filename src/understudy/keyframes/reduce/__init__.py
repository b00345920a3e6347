"""Reduce: a dense animation to the fewest keys with free tangents, the opposite of baking."""

from understudy.keyframes.reduce.reducing import reduce
from understudy.keyframes.reduce.result import Reduced

__all__ = ["Reduced", "reduce"]
