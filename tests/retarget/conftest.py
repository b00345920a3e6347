"""A character made ready for transfers, once for all tests."""

from __future__ import annotations

import pytest
from tests.retarget import small

from understudy.retarget.baselines import GaussianProcess
from understudy.retarget.spring_limbs import limbs_by_name
from understudy.retarget.transfer import Stage, stage_of


@pytest.fixture(scope="session")
def stage() -> Stage:
    """The hopper, with a mapping that needs no time to learn."""
    target, pairs = small.hopper().character(), small.pairs()
    return stage_of(target, pairs, GaussianProcess.learn(pairs), springs=limbs_by_name(target))
