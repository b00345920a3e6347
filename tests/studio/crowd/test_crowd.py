"""A performers: the same by its seed, each in its place, all with one look."""

from __future__ import annotations

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.perform.pose_model import ModelWithCharacter
from understudy.perform.runtime.performer import Performer
from understudy.studio.crowd.crowd import CROWD_RATE_HZ, CrowdModel, CrowdPerformers, crowd_bounds, placements


@pytest.fixture(scope="module")
def crowd_model() -> CrowdModel:
    return CrowdModel.build(ModelWithCharacter("lamp", lamp_model(), lamp_rig()), 600)


def performers(crowd_model: CrowdModel, count: int = 6, seed: int = 3) -> CrowdPerformers:
    return CrowdPerformers(crowd_model.performer, crowd_model.form, count, seed, crowd_model.box)


def test_a_seed_makes_the_same_company_again(crowd_model: CrowdModel) -> None:
    first, again, other = performers(crowd_model), performers(crowd_model), performers(crowd_model, seed=4)
    for _ in range(30):
        a, b, c = first.step(), again.step(), other.step()
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    assert len({state.main_source.x.tobytes() for state in first.states}) == 6  # no two of them do the same


def test_each_stands_in_its_place(crowd_model: CrowdModel) -> None:
    members = performers(crowd_model)
    states = list(members.states)
    poses = members.step()
    _, rows = crowd_model.performer.step_all(states)
    bones = 12 * len(crowd_model.form.packer.bones)
    own = crowd_model.form.poses(rows)[:, :bones].reshape(6, -1, 3, 4).astype(np.float64)
    whole = np.concatenate([own, np.broadcast_to([[[0.0, 0, 0, 1]]], (*own.shape[:2], 1, 4))], axis=2)
    expected = (members.places[:, None] @ whole)[:, :, :3]
    np.testing.assert_allclose(poses[:, :bones].reshape(6, -1, 3, 4), expected, atol=1e-5)


def test_who_stays_goes_on(crowd_model: CrowdModel) -> None:
    members = performers(crowd_model)
    members.step()
    before = members.states[:3]
    members.resize(3)
    assert members.states == before
    members.resize(5)
    assert members.states[:3] == before and len(members.step()) == 5


def test_a_look_is_told_in_each_ones_own_space(crowd_model: CrowdModel) -> None:
    members = performers(crowd_model)
    members.look((0.3, 0.9, 2.0))
    members.step()
    for state, place in zip(members.states, members.places):
        world = place[:3, :3] @ np.array(state.look) + place[:3, 3]
        np.testing.assert_allclose(world, (0.3, 0.9, 2.0), atol=1e-9)
    members.look(None)
    members.step()
    assert {state.look for state in members.states} == {"forward"}


def test_each_does_something_else_before_long(crowd_model: CrowdModel) -> None:
    members = performers(crowd_model)
    labels = [state.label for state in members.states]
    for _ in range(int(12 * CROWD_RATE_HZ)):
        members.step()
    assert [state.label for state in members.states] != labels


@pytest.mark.parametrize("count", [1, 2, 37, 100])
def test_nobody_stands_in_anothers_way(count: int) -> None:
    box = np.array([[-0.3, 0, -0.2], [0.3, 1, 0.2]])
    at = placements(count, box)[:, :3, 3]
    apart = np.linalg.norm(at[:, None] - at, axis=2) + 10 * np.eye(count)
    assert apart.min() > 0.5
    np.testing.assert_allclose(placements(count + 20, box)[:count], placements(count, box))  # who stays, stays there
    low, high = crowd_bounds(count, box)
    assert (at >= np.array(low) - 1e-9).all() and (at <= np.array(high) + 1e-9).all()


def test_performer_is_one_for_all(crowd_model: CrowdModel) -> None:
    assert isinstance(crowd_model.performer, Performer) and crowd_model.performer.rate == CROWD_RATE_HZ
