/** Performance figures in the corner: the time of a frame on the page and on the server, updated once a second. */
import type { Context } from "../context";
import { h } from "../dom";

export function createPerformanceOverlay(host: HTMLElement, { stage, connection, store }: Context): void {
  const text = h("output", {
    class: "figures",
    "aria-label": "Frames",
    title: "Frames per second and time per frame on this page; server: CPU time per frame",
  });
  host.append(text);
  let server = "";
  connection.on("stats", (stats) => {
    server = stats.fps > 0 ? `server ${stats.ms.toFixed(1)} ms` : "";
  });
  setInterval(() => {
    const { fps, ms } = stage.stats();
    const still = fps === 0 || !store.document?.stage.playing;
    text.textContent = still
      ? ""
      : [`${Math.round(fps)} fps`, `${ms.toFixed(1)} ms`, server].filter(Boolean).join(" · ");
  }, 1000);
}
