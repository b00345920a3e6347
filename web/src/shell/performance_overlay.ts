/** The corner's figures: what a frame costs, here and on the server; once a second, so that they can be read. */
import type { Context } from "../context";
import { h } from "../dom";

export function createFigures(host: HTMLElement, { stage, connection, store }: Context): void {
  const text = h("output", {
    class: "figures",
    "aria-label": "Frames",
    title: "Pictures a second and time a picture on this page; server: processor time a frame",
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
