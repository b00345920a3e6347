"""The studio from outside: its server in a process of its own, a page without a browser beside it, and one with.

The dragon performs live at 60 frames a second: 21,979 vertices, 0.26 MB a frame, over a real WebSocket. The share of a
core is the processor time of the whole server process, its threads included. Latency is from the sending of a request
to the arrival of the first frame that was made after it: a command to the performer, and a scrub of a paused clip,
whose frame differs from the one before. A real Chromium, where there is one, says how many pictures it draws and how
long it is from a click to the drawn picture.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.measure import Row
from benchmarks.serving.browser import CHROMIUM, Browser
from benchmarks.serving.page import Page
from benchmarks.serving.server import Server

from understudy.studio.app import STATIC

PEERS = False  # nothing here needs the peers' environment
SECONDS = 10.0
TRIES = 40
CROWD = 100
ASKED_SHARE, ASKED_MS, ASKED_KB, ASKED_START = 30.0, 100.0, 1000.0, 20.0


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    with Server() as server:
        with Page(server.address) as page:
            first = page.frame().vertices
            while np.array_equal(page.frame().vertices, first):
                pass
            started = time.perf_counter() - server.began
            yield Row("start until the dragon moves", started, "s", "asked for: 20 s", ASKED_START / started, 1.0)
            _settle(page)
            yield from stream(server, page)
            yield from latency(page)
            yield from crowd(server, page)
            model = page.document["models"][0]
            page.answered(page.ask("perform", model=model["id"]))
        yield from drawn(server, model["labels"])
        yield Row("memory of the server", server.memory(), "MB", "", None, None)
    yield from bundle(STATIC)


def stream(server: Server, page: Page) -> Iterator[Row]:
    """The dragon at 60 Hz."""
    frames, size, share = _measured(server, page, 0)
    yield Row("dragon, frames a second", frames, "fps", "asked for: 60", None, None)
    yield Row("dragon, over the wire", size, "MB/s", "", None, None)
    yield Row("dragon at 60 Hz, share of a core", share, "%", "asked for: 30 %", ASKED_SHARE / share, 1.0)
    yield Row("dragon, a frame", page.stats[-1]["ms"], "ms", "processor time of the stage alone", None, None)


def latency(page: Page) -> Iterator[Row]:
    """From a request to the first frame after it."""
    labels = page.document["models"][0]["labels"]
    told = []
    for number in range(TRIES):
        began = time.perf_counter()
        page.answered(page.ask("tell", command="transition", label=labels[number % len(labels)]))
        told.append(1e3 * (page.frame().came - began))
        _draw(page, 0.2)
    yield from _times("command to the first changed frame", told)
    character = page.document["characters"][0]
    page.answered(page.ask("show", character=character["id"], clip=character["clips"][0]["name"]))
    page.answered(page.ask("play", playing=False))
    _settle(page, 0.5)
    scrubbed = []
    for number in range(TRIES):
        at = 0.1 + number % 20 / 24
        began = time.perf_counter()
        page.ask("seek", time=at)
        while True:
            frame = page.frame()
            if abs(frame.time - at) < 1e-6:
                break
        scrubbed.append(1e3 * (frame.came - began))
    yield from _times("scrub to the changed frame", scrubbed)


def crowd(server: Server, page: Page) -> Iterator[Row]:
    """Many at once, skinned by the page."""
    page.answered(page.ask("crowd", model=page.document["models"][0]["id"], count=CROWD))
    page.frame(stream=1)
    _settle(page)
    frames, size, share = _measured(server, page, 1)
    yield Row(f"{CROWD} dragons, frames a second", frames, "fps", "asked for: 24", frames / 24, 0.95)
    yield Row(f"{CROWD} dragons, over the wire", size, "MB/s", "", None, None)
    yield Row(f"{CROWD} dragons at 24 fps, share of a core", share, "%", "", None, None)
    page.answered(page.ask("endCrowd"))


def drawn(server: Server, labels: list[str]) -> Iterator[Row]:
    """The dragon in a real browser: pictures a second, and from a click to the picture."""
    if CHROMIUM is None:
        return
    with Browser(server.address) as browser:
        where = f"{browser.renderer}, 1280 x 720"
        yield Row("page, pictures of the dragon a second", browser.pictures(), "fps", where, None, None)
        yield from _times(f"click to the drawn picture ({where})", browser.latencies(labels, TRIES))
        browser.page.get_by_role("tab", name="Crowd").click()
        browser.page.wait_for_timeout(15000)
        yield Row(f"page, pictures of {CROWD} dragons a second", browser.pictures(), "fps", where, None, None)


def bundle(folder: Path) -> Iterator[Row]:
    """What the browser downloads of the page itself."""
    files = [place for place in folder.rglob("*") if place.suffix in (".js", ".css", ".html")]
    size = sum(len(gzip.compress(place.read_bytes())) for place in files) / 1000
    if files:
        yield Row("page, gzipped", size, "KB", "asked for: 1 MB", ASKED_KB / size, 1.0)


def _measured(server: Server, page: Page, stream: int) -> tuple[float, float, float]:
    """Frames a second, megabytes a second, and percent of a core."""
    began, used = time.perf_counter(), server.cpu()
    count = size = 0
    while time.perf_counter() - began < SECONDS:
        frame = page.frame(stream)
        count, size = count + 1, size + frame.size
    seconds = time.perf_counter() - began
    return count / seconds, size / seconds / 1e6, 100 * (server.cpu() - used) / seconds


def _times(name: str, found: list[float]) -> Iterator[Row]:
    middle, worst = float(np.median(found)), float(np.quantile(found, 0.95))
    yield Row(name, middle, "ms", "asked for: 100 ms", ASKED_MS / middle, 1.0)
    yield Row(f"{name}, 95 %", worst, "ms", "asked for: 100 ms", ASKED_MS / worst, 1.0)


def _settle(page: Page, seconds: float = 2.0) -> None:
    """Let what compiles and warms at the beginning pass."""
    _draw(page, seconds)


def _draw(page: Page, seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        try:
            page.take(max(until - time.perf_counter(), 0.001))
        except TimeoutError:
            return
