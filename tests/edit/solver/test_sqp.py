"""Edits: goals are reached, constraints hold, keys stay, and the mathematics of each part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit import creature
from tests.reference import edit as reference

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point
from understudy.edit.keys import is_broken
from understudy.edit.outcome import EditResult
from understudy.edit.solver import segments, targets
from understudy.edit.solver.problem import prepare_problem
from understudy.edit.solver.sqp import SolverSettings, search, solve
from understudy.errors import InvalidInput

TIP, OTHER = Point("left tip"), Point("right tip")


def place(curves: Curves, point: Point, times: Array) -> Array:
    """(M, 3) where a joint's point is."""
    rig = creature.rig()
    joint = rig.joints(rig.pose(curves, times))[:, rig.character.skeleton.index(point.joint)]
    return joint[:, :3, :3] @ np.array(point.offset) + joint[:, :3, 3]


def assert_keys_are_the_same(before: Curves, after: Curves) -> None:
    for a, b in zip(before.curves, after.curves, strict=True):
        np.testing.assert_array_equal(a.times, b.times)
        np.testing.assert_array_equal(a.values, b.values)


def assert_reached(outcome: EditResult) -> None:
    assert outcome.reached, outcome.obstacles
    assert not outcome.obstacles


@pytest.mark.parametrize("kind", ["euler", "rotation", "mixed"])
@pytest.mark.parametrize("edges", ["smooth", "broken"])
def test_a_dragged_point_arrives_and_no_key_changes(kind: str, edges: str) -> None:
    curves = creature.curves(1, kind)
    goal = place(curves, TIP, np.array([1.4]))[0] + np.array((0.05, 0.04, -0.06))
    outcome = solve(creature.rig(), curves, Edit([MovePoint(TIP, 1.4, to=tuple(goal))], edges=edges))
    assert_reached(outcome)
    assert_keys_are_the_same(curves, outcome.curves)
    np.testing.assert_allclose(place(outcome.curves, TIP, np.array([1.4]))[0], goal, atol=1e-3)
    assert outcome.iterations <= 5


def test_by_is_from_where_the_point_was_and_turns_turn() -> None:
    curves, rig = creature.curves(2, "mixed"), creature.rig()
    before = place(curves, TIP, np.array([1.5]))[0]
    outcome = solve(rig, curves, Edit([MovePoint(TIP, 1.5, by=(0.03, 0, 0.02), turn_to=(0.1, 0.2, 0, 1))]))
    assert_reached(outcome)
    np.testing.assert_allclose(
        place(outcome.curves, TIP, np.array([1.5]))[0], before + np.array((0.03, 0, 0.02)), atol=1e-3
    )
    world = rig.joints(rig.pose(outcome.curves, [1.5]))[0, rig.character.skeleton.index("left tip"), :3, :3]
    x, y, z, w = np.array((0.1, 0.2, 0, 1)) / np.linalg.norm((0.1, 0.2, 0, 1))
    np.testing.assert_allclose(
        world[:, 2], (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)), atol=2e-3
    )


def test_a_vertex_can_be_dragged() -> None:
    curves, rig = creature.curves(3), creature.rig()
    before = rig.vertices(rig.pose(curves, [1.5]))[0, 5]
    outcome = solve(rig, curves, Edit([MovePoint(Point(vertex=5), 1.5, by=(0, 0.04, 0.03))]))
    assert_reached(outcome)
    after = rig.vertices(rig.pose(outcome.curves, [1.5]))[0, 5]
    np.testing.assert_allclose(after - before, (0, 0.04, 0.03), atol=1e-3)


@pytest.mark.parametrize("edges", ["smooth", "broken"])
def test_pins_keep_their_path_at_all_times(edges: str) -> None:
    curves = creature.curves(4)
    edit = Edit([MovePoint(TIP, 1.5, by=(0.05, 0.05, 0))], pins=[Pin(OTHER)], edges=edges)
    outcome = solve(creature.rig(), curves, edit)
    assert_reached(outcome)
    times = np.linspace(0, 3, 301)
    drift = np.linalg.norm(place(outcome.curves, OTHER, times) - place(curves, OTHER, times), axis=1)
    assert drift.max() < 1e-3
    assert drift.max() <= 1.1 * outcome.drift + 1e-9  # what is reported is what there is


def test_a_contact_stands_still() -> None:
    """The arm's keys around the contact are the same, so that a still hand is possible; the tangents make it move."""
    curves = creature.curves(5)
    made = []
    for curve in curves.curves:
        values = curve.values.copy()
        values[2] = values[1]
        made.append(Curve(curve.channel, curve.times, values, curve.segments, curve.before, curve.after))
    curves = Curves("still", made, rate=24.0)
    times = np.linspace(1, 2, 101)
    start = place(curves, OTHER, np.array([1.0]))
    assert np.linalg.norm(place(curves, OTHER, times) - start, axis=1).max() > 0.01
    edit = Edit([MovePoint(TIP, 1.5, by=(0.04, 0.02, 0))], contacts=[Contact(OTHER, 1.0, 2.0)], edges="broken")
    outcome = solve(creature.rig(), curves, edit)
    assert_reached(outcome)
    assert np.linalg.norm(place(outcome.curves, OTHER, times) - start, axis=1).max() < 1e-3
    alone = solve(creature.rig(), curves, Edit([], contacts=[Contact(OTHER, 1.0, 2.0)], edges="broken"))
    assert np.linalg.norm(place(alone.curves, OTHER, times) - start, axis=1).max() < 1e-3


def test_a_held_moment_is_passed() -> None:
    curves = creature.curves(6)
    edit = Edit([MovePoint(TIP, 1.3, by=(0.04, 0.03, 0))], holds=[Hold(TIP, 1.7)])
    outcome = solve(creature.rig(), curves, edit)
    assert_reached(outcome)
    at = np.array([1.7])
    np.testing.assert_allclose(place(outcome.curves, TIP, at), place(curves, TIP, at), atol=1e-3)


def test_a_drag_may_span_keys() -> None:
    curves = creature.curves(7, shared=False)
    edit = Edit([MovePoint(TIP, 1.5, by=(0.05, 0, 0)), MovePoint(TIP, 0.5, by=(0, 0.05, 0))], start=0.0, stop=3.0)
    outcome = solve(creature.rig(), curves, edit)
    assert_reached(outcome)
    assert_keys_are_the_same(curves, outcome.curves)
    moved = place(outcome.curves, TIP, np.array([1.5, 0.5])) - place(curves, TIP, np.array([1.5, 0.5]))
    np.testing.assert_allclose(moved, [(0.05, 0, 0), (0, 0.05, 0)], atol=1e-3)


def test_smooth_keys_stay_smooth_and_broken_edges_leave_the_neighbours_alone() -> None:
    curves, rig = creature.curves(8), creature.rig()
    move = [MovePoint(TIP, 1.5, by=(0.05, 0.02, 0))]
    smooth, broken = (solve(rig, curves, Edit(move, edges=edges)) for edges in ("smooth", "broken"))
    assert not any(is_broken(curve).any() for curve in smooth.curves.curves)
    assert any(is_broken(curve).any() for curve in broken.curves.curves)
    outside = np.r_[np.linspace(0, 1, 20), np.linspace(2, 3, 20)]
    np.testing.assert_array_equal(broken.curves.sample(outside), curves.sample(outside))
    assert np.abs(smooth.curves.sample(outside) - curves.sample(outside)).max() > 1e-4


def test_a_curve_that_repeats_stays_seamless() -> None:
    curves = creature.curves(9)
    made = []
    for curve in curves.curves:
        values, before = curve.values.copy(), curve.before.copy()
        values[-1], before[-1] = values[0], curve.after[0]
        made.append(
            Curve(curve.channel, curve.times, values, BEZIER, before, curve.after, extrapolation=("cycle", "cycle"))
        )
    curves = Curves("loop", made, rate=24.0)
    outcome = solve(creature.rig(), curves, Edit([MovePoint(TIP, 2.6, by=(0.03, 0.03, 0))]))
    assert_reached(outcome)
    for curve in outcome.curves.curves:
        np.testing.assert_allclose(curve.before[-1], curve.after[0], atol=1e-12)


def test_linear_segments_are_made_to_bend_only_where_they_must() -> None:
    curves = creature.curves(10)
    straight = Curves("straight", [Curve(c.channel, c.times, c.values, LINEAR) for c in curves.curves], rate=24.0)
    outcome = solve(creature.rig(), straight, Edit([MovePoint(TIP, 1.5, by=(0.04, 0, 0.02))]))
    assert_reached(outcome)
    for curve in outcome.curves.curves:
        assert curve.segments[0] == LINEAR
        assert curve.segments[2] == LINEAR


@pytest.mark.parametrize("kind", ["euler", "rotation"])
def test_rows_are_derivatives_by_the_variables(kind: str) -> None:
    """Eq. 2 as a whole, through pieces, ties and units, against finite differences."""
    rig, curves = creature.rig(), creature.curves(11, kind, shared=False)
    edit = Edit([MovePoint(TIP, 1.5, by=(0.1, 0, 0), turn_to=(0, 0, 0, 1))], pins=[Pin(OTHER)], edges="smooth")
    problem = prepare_problem(rig, curves, edit)
    random = np.random.default_rng(0)
    v = 0.05 * random.normal(size=problem.tangents.count)
    for asked in (problem.moves, problem.held):
        matrix = targets.measure_targets(problem.states, problem.tangents, asked, v, problem.size).matrix
        place0, turn0 = targets.point_states(problem.states, problem.tangents, asked, v)
        for _ in range(8):
            direction, step = random.normal(size=len(v)), 1e-6
            ahead, ahead_turn = targets.point_states(problem.states, problem.tangents, asked, v + step * direction)
            back, back_turn = targets.point_states(problem.states, problem.tangents, asked, v - step * direction)
            slope = (ahead - back) / (2 * step) / problem.size
            spin = ahead_turn @ np.swapaxes(back_turn, 1, 2)
            spin = (spin - np.swapaxes(spin, 1, 2)) / (4 * step)
            turn = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
            both = np.concatenate([slope[:, None], turn[:, None]], axis=1)[asked.parts].reshape(-1)
            np.testing.assert_allclose(matrix @ direction, both, atol=1e-6)
        assert np.isfinite(place0).all()
        assert np.isfinite(turn0).all()


def test_the_kernels_agree_with_their_oracles() -> None:
    rig, curves = creature.rig(), creature.curves(12, "euler", shared=False)
    problem = prepare_problem(rig, curves, Edit([MovePoint(TIP, 1.5, by=(0.1, 0, 0))], pins=[Pin(OTHER)]))
    v = 0.05 * np.random.default_rng(1).normal(size=problem.tangents.count)
    handles, grid = problem.tangents.handles(v), problem.held.grid
    for a, b in zip(
        segments.sample_segments(problem.tangents.pieces, handles, grid),
        reference.sample_segments(problem.tangents.pieces, handles, grid),
    ):
        np.testing.assert_allclose(a, b, atol=1e-12)
    values, slopes = segments.sample_segments(problem.tangents.pieces, handles, grid)
    assert np.array_equal(segments.sample_values(problem.tangents.pieces, handles, grid), values)
    np.testing.assert_allclose(
        values, problem.tangents.apply_to_curves(v).sample(grid.times)[:, problem.states.columns], atol=1e-12
    )
    _, _, jacobian = problem.states.evaluate(values, problem.held.sample, problem.held.point)
    t, asked = problem.tangents, problem.held
    slow = np.zeros((asked.rows, t.count))
    scale = np.array([1 / problem.size, 1.0])
    reference.chain_rule(jacobian, slopes, asked.sample, grid.piece, t.variable, t.factor, asked.first_row, scale, slow)
    quick = targets.measure_targets(problem.states, t, asked, v, problem.size).matrix
    np.testing.assert_allclose(quick, slow, atol=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_bounded_handles_keep_a_column_within_its_limits(seed: int) -> None:
    """The appendix: any handles within eqs. 7 to 9 keep the whole segment within u and v."""
    random = np.random.default_rng(seed)
    u, v = -random.uniform(0, 2), random.uniform(0, 2)
    y0, y3 = random.uniform(u, v, 2)
    phi, psi = 4 / 3 * (u - min(y0, y3)), 4 / 3 * (v - max(y0, y3))
    after, before = random.uniform(phi, psi), -random.uniform(phi, psi)
    after, before = random.choice([after, phi, psi]), random.choice([before, -phi, -psi])
    x = random.uniform(0, 1, 2)
    channel = Channel("a", "controls", ("c",))
    curve = Curve(channel, [0, 1], [[y0], [y3]], BEZIER, [[[0, 0]], [[x[0], before]]], [[[x[1], after]], [[0, 0]]])
    values = curve.sample(np.linspace(0, 1, 200))
    assert values.min() >= u - 1e-12
    assert values.max() <= v + 1e-12


def test_limits_hold_at_all_times() -> None:
    """The angle that a free drag takes furthest beyond its keys is limited to half of that way."""
    curves, rig = creature.curves(13), creature.rig()
    moves, times = [MovePoint(TIP, 1.5, by=(0.2, 0.15, 0.2))], np.linspace(1, 2, 601)
    free, keys = solve(rig, curves, Edit(moves, edges="broken")).curves.sample(times), curves.sample([1.0, 2.0])
    beyond = np.where(np.abs(free - curves.sample(times)).max(axis=0) > 0.01, free.max(axis=0) - keys.max(axis=0), 0)
    column = int(np.argmax(beyond[3:27])) + 3
    high = float(keys[:, column].max() + 0.5 * (free[:, column].max() - keys[:, column].max()))
    target, _, axis = curves.channels.names[column].split(".")
    held = solve(rig, curves, Edit(moves, limits=[Limit(target, axis, high=high)], edges="broken"))
    assert free[:, column].max() > high + 0.01
    assert held.curves.sample(times)[:, column].max() <= high + 1e-9


def test_stiff_joints_move_less() -> None:
    curves, rig = creature.curves(14), creature.rig()
    columns = curves.channels.slice("spine", "euler")

    def bend(stiffness: dict[str, float]) -> float:
        outcome = solve(rig, curves, Edit([MovePoint(TIP, 1.5, by=(0.06, 0.03, 0))], stiffness=stiffness))
        assert_reached(outcome)
        return float(np.abs(outcome.curves.sample([1.5]) - curves.sample([1.5]))[0, columns].max())

    assert bend({"spine": 10}) < 0.3 * bend({}) < bend({"spine": 0.3})


def test_tangents_are_reduced_as_the_paper_does() -> None:
    """Section 3.3: a pin below shares nothing, one above frees its chain from change, one beside adds its own."""
    curves, rig = creature.curves(15), creature.rig()

    def free(*pins: Pin) -> tuple[set[str], int]:
        problem = prepare_problem(
            rig, curves, Edit([MovePoint(Point("left hand", (0.1, 0, 0)), 1.5, by=(0.01, 0, 0))], pins=pins)
        )
        used = problem.tangents.column[(problem.tangents.variable >= 0).any(axis=1)]
        return {curves.channels.names[c].split(".")[0] for c in problem.states.columns[used]}, len(problem.kept)

    chain = {"hips", "spine", "left arm", "left hand"}
    assert free() == (chain, 0)
    assert free(Pin(Point("spine"))) == ({"left arm", "left hand"}, 0)
    assert free(Pin(OTHER)) == (chain | {"right arm", "right hand", "right tip"}, 1)
    assert free(Pin(Point("spine")), Pin(OTHER)) == ({"left arm", "left hand"}, 0)  # they share nothing any more


def test_the_result_depends_on_the_goal_and_not_on_the_way() -> None:
    rig, curves = creature.rig(), creature.curves(16)
    problem = prepare_problem(rig, curves, Edit([MovePoint(TIP, 1.5, by=(0.05, 0.05, 0))]))
    zero = np.zeros(problem.tangents.count)
    direct = search(problem, problem.moves, zero, SolverSettings(tolerance=1e-6))
    astray = search(
        problem, problem.moves, 0.1 * np.random.default_rng(0).normal(size=len(zero)), SolverSettings(tolerance=1e-6)
    )
    np.testing.assert_allclose(direct.v, astray.v, atol=2e-2)
    again = search(problem, problem.moves, zero, SolverSettings(tolerance=1e-6))
    np.testing.assert_array_equal(direct.v, again.v)


def test_what_cannot_be_reached_is_approached_and_explained() -> None:
    curves, rig = creature.curves(17), creature.rig()
    far = solve(rig, curves, Edit([MovePoint(TIP, 1.5, to=(9, 9, 9))]))
    assert not far.reached
    assert far.distance < far.start_distance
    assert far.obstacles
    pinned = Edit([MovePoint(Point("left hand"), 1.5, by=(0.2, 0, 0))], pins=[Pin(TIP), Pin(Point("spine"))])
    outcome = solve(rig, curves, pinned)
    assert not outcome.reached
    assert outcome.obstacles
    assert outcome.distance <= outcome.start_distance
    times = np.linspace(0, 3, 101)
    assert np.linalg.norm(place(outcome.curves, TIP, times) - place(curves, TIP, times), axis=1).max() < 1e-3
    on_key = solve(rig, curves, Edit([MovePoint(TIP, 1.0, by=(0.1, 0, 0))]))
    assert on_key.obstacles[0].kind == "reach"
    assert "key" in on_key.obstacles[0].sentence


BAD = [
    (lambda: Edit([]), "at least one move"),
    (lambda: Edit([MovePoint(Point("tail"), 1.5, by=(0, 0, 0))]), "tail"),
    (lambda: Edit([MovePoint(TIP, 7.0, by=(0, 0, 0))]), "from 0 s to 3 s"),
    (lambda: Edit([MovePoint(TIP, np.nan, by=(0, 0, 0))]), "number of seconds"),
    (lambda: Edit([MovePoint(TIP, 1.5, by=(0, np.nan, 0))]), "by"),
    (lambda: Edit([MovePoint(TIP, 1.5)]), "says nothing"),
    (lambda: Edit([MovePoint(TIP, 1.5, by=(0, 0, 1))], pins=[Pin(TIP)]), "pinned and moved"),
    (lambda: Edit([MovePoint(TIP, 1.5, by=(0, 0, 1))], contacts=[Contact(OTHER, 1.0, 1.0)]), "last some time"),
    (lambda: Edit([MovePoint(TIP, 1.5, by=(0, 0, 1))], limits=[Limit("left arm", "w", 0, 1)]), "no column"),
    (lambda: Edit([MovePoint(TIP, 1.5, by=(0, 0, 1))], limits=[Limit("left arm", "x", 7, 8)]), "its key at"),
    (lambda: Edit([MovePoint(TIP, 1.5, by=(0, 0, 1))], stiffness={"tail": 2}), "tail"),
]


@pytest.mark.parametrize(("make", "words"), BAD)
def test_bad_edits_are_refused_in_one_sentence(make: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        solve(creature.rig(), creature.curves(), make())  # type: ignore[operator]
    assert "\n" not in str(caught.value)
