"""A capture in a real browser: a hand is raised as it is while the feet hold, the wheel sets the falloff, a sketch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.studio.e2e.running import Studio
from tests.studio.e2e.test_edit import drag, settled, show, state

HAND, TIME = "RightHand", 1.4
FEET = ("LeftFoot", "RightFoot")
SOLVE_TIMEOUT_MS = 180_000  # of a stroke on a busy machine; a second on a quiet one


@pytest.fixture(scope="module")
def walk(start_shared_studio: Callable[..., Studio]) -> Studio:
    return start_shared_studio(data_file("bvh_cmu/02_01.bvh"))


def open_capture(page: Any, studio: Studio) -> None:
    """The page in the edit mode, with the capture as it is and the stage at TIME."""
    page.goto(f"{studio.address}#edit")
    page.wait_for_selector("canvas[data-staged]")
    page.wait_for_function("() => window.understudy?.edit.state()?.baked")


def go_to(page: Any, curve: int, time: float) -> None:
    """Click on a path: the stage goes there."""
    at = page.evaluate("([curve, time]) => window.understudy.edit.at(curve, time)", [curve, time])
    page.mouse.click(at["x"], at["y"])
    page.wait_for_timeout(500)


def view(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("() => window.understudy.edit.view()")
    return found


def places(page: Any, curve: int, start: float, stop: float, count: int = 25) -> np.ndarray:
    """(T, 3) where a path is in a span of time, as the page has it."""
    times = np.linspace(start, stop, count).tolist()
    script = "([curve, times]) => times.map((time) => window.understudy.edit.at(curve, time).place)"
    return np.array(page.evaluate(script, [curve, times]))


def test_a_hand_is_raised_without_reducing_and_the_feet_hold(
    walk: Studio, page: Any, shot: Callable[..., Path]
) -> None:
    open_capture(page, walk)
    feet = {name: show(page, name) for name in FEET}
    hand = show(page, HAND)
    before = state(page)
    assert before["windowed"] and before["holdFeet"] and {foot["joint"] for foot in before["feet"]} == set(FEET)
    stances = [(feet[foot["joint"]], foot["start"], foot["stop"]) for foot in before["feet"]]
    held = [places(page, *stance) for stance in stances]
    at_hand, early = places(page, hand, TIME, TIME + 0.01), places(page, hand, 0.1, TIME - 0.55)
    go_to(page, hand, TIME)
    drag(page, hand, TIME, 4, -16, drop=False)
    page.wait_for_timeout(600)
    shot(page, "edit_capture_dragging")
    page.mouse.up()
    settled(page, before["revision"])
    page.get_by_test_id("edit-change").locator("li").first.wait_for(state="visible")
    page.wait_for_timeout(400)
    shot(page, "edit_capture_raised")
    after = state(page)
    assert after["baked"] and after["keys"] == before["keys"], "nothing was reduced"
    way = places(page, hand, TIME, TIME + 0.01) - at_hand
    assert np.linalg.norm(way, axis=1).max() > 0.04 * after["size"], "the hand went along"
    assert np.abs(places(page, hand, 0.1, TIME - 0.55) - early).max() < 1e-5, "nothing moves before the window"
    for stance, was in zip(stances, held):
        assert np.linalg.norm(places(page, *stance) - was, axis=1).max() < 2e-3 * after["size"], "feet that stand stay"
    text = page.get_by_test_id("edit-change").inner_text()
    assert "asked" in text and "Speed ×" in text
    chips = page.get_by_test_id("edit-result-feet").locator("button")
    assert chips.count() >= 1
    name = chips.first.get_attribute("data-name")
    chips.first.click()
    page.wait_for_function("() => window.understudy.edit.state().feet.some((foot) => !foot.held)")
    page.wait_for_timeout(300)
    assert {foot["joint"] for foot in state(page)["feet"] if not foot["held"]} == {name}
    for _ in range(sum(foot["joint"] == name and not foot["held"] for foot in state(page)["feet"])):
        page.keyboard.press("Control+z")
    page.wait_for_function("() => window.understudy.edit.state().feet.every((foot) => foot.held)")
    page.keyboard.press("Control+z")
    page.wait_for_function("keys => !document.querySelector('[data-testid=edit-change] li:first-child')?.offsetParent")


def test_the_wheel_changes_the_falloff_while_dragging(walk: Studio, page: Any, shot: Callable[..., Path]) -> None:
    open_capture(page, walk)
    hand = show(page, HAND)
    go_to(page, hand, TIME)
    before = state(page)
    early = places(page, hand, TIME - 0.75, TIME - 0.55)
    drag(page, hand, TIME, 3, -16, drop=False)
    page.wait_for_function("() => window.understudy.edit.view().reach !== null")
    camera = page.evaluate("() => document.querySelector('canvas[data-staged]').stage.view.distance")
    radius = view(page)["reach"]["radius"]
    band = page.locator(".graph-spans .span-reach").bounding_box()
    page.mouse.wheel(0, -600)
    page.wait_for_function("before => window.understudy.edit.view().reach.radius > before", arg=1.5 * radius)
    page.wait_for_timeout(600)
    wide = view(page)
    shot(page, "edit_capture_wheel")
    assert wide["falloff"] == pytest.approx(wide["reach"]["radius"])
    assert f"± {wide['falloff']:.2f} s" in page.get_by_test_id("edit-reach").inner_text()
    assert page.locator(".graph-spans .span-reach").bounding_box()["width"] > 1.4 * band["width"]
    assert page.evaluate("() => document.querySelector('canvas[data-staged]').stage.view.distance") == camera
    page.mouse.up()
    settled(page, before["revision"])
    page.wait_for_timeout(300)
    assert np.abs(places(page, hand, TIME - 0.75, TIME - 0.55) - early).max() > 1e-4, "the wider window was used"
    assert page.get_by_test_id("edit-falloff").inner_text().strip().startswith(f"{wide['falloff']:.2f}")
    page.keyboard.press("Control+z")


def test_a_small_stroke_is_short_and_is_shown_before_it_is_kept(
    walk: Studio, page: Any, shot: Callable[..., Path]
) -> None:
    open_capture(page, walk)
    hand = show(page, HAND)
    go_to(page, hand, TIME)
    before, whole = state(page), places(page, hand, 0.05, 2.8, 250)
    at = page.evaluate("([curve, time]) => window.understudy.edit.at(curve, time)", [hand, TIME])
    page.get_by_test_id("edit-tool-sketch").click()
    page.mouse.move(at["x"] - 30, at["y"] - 5)
    page.mouse.down()
    for step in range(1, 25):
        angle = np.pi * step / 24
        page.mouse.move(at["x"] - 30 * np.cos(angle), at["y"] - 5 - 18 * np.sin(angle))
        page.wait_for_timeout(25)
    shown = "() => Number(document.querySelector('[data-testid=edit-stroke]').dataset.previews) > 0"
    page.wait_for_function(shown, timeout=SOLVE_TIMEOUT_MS)
    reach = view(page)["reach"]
    shot(page, "edit_capture_stroke")
    assert 0.19 < reach["stop"] - reach["start"] <= 2.01, "a small stroke lasts no four seconds"
    assert reach["start"] - 0.01 <= TIME <= reach["stop"] + 0.01
    assert state(page)["revision"] == before["revision"], "a preview keeps nothing"
    page.mouse.up()
    page.get_by_test_id("edit-result").wait_for(state="visible", timeout=SOLVE_TIMEOUT_MS)
    settled(page, before["revision"])
    page.wait_for_timeout(400)
    shot(page, "edit_capture_sketched")
    assert "follows the stroke" in page.get_by_test_id("edit-result").inner_text()
    reach = view(page)["reach"]
    low, high = reach["start"] - reach["radius"], reach["stop"] + reach["radius"]
    times = np.linspace(0.05, 2.8, 250)
    moved = np.linalg.norm(places(page, hand, 0.05, 2.8, 250) - whole, axis=1)
    assert moved[(times > reach["start"]) & (times < reach["stop"])].max() > 0.02, "the hand goes along the stroke"
    assert moved[(times < low - 0.02) | (times > high + 0.02)].max() < 1e-5, "nothing moves beyond it and its falloff"
    page.keyboard.press("Control+z")
