"""Expression: from labelled takes of a face to small graphs of its regions, and from labels to new animation."""

from __future__ import annotations

from understudy.express.sequence import ExpressionSequence, regions_of

__all__ = ["ExpressionSequence", "regions_of"]
