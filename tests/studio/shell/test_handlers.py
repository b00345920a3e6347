"""What the shell's requests do, through a real connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.talking import Frame, Page, Refused, Studio

from understudy.render.viewport.surface import FramePacker


@pytest.fixture
def page(studio: Studio) -> Iterator[Page]:
    with studio.page() as page:
        page.ask("show", character=acrobat(page)["id"], clip="bow")
        page.ask("transport", rate=1.0, loop=True, whole=True)
        yield page


def acrobat(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in page.document["characters"] if each["name"] == "acrobat")
    return found


def stage(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.document["stage"]
    return found


def settled(page: Page) -> Frame:
    """The frame that stands, after all that was on its way."""
    page.ask("ping")
    page.ask("seek", time=stage(page)["time"])
    last = page.frames[-1].sequence if page.frames else 0
    return page.next_frame(lambda frame: frame.sequence > last)


def test_a_clip_plays_and_pauses(page: Page) -> None:
    times = [page.next_frame().time for _ in range(6)]
    assert max(np.diff(times)) > 0
    page.ask("play", playing=False)
    assert not stage(page)["playing"]
    page.ask("seek", time=0.5)
    assert page.next_frame(lambda frame: frame.time == 0.5).form == 1
    assert stage(page)["time"] == 0.5


def test_a_scrubbed_frame_is_the_clips_own(page: Page, studio: Studio) -> None:
    page.ask("play", playing=False)
    page.ask("seek", time=10 / 24)
    frame = page.next_frame(lambda frame: abs(frame.time - 10 / 24) < 1e-9)
    session = studio.session
    entry = session.document.character(stage(page)["character"])
    assert entry is not None
    rig, clip = session.assets.get(entry.id).rig, session.assets.animation(entry, entry.clips[0])
    a, b, expected = FramePacker(rig).pack(rig.pose(clip)[10])
    assert (frame.a, frame.b) == (a, b)
    floats = (np.frombuffer(data, np.float32) for data in (frame.payload, expected))
    np.testing.assert_allclose(*floats, atol=1e-6)


def test_once_stops_at_the_end_and_begins_again(page: Page) -> None:
    page.ask("play", playing=False)
    page.ask("transport", loop=False, rate=10.0, start=0.2, stop=0.6)
    page.ask("play", playing=True)
    page.until(lambda event: event["kind"] == "document" and not event["document"]["stage"]["playing"])
    assert stage(page)["time"] == 0.6
    page.ask("play", playing=True)
    assert page.next_frame(lambda frame: frame.time < 0.6).time >= 0.2


def test_a_range_the_wrong_way_round(page: Page) -> None:
    with pytest.raises(Refused, match="should end after it begins"):
        page.ask("transport", start=1.0, stop=0.5)
    assert stage(page)["start"] == 0.0 and stage(page)["stop"] is None


def test_open_show_close_and_undo(page: Page) -> None:
    before = len(page.document["characters"])
    (id,) = page.ask("open", path="small.glb")["characters"]
    assert stage(page)["character"] == id and len(page.document["characters"]) == before + 1
    page.ask("close", character=id)
    assert len(page.document["characters"]) == before and stage(page)["character"] != id
    page.ask("undo")
    assert page.document["characters"][-1]["id"] == id
    page.ask("show", character=id)
    assert settled(page).b == 2  # its shapes
    page.ask("undo")
    assert stage(page)["character"] != id
    page.ask("redo")
    page.ask("delete", what="character", target=id)


def test_names_and_labels_are_steps(page: Page) -> None:
    id = acrobat(page)["id"]
    page.ask("rename", what="character", target=id, name="  Anna  the acrobat ")
    page.ask("rename", what="clip", target=f"{id}/bow", name="Deep bow")
    page.ask("label", character=id, clip="bow", labels=["happy", "happy", " "])
    entry = page.document["characters"][0]
    assert entry["name"] == "Anna the acrobat"
    assert (entry["clips"][0]["title"], entry["clips"][0]["labels"]) == ("Deep bow", ["happy"])
    for _ in range(3):
        page.ask("undo")
    assert acrobat(page)["clips"][0]["labels"] == []


def test_a_clip_that_goes_leaves_the_stage(page: Page) -> None:
    id = acrobat(page)["id"]
    page.ask("delete", what="clip", target=f"{id}/bow")
    assert stage(page)["driver"] == "rest" and "bow" not in [clip["name"] for clip in acrobat(page)["clips"]]
    page.ask("undo")


def test_selection_is_shared_and_no_step(page: Page) -> None:
    page.ask("label", character=acrobat(page)["id"], clip="bow", labels=["x"])
    page.ask("select", names=["head", "head", "chest"])
    event = next(event for event in reversed(page.events) if event["kind"] == "document")
    assert event["document"]["selection"] == ["head", "chest"] and event["undoes"] == "label bow"
    page.ask("undo")
    assert page.document["selection"] == ["head", "chest"]


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        ("open", {"path": "../secret.bvh"}, "below the opened folders"),
        ("open", {"path": "/etc/passwd"}, "below the opened folders"),
        ("open", {"path": "broken.glb"}, "broken.glb"),
        ("close", {"character": "nobody"}, "no character"),
        ("show", {"character": "nobody"}, "no character"),
        ("rename", {"what": "model", "target": "x", "name": "y"}, "no model"),
        ("rename", {"what": "project", "target": "", "name": "  "}, "not be empty"),
        ("delete", {"what": "clip", "target": "x/y"}, "no clip"),
        ("delete", {"what": "take", "target": "x"}, "no take"),
        ("label", {"character": "nobody", "clip": "x", "labels": []}, "no character"),
        ("export", {"what": "take", "target": "x", "format": "glb"}, "no such take"),
    ],
)
def test_refusals_change_nothing(page: Page, studio: Studio, kind: str, fields: dict[str, Any], sentence: str) -> None:
    before = studio.session.document
    with pytest.raises(Refused, match=sentence) as found:
        page.ask(kind, **fields)
    assert str(studio.session.folder) not in str(found.value)
    assert studio.session.document == before


def test_what_was_changed_is_on_disk_before_the_page_hears(page: Page, studio: Studio) -> None:
    page.ask("rename", what="project", target="", name="kept")
    assert json.loads((studio.session.folder / "project.json").read_text())["document"]["name"] == "kept"
    page.ask("undo")


def test_a_full_disk_refuses_the_change(page: Page, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    from understudy.errors import InvalidInput

    def full(document: object) -> None:
        raise InvalidInput("cannot write project.json: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(studio.session.project, "save", full)
        with pytest.raises(Refused, match="No space left"):
            page.ask("rename", what="project", target="", name="lost")
    assert studio.session.document.name != "lost"
    assert page.ask("ping")["seconds"] > 0


def test_the_description_and_pictures_of_a_character(page: Page, studio: Studio, opened_folder: Path) -> None:
    import httpx

    (id,) = page.ask("open", path="small.glb")["characters"]
    assert len(httpx.get(f"{studio.address}/stage/{id}").content) > 500
    picture = httpx.get(f"{studio.address}/stage/{id}/texture/0")
    assert picture.headers["content-type"] == "image/png" and picture.content.startswith(b"\x89PNG")
    assert httpx.get(f"{studio.address}/stage/{id}/texture/1").status_code == 400
    page.ask("undo")
