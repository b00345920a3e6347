"""A studio in a child process and a page of it in a real Chromium; an error in the page's console fails the test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.data_folder import PROJECT
from tests.studio import page as web

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Software OpenGL through EGL: twice as fast as Chromium's own software renderer.
FLAGS = ["--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist", "--no-sandbox"]
FLAGS += ["--disable-background-networking", "--mute-audio", "--hide-scrollbars"]
SHOTS = PROJECT / "out" / "studio"


class Studio:
    """A server as a user starts it, with a project folder of its own."""

    def __init__(self, project: Path, *files: str, port: int = 0) -> None:
        self.project, self.files = project, files
        self.port = port
        self.process: subprocess.Popen[str] | None = None
        self.address = ""
        self.start()

    def start(self, *files: str) -> None:
        """Start it, or start it again at the same port."""
        command = [sys.executable, "-m", "understudy", "studio", "--no-browser", "--quiet"]
        command += ["--project", str(self.project), "--port", str(self.port), *(files or self.files)]
        # The server has a log of its own: a pipe that nobody reads would stop it.
        log = (self.project.parent / f"{self.project.name}.log").open("a")
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=PROJECT, env=environment
        )
        log.close()
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http"), self.log()
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def log(self) -> str:
        """What the server said."""
        return (self.project.parent / f"{self.project.name}.log").read_text()

    def kill(self) -> None:
        """As a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self._gone()

    def stop(self) -> None:
        """As Ctrl+C would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
            self._gone()

    def _gone(self) -> None:
        assert self.process is not None
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None


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
        page.set_default_timeout(30_000)
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
