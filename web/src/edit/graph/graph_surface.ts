/** The graph as a surface: draws the chosen channels when something changed, and says what lies under the pointer. */
import { timed } from "./draw_times";
import { AXIS, drawBase, drawTop, MOST_HANDLES, type Pointing } from "./graph_picture";
import type { Side } from "./handles";
import { edgeAt, handleAt, handlePoint, keyAt, keyPoint, keysIn, laneAt, nearerHandle, selectionBox, type Graph } from "./hits";
import { keyFactors, unitOfLanes } from "./lanes";
import { createLayers } from "./layers";
import type { Model } from "./model";
import { RULER } from "./ruler_picture";
import { countKeys, type KeyPlace } from "./selection";
import type { SharedView } from "./shared_view";
import type { Surface } from "./surface";
import type { Area } from "./view";

export interface DrawnSurface extends Surface {
  /** Draws in the next picture: all of it, or only what lies above the curves. */
  draw(all: boolean): void;
  shown: boolean;
  /** Where a key or its handle is, px; null where it is not shown. */
  place(channel: number, column: number, key: number, side?: Side): { x: number; y: number } | null;
}

const NOBODY: ReadonlySet<number> = new Set();

/** Draws at most once a picture, only while shown; `all` is remembered until then. */
export function scheduler(draw: (all: boolean) => void): { draw(all: boolean): void; shown: boolean } {
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

export function createGraphSurface(model: Model, view: SharedView): DrawnSurface {
  const layers = createLayers("Graph editor");
  let pointing: Pointing = {};
  let moving: ReadonlySet<number> = NOBODY;

  const area = (): Area => ({ left: AXIS, top: RULER, width: Math.max(1, layers.width - AXIS), height: Math.max(1, layers.height - RULER) });
  const graph = (): Graph => ({ channels: model.channels, lanes: model.lanes, selection: model.selection, view: view.value, area: area() });
  const whole = () => ({ start: 0, stop: model.state?.seconds ?? 0 });

  const pictures = scheduler((all) => {
    const now = model.gesture ? new Set(model.gesture.keys()) : NOBODY;
    // At the beginning and at the end of a gesture its curves change layers.
    const other = now.size !== moving.size || [...now].some((channel) => !moving.has(channel));
    moving = now;
    if (all || other) {
      timed("graph", () => {
        const paint = layers.begin("base");
        if (paint) drawBase(paint, graph(), moving, model.state?.rate ?? 30, whole(), model.normal ? "" : unitOfLanes(model.kept, model.lanes));
      });
    }
    timed("graph top", () => {
      const paint = layers.begin("top");
      if (paint) drawTop(paint, graph(), moving, pointing);
    });
  });
  layers.onResize(() => pictures.draw(true));
  view.onChange(() => pictures.draw(true));

  return {
    element: layers.element,
    upright: true,
    get view() {
      return view.value;
    },
    set view(next) {
      view.value = next;
    },
    get shown() {
      return pictures.shown;
    },
    set shown(next: boolean) {
      pictures.shown = next;
    },
    draw: pictures.draw,
    area,
    hit(x, y) {
      const now = graph();
      if (y < RULER) return { kind: "ruler" };
      const handle = countKeys(now.selection, now.channels) <= MOST_HANDLES ? handleAt(now, x, y) : null;
      const key = keyAt(now, x, y);
      // A key lies above the handles of others; of its own short handles it is what the pointer is nearer to.
      const own = key !== null && handle !== null && key.channel === handle.channel && key.key === handle.key;
      if (handle && (!key || (own && nearerHandle(now, handle, x, y)))) return { kind: "handle", place: handle };
      if (key) return { kind: "keys", places: [key] };
      const box = selectionBox(now);
      const edge = box && edgeAt(box, x, y, true);
      if (box && edge) return { kind: "edge", edge, box };
      const lane = laneAt(now, x, y);
      if (!lane) return { kind: "empty" };
      const places = Array.from(now.channels[lane.channel].times, (_, number): KeyPlace => ({ channel: lane.channel, column: lane.column, key: number }));
      return { kind: "curve", places, channel: lane.channel };
    },
    place(channel, column, key, side) {
      const now = graph();
      const lane = now.lanes.find((each) => each.channel === channel && each.column === column);
      if (!lane) return null;
      const factors = keyFactors(now.channels[channel]);
      return side ? handlePoint(now, lane, { channel, column, key, side }, factors) : keyPoint(now, lane, key, factors);
    },
    inBox: (box) => keysIn(graph(), box),
    point(next) {
      const same = pointing.box === next.box && pointing.edge === next.edge && JSON.stringify(pointing.key) === JSON.stringify(next.key);
      pointing = next;
      if (!same) pictures.draw(false);
    },
    laneOf: (channel, column) => model.lanes.find((lane) => lane.channel === channel && lane.column === column) ?? { scale: 1, offset: 0 },
    scrollBy: () => undefined,
  };
}
