from __future__ import annotations

import numpy as np
from tests.learned import lamp_model

from understudy.perform import pose_space


def test_a_space_matches_itself() -> None:
    model = lamp_model()
    space = model.spaces["sad"]
    found = pose_space.find_bridges(space, space, model.weights)
    assert not found.wide
    assert found.gaps.max() < 1e-3 * found.threshold
    assert np.abs(space.features_of(found.first_latents) - space.features_of(found.second_latents)).max() < 1e-3


def test_gaps_are_those_of_the_poses() -> None:
    model = lamp_model()
    for pair in model.bridges:
        first, second = model.spaces[pair.first], model.spaces[pair.second]
        poses = first.features_of(pair.first_latents), second.features_of(pair.second_latents)
        assert np.allclose(model.difference(*poses), pair.gaps)
        assert np.all(np.diff(pair.gaps) >= 0)
        assert len(pair) <= pose_space.MAX_BRIDGES
        assert pair.wide or pair.gaps.max() <= pair.threshold


def test_no_match_is_better_nearby() -> None:
    model = lamp_model()
    pair = model.bridges[0]
    first, second = model.spaces[pair.first], model.spaces[pair.second]
    wanted = second.reduction.reduce(first.features_of(pair.first_latents))
    here = np.linalg.norm(second.mapping.mean(pair.second_latents) - wanted, axis=1)
    there = first.reduction.reduce(second.features_of(pair.second_latents))
    back = np.linalg.norm(first.mapping.mean(pair.first_latents) - there, axis=1)
    for step in 0.01 * np.concatenate([np.eye(3), -np.eye(3)]):
        beside = np.linalg.norm(second.mapping.mean(pair.second_latents + step) - wanted, axis=1)
        before = np.linalg.norm(first.mapping.mean(pair.first_latents + step) - there, axis=1)
        # each pair was found in one of the two directions
        assert np.all((beside >= here - 1e-6) | (before >= back - 1e-6))


def test_spread_out_keeps_the_best_and_the_different() -> None:
    a = np.array([[0.0], [0.01], [1.0], [2.0]] + [[2.001]] * 20)
    kept = pose_space.select_distinct_pairs(a, np.zeros_like(a))
    assert set(kept) >= {0, 2, 3}
    assert len(kept) == pose_space.MIN_BRIDGES
    many = np.arange(100.0)[:, None]
    assert len(pose_space.select_distinct_pairs(many, many)) == pose_space.MAX_BRIDGES


def test_unlike_labels_get_one_wide_bridge() -> None:
    model = lamp_model()
    first, second = model.spaces["hop"], model.spaces["sad"]
    weights = model.weights * 1e6  # nothing is near any more, but the threshold grows as well
    same = pose_space.find_bridges(first, second, weights)
    assert len(same) == len(pose_space.find_bridges(first, second, model.weights))
    far = pose_space.Bridges("a", "b", np.zeros((1, 3)), np.zeros((1, 3)), np.ones(1), 0.5, wide=True)
    assert far.other("a") == "b"
    assert far.other("b") == "a"
    assert far.sides("b")[0] is far.second_latents
