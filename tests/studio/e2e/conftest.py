"""A studio in a child process and a page of it in a real Chromium; an error in the page's console fails the test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.data_folder import PROJECT
from tests.studio import page as web
from tests.studio.e2e.running import Studio

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Software OpenGL through EGL: twice as fast as Chromium's own software renderer. The page itself is put together
# without it, as browsers without a graphics card do: else both stand in one line, and pictures take twice as long.
FLAGS = ["--use-gl=angle", "--use-angle=gl-egl", "--disable-gpu-compositing", "--ignore-gpu-blocklist", "--no-sandbox"]
FLAGS += ["--disable-background-networking", "--mute-audio", "--hide-scrollbars"]
SHOTS = PROJECT / "out" / "studio"


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The page, built from the sources as they are."""
    return web.built()


@pytest.fixture
def start_studio(built_page: Path, tmp_path: Path) -> Iterator[Callable[..., Studio]]:
    """Starts a studio with files: `start_studio("a.glb", "dragon")`; all are stopped after the test."""
    started: list[Studio] = []

    def start(*files: str | Path) -> Studio:
        studio = Studio(tmp_path / f"project{len(started)}", *map(str, files))
        started.append(studio)
        return studio

    yield start
    for studio in started:
        studio.stop()


@pytest.fixture(scope="module")
def start_shared_studio(built_page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Studio]]:
    """The same for a studio that all tests of a file share."""
    started: list[Studio] = []

    def start(*files: str | Path) -> Studio:
        studio = Studio(tmp_path_factory.mktemp("shared") / "project", *map(str, files))
        started.append(studio)
        return studio

    yield start
    for studio in started:
        studio.stop()


@pytest.fixture
def studio(start_studio: Callable[..., Studio]) -> Studio:
    """A studio as at the first launch: the dragon is there."""
    return start_studio()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests of this process."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (requirements/system.sh installs one)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Makes a page: `new_page(width, height, scale)`; its console may have no errors when the test ends.

    `page.expected_errors` is a list of texts that may occur in them: what a test provokes.
    """
    pages: list[Any] = []
    errors: list[str] = []

    def make(width: int = 1280, height: int = 720, scale: float = 1.0, **options: Any) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=scale, accept_downloads=True, **options
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.expected_errors = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(f"{error}"))
        pages.append(page)
        return page

    yield make
    expected = [text for page in pages for text in page.expected_errors]
    for page in pages:
        page.context.close()
    left = [error for error in errors if not any(text in error for text in expected)]
    assert not left, "\n".join(left)


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """A page of 1280 x 720."""
    return new_page()


@pytest.fixture
def shot() -> Callable[[Any, str], Path]:
    """Keeps a picture of a page for people to look at: `shot(page, "first_launch")`."""

    def keep(page: Any, name: str) -> Path:
        SHOTS.mkdir(parents=True, exist_ok=True)
        path = SHOTS / f"{name}.png"
        page.screenshot(path=path)
        return path

    return keep
