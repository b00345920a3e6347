"""Expression: from labelled takes of a face to small region graphs, and from labels to new facial animation."""

from __future__ import annotations

from understudy.express.regions import regions_of
from understudy.express.sequence import ExpressionSequence

__all__ = ["ExpressionSequence", "regions_of"]
