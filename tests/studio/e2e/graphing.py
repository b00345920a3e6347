"""The graph editor for tests: a page that edits, driven by the pointer, with the frames that its stage gets."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from tests.studio.e2e.running import Studio

from understudy.checks import Array
from understudy.studio import source

PATIENCE = 30.0  # seconds
CLIPS = {"robot": "flight", "acrobat": "bow", "chain": "turns"}  # the first of each character

# Keeps the last frame of the stage that has come: the page's socket is in a worker.
KEEPS = """
(() => {
  const post = Worker.prototype.postMessage;
  const keep = ({ data: { data } }) => {
    if (data instanceof ArrayBuffer && new DataView(data).getUint32(4, true) === 0) window.lastFrame = data;
  };
  Worker.prototype.postMessage = function (...given) {
    if (!this.watched) this.addEventListener("message", keep);
    this.watched = true;
    return post.apply(this, given);
  };
})();
"""


class GraphPage:
    """The edit mode of a page, open on the first clip of a studio."""

    def __init__(self, page: Any, studio: Studio) -> None:
        self.page = page
        page.add_init_script(KEEPS)
        page.goto(f"{studio.address}#edit")
        self.until("() => window.understudy?.graph && window.understudy.edit.state()?.channels.length > 0")

    @property
    def time(self) -> float:
        """The time of the last frame of the stage."""
        found: float = self.ask("() => window.lastFrame ? new DataView(window.lastFrame).getFloat64(16, true) : -1")
        return found

    @property
    def stage(self) -> Array:
        """The numbers of that frame."""
        script = "start => window.lastFrame ? [...new Float32Array(window.lastFrame, start)] : []"
        return np.array(self.ask(script, source.FRAME_HEADER.size), np.float32)

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a function of the page gives."""
        return self.page.evaluate(script, *arguments)

    def until(self, script: str, *arguments: Any) -> Any:
        """Waits for a function of the page to give something true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.ask(script, *arguments)
            if found:
                return found
            self.page.wait_for_timeout(30)
        raise AssertionError(f"never came true: {script}")

    def staged(self, differs_from: Array | None = None, same_as: Array | None = None) -> Array:
        """The stage's frame, once it differs from one or is the same as another."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            now = self.stage
            if differs_from is not None and now.shape == differs_from.shape and np.abs(now - differs_from).max() > 1e-4:
                return now
            if same_as is not None and now.shape == same_as.shape and np.abs(now - same_as).max() < 1e-6:
                return now
            self.page.wait_for_timeout(30)
        raise AssertionError("the stage did not follow")

    def seek(self, x: float, time_there: float) -> None:
        """Press on the ruler, and wait until the stage is there."""
        box = self.page.locator(".graph-surface:not(.hidden)").bounding_box()
        self.page.mouse.click(x, box["y"] + 6)
        end = time.monotonic() + PATIENCE
        while abs(self.time - time_there) > 1e-3:
            assert time.monotonic() < end, f"the stage stayed at {self.time} s"
            self.page.wait_for_timeout(30)
        self.page.wait_for_timeout(200)

    @property
    def state(self) -> dict[str, Any]:
        """What the server last said of the edit."""
        found: dict[str, Any] = self.ask("() => understudy.edit.state()")
        return found

    def channel(self, target: str, kind: str) -> int:
        """The number of a channel."""
        channels = self.state["channels"]
        return next(i for i, c in enumerate(channels) if (c["target"], c["channel"]) == (target, kind))

    def show(self, character: str) -> None:
        """Put a character on stage, with its first clip, which is then edited."""
        shown = "name => understudy.edit.state()?.name.startsWith(name)"
        if not self.ask(shown, CLIPS[character]):
            self.page.locator(".dock.library").get_by_text(character, exact=True).click()
            self.until(shown, CLIPS[character])
        self.until("() => understudy.graph.model.state?.edit === understudy.edit.state().edit")

    def tab(self, name: str) -> None:
        self.page.get_by_test_id(f"graph-tab-{name}").click()

    def choose(self, channel: int) -> None:
        """Choose a channel in the list, and wait for its curves."""
        self.page.locator(f'.graph-row[data-channel="{channel}"] .graph-name').click()
        self.until("number => understudy.graph.model.lanes.some((lane) => lane.channel === number)", channel)
        self.page.wait_for_timeout(50)

    def place(self, channel: int, column: int, key: int, side: str | None = None) -> tuple[float, float]:
        """Where a key or its handle is on the page."""
        at = self.ask("([c, l, k, s]) => understudy.graph.place(c, l, k, s ?? undefined)", [channel, column, key, side])
        return at["x"], at["y"]

    def drag(self, start: tuple[float, float], dx: float, dy: float, release: bool = True) -> None:
        """The pointer from a place by some px, as a hand moves it."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        for step in range(1, 7):
            mouse.move(start[0] + dx * step / 6, start[1] + dy * step / 6)
            self.page.wait_for_timeout(20)
        if release:
            mouse.up()

    def changed(self, revision: int) -> dict[str, Any]:
        """The state after the next change that stays."""
        self.until("before => understudy.edit.state().revision !== before", revision)
        return self.state

    def undo(self) -> dict[str, Any]:
        """Take back one step."""
        revision = self.state["revision"]
        self.page.keyboard.press("Control+z")
        return self.changed(revision)

    def exact(self) -> float:
        """How far the curves on the page are from what the server evaluates."""
        return float(self.ask("() => understudy.graph.deviation()"))
