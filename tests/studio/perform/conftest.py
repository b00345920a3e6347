"""One learned lamp for all tests of the perform mode."""

from __future__ import annotations

import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.opening import Opened
from understudy.studio.perform.live_source import LiveSource


@pytest.fixture(scope="session")
def lamp() -> Opened:
    return Opened("lamp.understudy", lamp_model(), lamp_rig())


@pytest.fixture
def source(lamp: Opened) -> LiveSource:
    return LiveSource(lamp, seed=2)
