"""Expression: from labelled takes of a face to small graphs of its regions, and from labels to new animation."""

from __future__ import annotations

from understudy.express.regions import regions_of
from understudy.express.sequence import ExpressionSequence

__all__ = ["ExpressionSequence", "regions_of"]
