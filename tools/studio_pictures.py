"""The pictures of the studio's page in docs/images: the stage, a performance and its map, the game, a crowd, edits.

    .venv/bin/python tools/studio_pictures.py [folder]

A studio with a trained dragon is started, and a real Chromium goes through its modes as a user would.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.serving.server import Server
from PIL import Image
from tests.studio.e2e.conftest import CHROMIUM, FLAGS

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 720}
QUALITY = 88
HOLD = """() => {
    const stage = document.querySelector("canvas[data-staged]").stage;
    stage.waiting = [];
    stage.frame = (data) => stage.waiting.push(data);
}"""
GO_ON = """() => {
    const stage = document.querySelector("canvas[data-staged]").stage;
    delete stage.frame;
    for (const data of stage.waiting) stage.frame(data);  // the server waits until each was seen or dropped
}"""
MOVES = (5, 3, 7)  # of the player; the dragon answers each


def main() -> None:
    """Take them all."""
    from playwright.sync_api import sync_playwright

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    with Server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(viewport=SIZE).new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.address}/#perform")
        page.wait_for_selector("canvas[data-staged]")
        for take in (performing, crowd, game, stage, library, edit):
            take(page, folder)
        browser.close()


def keep(page: Any, folder: Path, name: str) -> None:
    """What the page shows; what moves is held, since only what rests is drawn with all of its pixels on a processor."""
    page.mouse.move(700, 300)
    page.evaluate(HOLD)
    page.wait_for_timeout(1500)
    there = folder / f"studio_{name}.png"
    page.screenshot(path=there)
    page.evaluate(GO_ON)
    Image.open(there).convert("RGB").save(there.with_suffix(".jpg"), quality=QUALITY)
    there.unlink()


def go(page: Any, mode: str) -> None:
    """Another mode, by its name."""
    page.get_by_role("banner").get_by_text(mode, exact=True).click()
    page.wait_for_timeout(1500)


def clip(page: Any, name: str, seconds: float) -> None:
    """A clip on stage, at rest at a moment."""
    page.locator(".library").get_by_text(name, exact=True).first.click()
    page.wait_for_timeout(800)
    if page.get_by_role("button", name="Pause").count():
        page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowLeft")
    for _ in range(round(24 * seconds)):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(800)


def performing(page: Any, folder: Path) -> None:
    """Three labels, one after the other; then the map, full size."""
    for label in ("happy", "grumpy", "surprise"):
        page.get_by_role("button", name=label, exact=True).last.click()  # the first are the library's chips
        page.wait_for_timeout(5000)
    keep(page, folder, "perform")
    page.keyboard.press("m")
    keep(page, folder, "map")
    page.keyboard.press("m")


def crowd(page: Any, folder: Path) -> None:
    """A hundred of them."""
    go(page, "Crowd")
    page.get_by_text("% of a core").wait_for()
    page.wait_for_timeout(3000)
    keep(page, folder, "crowd")


def game(page: Any, folder: Path) -> None:
    """A few moves."""
    go(page, "Play")
    page.get_by_text("New game").wait_for()
    for square in MOVES:
        page.get_by_role("paragraph").filter(has_text="Your turn").first.wait_for()
        page.keyboard.press(str(square))
        page.wait_for_timeout(1500)
    page.wait_for_timeout(4000)
    keep(page, folder, "game")


def stage(page: Any, folder: Path) -> None:
    """A roar in the midst of it."""
    go(page, "Stage")
    clip(page, "roar_double", 2.88)
    keep(page, folder, "stage")


def library(page: Any, folder: Path) -> None:
    """Searched by a few letters."""
    page.locator(".library input[type=search]").first.fill("cur")
    page.wait_for_timeout(500)
    clip(page, "curious_tilt", 1.54)
    keep(page, folder, "library")
    page.locator(".library input[type=search]").first.fill("")


def edit(page: Any, folder: Path) -> None:
    """Paths of a greeting, and the curves behind them."""
    go(page, "Edit")
    clip(page, "happy_greeting", 1.0)
    for joint in ("EarTip.L", "Head"):
        field = page.get_by_test_id("edit-add-joint")
        field.fill(joint)
        field.press("Enter")
        page.wait_for_timeout(800)
    keep(page, folder, "edit")
    page.locator(".graph-row", has_text="head.nod").first.click()
    page.get_by_test_id("graph-tab-graph").click()
    keep(page, folder, "graph")


if __name__ == "__main__":
    main()
