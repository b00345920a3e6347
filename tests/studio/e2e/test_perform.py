"""The perform mode in a real browser: a robot learns, is told everything once, is recorded and exported."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.judges.gltf_validator import validate
from tests.studio.e2e.running import Studio

from understudy import formats
from understudy.character import rig
from understudy.studio.perform import recording

LEARNED = ("Idle", "Wave", "Yes")


@pytest.fixture(scope="module")
def robot(start_shared_studio: Callable[..., Studio]) -> Studio:
    return start_shared_studio(data_file("gltf_threejs/RobotExpressive.glb"))


def performing(page: Any, studio: Studio) -> Any:
    """The page in the perform mode; the robot learns where it has not yet."""
    page.goto(f"{studio.address}#perform")
    page.wait_for_selector("canvas[data-staged]")
    chips = page.locator(".perform .chip")
    page.locator(".perform .doing:not(.hidden), .perform .chip").first.wait_for()
    if not page.locator(".perform .doing").is_visible():
        for chip in chips.all():
            if chip.inner_text() not in LEARNED:
                chip.click()
        page.get_by_role("button", name="Learn 3 labels").click()
    page.wait_for_function("() => document.querySelector('.map-legend').textContent.includes('poses')", timeout=120_000)
    return page


def doing(page: Any, words: str) -> None:
    """Wait until the line above the panel says so."""
    page.locator(".perform .doing .what", has_text=re.compile(words)).wait_for()


def test_learn_and_be_told(robot: Studio, page: Any, shot: Callable[..., Path]) -> None:
    performing(page, robot)
    assert page.locator(".map-legend").inner_text().endswith("3 clips")
    page.get_by_role("button", name="Wave", exact=True).first.click()  # TRANSITION
    doing(page, "transition Wave|Wave, idling")
    page.locator(".hued.current", has_text="Wave").wait_for()
    page.get_by_title("Play Yes as it was made").click()  # PLAY
    doing(page, "play Yes")
    page.locator(".map").focus()
    page.keyboard.press("0")  # IDLE
    doing(page, "idle|idling")
    page.keyboard.press("1")
    page.locator(".hued.current", has_text="Idle").wait_for()
    page.get_by_text("two labels at once").click()
    page.get_by_role("button", name="Mix", exact=True).click()  # MIX
    doing(page, "mix Idle, Wave at 0.5")
    assert re.fullmatch(r"\d+\.\d\d ms a frame", page.locator(".perform .cost").inner_text())
    page.get_by_role("slider", name="Stillness").fill("0.5")
    page.locator(".map").scroll_into_view_if_needed()
    shot(page, "perform_robot")
    click_on_the_map(page)  # MOVE
    map_full_size(page, shot)


def click_on_the_map(page: Any) -> None:
    """A moment is told while the pointer is over it, and a click moves there."""
    box = page.locator(".map").bounding_box()
    tip = page.locator(".map-tip")
    for number in range(400):  # outwards on a spiral until a curve is met
        r, turn = 0.45 * (number / 400) ** 0.5, 2.4 * number
        place = (
            box["x"] + box["width"] * (0.5 + r * np.cos(turn)),
            box["y"] + box["height"] * (0.5 + r * np.sin(turn)),
        )
        page.mouse.move(*place)
        if tip.is_visible():
            break
    words = tip.inner_text()
    clip, seconds = re.match(r"(.+?)\s+(\d+\.\d+) s", words).groups()
    assert "click to move there" in words and clip in LEARNED
    page.mouse.click(*place)
    page.wait_for_function(
        """([clip, seconds]) => {
            const words = document.querySelector('.doing .what').textContent;
            const [, name, moment] = /^move (.+)@([\\d.]+)/.exec(words) ?? [];
            return name === clip && Math.abs(Number(moment) - seconds) <= 0.005001;
        }""",
        arg=[clip, float(seconds)],
    )


def map_full_size(page: Any, shot: Callable[..., Path]) -> None:
    before = page.locator(".map").bounding_box()
    page.keyboard.press("m")
    page.locator(".map-full .map").wait_for()
    assert page.locator(".map").bounding_box()["width"] > 1.5 * before["width"]
    shot(page, "perform_map")
    page.keyboard.press("m")
    page.locator(".map-place .map").wait_for()


def test_a_take_is_recorded_scrubbed_and_exported_as_it_was_shown(robot: Studio, page: Any, tmp_path: Path) -> None:
    performing(page, robot)
    page.get_by_role("button", name="Record", exact=True).click()
    page.locator(".record.on").wait_for()
    page.get_by_role("button", name="Wave", exact=True).first.click()
    page.wait_for_function("() => parseFloat(document.querySelector('.record + .muted').textContent) > 0.6")
    page.get_by_role("button", name="Stop and keep").click()
    row = page.get_by_role("button", name="take 1", exact=True).last
    row.click()
    page.get_by_role("button", name="Back to live").wait_for()  # it is on the timeline
    page.get_by_role("button", name="Export or delete take 1").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=re.compile("glTF|GLB", re.IGNORECASE)).first.click()
    path = tmp_path / "take.glb"
    download.value.save_as(path)
    (verdict,) = validate([path])
    assert verdict.errors == 0, verdict
    (kept,) = (robot.project / "takes").glob("*.npz")
    recorded = recording.read_take(kept, "take 1")
    assert recorded.rate == 60 and len(recorded.rows) > 30
    here = rig.rig_of(formats.read(data_file("gltf_threejs/RobotExpressive.glb")).character())
    asset = formats.read(path)
    there = rig.rig_of(asset.character())
    back = there.pose(asset.animations[0])
    assert len(back) == len(recorded.rows)
    some = [0, len(back) // 2, len(back) - 1]
    shown = here.vertices(recorded.rows[some].astype(np.float64))
    np.testing.assert_allclose(there.vertices(back[some]), shown, atol=1e-5 * np.ptp(shown))
    page.get_by_role("button", name="Back to live").click()
    page.locator(".perform .doing:not(.hidden)").wait_for()


def test_a_script_is_seen_as_it_is_written_and_learning_can_be_cancelled(robot: Studio, page: Any) -> None:
    performing(page, robot)
    page.get_by_text("what it does, and when").click()
    editor = page.get_by_role("textbox", name="Script")
    editor.fill('[[do]]\ncommand = "transition"\nlabel = "Waev"\n')
    verdict = page.locator(".verdict.wrong")
    verdict.wait_for()
    assert "there is no label 'Waev' in the model (did you mean 'Wave'?)" in verdict.inner_text()
    assert page.locator(".line.wrong").is_visible()
    editor.fill(
        '[[do]]\ncommand = "idle"\nlabel = "Yes"\nseconds = 1\n\n[[do]]\ncommand = "transition"\nlabel = "Wave"\n'
    )
    page.locator(".verdict", has_text="2 steps; nothing wrong.").wait_for()
    page.locator(".line.now").wait_for()  # it runs by itself: the preview is live
    page.locator(".hued.current", has_text="Wave").wait_for()
    page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_role("textbox", name="What is this script called?").fill("hello")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("combobox", name="Kept scripts").get_by_role("option", name="hello").wait_for(state="attached")
    learning_is_cancelled(page, robot)


def learning_is_cancelled(page: Any, robot: Studio) -> None:
    page.locator("summary", has_text="Model").click()
    page.get_by_role("button", name=re.compile("Learn again")).click()
    page.get_by_role("button", name="Learning…").wait_for()
    page.get_by_role("button", name=re.compile("Cancel", re.IGNORECASE)).first.click()
    page.get_by_role("button", name=re.compile("Learn again")).wait_for()
    assert len(list((robot.project / "models").glob("*"))) == 1
