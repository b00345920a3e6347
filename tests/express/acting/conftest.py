"""One small graph for all tests of acting."""

from __future__ import annotations

import pytest
from tests.express.acting import small

from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.sequence import ExpressionSequence


@pytest.fixture(scope="session")
def takes() -> list[ExpressionSequence]:
    return small.takes()


@pytest.fixture(scope="session")
def graph(takes: list[ExpressionSequence]) -> ExpressionGraph:
    return small.base_graph(takes)


@pytest.fixture(scope="session")
def merged() -> ExpressionGraph:
    """A graph of the 68 landmarks with merged nodes, as acting meets it."""
    from tests.express.graph import made_takes

    from understudy.express.graph.graph_builder import build

    found = made_takes.takes(people=4, labels=("fear", "happiness", "surprise"))
    return build(found, compression=0.6, tolerance=0.2, merge_compression=0.6, merge_tolerance=0.3)
