"""Records the studio's page as it runs, in real time, into docs/images/studio.gif: what a user sees.

    .venv/bin/python tools/record_page.py [out.gif]

A studio with a trained dragon is started, a real Chromium opens it, labels are pressed, and the pointer moves. The
browser hands over each picture that it shows, with its time; those are the GIF's frames. Where it shows fewer than 12 a
second (a busy machine, a slow renderer) nothing is written, and the rate is printed.
"""

from __future__ import annotations

import base64
import io
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.serving.server import Server
from PIL import Image
from tests.studio.e2e.conftest import CHROMIUM, FLAGS

from understudy.files import write_atomically

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "studio.gif"
SIZE = (1280, 720)
WIDTH = 720  # of the GIF
LEAST = 12.0  # frames a second
COLOURS = 96
LARGEST = 3_000_000  # bytes
SCENE = ((0.0, "happy"), (2.2, "surprise"), (4.2, "roar"))  # seconds, and the label that is pressed
SECONDS = 7.0


def main() -> None:
    """Record, and write what is good enough."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    shown = recorded()
    rate = (len(shown) - 1) / (shown[-1][0] - shown[0][0]) if len(shown) > 1 else 0.0
    sys.stdout.write(f"the page was shown {rate:.1f} times a second, live\n")
    if rate < LEAST:
        sys.exit(f"that is fewer than {LEAST:g}: nothing was written")
    size = write(shown, target)
    sys.stdout.write(f"{target}: {len(shown)} frames, {size / 1e6:.2f} MB\n")
    if size > LARGEST:
        sys.exit("which is too large")


def recorded() -> list[tuple[float, bytes]]:
    """The time (s) and the JPEG of each picture that the browser showed."""
    from playwright.sync_api import sync_playwright

    shown: list[tuple[float, bytes]] = []
    with Server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}).new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{server.address}/#perform")
        label(page, SCENE[0][1]).wait_for()
        page.wait_for_timeout(5000)  # what compiles and warms at the beginning passes
        session = page.context.new_cdp_session(page)
        session.on("Page.screencastFrame", taken(session, shown))
        how = {"format": "jpeg", "quality": 90, "maxWidth": WIDTH, "maxHeight": WIDTH * SIZE[1] // SIZE[0]}
        session.send("Page.startScreencast", how)
        perform(page)
        session.send("Page.stopScreencast")
        browser.close()
    return shown


def taken(session: Any, shown: list[tuple[float, bytes]]) -> Callable[[dict[str, Any]], None]:
    """Keeps a picture, and asks for the next."""

    def take(event: dict[str, Any]) -> None:
        session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})
        shown.append((float(event["metadata"]["timestamp"]), base64.b64decode(event["data"])))

    return take


def label(page: Any, name: str) -> Any:
    """The button of a label; the library's chip of that name comes before it."""
    return page.get_by_role("button", name=name, exact=True).last


def perform(page: Any) -> None:
    """Somebody plays with the dragon."""
    began, waiting = time.monotonic(), list(SCENE)
    while (now := time.monotonic() - began) < SECONDS:
        if waiting and now >= waiting[0][0]:
            label(page, waiting.pop(0)[1]).click()
        page.wait_for_timeout(30)


def write(shown: list[tuple[float, bytes]], target: Path) -> int:
    """A GIF with the pictures' own times; its size in bytes."""
    pictures = [Image.open(io.BytesIO(data)).convert("RGB") for _, data in shown]
    palette = pictures[len(pictures) // 2].quantize(COLOURS, dither=Image.Dither.NONE)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    times = [at for at, _ in shown]
    lasting = [max(20, round(1e3 * (b - a))) for a, b in itertools.pairwise(times)] + [1000]
    with write_atomically(target) as temporary:
        frames[0].save(
            temporary, format="GIF", save_all=True, append_images=frames[1:], duration=lasting, loop=0, optimize=True
        )
    return target.stat().st_size


if __name__ == "__main__":
    main()
