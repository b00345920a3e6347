/** The dope sheet as a surface: rows beside the list of channels, scrolled with it. */
import { allTimes, keysAt, keysInBox, rowMiddle, sheetBox, type Sheet } from "./dope";
import { drawSheet, drawSheetTop } from "./dope_picture";
import { timed } from "./draw_times";
import { AXIS, type Pointing } from "./graph_picture";
import { scheduler, type DrawnSurface } from "./graph_surface";
import { edgeAt } from "./hits";
import { createLayers } from "./layers";
import type { Model } from "./model";
import { RULER } from "./ruler_picture";
import type { SharedView } from "./shared_view";
import { xAt, type Area } from "./view";

/** What the list beside it shows. */
export interface Rows {
  readonly rows: readonly number[]; // channels, from the top
  scroll: number; // px
}

const NOBODY: ReadonlySet<number> = new Set();

export function createDopeSurface(model: Model, view: SharedView, list: Rows): DrawnSurface {
  const layers = createLayers("Dope sheet");
  let pointing: Pointing = {};
  let moving: ReadonlySet<number> = NOBODY;
  let summed: { rows: readonly number[]; kept: unknown; times: number[] } | null = null;

  const area = (): Area => ({ left: AXIS, top: RULER, width: Math.max(1, layers.width - AXIS), height: Math.max(1, layers.height - RULER) });

  /** Times of all keys, worked out again only where the keys or the rows are others. */
  function summary(): number[] {
    if (summed?.rows !== list.rows || summed.kept !== model.kept) summed = { rows: list.rows, kept: model.kept, times: allTimes(model.kept, list.rows) };
    return summed.times;
  }

  const sheet = (): Sheet => ({ channels: model.channels, rows: list.rows, summary: summary(), selection: model.selection, view: view.value, area: area(), scroll: list.scroll });

  const pictures = scheduler((all) => {
    const now = model.gesture ? new Set(model.gesture.keys()) : NOBODY;
    const other = now.size !== moving.size || [...now].some((channel) => !moving.has(channel));
    moving = now;
    if (all || other) {
      timed("keys", () => {
        const paint = layers.begin("base");
        if (paint) drawSheet(paint, sheet(), new Set(model.chosen), moving, model.state?.rate ?? 30, { start: 0, stop: model.state?.seconds ?? 0 });
      });
    }
    timed("keys top", () => {
      const paint = layers.begin("top");
      if (paint) drawSheetTop(paint, sheet(), moving, pointing);
    });
  });
  layers.onResize(() => pictures.draw(true));
  view.onChange(() => pictures.draw(true));

  return {
    element: layers.element,
    upright: false,
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
      if (y < RULER) return { kind: "ruler" };
      const now = sheet();
      const places = keysAt(now, x, y);
      if (places.length) return { kind: "keys", places };
      const box = sheetBox(now);
      const edge = box && edgeAt(box, x, y, false);
      return box && edge ? { kind: "edge", edge, box } : { kind: "empty" };
    },
    place(channel, _column, key) {
      const now = sheet();
      const row = now.rows.indexOf(channel);
      return row < 0 ? null : { x: xAt(now.view, now.area, now.channels[channel].times[key]), y: rowMiddle(now, row) };
    },
    inBox: (box) => keysInBox(sheet(), box),
    point(next) {
      pointing = next;
      pictures.draw(false);
    },
    laneOf: () => ({ scale: 1, offset: 0 }),
    scrollBy(pixels) {
      list.scroll += pixels;
    },
  };
}
