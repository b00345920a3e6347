"""Points of layered rigs: the same states as the rig itself gives, and derivatives that differences agree with."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import edit as reference

from understudy import cast
from understudy.character import Curves, rig
from understudy.character.controls import COMPONENTS
from understudy.character.rig import LayeredRig
from understudy.checks import Array
from understudy.edit.goals import Edit, MovePoint, Pin, Point
from understudy.edit.points.layered import COMPONENT_ORDER
from understudy.edit.points.states import FiniteDifferencePoints, LayeredPointStates, states_of
from understudy.edit.solver.problem import prepare_problem
from understudy.edit.solver.targets import measure_any_states, measure_targets

POINTS = (Point("Head", (0.0, 0.1, 0.05)), Point("EarTip.L"), Point("Jaw"), Point("LidUpper.L", (0.01, 0.0, 0.02)))


@pytest.fixture(scope="module")
def dragon() -> tuple[LayeredRig, Curves]:
    asset = cast.load("dragon")
    found = rig.rig_of(asset.characters[0])
    assert isinstance(found, LayeredRig)
    return found, asset.curves[0]


def test_every_component_of_a_joint_has_its_place() -> None:
    assert sorted(COMPONENT_ORDER) == sorted(COMPONENTS)


def test_states_are_those_of_the_rig_and_slopes_those_of_differences(dragon: tuple[LayeredRig, Curves]) -> None:
    own, curves = dragon
    exact, slow = states_of(own, curves.channels, POINTS), FiniteDifferencePoints(own, curves.channels, POINTS)
    assert isinstance(exact, LayeredPointStates) and exact.analytic
    rng = np.random.default_rng(3)
    middle = (own.controls.low + own.controls.high) / 2
    span = own.controls.high - own.controls.low
    rows = middle + rng.uniform(-0.45, 0.45, (6, len(middle))) * np.where(np.isfinite(span), span, 0.0)
    named = [own.controls.index(channel.target) for channel in curves.channels]
    values = rows[:, named]
    sample, point = np.tile(np.arange(6), len(POINTS)), np.repeat(np.arange(len(POINTS)), 6)
    place, turn, slopes = exact.evaluate(np.ascontiguousarray(values[:, exact.columns]), sample, point)
    wanted_place, wanted_turn, wanted = slow.evaluate(values, sample, point)
    assert np.allclose(place, wanted_place, atol=1e-12) and np.allclose(turn, wanted_turn, atol=1e-12)
    all_slopes = np.zeros_like(wanted)
    all_slopes[:, :, exact.columns] = slopes
    assert np.abs(wanted).max() > 0.1
    assert np.abs(all_slopes - wanted).max() < 1e-7


def test_what_moves_a_point_is_found_by_the_rules(dragon: tuple[LayeredRig, Curves]) -> None:
    own, curves = dragon
    exact, slow = states_of(own, curves.channels, POINTS), FiniteDifferencePoints(own, curves.channels, POINTS)
    assert np.array_equal(exact.influence_mask, slow.influence_mask[:, :, exact.columns])
    assert slow.influence_mask.sum() == exact.influence_mask.sum()


def on_the_skin(own: LayeredRig) -> list[Point]:
    """Vertices of which each is moved by something else, and a joint among them."""
    joints = ("Tongue4", "EarTip.L", "Neck1", "Jaw")
    owners = [own.carriers(v).joints for v in range(0, own.character.vertex_count, 97)]
    numbers = [own.character.skeleton.index(name) for name in joints]
    found = [97 * next(v for v, carried in enumerate(owners) if number in carried) for number in numbers]
    mesh, lattice = own.vertices(own.rest[None])[0], own.layers.lattice
    assert lattice is not None
    middle = own.at_rest(lattice.joint)[0] + (lattice.low + lattice.high) / 2
    found.append(int(np.argmin(np.linalg.norm(mesh - middle - (0.0, 0.0, 0.1), axis=1))))  # deep in the lattice
    found.append(int(np.bincount(own.layers.shapes.vertices).argmax()))  # moved by most shapes
    return [Point(vertex=v) for v in found] + [Point("Jaw", (0.0, 0.01, 0.02))]


def rows_of(own: LayeredRig, count: int) -> Array:
    """(F, C) all controls at once, a part of their ways, so that joints, shapes and the lattice move; a few rest."""
    rng = np.random.default_rng(8)
    ends = np.where(rng.uniform(size=(count, len(own.rest))) < 0.5, own.controls.low, own.controls.high)
    part = np.where(rng.uniform(size=ends.shape) < 0.3, rng.uniform(0.02, 0.3, ends.shape), 0.0)
    rows: Array = own.rest + part * np.where(np.isfinite(ends), ends - own.rest, 0.0)
    return rows


def test_points_of_the_skin_are_where_the_rig_has_them(dragon: tuple[LayeredRig, Curves]) -> None:
    own, _ = dragon
    points, rows = on_the_skin(own), rows_of(own, 8)
    states = states_of(own, own.channels, points)
    assert isinstance(states, LayeredPointStates) and states.analytic
    sample, point = np.tile(np.arange(8), len(points)), np.repeat(np.arange(len(points)), 8)
    place, _, _ = states.evaluate(rows[:, states.columns], sample, point, slopes=False)
    skin = own.vertices(rows)
    for p, each in enumerate(points[:-1]):
        assert np.abs(place[point == p] - skin[:, each.vertex]).max() < 2e-6  # a rig's vertices are single precision
        assert np.ptp(place[point == p], axis=0).max() > 1e-3


def test_slopes_of_the_skin_are_those_of_differences(dragon: tuple[LayeredRig, Curves]) -> None:
    own, _ = dragon
    points, rows = on_the_skin(own), rows_of(own, 3)
    states = states_of(own, own.channels, points)
    # at rest the ramps of correctives have a kink, and controls at rest may be at the end of their range
    low, high, rest = (each[states.columns] for each in (own.controls.low, own.controls.high, own.rest))
    smooth = (low < rest) & (rest < high)
    values = rows[:, states.columns] + np.where(smooth, 1e-3 * (high - rest), 2e-3 * (high - low) * (rest <= low))
    values = np.where((rest >= high) & (values >= high), high - 2e-3 * (high - low), values)
    sample, point = np.tile(np.arange(3), len(points)), np.repeat(np.arange(len(points)), 3)
    _, _, slopes = states.evaluate(values, sample, point)
    step = 1e-6
    for column in range(len(states.columns)):
        nudge = step * np.eye(len(states.columns))[column]
        up, turned_up, _ = states.evaluate(values + nudge, sample, point, slopes=False)
        down, turned_down, _ = states.evaluate(values - nudge, sample, point, slopes=False)
        np.testing.assert_allclose(slopes[:, :3, column], (up - down) / (2 * step), atol=1e-8)
        change = turned_up @ np.swapaxes(turned_down, 1, 2)
        turn = np.stack([change[:, k, j] - change[:, j, k] for j, k in ((1, 2), (2, 0), (0, 1))], axis=1)
        np.testing.assert_allclose(slopes[:, 3:, column], turn / (4 * step), atol=1e-7)
        moved = np.abs(slopes[:, :3, column]).max(axis=1) > 1e-9
        assert not (moved & ~states.influence_mask[point, 0, column]).any()


def test_the_kernel_agrees_with_its_oracle(dragon: tuple[LayeredRig, Curves]) -> None:
    own, _ = dragon
    points, rows = on_the_skin(own), rows_of(own, 5)
    states = states_of(own, own.channels, points)
    assert isinstance(states, LayeredPointStates)
    values = rows[:, states.columns]
    values[0] = np.where(np.isfinite(own.controls.high), own.controls.high + 1, 0.0)[
        states.columns
    ]  # beyond all ranges
    sample, point = np.tile(np.arange(5), len(points)), np.repeat(np.arange(len(points)), 5)
    for quick, slow in zip(
        states.evaluate(values, sample, point),
        reference.layered_states(states.chains, values, sample, point),
        strict=True,
    ):
        np.testing.assert_allclose(quick, slow, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("slopes", [True, False])
def test_measured_at_once_or_step_by_step_is_the_same(dragon: tuple[LayeredRig, Curves], slopes: bool) -> None:
    own, curves = dragon
    vertex = on_the_skin(own)[4]
    moves = [
        MovePoint(Point("Tongue4"), 0.35, by=(0.01, 0, 0), turn_to=(0, 0, 0, 1)),
        MovePoint(vertex, 0.36, by=(0, 0.01, 0)),
    ]
    problem = prepare_problem(
        own, curves, Edit(moves, pins=[Pin(Point("Ear.L"), orientation=False), Pin(Point("Neck2"))])
    )
    v = 0.1 * np.random.default_rng(5).normal(size=problem.tangents.count)
    for asked in (problem.moves, problem.held, problem.dense):
        assert len(asked)
        fast, slow = (
            each(problem.states, problem.tangents, asked, v, problem.size, slopes)
            for each in (measure_targets, measure_any_states)
        )
        for name in ("gap", "residual", "matrix"):
            np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-11, atol=1e-11)
