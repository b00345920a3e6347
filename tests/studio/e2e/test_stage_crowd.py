"""The crowd in a real browser: gathered, drawn, grown, looking at the pointer, and gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.learned import lamp_model
from tests.studio.e2e.running import Studio

STAGE = "document.querySelector('canvas[data-staged]').stage"


def test_a_crowd_of_lamps(
    start_studio: Callable[..., Studio], page: Any, tmp_path: Path, shot: Callable[..., Path]
) -> None:
    model = tmp_path / "lamp.understudy"
    lamp_model().save(model)
    studio = start_studio(model)
    page.goto(studio.address)
    page.wait_for_selector("canvas[data-staged]")
    page.get_by_role("banner").get_by_text("Crowd", exact=True).click()
    page.wait_for_function(f"() => {STAGE}.crowdFigure && {STAGE}.crowdFigure.deformation.count === 100")
    first = page.evaluate(f"() => Array.from({STAGE}.positions().slice(0, 3000))")
    drawn = page.evaluate(f"() => {STAGE}.stats().drawn")
    page.wait_for_function(f"before => {STAGE}.stats().drawn > before + 3", arg=drawn)
    assert page.evaluate(f"() => Array.from({STAGE}.positions().slice(0, 3000))") != first  # they live
    page.get_by_text("% of a core").wait_for()
    shot(page, "crowd")

    number = page.get_by_role("slider", name="Characters")
    number.fill("12")
    page.wait_for_function(f"() => {STAGE}.crowdFigure.deformation.count === 12")
    box = page.locator("canvas[data-staged]").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)

    page.get_by_role("banner").get_by_text("Stage", exact=True).click()
    page.wait_for_function(f"() => {STAGE}.crowdFigure === null && {STAGE}.figure.group.visible")
