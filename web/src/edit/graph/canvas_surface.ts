/** The common part of the graph and the dope sheet: two canvas layers below a ruler, drawn after changes. */
import { measureDraw } from "./draw_times";
import { AXIS_PX } from "./graph_picture";
import type { Side } from "./handles";
import { createLayers } from "./layers";
import type { Model } from "./model";
import { RULER_PX } from "./ruler_picture";
import type { SharedView } from "./shared_view";
import type { Surface } from "./surface";
import type { Area, View } from "./view";

export interface CanvasSurface extends Surface {
  /** Draws in the next animation frame: everything, or only the top layer. */
  draw(all: boolean): void;
  shown: boolean;
  /** The position of a key or its handle, px; null if it is not shown. */
  place(channel: number, column: number, key: number, side?: Side): { x: number; y: number } | null;
}

/** The methods that graph and dope sheet implement themselves. */
export type SurfaceMethods = Omit<CanvasSurface, keyof SurfaceDrawing>;
type SurfaceDrawing = Pick<CanvasSurface, "element" | "view" | "shown" | "draw" | "area">;
type Channels = ReadonlySet<number>;

/** Draws a surface: the base layer, and above it what changes with the pointer, including the channels of a drag. */
export interface Painter {
  base(paint: CanvasRenderingContext2D, moving: Channels): void;
  top(paint: CanvasRenderingContext2D, moving: Channels): void;
}

const NO_CHANNELS: Channels = new Set();

/** Creates the drawing part of a surface; `name` is for users, `timedAs` for `draw_times.ts`. */
export function createSurfaceDrawing(
  model: Model,
  view: SharedView,
  name: string,
  timedAs: string,
  painter: Painter,
): SurfaceDrawing {
  const layers = createLayers(name);
  let moving = NO_CHANNELS;
  const scheduler = createScheduler((all) => {
    const now = model.drag ? new Set(model.drag.keys()) : NO_CHANNELS;
    // When a drag begins or ends, its curves change layers.
    const other = now.size !== moving.size || [...now].some((channel) => !moving.has(channel));
    moving = now;
    const draw = (layer: "base" | "top"): void => {
      const paint = layers.begin(layer);
      if (paint) painter[layer](paint, moving);
    };
    if (all || other) measureDraw(timedAs, () => draw("base"));
    measureDraw(`${timedAs} top`, () => draw("top"));
  });
  layers.onResize(() => scheduler.draw(true));
  view.onChange(() => scheduler.draw(true));

  return {
    element: layers.element,
    get view(): View {
      return view.value;
    },
    set view(next: View) {
      view.value = next;
    },
    get shown() {
      return scheduler.shown;
    },
    set shown(next: boolean) {
      scheduler.shown = next;
    },
    draw: scheduler.draw,
    area: (): Area => ({
      left: AXIS_PX,
      top: RULER_PX,
      width: Math.max(1, layers.width - AXIS_PX),
      height: Math.max(1, layers.height - RULER_PX),
    }),
  };
}

/** Draws at most once per animation frame, only while shown; `all` is kept until then. */
function createScheduler(draw: (all: boolean) => void): { draw(all: boolean): void; shown: boolean } {
  let waiting = false;
  let all = false;
  let shown = false;
  const schedule = (whole: boolean): void => {
    all ||= whole;
    if (waiting || !shown) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (!shown) return;
      const now = all;
      all = false;
      draw(now);
    });
  };
  return {
    draw: schedule,
    get shown() {
      return shown;
    },
    set shown(next: boolean) {
      shown = next;
      if (next) schedule(true);
    },
  };
}
