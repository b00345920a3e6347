"""Joints in any order become parents first, depth first; what is no forest is refused."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character.skeleton import depth_first
from understudy.errors import InvalidInput


@pytest.mark.parametrize("seed", range(10))
def test_any_forest_is_put_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 60))
    sound = np.array([-1 if j == 0 or rng.random() < 0.1 else rng.integers(0, j) for j in range(count)])
    shuffle = rng.permutation(count)  # new number of each joint
    parents = np.empty(count, np.int64)
    parents[shuffle] = np.where(sound < 0, -1, shuffle[sound])
    order = depth_first(parents)
    assert sorted(order.tolist()) == list(range(count))
    rank = np.argsort(order)
    below = parents >= 0
    assert (rank[parents[below]] < rank[below]).all()
    # depth first: what hangs on a joint follows it without a gap
    for joint in range(count):
        family = [joint]
        for other in order[rank[joint] + 1 :].tolist():
            if parents[other] in family:
                family.append(other)
        assert order[rank[joint] : rank[joint] + len(family)].tolist() == family


def test_siblings_keep_their_order() -> None:
    assert depth_first(np.array([2, 2, -1, 0, 2])).tolist() == [2, 0, 3, 1, 4]


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 2, 1]])
def test_a_cycle_is_refused(parents: list[int]) -> None:
    with pytest.raises(InvalidInput, match="is part of a cycle"):
        depth_first(np.array(parents))


def test_a_parent_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match="parents should lie between -1 and 1, but holds 5"):
        depth_first(np.array([-1, 5]))
