from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.transfer.small import pairs, source

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.regression import GaussianProcess
from understudy.transfer.pose_suggestions import choose_pairs, exchange_search, order_by_gain, suggest_poses


def _left(S: Array, noise: float, chosen: Sequence[int]) -> float:
    """The mean variance that chosen frames leave, by conditioning on all of them at once."""
    A = list(chosen)
    K = S[np.ix_(A, A)] + noise * np.eye(len(A))
    return float(np.trace(S - S[:, A] @ np.linalg.solve(K, S[A]))) / len(S)


def _covariance(seed: int, count: int) -> Array:
    points = np.random.default_rng(seed).normal(size=(count, 2))
    return np.asarray(np.exp(-0.5 * ((points[:, None] - points) ** 2).sum(axis=-1)))


def test_the_gain_is_what_conditioning_takes_away() -> None:
    S, noise = _covariance(2, 9), 0.1
    assert exchange_search(S, noise, 1) == [int(np.argmin([_left(S, noise, [c]) for c in range(9)]))]
    chosen, gains, after = order_by_gain(S, noise, exchange_search(S, noise, 3))
    for count in (1, 2, 3):
        left = _left(S, noise, chosen[:count])
        assert after[count - 1] == pytest.approx(left)
        assert sum(gains[:count]) == pytest.approx(1 - left / _left(S, noise, []))


def test_no_exchange_of_one_frame_leaves_less() -> None:
    for seed in range(5):
        S, noise = _covariance(seed, 12), 0.05
        chosen = exchange_search(S, noise, 4)
        least = _left(S, noise, chosen)
        for i, c in itertools.product(range(4), range(12)):
            if c not in chosen:
                assert _left(S, noise, [*chosen[:i], c, *chosen[i + 1 :]]) >= least - 1e-9


def test_the_middle_is_not_posed_where_both_sides_are() -> None:
    """Greedily the middle of a line comes first, and the two that lie best come beside it, one too many."""
    line = np.linspace(-2, 2, 41)
    S = np.exp(-0.5 * (line[:, None] - line) ** 2)
    assert exchange_search(S, 0.01, 1) == [20]
    left, right = sorted(line[exchange_search(S, 0.01, 2)])
    assert left == pytest.approx(-right) and right > 0.8


def test_frames_are_distinct_and_gains_fall() -> None:
    found = suggest_poses({"play": source()}, None, 8)
    assert len({each.frame for each in found}) == 8
    assert all(each.gain >= 0 for each in found) and found[0].gain > found[-1].gain
    assert 0.5 < sum(each.gain for each in found) <= 1 + 1e-9


def test_what_was_posed_is_not_asked_for_again() -> None:
    given = pairs()
    first = suggest_poses({"play": source()}, given.subset([0, 1, 2]), 1)[0]
    posed = {round(float(time) * 30) for time in given.times[:3]}
    assert min(abs(first.frame - frame) for frame in posed) > 8
    assert first.uncertainty > 0 and first.error_after > 0


def test_pairs_that_contradict_each_other_do_not_have_one_moment_posed_again_and_again() -> None:
    given = pairs()
    astray = np.random.default_rng(1).normal(scale=0.3, size=given.target.shape)
    motion = source()
    found = suggest_poses({"play": motion}, replace(given, target=given.target + astray), 10)
    poses = motion.local[[each.frame for each in found]].reshape(10, -1)
    model = GaussianProcess().fit(given.source.reshape(len(given), -1), given.target.reshape(len(given), -1))
    apart = np.linalg.norm(poses[:, None] - poses, axis=-1)[~np.eye(10, dtype=bool)]
    # A key pose holds within the width of its residual, so nothing as near is asked for again.
    assert apart.min() > np.sqrt(model.width_) * model.unit_


def test_chosen_pairs_are_spread() -> None:
    assert len(set(choose_pairs(pairs(), 5))) == 5


def test_motions_of_other_actors_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one motion"):
        suggest_poses({})
    other = pairs()
    with pytest.raises(InvalidInput, match="points"):
        suggest_poses({"target": _as_source(other)}, other, 1)


def _as_source(given):  # type: ignore[no-untyped-def]
    from understudy.transfer.source import SourceMotion

    frames = np.tile(np.eye(4), (len(given), 1, 1))
    return SourceMotion("target", given.target, frames, 30.0, None, given.markers.names)
