"""The edit mode in a real browser: a fox is reduced, its paws are shown and pinned, one is dragged."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import websockets.sync.client as websocket
from tests.data_folder import data_file
from tests.studio.e2e.running import Studio
from tests.studio.talking import Page as Talk

from understudy import formats
from understudy.character import rig
from understudy.edit.goals import Point
from understudy.edit.solver.objective_terms import path_of

PAW = "b_RightHand_08"
SHOULDER = "b_RightUpperArm_06"
OTHERS = ("b_LeftHand_011", "b_LeftFoot02_018", "b_RightFoot02_022")
TIMES = [i / 24 for i in range(17)]  # frames of the walk


@pytest.fixture(scope="module")
def fox(start_shared_studio: Callable[..., Studio]) -> Studio:
    return start_shared_studio(data_file("gltf_khronos/Fox.glb"))


def editing(page: Any, studio: Studio, clip: str) -> Any:
    """The page in the edit mode, with a clip that is reduced where it is not yet."""
    page.goto(f"{studio.address}#edit")
    page.wait_for_selector("canvas[data-staged]")
    page.locator(".library").get_by_text(clip, exact=True).first.click()
    page.wait_for_function("clip => window.understudy?.edit.state()?.clip === clip", arg=clip)
    if state(page)["baked"]:
        page.get_by_test_id("reduce-offer").click()
        page.wait_for_function("() => !window.understudy.edit.state().baked")
    return page


def state(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("() => window.understudy.edit.state()")
    return found


def show(page: Any, joint: str) -> int:
    """Show the path of a joint; returns its number."""
    field = page.get_by_test_id("edit-add-joint")
    field.fill(joint)
    field.dispatch_event("change")
    page.wait_for_function("name => window.understudy.edit.curve(name) !== null", arg=joint)
    number: int = page.evaluate("name => window.understudy.edit.curve(name)", joint)
    page.wait_for_function("number => window.understudy.edit.at(number, 0.3) !== null", arg=number)
    return number


def path(page: Any, curve: int) -> np.ndarray:
    """(T, 3) where a path is at TIMES, as the page has it."""
    script = "([curve, times]) => times.map((time) => window.understudy.edit.at(curve, time).place)"
    return np.array(page.evaluate(script, [curve, TIMES]))


def free_time(page: Any) -> float:
    """A time at which no channel has a key, in the middle of the clip."""
    keys = sorted({time for channel in state(page)["channels"] for time in channel["times"]})
    gaps = [(b - a, (a + b) / 2) for a, b in itertools.pairwise(keys)]
    return min((abs(middle - 0.35), middle) for gap, middle in gaps if gap > 0.02)[1]


def drag(page: Any, curve: int, time: float, dx: float, dy: float, steps: int = 8, drop: bool = True) -> None:
    """Take hold of a path at a time and pull it over the screen."""
    at = page.evaluate("([curve, time]) => window.understudy.edit.at(curve, time)", [curve, time])
    page.mouse.move(at["x"], at["y"])
    page.mouse.down()
    for step in range(1, steps + 1):
        page.mouse.move(at["x"] + dx * step / steps, at["y"] + dy * step / steps)
        page.wait_for_timeout(30)
    if drop:
        page.wait_for_timeout(200)
        page.mouse.up()


def edits(studio: Studio) -> list[dict[str, Any]]:
    """What the project on disk has of edits."""
    found: list[dict[str, Any]] = json.loads((studio.project / "project.json").read_text())["document"]["edits"]
    return found


def content(studio: Studio, clip: str) -> bytes:
    """The curves of a clip's edit, as they lie on disk."""
    entry = next(each for each in edits(studio) if each["clip"] == clip)
    return (studio.project / "edits" / entry["file"]).read_bytes()


def settled(page: Any, revision: int) -> None:
    page.wait_for_function("before => window.understudy.edit.state().revision > before", arg=revision)


def exported(studio: Studio, folder: Path, joint: str) -> np.ndarray:
    """(T, 3) the path of a joint in the file that is exported of the walk, at TIMES."""
    entry = next(each for each in edits(studio) if each["clip"] == "Walk")
    with websocket.connect(studio.address.replace("http", "ws") + "live", max_size=None) as socket:
        told = Talk(socket).ask("export", what="edit", target=entry["id"], format="glb")
    (folder / "edited.glb").write_bytes(httpx.get(studio.address.rstrip("/") + told["url"]).content)
    asset = formats.read(folder / "edited.glb")
    return path_of(rig.rig_of(asset.characters[0]), asset.curves[0], [Point(joint)], np.array(TIMES))[:, 0]


def test_a_paw_is_dragged_and_the_others_stay(
    fox: Studio, page: Any, shot: Callable[..., Path], tmp_path: Path
) -> None:
    editing(page, fox, "Walk")
    others = [show(page, name) for name in OTHERS]
    for name in OTHERS:
        page.locator(f'[data-testid="edit-curve"][data-name="{name}"]').get_by_test_id("edit-pin").click()
    page.wait_for_function("() => window.understudy.edit.state().pins.length === 3")
    paw = show(page, PAW)
    before = state(page)
    bytes_before = content(fox, "Walk")
    held, moved = [path(page, number) for number in others], path(page, paw)
    drag(page, paw, free_time(page), 12, -25)
    settled(page, before["revision"])
    after = state(page)
    shot(page, "edit_fox_dragged")
    assert after["keys"] == before["keys"], "no key was added"
    assert [c["times"] for c in after["channels"]] == [c["times"] for c in before["channels"]]
    size = after["size"]
    assert np.abs(path(page, paw) - moved).max() > 0.005 * size, "the paw went along"
    for number, was in zip(others, held):
        assert np.abs(path(page, number) - was).max() < 2e-3 * size, "the pins held"
    assert content(fox, "Walk") != bytes_before
    seen, written = path(page, paw), exported(fox, tmp_path, PAW)
    assert np.abs(seen - written).max() < 1e-3 * size, "the file has what the page shows"
    page.keyboard.press("Control+z")
    settled(page, after["revision"])
    assert content(fox, "Walk") == bytes_before, "undo restores the bytes"
    page.wait_for_timeout(300)
    assert np.abs(path(page, paw) - moved).max() < 1e-4 * size


def test_a_blocked_edit_shows_its_reason_and_offers(fox: Studio, page: Any, shot: Callable[..., Path]) -> None:
    editing(page, fox, "Walk")
    paw = page.evaluate("name => window.understudy.edit.curve(name)", PAW)
    paw = show(page, PAW) if paw is None else paw
    pins = len(state(page)["pins"])
    show(page, SHOULDER)
    page.locator(f'[data-testid="edit-curve"][data-name="{SHOULDER}"]').get_by_test_id("edit-pin").click()
    page.wait_for_function("pins => window.understudy.edit.state().pins.length > pins", arg=pins)
    before, kept = state(page), content(fox, "Walk")
    drag(page, paw, free_time(page), 80, -140, drop=False)  # further than the leg is long
    page.get_by_test_id("edit-blocked").wait_for(state="visible")
    reason = page.get_by_test_id("edit-why").inner_text()
    assert len(reason) > 15, "a sentence says why"
    page.locator('[data-testid^="edit-offer-"]').first.wait_for(state="visible", timeout=60_000)
    shot(page, "edit_fox_blocked")
    page.keyboard.press("Escape")
    page.mouse.up()
    page.wait_for_function("before => window.understudy.edit.state().keys === before", arg=before["keys"])
    assert content(fox, "Walk") == kept, "Esc leaves everything as it was"


def test_a_handle_in_the_graph_editor_moves_the_viewport(fox: Studio, page: Any, shot: Callable[..., Path]) -> None:
    editing(page, fox, "Run")
    paw = show(page, PAW)
    page.locator(f'[data-testid="edit-curve"][data-name="{PAW}"]').get_by_role("button").first.click()
    page.get_by_test_id("graph-tab-graph").click()
    before, moved = state(page), path(page, paw)
    arm = next(i for i, c in enumerate(before["channels"]) if c["target"] == "b_RightUpperArm_06")
    page.evaluate("channel => window.understudy.graph.model.choose([channel])", arm)
    page.wait_for_timeout(500)
    page.mouse.click(*place_of(page, arm, 1))
    page.wait_for_function("c => window.understudy.graph.place(c, 0, 1, 'after') !== null", arg=arm)
    x, y = place_of(page, arm, 1, "after")
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(x, y - 6 * step)
        page.wait_for_timeout(30)
    shot(page, "edit_fox_graph")
    page.mouse.up()
    settled(page, before["revision"])
    after = state(page)
    assert after["keys"] == before["keys"]
    page.wait_for_timeout(300)
    assert np.abs(path(page, paw) - moved).max() > 1e-3 * after["size"], "the viewport follows"


def place_of(page: Any, channel: int, key: int, side: str | None = None) -> tuple[float, float]:
    """Where a key of the first column, or one of its handles, is on the page."""
    script = "([c, k, side]) => window.understudy.graph.place(c, 0, k, side ?? undefined)"
    at = page.evaluate(script, [channel, key, side])
    return at["x"], at["y"]
