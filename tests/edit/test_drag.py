"""Drags start warm, do not depend on the path of the pointer, are one step of undo, and travel as plain data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.edit import creature, figure

from understudy.character import Curves
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.edit import serialise
from understudy.edit.drag import DragSession
from understudy.edit.edit_list_actions import key_at_times
from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point
from understudy.edit.rotation_curves import to_euler
from understudy.edit.serialise import curves_data, curves_from_data, edit_data, edit_from_data
from understudy.edit.solver.free_columns import character_size
from understudy.edit.solver.objective_terms import Arc
from understudy.edit.solver.sqp import solve
from understudy.errors import InvalidInput
from understudy.formats import registry

LEFT, RIGHT = Point("L hand"), Point("R hand")
DRAG = Edit([MovePoint(LEFT, 0.5, by=(0, 0, 0))], pins=[Pin(RIGHT, orientation=False)])


def session(**options: Any) -> DragSession:
    return DragSession(figure.rig(), figure.curves(), **options)


def place(curves: Curves, time: float = 0.5, joint: str = "L hand") -> Array:
    rig = figure.rig()
    found: Array = rig.joints(rig.pose(curves, [time]))[0, rig.character.skeleton.index(joint), :3, 3]
    return found


def tangents(curves: Curves) -> Array:
    return np.concatenate([np.concatenate([c.before.ravel(), c.after.ravel()]) for c in curves.curves])


def test_a_drag_follows_the_pointer_and_is_one_step() -> None:
    live = session()
    before = live.curves
    drag = live.begin(DRAG)
    np.testing.assert_allclose(drag.places[0], place(before), atol=1e-12)
    for share in np.linspace(0, 1, 7):
        goal = np.array(drag.places[0]) + share * np.array((0.05, 0.03, -0.02))
        outcome = live.update(to=tuple(goal))
        assert outcome.reached
        np.testing.assert_allclose(place(live.curves), goal, atol=1e-3)
        assert live.committed_curves is before
    after = live.commit()
    assert live.drag is None
    assert live.steps == (1, 0)
    assert live.undo() is before
    assert live.redo() is after
    assert live.steps == (1, 0)


def test_there_and_back_leaves_no_trace() -> None:
    """Also by way of places that cannot be reached; at the start the very same curves come back."""
    live = session()
    start = np.array(live.begin(DRAG).places[0])
    goal = start + np.array((0.06, 0.04, 0.02))
    live.update(to=goal)
    direct = live.curves
    for way in ((0.12, 0, 0.05), (3, 2, 1), (-0.1, 0.08, 0), (0.5, -2, 0), (0.02, 0.04, 0.06)):
        live.update(to=start + way)
    live.update(to=goal)
    times = np.linspace(0, 2, 101)
    rig = figure.rig()
    a, b = (rig.joints(rig.pose(c, times))[..., :3, 3] for c in (direct, live.curves))
    assert np.linalg.norm(a - b, axis=-1).max() < 0.03  # two hundredths of the character, at any joint and time
    np.testing.assert_allclose(place(live.curves), goal, atol=1e-3)
    live.update(to=start)
    np.testing.assert_array_equal(tangents(live.curves), tangents(live.committed_curves))
    live.commit()
    assert live.steps == (0, 0)  # nothing changed, nothing to undo


@pytest.mark.parametrize("pins", [(), DRAG.pins])
def test_a_warm_update_is_what_a_fresh_solution_is(pins: tuple[Pin, ...]) -> None:
    live = session()
    start = np.array(live.begin(Edit(DRAG.moves, pins)).places[0])
    for share in np.linspace(0.1, 1, 10):
        live.update(to=start + share * np.array((0.05, 0.03, 0)))
    assert live.drag is not None
    fresh = solve(figure.rig(), live.committed_curves, live.drag.edit)
    assert live.drag.outcome is not None
    assert fresh.reached <= live.drag.outcome.reached
    rig, times = figure.rig(), np.linspace(0, 2, 101)
    a, b = (rig.joints(rig.pose(c, times))[..., :3, 3] for c in (fresh.curves, live.curves))
    assert np.linalg.norm(a - b, axis=-1).max() < (0.03 if pins else 0.005)


@pytest.mark.parametrize("pins", [(), ("LeftFoot",), ("LeftFoot", "RightFoot", "Head")])
def test_a_real_character_follows_the_pointer(pins: tuple[str, ...]) -> None:
    """A walk of 31 joints, keyed twice a second and turned by angles; what is pinned stays at all times."""
    asset = registry.read(data_file("bvh_cmu/02_01.bvh"))
    rig, clip = DirectRig(asset.characters[0]), asset.clips[0]
    curves = to_euler(key_at_times(clip, np.arange(0.0, 2.6, 0.5).tolist()), "zyx")
    live = DragSession(rig, curves)
    edit = Edit([MovePoint(Point("RightHand"), 1.27, by=(0, 0, 0))], [Pin(Point(name)) for name in pins])
    start = np.array(live.begin(edit).places[0])
    for turn in np.linspace(0, 2 * np.pi, 9):
        goal = start + 0.06 * np.array((np.cos(turn) - 1, np.sin(turn), 0.0))
        assert live.update(to=goal).reached
    np.testing.assert_array_equal(tangents(live.curves), tangents(curves))  # once around, and back
    live.update(to=start + np.array((0.05, 0.08, 0.02)))
    times = np.linspace(0, 2.5, 251)
    before, after = (rig.joints(rig.pose(c, times))[..., :3, 3] for c in (curves, live.curves))
    for name in pins:
        j = rig.character.skeleton.index(name)
        assert np.linalg.norm(after[:, j] - before[:, j], axis=1).max() < 1e-3 * character_size(rig)
    far = live.update(to=start + np.array((2.0, 2.0, 1.0)))
    assert far.distance <= far.start_distance
    assert far.reached or far.obstacles


def test_a_goal_out_of_reach_is_followed_without_jumps() -> None:
    """The point goes on by about as much as its goal does, and is about as near as a fresh solution."""
    live = session()
    pins = (*DRAG.pins, Pin(Point("L hand"), orientation=False, start=1.0))
    start = np.array(live.begin(Edit(DRAG.moves, pins)).places[0])
    places = []
    for share in np.linspace(0.02, 1, 50):
        outcome = live.update(to=start + share * np.array((0.4, -0.1, 0.2)))
        places.append(place(live.curves))
        assert outcome.distance <= outcome.start_distance
    assert not outcome.reached and outcome.obstacles
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert np.sort(steps)[-2] < 0.03 and np.median(steps) < 0.01, "one jump at most, where it begins anew"
    assert live.drag is not None
    fresh = solve(figure.rig(), live.committed_curves, live.drag.edit)
    assert outcome.distance < 1.15 * fresh.distance


def test_cancel_restores_and_bad_updates_change_nothing() -> None:
    live = session()
    before = live.curves
    live.begin(DRAG)
    live.update(by=(0.05, 0, 0))
    seen, drag, state = live.curves, live.drag, json.dumps(live.state())
    bad: list[tuple[Any, str]] = [
        ({"to": (0, np.nan, 0)}, "finite"),
        ({"to": (0, 0)}, "shape"),
        ({"to": "there"}, "array"),
        ({"to": (0, 0, 0), "by": (0, 0, 0)}, "both"),
        ({}, "says nothing"),
        ({"turn_to": (0, 0, 0, 1)}, "should do the same"),
        ({"moves": []}, "1 moves, but 0"),
        ({"moves": [MovePoint(RIGHT, 0.5, by=(0, 0, 0))]}, "should do the same"),
        ({"moves": [MovePoint(LEFT, 0.6, by=(0, 0, 0))]}, "should do the same"),
        ({"moves": [MovePoint(LEFT, 0.5, by=(0, 0, 0))], "to": (0, 0, 0)}, "gives both"),
    ]
    for arguments, words in bad:
        with pytest.raises(InvalidInput, match=words) as caught:
            live.update(**arguments)
        assert "\n" not in str(caught.value)
        assert live.curves is seen
        assert live.drag is drag
        assert json.dumps(live.state()) == state
    assert live.cancel() is before
    assert live.steps == (0, 0)


def test_what_is_out_of_turn_is_refused() -> None:
    live = session()
    for act in (live.update, live.commit, live.cancel):
        with pytest.raises(InvalidInput, match="no drag is in progress"):
            act()
    for act in (live.undo, live.redo):
        with pytest.raises(InvalidInput, match="nothing to"):
            act()
    with pytest.raises(InvalidInput, match="tail"):
        live.begin(Edit([MovePoint(Point("tail"), 0.5, by=(0, 0, 0))]))
    assert live.drag is None
    live.begin(DRAG)
    for other in (lambda: live.begin(DRAG), live.undo, live.redo, lambda: live.put(live.curves)):
        with pytest.raises(InvalidInput, match="commit or cancel"):
            other()
    with pytest.raises(InvalidInput, match="history"):
        session(history=-1)


def test_history_is_bounded_and_a_new_step_forgets_what_was_undone() -> None:
    live = session(history=3)
    seen = [live.curves]
    for k in range(5):
        live.begin(DRAG)
        live.update(by=(0.01 * (k + 1), 0, 0))
        seen.append(live.commit())
    assert live.steps == (3, 0)
    assert [live.undo() for _ in range(3)] == seen[4:1:-1]
    with pytest.raises(InvalidInput, match="nothing to undo"):
        live.undo()
    assert live.redo() is seen[3]
    live.put(seen[0])
    assert live.steps == (2, 0)


@pytest.mark.parametrize("during", [False, True])
def test_the_state_travels_and_goes_on_where_it_was(during: bool) -> None:
    live = session()
    for by in ((0.03, 0.01, 0), (0.05, 0, 0.02)):
        live.begin(DRAG)
        live.update(by=by)
        live.commit()
    live.undo()
    if during:
        live.begin(DRAG)
        live.update(by=(0.02, 0.03, 0))
    text = json.dumps(live.state(), allow_nan=False)
    other = DragSession.from_state(figure.rig(), json.loads(text))
    assert json.dumps(other.state()) == text
    assert serialise.same_curves(other.curves, live.curves)
    assert serialise.same_curves(other.committed_curves, live.committed_curves)
    assert other.steps == live.steps
    if during:
        assert live.drag is not None
        assert other.drag is not None
        assert other.drag.edit == live.drag.edit
        assert serialise.same_curves(other.update(by=(0.04, 0.03, 0)).curves, live.update(by=(0.04, 0.03, 0)).curves)
        live.cancel()
        other.cancel()
    assert serialise.same_curves(other.redo(), live.redo())
    assert serialise.same_curves(other.undo(), live.undo())
    assert serialise.same_curves(other.undo(), live.undo())


def test_a_state_keeps_only_what_a_step_changed() -> None:
    live = session()
    live.begin(Edit([MovePoint(Point("L fore"), 0.5, by=(0, 0, 0))], pins=[Pin(Point("chest"))]))
    live.update(by=(0.02, 0.02, 0))
    live.commit()
    (step,) = live.state()["undo"]
    changed = {live.curves.curves[i].channel.target for i, _ in step["changed"]}
    assert changed == {"L upper"}


@pytest.mark.parametrize("kind", ["euler", "rotation", "mixed"])
def test_curves_come_back_to_the_last_bit(kind: str) -> None:
    curves = creature.curves(3, kind, shared=False, scale=True)
    again = curves_from_data(json.loads(json.dumps(curves_data(curves))))
    assert serialise.same_curves(curves, again)
    assert again.channels == curves.channels


def test_edits_come_back_as_they_were() -> None:
    edit = Edit(
        [MovePoint(LEFT, 0.5, to=(0.1, 1 / 3, 0)), MovePoint(Point(vertex=3), 0.7, turn_to=(0, 0, 0.1, 1))],
        [Pin(RIGHT, start=0.2, orientation=False)],
        [Contact(Point("toe", (0, 0.1, 0)), 0, 1)],
        [Hold(RIGHT, 0.4)],
        [Limit("L fore", "x", high=1.0)],
        {"root": 3.0},
        stop=1.5,
        edges="broken",
        terms=[Arc(LEFT, 0.0, 1.0)],
    )
    assert edit_from_data(json.loads(json.dumps(edit_data(edit), allow_nan=False))) == edit


@pytest.mark.parametrize(
    "spoil",
    [
        lambda s: s.update(version=9),
        lambda s: s.pop("curves"),
        lambda s: s["curves"].pop("curves"),
        lambda s: s["curves"]["curves"][0].update(times=[1, 0, 2]),
        lambda s: s["curves"]["curves"][0].update(values="no"),
        lambda s: s["curves"]["curves"][0].update(before=[1]),
        lambda s: s["curves"]["curves"][0].pop("kind"),
        lambda s: s.update(undo=3),
        lambda s: s.update(undo=[3]),
        lambda s: s.update(undo=[{"changed": [[99, {}]]}]),
        lambda s: s.update(history="many"),
        lambda s: s.update(gesture=[]),
        lambda s: s["gesture"]["edit"].update(moves=[{"is": "Leap"}]),
        lambda s: s["gesture"]["edit"].update(pin=[]),
        lambda s: s["gesture"].update(v=[1.0]),
        lambda s: s["gesture"].update(pull=0),
        lambda s: s["gesture"].update(places=[1.0]),
        lambda s: s["gesture"].update(outcome={"curves": []}),
    ],
)
def test_spoilt_states_are_refused_in_one_sentence(spoil: Any) -> None:
    live = session()
    live.begin(DRAG)
    live.update(by=(0.01, 0, 0))
    state = json.loads(json.dumps(live.state()))
    spoil(state)
    with pytest.raises(InvalidInput) as caught:
        DragSession.from_state(figure.rig(), state)
    assert "\n" not in str(caught.value)
