"""Suggestions for blocked edits: accepting one gives what its sentence says, with no more keys than needed."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import creature, figure
from tests.edit.solver.test_diagnosis import limits_around

from understudy.character import Curves
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, Hold, MovePoint, Pin, Point
from understudy.edit.outcome import Suggestion
from understudy.edit.solver.sqp import solve
from understudy.edit.solver.suggestions import suggest
from understudy.errors import InvalidInput

LEFT, RIGHT, CHEST = Point("L hand"), Point("R hand"), Point("chest")


def place(rig: DirectRig, curves: Curves, joint: str, times: list[float]) -> Array:
    found: Array = rig.joints(rig.pose(curves, times))[:, rig.character.skeleton.index(joint), :3, 3]
    return found


def offered(curves: Curves, edit: Edit, rig: DirectRig | None = None) -> dict[str, Suggestion]:
    """The offers by kind, and what is true of all."""
    rig = figure.rig() if rig is None else rig
    outcome = solve(rig, curves, edit)
    assert not outcome.reached
    found = suggest(rig, curves, edit, outcome)
    for offer in found:
        assert any(letter.isdigit() for letter in offer.sentence) or "it is reached" in offer.sentence
        assert "\n" not in offer.sentence
        keys = sum(len(c) for c in offer.outcome.curves.curves) - sum(len(c) for c in curves.curves)
        assert keys == offer.keys
        if offer.outcome.reached:
            for move in edit.moves:
                goal = move.to
                if move.by is not None:
                    goal = tuple(place(rig, curves, move.point.joint, [move.time])[0] + np.array(move.by))
                if goal is not None:
                    at = place(rig, offer.outcome.curves, move.point.joint, [move.time])[0]
                    assert np.linalg.norm(at - np.array(goal)) < 1e-3
        else:
            assert offer.outcome.distance < outcome.distance
        if offer.kind != "insert":
            again = solve(rig, curves, offer.edit)  # accepting is doing the other edit
            assert again.reached == offer.outcome.reached
    assert len({offer.kind for offer in found}) == len(found)
    return {offer.kind: offer for offer in found}


def test_the_pin_that_blocks_is_offered_and_not_the_other() -> None:
    pins = [Pin(RIGHT, orientation=False), Pin(CHEST)]
    found = offered(figure.curves(seed=1, amount=0.8), Edit([MovePoint(LEFT, 0.5, by=(0.3, 0.2, 0))], pins=pins))
    offer = found["release"]
    assert offer.what == ("'chest'",)
    assert offer.sentence.startswith("without the pin of 'chest' ")
    assert [pin.point for pin in offer.edit.pins] == [RIGHT]
    assert offer.outcome.reached
    assert offer.keys == 0


def test_a_limit_is_lifted_as_far_as_is_needed() -> None:
    curves = figure.curves(shift=False, still=("root", "chest"))
    limits = [limit for name in ("L upper", "L fore") for limit in limits_around(curves, name, 0.02)]
    edit = Edit([MovePoint(LEFT, 0.5, by=(-0.2, 0.15, 0.1))], pins=[Pin(CHEST)], limits=limits)
    offer = offered(curves, edit)["widen"]
    assert offer.outcome.distance < solve(figure.rig(), curves, edit).distance
    changed = [(a, b) for a, b in zip(edit.limits, offer.edit.limits) if a != b]
    assert changed
    assert all(b.low <= a.low and b.high >= a.high for a, b in changed)
    assert "degrees" in offer.sentence


def test_a_range_that_leaves_the_move_out_is_widened() -> None:
    edit = Edit([MovePoint(LEFT, 0.5, by=(0.1, 0, 0))], start=1.0, stop=2.0, edges="broken")
    offer = offered(figure.curves(), edit)["widen"]
    assert offer.outcome.reached
    assert offer.sentence == "with the tangents around 0.5 s free as well it is reached"


@pytest.mark.parametrize(
    ("rig", "curves", "gap"),
    [(figure.rig(), figure.curves(), 0.1), (creature.rig(), creature.curves(3, "rotation"), 0.06)],
)
def test_one_key_is_offered_where_one_is_enough(rig: DirectRig, curves: Curves, gap: float) -> None:
    """Held moments on both sides leave the tangents no way: angles and quaternions alike."""
    held = [0.5 - gap, 0.5 + gap]
    hand = Point(rig.character.skeleton.names[4])
    edit = Edit([MovePoint(hand, 0.5, by=(0.1, 0.08, 0))], holds=[Hold(hand, t) for t in held])
    offer = offered(curves, edit, rig)["insert"]
    assert offer.keys == 1
    assert offer.outcome.reached
    assert "one key at 0.5 s" in offer.sentence
    before = place(rig, curves, hand.joint, held)
    np.testing.assert_allclose(place(rig, offer.outcome.curves, hand.joint, held), before, atol=1e-3)


def test_a_key_that_throws_the_hand_is_not_offered() -> None:
    """With moments held 40 ms away, a key of the root alone would send the hand more than two metres off its path."""
    edit = Edit([MovePoint(LEFT, 0.5, by=(0.1, 0.08, 0))], holds=[Hold(LEFT, 0.46), Hold(LEFT, 0.54)])
    offer = offered(figure.curves(), edit)["insert"]
    assert offer.keys > 1 and offer.outcome.reached
    assert offer.outcome.change is not None and offer.outcome.change.overshoot < 6


def test_moves_that_pull_apart_get_keys_at_more_times() -> None:
    moves = [MovePoint(LEFT, 0.5 + 0.04 * k, by=(0, 0.03 * (-1) ** k, 0.03 * (-1) ** k)) for k in range(-1, 2)]
    found = offered(figure.curves(amount=0.8, seed=1), Edit(moves, pins=[Pin(CHEST)]))
    assert found["insert"].outcome.reached
    assert found["insert"].keys >= 1


def test_at_a_key_that_key_is_changed() -> None:
    found = offered(figure.curves(), Edit([MovePoint(LEFT, 1.0, by=(0.1, 0.1, 0))]))
    assert found["insert"].keys == 0
    assert "changed" in found["insert"].sentence


def test_what_nothing_helps_gets_no_offer() -> None:
    assert offered(figure.curves(shift=False), Edit([MovePoint(LEFT, 0.5, to=(9, 9, 9))])) == {}


def test_a_contact_that_contradicts_keys_can_be_released() -> None:
    edit = Edit([MovePoint(LEFT, 0.5, by=(0.05, 0.05, 0))], contacts=[Contact(RIGHT, 0.0, 1.0)])
    assert offered(figure.curves(), edit)["release"].what == ("'R hand'",)
    alone = Edit([], contacts=[Contact(RIGHT, 0.0, 1.0)])
    assert "release" not in offered(figure.curves(), alone)  # there would be nothing left to do


def test_reached_edits_and_unknown_kinds() -> None:
    easy = Edit([MovePoint(LEFT, 0.5, by=(0.01, 0, 0))])
    assert suggest(figure.rig(), figure.curves(), easy) == ()
    with pytest.raises(InvalidInput, match="release, widen, insert"):
        suggest(figure.rig(), figure.curves(), easy, kinds=("bribe",))
