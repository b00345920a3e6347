"""Gestures over the socket: what is seen, what is kept, what undo takes back, and what is said of what is blocked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.studio.edit.conftest import Editor, point
from tests.studio.talking import Frame, Refused

from understudy.edit.goals import Point
from understudy.edit.solver.objective_terms import path_of


def paths_of(frame: Frame) -> tuple[int, int, dict[int, np.ndarray]]:
    """First frame, total, and the positions (F, 3) of each motion curve, taken apart as the page does."""
    words = np.frombuffer(frame.payload, "<u4")
    floats = words.view("<f4")
    first, total = int(words[0]), int(words[1])
    at, curves = 4 + frame.b, {}
    for _ in range(frame.a):
        number, keys = int(words[at]), int(words[at + 1])
        at += 2
        curves[number] = floats[at : at + 3 * frame.b].reshape(-1, 3)
        at += 7 * frame.b + 4 * keys
    assert at == len(words)
    return first, total, curves


def moved(begun: dict[str, Any], x: float, y: float, z: float) -> list[float]:
    """A goal that far from where a gesture began."""
    found: list[float] = np.add(begun["place"], (x, y, z)).tolist()
    return found


def test_a_clip_with_few_keys_can_be_edited_at_once(editor: Editor) -> None:
    state = editor.state
    assert not state["baked"] and state["keys"] == state["sourceKeys"] == 28
    assert state["channels"][0]["times"] == [0.0, 1.0, 2.0, 3.0]
    assert editor.page.document["stage"]["driver"] == "edit"


def test_requests_wait_for_the_clip_that_is_being_opened(editor: Editor) -> None:
    """A page knows the edit before it is on stage, and does not wait for the answer to `editOpen`."""
    page, character = editor.page, editor.character["id"]
    page.ask("show", character=character, clip="flight")
    sent = [
        {"kind": "editOpen", "character": character, "clip": "flight"},
        {"kind": "editCurve", "shown": True, "point": point("hand.L")},
        {"kind": "editKey", "time": 0.5},
        {"kind": "seek", "time": 0.5},
    ]
    for number, request in enumerate(sent, 1):
        page.send(json.dumps({**request, "id": number}))
    answers = [page.until(lambda event: event["kind"] in ("done", "failed")) for _ in sent]
    assert [answer["kind"] for answer in answers] == ["done"] * len(sent), answers
    page.ask("ping")
    assert page.document["stage"]["driver"] == "edit" and page.document["stage"]["time"] == 0.5
    assert editor.controller.source.time == 0.5 and 0.5 in editor.last_state()["channels"][0]["times"]
    page.ask("undo")


def test_of_two_clips_that_are_opened_at_once_the_last_stays(editor: Editor) -> None:
    other = editor.page.document["characters"][1]
    clips = [(editor.character["id"], "flight"), (other["id"], other["clips"][0]["name"])]
    for number, (character, clip) in enumerate([*clips, *clips], 1):
        editor.page.send(json.dumps({"kind": "editOpen", "character": character, "clip": clip, "id": number}))
    answers = [editor.page.until(lambda event: event["kind"] in ("done", "failed")) for _ in range(4)]
    assert [answer["kind"] for answer in answers] == ["done"] * 4, answers
    [entry] = editor.edits()
    assert (entry["character"], entry["clip"]) == clips[1]
    assert editor.page.document["stage"]["drives"] == entry["id"] == editor.last_state()["edit"]
    assert editor.studio.session.source is editor.controller.source
    editor.open()


def test_a_drag_moves_tangents_and_no_key_and_undo_restores_the_bytes(editor: Editor) -> None:
    before, curves = editor.bytes, editor.controller.editing.committed
    outcome = editor.move("hand.L", 0.5, (0.0, 0.3, 0.1))
    assert outcome["reached"] and outcome["distance"] < 1e-3
    after = editor.controller.editing.committed
    for old, new in zip(curves.curves, after.curves):
        assert np.array_equal(old.times, new.times) and np.array_equal(old.values, new.values)
    assert editor.bytes != before
    assert editor.last_state()["keys"] == 28
    [entry] = editor.edits()
    assert entry["file"] and entry["keys"] == 28
    kept = editor.bytes
    editor.page.ask("undo")
    assert editor.bytes == before and editor.edits()[0]["file"] == ""
    editor.page.ask("redo")
    assert editor.bytes == kept
    editor.page.ask("undo")


def test_one_drag_brings_stage_motion_curves_and_outcome_of_one_evaluation(editor: Editor) -> None:
    shown = editor.page.ask("editCurve", shown=True, point=point("hand.L"), camera=False)["curve"]
    whole = editor.page.next_frame(lambda frame: frame.stream == 2 and frame.a == 1)
    first, total, curves = paths_of(whole)
    assert (first, total) == (0, 73) and len(curves[shown]) == 73
    places = curves[shown].copy()
    begun = editor.begin("hand.L", 0.5)
    goal = moved(begun, 0, 0.2, 0)
    outcome = editor.drag(begun["gesture"], to=goal)
    stage = editor.page.next_frame(lambda frame: frame.stream == 0 and frame.sequence >= outcome["frame"])
    patch = editor.page.next_frame(lambda frame: frame.stream == 2 and frame.sequence >= outcome["paths"])
    assert stage.time == pytest.approx(0.5)
    first, total, curves = paths_of(patch)
    assert patch.b < 73, "only what changes is sent"
    places[first : first + patch.b] = curves[shown]
    assert np.allclose(places[12], goal, atol=1e-3)
    editing = editor.controller.editing
    times = editing.origin + np.arange(73) / 24
    wanted = path_of(editing.rig, editing.view.curves, [Point("hand.L")], times)[:, 0]
    assert np.allclose(places, wanted, atol=1e-5)
    editor.end(begun["gesture"], commit=False)


def test_a_page_that_draws_slowly_misses_no_part_of_a_path(editor: Editor) -> None:
    shown = editor.page.ask("editCurve", shown=True, point=point("hand.L"))["curve"]
    editor.page.ask("ping")
    places, answered = np.zeros((73, 3)), 0

    def lay() -> None:
        for frame in (each for each in editor.page.frames if each.stream == 2):
            first, _, curves = paths_of(frame)
            places[first : first + frame.b] = curves.get(shown, places[first : first + frame.b])

    editor.page.draws = False
    for time in (0.5, 1.5, 2.5):  # three gestures, each in another part of the path
        begun = editor.begin("hand.L", time)
        for step in range(1, 4):
            editor.drag(begun["gesture"], to=moved(begun, 0.0, 0.05 * step, 0.0))
        editor.end(begun["gesture"])
    editor.page.draws = True
    while True:  # what was held back comes as soon as the page has drawn
        waiting = [each for each in editor.page.frames[answered:] if each.stream in (0, 2)]
        answered = len(editor.page.frames)
        for frame in waiting:
            editor.page.seen(frame)
        for _ in range(3):  # texts overtake frames: the answer to the next request comes after what was held back
            editor.page.ask("ping")
        if len(editor.page.frames) == answered:
            break
    lay()
    editing = editor.controller.editing
    times = editing.origin + np.arange(73) / 24
    assert np.allclose(places, path_of(editing.rig, editing.committed, [Point("hand.L")], times)[:, 0], atol=1e-5)


def test_pictures_are_of_where_the_stage_is(editor: Editor) -> None:
    before = len(editor.page.frames)
    editor.page.ask("seek", time=1.25)
    while not any(frame.stream == 0 and abs(frame.time - 1.25) < 1e-6 for frame in editor.page.frames[before:]):
        editor.page.take()  # frames of before may still be on their way
    count = len(editor.page.frames)
    editor.page.ask("editCurve", shown=True, point=point("head"))
    editor.page.ask("editGhosts", times=[0.5])
    editor.page.ask("editTween", time=0.5, share=0.5, final=False)
    editor.page.ask("editAbandon")
    editor.page.ask("editGhosts", times=[])
    editor.page.ask("ping")
    times = {round(frame.time, 6) for frame in editor.page.frames[count:] if frame.stream == 0}
    assert times == {1.25}


def test_escape_leaves_everything_as_it_was(editor: Editor) -> None:
    before = editor.bytes
    begun = editor.begin("hand.R", 1.5)
    editor.drag(begun["gesture"], to=[0, 2, 0])
    assert editor.end(begun["gesture"], commit=False) == {"keys": 28, "changed": False}
    assert editor.bytes == before and editor.edits()[0]["file"] == ""


def test_of_many_goals_the_newest_wins(editor: Editor) -> None:
    begun = editor.begin("hand.L", 0.5)
    for number in range(1, 40):
        to = [begun["place"][0], begun["place"][1] + 0.005 * number, begun["place"][2]]
        editor.page.send(json.dumps({"kind": "editDrag", "gesture": begun["gesture"], "number": number, "to": to}))
    editor.page.until(lambda event: event["kind"] == "editOutcome" and event["number"] == 39)
    answered = [e["number"] for e in editor.page.events if e["kind"] == "editOutcome"]
    assert answered == sorted(answered) and len(answered) < 30
    editor.end(begun["gesture"])
    late = json.dumps({"kind": "editDrag", "gesture": begun["gesture"], "number": 99, "to": [0, 0, 0]})
    editor.page.send(late)
    kept = editor.bytes
    editor.page.ask("ping")
    assert editor.bytes == kept, "one that comes after its gesture means nothing"


def test_pins_hold_and_a_turn_turns(editor: Editor) -> None:
    for joint in ("head", "hand.R", "jet"):
        editor.page.ask("editPin", point=point(joint), orientation=False)
    assert len(editor.last_state()["pins"]) == 3
    editing = editor.controller.editing
    points, times = [Point("head"), Point("hand.R"), Point("jet")], np.linspace(0, 3, 61)
    before = path_of(editing.rig, editing.committed, points, times)
    outcome = editor.move("hand.L", 0.5, (0.0, 0.1, 0.1))
    after = path_of(editing.rig, editing.committed, points, times)
    assert outcome["drift"] < 1e-3 and np.abs(after - before).max() < 2e-3
    begun = editor.begin("hand.L", 1.5, "turn")
    turn = np.add(begun["turn"], (0.0, 0.1, 0.0, 0.0))
    outcome = editor.drag(begun["gesture"], turn=(turn / np.linalg.norm(turn)).tolist())
    assert outcome["reached"] and abs(abs(np.dot(outcome["turn"], turn / np.linalg.norm(turn))) - 1) < 1e-4
    assert np.allclose(outcome["place"], begun["place"], atol=1e-3)
    editor.end(begun["gesture"])


def test_timing_spreads_frames_and_leaves_what_is_pinned(editor: Editor) -> None:
    editing = editor.controller.editing
    begun = editor.begin("hand.L", 0.5, "time")
    times = np.array([0.45, 0.55])
    before = path_of(editing.rig, editing.committed, [Point("hand.L")], times)
    assert editor.drag(begun["gesture"], factor=2.0)["reached"]
    after = path_of(editing.rig, editing.view.curves, [Point("hand.L")], times)
    assert np.linalg.norm(np.diff(after, axis=0)) > 1.5 * np.linalg.norm(np.diff(before, axis=0))
    assert editor.end(begun["gesture"])["changed"]
    editor.page.ask("editPin", point=point("hand.L"), orientation=True)
    with pytest.raises(Refused, match="pinned"):
        editor.begin("hand.L", 0.5, "time")


def test_the_end_of_an_old_drag_does_not_end_a_new_one(editor: Editor) -> None:
    old = editor.begin("hand.L", 0.5)
    begin = {"kind": "editBegin", "id": 70_001, "operation": "move", "point": point("hand.L"), "time": 0.5}
    editor.page.send(json.dumps(begin))
    editor.page.send(json.dumps({"kind": "editEnd", "id": 70_002, "gesture": old["gesture"], "commit": False}))
    begun = editor.page.until(lambda event: event["kind"] == "done" and event["id"] == 70_001)["result"]
    editor.page.until(lambda event: event["kind"] == "failed" and event["id"] == 70_002)
    assert editor.drag(begun["gesture"], to=moved(begun, 0, 0.1, 0))["reached"]
    assert editor.end(begun["gesture"])["changed"]


def test_a_blocked_edit_says_why_and_what_would_help(editor: Editor) -> None:
    editor.page.ask("editPin", point=point("body"), orientation=True)
    begun = editor.begin("hand.L", 0.5)
    goal = moved(begun, 0.0, 0.5, 0.0)
    outcome = editor.drag(begun["gesture"], to=goal)
    assert not outcome["reached"] and outcome["sentence"] and outcome["blocks"]
    assert outcome["ghost"] == outcome["place"]
    (block, *_) = outcome["blocks"]
    assert (block["kind"], block["target"]) == ("pin", "'body'") and 0 < block["share"] <= 1
    assert block["requiredM"] == pytest.approx(0.5, abs=1e-5)
    assert block["requiredM"] - block["reachedM"] == pytest.approx(outcome["distance"])
    told = editor.page.until(lambda e: e["kind"] == "editOutcome" and e["offers"] and not e["pending"])
    assert told["number"] == outcome["number"]
    editor.end(begun["gesture"])
    offer = next(each for each in told["offers"] if each["way"] == "release")
    assert offer["requiredM"] == pytest.approx(0.5, abs=1e-5) and offer["reachedM"] > block["reachedM"]
    assert offer["requiredRad"] == offer["reachedRad"] == 0
    ended = editor.page.ask("editOffer", which=offer["which"])
    assert ended["changed"]
    assert editor.last_state()["pins"] == [] and ended["keys"] == 28
    with pytest.raises(Refused, match="no suggestions"):
        editor.page.ask("editOffer", which=0)


def test_a_pose_becomes_keys_of_what_it_changed_only(editor: Editor) -> None:
    pose = editor.page.ask("editPoseBegin", point=point("hand.L"), time=0.5, pins=[])
    goal = moved(pose, 0.0, 0.1, 0.05)
    outcome = editor.drag(pose["gesture"], "editPoseDrag", to=goal)
    assert outcome["reached"]
    ended = editor.page.ask("editPoseEnd", gesture=pose["gesture"], commit=True)
    state = editor.last_state()
    assert ended["keys"] == state["keys"] > 28
    keyed = {c["target"] for c in state["channels"] if 0.5 in c["times"]}
    assert "arm.L" in keyed and "arm.R" not in keyed
    place = path_of(
        editor.controller.editing.rig, editor.controller.editing.committed, [Point("hand.L")], np.array([0.5])
    )
    assert np.allclose(place[0, 0], goal, atol=1e-3)


def test_contacts_are_solved_at_once_and_released(editor: Editor) -> None:
    held = editor.page.ask("editContact", point=point("hand.R"), start=0.4, stop=0.6)["held"]
    editing = editor.controller.editing
    path = path_of(editing.rig, editing.committed, [Point("hand.R")], np.linspace(0.4, 0.6, 11))[:, 0]
    assert np.abs(path - path[0]).max() < 2e-3
    editor.page.ask("editRelease", held=held)
    assert editor.last_state()["contacts"] == []


def test_bad_requests_are_refused_with_a_sentence(editor: Editor) -> None:
    ask = editor.page.ask
    with pytest.raises(Refused, match="no clip 'nothing'"):
        editor.open("nothing")
    with pytest.raises(Refused, match="nose"):
        editor.begin("nose", 0.5)
    with pytest.raises(Refused, match="within the clip"):
        editor.begin("hand.L", 12.0)
    with pytest.raises(Refused, match="no vertex 123456"):
        ask("editCurve", shown=True, point={"joint": "", "offset": [0, 0, 0], "vertex": 123456})
    with pytest.raises(Refused, match="ended already"):
        ask("editEnd", gesture=77, commit=True)
    with pytest.raises(Refused, match="no pose to paste"):
        ask("editPastePose", time=0.5)
    with pytest.raises(Refused, match="removed already"):
        ask("editRelease", held="nobody")
    begun = editor.begin("hand.L", 0.5)
    editor.page.send(json.dumps({"kind": "editDrag", "gesture": begun["gesture"], "number": 1, "factor": 2.0}))
    failed = editor.page.until(lambda event: event["kind"] == "failed")
    assert "should have a position `to`" in failed["sentence"]
    editor.end(begun["gesture"], commit=False)


HAND = {"joint": "hand.L", "offset": [0, 0, 0], "vertex": None}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("editOpen", {"character": "nobody", "clip": "flight"}),
        ("editCurve", {"shown": True}),
        ("editCurve", {"shown": False, "curve": 99}),
        ("editCurve", {"shown": True, "point": {"joint": "", "offset": [0, 0, 0], "vertex": None}}),
        ("editCurve", {"shown": True, "point": {"joint": "head", "offset": [0, 0, 0], "vertex": 3}}),
        ("editBegin", {"operation": "move", "point": {"joint": "", "offset": [0, 0, 0], "vertex": -4}, "time": 0.5}),
        ("editGraph", {"channels": [{"target": "body", "channel": ""}], "start": 2.0, "stop": 1.0}),
        ("editGraph", {"channels": [{"target": "tail", "channel": ""}]}),
        ("editPin", {"point": HAND, "start": 2.0, "stop": 1.0}),
        ("editContact", {"point": HAND, "start": 2.0, "stop": 1.0}),
        ("editContact", {"point": HAND, "start": 0.5, "stop": 50.0}),
        ("editContact", {"point": HAND, "start": 0.5, "stop": 2.5}),
        ("editHold", {"point": HAND, "time": 50.0}),
        ("editLimit", {"target": "tail", "column": "x", "low": 0.0}),
        ("editLimit", {"target": "body", "column": "sideways", "low": 0.0}),
        ("editStiffness", {"target": "tail", "value": 1.0}),
        ("editPoseBegin", {"point": HAND, "time": 50.0}),
        ("editPoseBegin", {"point": HAND, "time": 0.5, "key": False}),
        (
            "editPoseBegin",
            {"point": HAND, "time": 0.5, "pins": [{"joint": "tail", "offset": [0, 0, 0], "vertex": None}]},
        ),
        ("editPoseEnd", {"gesture": 12345, "commit": True}),
        ("editKey", {"time": 0.5, "channels": [{"target": "tail", "channel": ""}]}),
        ("editTween", {"time": 50.0, "share": 0.5}),
        ("editTween", {"time": 0.0, "share": 0.5, "final": False}),
        ("editSketch", {"point": HAND, "stroke": [], "start": 0.5, "stop": 1.5}),
        ("editSketch", {"point": HAND, "stroke": [[0, 0, 0]], "start": 0.5, "stop": 1.5}),
        ("editSketch", {"point": HAND, "stroke": [[0, 0, 0], [0, 0, 0]], "start": 0.5, "stop": 1.5}),
        ("editSketch", {"point": HAND, "stroke": [[0, 0, 0], [1, 1, 0]], "start": 1.5, "stop": 0.5}),
        ("editSketch", {"point": HAND, "stroke": [[0, 0, 0], [1, 1, 0]], "start": 0.5, "stop": 50.0}),
        ("editReduce", {"tolerance": 0.0}),
        ("editOffer", {"which": 0}),
    ],
)
def test_nonsense_is_answered_in_a_sentence_and_changes_nothing(
    editor: Editor, kind: str, fields: dict[str, Any]
) -> None:
    before = editor.bytes
    with pytest.raises(Refused) as refused:
        editor.page.ask(kind, **fields)
    sentence = str(refused.value)
    assert 10 < len(sentence) < 600 and "not foreseen" not in sentence
    assert editor.bytes == before and editor.edits()[0]["file"] == ""


def test_a_page_cannot_end_the_drag_of_another(editor: Editor) -> None:
    begun = editor.begin("hand.L", 0.5)
    with editor.studio.page() as other:
        other.ask("ping")
        intrusions = [
            ("editEnd", {"gesture": begun["gesture"], "commit": True}),
            ("editBegin", {"point": point("hand.L"), "time": 0.5, "operation": "move"}),
            ("editKey", {"time": 0.4}),
            ("editAbandon", {}),
        ]
        for kind, fields in intrusions:
            with pytest.raises(Refused, match="is being dragged in another page"):
                other.ask(kind, **fields)
        other.ask("editDrag", gesture=begun["gesture"], number=1, to=moved(begun, 0, 9, 0))  # ignored
        assert editor.controller.editing.step is None
    outcome = editor.drag(begun["gesture"], to=moved(begun, 0.0, 0.2, 0.0))
    assert outcome["reached"]
    assert editor.end(begun["gesture"])["changed"]
    editor.page.ask("undo")


def test_the_drag_of_a_page_that_has_gone_can_be_ended(editor: Editor) -> None:
    with editor.studio.page() as other:
        begun = other.ask("editBegin", point=point("hand.L"), time=0.5, operation="move")
    assert editor.controller.gesture == begun["gesture"], "it is still in progress"
    assert not editor.end(begun["gesture"], commit=False)["changed"]
    assert editor.controller.gesture == 0
    assert editor.move("hand.L", 0.5, (0.0, 0.2, 0.0))["reached"], "and the next drag can begin"
    editor.page.ask("undo")
