"""Errors in the world to first order, against what the joints really do."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import Channel, Channels, Skeleton
from understudy.checks import Array
from understudy.edit.reduce import search_kernels
from understudy.edit.reduce.search_kernels import WorldState
from understudy.edit.reduce.world_error import JointColumns, turn_between
from understudy.maths import quaternion

SMALL = 1e-5


def creature(kind: str) -> tuple[JointColumns, Array]:
    """A branching skeleton, and 7 poses of it."""
    rng = np.random.default_rng(4)
    skeleton = Skeleton(["a", "b", "c", "d"], [-1, 0, 1, 0], rng.normal(size=(4, 3)))
    turning = Channel("b", "euler", ("z", "x", "y")) if kind == "euler" else Channel("b", "rotation")
    root = Channel("a", "euler", ("y", "z", "x")) if kind == "euler" else Channel("a", "rotation")
    channels = Channels([Channel("a", "translation"), root, turning, Channel("c", "translation")])
    values = rng.normal(0, 0.5, (7, channels.width))
    for i, channel in enumerate(channels):
        if channel.kind == "rotation":
            own = slice(int(channels.offsets[i]), int(channels.offsets[i + 1]))
            values[:, own] = quaternion.normalise(values[:, own] + [0, 0, 0, 1])
    return JointColumns.from_channels(channels, skeleton), values


def world_of(bones: JointColumns, values: Array) -> WorldState:
    joints = len(bones.parents)
    band = np.zeros((values.shape[1], len(values)))
    reach = np.full((len(values), joints), 100.0)
    return bones.world(values, reach, 0.1 * reach, np.zeros(reach.shape), band)


@pytest.mark.parametrize("kind", ["euler", "rotation"])
def test_applied_errors_are_those_of_the_joints(kind: str) -> None:
    bones, values = creature(kind)
    world = world_of(bones, values)
    rng = np.random.default_rng(1)
    delta = rng.normal(0, SMALL, (values.shape[1], len(values)))
    search_kernels.apply_change(world, np.arange(len(delta)), 0, delta)
    places, turns = bones.world_frames(values)
    new_places, new_turns = bones.world_frames(values + delta.T)
    np.testing.assert_allclose(world.offset, new_places - places, atol=50 * SMALL**2)
    np.testing.assert_allclose(world.turn, turn_between(turns, new_turns), atol=50 * SMALL**2)
    np.testing.assert_array_equal(world.error, delta)


@pytest.mark.parametrize("kind", ["euler", "rotation"])
def test_the_lever_is_the_worst_of_one_column(kind: str) -> None:
    bones, values = creature(kind)
    world = world_of(bones, values)
    lever = np.empty(world.error.shape)
    search_kernels.write_levers(world, lever)
    for column in range(len(lever)):
        delta = np.zeros((1, 1))
        delta[0, 0] = SMALL
        worst = search_kernels.worst_error(world, np.array([column]), 3, delta, np.inf)
        assert worst == pytest.approx(lever[column, 3] * SMALL, rel=1e-9)


def test_errors_that_shrink_do_not_count() -> None:
    bones, values = creature("euler")
    world = world_of(bones, values)
    delta = np.full((1, 7), 0.01)
    search_kernels.apply_change(world, np.array([4]), 0, delta)
    assert search_kernels.worst_error(world, np.array([4]), 0, -0.5 * delta, np.inf) == 0
    assert search_kernels.worst_error(world, np.array([4]), 0, 0.5 * delta, np.inf) > 0


def test_an_aim_makes_up_for_others() -> None:
    """A column that moves as another did is asked to undo it."""
    skeleton = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    channels = Channels([Channel("a", "translation"), Channel("b", "translation")])
    bones = JointColumns.from_channels(channels, skeleton)
    world = world_of(bones, np.zeros((5, 6)))
    search_kernels.apply_change(world, np.array([0]), 0, np.full((1, 5), 0.003))
    wish, weight = np.empty(5), np.empty(5)
    search_kernels.aim_column(world, 3, np.zeros(5), 0, 5, wish, weight)
    np.testing.assert_allclose(wish, -0.003, rtol=1e-6)
    search_kernels.aim_column(world, 3, np.full(5, 1e6), 0, 5, wish, weight)
    np.testing.assert_allclose(wish, 0, atol=1e-6)
    assert (weight > 0).all()


def test_steps_of_planted_joints_count() -> None:
    """A column that moves a planted joint to and fro is judged by its speed, however small the error."""
    bones, values = creature("euler")
    world = world_of(bones, np.repeat(values[:1], 7, axis=0))
    world.reach_step[1:] = 1 / 1e-4
    steady, shaking = np.full((1, 7), 1e-3), 1e-3 * (-1.0) ** np.arange(7)[None]
    assert search_kernels.worst_error(world, np.array([0]), 0, shaking, np.inf) == pytest.approx(20)
    assert search_kernels.worst_error(world, np.array([0]), 1, steady[:, :3], np.inf) == pytest.approx(10)
    world.reach_step[:] = 0
    assert search_kernels.worst_error(world, np.array([0]), 0, shaking, np.inf) == pytest.approx(0.1)
