/** The dope sheet as a surface: rows beside the channel list, which scroll with it. */

import { type CanvasSurface, createSurfaceDrawing, type SurfaceMethods } from "./canvas_surface";
import { allTimes, keysAt, keysInBox, rowMiddle, type Sheet, sheetBox } from "./dope";
import { drawSheet, drawSheetTop } from "./dope_picture";
import type { PointerState } from "./graph_picture";
import { edgeAt } from "./hits";
import type { Model } from "./model";
import { RULER_PX } from "./ruler_picture";
import type { SharedView } from "./shared_view";
import { xAt } from "./view";

/** The rows of the channel list. */
export interface Rows {
  readonly rows: readonly number[]; // channels, from the top
  scroll: number; // px
}

export function createDopeSurface(model: Model, view: SharedView, list: Rows): CanvasSurface {
  let pointerState: PointerState = {};
  let cachedSummary: { rows: readonly number[]; kept: unknown; times: number[] } | null = null;

  /** Times of all keys, recomputed when keys or rows have changed. */
  function summary(): number[] {
    if (cachedSummary?.rows !== list.rows || cachedSummary.kept !== model.kept)
      cachedSummary = { rows: list.rows, kept: model.kept, times: allTimes(model.kept, list.rows) };
    return cachedSummary.times;
  }

  const sheet = (): Sheet => ({
    channels: model.channels,
    rows: list.rows,
    summary: summary(),
    selection: model.selection,
    view: view.value,
    area: drawing.area(),
    scroll: list.scroll,
  });
  const drawing = createSurfaceDrawing(model, view, "Dope sheet", "keys", {
    base: (paint, moving) =>
      drawSheet(paint, sheet(), new Set(model.chosen), moving, model.state?.rate ?? 30, {
        start: 0,
        stop: model.state?.seconds ?? 0,
      }),
    top: (paint, moving) => drawSheetTop(paint, sheet(), moving, pointerState),
  });

  const methods: SurfaceMethods = {
    upright: false,
    hit(x, y) {
      if (y < RULER_PX) return { kind: "ruler" };
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
    keysInBox: (box) => keysInBox(sheet(), box),
    setPointer(next) {
      pointerState = next;
      drawing.draw(false);
    },
    laneOf: () => ({ scale: 1, offset: 0 }),
    scrollBy(pixels) {
      list.scroll += pixels;
    },
  };
  return Object.assign(drawing, methods);
}
