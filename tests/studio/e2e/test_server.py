"""The server behind a real browser: killed and back, hostile neighbours, strangers, and how soon the page is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.cli.acrobat import acrobat
from tests.studio.e2e.running import Studio
from tests.studio.messages.hostile import hostile_texts

from understudy import formats

expect.set_options(timeout=60_000)
SLIDER = "[role=slider][aria-label=Time]"
HOSTILE = """texts => new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${location.host}/live`);
    let failed = 0, answered = false;
    socket.onopen = () => {
        for (const text of texts) socket.send(text);
        socket.send(new Uint8Array(1000));
        socket.send(JSON.stringify({ kind: "ping", id: 4242 }));
    };
    socket.onmessage = (event) => {
        if (typeof event.data !== "string") return;
        const message = JSON.parse(event.data);
        if (message.kind === "failed") failed += 1;
        if (message.id === 4242) { answered = true; socket.close(); resolve(failed); }
    };
    socket.onclose = () => answered || reject(new Error("the server hung up"));
})"""
RENAME = """() => new Promise((resolve) => {
    const socket = new WebSocket(`ws://${location.host}/live`);
    const request = { kind: "rename", id: 1, what: "project", target: "", name: "The long way" };
    socket.onopen = () => socket.send(JSON.stringify(request));
    socket.onmessage = (event) => {
        if (typeof event.data !== "string" || JSON.parse(event.data).kind !== "done") return;
        socket.close();
        resolve();
    };
})"""
STRANGER = """address => new Promise((resolve) => {
    const socket = new WebSocket(address);
    socket.onopen = () => resolve("let in");
    socket.onerror = () => resolve("refused");
})"""


@pytest.fixture(scope="module")
def studio(start_shared_studio: Callable[..., Studio], tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """With the acrobat on stage."""
    path = tmp_path_factory.mktemp("files") / "acrobat.glb"
    formats.write(acrobat(), path)
    return start_shared_studio(path)


def opened(page: Any, studio: Studio) -> Any:
    page.goto(studio.address)
    page.wait_for_selector("canvas[data-staged]")
    return page


def moves(page: Any) -> None:
    """The playhead goes on."""
    before = page.locator(SLIDER).get_attribute("aria-valuenow")
    expect(page.locator(SLIDER)).not_to_have_attribute("aria-valuenow", before)


def test_the_page_is_there_soon_and_says_nothing_wrong(studio: Studio, page: Any) -> None:
    opened(page, studio)
    moves(page)
    painted = page.evaluate("performance.getEntriesByType('paint').map((entry) => entry.startTime)")
    assert painted and min(painted) > 0
    sizes = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.transferSize)")
    assert sum(sizes) < 20e6  # nothing is fetched from elsewhere or twice


def test_killed_and_back(studio: Studio, page: Any) -> None:
    """The page reconnects by itself; what was changed is there, and it plays on."""
    page.expected_errors += ["ERR_CONNECTION_REFUSED", "WebSocket", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"]
    opened(page, studio)
    clips = page.get_by_role("listbox", name="Clips")
    clips.get_by_role("option", name="sway").click()
    expect(clips.get_by_role("option", name="sway")).to_have_attribute("aria-selected", "true")
    page.evaluate(RENAME)
    studio.kill()
    address = studio.address
    studio.start()
    assert studio.address == address
    page.wait_for_selector("canvas[data-staged]")
    moves(page)
    assert json.loads((studio.project / "project.json").read_text())["document"]["name"] == "The long way"
    expect(clips.get_by_role("option", name="sway")).to_have_attribute("aria-selected", "true")
    assert clips.get_by_role("option").count() == 3
    assert len(list((studio.project / "exports").iterdir())) == 0


def test_hostile_neighbours_do_not_disturb(studio: Studio, page: Any) -> None:
    """Another connection of the same browser sends nonsense; this page plays on and nothing is lost."""
    opened(page, studio)
    before = page.get_by_role("listbox", name="Characters").inner_text()
    assert page.evaluate(HOSTILE, hostile_texts(300, 100_000)) > 250
    moves(page)
    assert page.get_by_role("listbox", name="Characters").inner_text() == before
    assert "Traceback" not in studio.log()


def test_a_page_of_another_site_is_refused(studio: Studio, new_page: Callable[..., Any], tmp_path: Path) -> None:
    page = new_page()
    page.expected_errors += ["WebSocket", "403"]
    page.goto("about:blank")
    assert page.evaluate(STRANGER, studio.address.replace("http", "ws") + "live") == "refused"
    answer = page.goto(studio.address + "nothing/here")
    page.expected_errors.append("404")
    assert answer.status == 404 and "Traceback" not in answer.text() and "/" not in answer.json()["sentence"]
