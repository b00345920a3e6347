from __future__ import annotations

import numpy as np
import pytest

from understudy.maths import scalar_kernels


@pytest.fixture
def exp():
    return np.vectorize(scalar_kernels.scalar_exp, otypes=[float])


def test_it_is_exp_to_the_last_place(exp):
    x = np.concatenate([np.linspace(-690, 690, 4001), np.linspace(-1, 1, 1001)])
    assert np.abs(exp(x) / np.exp(x) - 1).max() < 4e-16


def test_the_ends(exp):
    assert exp(0.0) == 1.0
    assert 0.0 < exp(-1e9) < 1e-300
    assert np.isnan(exp.pyfunc(np.nan))
