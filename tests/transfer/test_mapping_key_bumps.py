from __future__ import annotations

import numpy as np
from tests.transfer.small import pairs, source

from understudy.transfer.mapping import PairResidual


def test_what_is_missing_is_put_back_at_the_pairs_and_nowhere_else() -> None:
    given = pairs(np.arange(2, 90, 20))
    missing = np.random.default_rng(0).normal(size=given.target.shape)
    bumps = PairResidual.from_pairs(given.source, missing)
    assert np.std(bumps.evaluate(given.source) - missing) < 0.25 * np.std(
        missing
    )  # some of these pairs are near each other
    assert np.abs(bumps.evaluate(given.source + 3.0)).max() < 1e-9


def test_it_fades_without_a_jump() -> None:
    given = pairs()
    bumps = PairResidual.from_pairs(given.source, np.ones_like(given.target))
    along = bumps.evaluate(source().local)[:, 0, 0]
    assert along.max() < 1.5 and along.min() > -0.5
    assert np.abs(np.diff(along)).max() < 0.9
