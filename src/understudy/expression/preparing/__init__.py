"""Preparing takes of a face for a graph: aligned, cleaned, come back to neutral, and as few landmarks as are needed."""

from understudy.expression.preparing.pipeline import prepared

__all__ = ["prepared"]
