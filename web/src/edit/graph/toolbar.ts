/** The row above keys and graph: tabs, operations on the selection, and view options. */
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

interface ToolbarActions {
  go(tab: Tab): void;
  operations: Operations;
  insertHere(): void;
  fit(): void;
  fields: HTMLElement; // of a single selected key
}

export function createToolbar(model: Model, does: ToolbarActions): Toolbar {
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
  const createButton = (id: keyof typeof ICONS, title: string, run: () => void) =>
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
    createButton("auto", "Auto tangents: smooth, without overshoot (V)", () => operations.setTangents("auto")),
    createButton("flat", "Flat tangents", () => operations.setTangents("flat")),
    createButton("linear", "Linear", () => operations.setTangents("linear")),
    createButton("stepped", "Stepped", () => operations.setTangents("stepped")),
    h("span", { class: "graph-gap" }),
    createButton("break", "Break tangents: both sides turn independently", () => operations.setBroken(true)),
    createButton("unify", "Unify tangents: one line through the key", () => operations.setBroken(false)),
    h("span", { class: "graph-gap" }),
    createButton("remove", "Delete the selected keys (Del)", () => operations.remove()),
  ];
  const insert = createButton("insert", "Insert a key at the playhead (I)", does.insertHere);
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
  const fit = createButton("fit", "Frame the selection, or all (F, Home)", does.fit);
  const countText = h("output", { class: "graph-said muted nowrap", "data-testid": "graph-said" });

  function update(): void {
    const count = countKeys(model.selection, model.kept);
    for (const element of onKeys) if (element instanceof HTMLButtonElement) element.disabled = count === 0;
    insert.disabled = model.kept.length === 0;
    normal.setAttribute("aria-pressed", String(model.normal));
    const total = model.state && !model.state.baked ? `${model.state.keys.toLocaleString("en")} keys` : "";
    countText.textContent = count ? `${count.toLocaleString("en")} of ${total} selected` : total;
  }
  model.onChange(update);
  update();

  return {
    element: h(
      "div",
      { class: "graph-tools", role: "toolbar", "aria-label": "Keys and graph" },
      h("span", { class: "graph-tabs", role: "tablist" }, tabs.keys, tabs.graph),
      h("span", { class: "graph-gap" }),
      insert,
      ...onKeys,
      h("span", { class: "graph-gap" }),
      countText,
      does.fields,
      h("span", { class: "spring" }),
      normal,
      fit,
    ),
    show(name) {
      for (const [tabName, button] of Object.entries(tabs))
        button.setAttribute("aria-selected", String(tabName === name));
      normal.classList.toggle("unseen", name !== "graph");
    },
  };
}
