"""One learned lamp for all tests of the game."""

from __future__ import annotations

import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.perform.pose_model import ModelWithCharacter


@pytest.fixture(scope="session")
def lamp() -> ModelWithCharacter:
    return ModelWithCharacter("lamp.understudy", lamp_model(), lamp_rig())
