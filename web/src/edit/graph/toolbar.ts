/** The row above keys and graph: which of the two, what can be done with the selection, and how it is seen. */
import { h, icon } from "../../dom";
import type { Model } from "./model";
import type { Operations } from "./operations";
import { countKeys } from "./selection";

export type Tab = "keys" | "graph";

const ICONS = {
  auto: "M2 12c4 0 4-8 6-8s2 8 6 8",
  flat: "M2 12c2 0 2-7 6-7s4 7 6 7M4.5 5h7",
  linear: "M2 12 8 4l6 8",
  stepped: "M2 12h5V5h6v7",
  break: "M8 5 3 11M8 5l5 2M1.5 12.5h3v-3h-3z",
  unify: "M3 10 13 4M8 7M3.5 12a2 2 0 1 0 0-.01M13.5 4.5a1.5 1.5 0 1 0 0-.01",
  insert: "M6 4.5 10 8l-4 3.5L2 8zM12.5 8v6M9.5 11h6",
  remove: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9",
  fit: "M2.5 6v-3.500h3.500M13.500 6v-3.500h-3.500M2.500 10v3.500h3.500M13.500 10v3.500h-3.500",
};

export interface Toolbar {
  element: HTMLElement;
  show(tab: Tab): void;
}

interface Does {
  go(tab: Tab): void;
  operations: Operations;
  insertHere(): void;
  fit(): void;
  fields: HTMLElement; // of the one selected key
}

export function createToolbar(model: Model, does: Does): Toolbar {
  const { operations } = does;
  const tab = (name: Tab, title: string) =>
    h(
      "button",
      {
        type: "button",
        class: "quiet small",
        role: "tab",
        title: `${title} (Q for the other)`,
        "data-testid": `graph-tab-${name}`,
        onclick: () => does.go(name),
      },
      title,
    );
  const tabs = { keys: tab("keys", "Keys"), graph: tab("graph", "Graph") };
  const act = (id: keyof typeof ICONS, title: string, run: () => void) =>
    h(
      "button",
      {
        type: "button",
        class: "quiet small square",
        "data-testid": `graph-${id}`,
        "aria-label": title,
        title,
        onclick: run,
      },
      icon(ICONS[id]),
    );
  const onKeys = [
    act("auto", "Auto tangents: smooth, without overshoot (V)", () => operations.tangents("auto")),
    act("flat", "Flat tangents", () => operations.tangents("flat")),
    act("linear", "Linear", () => operations.tangents("linear")),
    act("stepped", "Stepped", () => operations.tangents("stepped")),
    h("span", { class: "graph-gap" }),
    act("break", "Break tangents: the two sides go their own ways", () => operations.broken(true)),
    act("unify", "Unify tangents: one line through the key", () => operations.broken(false)),
    h("span", { class: "graph-gap" }),
    act("remove", "Delete the selected keys (Del)", () => operations.remove()),
  ];
  const insert = act("insert", "Insert a key at the playhead (I)", does.insertHere);
  const normal = h(
    "button",
    {
      type: "button",
      class: "quiet small",
      "data-testid": "graph-normal",
      title: "Scale each curve to fill the height",
      onclick: () => (model.normal = !model.normal),
    },
    "Normalise",
  );
  const fit = act("fit", "Frame the selection, or all (F, Home)", does.fit);
  const said = h("output", { class: "graph-said muted nowrap", "data-testid": "graph-said" });

  function mark(): void {
    const count = countKeys(model.selection, model.kept);
    for (const each of onKeys) if (each instanceof HTMLButtonElement) each.disabled = count === 0;
    insert.disabled = model.kept.length === 0;
    normal.setAttribute("aria-pressed", String(model.normal));
    const total = model.state && !model.state.baked ? `${model.state.keys.toLocaleString("en")} keys` : "";
    said.textContent = count ? `${count.toLocaleString("en")} of ${total} selected` : total;
  }
  model.onChange(mark);
  mark();

  return {
    element: h(
      "div",
      { class: "graph-tools", role: "toolbar", "aria-label": "Keys and graph" },
      h("span", { class: "graph-tabs", role: "tablist" }, tabs.keys, tabs.graph),
      h("span", { class: "graph-gap" }),
      insert,
      ...onKeys,
      h("span", { class: "graph-gap" }),
      said,
      does.fields,
      h("span", { class: "spring" }),
      normal,
      fit,
    ),
    show(name) {
      for (const [each, button] of Object.entries(tabs)) button.setAttribute("aria-selected", String(each === name));
      normal.classList.toggle("unseen", name !== "graph");
    },
  };
}
