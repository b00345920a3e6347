"""Viewers as HTML: complete in themselves, bounded, deterministic, and with the same frames as the studio's stage."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.render.viewport.puppets import puppet, random_rows

from understudy import cast
from understudy.character import Asset, Character, Clip
from understudy.character.rig import DirectRig, rig_of
from understudy.errors import InvalidInput
from understudy.render import html
from understudy.render.viewport.description import describe
from understudy.render.viewport.surface import FramePacker


@pytest.fixture(autouse=True)
def script(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small script in place of the built one, so that these tests need no Node."""
    monkeypatch.setattr(html, "_script", lambda: b"start()")


def test_page_is_complete_in_itself() -> None:
    page = html.viewer_html(cast.load("lamp"), "hop")
    tags = Tags(page)
    assert tags.names == {"html", "head", "meta", "title", "style", "body", "noscript", "script"}
    assert not {"src", "href"} & tags.attributes and "://" not in page
    assert "default-src 'none'" in page
    assert page == html.viewer_html(cast.load("lamp"), "hop")
    assert len(page) < 800_000


def test_frames_are_those_of_the_stage() -> None:
    character = puppet()
    rig = DirectRig(character)
    rows = random_rows(rig, 4)
    data = embedded(html.viewer_html(character, Clip("wave", rig.channels, rows, 24.0)))
    packer = FramePacker(rig)
    assert data["frames"] == 4 and data["rate"] == 24 and data["clip"] == "wave" and data["range"] is None
    assert (data["form"], data["a"], data["b"]) == (packer.form, len(packer.bones), packer.weight_count)
    poses = np.frombuffer(unpack(data["poses"]), "<f4").reshape(4, -1)
    np.testing.assert_allclose(poses, packer.poses(rows), atol=1e-5)
    assert unpack(data["description"]) == describe(rig, Clip("wave", rig.channels, rows, 24.0))


def test_vertices_are_stored_in_steps_of_their_range() -> None:
    asset = cast.load("dragon")
    rig = rig_of(asset.characters[0])
    animation = asset.animations[0]
    rows = rig.pose(animation, animation.frame_times()[:3])
    data = embedded(html.viewer_html(rig.character, Clip("three", rig.channels, rows, 24.0)))
    low, high = (np.array(data["range"][end]) for end in ("low", "high"))
    planes = np.frombuffer(unpack(data["poses"]), np.uint8).reshape(2, 3, -1).astype(np.uint16)
    steps = np.add.accumulate(planes[0] + 256 * planes[1], axis=0, dtype=np.uint16)
    points = low + steps.reshape(3, -1, 3) * (high - low) / 65535
    half_a_step = (high - low).max() / 65535 / 2
    assert np.abs(points - rig.vertices(rows)).max() < 1.01 * half_a_step < 1e-4
    assert len(data["images"]) == 4 and data["images"][0]["mime"].startswith("image/")


def test_rate_is_at_most_30_hz() -> None:
    data = embedded(html.viewer_html(cast.load("actor")))
    assert (data["rate"], data["frames"]) == (30, round(22.5 * 30) + 1)
    data = embedded(html.viewer_html(cast.load("lamp"), rate=10))
    assert (data["rate"], data["frames"]) == (10, 61)


def test_rest_pose_is_one_frame() -> None:
    data = embedded(html.viewer_html(puppet()))
    assert (data["frames"], data["clip"]) == (1, "")


def test_names_from_files_are_text() -> None:
    name = "</script><script>alert('1')</script>\"&"
    before = puppet()
    page = html.viewer_html(Character(name, before.skeleton, before.parts))
    assert "alert" not in "".join(Tags(page).scripts[1:]) and len(Tags(page).scripts) == 2
    assert embedded(page)["character"] == name
    frame = html.NotebookViewer(page)._repr_html_()
    tags = Tags(frame)
    assert tags.names == {"iframe"} and tags.values["srcdoc"] == page
    assert len(repr(html.NotebookViewer(page))) < 100  # a terminal does not print the page


def test_other_characters_are_named() -> None:
    one = puppet()
    asset = Asset(characters=(one, Character("second", one.skeleton, one.parts)))
    assert "second" in embedded(html.viewer_html(asset))["note"]
    assert embedded(html.viewer_html(asset, character="second"))["character"] == "second"


def test_large_viewers_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(html, "MAX_VIEWER_BYTES", 50_000)
    with pytest.raises(InvalidInput, match=r"145 frames of clip 'hop'.*at most \d+ s"):
        html.write_viewer(tmp_path / "lamp.html", cast.load("lamp"), "hop")
    with pytest.raises(InvalidInput, match="the viewer of 'lamp' would have"):
        html.write_viewer(tmp_path / "lamp.html", cast.load("lamp").characters[0])
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_shown_is_said() -> None:
    lamp = cast.load("lamp")
    for thing, animation, reason in (
        (lamp, "walk", "walk"),
        (lamp.characters[0], "hop", "a character has no clips"),
        (puppet(), lamp.animation("hop"), "moves nothing"),
        (Asset(), None, "no character"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            html.viewer_html(thing, animation)
    with pytest.raises(InvalidInput, match="rate"):
        html.viewer_html(lamp, rate=0)


def test_file_is_the_page(tmp_path: Path) -> None:
    html.write_viewer(tmp_path / "lamp.html", cast.load("lamp"), "sad", play=True)
    page = (tmp_path / "lamp.html").read_text(encoding="utf-8")
    assert page == html.viewer_html(cast.load("lamp"), "sad", play=True) and embedded(page)["play"] is True


def embedded(page: str) -> dict[str, Any]:
    """The data in a page."""
    found = re.search(r'<script type="application/json" id="understudy-data">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def unpack(text: str) -> bytes:
    """The bytes of a packed field."""
    return zlib.decompress(base64.b64decode(text))


class Tags(HTMLParser):
    """The elements of a page as a browser sees them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.values: dict[str, str | None] = {}
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values.update(attrs)
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.scripts:
            self.scripts[-1] += data
