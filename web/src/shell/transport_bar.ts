/** The transport's controls: play, step, loop, rate, and the time as text. */
import { numberField } from "../controls/number";
import { h, icon } from "../dom";
import type { Store } from "../store";
import { clock } from "./time";
import type { Transport } from "./transport";

export const ICONS = {
  first: "M4 3v10M13 3L6 8l7 5z",
  back: "M11 3L5 8l6 5",
  play: "M5 2.5v11l8.5-5.5z",
  pause: "M5 3v10M11 3v10",
  forward: "M5 3l6 5-6 5",
  last: "M12 3v10M3 3l7 5-7 5z",
  loop: "M4 5.5h7a2.5 2.5 0 0 1 0 5H5M6.5 8L4 10.5L6.5 13M4 5.5",
};

function iconButton(label: string, path: string, run: () => void, filled = false): HTMLButtonElement {
  const attributes = { class: "quiet square", type: "button", "aria-label": label, title: label, onclick: run };
  return h("button", attributes, icon(path, filled));
}

export function createTransportBar(store: Store, transport: Transport): HTMLElement {
  const play = h("button", { class: "square play", type: "button", onclick: () => transport.toggle() });
  const loop = iconButton("Loop", ICONS.loop, () => transport.toggleLoop());
  const leftButtons = [
    iconButton("To the beginning (Shift ←)", ICONS.first, () => transport.toEnd(-1), true),
    iconButton("One frame back (←)", ICONS.back, () => transport.step(-1)),
  ];
  const rightButtons = [
    iconButton("One frame on (→)", ICONS.forward, () => transport.step(1)),
    iconButton("To the end (Shift →)", ICONS.last, () => transport.toEnd(1), true),
    loop,
  ];
  const change = (value: number) => transport.setRate(value);
  const rate = numberField({ label: "Rate", value: 1, minimum: 0.05, maximum: 4, step: 0.05, unit: "×", change });
  const clockText = h("output", { class: "clock", "aria-label": "Time" });
  const title = h("span", { class: "timeline-title nowrap" });
  const again = { class: "quiet small", type: "button", onclick: () => transport.wholeRange() };
  const whole = h("button", again, "Whole range");

  function drawTime(): void {
    const what = transport.playable();
    clockText.classList.toggle("hidden", !what);
    if (!what) return;
    const frame = Math.round(store.time * what.rate);
    clockText.textContent = `${clock(store.time)} / ${clock(what.seconds)} · frame ${frame}`;
  }

  store.onDocument(({ stage }) => {
    const what = transport.playable();
    const range = transport.range();
    for (const element of [...leftButtons, ...rightButtons]) element.disabled = !what;
    play.replaceChildren(icon(stage.playing ? ICONS.pause : ICONS.play, !stage.playing));
    play.setAttribute("aria-label", stage.playing ? "Pause" : "Play");
    play.title = stage.playing ? "Pause (Space)" : "Play (Space)";
    loop.setAttribute("aria-pressed", String(stage.loop));
    rate.value = stage.rate;
    title.textContent = what?.name ?? (stage.driver === "model" ? "Live performance. Record a take to keep it." : "");
    whole.classList.toggle("unseen", !what || (range.start <= 0 && range.stop >= what.seconds - 1e-6));
    drawTime();
  });
  store.onTime(drawTime);

  return h(
    "div",
    { class: "transport", role: "toolbar", "aria-label": "Transport" },
    ...leftButtons,
    play,
    ...rightButtons,
    rate.element,
    clockText,
    title,
    h("span", { class: "spring" }),
    whole,
  );
}
