/**
 * What the graph and the dope sheet have in common as surfaces: two layers below a ruler, drawn when something has
 * changed.
 */
import { timed } from "./draw_times";
import { AXIS } from "./graph_picture";
import type { Side } from "./handles";
import { createLayers } from "./layers";
import type { Model } from "./model";
import { RULER } from "./ruler_picture";
import type { SharedView } from "./shared_view";
import type { Surface } from "./surface";
import type { Area, View } from "./view";

export interface DrawnSurface extends Surface {
  /** Draws in the next picture: all of it, or only what lies above the curves. */
  draw(all: boolean): void;
  shown: boolean;
  /** Where a key or its handle is, px; null where it is not shown. */
  place(channel: number, column: number, key: number, side?: Side): { x: number; y: number } | null;
}

/** What each has of its own. */
export type Own = Omit<DrawnSurface, keyof Drawing>;
type Drawing = Pick<DrawnSurface, "element" | "view" | "shown" | "draw" | "area">;
type Channels = ReadonlySet<number>;

/**
 * How a surface is drawn: what rests, and above it what changes at pointer rate, among it the channels of a gesture.
 */
export interface Painter {
  base(paint: CanvasRenderingContext2D, moving: Channels): void;
  top(paint: CanvasRenderingContext2D, moving: Channels): void;
}

const NOBODY: Channels = new Set();

/** The part of a surface that draws; `name` is for people, `timedAs` for `draw_times.ts`. */
export function createDrawing(
  model: Model,
  view: SharedView,
  name: string,
  timedAs: string,
  painter: Painter,
): Drawing {
  const layers = createLayers(name);
  let moving = NOBODY;
  const pictures = scheduler((all) => {
    const now = model.gesture ? new Set(model.gesture.keys()) : NOBODY;
    // At the beginning and at the end of a gesture its curves change layers.
    const other = now.size !== moving.size || [...now].some((channel) => !moving.has(channel));
    moving = now;
    const draw = (layer: "base" | "top"): void => {
      const paint = layers.begin(layer);
      if (paint) painter[layer](paint, moving);
    };
    if (all || other) timed(timedAs, () => draw("base"));
    timed(`${timedAs} top`, () => draw("top"));
  });
  layers.onResize(() => pictures.draw(true));
  view.onChange(() => pictures.draw(true));

  return {
    element: layers.element,
    get view(): View {
      return view.value;
    },
    set view(next: View) {
      view.value = next;
    },
    get shown() {
      return pictures.shown;
    },
    set shown(next: boolean) {
      pictures.shown = next;
    },
    draw: pictures.draw,
    area: (): Area => ({
      left: AXIS,
      top: RULER,
      width: Math.max(1, layers.width - AXIS),
      height: Math.max(1, layers.height - RULER),
    }),
  };
}

/** Draws at most once a picture, only while shown; `all` is remembered until then. */
function scheduler(draw: (all: boolean) => void): { draw(all: boolean): void; shown: boolean } {
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
