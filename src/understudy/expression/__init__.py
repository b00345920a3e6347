"""Expression: from labelled takes of a face to small region graphs, and from labels to new facial animation."""

from understudy.expression.regions import regions_of
from understudy.expression.sequence import Sequence

__all__ = ["Sequence", "regions_of"]
