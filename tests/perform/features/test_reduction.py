"""Laws of the linear reduction."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.perform.features.reduction import FeaturePca, components_for, explained_variance


def features(seed: int = 1, frames: int = 60, width: int = 9, rank: int | None = None) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rank = width if rank is None else rank
    return rng.normal(size=(frames, rank)) * 0.7 ** np.arange(rank) @ rng.normal(size=(rank, width)) + rng.normal(
        size=width
    )


def test_restores_what_it_keeps() -> None:
    values = features(rank=4)
    reduction = FeaturePca.fit(values, np.linspace(0.1, 5, 9), share=1.0)
    assert reduction.dimensions == 4
    np.testing.assert_allclose(reduction.restore(reduction.reduce(values)), values, atol=1e-10)
    y = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(reduction.reduce(reduction.restore(y)), y, atol=1e-10)


def test_is_centred_uncorrelated_and_orthonormal() -> None:
    values = features(2)
    reduction = FeaturePca.fit(values, share=1.0)
    y = reduction.reduce(values)
    np.testing.assert_allclose(y.mean(axis=0), 0, atol=1e-12)
    covariance = y.T @ y
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-9)
    assert (np.diff(np.diag(covariance)) <= 0).all()
    np.testing.assert_allclose(reduction.basis.T @ reduction.basis, np.eye(9), atol=1e-12)


def test_no_other_plane_is_nearer_to_the_scaled_frames() -> None:
    values, rng = features(3), np.random.default_rng(3)
    influence = rng.uniform(0.1, 4, 9)
    reduction = FeaturePca.fit(values, influence, share=0.1)
    off = (reduction.restore(reduction.reduce(values)) - values) * influence
    for _ in range(20):
        other, _ = np.linalg.qr(reduction.basis + 0.1 * rng.normal(size=reduction.basis.shape))
        scaled = (values - values.mean(axis=0)) * influence
        assert np.square(scaled - scaled @ other @ other.T).sum() >= np.square(off).sum()


@pytest.mark.parametrize("share", [0.5, 0.85, 0.99, 1.0])
def test_keeps_as_many_components_as_the_share_needs_and_never_fewer_than_three(share: float) -> None:
    values = features(4)
    influence = np.linspace(0.1, 5, 9)
    found = FeaturePca.fit(values, influence, share)
    assert found.dimensions == max(3, components_for(values * influence, share))
    np.testing.assert_allclose(found.explained, explained_variance(values * influence)[: found.dimensions])
    assert FeaturePca.fit(values, influence, share, most=4).dimensions == min(4, found.dimensions)
    assert FeaturePca.fit(features(4, rank=2), influence, share).dimensions == 2


def test_what_has_no_influence_or_never_moves_keeps_its_mean() -> None:
    values = features(5)
    values[:, 2] = 0.25
    influence = np.ones(9)
    influence[6] = 0
    reduction = FeaturePca.fit(values, influence, share=1.0)
    back = reduction.restore(reduction.reduce(values + 3.0))
    assert (reduction.scale[[2, 6]] == 0).all()
    np.testing.assert_array_equal(back[:, [2, 6]], np.tile(values.mean(axis=0)[[2, 6]], (60, 1)))


def test_units_of_a_feature_do_not_matter_once_it_is_scaled() -> None:
    values = features(6)
    unit, influence = np.geomspace(1e-3, 1e3, 9), np.linspace(1, 2, 9)
    plain, other = FeaturePca.fit(values, influence), FeaturePca.fit(values * unit, influence / unit)
    np.testing.assert_allclose(plain.reduce(values), other.reduce(values * unit), rtol=1e-8, atol=1e-9)


def test_signs_are_the_same_for_the_same_frames_in_any_order() -> None:
    values = features(7)
    shuffled = np.random.default_rng(1).permutation(values)
    np.testing.assert_allclose(FeaturePca.fit(values).basis, FeaturePca.fit(shuffled).basis, atol=1e-9)


def test_of_a_still_label_has_no_dimension() -> None:
    reduction = FeaturePca.fit(np.full((10, 4), 0.3))
    assert reduction.dimensions == 0
    np.testing.assert_allclose(reduction.restore(reduction.reduce(np.zeros((2, 4)))), 0.3)


def test_one_pose_is_restored_as_among_many() -> None:
    reduction = FeaturePca.fit(features(9, width=23), share=1.0)
    y = np.random.default_rng(2).normal(size=(5, reduction.dimensions))
    together = reduction.restore(y)
    assert all(np.array_equal(reduction.restore(y[m : m + 1])[0], together[m]) for m in range(len(y)))
    np.testing.assert_allclose(
        y @ reduction.basis.T / reduction.scale + reduction.mean, together, rtol=1e-12, atol=1e-12
    )


def test_comes_back_from_its_arrays() -> None:
    reduction = FeaturePca.fit(features(8))
    again = FeaturePca.from_arrays(reduction.arrays())
    np.testing.assert_array_equal(again.reduce(features(9)), reduction.reduce(features(9)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"share": 0.0}, "share should lie between 0 and 1"),
        ({"share": 1.5}, "share should lie between 0 and 1"),
        ({"most": 0}, "most should be at least 1"),
        ({"influence": np.ones(4)}, r"influence should have shape \(9\)"),
        ({"features": np.zeros((0, 9))}, "at least one frame"),
        ({"features": np.full((3, 9), np.nan)}, "features should be finite"),
    ],
)
def test_refuses_what_makes_no_sense(change: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        FeaturePca.fit(**{"features": features(), **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["mean", "scale", "basis", "explained"])
def test_refuses_arrays_that_do_not_fit(name: str) -> None:
    arrays = FeaturePca.fit(features()).arrays()
    with pytest.raises(InvalidInput, match=name):
        FeaturePca.from_arrays({key: value for key, value in arrays.items() if key != name})
    with pytest.raises(InvalidInput):
        FeaturePca.from_arrays({**arrays, name: arrays[name][:-1]})
