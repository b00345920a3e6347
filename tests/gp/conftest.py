"""Small matrices are for one BLAS thread: two of them wait for each other, most of all while other tests run."""

from __future__ import annotations

import pytest

from understudy.maths.jit import one_blas_thread


@pytest.fixture
def single():
    with one_blas_thread():
        yield
