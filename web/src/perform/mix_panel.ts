/** Two labels in one face: which ones, and how much of each. */
import { slider } from "../controls/slider";
import { h, replace } from "../dom";
import { hueOf } from "./hues";
import type { Performing } from "./performance_store";

export function mixPanel(performing: Performing): HTMLElement {
  const pick = (name: string): HTMLSelectElement => h("select", { "aria-label": name, onchange: () => changed() });
  const [first, second] = [pick("First label"), pick("Second label")];
  const weight = slider({
    label: "Mix",
    about: "0 is all the first label, 1 all the second",
    value: 0.5,
    change: () => changed(),
  });
  const stop = h("button", { type: "button", onclick: () => performing.tell({ command: "idle" }) }, "Stop mixing");
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
      h("div", { class: "wide spread" }, h("button", { type: "button", onclick: () => changed() }, "Mix"), stop),
    ),
  );

  function changed(): void {
    if (first.value === second.value)
      second.value = [...second.options].find((option) => option.value !== first.value)?.value ?? "";
    paint();
    if (panel.open) performing.tell({ command: "mix", labels: [first.value, second.value], weight: weight.value });
  }

  function paint(): void {
    for (const select of [first, second]) select.style.borderLeft = `3px solid ${hueOf(select.value)}`;
  }

  performing.onModel((model) => {
    panel.classList.toggle("hidden", !model || model.labels.length < 2);
    if (!model || model.labels.length < 2) return;
    const options = () => model.labels.map((label) => h("option", { value: label }, label));
    replace(first, ...options());
    replace(second, ...options());
    second.value = model.labels[1];
    paint();
  });
  return panel;
}
