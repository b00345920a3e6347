/** Going from one mode to another: one panel and one overlay each, the mode in the address, the last one remembered. */
import { h } from "../dom";
import { modes, type Mode } from "../modes/mode";
import type { Docks } from "./docks";
import { remember, remembered } from "./settings";

export interface Modes {
  readonly current: Mode | null;
  go(mode: Mode): void;
  onChange(listener: (mode: Mode) => void): void;
  /** Enters the mode that the address names, else the last one, else the first. */
  begin(): void;
}

/** The mode of an address's fragment ("#perform"), if there is one. */
export function modeOf(hash: string, all: readonly Mode[]): Mode | undefined {
  return all.find((mode) => `#${mode.id}` === hash);
}

export function createModes(docks: Docks, failed: (reason: unknown) => void): Modes {
  const panels = new Map<Mode, { panel: HTMLElement; overlay: HTMLElement }>();
  const listeners: ((mode: Mode) => void)[] = [];
  let current: Mode | null = null;

  function built(mode: Mode): { panel: HTMLElement; overlay: HTMLElement } {
    const have = panels.get(mode);
    if (have) return have;
    const panel = h("div", { class: "mode-panel", "data-mode": mode.id, role: "tabpanel", "aria-label": mode.title });
    const overlay = h("div", { class: "mode-overlay", "data-mode": mode.id });
    docks.panel.append(panel);
    docks.overlay.append(overlay);
    panels.set(mode, { panel, overlay });
    try {
      mode.panel(panel);
      mode.overlay?.(overlay);
    } catch (reason) {
      failed(reason);
    }
    return { panel, overlay };
  }

  function go(mode: Mode): void {
    if (mode === current) return;
    try {
      current?.leave();
    } catch (reason) {
      failed(reason);
    }
    current = mode;
    const mine = built(mode);
    for (const { panel, overlay } of panels.values()) {
      panel.classList.toggle("hidden", panel !== mine.panel);
      overlay.classList.toggle("hidden", overlay !== mine.overlay);
    }
    docks.bare(mode.hidesDocks ?? false);
    remember("mode", mode.id);
    if (location.hash !== `#${mode.id}`) history.replaceState(null, "", `#${mode.id}`);
    for (const listener of listeners) listener(mode);
    try {
      mode.enter();
    } catch (reason) {
      failed(reason);
    }
  }

  window.addEventListener("hashchange", () => {
    const asked = modeOf(location.hash, modes());
    if (asked) go(asked);
  });

  return {
    get current() {
      return current;
    },
    go,
    onChange: (listener) => void listeners.push(listener),
    begin() {
      const all = modes();
      go(modeOf(location.hash, all) ?? modeOf(`#${remembered("mode", "stage")}`, all) ?? all[0]);
    },
  };
}
