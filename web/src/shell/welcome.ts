/** The line of the first launch: what to try, once, until it is closed or something was tried. */
import type { Context } from "../context";
import { h, icon } from "../dom";
import { type Mode, modes } from "../modes/mode";
import { remember, remembered } from "./settings";

export function createWelcome(host: HTMLElement, { store }: Context, go: (mode: Mode) => void): void {
  if (remembered("welcomed", false)) return;
  const close = () => {
    remember("welcomed", true);
    line.remove();
  };
  const link = (id: string, words: string): HTMLElement | string => {
    const mode = modes().find((each) => each.id === id);
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
  let first: string | null = null; // what was on stage when the page came
  store.onDocument(({ stage }) => {
    line.classList.toggle("hidden", !store.character()?.cast || stage.driver === "model");
    const drives = `${stage.character} ${stage.drives}`;
    if (stage.drives) first ??= drives;
    if (first !== null && drives !== first) close();
  });
}
