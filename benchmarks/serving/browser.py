"""A real browser: from a click to the picture that first shows what it changed, measured in the page itself.

A click on a label sends a command. The first frame that comes after its answer is the first that the command has
changed; its picture counts as drawn when one of its pixels has been read back, since what draws it works on after the
page's own calls have returned.
"""

from __future__ import annotations

import shutil
from types import TracebackType
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# WebGL by Mesa on the processor where there is no graphics card; the page itself is put together without OpenGL, as
# browsers do there.
FLAGS = ("--use-gl=angle", "--use-angle=gl-egl", "--disable-gpu-compositing", "--ignore-gpu-blocklist", "--no-sandbox")
WATCH = """
(() => {
  let clicked = 0, asked = 0, wanted = 0, following = false;
  window.latencies = [];
  addEventListener("click", (event) => { clicked = event.timeStamp; }, true);
  const post = Worker.prototype.postMessage;  // the socket is in a worker
  Worker.prototype.postMessage = function (command, ...more) {
    if (!this.heard) {
      this.heard = true;
      this.addEventListener("message", (event) => hear(event.data.data));
    }
    if (clicked && command.send && JSON.parse(command.send).kind === "tell") asked = JSON.parse(command.send).id;
    return post.call(this, command, ...more);
  };
  function hear(data) {
    if (!data) return;
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (asked && message.kind === "done" && message.id === asked) [asked, following] = [0, true];
    } else if (following) {
      const view = new DataView(data);
      if (view.getUint32(4, true) === 0) [wanted, following] = [view.getUint32(8, true), false];
    }
  }
  window.watch = () => {
    const stage = document.querySelector("canvas").stage;
    const gl = stage.renderer.getContext();
    stage.onSeen((sequence, stream) => {
      if (!wanted || stream !== 0 || sequence < wanted) return;
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      window.latencies.push(performance.now() - clicked);
      [wanted, clicked] = [0, 0];
    });
  };
})();
"""


class Browser:
    """`with Browser(address) as browser:` the studio's page of 1280 x 720, in the mode `Perform`."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> Browser:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        self.page: Any = self._browser.new_page(viewport={"width": 1280, "height": 720})
        self.page.add_init_script(WATCH)
        self.page.goto(self._address)
        self.page.get_by_role("tab", name="Perform").click()
        self.page.wait_for_function("() => document.querySelector('canvas')?.stage?.stats().fps > 0")
        self.page.evaluate("() => window.watch()")
        self.page.wait_for_timeout(5000)  # until pictures are as coarse as this machine needs them
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._browser.close()
        self._playwright.stop()

    @property
    def renderer(self) -> str:
        """What draws: "software" or "graphics card"."""
        software = self.page.evaluate("() => document.querySelector('canvas').stage.software")
        return "software" if software else "graphics card"

    def pictures(self, seconds: float = 5.0) -> float:
        """Pictures a second."""
        count = "() => document.querySelector('canvas').stage.stats().drawn"
        before = self.page.evaluate(count)
        self.page.wait_for_timeout(1e3 * seconds)
        return float(self.page.evaluate(count) - before) / seconds

    def latencies(self, labels: list[str], tries: int) -> list[float]:
        """Milliseconds from a click on a label to the picture that first shows what it changed."""
        for number in range(tries):
            self.page.locator(f'button.hued[title^="Transition to {labels[number % len(labels)]}"]').click()
            self.page.wait_for_function("(count) => window.latencies.length > count", arg=number)
            self.page.wait_for_timeout(150)
        found: list[float] = self.page.evaluate("() => window.latencies")
        return found
