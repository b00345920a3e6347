"""The edit mode's viewport in a real browser: clicks, handles, poses, strokes and ghosts on a robot."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.studio.e2e.running import Studio
from tests.studio.e2e.test_edit import drag, editing, free_time, settled, show, state

HAND = "Middle1.R"


# The page asks to edit a clip half a second late, as on a busy machine. Its socket is in a worker.
SLOW_TO_EDIT = """
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (command, ...rest) {
    const late = typeof command.send === "string" && command.send.includes('"editOpen"') ? 500 : 0;
    if (late) setTimeout(() => send.call(this, command, ...rest), late);
    else send.call(this, command, ...rest);
};
"""
# The character under a place of the page, in the picture of now: the time goes ahead of the picture.
HAND_IS_DRAWN = """({x, y}) => {
    const canvas = document.querySelector("canvas[data-staged]");
    const box = canvas.getBoundingClientRect();
    return canvas.stage.pick(x - box.left, y - box.top)?.joint.endsWith(".R");
}"""


@pytest.fixture(scope="module")
def robot(start_shared_studio: Callable[..., Studio]) -> Studio:
    return start_shared_studio(data_file("gltf_threejs/RobotExpressive.glb"))


def where(page: Any, curve: int, time: float) -> dict[str, Any]:
    """A place of a path, on the page and in the world."""
    found: dict[str, Any] = page.evaluate("([curve, time]) => window.understudy.edit.at(curve, time)", [curve, time])
    return found


def handle(page: Any, name: str) -> dict[str, float]:
    """The box around a handle of the gizmo."""
    page.locator(f'[data-handle="{name}"] .line').wait_for(state="attached")
    found: dict[str, float] = page.locator(f'[data-handle="{name}"] .line').bounding_box()
    return found


def pulled(page: Any, places: list[tuple[float, float]], drop: bool = True) -> None:
    """Press at the first place and go along the others."""
    page.mouse.move(*places[0])
    page.mouse.down()
    for x, y in places[1:]:
        page.mouse.move(x, y)
        page.wait_for_timeout(30)
    page.wait_for_timeout(150)
    if drop:
        page.mouse.up()


def seek(page: Any, curve: int, time: float) -> None:
    """Click on a path: the stage goes there."""
    at = where(page, curve, time)
    page.mouse.click(at["x"], at["y"])
    page.wait_for_timeout(300)


def stage_time(page: Any) -> float:
    """The time on stage, seconds."""
    return float(page.locator('[role="slider"][aria-label="Time"]').first.get_attribute("aria-valuenow"))


def test_a_press_is_a_click_and_escape_goes_back(robot: Studio, page: Any) -> None:
    editing(page, robot, "Wave")
    hand, time = show(page, HAND), free_time(page)
    before, at = state(page), where(page, hand, time)
    pulled(page, [(at["x"], at["y"]), (at["x"] + 1, at["y"] + 1)])
    page.wait_for_timeout(300)
    assert state(page)["revision"] == before["revision"], "two pixels are no drag"
    drag(page, hand, time, 25, -25, drop=False)
    page.wait_for_function(
        "text => document.querySelector('[data-testid=edit-line]').textContent.includes(text)", arg="Moving"
    )
    page.wait_for_timeout(300)
    assert np.abs(np.subtract(where(page, hand, time)["place"], at["place"])).max() > 1e-3, "the path follows the hand"
    page.keyboard.press("Escape")
    page.mouse.up()
    page.wait_for_timeout(600)
    assert np.allclose(where(page, hand, time)["place"], at["place"], atol=1e-5), "Esc restores"
    assert state(page)["revision"] == before["revision"] and not page.get_by_test_id("edit-blocked").is_visible()


def test_rings_turn_and_arrows_retime(robot: Studio, page: Any, shot: Callable[..., Path]) -> None:
    editing(page, robot, "Wave")
    hand, time = show(page, HAND), free_time(page)
    seek(page, hand, time)
    before = state(page)
    page.get_by_test_id("edit-tool-turn").click()
    box = handle(page, "view")
    x, y, radius = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 2
    circle = [(x + radius * math.cos(0.05 * i), y + radius * math.sin(0.05 * i)) for i in range(9)]
    pulled(page, circle, drop=False)
    shot(page, "edit_turn")
    said = page.get_by_test_id("edit-line").inner_text()
    page.mouse.up()
    settled(page, before["revision"])
    assert "Turning" in said and "°" in said
    turned = state(page)
    page.get_by_test_id("edit-tool-time").click()
    box = handle(page, "later")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    pulled(page, [(x + 4 * i, y) for i in range(8)], drop=False)
    shot(page, "edit_timing")
    said = page.get_by_test_id("edit-line").inner_text()
    page.mouse.up()
    settled(page, turned["revision"])
    assert "Timing" in said and "× as" in said
    assert state(page)["keys"] == before["keys"]


def test_a_stroke_is_followed(robot: Studio, page: Any, shot: Callable[..., Path]) -> None:
    editing(page, robot, "Wave")
    hand, time = show(page, HAND), free_time(page)
    before = state(page)
    page.get_by_test_id("edit-tool-sketch").click()
    ends = [where(page, hand, time + step) for step in (-0.12, 0.12)]
    stroke = [
        (
            (1 - u) * ends[0]["x"] + u * ends[1]["x"] + 12 * math.sin(math.pi * u),
            (1 - u) * ends[0]["y"] + u * ends[1]["y"],
        )
        for u in np.linspace(0, 1, 16).tolist()
    ]
    pulled(page, stroke, drop=False)
    shot(page, "edit_sketch")
    page.mouse.up()
    settled(page, before["revision"])
    assert state(page)["keys"] == before["keys"]


def test_a_clip_is_opened_at_its_beginning_however_slow_the_page_is(robot: Studio, page: Any) -> None:
    """On stage it would play until the page asks to edit it, and the edit begin wherever it is by then."""
    page.add_init_script(SLOW_TO_EDIT)
    editing(page, robot, "Dance")
    editing(page, robot, "Wave")
    assert stage_time(page) == 0.0
    seek(page, show(page, HAND), 0.5)
    moved = stage_time(page)
    assert moved > 0.3
    revision = state(page)["revision"]
    page.locator(".library").get_by_text("Wave", exact=True).first.click()
    page.wait_for_timeout(1000)
    assert stage_time(page) == moved and state(page)["revision"] == revision, "it is open already"


def test_a_joint_is_found_by_name_before_the_character_is_drawn(robot: Studio, page: Any) -> None:
    page.route("**/stage/*", lambda route: None)  # never answered: the server is busy
    page.goto(f"{robot.address}#edit")
    page.wait_for_function("() => window.understudy?.edit.state()")
    name = "Palm2.R"
    for typed, shown in (("Palm2", False), (name, True)):
        page.get_by_test_id("edit-add-joint").fill(typed)
        page.get_by_test_id("edit-add-joint").dispatch_event("change")
        if shown:
            page.wait_for_function("name => window.understudy.edit.curve(name) !== null", arg=name)
        else:
            page.get_by_text("Palm2", exact=False).first.wait_for()
            page.wait_for_function(
                "name => document.querySelector('[data-testid=edit-add-joint]').value === name", arg=typed
            )
    page.locator(f'[data-testid="edit-curve"][data-name="{name}"]').get_by_test_id("edit-hide").click()
    page.wait_for_function("name => window.understudy.edit.curve(name) === null", arg=name)
    assert page.get_by_test_id("edit-add-joint").is_enabled(), "the field goes on taking names"


def test_bodies_are_posed_at_keys(robot: Studio, page: Any, shot: Callable[..., Path]) -> None:
    editing(page, robot, "Wave")
    hand = show(page, HAND)
    page.keyboard.press("Shift+ArrowLeft")  # to the beginning: earlier tests have been elsewhere
    page.get_by_test_id("edit-at-key").get_by_text("At a key of").wait_for()
    start = stage_time(page)
    page.keyboard.press("b")
    page.wait_for_function("() => window.understudy.edit.view().posing")
    page.keyboard.press("ArrowUp")
    later = """start => document.querySelector('[role="slider"][aria-label="Time"]').ariaValueNow > start + 0.01"""
    page.wait_for_function(later, arg=start)
    page.get_by_test_id("edit-at-key").get_by_text("At a key of").wait_for()
    before, at = state(page), where(page, hand, stage_time(page))
    page.wait_for_function(HAND_IS_DRAWN, arg=at)
    pulled(page, [(at["x"] + i, at["y"] - 2 * i) for i in range(10)], drop=False)
    shot(page, "edit_pose")
    page.mouse.up()
    settled(page, before["revision"])
    posed = state(page)
    assert posed["keys"] == before["keys"]
    page.keyboard.press("Control+c")
    page.wait_for_function("() => window.understudy.edit.state().copied")
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(400)
    page.get_by_test_id("edit-mirror").click()
    settled(page, posed["revision"])
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.wait_for_function("keys => window.understudy.edit.state().keys === keys", arg=before["keys"])


def test_five_paths_with_ghosts_and_what_is_held(
    robot: Studio, new_page: Callable[..., Any], shot: Callable[..., Path]
) -> None:
    page = new_page(1280, 800)
    editing(page, robot, "Dance")
    for name in ("Middle1.L", "Head", "LowerLeg.L_1", "LowerLeg.R_1", HAND):
        hand = show(page, name)
    seek(page, hand, 1.0)
    shot(page, "edit_five_paths")
    names = page.locator(".edit-tag:not(.hidden)")
    boxes = [names.nth(i).bounding_box() for i in range(names.count())]
    assert len(boxes) == 5
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = abs(a["y"] - b["y"]) >= 17 or a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert apart, "names do not cover each other"
    page.keyboard.press("p")
    page.keyboard.press("k")
    page.wait_for_function("() => document.querySelectorAll('[data-testid=edit-held-row]').length === 2")
    page.keyboard.press("o")
    page.wait_for_timeout(1500)
    shot(page, "edit_ghosts")
    page.keyboard.press("o")
    page.get_by_test_id("edit-release").first.click()
    page.get_by_test_id("edit-release").first.click()
    page.wait_for_function("() => document.querySelectorAll('[data-testid=edit-held-row]').length === 0")
