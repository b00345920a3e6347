"""The viewer in a notebook: executed, saved, converted to HTML and opened in Chromium without a network."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from understudy import cast
from understudy.checks import Array
from understudy.render.html import NotebookViewer, viewer_html, write_viewer

CELL = """import understudy as us
us.show(us.load("lamp"))"""
MIN_CHANGED_PIXELS = 500  # of 8 bits and more: the shade of the lamp alone has ten times as many


@pytest.fixture(scope="module")
def notebook(built_page: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML of a notebook that was executed and saved."""
    import nbformat

    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_markdown_cell("# A lamp"), nbformat.v4.new_code_cell(CELL)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "lamp.ipynb")
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "JUPYTER_PLATFORM_DIRS": "1"}
    for options in (["--to=notebook", "--execute", "--inplace"], ["--to=html", "--template=basic"]):
        command = [sys.executable, "-m", "nbconvert", "--log-level=ERROR", *options, "lamp.ipynb"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "lamp.html"


@pytest.fixture
def open_offline(new_page: Callable[..., Any]) -> Callable[..., Any]:
    """Opens a file without a network; a request for anything else fails the test."""

    def open_file(path: Path, width: int = 900, height: int = 640) -> Any:
        page = new_page(width, height, offline=True)
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(path.as_uri())
        return page

    return open_file


def picture(page: Any, viewer: Any) -> Array:
    """The pixels of the canvas after it has come to rest."""
    from PIL import Image

    canvas = viewer.locator("canvas[data-ready]")
    canvas.wait_for()
    before = b""
    for _ in range(60):
        page.wait_for_timeout(600)  # the stage draws once more in full quality when nothing has moved for 400 ms
        now = canvas.screenshot()
        if now == before:
            break
        before = now
    return np.asarray(Image.open(io.BytesIO(now)).convert("RGB"), np.int16)


def changed(one: Array, other: Array) -> int:
    """How many pixels differ visibly."""
    return int((np.abs(one - other).max(axis=2) >= 8).sum())


def test_saved_notebook(notebook: Path, open_offline: Callable[..., Any], shot: Callable[..., Path]) -> None:
    page = open_offline(notebook)
    viewer = page.frame_locator("iframe")
    first = picture(page, viewer)
    shot(page, "viewer_notebook")
    # the red shade and the dark ground
    assert ((first[..., 0] > 150) & (first[..., 2] < 90)).sum() > 1000 and (first.max(axis=2) < 60).sum() > 10_000
    assert viewer.locator(".title").inner_text() == "lamp · hop"
    clock = viewer.get_by_label("Time")
    assert clock.inner_text().startswith("0:00.00 / 0:06.00")

    viewer.get_by_role("button", name="Play").click()
    page.wait_for_function("() => !document.querySelector('iframe').contentDocument.querySelector('.clock')"
                           ".textContent.startsWith('0:00')")  # fmt: skip
    page.keyboard.press("Space")  # the keys stay with the viewer after a click
    assert viewer.get_by_role("button", name="Play").is_visible()
    assert changed(first, picture(page, viewer)) > MIN_CHANGED_PIXELS

    slider = viewer.get_by_role("slider", name="Frame")
    box = slider.bounding_box()
    slider.click(position={"x": 0.75 * box["width"], "y": box["height"] / 2})
    assert clock.inner_text().startswith("0:04.")
    scrubbed = picture(page, viewer)
    assert changed(first, scrubbed) > MIN_CHANGED_PIXELS
    frame = int(slider.input_value())
    page.keyboard.press("ArrowRight")
    assert int(slider.input_value()) == frame + 1
    page.keyboard.press("Shift+ArrowLeft")
    assert changed(first, picture(page, viewer)) < MIN_CHANGED_PIXELS  # the same pose as at first

    canvas = viewer.locator("canvas").bounding_box()
    page.mouse.move(canvas["x"] + 100, canvas["y"] + 100)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 300, canvas["y"] + 130, steps=5)
    page.mouse.up()
    assert changed(first, picture(page, viewer)) > MIN_CHANGED_PIXELS
    assert page.requests == [notebook.as_uri()]


@pytest.mark.parametrize("name", ["dragon", "actor"])
def test_file(
    name: str, built_page: Path, tmp_path: Path, open_offline: Callable[..., Any], shot: Callable[..., Path]
) -> None:
    write_viewer(tmp_path / f"{name}.html", cast.load(name))
    page = open_offline(tmp_path / f"{name}.html", 700, 500)
    first = picture(page, page)
    assert (first.max(axis=2) > 90).sum() > 5000
    slider = page.get_by_role("slider", name="Frame")
    box = slider.bounding_box()
    slider.click(position={"x": 0.6 * box["width"], "y": box["height"] / 2})
    assert changed(first, picture(page, page)) > MIN_CHANGED_PIXELS
    shot(page, f"viewer_{name}")
    page.set_viewport_size({"width": 360, "height": 300})  # it follows its container, and the bar stays in it
    small = page.locator("canvas").bounding_box()
    assert small["width"] == 360 and small["height"] == 300 - page.locator(".bar").bounding_box()["height"]
    assert page.get_by_role("button", name="Show all").is_visible()
    assert page.evaluate("document.querySelector('.bar').scrollWidth <= innerWidth")
    assert page.requests == [(tmp_path / f"{name}.html").as_uri()]


def test_viewer_out_of_sight_waits(built_page: Path, tmp_path: Path, open_offline: Callable[..., Any]) -> None:
    """Below the fold nothing is built or drawn, and a clip that is scrolled away does not play on."""
    frame = NotebookViewer(viewer_html(cast.load("lamp"), play=True), height=300)._repr_html_()
    (tmp_path / "long.html").write_text(f"<!doctype html><p style='height:3000px'>Above</p>{frame}", encoding="utf-8")
    page = open_offline(tmp_path / "long.html", 600, 400)
    viewer = page.frame_locator("iframe")
    viewer.locator(".bar").wait_for(state="attached")
    page.wait_for_timeout(500)
    assert viewer.locator("canvas").count() == 0
    page.evaluate("scrollTo(0, 1e6)")
    viewer.locator("canvas[data-ready]").wait_for()
    page.wait_for_function("() => +document.querySelector('iframe').contentDocument.querySelector('input').value > 3")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(500)
    slider = viewer.get_by_role("slider", name="Frame")
    frame_number = slider.input_value()
    page.wait_for_timeout(700)
    assert slider.input_value() == frame_number
    # A browser takes the graphics context away when a notebook has many viewers; the viewer then builds a new stage.
    viewer.locator("canvas").evaluate("it => it.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()")
    page.wait_for_timeout(300)
    page.evaluate("scrollTo(0, 1e6)")
    page.wait_for_function("""() => {
        const it = document.querySelector('iframe').contentDocument.querySelector('canvas[data-ready]');
        return it && !it.getContext('webgl2').isContextLost();
    }""")
    assert viewer.locator("canvas").count() == 1
    viewer.get_by_role("button", name="Pause").click()
    assert (picture(page, viewer).max(axis=2) > 90).sum() > 1000
