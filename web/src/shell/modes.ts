/**
 * Switches between modes: each has a panel, an overlay and optionally a timeline. The mode is in the address, and the
 * last one is stored.
 */
import { h } from "../dom";
import { type Mode, modes } from "../modes/mode";
import type { Docks } from "./docks";
import { storedSetting, storeSetting } from "./settings";

export interface Modes {
  readonly current: Mode | null;
  go(mode: Mode): void;
  onChange(listener: (mode: Mode) => void): void;
  /** Enters the mode in the address, else the last one, else the first. */
  start(): void;
}

/** The mode of a URL fragment ("#perform"), if there is one. */
export function modeOf(hash: string, all: readonly Mode[]): Mode | undefined {
  return all.find((mode) => `#${mode.id}` === hash);
}

interface Parts {
  panel: HTMLElement;
  overlay: HTMLElement;
  timeline: HTMLElement | null;
}

export function createModes(docks: Docks, onError: (reason: unknown) => void): Modes {
  const panels = new Map<Mode, Parts>();
  const listeners: ((mode: Mode) => void)[] = [];
  let current: Mode | null = null;

  function buildParts(mode: Mode): Parts {
    const existing = panels.get(mode);
    if (existing) return existing;
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
      onError(reason);
    }
    return parts;
  }

  function go(mode: Mode): void {
    if (mode === current) return;
    try {
      current?.leave();
    } catch (reason) {
      onError(reason);
    }
    current = mode;
    const parts = buildParts(mode);
    for (const other of panels.values())
      for (const part of [other.panel, other.overlay, other.timeline])
        part?.classList.toggle("hidden", other !== parts);
    docks.timeline.classList.toggle("of-mode", parts.timeline !== null);
    docks.setTall(parts.timeline !== null);
    docks.setBare(mode.hidesDocks ?? false);
    storeSetting("mode", mode.id);
    if (location.hash !== `#${mode.id}`) history.replaceState(null, "", `#${mode.id}`);
    for (const listener of listeners) listener(mode);
    try {
      mode.enter();
    } catch (reason) {
      onError(reason);
    }
  }

  window.addEventListener("hashchange", () => {
    const mode = modeOf(location.hash, modes());
    if (mode) go(mode);
  });

  return {
    get current() {
      return current;
    },
    go,
    onChange: (listener) => void listeners.push(listener),
    start() {
      const all = modes();
      go(modeOf(location.hash, all) ?? modeOf(`#${storedSetting("mode", "stage")}`, all) ?? all[0]);
    },
  };
}
