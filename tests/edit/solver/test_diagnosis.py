"""Blocked edits, each built so that its obstacle is known: the obstacle is named, with a number."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import figure
from tests.reference import edit as reference

from understudy.character import Curves
from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point
from understudy.edit.outcome import OBSTACLE_KINDS, EditResult
from understudy.edit.solver import qp, target_kernels, targets
from understudy.edit.solver.diagnosis import constraint_forces
from understudy.edit.solver.problem import prepare_problem
from understudy.edit.solver.sqp import SolverSettings, search, solve
from understudy.errors import InvalidInput
from understudy.maths import quaternion

LEFT, RIGHT, CHEST, FORE = Point("L hand"), Point("R hand"), Point("chest"), Point("L fore")


def blocked(curves: Curves, edit: Edit) -> EditResult:
    """The outcome of an edit that cannot be reached, and what must be true of every such."""
    outcome = solve(figure.rig(), curves, edit)
    assert not outcome.reached
    assert outcome.obstacles
    assert outcome.distance <= outcome.start_distance + 1e-12
    for block in outcome.obstacles:
        assert block.kind in OBSTACLE_KINDS
        assert 0 <= block.share <= 1 + 1e-9
        assert any(letter.isdigit() for letter in block.sentence)  # how far it got
        assert "\n" not in block.sentence
        assert len(block.sentence) < 160
        assert "e+" not in block.sentence
    return outcome


def limits_around(curves: Curves, joint: str, margin: float) -> list[Limit]:
    """Limits of all three angles of a joint, just outside of its keys."""
    found = []
    for axis in "xyz":
        values = curves.sample(curves.curves[0].times)[:, curves.channels.names.index(f"{joint}.euler.{axis}")]
        found.append(Limit(joint, axis, float(values.min()) - margin, float(values.max()) + margin))
    return found


def test_a_goal_beyond_the_limb_says_how_long_it_is() -> None:
    block = blocked(figure.curves(shift=False), Edit([MovePoint(LEFT, 0.5, to=(3, 2, 0))])).obstacles[0]
    assert block.kind == "reach"
    assert block.sentence.startswith("the chain from 'root' to 'L hand' is 1.22 m long, and the goal is 3.16 m away")
    assert "m remain" in block.sentence


@pytest.mark.parametrize("whole", [True, False])
def test_a_pin_above_is_named(whole: bool) -> None:
    """With its orientation its columns are left alone [section 3.3, case 2], without it is a row of the program."""
    edit = Edit([MovePoint(LEFT, 0.5, to=(3, 2, 0))], pins=[Pin(CHEST, orientation=whole)])
    block = blocked(figure.curves(), edit).obstacles[0]
    assert (block.kind, block.what) == ("pin", "'chest'")
    assert "the pin of 'chest' holds 'L hand' back" in block.sentence


def test_a_point_whose_chain_is_pinned_does_not_move() -> None:
    edit = Edit([MovePoint(FORE, 0.5, by=(0.2, 0.1, 0))], pins=[Pin(Point("L upper"))])
    outcome = blocked(figure.curves(), edit)
    assert outcome.distance == outcome.start_distance
    assert [(b.kind, b.what) for b in outcome.obstacles] == [("pin", "'L upper'")]
    assert "224 of 224 mm remain" in outcome.obstacles[0].sentence


def test_both_contacts_are_named() -> None:
    curves = figure.curves(still=figure.NAMES)
    contacts = [Contact(LEFT, 0, 1), Contact(RIGHT, 0, 1)]
    outcome = blocked(curves, Edit([MovePoint(CHEST, 0.5, by=(0, 1.2, 0))], contacts=contacts))
    assert {(b.kind, b.what) for b in outcome.obstacles} == {("contact", "'L hand'"), ("contact", "'R hand'")}
    assert all("from 0 s to 1 s" in b.sentence for b in outcome.obstacles)
    assert sum(b.share for b in outcome.obstacles) == pytest.approx(1)


def test_a_limit_is_named_with_its_value() -> None:
    curves = figure.curves(shift=False, still=("root", "chest"))
    limits = limits_around(curves, "L fore", 0.02)
    edit = Edit([MovePoint(LEFT, 0.5, by=(-0.35, 0.1, 0.2))], pins=[Pin(Point("L upper"))], limits=limits)
    outcome = blocked(curves, edit)
    named = {b.what: b for b in outcome.obstacles if b.kind == "limit"}
    assert named
    for name, block in named.items():
        limit = next(limit for limit in limits if name.endswith(limit.column))
        values = [f"{np.degrees(value):.4g} degrees" for value in (limit.low, limit.high)]
        assert any(value in block.sentence for value in values)
    lifted = blocked(curves, Edit(edit.moves, edit.pins))
    assert not any(b.kind == "limit" for b in lifted.obstacles)
    assert lifted.distance < outcome.distance


def test_time_handles_at_their_ends_push() -> None:
    """With no room for values only timing is left: the hand is asked for where it will be near the end.

    Limits are what pushes most there; time handles are dear, and are at their ends as well.
    """
    curves, rig = figure.curves(shift=False, keys=(0.0, 1.0)), figure.rig()
    limits = [limit for name in figure.NAMES[:5] for limit in limits_around(curves, name, 1e-4)]
    later = rig.joints(rig.pose(curves, [0.95]))[0, rig.character.skeleton.index("L hand"), :3, 3]
    edit = Edit([MovePoint(LEFT, 0.2, to=tuple(later.tolist()))], limits=limits, edges="broken")
    outcome = blocked(curves, edit)
    assert outcome.distance < 0.9 * outcome.start_distance
    assert {b.kind for b in outcome.obstacles} == {"limit"}
    problem = prepare_problem(rig, curves, edit)
    now = constraint_forces(problem, search(problem, problem.moves, np.zeros(problem.tangents.count), SolverSettings()))
    timing = [(bound, push) for bound, push in now.bounds if bound.handle % 2 == 0]
    assert timing
    assert all(push > 0 for _, push in timing)
    assert now.rest < 0.5 * now.pull  # the balance is found, and little is left of the pull


@pytest.mark.parametrize("moves", [[], [MovePoint(LEFT, 0.5, by=(0.05, 0.05, 0))]])
def test_a_key_against_a_contact_says_which_and_how_far(moves: list[MovePoint]) -> None:
    curves, rig = figure.curves(), figure.rig()
    place = rig.joints(rig.pose(curves, [0.0, 1.0]))[:, rig.character.skeleton.index("R hand"), :3, 3]
    away = float(np.linalg.norm(place[1] - place[0]))
    block = blocked(curves, Edit(moves, contacts=[Contact(RIGHT, 0.0, 1.0)])).obstacles[0]
    assert block.kind == "contact"
    assert block.sentence == f"the key at 1 s puts 'R hand' {away:.3g} m away from where its contact begins"


def test_a_move_at_a_key_says_so() -> None:
    block = blocked(figure.curves(), Edit([MovePoint(LEFT, 1.0, by=(0.1, 0, 0))])).obstacles[0]
    assert block.kind == "reach"
    assert "has a key at 1 s, and keys stay" in block.sentence


def test_a_move_outside_the_range_says_so() -> None:
    edit = Edit([MovePoint(LEFT, 0.5, by=(0.1, 0, 0))], start=1.0, stop=2.0, edges="broken")
    block = blocked(figure.curves(), edit).obstacles[0]
    assert "the edit's range leaves the tangents around 0.5 s alone" in block.sentence


def test_held_moments_beside_the_move_are_named() -> None:
    edit = Edit([MovePoint(LEFT, 0.5, by=(0.2, 0.1, 0))], holds=[Hold(LEFT, 0.49), Hold(LEFT, 0.51)])
    block = blocked(figure.curves(), edit).obstacles[0]
    assert (block.kind, block.what) == ("hold", "'L hand'")


def test_turns_are_told_in_degrees() -> None:
    edit = Edit([MovePoint(FORE, 0.5, turn_to=(0, 0.7, 0, 0.7))], pins=[Pin(LEFT), Pin(CHEST)])
    outcome = blocked(figure.curves(), edit)
    assert {b.what for b in outcome.obstacles} <= {"'L hand'", "'chest'"}
    assert "degrees remain" in outcome.obstacles[0].sentence


def test_a_frozen_pin_stays_when_others_free_its_columns() -> None:
    """The hand's pin needs the whole chain, which the pin of the chest leaves alone."""
    curves = figure.curves()
    edit = Edit([MovePoint(FORE, 0.5, by=(0.02, 0.02, 0))], pins=[Pin(CHEST), Pin(LEFT, orientation=False)])
    outcome, rig, times = solve(figure.rig(), curves, edit), figure.rig(), np.linspace(0, 2, 101)
    before, after = (rig.joints(rig.pose(c, times))[:, 1] for c in (curves, outcome.curves))
    np.testing.assert_allclose(before, after, atol=1e-12)


def test_a_pin_is_not_forgotten_when_another_frees_what_moves_it() -> None:
    """The first pin shares nothing with the move, but with the second, which is met later."""
    curves, rig, times = figure.curves(), figure.rig(), np.linspace(0, 2, 101)
    pins = [Pin(Point("R fore"), orientation=False), Pin(Point("R hand"), orientation=False)]
    outcome = solve(rig, curves, Edit([MovePoint(LEFT, 0.5, by=(0.02, 0.02, 0))], pins=pins))
    for name in ("R fore", "R hand"):
        j = rig.character.skeleton.index(name)
        before, after = (rig.joints(rig.pose(c, times))[:, j, :3, 3] for c in (curves, outcome.curves))
        assert np.linalg.norm(before - after, axis=1).max() < 1e-3


def test_the_soft_program_is_the_hard_one_where_rows_can_be_met() -> None:
    problem = prepare_problem(
        figure.rig(),
        figure.curves(),
        Edit([MovePoint(LEFT, 0.5, by=(0.03, 0.02, 0))], pins=[Pin(RIGHT, orientation=False)]),
    )
    found = search(problem, problem.moves, np.zeros(problem.tangents.count), SolverSettings())
    random = np.random.default_rng(0)
    n, m = 12, 4
    c, a = random.normal(size=(m, n)), random.normal(size=(3, n))
    x = random.normal(size=n) * 0.1
    exact = qp.Program(
        np.ones(n), np.zeros(n), np.full(n, -1.0), np.full(n, 1.0), a, a @ x, np.full(3, 1e3), c, c @ x, c @ x
    )
    hard, soft = qp.minimise(exact), qp.minimise_soft(exact, 1e9)
    assert hard is not None
    assert soft is not None
    np.testing.assert_allclose(hard.x, soft.x, atol=1e-5)
    np.testing.assert_allclose(hard.row_forces, soft.row_forces, atol=1e-2 * np.abs(hard.row_forces).max())
    assert found.iterations > 0


def test_the_compiled_gram_is_the_product() -> None:
    random = np.random.default_rng(1)
    rows, weights = random.normal(size=(7, 5)) * (random.uniform(size=(7, 5)) > 0.5), random.uniform(size=7)
    gram = np.eye(5)
    target_kernels.gram(rows, weights, gram)
    np.testing.assert_allclose(gram, np.eye(5) + (rows.T * weights) @ rows, atol=1e-12)


def test_the_compiled_gaps_are_the_same() -> None:
    random = np.random.default_rng(2)
    edit = Edit(
        [MovePoint(LEFT, 0.5, by=(0, 0, 0), turn_to=(0, 0, 0, 1)), MovePoint(RIGHT, 0.5, turn_to=(1, 0, 0, 0))],
        pins=[Pin(CHEST)],
    )
    moves = prepare_problem(figure.rig(), figure.curves(), edit).moves
    for angle in (0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-7, np.pi):
        axis = random.normal(size=(2, 3))
        turn = quaternion.from_rotation_vector(angle * axis / np.linalg.norm(axis, axis=1, keepdims=True))
        orientation = quaternion.to_matrix(turn) @ moves.turn
        place = random.normal(size=(2, 3))
        quick, slow = (f(moves, place, orientation, 1.3) for f in (targets.gaps, reference.gaps))
        if angle > 3.1:  # half a turn may be told either way around
            quick, slow = np.abs(quick), np.abs(slow)
        np.testing.assert_allclose(quick, slow, atol=1e-7 if angle > 3.1 else 1e-12)
        np.testing.assert_allclose(np.linalg.norm(quick[:, 3:], axis=1), angle, atol=1e-7)


def test_contradictions_that_are_plain_are_refused() -> None:
    with pytest.raises(InvalidInput, match="pinned and moved"):
        solve(figure.rig(), figure.curves(), Edit([MovePoint(LEFT, 0.5, by=(0, 0, 1))], pins=[Pin(LEFT)]))
