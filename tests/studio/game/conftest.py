"""One learned lamp for all tests of the game."""

from __future__ import annotations

import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.opening import Opened


@pytest.fixture(scope="session")
def lamp() -> Opened:
    return Opened("lamp.understudy", lamp_model(), lamp_rig())
