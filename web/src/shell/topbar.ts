/** The top bar: modes, undo and redo, export, and the state of the connection. */
import type { Context } from "../context";
import { type Item, showMenu } from "../controls/menu";
import { h, icon } from "../dom";
import { type Mode, modes } from "../modes/mode";
import type { ConnectionState } from "../protocol/connection";
import type { DockName, Docks } from "./docks";
import { exportItems } from "./export_menu";
import { titleOf } from "./library_rows";

const ICONS = {
  undo: "M6 3.5L3 6.5L6 9.5M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6",
  redo: "M10 3.5l3 3l-3 3M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10",
  export: "M8 2.5v7.5M5 7l3 3l3-3M3 13.5h10",
  library: "M2.5 3h11v10h-11zM6 3v10",
  panel: "M2.5 3h11v10h-11zM10 3v10",
  timeline: "M2.5 3h11v10h-11zM2.5 9.5h11",
  command: "M3 5l3 3l-3 3M8 11.5h5",
};
const STATES: Record<ConnectionState, [string, string]> = {
  connecting: ["connecting", "The page connects to its server"],
  live: ["live", "Connected to the studio's server"],
  lost: ["reconnecting", "The server does not answer; the page reconnects by itself, nothing is lost"],
};

export interface Topbar {
  markMode(mode: Mode): void;
}

export function createTopbar(docks: Docks, context: Context, go: (mode: Mode) => void, palette: () => void): Topbar {
  const { store, connection, notices } = context;
  const buttons = new Map<Mode, HTMLButtonElement>(
    modes().map((mode) => [
      mode,
      h(
        "button",
        {
          type: "button",
          class: "quiet mode",
          role: "tab",
          "aria-selected": "false",
          tabindex: -1,
          onclick: (event: MouseEvent) => choose(mode, event),
        },
        mode.title,
      ),
    ]),
  );
  function choose(mode: Mode, event: MouseEvent): void {
    go(mode);
    // After a click the keys belong to the mode; with arrow keys the focus stays in the list.
    if (event.detail > 0) (event.currentTarget as HTMLElement).blur();
  }

  const tabs = h("nav", { class: "modes", role: "tablist", "aria-label": "Modes" }, ...buttons.values());
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = [...buttons.values()];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    const next = all[(at + step + all.length) % all.length];
    next.click();
    next.focus();
  });

  const act = (kind: "undo" | "redo") => () => void connection.request({ kind }).catch(notices.showError);
  const undo = h(
    "button",
    { type: "button", class: "quiet square", "aria-label": "Undo", onclick: act("undo") },
    icon(ICONS.undo),
  );
  const redo = h(
    "button",
    { type: "button", class: "quiet square", "aria-label": "Redo", onclick: act("redo") },
    icon(ICONS.redo),
  );
  const exportButton = h(
    "button",
    { type: "button", class: "quiet", "aria-haspopup": "menu", title: "Export what is on stage as a file" },
    icon(ICONS.export),
    h("span", { class: "wide" }, "Export"),
  );
  exportButton.addEventListener("click", () => showMenu(exportButton, stageExportItems(context)));
  const dock = (name: DockName, title: string) =>
    h(
      "button",
      { type: "button", class: "quiet square", "aria-label": title, title, onclick: () => docks.toggle(name) },
      icon(ICONS[name]),
    );
  const dockButtons = {
    library: dock("library", "Library"),
    timeline: dock("timeline", "Timeline"),
    panel: dock("panel", "Panel"),
  };
  const stateText = h("span", { class: "live-word" });
  const live = h(
    "span",
    { class: "live", role: "status" },
    h("span", { class: "live-dot", "aria-hidden": "true" }),
    stateText,
  );
  docks.topbar.append(
    h(
      "span",
      { class: "brand", "aria-hidden": "true" },
      icon("M8 1.5L14.5 8L8 14.5L1.5 8z", true),
      h("span", { class: "wide" }, "understudy"),
    ),
    h("h1", { class: "unseen" }, "understudy studio"),
    tabs,
    h("span", { class: "spring" }),
    h(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": "Commands",
        title: "Find every command (Ctrl+K)",
        onclick: palette,
      },
      icon(ICONS.command),
      h("span", { class: "wide keys" }, h("kbd", {}, "Ctrl"), h("kbd", {}, "K")),
    ),
    undo,
    redo,
    exportButton,
    h("span", { class: "docking" }, dockButtons.library, dockButtons.timeline, dockButtons.panel),
    live,
  );

  function drawState(state: ConnectionState): void {
    const [word, title] = STATES[state];
    live.className = `live ${state}`;
    stateText.textContent = word;
    live.title = title;
  }
  connection.onState(drawState);
  drawState(connection.state);
  store.onDocument(() => {
    undo.disabled = !store.canUndo;
    redo.disabled = !store.canRedo;
    undo.title = store.canUndo ? `Undo: ${store.undoes} (Ctrl+Z)` : "Nothing to undo";
    redo.title = store.canRedo ? `Redo: ${store.redoes} (Ctrl+Shift+Z)` : "Nothing to redo";
    exportButton.disabled = !store.character();
  });
  docks.onChange(() => {
    for (const [name, button] of Object.entries(dockButtons))
      button.setAttribute("aria-pressed", String(docks.isOpen(name as DockName)));
  });

  return {
    markMode(mode) {
      for (const [buttonMode, button] of buttons) {
        button.setAttribute("aria-selected", String(buttonMode === mode));
        button.tabIndex = buttonMode === mode ? 0 : -1;
      }
    },
  };
}

/** Export items for the stage: the clip, edit or take first, then the whole character. */
export function stageExportItems(context: Context): Item[] {
  const { store } = context;
  const character = store.character();
  const clip = store.clip();
  const take = store.take();
  const edit = store.edit();
  const under = (title: string, items: Item[]): Item[] =>
    items.length ? [{ title, heading: true, run() {} }, ...items] : [];
  return [
    ...(character && clip
      ? under(`This clip: ${titleOf(clip)}`, exportItems(context, "clip", `${character.id}/${clip.name}`))
      : []),
    ...(edit ? under(`This edit: ${edit.name}`, exportItems(context, "edit", edit.id)) : []),
    ...(take ? under(`This take: ${take.name}`, exportItems(context, "take", take.id)) : []),
    ...(character ? under(`${character.name} with all clips`, exportItems(context, "character", character.id)) : []),
  ];
}
