"""A capture is dragged as it is: within a window, with the feet held, and with the truth at the release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.studio.edit.conftest import Editor, point
from tests.studio.talking import Refused, Studio

from understudy.character import Curves
from understudy.edit.goals import Point
from understudy.edit.solver.objective_terms import path_of
from understudy.studio.security import AllowedFolders
from understudy.studio.session import Session

HAND, TIME = "RightHand", 1.4


@pytest.fixture(scope="module")
def walk_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with a captured walk."""
    walk, folders = data_file("bvh_cmu/02_01.bvh"), AllowedFolders()
    folders.allow([walk.parent])
    with Studio(Session(tmp_path_factory.mktemp("project"), folders)) as studio:
        with studio.page() as page:
            page.ask("open", path=walk.name)
        yield studio


@pytest.fixture
def walker(walk_studio: Studio) -> Iterator[Editor]:
    """The walk, open for editing, as if for the first time."""
    with walk_studio.page() as page:
        for entry in page.document["edits"]:
            page.ask("delete", what="edit", target=entry["id"])
        editor = Editor(walk_studio, page)
        editor.open(page.document["characters"][0]["clips"][0]["name"])
        yield editor


def release(editor: Editor, gesture: int) -> dict[str, Any]:
    """End a drag; returns the outcome of the release."""
    editor.page.send(json.dumps({"kind": "editEnd", "id": 90_000 + gesture, "gesture": gesture, "commit": True}))
    return editor.page.until(lambda event: event["kind"] == "editOutcome" and event["released"])


def travel(editor: Editor, before: Curves, joint: str, start: float, stop: float) -> float:
    """Metres, how far a joint moves at most in a span of time (seconds from the beginning)."""
    editing = editor.controller.editing
    times = editing.origin + np.linspace(start, stop, 40)
    paths = [path_of(editing.rig, curves, [Point(joint)], times)[:, 0] for curves in (before, editing.committed)]
    return float(np.linalg.norm(paths[1] - paths[0], axis=1).max())


def test_a_capture_says_where_its_feet_stand(walker: Editor) -> None:
    state = walker.state
    assert state["baked"] and state["windowed"] and state["holdFeet"]
    assert {foot["joint"] for foot in state["feet"]} == {"LeftFoot", "RightFoot"}
    assert all(foot["held"] and 0 <= foot["start"] < foot["stop"] <= state["seconds"] for foot in state["feet"])


def test_a_hand_is_dragged_at_once_and_the_release_tells_the_truth(walker: Editor) -> None:
    before = walker.controller.editing.committed
    begun = walker.begin(HAND, TIME)
    assert {foot["joint"] for foot in begun["feet"]} == {"LeftFoot", "RightFoot"}
    goal = np.add(begun["place"], (0.0, 0.1, 0.03)).tolist()
    outcome = walker.drag(begun["gesture"], to=goal)
    assert outcome["radius"] == pytest.approx(0.5) and not outcome["released"] and outcome["change"] is None
    final = release(walker, begun["gesture"])
    change = final["change"]
    assert final["reached"] and final["number"] == outcome["number"]
    assert change["askedM"] == pytest.approx(np.linalg.norm((0.1, 0.03)), rel=1e-3)
    assert change["furthestM"] < 1.25 * change["askedM"] and change["extraTurns"] < 0.5
    assert TIME - 0.46 < change["start"] < TIME < change["stop"] < TIME + 0.46
    assert {foot["joint"] for foot in final["feet"]} == {"LeftFoot", "RightFoot"}
    assert travel(walker, before, HAND, TIME - 0.01, TIME + 0.01) > 0.1
    for foot in begun["feet"]:
        assert travel(walker, before, foot["joint"], foot["start"], foot["stop"]) < 2e-3
    assert travel(walker, before, HAND, 0.0, TIME - 0.5) < 1e-6
    assert walker.last_state()["keys"] == walker.state["keys"]


def test_another_falloff_prepares_the_same_drag_again(walker: Editor) -> None:
    before = walker.controller.editing.committed
    begun = walker.begin(HAND, TIME, falloff=0.3)
    goal = np.add(begun["place"], (0.0, 0.06, 0.0)).tolist()
    assert walker.drag(begun["gesture"], to=goal, falloff=0.3)["radius"] == pytest.approx(0.3)
    wide = walker.drag(begun["gesture"], to=goal, falloff=0.9)
    assert wide["radius"] == pytest.approx(0.9) and wide["distance"] < 1e-3
    release(walker, begun["gesture"])
    assert travel(walker, before, HAND, TIME - 0.6, TIME - 0.4) > 1e-3
    walker.page.ask("undo")
    begun = walker.begin(HAND, TIME, falloff=0.3)
    walker.drag(begun["gesture"], to=goal, falloff=0.3)
    release(walker, begun["gesture"])
    assert travel(walker, before, HAND, TIME - 0.6, TIME - 0.4) < 1e-6


def test_feet_are_let_go_one_by_one_or_all(walker: Editor) -> None:
    foot = next(each for each in walker.state["feet"] if each["start"] < TIME < each["stop"])
    walker.page.ask("editHoldFoot", joint=foot["joint"], time=TIME, hold=False)
    state = walker.last_state()
    assert [each for each in state["feet"] if not each["held"]] == [{**foot, "held": False}]
    begun = walker.begin(HAND, TIME)
    assert foot not in begun["feet"] and begun["feet"]
    walker.end(begun["gesture"], commit=False)
    walker.page.ask("editHoldFoot", joint=foot["joint"], time=foot["start"], hold=True)
    assert all(each["held"] for each in walker.last_state()["feet"])
    walker.page.ask("editHoldFeet", hold=False)
    state = walker.last_state()
    assert not state["holdFeet"] and not any(each["held"] for each in state["feet"])
    begun = walker.begin(HAND, TIME)
    assert begun["feet"] == []
    walker.end(begun["gesture"], commit=False)
    walker.page.ask("undo")
    assert walker.last_state()["holdFeet"]
    with pytest.raises(Refused, match="does not stand"):
        walker.page.ask("editHoldFoot", joint="Head", time=TIME, hold=False)


def test_the_dragged_leg_is_not_held(walker: Editor) -> None:
    begun = walker.begin("LeftFoot", TIME)
    assert {foot["joint"] for foot in begun["feet"]} == {"RightFoot"}
    walker.end(begun["gesture"], commit=False)


def test_a_blocked_drag_offers_to_let_a_foot_go(walker: Editor) -> None:
    foot = next(each for each in walker.state["feet"] if each["start"] < TIME < each["stop"])
    begun = walker.begin("Hips", TIME)
    walker.drag(begun["gesture"], to=np.add(begun["place"], (0.0, 0.25, 0.0)).tolist())
    final = release(walker, begun["gesture"])
    assert not final["reached"]
    told = walker.page.until(lambda e: e["kind"] == "editOutcome" and e["offers"] and not e["pending"])
    offers = {offer["way"]: offer for offer in told["offers"]}
    offer = offers["release"]
    assert offer["constraint"] == "foot" and offer["what"] == [foot["joint"]]
    assert offer["start"] == pytest.approx(foot["start"], abs=1e-5)
    walker.page.ask("editOffer", which=offer["which"])
    assert [loose["joint"] for loose in walker.edits()[0]["looseFeet"]] == [foot["joint"]]


def test_a_stroke_is_shown_before_it_is_kept(walker: Editor) -> None:
    editing = walker.controller.editing
    times = editing.origin + np.linspace(1.25, 1.6, 12)
    path = path_of(editing.rig, editing.committed, [Point(HAND)], times)[:, 0]
    path[:, 1] += 0.04 * np.sin(np.linspace(0, np.pi, 12))
    before, revision = walker.bytes, walker.last_state()["revision"]
    stroke = {"point": point(HAND), "stroke": path.tolist(), "start": 1.25, "stop": 1.6, "falloff": 0.3}
    told = walker.page.ask("editSketch", preview=True, **stroke)
    assert not told["replaced"] and told["distance"] < 0.02
    assert walker.bytes == before and walker.last_state()["revision"] == revision, "a preview keeps nothing"
    shown = path_of(editing.rig, editing.view.curves, [Point(HAND)], times)[:, 0]
    assert np.linalg.norm(shown - path, axis=1).max() < 0.02
    walker.page.ask("editAbandon")
    assert editing.view.curves is editing.committed
    told = walker.page.ask("editSketch", **stroke)
    assert told["change"]["stop"] < 1.6 + 0.31 and walker.bytes != before


def test_a_foot_that_is_let_go_after_the_release_is_let_go_in_that_drag(walker: Editor) -> None:
    before = walker.controller.editing.committed
    begun = walker.begin("Hips", TIME)
    walker.drag(begun["gesture"], to=np.add(begun["place"], (0.0, -0.08, 0.0)).tolist())
    foot = next(each for each in release(walker, begun["gesture"])["feet"] if each["start"] < TIME < each["stop"])
    held = travel(walker, before, foot["joint"], foot["start"], foot["stop"])
    loose = {"kind": "editHoldFoot", "id": 95_000, "joint": foot["joint"], "time": TIME, "hold": False}
    walker.page.send(json.dumps(loose))
    again = walker.page.until(lambda event: event["kind"] == "editOutcome" and event["released"])
    assert foot not in again["feet"] and again["gesture"] == begun["gesture"]
    assert travel(walker, before, foot["joint"], foot["start"], foot["stop"]) > max(5 * held, 0.01)
    walker.page.ask("undo")
    assert travel(walker, before, foot["joint"], foot["start"], foot["stop"]) == pytest.approx(held, abs=1e-9)


def test_a_share_of_the_last_drag_is_kept(walker: Editor) -> None:
    before = walker.controller.editing.committed
    begun = walker.begin(HAND, TIME)
    walker.drag(begun["gesture"], to=np.add(begun["place"], (0.0, 0.1, 0.0)).tolist())
    release(walker, begun["gesture"])
    whole = travel(walker, before, HAND, TIME - 0.5, TIME + 0.5)
    for weight in (0.5, 0.25, 1.0):
        assert walker.page.ask("editWeigh", weight=weight)["changed"]
        assert travel(walker, before, HAND, TIME - 0.5, TIME + 0.5) == pytest.approx(weight * whole, rel=0.1)
    walker.page.ask("undo")
    walker.page.ask("undo")
    with pytest.raises(Refused, match="the last drag"):
        walker.page.ask("editWeigh", weight=0.5)
