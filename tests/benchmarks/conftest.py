"""The small graph on which the measures of acting are tested."""

from tests.express.acting.conftest import graph, merged, takes

__all__ = ["graph", "merged", "takes"]
