/** The hint of the first launch; it disappears when it is closed or something else is shown. */
import type { Context } from "../context";
import { h, icon } from "../dom";
import { type Mode, modes } from "../modes/mode";
import { storedSetting, storeSetting } from "./settings";

export function createWelcome(host: HTMLElement, { store }: Context, go: (mode: Mode) => void): void {
  if (storedSetting("welcomed", false)) return;
  const close = () => {
    storeSetting("welcomed", true);
    line.remove();
  };
  const link = (id: string, words: string): HTMLElement | string => {
    const mode = modes().find((candidate) => candidate.id === id);
    if (!mode) return words;
    const onclick = (): void => {
      close();
      go(mode);
    };
    return h("button", { type: "button", class: "link", onclick }, words);
  };
  const line = h(
    "div",
    { class: "welcome hidden", role: "note" },
    h(
      "p",
      {},
      "Choose a mood on the left, ",
      link("perform", "direct it live"),
      ", or ",
      link("play", "play tic-tac-toe against it"),
      ".",
    ),
    h(
      "button",
      { type: "button", class: "quiet small square", "aria-label": "Close this line", onclick: close },
      icon("M4 4l8 8M12 4l-8 8"),
    ),
  );
  host.append(line);
  let first: string | null = null; // what was on stage when the page opened
  store.onDocument(({ stage }) => {
    line.classList.toggle("hidden", !store.character()?.cast || stage.driver === "model");
    const drives = `${stage.character} ${stage.drives}`;
    if (stage.drives) first ??= drives;
    if (first !== null && drives !== first) close();
  });
}
