"""One learned lamp, and one performer of it, for all tests of the perform mode."""

from __future__ import annotations

import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.perform.pose_model import ModelWithCharacter
from understudy.perform.runtime.performer import Performer
from understudy.studio.perform.live_source import LIVE_RATE_HZ, LiveSource


@pytest.fixture(scope="session")
def lamp() -> ModelWithCharacter:
    return ModelWithCharacter("lamp.understudy", lamp_model(), lamp_rig())


@pytest.fixture(scope="session")
def lamp_performer(lamp: ModelWithCharacter) -> Performer:
    return lamp.performer(LIVE_RATE_HZ)


@pytest.fixture
def source(lamp: ModelWithCharacter, lamp_performer: Performer) -> LiveSource:
    return LiveSource(lamp, seed=2, performer=lamp_performer)
