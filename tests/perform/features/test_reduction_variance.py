"""Laws of explained variance."""

from __future__ import annotations

import numpy as np

from understudy.perform.features import components_for, explained_variance


def test_grows_to_one():
    explained = explained_variance(np.random.default_rng(1).normal(size=(40, 6)))
    assert len(explained) == 6
    assert (np.diff(explained) >= 0).all()
    np.testing.assert_allclose(explained[-1], 1.0)


def test_agrees_with_the_covariance():
    rows = np.random.default_rng(2).normal(size=(60, 5)) * [5.0, 3.0, 2.0, 1.0, 0.1]
    variances = np.sort(np.linalg.eigvalsh(np.cov(rows.T)))[::-1]
    np.testing.assert_allclose(explained_variance(rows), np.cumsum(variances) / variances.sum())


def test_counts_the_fewest_components():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 30))
    assert components_for(rows, 1.0) == 2
    rows = rng.normal(size=(80, 9))
    shares = explained_variance(rows)
    for share in (0.3, 0.85, 0.99):
        count = components_for(rows, share)
        assert shares[count - 1] >= share
        assert count == 1 or shares[count - 2] < share


def test_of_a_still_animation_is_empty():
    assert components_for(np.full((10, 4), 0.3)) == 0
