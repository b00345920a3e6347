/** Mixes two labels: which ones, and their weight. */
import { slider } from "../controls/slider";
import { h, replace } from "../dom";
import { hueOf } from "./hues";
import type { PerformanceStore } from "./performance_store";

export function mixPanel(performanceStore: PerformanceStore): HTMLElement {
  const createSelect = (name: string): HTMLSelectElement =>
    h("select", { "aria-label": name, onchange: () => sendMix() });
  const [first, second] = [createSelect("First label"), createSelect("Second label")];
  const weight = slider({
    label: "Mix",
    about: "0 is all the first label, 1 all the second",
    value: 0.5,
    change: () => sendMix(),
  });
  const stop = h(
    "button",
    { type: "button", onclick: () => performanceStore.tell({ command: "idle" }) },
    "Stop mixing",
  );
  const panel = h(
    "details",
    { class: "section" },
    h("summary", {}, "Mix", h("span", { class: "aside" }, "two labels at once")),
    h(
      "div",
      { class: "mix" },
      first,
      second,
      h("div", { class: "wide" }, weight.element),
      h("div", { class: "wide spread" }, h("button", { type: "button", onclick: () => sendMix() }, "Mix"), stop),
    ),
  );

  function sendMix(): void {
    if (first.value === second.value)
      second.value = [...second.options].find((option) => option.value !== first.value)?.value ?? "";
    paintHues();
    if (panel.open)
      performanceStore.tell({ command: "mix", labels: [first.value, second.value], weight: weight.value });
  }

  function paintHues(): void {
    for (const select of [first, second]) select.style.borderLeft = `3px solid ${hueOf(select.value)}`;
  }

  performanceStore.onModel((model) => {
    panel.classList.toggle("hidden", !model || model.labels.length < 2);
    if (!model || model.labels.length < 2) return;
    const options = () => model.labels.map((label) => h("option", { value: label }, label));
    replace(first, ...options());
    replace(second, ...options());
    second.value = model.labels[1];
    paintHues();
  });
  return panel;
}
