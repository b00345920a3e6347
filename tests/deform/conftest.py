"""Every law of the deformers is tested on the compiled kernels and on their NumPy twins."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["compiled", "numpy"])
def way(request, monkeypatch):
    if request.param == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setenv("UNDERSTUDY_NUMBA", "1" if request.param == "compiled" else "0")
    return request.param
