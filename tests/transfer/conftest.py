"""A character made ready for transfers, once for all tests."""

from __future__ import annotations

import pytest
from tests.transfer import small

from understudy.transfer.mapping import fit_regression
from understudy.transfer.physics.spring_limbs import limbs_by_name
from understudy.transfer.pipeline import TransferTarget, prepare_target


@pytest.fixture(scope="session")
def stage() -> TransferTarget:
    """The hopper, with a mapping that needs no time to learn."""
    target, pairs = small.hopper().character(), small.pairs()
    return prepare_target(target, pairs, fit_regression(pairs), springs=limbs_by_name(target))
