"""Keys, poses, strokes, reduction, the graph editor's frames and exports, over the socket."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.studio.edit.conftest import Editor, point
from tests.studio.talking import Frame, Refused, Studio

from understudy import formats
from understudy.character import rig
from understudy.edit.goals import Point
from understudy.edit.solver.objective_terms import path_of
from understudy.studio.edit import edit_clip
from understudy.studio.session import Session


def graph_of(frame: Frame) -> tuple[np.ndarray, dict[tuple[int, int], dict[str, np.ndarray]]]:
    """The times of the samples, and of each column its keys and samples, taken apart as the page does."""
    words = np.frombuffer(frame.payload, "<u4")
    floats = words.view("<f4")
    times, at, columns = floats[: frame.b], frame.b, {}
    for _ in range(frame.a):
        channel, column, count = (int(word) for word in words[at : at + 3])
        at += 4
        keys = floats[at : at + 6 * count].reshape(6, count)
        flags = words[at + 6 * count : at + 7 * count]
        at += 7 * count
        columns[channel, column] = {"keys": keys, "flags": flags, "samples": floats[at : at + frame.b]}
        at += frame.b
    assert at == len(words)
    return times, columns


def test_the_graph_editor_gets_keys_handles_and_the_curve_as_it_is_evaluated(editor: Editor) -> None:
    editor.page.ask("editGraph", channels=[{"target": "body", "channel": "translation"}], samples=100)
    frame = editor.page.next_frame(lambda frame: frame.stream == 3)
    times, columns = graph_of(frame)
    assert sorted(columns) == [(0, 0), (0, 1), (0, 2)]
    curve = editor.controller.editing.committed.curves[0]
    assert np.allclose(columns[0, 1]["keys"][0], curve.times) and np.allclose(
        columns[0, 1]["keys"][1], curve.values[:, 1]
    )
    assert np.allclose(columns[0, 1]["samples"], curve.sample(times.astype(float))[:, 1], atol=1e-6)
    change = {"target": "body", "channel": "translation", "key": 1, "column": 1, "after": [0.3, 0.6]}
    editor.page.send(json.dumps({"kind": "editKeys", "changes": [change], "final": False, "number": 1}))
    frame = editor.page.next_frame(lambda frame: frame.stream == 3)
    _, columns = graph_of(frame)
    assert columns[0, 1]["keys"][4:, 1] == pytest.approx([0.3, 0.6]) and columns[0, 1]["flags"][1] == 2
    assert np.array_equal(editor.controller.editing.committed.curves[0].after, curve.after), "it is only shown"
    assert editor.page.ask("editKeys", changes=[change], final=True)["changed"]
    assert editor.controller.editing.committed.curves[0].after[1, 1].tolist() == [0.3, 0.6]
    editor.page.ask("undo")
    assert np.array_equal(editor.controller.editing.committed.curves[0].after, curve.after)
    editor.page.ask("editGraph", channels=[])


def test_what_was_only_shown_is_abandoned(editor: Editor) -> None:
    before = editor.bytes
    editor.page.ask("editTween", time=1.5, share=0.3, final=False)
    assert edit_clip.pack_curves(editor.controller.editing.view.curves) != before
    editor.page.ask("editAbandon")
    assert edit_clip.pack_curves(editor.controller.editing.view.curves) == before == editor.bytes
    assert editor.edits()[0]["file"] == ""


def test_keys_are_set_and_removed_for_channels_or_for_all(editor: Editor) -> None:
    assert editor.page.ask("editKey", time=0.5, channels=[{"target": "head", "channel": ""}])["keys"] == 29
    assert editor.page.ask("editKey", time=0.5)["keys"] == 35
    assert not editor.page.ask("editKey", time=0.5)["changed"], "they are there already"
    assert editor.page.ask("editUnkey", time=0.5)["keys"] == 28
    with pytest.raises(Refused, match=r"no key at 0\.5 s"):
        editor.page.ask("editUnkey", time=0.5)


def test_poses_are_copied_pasted_and_mirrored(editor: Editor) -> None:
    assert editor.state["pairs"] and not editor.controller.pose
    editor.page.ask("editCopyPose", time=1.0)
    assert editor.last_state()["copied"]
    editor.page.ask("editPastePose", time=2.5, mirror=True)
    committed = editor.controller.editing.committed
    assert committed.key_count == 35
    height = path_of(
        editor.controller.editing.rig, committed, [Point("hand.L"), Point("hand.R")], np.array([1.0, 2.5])
    )[..., 1]
    assert height[1, ::-1] == pytest.approx(height[0], abs=1e-6)
    editor.controller.pose = None


def test_a_point_follows_a_stroke(editor: Editor) -> None:
    editing = editor.controller.editing
    path = path_of(editing.rig, editing.committed, [Point("body")], np.linspace(1, 2, 20))[:, 0]
    stroke = path + np.outer(np.sin(np.linspace(0, np.pi, 20)), (0.0, 0.3, 0.0))
    found = editor.page.ask("editSketch", point=point("body"), stroke=stroke.tolist(), start=1.0, stop=2.0)
    assert found["distance"] < 0.03
    middle = path_of(editing.rig, editing.committed, [Point("body")], np.array([1.5]))[0, 0]
    assert middle[1] > path[10, 1] + 0.25 and editing.committed.key_count == 28


def test_limits_make_angles_of_quaternions_and_stiffness_is_kept(editor: Editor) -> None:
    editor.page.ask("editLimit", target="arm.L", column="z", low=-0.5, high=0.8)
    state = editor.last_state()
    assert state["limits"] == [{"target": "arm.L", "column": "z", "low": -0.5, "high": 0.8}]
    assert ("arm.L", "euler") in {(c["target"], c["channel"]) for c in state["channels"]}
    editor.page.ask("editStiffness", target="body", value=4.0)
    assert editor.last_state()["stiffness"] == {"body": 4.0}
    editor.page.ask("editLimit", target="arm.L", column="z")
    assert editor.last_state()["limits"] == []
    with pytest.raises(Refused, match="wings"):
        editor.page.ask("editStiffness", target="wings", value=2.0)
    with pytest.raises(Refused, match="rise from low to high"):
        editor.page.ask("editLimit", target="arm.L", column="z", low=1.0, high=-1.0)


def test_a_limit_holds_the_keys_that_there_are(editor: Editor) -> None:
    editor.page.ask("editLimit", target="arm.L", column="z", low=0.0, high=0.0, fit=True)
    [limit] = editor.last_state()["limits"]
    assert limit["low"] < limit["high"], "as wide as its keys"
    assert editor.move("hand.L", 0.5, (0.0, 0.02, 0.0))["kind"] == "editOutcome", "so that a drag can begin"
    with pytest.raises(Refused, match=r"excludes existing keys of arm.L.euler.z \(.*° to .*°\)"):
        editor.page.ask("editLimit", target="arm.L", column="z", low=limit["high"], high=limit["high"] + 1)
    assert editor.last_state()["limits"] == [limit]


def test_ghosts_are_poses_of_the_stage(editor: Editor) -> None:
    editor.page.ask("editGhosts", times=[0.0, 1.0, 2.0])
    frame = editor.page.next_frame(lambda frame: frame.stream == 4)
    assert frame.a == 3 and len(frame.payload) == 4 * 3 * (1 + frame.b)
    editor.page.ask("editGhosts", times=[])


def test_a_dense_clip_is_edited_as_it_is_or_reduced(editor: Editor) -> None:
    acrobat = next(c for c in editor.page.document["characters"] if c["name"] == "acrobat")
    editor.character = acrobat
    state = editor.open("bow")
    assert [entry["clip"] for entry in editor.edits()] == ["bow"], "what was only looked at leaves nothing"
    assert state["baked"] and state["estimate"] > 0 and state["channels"][0]["times"] == []
    with pytest.raises(Refused, match="would last one frame"):
        editor.page.ask("editPoseBegin", point=point("head"), time=0.5, pins=[])
    assert editor.move("head", 0.5, (0.0, 0.0, 0.05))["distance"] < 0.05
    assert editor.last_state()["baked"] and editor.last_state()["keys"] == state["keys"]
    editor.page.ask("undo")
    told = editor.page.ask("editReduce", tolerance=0.01, preview=True)
    assert not told["replaced"] and told["keys"] < told["sourceKeys"] and told["error"] <= 0.01
    assert editor.last_state()["baked"], "a preview changes nothing"
    kept = editor.page.ask("editReduce", tolerance=0.01, preview=False)
    state = editor.last_state()
    assert not state["baked"] and state["keys"] == kept["keys"] == told["keys"]
    time = 0.5 * (state["channels"][0]["times"][0] + state["channels"][0]["times"][1])
    outcome = editor.move("head", time, (0.0, 0.0, 0.05))
    assert editor.last_state()["keys"] == kept["keys"] and outcome["distance"] < 0.05
    editor.page.ask("undo")
    editor.page.ask("undo")
    assert editor.last_state()["baked"]
    fine = editor.page.ask("editReduce", tolerance=2e-3, keys="shared", preview=False)
    assert fine["keys"] < fine["sourceKeys"] and not editor.last_state()["baked"], "few taken out are some taken out"


def test_an_edit_is_exported_as_it_is_seen(editor: Editor, tmp_path: Path) -> None:
    import httpx

    editor.move("hand.L", 0.5, (0.0, 0.2, 0.0))
    entry = editor.edits()[0]
    editing, times = editor.controller.editing, np.arange(73) / 24
    here = path_of(editing.rig, editing.committed, [Point("hand.L")], times)
    for keys in (False, True):
        told = editor.page.ask("export", what="edit", target=entry["id"], format="glb", keys=keys)
        (tmp_path / "out.glb").write_bytes(httpx.get(editor.studio.address + told["url"]).content)
        asset = formats.read(tmp_path / "out.glb")
        [curves] = asset.curves
        assert curves.name == entry["name"] == "flight edited"
        assert (curves.key_count > 500) == (not keys)
        there = path_of(rig.rig_of(asset.characters[0]), curves, [Point("hand.L")], times)
        assert np.abs(here - there).max() < 1e-3


def test_a_project_that_is_opened_again_has_the_edit_and_its_undo(robot_file: Path, tmp_path: Path) -> None:
    from understudy.studio.security import AllowedFolders

    folders = AllowedFolders()
    folders.allow([robot_file.parent])
    with Studio(Session(tmp_path / "project", folders)) as studio, studio.page() as page:
        page.ask("open", path="robot.glb")
        editor = Editor(studio, page)
        editor.open()
        before = editor.bytes
        editor.move("hand.L", 0.5, (0.0, 0.2, 0.0))
        page.ask("editCurve", shown=True, point=point("hand.L"))
        kept = editor.bytes
    with Studio(Session(tmp_path / "project", folders)) as studio, studio.page() as page:
        editor = Editor(studio, page)
        assert [each["name"] for each in editor.open()["curves"]] == ["hand.L"], "what was shown is shown again"
        assert editor.bytes == kept
        page.ask("undo")
        assert editor.bytes == before
        assert [each["name"] for each in editor.open()["curves"]] == ["hand.L"], "undo leaves it alone"


def test_keys_far_beyond_the_end_are_refused_before_they_take_memory(editor: Editor) -> None:
    editor.page.ask("editCopyPose", time=1.0)
    for seconds in (1e5, 1e6):
        with pytest.raises(Refused, match="keys should lie within"):
            editor.page.ask("editPastePose", time=seconds)
    assert editor.controller.editing.committed.key_count == 28
    editor.page.ask("editPastePose", time=60.0)
    assert editor.controller.editing.view.seconds == pytest.approx(60.0)
    editor.page.ask("undo")
    editor.controller.pose = None
