"""The perform mode over the wire: learn, every command, dials, scripts, a take that is written as it was shown."""

from __future__ import annotations

import json
import struct
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.studio.talking import Page, Refused, Studio

from understudy import formats
from understudy.character import rig
from understudy.studio.perform import learning, recording
from understudy.studio.perform.live_source import LiveSource


@pytest.fixture(scope="module")
def learned(studio: Studio) -> Studio:
    """The acrobat has learned its three clips, and performs."""
    plan = learning.learning_task
    with studio.page() as page, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            learning, "learning_task", lambda *what: plan(*what, iterations=15)
        )  # not to the end: it is a test
        character = page.document["stage"]["character"]
        job = page.ask("learn", character=character)["job"]
        page.until(lambda event: event["kind"] == "job" and event["id"] == job and event["state"] != "running")
        page.until(lambda event: event["kind"] == "performing")
    return studio


@pytest.fixture
def page(learned: Studio) -> Iterator[Page]:
    with learned.page() as page:
        model = page.document["models"][0]["id"]
        page.ask("perform", model=model)
        yield page


def live(studio: Studio) -> LiveSource:
    source = studio.session.source
    assert isinstance(source, LiveSource)
    return source


def report(page: Page, wanted=lambda event: True) -> dict:
    return page.until(lambda event: event["kind"] == "performing" and wanted(event))


def test_learning_tells_how_far_it_is_and_performs(learned: Studio, page: Page) -> None:
    document = page.document
    (model,) = document["models"]
    assert (model["name"], model["labels"], model["frames"]) == ("acrobat", ["bow", "sway", "shake"], 98)
    assert document["stage"]["driver"] == "model" and document["stage"]["playing"]
    assert learned.session.project.place("models", model["file"]).exists()
    assert not list((learned.session.folder / "learning").glob("*"))  # what was kept for a restart is gone
    found = report(page)
    assert found["model"] == model["id"] and found["label"] in model["labels"]
    assert found["gaze"] == 1.0  # it has no eyes, and turns its head
    assert len(found["voices"][0]["x"]) == 3 and found["ms"] > 0


@pytest.mark.parametrize(
    ("fields", "doing", "label"),
    [
        ({"command": "transition", "label": "sway"}, "transition sway", "sway"),
        ({"command": "move", "pose": "bow@0.5", "label": "bow"}, "move bow@0.5", "bow"),
        ({"command": "idle", "pose": "shake@0.4"}, "idle shake@0.4", "shake"),
        ({"command": "play", "clip": "bow", "start": 0.2}, "play bow", "bow"),
        ({"command": "mix", "labels": ["bow", "shake"], "weight": 0.4}, "mix bow, shake at 0.4", "bow"),
    ],
)
def test_each_command(page: Page, fields: dict, doing: str, label: str) -> None:
    page.ask("tell", **fields)
    found = report(page, lambda event: event["label"] == label and event["doing"] == doing)
    assert found["doing"] == doing
    if fields["command"] == "mix":
        assert {voice["label"] for voice in report(page, lambda e: len(e["voices"]) == 2)["voices"]} == {"bow", "shake"}


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("tell", {"command": "transition", "label": "hapy"}, "there is no label 'hapy'"),
        ("tell", {"command": "transition"}, "transition lacks a required field"),
        ("tell", {"command": "play", "clip": "bow", "label": "bow"}, "play has no 'label'"),
        ("tell", {"command": "move", "pose": "bow@99"}, "1.208 s long"),
        ("tell", {"command": "mix", "labels": ["bow"], "weight": 0.5}, "two different labels"),
        ("runScript", {"text": "[[do]]\ncommand = 'fly'"}, "there is no command 'fly'"),
        ("perform", {"model": "nobody"}, "there is no model 'nobody'"),
        ("learn", {"character": "nobody"}, "there is no character 'nobody'"),
        ("record", {"recording": False}, "nothing was recorded"),
    ],
)
def test_what_cannot_be_done_is_said(page: Page, kind: str, fields: dict, words: str) -> None:
    with pytest.raises(Refused, match=words):
        page.ask(kind, **fields)
    report(page)  # it goes on


def test_dials(page: Page) -> None:
    page.ask("dial", liveliness=1.5, stillness=0.25)
    found = report(page)
    assert (found["liveliness"], found["stillness"]) == (1.5, 0.25)
    page.ask("dial", liveliness=1.0, stillness=0.0)


def test_a_script_is_checked_performed_and_kept(page: Page) -> None:
    model = page.document["models"][0]["id"]
    text = '[[do]]\ncommand = "transition"\nlabel = "shake"\n\n[[do]]\ncommand = "idle"\nseconds = 0.4\n'
    assert page.ask("checkScript", model=model, text=text) == {"sentence": "", "line": 0, "steps": 2, "lines": [1, 5]}
    assert page.ask("checkScript", model=model, text=text.replace("shake", "shak"))["line"] == 1
    page.ask("tell", command="idle", pose="bow@0.4")
    report(page, lambda event: event["label"] == "bow" and len(event["voices"]) == 1 and event["done"])
    page.ask("runScript", text=text)
    report(page, lambda event: event["step"] == "do 1" and event["stepNumber"] == 1)
    report(page, lambda event: event["step"] == "do 2" and event["stepNumber"] == 2)
    found = report(page, lambda event: event["step"] == "")
    assert found["label"] == "bow" and found["stepNumber"] == 0, "an act returns to what it interrupted"
    kept = page.ask("keepScript", name="scene", text=text, model=model)["script"]
    assert page.ask("keepScript", name="scene", text=text + "\n", script=kept)["script"] == kept
    (script,) = page.document["scripts"]
    assert script["text"] == text + "\n"


def test_a_take_is_written_as_it_was_shown(learned: Studio, page: Page, tmp_path: Path) -> None:
    shown: list[np.ndarray] = []
    source = live(learned)
    report_of = source.watch
    assert report_of is not None

    def watch(found: LiveSource) -> None:
        if found.recording is not None:
            shown.append(found.advance(0.0).copy())
        report_of(found)

    source.watch = watch
    page.ask("record", recording=True)
    page.ask("tell", command="transition", label="bow")
    report(page, lambda event: (event["recorded"] or 0) > 0.7)
    take = page.ask("record", recording=False)["take"]
    source.watch = report_of
    rows = np.array(shown)
    (entry,) = [each for each in page.document["takes"] if each["id"] == take]
    assert (entry["frames"], entry["name"]) == (len(rows), "take 1")
    # on the timeline
    page.ask("show", character=entry["character"], take=take)
    page.ask("play", playing=False)
    frame = len(rows) // 2
    page.ask("seek", time=frame / 60)
    on_stage = learned.in_loop(lambda: learned.session.source.advance(0.0))
    np.testing.assert_allclose(on_stage, rows[frame], atol=2e-7)
    # as a file
    exported = page.ask("export", what="take", target=take, format="glb")
    with urllib.request.urlopen(learned.address + urllib.parse.quote(exported["url"])) as answer:
        (tmp_path / "take.glb").write_bytes(answer.read())
    asset = formats.read(tmp_path / "take.glb")
    read = rig.rig_of(asset.character())
    back = read.pose(asset.animations[0])
    assert len(back) == len(rows)
    here = learned.session.assets.get(entry["character"]).rig
    some = [0, frame, len(rows) - 1]
    np.testing.assert_allclose(read.vertices(back[some]), here.vertices(rows[some]), atol=2e-6)
    # float32 to the last bit, but for the rotations' length, which files hold as 1
    assert (
        np.abs(recording.read_take(learned.session.project.place("takes", entry["file"]), "x").rows - rows).max() < 1e-7
    )


def test_the_map_is_fetched(learned: Studio, page: Page) -> None:
    model = page.document["models"][0]
    with urllib.request.urlopen(f"{learned.address}/map/{model['id']}") as answer:
        data = answer.read()
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    assert [each["label"] for each in header["labels"]] == model["labels"]
    assert header["points"] == model["frames"]
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{learned.address}/map/nobody")


def test_looks_come_without_being_asked_about(learned: Studio, page: Page) -> None:
    page.send(json.dumps({"kind": "look", "point": [0.5, 1.0, 2.0]}))
    page.ask("ping")
    assert live(learned).state.look == (0.5, 1.0, 2.0)
    page.ask("look", point=None)
    assert live(learned).state.look is None


def test_undo_of_something_else_does_not_disturb_the_performance(learned: Studio, page: Page) -> None:
    page.ask("keepScript", name="another", text="[[do]]")
    before = live(learned)
    page.ask("undo")
    assert live(learned) is before


def test_a_models_file_is_opened_with_its_character(learned: Studio, page: Page, opened_folder: Path) -> None:
    model = page.document["models"][0]
    kept = learned.session.project.place("models", model["file"]).read_bytes()
    (opened_folder / "acrobat.understudy").write_bytes(kept)
    (opened_folder / "broken.understudy").write_bytes(kept[:500])
    found = page.ask("open", path="acrobat.understudy")
    assert found["characters"] == [model["character"]]  # it is open already
    assert len(page.document["models"]) == 2 and page.document["stage"]["drives"] == page.document["models"][1]["id"]
    with pytest.raises(Refused, match=r"^broken\.understudy: "):
        page.ask("open", path="broken.understudy")
    page.ask("close", character=model["character"])
    (brought,) = page.ask("open", path="acrobat.understudy")["characters"]
    assert brought != model["character"] and page.document["stage"]["driver"] == "model"
    report(page)
    page.ask("undo")
    page.ask("undo")
    page.ask("undo")  # the character and its first model are back
    assert model in page.document["models"]


def test_a_take_is_exported_to_every_format(learned: Studio, page: Page, tmp_path: Path) -> None:
    """What holds a motion holds it to the precision of its numbers: float32, or the digits of a text."""
    if not page.document["takes"]:
        page.ask("record", recording=True)
        report(page, lambda event: (event["recorded"] or 0) > 0.3)
        page.ask("record", recording=False)
    entry = page.document["takes"][0]
    here = learned.session.assets.get(entry["character"]).rig
    rows = recording.read_take(learned.session.project.place("takes", entry["file"]), "x").rows.astype(np.float64)
    shown = here.joints(rows)[:, :, :3, 3]
    held = []
    for ending in sorted({each.endings[0] for each in formats.FORMATS if each.writes}):
        try:
            url = page.ask("export", what="take", target=entry["id"], format=ending)["url"]
        except Refused as refusal:
            reasons = {
                ".csv": "Live Link CSV holds ARKit weights",
                ".vrm": "needs a humanoid",
                ".vrma": "needs a humanoid",
            }
            assert reasons.get(ending, "needs a humanoid") in str(refusal), refusal
            continue
        path = tmp_path / f"take{ending}"
        with urllib.request.urlopen(learned.address + urllib.parse.quote(url)) as answer:
            path.write_bytes(answer.read())
        asset = formats.read(path)
        there = rig.rig_of(asset.character()) if asset.characters else here
        back = there.pose(asset.animations[0])
        assert len(back) == len(rows), ending
        np.testing.assert_allclose(there.joints(back)[:, :, :3, 3], shown, atol=2e-6, err_msg=ending)
        held.append(ending)
    assert {".glb", ".gltf", ".bvh", ".usda"} <= set(held)


def test_a_model_that_is_deleted_leaves_the_stage_and_comes_back(learned: Studio, page: Page) -> None:
    model = page.document["models"][0]
    page.ask("delete", what="model", target=model["id"])
    assert page.document["stage"]["driver"] != "model"
    with pytest.raises(Refused, match="no model is performing"):
        page.ask("tell", command="idle")
    page.ask("undo")
    page.ask("perform", model=model["id"])
    report(page)


def test_one_character_is_learned_once_at_a_time(page: Page) -> None:
    character = page.document["stage"]["character"]
    job = page.ask("learn", character=character)["job"]
    with pytest.raises(Refused, match="is being learned already"):
        page.ask("learn", character=character)
    page.ask("cancel", job=job)
    ended = page.until(lambda event: event["kind"] == "job" and event["id"] == job and event["state"] != "running")
    assert ended["state"] == "cancelled"
    report(page)  # it performs all the while
