/**
 * Going from one mode to another: one panel, overlay and perhaps timeline each, the mode in the address, the last one
 * remembered.
 */
import { h } from "../dom";
import { type Mode, modes } from "../modes/mode";
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

interface Parts {
  panel: HTMLElement;
  overlay: HTMLElement;
  timeline: HTMLElement | null;
}

export function createModes(docks: Docks, failed: (reason: unknown) => void): Modes {
  const panels = new Map<Mode, Parts>();
  const listeners: ((mode: Mode) => void)[] = [];
  let current: Mode | null = null;

  function built(mode: Mode): Parts {
    const have = panels.get(mode);
    if (have) return have;
    const panel = h("div", { class: "mode-panel", "data-mode": mode.id, role: "tabpanel", "aria-label": mode.title });
    const overlay = h("div", { class: "mode-overlay", "data-mode": mode.id });
    const timeline = mode.timeline ? h("div", { class: "mode-timeline", "data-mode": mode.id }) : null;
    const parts = { panel, overlay, timeline };
    docks.panel.append(panel);
    docks.overlay.append(overlay);
    if (timeline) docks.timeline.append(timeline);
    panels.set(mode, parts);
    try {
      mode.panel(panel);
      mode.overlay?.(overlay);
      if (timeline) mode.timeline?.(timeline);
    } catch (reason) {
      failed(reason);
    }
    return parts;
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
    for (const each of panels.values())
      for (const part of [each.panel, each.overlay, each.timeline]) part?.classList.toggle("hidden", each !== mine);
    docks.timeline.classList.toggle("of-mode", mine.timeline !== null);
    docks.tall(mine.timeline !== null);
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
