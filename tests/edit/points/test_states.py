"""States of points and their derivatives: against the rig itself, finite differences, and slow oracles."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import creature
from tests.reference import edit as reference

from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.edit.points.states import FiniteDifferencePoints, SkeletalPoints, states_of
from understudy.errors import InvalidInput
from understudy.maths import quaternion

POINTS = (
    Point("left tip"),
    Point("right hand", (0.1, -0.2, 0.05)),
    Point("spine", (0, 0.1, 0)),
    Point(vertex=3),
    Point(vertex=11),
)


def asked(kind: str, scaled: bool = False) -> tuple[SkeletalPoints, Array, Array, Array]:
    """States of all points at five times, with columns off the curves, so that quaternions have no unit length."""
    rig, curves = creature.rig(scaled), creature.curves(3, kind, scale=scaled)
    states = states_of(rig, curves.channels, POINTS)
    assert isinstance(states, SkeletalPoints)
    values = curves.sample(np.linspace(0, 3, 5))[:, states.columns]
    values = values + 0.05 * np.random.default_rng(0).normal(size=values.shape)
    return states, values, np.repeat(np.arange(5), len(POINTS)), np.tile(np.arange(len(POINTS)), 5)


@pytest.mark.parametrize("kind", ["euler", "rotation", "mixed"])
def test_states_are_those_of_the_rig(kind: str) -> None:
    rig, curves = creature.rig(), creature.curves(1, kind)
    states = states_of(rig, curves.channels, POINTS)
    times = np.linspace(0, 3, 7)
    sampled, rows = curves.sample(times), rig.pose(curves, times)
    world, vertices = rig.joints(rows), rig.vertices(rows)
    for p, point in enumerate(POINTS):
        place, turn, _ = states.evaluate(sampled[:, states.columns], np.arange(7), np.full(7, p))
        if point.vertex is not None:
            np.testing.assert_allclose(place, vertices[:, point.vertex], atol=1e-6)
            continue
        joint = world[:, rig.character.skeleton.index(point.joint)]
        np.testing.assert_allclose(place, joint[:, :3, :3] @ np.array(point.offset) + joint[:, :3, 3], atol=1e-12)
        np.testing.assert_allclose(turn, joint[:, :3, :3], atol=1e-12)


@pytest.mark.parametrize(("kind", "scaled"), [("euler", False), ("rotation", False), ("mixed", True)])
def test_derivatives_are_those_of_finite_differences(kind: str, scaled: bool) -> None:
    states, values, sample, point = asked(kind, scaled)
    _, turn, jacobian = states.evaluate(values, sample, point)
    step = 1e-6
    for column in range(values.shape[1]):
        nudge = step * np.eye(values.shape[1])[column]
        up, up_turn, _ = states.evaluate(values + nudge, sample, point, slopes=False)
        down, down_turn, _ = states.evaluate(values - nudge, sample, point, slopes=False)
        np.testing.assert_allclose(jacobian[:, :3, column], (up - down) / (2 * step), atol=2e-9)
        change = quaternion.from_matrix(up_turn @ np.swapaxes(down_turn, 1, 2))
        np.testing.assert_allclose(
            jacobian[:, 3:, column], quaternion.to_rotation_vector(change) / (2 * step), atol=2e-8
        )
    assert turn.shape == (len(sample), 3, 3)


@pytest.mark.parametrize(("kind", "scaled"), [("euler", True), ("rotation", False), ("mixed", False)])
def test_the_kernel_agrees_with_its_oracle(kind: str, scaled: bool) -> None:
    states, values, sample, point = asked(kind, scaled)
    quick = states.evaluate(values, sample, point)
    slow = reference.skeletal_states(states.bones, states.anchors, values, sample, point)
    for a, b in zip(quick, slow):
        np.testing.assert_allclose(a, b, atol=1e-13)


def test_states_without_exact_derivatives_agree_with_those_that_have_them() -> None:
    rig, curves = creature.rig(), creature.curves(2, "mixed")
    states = states_of(rig, curves.channels, POINTS)
    other = FiniteDifferencePoints(rig, curves.channels, POINTS)
    assert states.analytic
    assert not other.analytic
    sampled = curves.sample([0.3, 1.7])
    sample, point = np.repeat([0, 1], len(POINTS)), np.tile(np.arange(len(POINTS)), 2)
    place, turn, jacobian = states.evaluate(sampled[:, states.columns], sample, point)
    place2, turn2, jacobian2 = other.evaluate(sampled, sample, point)
    np.testing.assert_allclose(place, place2, atol=1e-6)  # vertices of a rig are single precision
    np.testing.assert_allclose(turn, turn2, atol=1e-9)
    np.testing.assert_allclose(jacobian, jacobian2[:, :, states.columns], atol=2e-3)
    own = np.zeros(other.influence_mask.shape, bool)
    own[:, :, states.columns] = states.influence_mask
    np.testing.assert_array_equal(
        own, other.influence_mask | (own & ~other.influence_mask)
    )  # nothing that moves is left out


def test_moved_by_is_where_derivatives_are_not_zero() -> None:
    states, values, sample, point = asked("mixed")
    _, _, jacobian = states.evaluate(values, sample, point)
    for p in range(len(POINTS)):
        for part in range(2):
            slopes = np.abs(jacobian[point == p, 3 * part : 3 * part + 3]).max(axis=(0, 1))
            assert not (slopes[~states.influence_mask[p, part]] > 1e-12).any()
            assert (slopes[states.influence_mask[p, part]] > 1e-6).all()


def test_points_that_are_not_there_are_refused() -> None:
    rig, curves = creature.rig(), creature.curves()
    with pytest.raises(InvalidInput, match="tail"):
        states_of(rig, curves.channels, [Point("tail")])
    with pytest.raises(InvalidInput, match="12 vertices"):
        states_of(rig, curves.channels, [Point(vertex=12)])
    with pytest.raises(InvalidInput, match="a joint or a vertex"):
        Point("hips", vertex=2)
