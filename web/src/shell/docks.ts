/** The page's frame: top bar, library, viewport, mode panel, timeline; docks collapse, resize, and remember it. */
import { drag } from "../controls/pointer_drag";
import { h } from "../dom";
import { remember, remembered } from "./settings";

export type DockName = "library" | "panel" | "timeline";

interface Bounds {
  usual: number; // px
  least: number;
  most: number;
}

export const BOUNDS: Record<DockName, Bounds> = {
  library: { usual: 240, least: 180, most: 420 },
  panel: { usual: 320, least: 260, most: 560 },
  timeline: { usual: 168, least: 112, most: 360 },
};
const TALL: Bounds = { usual: 280, least: 112, most: 480 }; // the timeline of a mode that has curves in it
const TITLES: Record<DockName, string> = { library: "Library", panel: "Panel", timeline: "Timeline" };
const NARROW = 900; // px: below it, docks at the sides are drawers over the viewport
const SHORT = 520; // px: below it, the timeline is as small as it gets
const KEY_STEP = 16;

export interface Docks {
  topbar: HTMLElement;
  library: HTMLElement;
  panel: HTMLElement;
  timeline: HTMLElement;
  viewport: HTMLElement; // the stage's host
  overlay: HTMLElement; // over the stage: what modes lay there
  messages: HTMLElement; // over the stage: notices and jobs
  corner: HTMLElement; // lower right corner of the stage: figures
  isOpen(name: DockName): boolean;
  toggle(name: DockName, open?: boolean): void;
  /** Hides all docks, for modes that take the whole page. */
  bare(hidden: boolean): void;
  /** Gives the timeline more room, for modes that have curves there; this size is remembered apart. */
  tall(on: boolean): void;
  onChange(listener: () => void): void;
}

/** A size between its bounds that leaves at least a third of the page to the stage. */
export function fitted(name: DockName, size: number, page: number, bounds: Bounds = BOUNDS[name]): number {
  const { least, most } = bounds;
  return Math.round(Math.max(least, Math.min(size, most, page / (name === "timeline" ? 2 : 3))));
}

export function createDocks(root: HTMLElement): Docks {
  const size = {} as Record<DockName, number>;
  const open = {} as Record<DockName, boolean>;
  const listeners: (() => void)[] = [];
  let drawer: DockName | null = null; // the one side dock that is open on a narrow page
  let bare = false;
  let tall = false;
  const bounds = (name: DockName) => (name === "timeline" && tall ? TALL : BOUNDS[name]);
  const memory = (name: DockName) => (name === "timeline" && tall ? "dock.timeline.tall" : `dock.${name}.size`);

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

  const narrow = () => innerWidth < NARROW;
  const isOpen = (name: DockName) => !bare && (narrow() && name !== "timeline" ? drawer === name : open[name]);

  function lay(): void {
    root.classList.toggle("narrow", narrow());
    root.classList.toggle("short", innerHeight < SHORT);
    root.classList.toggle("bare", bare);
    for (const name of ["library", "panel", "timeline"] as const) {
      const page = name === "timeline" ? innerHeight : innerWidth;
      const asked = name === "timeline" && innerHeight < SHORT ? BOUNDS.timeline.least : size[name];
      const px =
        narrow() && name !== "timeline"
          ? Math.min(size[name], innerWidth - 48)
          : fitted(name, asked, page, bounds(name));
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
    size[name] = fitted(name, px, name === "timeline" ? innerHeight : innerWidth, bounds(name));
    if (keep) remember(memory(name), size[name]);
    lay();
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
      "aria-valuemin": BOUNDS[name].least,
      "aria-valuemax": BOUNDS[name].most,
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
    element.addEventListener("dblclick", () => resize(name, bounds(name).usual, true));
    element.addEventListener("keydown", (event) => {
      const keys: Record<string, number> = across
        ? { ArrowUp: 1, ArrowDown: -1 }
        : { ArrowRight: sign, ArrowLeft: -sign };
      if (event.key in keys) resize(name, size[name] + keys[event.key] * KEY_STEP, true);
      else if (event.key === "Home") resize(name, bounds(name).least, true);
      else if (event.key === "End") resize(name, bounds(name).most, true);
      else return;
      event.preventDefault();
    });
    return element;
  }

  const handles = { library: handle("library"), panel: handle("panel"), timeline: handle("timeline") };
  viewport.append(handles.library, handles.panel, handles.timeline);
  for (const name of ["library", "panel", "timeline"] as const) {
    size[name] = remembered(`dock.${name}.size`, BOUNDS[name].usual);
    open[name] = remembered(`dock.${name}.open`, true);
  }
  viewport.addEventListener("pointerdown", () => {
    if (drawer === null || !narrow()) return;
    drawer = null;
    lay();
  });
  window.addEventListener("resize", lay);
  lay();

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
        remember(`dock.${name}.open`, to);
      }
      lay();
    },
    bare(hidden) {
      bare = hidden;
      lay();
    },
    tall(on) {
      if (on === tall) return;
      tall = on;
      size.timeline = remembered(memory("timeline"), bounds("timeline").usual);
      lay();
    },
    onChange(listener) {
      listeners.push(listener);
      listener();
    },
  };
}
