"""Examples that several tests of deformers share."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform.tubes import tube

from understudy.deform.examples import Examples


@pytest.fixture(scope="session")
def bending() -> Examples:
    """A tube in twelve poses, with weights."""
    return tube(np.linspace(0, 1.8, 12), np.linspace(0, 1.2, 12))
