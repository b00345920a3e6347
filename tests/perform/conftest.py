"""What the tests of the layers share: the dragon, loaded once."""

from __future__ import annotations

import pytest

from understudy import cast
from understudy.character.rig import LayeredRig


@pytest.fixture(scope="session")
def dragon() -> LayeredRig:
    return LayeredRig(cast.load("dragon").character())
