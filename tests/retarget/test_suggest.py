from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.retarget.small import pairs, source

from understudy.errors import InvalidInput
from understudy.retarget.suggest import choose, gain_curve, greedy, suggest


def test_the_gain_is_what_conditioning_takes_away() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(9, 2))
    S = np.exp(-0.5 * ((points[:, None] - points) ** 2).sum(axis=-1))
    noise = 0.1
    chosen, gains, after = greedy(S, noise, 3)
    left = []
    for c in range(9):  # the first choice by brute force: condition on every frame in turn
        left.append(np.trace(S - np.outer(S[:, c], S[:, c]) / (S[c, c] + noise)) / 9)
    assert chosen[0] == int(np.argmin(left))
    both = [chosen[0], chosen[1]]
    K = S[np.ix_(both, both)] + noise * np.eye(2)
    together = np.trace(S - S[:, both] @ np.linalg.solve(K, S[both])) / 9
    assert after[1] == pytest.approx(together)
    assert sum(gains[:2]) == pytest.approx(1 - together / (np.trace(S) / 9))


def test_frames_are_distinct_and_gains_fall() -> None:
    found = suggest({"play": source()}, None, 8)
    assert len({each.frame for each in found}) == 8
    assert all(each.gain >= 0 for each in found) and found[0].gain > found[-1].gain
    assert 0.5 < gain_curve(found)[-1] <= 1 + 1e-9


def test_what_was_posed_is_not_asked_for_again() -> None:
    given = pairs()
    first = suggest({"play": source()}, given.some([0, 1, 2]), 1)[0]
    posed = {round(float(time) * 30) for time in given.times[:3]}
    assert min(abs(first.frame - frame) for frame in posed) > 8
    assert first.uncertainty > 0 and first.error_after > 0


def test_pairs_that_contradict_each_other_do_not_have_one_moment_posed_again_and_again() -> None:
    given = pairs()
    astray = np.random.default_rng(1).normal(scale=0.3, size=given.target.shape)
    found = suggest({"play": source()}, replace(given, target=given.target + astray), 10)
    assert np.diff(sorted(each.frame for each in found)).min() >= 3


def test_chosen_pairs_are_spread() -> None:
    assert len(set(choose(pairs(), 5))) == 5


def test_motions_of_other_actors_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no motion"):
        suggest({})
    other = pairs()
    with pytest.raises(InvalidInput, match="points"):
        suggest({"target": _as_source(other)}, other, 1)


def _as_source(given):  # type: ignore[no-untyped-def]
    from understudy.retarget.source import Source

    frames = np.tile(np.eye(4), (len(given), 1, 1))
    return Source("target", given.target, frames, 30.0, None, given.markers.names)
