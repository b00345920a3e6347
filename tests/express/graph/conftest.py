"""The labelled sequences that the tests of coupling share with the tests of acting."""

from __future__ import annotations

import pytest
from tests.express.acting import small

from understudy.express.sequence import ExpressionSequence


@pytest.fixture(scope="session")
def takes() -> list[ExpressionSequence]:
    return small.takes()
