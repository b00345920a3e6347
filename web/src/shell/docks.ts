/**
 * The frame of the page: top bar, library, viewport, mode panel, timeline. Docks collapse and resize; their state is
 * stored.
 */
import { drag } from "../controls/pointer_drag";
import { h } from "../dom";
import { storedSetting, storeSetting } from "./settings";

export type DockName = "library" | "panel" | "timeline";

interface Bounds {
  initial: number; // px
  min: number;
  max: number;
}

export const BOUNDS: Record<DockName, Bounds> = {
  library: { initial: 240, min: 180, max: 420 },
  panel: { initial: 320, min: 260, max: 560 },
  timeline: { initial: 168, min: 112, max: 360 },
};
const TALL_TIMELINE: Bounds = { initial: 280, min: 112, max: 480 }; // the timeline of a mode with curves
const TITLES: Record<DockName, string> = { library: "Library", panel: "Panel", timeline: "Timeline" };
const NARROW_PX = 900; // below it, the side docks are drawers over the viewport
const SHORT_PX = 520; // below it, the timeline has its minimal size
const KEY_STEP_PX = 16;

export interface Docks {
  topbar: HTMLElement;
  library: HTMLElement;
  panel: HTMLElement;
  timeline: HTMLElement;
  viewport: HTMLElement; // host of the stage
  overlay: HTMLElement; // over the stage: overlays of modes
  messages: HTMLElement; // over the stage: notices and jobs
  corner: HTMLElement; // lower right corner of the stage: performance figures
  isOpen(name: DockName): boolean;
  toggle(name: DockName, open?: boolean): void;
  /** Hides all docks, for modes that use the whole page. */
  setBare(hidden: boolean): void;
  /** Makes the timeline taller, for modes with curves; this size is stored separately. */
  setTall(on: boolean): void;
  onChange(listener: () => void): void;
}

/** A size within its bounds that leaves at least a third of the page to the stage. */
export function fitSize(name: DockName, size: number, page: number, bounds: Bounds = BOUNDS[name]): number {
  const { min: least, max: most } = bounds;
  return Math.round(Math.max(least, Math.min(size, most, page / (name === "timeline" ? 2 : 3))));
}

export function createDocks(root: HTMLElement): Docks {
  const size = {} as Record<DockName, number>;
  const open = {} as Record<DockName, boolean>;
  const listeners: (() => void)[] = [];
  let drawer: DockName | null = null; // the side dock that is open on a narrow page
  let bare = false;
  let tall = false;
  const bounds = (name: DockName) => (name === "timeline" && tall ? TALL_TIMELINE : BOUNDS[name]);
  const settingName = (name: DockName) => (name === "timeline" && tall ? "dock.timeline.tall" : `dock.${name}.size`);

  const part = (name: string, tag: "header" | "aside" | "main" | "section", label: string) =>
    h(tag, { class: name, "aria-label": label });
  const topbar = part("topbar", "header", "Studio");
  const docks: Record<DockName, HTMLElement> = {
    library: part("dock library", "aside", "Library"),
    panel: part("dock panel", "aside", "Mode panel"),
    timeline: part("dock timeline", "section", "Timeline"),
  };
  const stage = h("div", { class: "stage" });
  const overlay = h("div", { class: "overlay" });
  const messages = h("div", { class: "messages", "aria-live": "polite" });
  const corner = h("div", { class: "corner" });
  const viewport = part("viewport", "main", "Stage");
  viewport.append(stage, overlay, corner, messages);
  root.replaceChildren(topbar, docks.library, viewport, docks.panel, docks.timeline);

  const narrow = () => innerWidth < NARROW_PX;
  const isOpen = (name: DockName) => !bare && (narrow() && name !== "timeline" ? drawer === name : open[name]);

  function layOut(): void {
    root.classList.toggle("narrow", narrow());
    root.classList.toggle("short", innerHeight < SHORT_PX);
    root.classList.toggle("bare", bare);
    for (const name of ["library", "panel", "timeline"] as const) {
      const page = name === "timeline" ? innerHeight : innerWidth;
      const wantedSize = name === "timeline" && innerHeight < SHORT_PX ? BOUNDS.timeline.min : size[name];
      const px =
        narrow() && name !== "timeline"
          ? Math.min(size[name], innerWidth - 48)
          : fitSize(name, wantedSize, page, bounds(name));
      const shown = isOpen(name);
      root.style.setProperty(`--${name}-size`, shown ? `${px}px` : "0px");
      docks[name].style.setProperty("--size", `${px}px`);
      docks[name].classList.toggle("closed", !shown);
      docks[name].inert = !shown;
      handles[name].setAttribute("aria-valuenow", String(px));
      handles[name].classList.toggle("hidden", !shown || (narrow() && name !== "timeline"));
    }
    for (const listener of listeners) listener();
  }

  function resize(name: DockName, px: number, keep: boolean): void {
    size[name] = fitSize(name, px, name === "timeline" ? innerHeight : innerWidth, bounds(name));
    if (keep) storeSetting(settingName(name), size[name]);
    layOut();
  }

  function handle(name: DockName): HTMLElement {
    const across = name === "timeline";
    const sign = name === "library" ? 1 : -1;
    const element = h("div", {
      class: `handle ${name}-handle inset`,
      role: "separator",
      tabindex: 0,
      "aria-label": `Size of the ${TITLES[name].toLowerCase()}`,
      "aria-orientation": across ? "horizontal" : "vertical",
      "aria-valuemin": BOUNDS[name].min,
      "aria-valuemax": BOUNDS[name].max,
      title: "Drag to resize; double click for the usual size",
    });
    element.addEventListener("pointerdown", (down) => {
      if (down.button !== 0) return;
      const before = size[name];
      const from = across ? down.clientY : down.clientX;
      const move = (event: PointerEvent) =>
        resize(name, before + sign * ((across ? event.clientY : event.clientX) - from), false);
      drag(element, down, move, (restore) => resize(name, restore ? before : size[name], true));
    });
    element.addEventListener("dblclick", () => resize(name, bounds(name).initial, true));
    element.addEventListener("keydown", (event) => {
      const keys: Record<string, number> = across
        ? { ArrowUp: 1, ArrowDown: -1 }
        : { ArrowRight: sign, ArrowLeft: -sign };
      if (event.key in keys) resize(name, size[name] + keys[event.key] * KEY_STEP_PX, true);
      else if (event.key === "Home") resize(name, bounds(name).min, true);
      else if (event.key === "End") resize(name, bounds(name).max, true);
      else return;
      event.preventDefault();
    });
    return element;
  }

  const handles = { library: handle("library"), panel: handle("panel"), timeline: handle("timeline") };
  viewport.append(handles.library, handles.panel, handles.timeline);
  for (const name of ["library", "panel", "timeline"] as const) {
    size[name] = storedSetting(`dock.${name}.size`, BOUNDS[name].initial);
    open[name] = storedSetting(`dock.${name}.open`, true);
  }
  viewport.addEventListener("pointerdown", () => {
    if (drawer === null || !narrow()) return;
    drawer = null;
    layOut();
  });
  window.addEventListener("resize", layOut);
  layOut();

  return {
    topbar,
    ...docks,
    viewport: stage,
    overlay,
    messages,
    corner,
    isOpen,
    toggle(name, to = !isOpen(name)) {
      if (narrow() && name !== "timeline") {
        drawer = to ? name : drawer === name ? null : drawer;
      } else {
        open[name] = to;
        storeSetting(`dock.${name}.open`, to);
      }
      layOut();
    },
    setBare(hidden) {
      bare = hidden;
      layOut();
    },
    setTall(on) {
      if (on === tall) return;
      tall = on;
      size.timeline = storedSetting(settingName("timeline"), bounds("timeline").initial);
      layOut();
    },
    onChange(listener) {
      listeners.push(listener);
      listener();
    },
  };
}
