"""One learned lamp, and one performer of it, for all tests of the perform mode."""

from __future__ import annotations

import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.live.performer import Performer
from understudy.opening import Opened
from understudy.studio.perform.live_source import RATE, LiveSource


@pytest.fixture(scope="session")
def lamp() -> Opened:
    return Opened("lamp.understudy", lamp_model(), lamp_rig())


@pytest.fixture(scope="session")
def lamp_performer(lamp: Opened) -> Performer:
    return lamp.performer(RATE)


@pytest.fixture
def source(lamp: Opened, lamp_performer: Performer) -> LiveSource:
    return LiveSource(lamp, seed=2, performer=lamp_performer)
